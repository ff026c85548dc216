"""
The errors: their texts word for word, their fields, and that all of them travel.
"""

from __future__ import annotations

import copy
import pickle

import pytest

from tooldecl import exceptions
from tooldecl.exceptions import (
    ApprovalDeniedError,
    ApprovalExpiredError,
    BatchFailedError,
    BudgetExceededError,
    CallCancelledError,
    CallError,
    CallPendingError,
    ClusterError,
    DeclarationError,
    DuplicateToolError,
    EngineBusyError,
    EngineClosedError,
    GuardFailedError,
    InvalidArgumentsError,
    MalformedJSONError,
    ModelFailedError,
    NotAvailableError,
    NotFound,
    NotImportableError,
    NotRunError,
    RemoteError,
    ResultTooLargeError,
    ResumeError,
    SubRunError,
    ToolDeclError,
    ToolError,
    ToolFailedError,
    ToolTimeoutError,
    UnencodableResultError,
    UnknownReferenceError,
    UnknownToolError,
    UnsupportedSignatureError,
    WorkerDiedError,
)


TEXTS = [
    (ToolDeclError("Anything."), "Anything."),
    (DeclarationError("No."), "No."),
    (UnsupportedSignatureError("No.", tool="f", parameter="x"), "No."),
    (
        NotAvailableError(option="this=True"),
        "this=True is not available yet: this version of tooldecl has nothing that "
        "enforces it, so it is refused.",
    ),
    (
        DuplicateToolError(by_name={"b": ["m.b (m.py:1)"] * 2, "a": ["x", "y", "z"]}),
        "3 tools are named 'a': x and y and z. 2 tools are named 'b': m.b (m.py:1) and "
        "m.b (m.py:1). Rename one with @tool(name=...).",
    ),
    (CallError("It did not work."), "It did not work."),
    (
        UnknownToolError(name="ad", nearest=["add", "adapt"]),
        "There is no tool named 'ad'. Use one of: 'add', 'adapt'.",
    ),
    (
        UnknownToolError(name="x" * 81),
        f"There is no tool named '{'x' * 77}...'. No tools are available.",
    ),
    (
        MalformedJSONError(reason="a key is given twice", offset=7, path="$.a"),
        "The arguments were refused and nothing was run: a key is given twice at $.a "
        "(character 7). Send one JSON object.",
    ),
    (
        MalformedJSONError(reason="it is no object"),
        "The arguments were refused and nothing was run: it is no object. Send one JSON "
        "object.",
    ),
    (
        InvalidArgumentsError(tool="add", problems=[("$.a", "is missing.")]),
        "The arguments for 'add' were refused and nothing was run.\n$.a: is missing.",
    ),
    (
        BudgetExceededError(
            tool="pay", limit_name="calls", limit=5, spent=5, level="client"
        ),
        "Tool 'pay' was not run: the client's budget of 5 calls is used up.",
    ),
    (
        BudgetExceededError(
            tool="pay", limit_name="per_tool", limit=1, spent=1, level="loop"
        ),
        "Tool 'pay' was not run: the loop's budget of 1 call of this tool is used up.",
    ),
    (
        BudgetExceededError(
            tool="pay", limit_name="seconds", limit=2.5, spent=2.75, level="call"
        ),
        "Tool 'pay' was not run: the call's budget of 2.5 s is over.",
    ),
    (
        BudgetExceededError(
            tool="pay", limit_name="repeats", limit=3, spent=3, level="loop"
        ),
        "Tool 'pay' was not run: the loop's budget allows 3 equal calls in a row.",
    ),
    (
        ApprovalDeniedError(tool="pay", reason="too much"),
        "Tool 'pay' was not run: the call was refused. That is a decision and not a "
        "failure. The reason given: too much",
    ),
    (
        ApprovalDeniedError(tool="pay"),
        "Tool 'pay' was not run: the call was refused. That is a decision and not a "
        "failure. No reason was given.",
    ),
    (
        ApprovalExpiredError(tool="pay", limit=None),
        "Tool 'pay' was not run: nobody decided about the call in time.",
    ),
    (
        ApprovalExpiredError(tool="pay", limit=2.5, kind="external"),
        "Tool 'pay' has no result: none came from elsewhere within 2.5 s. It may have "
        "taken effect there.",
    ),
    (
        CallPendingError(tool="pay", kind="approval"),
        "The call of 'pay' has no result yet: it waits for a decision.",
    ),
    (
        CallPendingError(tool="pay", kind="external"),
        "The call of 'pay' has no result yet: it waits for its result from elsewhere.",
    ),
    (
        ResumeError(problems={"a": "no call with this id waits", "b": "it is late"}),
        "Nothing was resumed.\n'a': no call with this id waits\n'b': it is late",
    ),
    (
        GuardFailedError(tool="pay", filter_name="audit", ran=False),
        "A check around tool 'pay' failed. It was not run.",
    ),
    (
        GuardFailedError(tool="pay", filter_name="audit", ran=True),
        "A check around tool 'pay' failed. The tool had run; its result was lost.",
    ),
    (
        GuardFailedError(tool="pay", filter_name="audit", ran=True, fate="abandoned"),
        "A check around tool 'pay' failed. It may still be running and may still take "
        "effect.",
    ),
    (
        EngineBusyError(tool="pay", reason="8 calls are running"),
        "Tool 'pay' was not run: 8 calls are running.",
    ),
    (
        NotRunError(tool="pay", reason="its batch was stopped"),
        "Tool 'pay' was not run: its batch was stopped.",
    ),
    (
        CallCancelledError(tool="pay", fate="killed"),
        "The call of 'pay' was cancelled. It was killed.",
    ),
    (
        CallCancelledError(tool="pay", fate="completed"),
        "The call of 'pay' was cancelled. It had already finished; its result was "
        "dropped.",
    ),
    (
        ToolTimeoutError(tool="pay", timeout=0.25, source="batch", fate="not_started"),
        "Tool 'pay' did not finish within 0.25 s, what was left of the batch's limit. "
        "It never started.",
    ),
    (
        ToolTimeoutError(
            tool="pay", timeout=5, source="declared", fate="abandoned", attempts=2
        ),
        "Tool 'pay' did not finish within 5 s, the limit declared on it. It may still "
        "be running and may still take effect. 2 attempts were made.",
    ),
    (
        ToolTimeoutError(tool="pay", timeout=1e-05, source="engine", fate="stopped"),
        "Tool 'pay' did not finish within 1e-05 s, the engine's limit. It was stopped.",
    ),
    (
        ToolFailedError(tool="pay", type_names=["KeyError", "OSError"]),
        "Tool 'pay' failed: KeyError, OSError.",
    ),
    (
        ToolFailedError(tool="pay", type_names=["KeyError"], attempts=3),
        "Tool 'pay' failed: KeyError. 3 attempts were made; each may have taken effect.",
    ),
    (
        ToolFailedError(tool="pay", type_names=["ToolError"], text="Closed."),
        "Closed.",
    ),
    (
        ToolFailedError(
            tool="pay", type_names=["ToolError"], text="Closed.", attempts=2
        ),
        "Closed. 2 attempts were made; each may have taken effect.",
    ),
    (
        NotImportableError(tool="pay", ref="m:f", reason="a lambda has no name"),
        "Tool 'pay' cannot run in a worker process: a lambda has no name. Define it at "
        "the top level of a module that can be imported.",
    ),
    (
        WorkerDiedError(tool="pay", exit_code=3),
        "The worker process of tool 'pay' ended under it, with exit code 3. It may have "
        "taken effect.",
    ),
    (
        WorkerDiedError(tool="pay", exit_code=-11),
        "The worker process of tool 'pay' ended under it, by signal 11 (SIGSEGV). It may "
        "have taken effect.",
    ),
    (
        WorkerDiedError(tool="pay", exit_code=-40),
        "The worker process of tool 'pay' ended under it, by signal 40. It may have "
        "taken effect.",
    ),
    (
        WorkerDiedError(tool="pay", exit_code=None),
        "The worker process of tool 'pay' ended under it, nobody knows how. It may have "
        "taken effect.",
    ),
    (
        RemoteError(type_names=["ValueError"], text="no", traceback="tb"),
        "ValueError: no",
    ),
    (RemoteError(type_names=["A", "B"], retryable=True, words="w"), "A, B"),
    (
        UnencodableResultError(tool="pay", type_name="Lock", reason="it has no form"),
        "Tool 'pay' ran, but its result cannot be sent: it has no form (type Lock).",
    ),
    (
        ResultTooLargeError(tool="pay", limit=10, size=12),
        "Tool 'pay' ran, but its result has 12 characters and the limit is 10. Ask for "
        "less.",
    ),
    (
        BatchFailedError(results=(1, 2), first="pay"),
        "The batch finished, but not every call succeeded; the first that did not is "
        "'pay'. All results are in .results.",
    ),
    (
        ModelFailedError(messages=[{"role": "user"}], results=[1], reason="No key."),
        "The model failed: No key.",
    ),
    (
        SubRunError(
            name="research", stop_reason="max_turns", why="took its turns", result=None
        ),
        "The sub-run 'research' took its turns. It has no answer.",
    ),
    (EngineClosedError("Closed."), "Closed."),
    (
        ClusterError(address="local", reason="Ray says no."),
        "The cluster at 'local' cannot be joined: Ray says no.",
    ),
    (UnknownReferenceError(reference="a-1"), "There is no stored result 'a-1'."),
    (ToolError("The shop is closed.", error_class="transient"), "The shop is closed."),
    (NotFound("No such order."), "No such order."),
]
ERRORS = [error for error, _ in TEXTS]
NAMES = [f"{type(error).__name__}-{place}" for place, error in enumerate(ERRORS)]


