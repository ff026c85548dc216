"""
Every error tooldecl raises, as one tree.

::

    ToolDeclError
    ├── DeclarationError (TypeError)
    │   ├── UnsupportedSignatureError
    │   ├── NotAvailableError
    │   ├── NotImportableError
    │   └── DuplicateToolError
    ├── ResumeError (ValueError)
    ├── CallError                       becomes ToolResult.error
    │   ├── ApprovalDeniedError (PermissionError)
    │   ├── ApprovalExpiredError
    │   ├── CallPendingError
    │   ├── UnknownToolError (LookupError)
    │   ├── MalformedJSONError (ValueError)
    │   ├── InvalidArgumentsError (ValueError)
    │   ├── BudgetExceededError
    │   ├── GuardFailedError
    │   ├── EngineBusyError
    │   ├── NotRunError
    │   ├── CallCancelledError
    │   ├── ToolTimeoutError (TimeoutError)
    │   ├── ToolFailedError
    │   ├── WorkerDiedError
    │   ├── UnencodableResultError (TypeError)
    │   └── ResultTooLargeError
    ├── BatchFailedError
    ├── ModelFailedError
    ├── EngineClosedError (RuntimeError)
    ├── UnknownReferenceError (KeyError)
    ├── RemoteError                     the cause of what failed in a worker process
    ├── ToolError                       raised by tool authors
    │   └── SubRunError
    └── NotFound                        raised by tool authors

The text of a `CallError` is what the model reads: it holds no argument values,
no paths of the host and no text of foreign exceptions.
The matching page is docs/reference/errors.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from ._wording import (
    FATE_TEXTS,
    LEVEL_TEXTS,
    SOURCE_TEXTS,
    budget_text,
    denied_text,
    exit_text,
    expired_text,
    guard_text,
    joined,
    seconds,
    some_of,
)


__all__ = [
    "ApprovalDeniedError",
    "ApprovalExpiredError",
    "BatchFailedError",
    "BudgetExceededError",
    "CallCancelledError",
    "CallError",
    "CallPendingError",
    "ClusterError",
    "DeclarationError",
    "DuplicateToolError",
    "EngineBusyError",
    "EngineClosedError",
    "ErrorClass",
    "GuardFailedError",
    "InvalidArgumentsError",
    "MalformedJSONError",
    "ModelFailedError",
    "NotAvailableError",
    "NotFound",
    "NotImportableError",
    "NotRunError",
    "RemoteError",
    "ResultTooLargeError",
    "ResumeError",
    "SubRunError",
    "ToolDeclError",
    "ToolError",
    "ToolFailedError",
    "ToolTimeoutError",
    "UnencodableResultError",
    "UnknownReferenceError",
    "UnknownToolError",
    "UnsupportedSignatureError",
    "WorkerDiedError",
]

ErrorClass: TypeAlias = Literal["transient", "semantic", "environment"]
BudgetLevel: TypeAlias = Literal["client", "loop", "call"]
WaitsFor: TypeAlias = Literal["approval", "external"]

ERROR_CLASSES = ("transient", "semantic", "environment")


def _restore(
    cls: type[ToolDeclError], args: tuple[object, ...], fields: dict[str, object]
) -> ToolDeclError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class ToolDeclError(Exception):
    """
    Base of everything tooldecl raises.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.args, dict(self.__dict__))


class DeclarationError(ToolDeclError, TypeError):
    """
    A function or an option that cannot make a tool, or tools that cannot make a client.
    """


class UnsupportedSignatureError(DeclarationError):
    """
    A callable whose parameters cannot be offered to a model.

    Attributes:
        tool: Qualified name of the callable.
        parameter: Name of the parameter at fault, or None.
    """

    def __init__(self, message: str, *, tool: str, parameter: str | None) -> None:
        super().__init__(message)
        self.tool = tool
        self.parameter = parameter


