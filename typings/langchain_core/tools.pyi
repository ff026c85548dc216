from collections.abc import Awaitable, Callable
from typing import Any, Literal

class ToolException(Exception): ...

class StructuredTool:
    name: str
    args_schema: Any
    return_direct: bool
    def __init__(
        self,
        *,
        name: str,
        description: str,
        args_schema: Any,
        func: Callable[..., Any] | None = None,
        coroutine: Callable[..., Awaitable[Any]] | None = None,
        response_format: Literal["content", "content_and_artifact"] = "content",
    ) -> None: ...
    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[str, ...], dict[str, Any]]: ...
