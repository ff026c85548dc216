from typing import Any, Literal

class ToolMessage:
    def __init__(
        self,
        content: str,
        *,
        artifact: Any = None,
        name: str | None = None,
        tool_call_id: str,
        status: Literal["success", "error"] = "success",
    ) -> None: ...
