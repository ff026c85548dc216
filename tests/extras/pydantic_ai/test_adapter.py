"""
What the adapter for pydantic-ai passes on, maps and refuses.
"""

from __future__ import annotations

import json

import pytest

from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ToolApproved,
    ToolDenied,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessagesTypeAdapter

from driving_pydantic_ai import returns, scripted
from everywhere import Answer
from tooldecl import Suspension, ToolCall, ToolClient, ToolContext, tool
from tooldecl.exceptions import ResumeError
from tooldecl.filters import Approval, Suspend
from tooldecl.integrations.pydantic_ai import to_pydantic_ai


@tool
def whoami(context: ToolContext) -> str:
    """
    Say for whom this runs.
    """
    return f"{context.deps} {context.call_id}"


@tool(serial=True, tags=["books"])
def write(line: str) -> str:
    """
    Write a line.
    """
    return f"wrote {line}"


@tool(sensitive=True)
def pay(amount: int) -> str:
    """
    Pay.
    """
    return f"paid {amount}"


@tool(external=True)
def click(where: str) -> str:
    """
    Click somewhere.
    """


def answers(result):
    """
    List what the model was told.
    """
    return [Answer(p.outcome == "success", p.content) for p in returns(result)]


async def test_the_deps_of_the_run_reach_the_tool():
    """
    What the host gives a run is what its tools work with.
    """
    calls = [ToolCall("whoami", "{}", "call_7")]
    toolset = to_pydantic_ai(ToolClient([whoami]))
    agent = Agent(scripted(calls), toolsets=[toolset], deps_type=str)
    result = await agent.run("Go on.", deps="Ada")

    assert [Answer(True, "Ada call_7")] == answers(result)


async def test_a_return_carries_what_became_of_the_call_as_json():
    """
    The messages of a run are written down; so is what stands beside the answers.
    """
    calls = [ToolCall("whoami", "{}", "call_7")]
    agent = Agent(scripted(calls), toolsets=[to_pydantic_ai(ToolClient([whoami]))])
    result = await agent.run("Go on.")
    [part] = returns(result)
    told = part.metadata["tooldecl"]
    ModelMessagesTypeAdapter.dump_json(result.all_messages())

    assert ("ok", "completed", 1) == (told["status"], told["fate"], told["attempts"])


async def test_serial_is_the_frameworks_own_barrier():
    """
    The framework has what ``serial=True`` asks for, under another name.
    """
    toolset = to_pydantic_ai(ToolClient([write, whoami]))
    tools = await toolset.get_tools(None)

    assert {"write": True, "whoami": False} == {
        name: entry.tool_def.sequential for name, entry in tools.items()
    }


async def test_tags_choose_what_is_offered():
    """
    An agent is not shown more than it needs.
    """
    client = ToolClient([write, whoami])
    chosen = await to_pydantic_ai(client, tags=["books"]).get_tools(None)
    others = await to_pydantic_ai(client, exclude_tags=["books"]).get_tools(None)

    assert (["write"], ["whoami"]) == ([*chosen], [*others])


async def test_toolsets_of_the_framework_go_around_it():
    """
    A prefix of the framework changes the name that the model sees, not what is called.
    """
    calls = [ToolCall("books_write", '{"line": "a"}', "call_0")]
    toolset = to_pydantic_ai(ToolClient([write]), toolset_id="books").prefixed("books")
    result = await Agent(scripted(calls), toolsets=[toolset]).run("Go on.")

    assert [Answer(True, "wrote a")] == answers(result)


async def test_two_tools_of_one_name_are_refused_by_the_framework():
    """
    One client refuses them when it is built; two clients meet in the agent only.
    """
    toolsets = [to_pydantic_ai(ToolClient([write])) for _ in range(2)]
    agent = Agent(
        scripted([ToolCall("write", {"line": "a"}, "call_0")]), toolsets=toolsets
    )
    with pytest.raises(UserError, match="write"):
        await agent.run("Go on.")


def paused(client):
    """
    Make an agent that pays 7, in two stages.
    """
    return Agent(
        scripted([ToolCall("pay", {"amount": 7}, "call_0")]),
        toolsets=[to_pydantic_ai(client)],
        output_type=[str, DeferredToolRequests],
    )