class NotAvailableError(DeclarationError):
    """
    An option whose enforcer this version does not have: refused, never ignored.

    Attributes:
        option: The option and the value asked for.
    """

    def __init__(self, *, option: str) -> None:
        super().__init__(
            f"{option} is not available yet: this version of tooldecl has nothing "
            "that enforces it, so it is refused."
        )
        self.option = option


class NotImportableError(DeclarationError):
    """
    A tool that a worker process could not find by its name.

    Attributes:
        tool: Name of the tool.
        ref: ``module:qualname`` of its function.
        reason: Why it cannot be found.
    """

    def __init__(self, *, tool: str, ref: str, reason: str) -> None:
        self.tool = tool
        self.ref = ref
        self.reason = reason
        super().__init__(
            f"Tool {tool!r} cannot run in a worker process: {reason}. Define it at the "
            "top level of a module that can be imported."
        )


class DuplicateToolError(DeclarationError):
    """
    Two or more tools have the same wire name.

    Attributes:
        duplicates: Every name given more than once, sorted.
        sites: Every place of one of them, ``module.qualname (file:line)``.
        by_name: The places of each name.
    """

    def __init__(self, *, by_name: Mapping[str, Sequence[str]]) -> None:
        self.by_name = {name: tuple(by_name[name]) for name in sorted(by_name)}
        self.duplicates = list(self.by_name)
        self.sites = tuple(site for sites in self.by_name.values() for site in sites)
        lines = [
            f"{len(places)} tools are named {name!r}: {' and '.join(places)}."
            for name, places in self.by_name.items()
        ]
        super().__init__(" ".join([*lines, "Rename one with @tool(name=...)."]))


class CallError(ToolDeclError):
    """
    One call did not succeed; the text is safe to show to a model.
    """


class UnknownToolError(CallError, LookupError):
    """
    No tool of that name.

    Attributes:
        name: The name asked for.
        nearest: The nearest names there are, best first.
    """

    def __init__(self, *, name: str, nearest: Sequence[str] = ()) -> None:
        self.name = name
        self.nearest = tuple(nearest)
        shown = name if len(name) <= 80 else name[:77] + "..."
        known = ", ".join(repr(n) for n in self.nearest)
        hint = f"Use one of: {known}." if known else "No tools are available."
        super().__init__(f"There is no tool named {shown!r}. {hint}")


class MalformedJSONError(CallError, ValueError):
    """
    Text that is not exactly one unambiguous JSON object.

    Attributes:
        reason: What is wrong, without the text itself.
        offset: Position in characters where it was found, or None.
        path: Path of the member at fault (``$.a[0]``), or None.
    """

    def __init__(
        self, *, reason: str, offset: int | None = None, path: str | None = None
    ) -> None:
        self.reason = reason
        self.offset = offset
        self.path = path
        where = f" at {path}" if path is not None else ""
        where += f" (character {offset})" if offset is not None else ""
        super().__init__(
            f"The arguments were refused and nothing was run: {reason}{where}. "
            "Send one JSON object."
        )


class InvalidArgumentsError(CallError, ValueError):
    """
    Arguments that do not fit the tool's schema; lists every problem.

    Attributes:
        tool: Name of the tool.
        problems: Pairs of path and message.
    """

    def __init__(self, *, tool: str, problems: Sequence[tuple[str, str]]) -> None:
        self.tool = tool
        self.problems = tuple((path, message) for path, message in problems)
        head = f"The arguments for {tool!r} were refused and nothing was run."
        super().__init__(joined(head, [f"{p}: {m}" for p, m in self.problems]))


