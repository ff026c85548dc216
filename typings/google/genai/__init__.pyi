# The names that tooldecl/models/gemini.py uses, written against google-genai 3.6. What
# they answer is read as plain data, so nothing of their types is needed.

from typing import Any

class Client:
    def __init__(self, *, api_key: str | None, http_options: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

types: Any
