"""
Models for a `ToolLoop`, each behind the one protocol `tooldecl.Model`.

An SDK is imported when a model that needs it is made.
"""

from __future__ import annotations

from .anthropic import AnthropicModel
from .gemini import GeminiModel
from .local import LocalModel
from .openai import OpenAIModel


__all__ = ["AnthropicModel", "GeminiModel", "LocalModel", "OpenAIModel"]