class BudgetExceededError(CallError):
    """
    A limit over many calls is reached; the call was not run.

    Attributes:
        tool: Name of the tool.
        limit_name: ``"calls"``, ``"per_tool"``, ``"seconds"`` or ``"repeats"``.
        limit: What was allowed.
        spent: What was spent: calls, seconds, or equal calls in a row.
        level: Whose limit it was: that of the client, the loop or the call.
    """

    def __init__(
        self,
        *,
        tool: str,
        limit_name: Literal["calls", "per_tool", "seconds", "repeats"],
        limit: float,
        spent: float,
        level: BudgetLevel,
    ) -> None:
        self.tool = tool
        self.limit_name = limit_name
        self.limit = limit
        self.spent = spent
        self.level = level
        why = budget_text(limit_name, limit, LEVEL_TEXTS[level])
        super().__init__(f"Tool {tool!r} was not run: {why}.")


class ApprovalDeniedError(CallError, PermissionError):
    """
    Somebody decided that the call is not to be run.

    Attributes:
        tool: Name of the tool.
        reason: The reason given, or an empty text.
    """

    def __init__(self, *, tool: str, reason: str = "") -> None:
        self.tool = tool
        self.reason = reason
        super().__init__(denied_text(tool, reason))


class ApprovalExpiredError(CallError):
    """
    Nobody decided in time, or no result came from elsewhere in time.

    Attributes:
        tool: Name of the tool.
        limit: Seconds that there were, or None.
        kind: ``"approval"`` or ``"external"``: what was waited for.
    """

    def __init__(
        self, *, tool: str, limit: float | None, kind: WaitsFor = "approval"
    ) -> None:
        self.tool = tool
        self.limit = limit
        self.kind: WaitsFor = kind
        super().__init__(expired_text(tool, limit, kind))


class CallPendingError(CallError):
    """
    The call waits for a decision, or for a result from elsewhere.

    Attributes:
        tool: Name of the tool.
        kind: ``"approval"`` or ``"external"``.
        suspension: What `ToolClient.resume` takes; set once the batch has ended.
    """

    def __init__(self, *, tool: str, kind: WaitsFor) -> None:
        self.tool = tool
        self.kind: WaitsFor = kind
        self.suspension: object = None
        what = "a decision" if kind == "approval" else "its result from elsewhere"
        super().__init__(
            f"The call of {tool!r} has no result yet: it waits for {what}."
        )


class GuardFailedError(CallError):
    """
    A filter failed, so the call was blocked (or its result lost).

    Attributes:
        tool: Name of the tool.
        filter_name: Name of the filter that failed.
        ran, fate: Whether the body had begun, and what became of it.
    """

    def __init__(
        self, *, tool: str, filter_name: str, ran: bool, fate: str = "completed"
    ) -> None:
        self.tool = tool
        self.filter_name = filter_name
        self.ran, self.fate = ran, fate if ran else "not_started"
        super().__init__(guard_text(tool, self.fate))


class EngineBusyError(CallError):
    """
    The engine takes no more calls now.

    Attributes:
        tool: Name of the tool.
        reason: What is full.
    """

    def __init__(self, *, tool: str, reason: str) -> None:
        self.tool = tool
        self.reason = reason
        super().__init__(f"Tool {tool!r} was not run: {reason}.")


class NotRunError(CallError):
    """
    The call was answered without being run.

    Attributes:
        tool: Name of the tool.
        reason: Why.
    """

    def __init__(self, *, tool: str, reason: str) -> None:
        self.tool = tool
        self.reason = reason
        super().__init__(f"Tool {tool!r} was not run: {reason}.")


class CallCancelledError(CallError):
    """
    The run was cancelled before the call had its answer.

    Attributes:
        tool: Name of the tool.
        fate: What became of the body.
    """

    def __init__(self, *, tool: str, fate: str) -> None:
        self.tool = tool
        self.fate = fate
        super().__init__(f"The call of {tool!r} was cancelled. {FATE_TEXTS[fate]}")


