"""
The filters around one call: what they are given, and what becomes of what they do.

Whatever a filter does, the answer stays true: the fate, the attempts and the writes in it
are those of the body, and a filter that fails lets nothing through.
"""

from __future__ import annotations

import logging

from collections.abc import Mapping
from typing import Protocol, final

from .._calls import NO_WRITES, Status, ToolRequest, ToolResult, copy_of
from .._errors import is_fatal
from .._gate import Admitted, admit, again
from .._isolation import Attempt
from .._texts import type_names, whole_characters
from ..exceptions import (
    CallCancelledError,
    CallError,
    CallPendingError,
    EngineBusyError,
    NotRunError,
    ToolTimeoutError,
)
from ..filters._chain import through
from ._attempts import Attempts, Flow


logger = logging.getLogger("tooldecl")


class Inner(Protocol):
    """
    What is in the middle of the filters.
    """

    def run(self, admitted: Admitted) -> Flow:
        """
        Run the call's body, if it may be run.
        """
        ...


@final
class Layers:
    """
    Runs one admitted call through its client's filters.

    Args:
        call: The call.
        body: Runs its body, in the middle, where it may be run.
    """

    __slots__ = ("_admitted", "_body", "_call", "_request", "_used", "_writes")

    def __init__(self, call: Attempts, body: Inner) -> None:
        self._call = call
        self._body = body
        self._writes: list[Mapping[str, object]] = []  # of each run of the body
        self._used = False

    def run(self, admitted: Admitted) -> Flow:
        """
        Run a call, and return a result that no filter has in its hands.
        """
        meta = admitted.entry.meta
        self._admitted = admitted
        self._request = ToolRequest(
            call_id=self._call.incoming.call_id,
            name=meta.name,
            arguments=admitted.arguments,
            meta=meta,
        )
        filters = self._call.runtime.filters

        return copy_of(
            (yield from through(filters, self._request, self._run_body, self))
        )

    def _run_body(self, request: ToolRequest) -> Flow:
        """
        Run a request that passed the filters; changed arguments pass the gate again.
        """
        try:
            admitted = self._admit(request)
        except CallError as error:
            result = self._call.refusal(error)
        else:
            self._call.incoming.renew()
            result = yield from self._body.run(admitted)
        object.__setattr__(result, "elapsed", self._call.elapsed())
        self._writes.append(result.writes)

        return result

    def _admit(self, request: ToolRequest) -> Admitted:
        runtime, admitted = self._call.runtime, self._admitted
        if request.arguments is not self._request.arguments:
            name = admitted.entry.meta.name
            return admit(runtime.table, runtime.json_limits, name, request.arguments)
        if self._used:  # a filter that asks again: the body may have changed its values
            return again(admitted)
        self._used = True

        return admitted

    def filter_returned(
        self, name: str, value: object, inner: ToolResult | None
    ) -> ToolResult:
        """
        Make the result of a call whose filter *name* returned *value*.
        """
        if value is None:  # a forgotten ``return``, never an answer
            return self.filter_failed(name, None)
        if value is inner and inner is not None:
            return inner
        try:
            result = self._call.of_filter(name, _checked(value), inner)
        except (CallError, TypeError) as error:
            return self.filter_failed(name, error.with_traceback(None))

        if result.status is Status.PENDING:
            held = self._call.incoming.held
            if held is None:
                return self.filter_failed(name, None)  # nothing could ever resume it
            if not isinstance(result.error, CallPendingError):  # it has the suspension
                pending = CallPendingError(tool=result.name, kind=held.kind)
                result = result.replace(error=pending)

        return result.replace(writes=self._writes_of(value)) if result.ok else result

    def _writes_of(self, value: object) -> Mapping[str, object]:
        """
        Return what the run of the body wrote that *value* comes from, else the last run.
        """
        given = value.writes if isinstance(value, ToolResult) else None
        for writes in self._writes:
            if writes is given:
                return writes

        return self._writes[-1] if self._writes else NO_WRITES

    def filter_failed(self, name: str, error: BaseException | None) -> ToolResult:
        """
        Make the result of a call whose filter *name* failed.

        Raises:
            BaseException: *error*, where it may not be contained.
        """
        if error is not None and is_fatal(error, self._call.runtime.stop_on):
            raise error
        self._log("The filter %r failed around %r: %s.", name, error)

        return self._call.blocked(name, error)

    def filter_stopped(self, name: str, stopped: Attempt) -> ToolResult:
        """
        Make the result of a call whose filter *name* was ended before it came to an end.
        """
        call, tool = self._call, self._admitted.entry.meta.name
        if stopped.refused is not None and not call.ran:
            return call.refusal(EngineBusyError(tool=tool, reason=stopped.refused))
        if stopped.revoked:
            fate = call.fate.value
            return call.refusal(CallCancelledError(tool=tool, fate=fate))
        if not stopped.timed_out:
            return self.filter_failed(name, stopped.error)
        if not call.ran:
            reason = "the batch's time was over before its filters were done"
            return call.refusal(NotRunError(tool=tool, reason=reason))

        return call.refusal(
            ToolTimeoutError(
                tool=tool,
                timeout=stopped.timeout or 0.0,
                source="batch",
                fate=call.fate.value,
                attempts=call.attempts,
            )
        )

    def cleanup_failed(self, name: str, error: Exception) -> None:
        """
        Note that filter *name* failed after its part in the call was over.
        """
        self._log("The filter %r failed after its part in %r: %s.", name, error)

    def _log(self, text: str, name: str, error: BaseException | None) -> None:
        meta = self._admitted.entry.meta
        # What goes wrong around a sensitive tool may hold the values it was given.
        shown = None if meta.sensitive else error
        kinds = "it gave nothing" if error is None else ", ".join(type_names(error))
        logger.warning(text, name, meta.name, kinds, exc_info=shown)


def _checked(result: object) -> object:
    """
    Return what a filter made, the status of a ToolResult as what it names.

    Raises:
        TypeError: It is a ToolResult with something else in its fields.
    """
    if not isinstance(result, ToolResult):
        return result
    content: object = result.content
    error: object = result.error
    if not isinstance(content, str) or whole_characters(content) != content:
        raise TypeError("The content of a ToolResult is a text of whole characters.")
    try:
        status = Status(result.status)
    except ValueError:
        raise TypeError("The status of a ToolResult is a Status.") from None
    if error is not None and not isinstance(error, Exception):
        raise TypeError("The error of a ToolResult is an Exception, or None.")

    return result if status is result.status else result.replace(status=status)
