"""
The tools of a client in an agent of openai-agents; docs/how-to/use-with-other-frameworks.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, SupportsIndex

from .. import ToolClient, ToolResult
from ._offers import Offer, missing_package, offers, receipt
from ._turns import Turns


if TYPE_CHECKING:
    from agents import FunctionTool


__all__ = ["to_openai_agents"]

_PLACE = "to_openai_agents"

_REFUSED = {
    "external": (
        "openai-agents has no call that somebody else answers: it would show the model "
        "a text instead of waiting."
    ),
    "return_direct": (
        "openai-agents keeps this in the agent, by name and without regard to success: "
        "Agent(tool_use_behavior={'stop_at_tool_names': [...]})."
    ),
}


class _CallContext(Protocol):
    """
    What is read of the framework's context of a call.
    """

    tool_call_id: str

    @property
    def context(self) -> object: ...

    @property
    def usage(self) -> object: ...


class _OutputContext(Protocol):
    """
    What is read of the framework's context of an output.
    """

    @property
    def output(self) -> object: ...


_Invoke = Callable[[_CallContext, str], Awaitable[str]]


class _Content(str):
    """
    The text for the model, with the result that it is of.

    Attributes:
        result: The result.
    """

    __slots__ = ("result",)

    result: ToolResult

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)  # a copy is the text alone, whatever the value is


def to_openai_agents(
    client: ToolClient,
    *,
    tags: Iterable[str] | None = None,
    exclude_tags: Iterable[str] = (),
    strict: bool = False,
) -> list[FunctionTool]:
    """
    Return the tools of *client* for ``Agent(tools=...)``; they run as the client runs them.

    The gate reads the text that the model wrote. The id of a call is that of the model,
    and the context of the run is ``ToolContext.deps``. What became of a call stands in
    the ``custom_data`` of its output item, under ``"tooldecl"``.

    Args:
        client: The client.
        tags: Only tools with one of these; None is all.
        exclude_tags: No tools with one of these.
        strict: Show the strict form of a schema to the model, where it has one.

    Raises:
        DeclarationError: Something was declared that openai-agents would not keep.
        ModuleNotFoundError: The package is not installed.
    """
    try:
        from agents import FunctionTool
    except ModuleNotFoundError as error:
        if error.name != "agents":
            raise
        raise missing_package(_PLACE, "openai-agents", "openai-agents") from None

    found = offers(
        client,
        _PLACE,
        refused=_REFUSED,
        tags=tags,
        exclude_tags=exclude_tags,
        strict=strict,
    )
    serial = any(offer.meta.serial is True for offer in found)
    turns = Turns() if serial else None

    return [
        FunctionTool(
            name=offer.name,
            description=offer.description,
            params_json_schema=offer.schema,
            on_invoke_tool=_invoker(client, offer, turns),
            strict_json_schema=offer.strict,
            custom_data_extractor=_custom_data,
        )
        for offer in found
    ]


def _invoker(client: ToolClient, offer: Offer, turns: Turns | None) -> _Invoke:
    """
    Return what the framework calls with the text that the model wrote.
    """
    alone = offer.meta.serial is True

    async def call(context: _CallContext, arguments: str) -> str:
        result = await client.ainvoke(
            offer.name,
            arguments,
            call_id=context.tool_call_id,
            deps=context.context,
        )
        content = _Content(result.content)
        content.result = result

        return content

    async def call_in_turn(context: _CallContext, arguments: str) -> str:
        # One object counts what a run uses; it is there as long as the run.
        async with lines.ataken(id(context.usage), alone):
            return await call(context, arguments)

    if turns is None:
        return call
    lines = turns

    return call_in_turn


def _custom_data(context: _OutputContext) -> Mapping[str, object] | None:
    output = context.output

    return (
        {"tooldecl": receipt(output.result)} if isinstance(output, _Content) else None
    )