class ToolTimeoutError(CallError, TimeoutError):
    """
    The deadline of an attempt passed.

    Attributes:
        tool: Name of the tool.
        timeout: The limit in seconds.
        source: Whose limit it was.
        fate: What became of the body.
        attempts: Number of attempts made.
    """

    def __init__(
        self,
        *,
        tool: str,
        timeout: float,
        source: Literal["declared", "engine", "batch"],
        fate: str,
        attempts: int = 1,
    ) -> None:
        self.tool = tool
        self.timeout = timeout
        self.source = source
        self.fate = fate
        self.attempts = attempts
        made = f" {attempts} attempts were made." if attempts > 1 else ""
        super().__init__(
            f"Tool {tool!r} did not finish within {seconds(timeout)}, "
            f"{SOURCE_TEXTS[source]}. {FATE_TEXTS[fate]}{made}"
        )


class ToolFailedError(CallError):
    """
    The body raised; ``__cause__`` is its own exception.

    Attributes:
        tool: Name of the tool.
        type_names: Type names of the exception, or of a group's leaves.
        attempts: Number of attempts made.
    """

    def __init__(
        self,
        *,
        tool: str,
        type_names: Sequence[str],
        text: str | None = None,
        attempts: int = 1,
    ) -> None:
        self.tool = tool
        self.type_names = tuple(type_names)
        self.attempts = attempts
        made = (
            f" {attempts} attempts were made; each may have taken effect."
            if attempts > 1
            else ""
        )
        general = f"Tool {tool!r} failed: {some_of(self.type_names)}."
        super().__init__((text or general) + made)


class WorkerDiedError(CallError):
    """
    The worker process ended under the call, which may have taken effect.

    Attributes:
        tool: Name of the tool.
        exit_code: Its exit code; minus the number of a signal; None where nobody knows.
    """

    def __init__(self, *, tool: str, exit_code: int | None) -> None:
        self.tool = tool
        self.exit_code = exit_code
        super().__init__(
            f"The worker process of tool {tool!r} ended under it, "
            f"{exit_text(exit_code)}. It may have taken effect."
        )


class UnencodableResultError(CallError, TypeError):
    """
    The tool returned something that has no JSON form; it had run.

    Attributes:
        tool: Name of the tool.
        type_name: Type of the value that cannot be encoded.
        reason: Why not.
    """

    def __init__(self, *, tool: str, type_name: str, reason: str) -> None:
        self.tool = tool
        self.type_name = type_name
        self.reason = reason
        super().__init__(
            f"Tool {tool!r} ran, but its result cannot be sent: {reason} "
            f"(type {type_name})."
        )


class ResultTooLargeError(CallError):
    """
    The result is longer than the limit; the tool had run, or somebody had answered for it.

    Attributes:
        tool: Name of the tool.
        limit: The limit in characters.
        size: The size in characters.
        ran: Whether the tool had run.
    """

    def __init__(self, *, tool: str, limit: int, size: int, ran: bool = True) -> None:
        self.tool, self.limit, self.size, self.ran = tool, limit, size, ran
        whose = "ran, but its result" if ran else "was not run: the answer given for it"
        super().__init__(
            f"Tool {tool!r} {whose} has {size} characters and the limit is {limit}. "
            "Ask for less."
        )


class BatchFailedError(ToolDeclError):
    """
    At least one call of a batch run with ``failures="raise"`` did not succeed.

    Attributes:
        results: All results of the batch, in call order.
        first: Name of the first tool that did not succeed, in call order.
    """

    def __init__(self, *, results: Sequence[object], first: str) -> None:
        self.results = results
        self.first = first
        super().__init__(
            f"The batch finished, but not every call succeeded; the first that did "
            f"not is {first!r}. All results are in .results."
        )


class ModelFailedError(ToolDeclError):
    """
    A loop's model raised; ``__cause__`` is its exception.

    Attributes:
        messages: The conversation until then; running it again repeats no call.
        results: The results of all calls until then.
    """

    def __init__(
        self,
        *,
        messages: Sequence[Mapping[str, object]],
        results: Sequence[object],
        reason: str,
    ) -> None:
        self.messages = list(messages)
        self.results = tuple(results)
        super().__init__(f"The model failed: {reason}")


