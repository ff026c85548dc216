"""
Tools as providers are shown them: plain data, from a client or from definitions.

No SDK is imported. The matching page is docs/how-to/export-schemas.md.
"""

from __future__ import annotations

from ._forms import (
    to_anthropic,
    to_gemini,
    to_mcp,
    to_openai,
    to_openai_responses,
    why_not_strict,
)
from ._names import safe_names


__all__ = [
    "safe_names",
    "to_anthropic",
    "to_gemini",
    "to_mcp",
    "to_openai",
    "to_openai_responses",
    "why_not_strict",
]
