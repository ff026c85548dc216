"""
Make the one result of a call: from what its body did, or from why it did not run.

The statuses and texts are described in docs/reference/errors.md.
"""

from __future__ import annotations

from typing import Any, final

from ._calls import NO_WRITES, Fate, Status, ToolResult, success
from ._context import seal
from ._encode import encode, fit
from ._errors import leaves
from ._isolation import Attempt, GeneratorTooLong
from ._meta import Overflow, ToolMeta
from ._sentinels import UNSET
from ._texts import error_class_of, failed, text_of, whole_characters
from .exceptions import (
    CallCancelledError,
    CallError,
    EngineBusyError,
    GuardFailedError,
    InvalidArgumentsError,
    MalformedJSONError,
    NotFound,
    NotRunError,
    ResultTooLargeError,
    ToolFailedError,
    ToolTimeoutError,
    UnencodableResultError,
    UnknownToolError,
    WorkerDiedError,
)


_STATUS: dict[type[CallError], Status] = {
    CallCancelledError: Status.CANCELLED,
    EngineBusyError: Status.BUSY,
    GuardFailedError: Status.GUARD_FAILED,
    InvalidArgumentsError: Status.INVALID,
    MalformedJSONError: Status.INVALID,
    NotRunError: Status.NOT_RUN,
    ResultTooLargeError: Status.TOO_LARGE,
    ToolFailedError: Status.TOOL_ERROR,
    ToolTimeoutError: Status.TIMEOUT,
    UnencodableResultError: Status.UNENCODABLE,
    UnknownToolError: Status.UNKNOWN_TOOL,
    WorkerDiedError: Status.WORKER_DIED,
}

_AUTHORS = (Status.TOOL_ERROR, Status.NOT_FOUND)  # their texts may be an author's

# What an author says of a failure is cut, never refused: to the result's limit, but to
# no less than the mark of a cut needs. Our own texts are shorter than LONGEST_OWN.
LONGEST_FAILURE = 20_000
SHORTEST_FAILURE = 40
LONGEST_OWN = 1_000