def asking(tools=(pay,)):
    """
    Make a client that leaves every decision for later.
    """
    return ToolClient(tools, filters=[Approval(lambda _: Suspend())])


async def go_on(agent, first, **results):
    """
    Go on with a run that has ended with requests.
    """
    requests = first.output
    given = DeferredToolResults(**{"metadata": requests.metadata, **results})

    return await agent.run(
        message_history=first.all_messages(), deferred_tool_results=given
    )


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (True, Answer(True, "paid 7")),
        (ToolApproved(override_args={"amount": 3}), Answer(True, "paid 3")),
        (ToolDenied("Not today."), Answer(False, "Not today.")),
    ],
)
async def test_a_call_that_waits_is_the_frameworks_deferred_call(decision, expected):
    """
    A person may take until tomorrow; the run ends with a request and goes on from it.
    """
    agent = paused(asking())
    first = await agent.run("Go on.")
    assert ["pay"] == [call.tool_name for call in first.output.approvals]
    second = await go_on(agent, first, approvals={"call_0": decision})

    assert "done" == second.output
    assert [expected] == answers(second)


async def test_what_waits_survives_as_json():
    """
    The request is answered by another process, from what was written down.
    """
    first = await paused(asking()).run("Go on.")
    metadata = json.loads(json.dumps(first.output.metadata))
    second = await go_on(
        paused(asking()), first, approvals={"call_0": True}, metadata=metadata
    )

    assert [Answer(True, "paid 7")] == answers(second)


async def test_an_approval_without_its_suspension_is_refused():
    """
    The call would ask again and again; whoever forgot to pass it on is told.
    """
    agent = paused(asking())
    first = await agent.run("Go on.")
    with pytest.raises(ResumeError, match=r"metadata=requests\.metadata"):
        await go_on(agent, first, approvals={"call_0": True}, metadata={})


async def test_an_external_call_is_the_frameworks_deferred_call():
    """
    The gate has read the arguments before anybody is asked to act on them.
    """
    client = ToolClient([click])
    calls = [
        ToolCall("click", '{"where": 1}', "call_0"),
        ToolCall("click", '{"where": "here"}', "call_1"),
    ]
    agent = Agent(
        scripted(calls),
        toolsets=[to_pydantic_ai(client)],
        output_type=[str, DeferredToolRequests],
    )
    first = await agent.run("Go on.")
    [waiting] = first.output.calls
    told = first.output.metadata[waiting.tool_call_id]["tooldecl"]
    suspension = Suspension.from_json(told["suspension"])
    [result] = await client.aresume(suspension, {"call_1": "clicked"})
    second = await go_on(agent, first, calls={"call_1": result.content})

    assert "call_1" == waiting.tool_call_id
    assert Answer(True, "clicked") == answers(second)[-1]


async def test_a_suspension_of_another_tool_is_refused():
    """
    An approval counts for the call that it was given for.
    """
    client = asking([pay, whoami])
    told = await client.ainvoke("pay", {"amount": 1000})
    agent = paused(client)
    first = await agent.run("Go on.")
    text = told.error.suspension.to_json().replace('"pay"', '"whoami"')
    with pytest.raises(ResumeError, match="not that of a call of 'pay'"):
        await go_on(
            agent,
            first,
            approvals={"call_0": True},
            metadata={"call_0": {"tooldecl": {"suspension": text}}},
        )


async def test_the_frameworks_own_approval_may_come_first():
    """
    A host that approves by the framework's means needs nothing of the client for it.
    """
    agent = Agent(
        scripted([ToolCall("write", {"line": "a"}, "call_0")]),
        toolsets=[to_pydantic_ai(ToolClient([write])).approval_required()],
        output_type=[str, DeferredToolRequests],
    )
    first = await agent.run("Go on.")
    second = await go_on(agent, first, approvals={"call_0": True})

    assert [Answer(True, "wrote a")] == answers(second)


async def test_a_call_that_waits_for_good_is_refused():
    """
    A state that cannot be written down would be lost until somebody decides.
    """
    client = ToolClient(
        [pay], filters=[Approval(lambda _: Suspend())], state={"lock": object()}
    )
    with pytest.raises(TypeError) as caught:
        await paused(client).run("Go on.")

    assert (
        "The call of 'pay' waits, and the state of the client has no JSON form, so nobody "
        "could go on with it."
    ) == str(caught.value)
