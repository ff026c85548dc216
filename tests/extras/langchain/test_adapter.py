"""
What the adapter for LangChain passes on, maps and refuses.
"""

from __future__ import annotations

import pytest

from langchain_core.messages import HumanMessage
from langchain_core.tools import ToolException
from langgraph.checkpoint.memory import InMemorySaver

from driving_langchain import agent_of, graph_of, said
from tooldecl import ToolCall, ToolClient, ToolContext, tool
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.integrations.langchain import to_langchain


@tool
def whoami(context: ToolContext) -> str:
    """
    Say for whom this runs.
    """
    return f"{context.deps} {context.call_id}"


@tool(tags=["books"])
def write(line: str) -> str:
    """
    Write a line.
    """
    return f"wrote {line}"


@tool
def leak() -> str:
    """
    Fail.
    """
    raise ValueError("secret")


@tool(sensitive=True)
def pay(amount: int) -> str:
    """
    Pay.
    """
    return f"paid {amount}"


def ran(client, *calls, graph=None, **config):
    """
    Run a graph that makes these calls, and return its messages.
    """
    graph = graph or graph_of(to_langchain(client))
    state = graph.invoke({"messages": [said(calls)]}, config={"configurable": config})

    return state["messages"][1:]


def test_the_deps_of_the_run_reach_the_tool():
    """
    What the host gives a run is what its tools work with.
    """
    [message] = ran(ToolClient([whoami]), ToolCall("whoami", {}, "call_7"), deps="Ada")

    assert "Ada call_7" == message.content


async def test_the_deps_of_an_agent_reach_the_tool():
    """
    The same holds where the tools are awaited.
    """
    calls = [ToolCall("whoami", {}, "call_7")]
    agent = agent_of(to_langchain(ToolClient([whoami])), calls)
    state = await agent.ainvoke(
        {"messages": [HumanMessage("Go on.")]}, config={"configurable": {"deps": "Ada"}}
    )

    assert "Ada call_7" == state["messages"][2].content


def test_the_result_is_the_artifact_of_the_message():
    """
    The host sees everything, whatever the model is told.
    """
    good, bad = ran(
        ToolClient([write, leak]),
        ToolCall("write", {"line": "a"}, "call_0"),
        ToolCall("leak", {}, "call_1"),
    )

    assert ("success", "ok") == (good.status, good.artifact.status)
    assert ("error", "tool_error") == (bad.status, bad.artifact.status)
    assert "secret" == str(bad.artifact.error.__cause__)
    assert "secret" not in bad.content


def test_tags_choose_what_is_offered():
    """
    An agent is not shown more than it needs.
    """
    client = ToolClient([write, whoami])
    chosen = to_langchain(client, tags=["books"])
    others = to_langchain(client, exclude_tags=["books"])

    assert (["write"], ["whoami"]) == (
        [t.name for t in chosen],
        [t.name for t in others],
    )


def test_a_tool_shows_the_schema_of_the_client():
    """
    The model is shown what the gate accepts, and nothing of the framework's own.
    """
    [offered] = to_langchain(ToolClient([write]))
    [shown] = ToolClient([write]).definitions("openai")

    assert shown["function"]["parameters"] == offered.args_schema
    assert {"line"} == set(offered.args)


def test_text_passes_the_strict_gate():
    """
    Models of LangChain send what a lenient parser has read; a host can send the text.
    """
    [offered] = to_langchain(ToolClient([write]))

    assert "wrote a" == offered.invoke('{"line": "a"}')
    with pytest.raises(ToolException, match="given twice"):
        offered.invoke('{"line": "a", "line": "b"}')


def test_without_a_message_a_failure_is_raised():
    """
    A plain value has no status, and a text would look like an answer.
    """
    [offered] = to_langchain(ToolClient([leak]))
    with pytest.raises(ToolException) as caught:
        offered.invoke({})

    assert "Tool 'leak' failed: ValueError." == str(caught.value)
    assert "secret" == str(caught.value.__cause__.__cause__)


def test_a_call_that_waits_can_be_resumed_from_its_artifact():
    """
    The framework waits by running the whole node again; here nothing runs twice.
    """
    client = ToolClient([pay], filters=[Approval(lambda _: Suspend())])
    [message] = ran(client, ToolCall("pay", {"amount": 7}, "call_0"))
    suspension = message.artifact.error.suspension
    [result] = client.resume(suspension, {"call_0": Approved()})

    assert ("error", "pending") == (message.status, message.artifact.status)
    assert "The call of 'pay' has no result yet: it waits for a decision." == (
        message.content
    )
    assert "paid 7" == result.content


def test_messages_go_through_a_checkpointer():
    """
    A graph that is saved must not stumble over what stands beside the text.
    """
    client = ToolClient([write, leak])
    graph = graph_of(to_langchain(client), checkpointer=InMemorySaver())
    calls = [ToolCall("write", {"line": "a"}, "call_0"), ToolCall("leak", {}, "call_1")]
    ran(client, *calls, graph=graph, thread_id="1")
    saved = graph.get_state({"configurable": {"thread_id": "1"}}).values["messages"]

    assert ["wrote a", "Tool 'leak' failed: ValueError."] == [
        message.content for message in saved[1:]
    ]
    # What is read back is plain data: the saver does not know the class.
    assert ["ok", "tool_error"] == [m.artifact["status"] for m in saved[1:]]


@tool
def odd(config: str, run_manager: str, callbacks: str, arguments: str) -> str:
    """
    Have parameters that the framework has as well.
    """
    return f"{config} {run_manager} {callbacks} {arguments}"


def test_parameters_may_have_the_names_of_the_frameworks():
    """
    The framework would put its own values in their place.
    """
    sent = {"config": "a", "run_manager": "b", "callbacks": "c", "arguments": "d"}
    [message] = ran(ToolClient([odd]), ToolCall("odd", sent, "call_0"))

    assert "a b c d" == message.content