class ShopClosedError(ToolError):
    """
    An author's own error, with a constructor and a field of its own.
    """

    def __init__(self, until: int) -> None:
        super().__init__(f"Closed until {until}.", error_class="environment")
        self.until = until


def facts_of(error):
    """
    List all that makes an error of ours: type, text, arguments and fields.
    """
    return type(error), str(error), error.args, vars(error)


@pytest.mark.parametrize(("error", "text"), TEXTS, ids=NAMES)
def test_the_text_of_an_error_is_this_one(error, text):
    """
    Models and people act on these texts, so a change of one is a change of an interface.
    """
    assert text == str(error)


def test_every_class_is_among_the_samples():
    """
    A class that these tests do not know would be neither read nor pickled here.
    """
    classes = {
        value
        for name in exceptions.__all__
        if isinstance(value := getattr(exceptions, name), type)
    }

    assert classes == {type(error) for error in ERRORS}


@pytest.mark.parametrize("error", [*ERRORS, ShopClosedError(7)])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_error_is_the_same_after_pickling(error, protocol):
    """
    Results cross process borders with their errors; one that does not load again would
    look like a dead worker.
    """
    loaded = pickle.loads(pickle.dumps(error, protocol))

    assert facts_of(error) == facts_of(loaded)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("error", [*ERRORS, ShopClosedError(7)])
