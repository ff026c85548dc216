"""
The tools of a client in LangChain and LangGraph; docs/how-to/use-with-other-frameworks.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeAlias, final

from .. import ToolClient, ToolResult
from ._offers import Offer, missing_package, offers, went_well
from ._turns import Turns


if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool


__all__ = ["to_langchain"]

_PLACE = "to_langchain"

_REFUSED = {
    "external": (
        "LangGraph waits by running the whole node again, and the other calls of the "
        "turn with it."
    ),
    "return_direct": (
        "LangChain ends the run after a failure as well: set it on the returned tool, if "
        "that is what you want."
    ),
}

_Arguments: TypeAlias = Mapping[str, object] | str
_Answer: TypeAlias = tuple[object, ToolResult]


def to_langchain(
    client: ToolClient,
    *,
    tags: Iterable[str] | None = None,
    exclude_tags: Iterable[str] = (),
) -> list[StructuredTool]:
    """
    Return the tools of *client* for ``ToolNode(...)`` or ``create_agent(tools=...)``.

    The id of a call is that of the model, and ``config["configurable"]["deps"]`` is
    ``ToolContext.deps``. The result is the artifact of the message. A failure is a
    message of status ``"error"``; where there is no call of a model, and so no message,
    it is raised as a ``ToolException``.

    Args:
        client: The client.
        tags: Only tools with one of these; None is all.
        exclude_tags: No tools with one of these.

    Raises:
        DeclarationError: Something was declared that LangChain would not keep.
        ModuleNotFoundError: The package is not installed.
    """
    try:
        from langchain_core.tools import StructuredTool
    except ModuleNotFoundError as error:
        if error.name not in ("langchain_core", "langchain_core.tools"):
            raise
        raise missing_package(_PLACE, "langchain-core", "langchain") from None

    class ClientTool(StructuredTool):
        """
        A tool whose arguments stay in one piece, whatever they are called.
        """

        def _to_args_and_kwargs(
            self, tool_input: str | dict[str, object], tool_call_id: str | None
        ) -> tuple[tuple[str, ...], dict[str, object]]:
            return (), {"arguments": tool_input, "call_id": tool_call_id}

    found = offers(
        client, _PLACE, refused=_REFUSED, tags=tags, exclude_tags=exclude_tags
    )
    serial = any(offer.meta.serial is True for offer in found)
    turns = Turns() if serial else None
    tools: list[StructuredTool] = []
    for offer in found:
        caller = _Caller(client, offer, turns)
        tools.append(
            ClientTool(
                name=offer.name,
                description=offer.description,
                args_schema=offer.schema,
                func=caller.call,
                coroutine=caller.acall,
                response_format="content_and_artifact",
            )
        )

    return tools


@final
class _Caller:
    """
    Calls one tool as the framework wants it called.
    """

    def __init__(self, client: ToolClient, offer: Offer, turns: Turns | None) -> None:
        self._client = client
        self._name = offer.name
        self._alone = offer.meta.serial is True
        self._turns = turns

    def call(self, arguments: _Arguments, call_id: str | None) -> _Answer:
        config = _configurable()
        turn = (
            nullcontext()
            if self._turns is None
            else self._turns.taken(_turn_of(config), self._alone)
        )
        with turn:
            result = self._client.invoke(
                self._name, arguments, call_id=call_id, deps=config.get("deps")
            )

        return _answer(result, call_id)

    async def acall(self, arguments: _Arguments, call_id: str | None) -> _Answer:
        config = _configurable()
        turn = (
            nullcontext()
            if self._turns is None
            else self._turns.ataken(_turn_of(config), self._alone)
        )
        async with turn:
            result = await self._client.ainvoke(
                self._name, arguments, call_id=call_id, deps=config.get("deps")
            )

        return _answer(result, call_id)


def _configurable() -> Mapping[str, object]:
    """
    Return what the host has given to the run.
    """
    from langchain_core.runnables.config import ensure_config

    return ensure_config().get("configurable", {})


def _turn_of(config: Mapping[str, object]) -> Hashable:
    """
    Return what the calls of one turn have in common: the step of the graph, if any.
    """
    return repr(config.get("checkpoint_map"))


def _answer(result: ToolResult, call_id: str | None) -> _Answer:
    """
    Return the content and the artifact of a message.
    """
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import ToolException

    if went_well(result):
        return result.content, result
    if call_id is None:
        raise ToolException(result.content) from result.error

    return (
        ToolMessage(
            content=result.content,
            artifact=result,
            name=result.name,
            tool_call_id=call_id,
            status="error",
        ),
        result,
    )
