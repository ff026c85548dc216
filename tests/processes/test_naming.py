"""
A worker finds its tools by name; what has none is refused when the client is built.
"""

from __future__ import annotations

import sys
import types

import pytest

from processes import naming_tools
from processes.naming_tools import (
    LAMBDA,
    NAMED,
    Locked,
    closure,
    filled_in,
    local_method,
)
from processes.watching import run_script
from tooldecl import ToolClient, tool
from tooldecl._processes import is_supported
from tooldecl.engines import ProcessEngine
from tooldecl.exceptions import DeclarationError, NotImportableError


@pytest.fixture(scope="module")
def client():
    """
    Have tools of every shape, all in workers.
    """
    tools = [make() for make, _, _ in NAMED.values()]
    with ToolClient(tools, engine=ProcessEngine()) as client:
        client.invoke("double", {"x": 1})
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_what_has_a_name_is_found(name, client):
    """
    R36, trap 31: functions, methods with their instance, callables and foreign schemas.
    """
    _, arguments, value = NAMED[name]
    result = client.invoke(name, arguments)

    assert ("ok", value) == (result.status, result.value)


@pytest.mark.slow
def test_an_instance_is_the_one_of_the_build(make_client):
    """
    A bound method takes its instance along, as it was when the client was built.
    """
    shop = naming_tools.Shop(1)
    client = make_client(shop.count)
    shop.stock = 5

    assert 1 == client.invoke("count").value


REFUSED = {
    "short": (lambda: LAMBDA, "a lambda has no name to find it by"),
    "inner": (
        closure,
        "processes.naming_tools.closure.<locals>.inner is defined inside of another "
        "function",
    ),
    "filled": (
        filled_in,
        "it cannot be pickled (PicklingError: Tool 'filled' is not a function of a "
        "module: it cannot be found again by its name.)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_name_is_refused(name):
    """
    R36, R38: at the build, with the reason and what to do.
    """
    make, reason = REFUSED[name]
    with pytest.raises(NotImportableError) as caught:
        ToolClient([make()])

    assert name == caught.value.tool
    assert reason == caught.value.reason
    assert (
        f"Tool {name!r} cannot run in a worker process: {reason}. Define it at the top "
        "level of a module that can be imported."
    ) == str(caught.value)


def test_a_method_of_a_local_class_is_refused():
    """
    Its instance cannot be made again elsewhere.
    """
    with pytest.raises(NotImportableError) as caught:
        ToolClient([local_method()])

    assert (
        "processes.naming_tools.local_method.<locals>.Local.work is defined inside of "
        "another function"
    ) == caught.value.reason


def test_an_instance_that_does_not_cross_is_refused():
    """
    R38: a lock, say, which belongs to one process.
    """
    with pytest.raises(NotImportableError) as caught:
        ToolClient([Locked().work])

    assert (
        "it cannot be pickled (TypeError: cannot pickle '_thread.lock' object)"
    ) == caught.value.reason


def test_a_module_that_is_nowhere_is_refused():
    """
    What was made of text has no file to import.
    """
    module = types.ModuleType("made_of_text")
    code = "def work() -> int:\n    'Work.'\n    return 1\n"
    exec(code, module.__dict__)  # noqa: S102 (that is what it is about)
    with pytest.raises(NotImportableError) as caught:
        ToolClient([tool(isolation="process")(module.work)])

    assert "there is no module 'made_of_text' to import it from" == caught.value.reason


def test_all_that_is_refused_comes_at_once():
    """
    Several faults are one group, as for every other fault of a build.
    """
    with pytest.raises(ExceptionGroup) as caught:
        ToolClient([LAMBDA, closure(), Locked().work])

    assert [NotImportableError] * 3 == [type(e) for e in caught.value.exceptions]


def test_the_engines_choice_is_judged_as_well():
    """
    A tool that declares nothing runs in a worker under ProcessEngine.
    """

    @tool
    def work() -> int:
        """
        Work.
        """
        return 1

    with pytest.raises(NotImportableError):
        ToolClient([work], engine=ProcessEngine())
    ToolClient([work])


def test_a_derived_client_is_judged_as_well(make_client):
    """
    What is added later is added to the same promise.
    """
    with pytest.raises(NotImportableError):
        make_client().adding(closure())


def test_where_processes_cannot_be_ended_they_are_refused(monkeypatch):
    """
    A platform without the means is told so at the build, never ignored.
    """
    supported = is_supported()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(DeclarationError) as caught:
        ToolClient([naming_tools.renamed])

    assert supported
    assert "isolation='process' of tool 'other_name' on darwin" in str(caught.value)


@pytest.mark.slow
def test_a_script_is_not_run_again():
    """
    Trap 30: a tool of the script itself is refused, and the script prints once.
    """
    code, out, err = run_script(
        """
        print("once")
        sys.stdout.flush()

        @tool(isolation="process")
        def work() -> int:
            "Work."
            return 1

        with ToolClient([process_tools.add]) as client:
            print(client.invoke("add", {"a": 1, "b": 2}).value)
        try:
            ToolClient([work])
        except TypeError as error:
            print(error)
        """
    )

    assert (
        0,
        "once\n3\nTool 'work' cannot run in a worker process: it is defined in the "
        "script that is run (__main__), and a worker does not run that again. Define it "
        "at the top level of a module that can be imported.\n",
        "",
    ) == (code, out, err)
