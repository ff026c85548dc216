from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from . import RunContext, ToolDefinition

T = TypeVar("T", contravariant=True)

class Validator(Protocol):
    def validate_json(self, input: str | bytes | bytearray, **kwargs: Any) -> Any: ...
    def validate_python(self, input: Any, **kwargs: Any) -> Any: ...

class ToolsetTool(Generic[T]):
    tool_def: ToolDefinition
    def __init__(
        self,
        *,
        toolset: AbstractToolset[T],
        tool_def: ToolDefinition,
        max_retries: int,
        args_validator: Validator,
    ) -> None: ...

class AbstractToolset(ABC, Generic[T]):
    @property
    @abstractmethod
    def id(self) -> str | None: ...
    @abstractmethod
    async def get_tools(self, ctx: RunContext[T]) -> dict[str, ToolsetTool[T]]: ...
    @abstractmethod
    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[T],
        tool: ToolsetTool[T],
    ) -> Any: ...