class ResumeError(ToolDeclError, ValueError):
    """
    A suspension cannot be resumed with what was given; nothing was run.

    Attributes:
        problems: For each call id at fault, what is wrong with what was given for it.
    """

    def __init__(self, *, problems: Mapping[str, str]) -> None:
        self.problems = dict(problems)
        lines = [f"{call_id!r}: {text}" for call_id, text in self.problems.items()]
        super().__init__(joined("Nothing was resumed.", lines))


class EngineClosedError(ToolDeclError, RuntimeError):
    """
    A client or an engine was used after it was closed.
    """


class ClusterError(ToolDeclError, ConnectionError):
    """
    The cluster of an engine cannot be joined; nothing was run.

    Attributes:
        address: Where it was looked for.
        reason: Why it cannot, and what to do about it.
    """

    def __init__(self, *, address: str, reason: str) -> None:
        self.address = address
        self.reason = reason
        super().__init__(f"The cluster at {address!r} cannot be joined: {reason}")


class UnknownReferenceError(ToolDeclError, KeyError):
    """
    A store of results has nothing under a reference.

    Attributes:
        reference: What was asked for.
    """

    def __init__(self, *, reference: object) -> None:
        self.reference = reference
        shown = repr(reference)
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        super().__init__(f"There is no stored result {shown}.")

    def __str__(self) -> str:  # a KeyError shows its text as code
        return str(self.args[0])


class RemoteError(ToolDeclError):
    """
    What a body raised in another process, in words: only text crosses.

    Attributes:
        type_names: Name of its type, or those of a group's leaves.
        text: Its text.
        traceback: Its traceback, as text.
        error_class: What kind of failure it was there.
        words: What it has for the model, or None.
        retry_after: Seconds that a server asked to be left alone for, or None.
        retryable: Whether the tool's `Retry` repeats a body for it.
        undecided: The type of what the author's own predicate raised, or None.
    """

    def __init__(
        self,
        *,
        type_names: Sequence[str],
        text: str = "",
        traceback: str = "",
        error_class: ErrorClass = "semantic",
        words: str | None = None,
        retry_after: float | None = None,
        retryable: bool = False,
        undecided: str | None = None,
    ) -> None:
        self.type_names = tuple(type_names)
        self.text = text
        self.traceback = traceback
        self.error_class: ErrorClass = error_class
        self.words = words
        self.retry_after = retry_after
        self.retryable = retryable
        self.undecided = undecided
        names = some_of(self.type_names)
        super().__init__(f"{names}: {text}" if text else names)
        if traceback:
            self.add_note(traceback)


class ToolError(ToolDeclError):
    """
    Raise it in a tool to tell the model what went wrong, in these words.

    Args:
        message: The text for the model.
        error_class: ``"transient"`` (may be retried), ``"environment"`` or
            ``"semantic"``; without it the cause decides, else semantic.

    Raises:
        ValueError: The class is none of the three.
    """

    error_class: ErrorClass | None = None  # also where a subclass has its own __init__

    def __init__(self, message: str, *, error_class: ErrorClass | None = None) -> None:
        if error_class is not None and error_class not in ERROR_CLASSES:
            raise ValueError(
                f"error_class takes one of {', '.join(ERROR_CLASSES)}, or None."
            )
        super().__init__(message)
        self.error_class = error_class


class SubRunError(ToolError):
    """
    A loop that was called as a tool has no answer; the cause of that call's error.

    Attributes:
        name: Name of the sub-run.
        stop_reason: Why it ended.
        result: Its `LoopResult`, with its suspension where it has one.
    """

    def __init__(
        self, *, name: str, stop_reason: str, why: str, result: object
    ) -> None:
        self.name = name
        self.stop_reason = stop_reason
        self.result = result
        super().__init__(f"The sub-run {name!r} {why}. It has no answer.")


class NotFound(ToolDeclError):  # noqa: N818 (a finding, not a failure)
    """
    Raise it in a tool that ran and found nothing: the result says so, invented nothing.
    """
