# The names that tooldecl/integrations/pydantic_ai.py uses, written against
# pydantic-ai-slim 2.68; the session of nox checks that file against the package itself.

from typing import Any, Generic, TypeVar

T = TypeVar("T")

class RunContext(Generic[T]):
    deps: T
    tool_call_id: str | None
    tool_call_approved: bool
    tool_call_metadata: Any

class ToolDefinition:
    name: str
    sequential: bool
    def __init__(
        self,
        *,
        name: str,
        description: str | None = None,
        parameters_json_schema: dict[str, Any] = ...,
        sequential: bool = False,
    ) -> None: ...

class ToolReturn:
    def __init__(self, return_value: Any, *, metadata: Any = None) -> None: ...

class ToolFailed(Exception):
    def __init__(self, message: str) -> None: ...

class ApprovalRequired(Exception):
    def __init__(self, metadata: dict[str, Any] | None = None) -> None: ...

class CallDeferred(Exception):
    def __init__(self, metadata: dict[str, Any] | None = None) -> None: ...
