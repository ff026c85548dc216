"""
What the adapter for openai-agents passes on, maps and refuses.
"""

from __future__ import annotations

import copy
import pickle

import pytest

from agents import Runner

from driving_openai_agents import agent_of, outputs
from tooldecl import Suspension, ToolCall, ToolClient, ToolContext, tool
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.integrations.openai_agents import to_openai_agents


@tool
def whoami(context: ToolContext) -> str:
    """
    Say for whom this runs.
    """
    return f"{context.deps} {context.call_id}"


@tool(tags=["books"])
def write(line: str, copies: int = 1) -> str:
    """
    Write a line.
    """
    return f"wrote {line} {copies}"


@tool(sensitive=True)
def pay(amount: int) -> str:
    """
    Pay.
    """
    return f"paid {amount}"


async def ran(tools, *calls, **options):
    """
    Run an agent that makes these calls, and return its outputs by call id.
    """
    result = await Runner.run(agent_of(tools, calls), "Go on.", **options)

    return outputs(result)


async def test_the_context_of_the_run_reaches_the_tool():
    """
    What the host gives a run is what its tools work with.
    """
    tools = to_openai_agents(ToolClient([whoami]))
    found = await ran(tools, ToolCall("whoami", "", "call_7"), context="Ada")

    assert "Ada call_7" == found["call_7"].output


async def test_an_output_carries_what_became_of_the_call():
    """
    The framework's outputs are texts; a host needs to know which of them are failures.
    """
    tools = to_openai_agents(ToolClient([whoami]))
    found = await ran(tools, ToolCall("whoami", '{"a": 1}', "call_0"))
    told = found["call_0"].custom_data["tooldecl"]

    assert ("invalid", "not_started", 0) == (
        told["status"],
        told["fate"],
        told["attempts"],
    )


def test_tags_choose_what_is_offered():
    """
    An agent is not shown more than it needs.
    """
    client = ToolClient([write, whoami])
    chosen = to_openai_agents(client, tags=["books"])
    others = to_openai_agents(client, exclude_tags=["books"])

    assert (["write"], ["whoami"]) == (
        [t.name for t in chosen],
        [t.name for t in others],
    )


@pytest.mark.parametrize("strict", [False, True])
async def test_the_schema_is_shown_in_the_form_that_was_asked_for(strict):
    """
    A strict model sends every argument, and what it is offered the gate accepts.
    """
    [offered] = to_openai_agents(ToolClient([write]), strict=strict)
    sent = '{"line": "a", "copies": 1}' if strict else '{"line": "a"}'
    found = await ran([offered], ToolCall("write", sent, "call_0"))

    assert strict == offered.strict_json_schema
    assert strict == ("copies" in offered.params_json_schema["required"])
    assert strict != ("default" in offered.params_json_schema["properties"]["copies"])
    assert "wrote a 1" == found["call_0"].output


def test_the_frameworks_own_limits_are_left_alone():
    """
    Its timeout would answer first, and cannot stop a thread.
    """
    [offered] = to_openai_agents(ToolClient([write]))

    assert offered.timeout_seconds is None


async def test_a_call_that_waits_can_be_resumed_from_its_output():
    """
    The framework cannot wait inside of a tool; the model is told, and the host goes on.
    """
    client = ToolClient([pay], filters=[Approval(lambda _: Suspend())])
    found = await ran(
        to_openai_agents(client), ToolCall("pay", {"amount": 7}, "call_0")
    )
    item = found["call_0"]
    told = item.custom_data["tooldecl"]
    suspension = Suspension.from_json(told["suspension"])
    [result] = await client.aresume(suspension, {"call_0": Approved()})

    assert "pending" == told["status"]
    assert (
        "The call of 'pay' has no result yet: it waits for a decision." == item.output
    )
    assert "paid 7" == result.content


async def test_a_serial_tool_may_run_an_agent_with_the_same_tools():
    """
    A call that waited for the one that it is made by would wait for ever.
    """

    @tool(serial=True)
    async def outer() -> str:
        """
        Ask an agent.
        """
        result = await Runner.run(
            agent_of(tools, [ToolCall("inner", "", "c")]), "Go on."
        )
        return outputs(result)["c"].output

    @tool(serial=True)
    def inner() -> str:
        """
        Answer.
        """
        return "from inside"

    tools = to_openai_agents(ToolClient([outer, inner]))
    found = await ran(tools, ToolCall("outer", "", "call_0"))

    assert "from inside" == found["call_0"].output


async def test_the_text_of_an_output_is_copied_without_its_result():
    """
    Frameworks copy and keep what they are given; the value may be anything.
    """
    client = ToolClient(
        [pay], filters=[Approval(lambda _: Suspend())], state={"x": {1}}
    )
    found = await ran(
        to_openai_agents(client), ToolCall("pay", {"amount": 7}, "call_0")
    )
    item = found["call_0"]
    again = pickle.loads(pickle.dumps(copy.deepcopy(item.output)))

    assert (str, item.output) == (type(again), again)
    assert item.custom_data["tooldecl"]["suspension"] is None
