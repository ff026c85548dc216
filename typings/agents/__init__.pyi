# The names that tooldecl/integrations/openai_agents.py uses, written against
# openai-agents 0.24; the session of nox checks that file against the package itself.

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

class ToolContext:
    context: Any
    usage: object
    tool_call_id: str

class FunctionToolCustomDataContext:
    output: Any

class FunctionTool:
    name: str
    description: str
    params_json_schema: dict[str, Any]
    strict_json_schema: bool
    needs_approval: Any
    timeout_seconds: float | None
    def __init__(
        self,
        name: str,
        description: str,
        params_json_schema: dict[str, Any],
        on_invoke_tool: Callable[[ToolContext, str], Awaitable[Any]],
        strict_json_schema: bool = True,
        *,
        custom_data_extractor: Callable[
            [FunctionToolCustomDataContext], Mapping[str, Any] | None
        ]
        | None = None,
    ) -> None: ...