@final
class Answers:
    """
    Makes the results of one call and knows how far its body came.

    Attributes:
        attempt: The latest attempt, None before the first.
        attempts: How many times the body was started.
        limit: Characters of the content, or None.
        overflow: What happens beyond them.
    """

    __slots__ = (
        "_call_id",
        "_filter",
        "_name",
        "_ran",
        "attempt",
        "attempts",
        "limit",
        "overflow",
    )

    def __init__(
        self, call_id: str, name: str, limit: int | None, overflow: Overflow
    ) -> None:
        self._call_id = call_id
        self._name = name
        self._filter = ""
        self._ran = False
        self.limit = limit
        self.overflow: Overflow = overflow
        self.attempt: Attempt | None = None
        self.attempts = 0

    def use_limits_of(self, meta: ToolMeta) -> None:
        """
        Put the tool's own limits before the client's.
        """
        if meta.result_limit is not UNSET:
            self.limit = meta.result_limit
        if meta.on_overflow is not UNSET:
            self.overflow = meta.on_overflow

    def begin(self, attempt: Attempt) -> None:
        """
        Note that another attempt is about to be made.
        """
        if self.attempt is not None:
            self._ran = self.ran
        self.attempt = attempt
        self.attempts += 1

    def take_back(self) -> None:
        """
        Note that the latest attempt never started.
        """
        self.attempts -= 1

    @property
    def ran(self) -> bool:
        """
        Whether a body has been started.
        """
        return self._ran or (self.attempt is not None and self.attempt.started)

    @property
    def fate(self) -> Fate:
        """
        What became of the body, as far as is known.
        """
        return Fate.NOT_STARTED if self.attempt is None else self.attempt.fate

    def success(self, attempt: Attempt) -> ToolResult:
        """
        Make the result of an attempt that returned.
        """
        writes = seal(attempt.context, cancelled=False)
        content = attempt.encoded
        if content is None:
            try:
                content = encode(attempt.value, tool=self._name)
            except CallError as error:
                content = error
        if isinstance(content, CallError):
            return self.refusal(content)

        return success(
            self._call_id, self._name, attempt.value, content, self.attempts, writes
        )

    def failure(
        self, error: BaseException, attempt: Attempt, *, raised: bool
    ) -> ToolResult:
        """
        Make the result of the last attempt, which failed with *error*.

        Args:
            raised: Whether the body raised it; a body may raise our own errors too.
        """
        seal(attempt.context, cancelled=attempt.timed_out)
        if isinstance(error, CallError) and not raised:
            return self.refusal(error)
        if isinstance(error, GeneratorTooLong):
            return self.refusal(self._too_large(error.size))
        found = list(leaves(error))
        if all(isinstance(leaf, NotFound) for leaf in found):
            return self._not_found(error, found)

        return self.refusal(failed(self._name, error, self.attempts))

    def _not_found(
        self, error: BaseException, found: list[BaseException]
    ) -> ToolResult:
        text = " ".join(filter(None, (text_of(leaf).strip() for leaf in found)))
        text = text or f"Tool {self._name!r} ran and found nothing."
        if not isinstance(error, NotFound):  # a task group wraps even these
            group, error = error, NotFound(text)
            error.__cause__ = group

        return self._result(Status.NOT_FOUND, text, error=error)

    def refusal(self, error: CallError) -> ToolResult:
        """
        Make the result of a call that ended with *error*.
        """
        return self._result(
            _STATUS[type(error)],
            str(error),
            # Its traceback leads through frames that hold this very result.
            error=error.with_traceback(None),
            error_class=error_class_of(error),
        )

    def of_filter(
        self, name: str, value: object, inner: ToolResult | None
    ) -> ToolResult:
        """
        Make the result of what filter *name* returned in place of *inner*.

        Raises:
            CallError: It has no JSON form.
            TypeError: It is a ToolResult with something else in its fields.
        """
        self._filter = name
        if not isinstance(value, ToolResult):
            content = encode(value, tool=self._name)
            return self._result(Status.OK, content, value=value)
        content, error = value.content, value.error
        if not value.ok:
            error = error or CallError(content)
        elif inner and value.value is not inner.value and content == inner.content:
            content = encode(value.value, tool=self._name)

        return value.replace(
            call_id=self._call_id,
            name=self._name,
            content=content,
            value=value.value if value.ok else None,
            error=None if value.ok else error,
            error_class=None if value.ok else value.error_class,
            fate=self.fate,
            attempts=self.attempts,
            queue_wait=0.0,
            writes=NO_WRITES,
            original_id=None,
        )

    def fitted(self, result: ToolResult) -> ToolResult:
        """
        Hold the content to its limit, and to at least one character.
        """
        content = result.content or '""'
        if result.status is not Status.OK:
            return self._fitted_failure(result)
        if result.content and (self.limit is None or len(content) <= self.limit):
            return result
        try:
            cut = fit(
                content, tool=self._name, limit=self.limit, overflow=self.overflow
            )
        except ResultTooLargeError as error:
            if not self.ran:
                return self.refusal(self._filter_said_too_much())
            return self.refusal(error).replace(  # the host can still get all of it
                value=result.value, original_size=error.size
            )

        return result.replace(
            content=cut.content,
            truncated=cut.truncated or result.truncated,
            original_size=cut.original_size or result.original_size,
        )

    def _fitted_failure(self, result: ToolResult) -> ToolResult:
        """
        Cut the text of a failure: it is never refused, or nobody would know of it.
        """
        content = whole_characters(result.content).strip()
        if not content:
            content = f"The call of {self._name!r} did not succeed."
        limit = LONGEST_OWN
        if result.status in _AUTHORS:
            limit = min(self.limit or LONGEST_FAILURE, LONGEST_FAILURE)
            limit = max(limit, SHORTEST_FAILURE)
        if content == result.content and len(content) <= limit:
            return result
        cut = fit(content, tool=self._name, limit=limit, overflow="truncate")

        return result.replace(
            content=cut.content,
            truncated=cut.truncated,
            original_size=cut.original_size,
        )

    def _too_large(self, size: int) -> ResultTooLargeError:
        return ResultTooLargeError(tool=self._name, limit=self.limit or 0, size=size)

    def _filter_said_too_much(self) -> GuardFailedError:
        return GuardFailedError(tool=self._name, filter_name=self._filter, ran=False)

    def _result(self, status: Status, content: str, **fields: Any) -> ToolResult:
        return ToolResult(
            call_id=self._call_id,
            name=self._name,
            status=status,
            content=content,
            fate=self.fate,
            attempts=self.attempts,
            **fields,
        )
