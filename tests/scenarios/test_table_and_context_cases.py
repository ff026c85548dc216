"""
Cases of the reference systems that one client shows: context, groups, engines.
"""

from __future__ import annotations

import abc

import pytest

from tooldecl import (
    DeclarationError,
    DuplicateToolError,
    Retry,
    ToolCall,
    ToolClient,
    ToolContext,
    ToolLoop,
    Turn,
    current_context,
    meta_of,
    prefixed,
    tool,
)
from tooldecl.engines import SequentialEngine
from tooldecl.testing import FakeClock, ScriptedModel


@tool
def count(ctx: ToolContext) -> int:
    """
    Count the items, and write how many there are.
    """
    ctx.write("seen", len(ctx.state["items"]))
    return len(ctx.state["items"]) + ("seen" in ctx.state)


def test_a_tool_reads_the_snapshot_and_its_writes_come_back():
    """
    DEC-09: what a body writes is in the result, and not in what it reads.
    """
    client = ToolClient([count], state={"items": ["a"]})
    result = client.invoke("count")

    assert (1, {"seen": 1}) == (result.value, result.writes)
    assert {"items": ["a"], "seen": 1} == client.state


@pytest.mark.parametrize("timeout", [None, 30])
def test_a_tool_without_the_parameter_may_write_too(timeout):
    """
    DEC-10, TMO-02, TMO-24: value and writes are the same, wherever the body runs.
    """

    @tool(timeout=timeout)
    def note(text: str) -> str:
        """
        Note a text.
        """
        current_context().write("note", text)
        return text.upper()

    result = ToolClient([note]).invoke("note", {"text": "x"})

    assert ("X", {"note": "x"}) == (result.value, result.writes)


class Shop(abc.ABC):
    """
    An interface that carries the declaration.
    """

    @tool
    @abc.abstractmethod
    def price(self, item: str) -> int:
        """
        Look up a price.
        """

    @tool
    def currency(self) -> str:
        """
        Name the currency.
        """
        return self.sign


class Market(Shop):
    """
    An implementation that inherits one tool and declares the other.
    """

    sign = "EUR"

    @tool
    def price(self, item: str) -> int:
        """
        Look up a price.
        """
        return len(item)


def test_a_declaration_on_an_interface_is_found():
    """
    DEC-12: exactly the tools of the object, bound to it.
    """
    market = Market()
    client = ToolClient([market.price, market.currency])

    assert ["price", "currency"] == list(client.table)
    assert (4, "EUR") == (
        client.invoke("price", {"item": "lamp"}).value,
        client.invoke("currency").value,
    )


def test_a_tool_runs_here_unless_it_says_otherwise():
    """
    DEC-13: what someone else is to run never runs here.
    """

    @tool(external=True)
    def elsewhere() -> None:
        """
        Run on a phone.
        """
        raise AssertionError("unreachable")

    assert meta_of(count).external is False
    assert "pending" == ToolClient([elsewhere]).invoke("elsewhere").status


def test_the_engine_given_is_the_engine_used():
    """
    TAB-12: two clients with one engine share its limits; without one each has its own.
    """
    engine = SequentialEngine(timeout=30, max_abandoned=5)
    tools = [tool(name="limit")(remaining)]

    assert 0 < ToolClient(tools, engine=engine).invoke("limit").value <= 30
    assert ToolClient(tools).invoke("limit").value is None


def remaining(ctx: ToolContext) -> float | None:
    """
    Return the seconds left.
    """
    return ctx.remaining()


def test_two_groups_with_one_name_are_no_silent_choice():
    """
    TAB-14: whichever came first or last would be a guess.
    """
    group = prefixed("shop", [count])
    with pytest.raises(DuplicateToolError) as caught:
        ToolClient([group, prefixed("shop", [count])])

    assert ["shop_count"] == caught.value.duplicates


def test_a_replacement_of_another_name_is_refused():
    """
    TAB-15: what is put in a tool's place answers to its name.
    """
    client = ToolClient([count])
    with pytest.raises(DeclarationError) as caught:
        client.replacing(tool(name="counts")(remaining))

    assert "'counts'" in str(caught.value)
    assert "'count'" in str(caught.value)


def test_a_retried_call_is_the_same_call_for_the_model():
    """
    RTY-08: the attempts are ours; the model is asked again only with their outcome.
    """
    ran = []

    @tool(retry=Retry(attempts=2))
    def flaky() -> str:
        """
        Fail once.
        """
        ran.append(1)
        if len(ran) == 1:
            raise ConnectionError
        return "up"

    model = ScriptedModel([Turn(calls=[ToolCall("flaky", None, "c1")]), Turn("done")])
    result = ToolLoop(ToolClient([flaky], clock=FakeClock()), model).run("go")

    assert (2, 2, "ok", 2) == (
        len(ran),
        len(model.requests),
        result.results[0].status,
        result.results[0].attempts,
    )
