"""
Make the one result of a call: from what its body did, or from why it did not run.

The statuses and texts are described in docs/reference/errors.md.
"""

from __future__ import annotations

from typing import Any, final

from ._calls import NO_WRITES, Fate, Status, ToolResult
from ._context import seal
from ._encode import encode, fit
from ._errors import error_class_of, failed
from ._isolation import Attempt, GeneratorTooLong
from ._meta import Overflow, ToolMeta
from ._sentinels import UNSET
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
}

# Texts of failures are cut, never refused: to the result's limit, within these bounds.
LONGEST_FAILURE = 20_000
SHORTEST_FAILURE = 1_000


@final
class Answers:
    """
    Makes the results of one call and knows how far its body came.

    Attributes:
        attempt: The latest attempt, None before the first.
        attempts: How many there were.
        limit: Characters of the content, or None.
        overflow: What happens beyond them.
    """

    __slots__ = (
        "_call_id",
        "_name",
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
        try:
            content = encode(attempt.value, tool=self._name)
        except CallError as error:
            return self.refusal(error)

        return ToolResult(
            call_id=self._call_id,
            name=self._name,
            status=Status.OK,
            value=attempt.value,
            content=content,
            fate=attempt.fate,
            attempts=self.attempts,
            writes=writes,
        )

    def failure(self, error: BaseException, attempt: Attempt) -> ToolResult:
        """
        Make the result of the last attempt, which failed with *error*.
        """
        seal(attempt.context, cancelled=attempt.timed_out)
        if isinstance(error, CallError):
            return self.refusal(error)
        if isinstance(error, NotFound):
            text = str(error) or f"Tool {self._name!r} ran and found nothing."
            return self._result(Status.NOT_FOUND, text, error=error)
        if isinstance(error, GeneratorTooLong):
            return self.refusal(self._too_large(error.size))

        return self.refusal(failed(self._name, error, self.attempts))

    def refusal(self, error: CallError) -> ToolResult:
        """
        Make the result of a call that ended with *error*.
        """
        return self._result(
            _STATUS[type(error)],
            str(error),
            error=error,
            error_class=error_class_of(error),
        )

    def value_of_filter(self, value: object) -> ToolResult:
        """
        Make the result of a call that a filter answered with *value*.
        """
        try:
            content = encode(value, tool=self._name)
        except CallError as error:
            return self.refusal(error)

        return self._result(Status.OK, content, value=value)

    def checked(self, result: ToolResult, inner: ToolResult | None) -> ToolResult:
        """
        Make a filter's result true: its content is that of its value, its fate this call's.
        """
        changes: dict[str, Any] = {}
        if (
            result.status is Status.OK
            and inner is not None
            and result.value is not inner.value
            and result.content == inner.content
        ):
            fresh = self.value_of_filter(result.value)
            if not fresh.ok:
                return fresh
            changes["content"] = fresh.content

        return result.replace(
            call_id=self._call_id,
            name=self._name,
            fate=self.fate,
            attempts=self.attempts,
            **changes,
        )

    def fitted(self, result: ToolResult) -> ToolResult:
        """
        Hold the content to its limit, and to at least one character.
        """
        content = result.content or '""'
        if result.status is not Status.OK:
            if len(content) <= SHORTEST_FAILURE and result.content:
                return result
            limit = max(min(self.limit or LONGEST_FAILURE, LONGEST_FAILURE), SHORTEST_FAILURE)
            cut = fit(content, tool=self._name, limit=limit, overflow="truncate")
            return result.replace(content=cut.content, writes=NO_WRITES)
        if result.content and (self.limit is None or len(content) <= self.limit):
            return result
        try:
            cut = fit(content, tool=self._name, limit=self.limit, overflow=self.overflow)
        except ResultTooLargeError as error:
            return self.refusal(error)

        return result.replace(
            content=cut.content,
            truncated=cut.truncated,
            original_size=cut.original_size,
        )

    def _too_large(self, size: int) -> ResultTooLargeError:
        return ResultTooLargeError(tool=self._name, limit=self.limit or 0, size=size)

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
