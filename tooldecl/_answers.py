"""
Make the one result of a call: from what its body did, or from why it did not run.

The statuses and texts are described in docs/reference/errors.md.
"""

from __future__ import annotations

from typing import Any

from ._calls import NO_WRITES, Fate, Status, ToolResult, success
from ._context import seal
from ._encode import encode, fit
from ._errors import classify, leaves
from ._isolation import Attempt, GeneratorTooLong
from ._meta import Overflow
from ._statuses import STATUS
from ._texts import error_class_of, failed, fitted_failure, text_of
from .exceptions import (
    CallError,
    GuardFailedError,
    NotFound,
    ResultTooLargeError,
)


_OK = Status.OK  # an attribute of an enum is slow to read


class Answers:
    """
    Makes the results of one call and knows how far its body came.

    Attributes:
        call_id: Id of the call.
        name: Name of its tool, as it was sent.
        attempt: The latest attempt, None before the first.
        attempts: How many times the body was started.
        limit: Characters of the content, or None.
        overflow: What happens beyond them.
    """

    __slots__ = (
        "_filter",
        "_ran",
        "attempt",
        "attempts",
        "call_id",
        "limit",
        "name",
        "overflow",
    )

    def __init__(
        self,
        call_id: str,
        name: str,
        limit: int | None = None,
        overflow: Overflow = "fail",
    ) -> None:
        self.call_id = call_id
        self.name = name
        self._filter = ""
        self._ran = False
        self.limit = limit
        self.overflow: Overflow = overflow
        self.attempt: Attempt | None = None
        self.attempts = 0

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
        writes = seal(attempt.context)
        content = attempt.encoded
        if content is None:
            try:
                content = encode(attempt.value, self.name)
            except CallError as error:
                content = error
        if not isinstance(content, str):
            return self.refusal(content)

        return success(
            self.call_id, self.name, attempt.value, content, self.attempts, writes
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

        return self.refusal(failed(self.name, error, self.attempts))

    def _not_found(
        self, error: BaseException, found: list[BaseException]
    ) -> ToolResult:
        text = " ".join(filter(None, (text_of(leaf).strip() for leaf in found)))
        text = text or f"Tool {self.name!r} ran and found nothing."
        if not isinstance(error, NotFound):  # a task group wraps even these
            group, error = error, NotFound(text)
            error.__cause__ = group

        return self._result(Status.NOT_FOUND, text, error=error)

    def refusal(self, error: CallError) -> ToolResult:
        """
        Make the result of a call that ended with *error*.
        """
        return self._result(
            STATUS[type(error)],
            str(error),
            # Its traceback leads through frames that hold this very result.
            error=error.with_traceback(None),
            error_class=error_class_of(error),
        )

    def given(self, value: object, content: str) -> ToolResult:
        """
        Make the result of a call that a person has answered in place of its body.
        """
        return self._result(Status.OK, content, value=value)

    def nothing_elsewhere(self, error: NotFound) -> ToolResult:
        """
        Make the result of a call whose tool somebody else has run, and found nothing.
        """
        self._ran = True

        return self._not_found(error, [error]).replace(fate=Fate.COMPLETED)

    def from_elsewhere(
        self, value: object, content: str, error: CallError | None
    ) -> ToolResult:
        """
        Make the result of a call whose tool somebody else has run.
        """
        self._ran = True
        if error is not None:
            return self.refusal(error).replace(fate=Fate.COMPLETED)

        return self._result(Status.OK, content, value=value).replace(
            fate=Fate.COMPLETED
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
            content = encode(value, self.name)
            return self._result(Status.OK, content, value=value)
        content, error = value.content, value.error
        if not value.ok:
            error = error or CallError(content)
        elif inner and value.value is not inner.value and content == inner.content:
            content = encode(value.value, self.name)

        return value.replace(
            call_id=self.call_id,
            name=self.name,
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

    def blocked(self, name: str, error: BaseException | None) -> ToolResult:
        """
        Make the result of a call that *name*, which decides about it, has failed on.
        """
        fate = self.fate.value if self.ran else "not_started"
        guard = GuardFailedError(
            tool=self.name, filter_name=name, ran=self.ran, fate=fate
        )
        guard.__cause__ = error
        failure = self.refusal(guard)
        if error is None:
            return failure

        return failure.replace(error_class=classify(error))

    def fitted(self, result: ToolResult) -> ToolResult:
        """
        Hold the content to its limit, and to at least one character.
        """
        content = result.content or '""'
        if result.status is not _OK:
            return fitted_failure(result, self.limit)
        if result.content and (self.limit is None or len(content) <= self.limit):
            return result
        try:
            cut = fit(content, tool=self.name, limit=self.limit, overflow=self.overflow)
        except ResultTooLargeError as error:
            return self.overflowed(result, error)

        return result.replace(
            content=cut.content,
            truncated=cut.truncated or result.truncated,
            original_size=cut.original_size or result.original_size,
        )

    def overflowed(self, result: ToolResult, error: ResultTooLargeError) -> ToolResult:
        """
        Make the result of a call whose text could not go out, not even in part.
        """
        if not self.ran and self._filter:
            return self.refusal(self._filter_said_too_much())
        if not self.ran:  # a person has answered
            error = ResultTooLargeError(
                tool=self.name, limit=error.limit, size=error.size, ran=False
            )

        return self.refusal(error).replace(  # the host can still get all of it
            value=result.value, original_size=error.size, fate=result.fate
        )

    def _too_large(self, size: int) -> ResultTooLargeError:
        return ResultTooLargeError(tool=self.name, limit=self.limit or 0, size=size)

    def _filter_said_too_much(self) -> GuardFailedError:
        return GuardFailedError(tool=self.name, filter_name=self._filter, ran=False)

    def _result(self, status: Status, content: str, **fields: Any) -> ToolResult:
        return ToolResult(
            call_id=self.call_id,
            name=self.name,
            status=status,
            content=content,
            fate=self.fate,
            attempts=self.attempts,
            **fields,
        )