def test_an_error_is_the_same_after_copying(error, duplicate):
    """
    Constructors take keywords only, so the copy that Python makes by itself would fail.
    """
    assert facts_of(error) == facts_of(duplicate(error))


def test_notes_travel_with_an_error():
    """
    What a host has added with ``add_note`` is part of what it wants to read later.
    """
    error = NotRunError(tool="pay", reason="it is late")
    error.add_note("Asked by the night shift.")

    assert error.__notes__ == pickle.loads(pickle.dumps(error)).__notes__


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (ApprovalDeniedError(tool="x"), PermissionError),
        (ResumeError(problems={}), ValueError),
        (DeclarationError("No."), TypeError),
        (UnknownToolError(name="x"), LookupError),
        (MalformedJSONError(reason="x"), ValueError),
        (InvalidArgumentsError(tool="x", problems=()), ValueError),
        (
            ToolTimeoutError(tool="x", timeout=1, source="engine", fate="stopped"),
            TimeoutError,
        ),
        (UnencodableResultError(tool="x", type_name="y", reason="z"), TypeError),
        (EngineClosedError("No."), RuntimeError),
        (ClusterError(address="x", reason="No."), ConnectionError),
    ],
)
def test_an_error_is_also_the_builtin_that_callers_catch_already(error, builtin):
    """
    Code that knows nothing of this library catches a timeout as TimeoutError.
    """
    assert isinstance(error, builtin)


def test_problems_beyond_the_limit_are_counted_and_not_lost_in_silence():
    """
    A model that sent 500 wrong members gets a text under 1,000 characters that says so,
    and the host still has every problem.
    """
    problems = [(f"$.a[{n}]", "expected an integer.") for n in range(500)]
    error = InvalidArgumentsError(tool="add", problems=problems)
    last = str(error).splitlines()[-1]

    assert (True, tuple(problems)) == (len(str(error)) < 1000, error.problems)
    assert f"and {500 - len(str(error).splitlines()) + 2} more." == last


def test_one_very_long_problem_is_cut():
    """
    A path or a message that a model made long must not push the others out.
    """
    error = InvalidArgumentsError(tool="f", problems=[("$.a", "x" * 900), ("$.b", "y")])

    assert [300, 6] == [len(line) for line in str(error).splitlines()[1:]]


def test_many_types_of_a_group_are_counted():
    """
    A group of a hundred kinds of failures is no reason for a text without end.
    """
    names = [f"Error{n}" for n in range(12)]
    error = ToolFailedError(tool="f", type_names=[*names, "X" * 500])
    shown = ", ".join(names[:10])

    assert f"Tool 'f' failed: {shown} and 3 more." == str(error)


def test_a_type_with_a_very_long_name_is_cut():
    """
    The name of a type is the author's, and its length is nobody's promise.
    """
    error = ToolFailedError(tool="f", type_names=["X" * 500])

    assert f"Tool 'f' failed: {'X' * 57}...." == str(error)


def test_duplicates_are_sorted_and_keep_their_places():
    """
    Whoever reads the error goes to every one of the places it names.
    """
    error = DuplicateToolError(by_name={"b": ["2", "1"], "a": ["3", "4"]})

    assert (["a", "b"], {"a": ("3", "4"), "b": ("2", "1")}) == (
        error.duplicates,
        error.by_name,
    )
    assert ("3", "4", "2", "1") == error.sites


@pytest.mark.parametrize("given", ["fatal", "", "Transient", 1])
def test_an_error_class_that_is_none_of_the_three_is_refused(given):
    """
    E-15: a class that nothing understands would be taken for semantic in silence.
    """
    with pytest.raises(ValueError) as caught:
        ToolError("No.", error_class=given)

    assert "error_class takes one of transient, semantic, environment, or None." == str(
        caught.value
    )
