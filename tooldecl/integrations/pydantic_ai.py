"""
The tools of a client in an agent of pydantic-ai; docs/how-to/use-with-other-frameworks.md.
"""

from __future__ import annotations

import json

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeGuard, final

from .. import Status, Suspension, ToolClient, ToolResult
from ..exceptions import CallPendingError, ResumeError
from ..filters import Approved
from ._offers import Offer, missing_package, offers, receipt, went_well


if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool


__all__ = ["to_pydantic_ai"]

_PLACE = "to_pydantic_ai"

_REFUSED = {
    "return_direct": (
        "pydantic-ai has no place for it: there a run ends with an output function."
    ),
}


_JSON: TypeAlias = dict[str, object]


class _CallContext(Protocol):
    """
    What is read of the framework's context of a call.
    """

    @property
    def deps(self) -> object: ...

    @property
    def tool_call_id(self) -> str | None: ...

    @property
    def tool_call_approved(self) -> bool: ...

    @property
    def tool_call_metadata(self) -> object: ...


def to_pydantic_ai(
    client: ToolClient,
    *,
    toolset_id: str | None = None,
    tags: Iterable[str] | None = None,
    exclude_tags: Iterable[str] = (),
) -> AbstractToolset[object]:
    """
    Return the tools of *client* for ``Agent(toolsets=[...])``; they run as the client runs them.

    The gate reads the text that the model wrote. The id of a call is that of the model,
    and the ``deps`` of the run are ``ToolContext.deps``. ``serial=True`` is the
    framework's ``sequential``. A failure is a failed return, which costs the run no
    retry. A call that waits ends the run with ``DeferredToolRequests``; the suspension is
    in their metadata, and whoever approves passes them on.

    Args:
        client: The client.
        toolset_id: Name of the toolset, where the framework needs one.
        tags: Only tools with one of these; None is all.
        exclude_tags: No tools with one of these.

    Raises:
        DeclarationError: Something was declared that pydantic-ai would not keep.
        ModuleNotFoundError: The package is not installed.
    """
    try:
        from pydantic_ai import ToolDefinition
        from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    except ModuleNotFoundError as error:
        if error.name != "pydantic_ai":
            raise
        raise missing_package(_PLACE, "pydantic-ai-slim", "pydantic-ai") from None

    found = offers(
        client, _PLACE, refused=_REFUSED, tags=tags, exclude_tags=exclude_tags
    )
    by_name = {offer.name: offer for offer in found}

    class ClientToolset(AbstractToolset[object]):
        """
        The tools of one client.
        """

        @property
        def id(self) -> str | None:
            return toolset_id

        async def get_tools(
            self, ctx: RunContext[object]
        ) -> dict[str, ToolsetTool[object]]:
            del ctx
            return {
                offer.name: ToolsetTool(
                    toolset=self,
                    tool_def=ToolDefinition(
                        name=offer.name,
                        description=offer.description,
                        parameters_json_schema=offer.schema,
                        sequential=offer.meta.serial is True,
                    ),
                    max_retries=1,
                    args_validator=_AsSent(),
                )
                for offer in found
            }

        async def call_tool(
            self,
            name: str,
            tool_args: _JSON,
            ctx: RunContext[object],
            tool: ToolsetTool[object],
        ) -> object:
            del tool
            return await _call(client, by_name[name], tool_args, ctx)

    return ClientToolset()


@final
class _Sent(dict[str, object]):
    """
    Arguments as the framework wants them, and the text that they were read from.

    Attributes:
        text: What the model wrote.
        read: What was in it, to see whether somebody has changed it since.
    """

    __slots__ = ("read", "text")

    def __init__(self, text: str) -> None:
        super().__init__(_read(text))
        self.text = text
        self.read = dict(self)


def _read(text: str) -> Mapping[str, object]:
    """
    Read text for those who only look at it; what is no object shows nothing.
    """
    try:
        read: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}

    return _mapping(read)


def _mapping(given: object) -> Mapping[str, object]:
    return given if _is_mapping(given) else {}


def _is_mapping(given: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(given, Mapping)


@final
class _AsSent:
    """
    Lets all arguments through: the client's gate decides, with the client's words.
    """

    def validate_json(self, input: str | bytes | bytearray, **_: object) -> _JSON:
        text = input if isinstance(input, str) else input.decode(errors="replace")

        return _Sent(text)

    def validate_python(self, input: object, **_: object) -> object:
        return input


async def _call(
    client: ToolClient, offer: Offer, arguments: Mapping[str, object], ctx: _CallContext
) -> object:
    """
    Call a tool, or go on with a call that was approved.
    """
    waiting = _waiting_in(ctx)
    if waiting is not None:
        return _answer(await _go_on(client, offer, waiting, arguments, ctx))
    sent: Mapping[str, object] | str = arguments
    if isinstance(arguments, _Sent) and arguments == arguments.read:
        sent = arguments.text
    result = await client.ainvoke(
        offer.name, sent, call_id=ctx.tool_call_id, deps=ctx.deps
    )
    if ctx.tool_call_approved and result.status is Status.PENDING:
        problem = (
            "it was approved without what it waits with. Pass the metadata of the "
            "requests on: DeferredToolResults(..., metadata=requests.metadata)"
        )
        raise ResumeError(problems={result.call_id: problem})

    return _answer(result)


def _waiting_in(ctx: _CallContext) -> Suspension | None:
    """
    Return the suspension that whoever approved has passed on.
    """
    told = _mapping(_mapping(ctx.tool_call_metadata).get("tooldecl"))
    text = told.get("suspension")
    if not ctx.tool_call_approved or not isinstance(text, str):
        return None

    return Suspension.from_json(text)


async def _go_on(
    client: ToolClient,
    offer: Offer,
    waiting: Suspension,
    arguments: Mapping[str, object],
    ctx: _CallContext,
) -> ToolResult:
    """
    Resume an approved call, with the arguments that whoever approved may have changed.
    """
    if len(waiting.calls) != 1 or waiting.calls[0].name != offer.name:
        problem = f"the suspension passed on is not that of a call of {offer.name!r}"
        raise ResumeError(problems={str(ctx.tool_call_id): problem})
    call = waiting.calls[0]
    same = dict(arguments) == _read(call.given)
    decision = Approved() if same else Approved(arguments=arguments)
    batch = await client.aresume(waiting, {call.call_id: decision}, deps=ctx.deps)

    return batch[0]


def _answer(result: ToolResult) -> object:
    """
    Return what the model gets, or raise what the framework has for other ends.
    """
    from pydantic_ai import ApprovalRequired, CallDeferred, ToolFailed, ToolReturn

    told = {"tooldecl": receipt(result)}
    if went_well(result):
        return ToolReturn(return_value=result.content, metadata=told)
    error = result.error
    if isinstance(error, CallPendingError):
        if told["tooldecl"].get("suspension") is None:
            raise TypeError(
                f"The call of {error.tool!r} waits, and the state of the client has no "
                "JSON form, so nobody could go on with it."
            )
        deferred = ApprovalRequired if error.kind == "approval" else CallDeferred
        raise deferred(metadata=told)

    raise ToolFailed(result.content) from error
