"""
Whose child a span is: the span of a call is current in its body, and nowhere else.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from opentelemetry import baggage, context, trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

from extras.otel.otel_tools import apart, apart_async, ids
from fronts import call, call_batch
from ordering import HANGS_AFTER, Gate
from tooldecl import (
    Retry,
    ToolCall,
    ToolClient,
    ToolContext,
    ToolLoop,
    Turn,
    tool,
)
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine
from tooldecl.integrations.opentelemetry import OpenTelemetryHook
from tooldecl.telemetry import LateFinish
from tooldecl.testing import FakeClock, ScriptedModel


def parents(telemetry):
    """
    Map the span of each body to the call it is a child of.
    """
    calls = {s.context.span_id: s for s in telemetry.spans if "execute" in s.name}
    return [
        (span.name, calls[span.parent.span_id].attributes["gen_ai.tool.call.id"])
        for span in telemetry.spans
        if "execute" not in span.name
    ]


def body_of(kind, telemetry, meeting):
    """
    Return a tool whose body makes a span of its own, where *kind* says.
    """

    def work(ctx: ToolContext) -> None:
        """Work."""
        with telemetry.tracer.start_as_current_span(ctx.call_id):
            meeting()

    async def work_async(ctx: ToolContext) -> None:
        """Work."""
        with telemetry.tracer.start_as_current_span(ctx.call_id):
            await asyncio.sleep(0)

    match kind:
        case "async":
            return tool(name="work")(work_async)
        case "async in a thread":
            return tool(name="work", isolation="thread", timeout=30)(work_async)
        case "timed":
            return tool(name="work", timeout=30)(work)
        case "inline":
            return tool(name="work", isolation="inline")(work)
    return tool(name="work", isolation="thread")(work)


KINDS = ["inline", "thread", "timed", "async", "async in a thread"]


def pass_on(request):
    """
    Do nothing, around a call.
    """
    return (yield request)


class Wait:
    """
    A filter that could wait, in one colour.
    """

    async def aaround(self, request, call_next):
        """
        Go on.
        """
        return await call_next(request)


@pytest.mark.parametrize("layer", [None, pass_on, Wait()])
@pytest.mark.parametrize("kind", KINDS)
def test_the_span_of_a_body_is_a_child_of_its_call(front, telemetry, kind, layer):
    """
    Wherever the body runs, and through whatever filter; and the call is a child of the
    host's own span.
    """
    body = body_of(kind, telemetry, lambda: None)
    layers = [] if layer is None else [layer]
    client = ToolClient([body], hooks=[telemetry.hook()], filters=layers)
    with telemetry.tracer.start_as_current_span("host") as host, client:
        call(front, client, "work", call_id="c1")
        assert host is trace.get_current_span()
    made = {span.name: span for span in telemetry.spans}

    assert {"c1", "execute_tool work", "host"} == set(made)
    assert made["execute_tool work"].context.span_id == made["c1"].parent.span_id
    assert made["host"].context.span_id == made["execute_tool work"].parent.span_id


@pytest.mark.parametrize("engine", [ThreadEngine, AsyncioEngine])
@pytest.mark.parametrize("kind", ["thread", "timed", "async"])
def test_fifty_calls_at_once_each_have_their_own(front, telemetry, engine, kind):
    """
    All bodies are inside together, and none takes another's span for its parent.
    """
    together = threading.Barrier(50)
    body = body_of(kind, telemetry, lambda: together.wait(HANGS_AFTER))
    engine = engine(max_concurrency=50)
    calls = [ToolCall("work", {}, f"c{n}") for n in range(50)]
    with ToolClient([body], hooks=[telemetry.hook()], engine=engine) as client:
        results = call_batch(front, client, calls)

    assert results.ok
    assert [(f"c{n}", f"c{n}") for n in range(50)] == sorted(
        parents(telemetry), key=lambda pair: int(pair[0][1:])
    )


@pytest.mark.parametrize("count", [20])
def test_calls_of_one_id_are_told_apart(telemetry, count):
    """
    Ids come from models, and some count from one in every conversation.
    """
    together = threading.Barrier(count)

    @tool(retry=Retry(attempts=2, delay=0))
    def work(ctx: ToolContext) -> None:
        """Work."""
        together.wait(HANGS_AFTER)
        if ctx.attempt == 1:
            raise ConnectionError(str(ctx.deps))
        with telemetry.tracer.start_as_current_span("own"):
            together.wait(HANGS_AFTER)

    client = ToolClient([work], hooks=[telemetry.hook()])

    def run(number):
        with telemetry.tracer.start_as_current_span(f"host {number}"):
            client.invoke("work", call_id="call_1", deps=number)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    by_trace = {}
    for span in telemetry.spans:
        by_trace.setdefault(span.context.trace_id, []).append(span.name.split()[0])
    of_calls = [span for span in telemetry.spans if "execute" in span.name]

    assert [["own", "execute_tool", "host"]] * count == list(by_trace.values())
    assert [2] * count == [len(span.events) for span in of_calls]


@pytest.mark.parametrize("engine", [SequentialEngine, ThreadEngine, AsyncioEngine])
def test_nothing_is_current_after_a_call(front, telemetry, engine):
    """
    Neither a success nor a failure leaves anything in the caller's context.
    """

    @tool
    def fail(how: str) -> None:
        """Fail."""
        if how == "raise":
            raise ValueError(how)

    client = ToolClient([fail], hooks=[telemetry.hook()], engine=engine())
    before = context.get_current()
    calls = [ToolCall("fail", {"how": how}) for how in ("raise", "not", 1)]
    call_batch(front, client, [*calls, ToolCall("nothing")])

    assert before is context.get_current()
    assert [None] * 4 == [span.parent for span in telemetry.spans]


def test_a_fatal_error_leaves_nothing_current(front, telemetry):
    """
    Ctrl-C leaves the client, and the span of its call ends all the same.
    """

    @tool
    def stop() -> None:
        """Stop."""
        raise KeyboardInterrupt

    client = ToolClient([stop], hooks=[telemetry.hook()])
    before = context.get_current()
    with pytest.raises(KeyboardInterrupt):
        call(front, client, "stop")

    assert before is context.get_current()
    assert ["cancelled"] == [span.attributes["error.type"] for span in telemetry.spans]


async def test_a_cancelled_caller_leaves_nothing_current(telemetry):
    """
    The span says that the call was cancelled, and what became of its body.
    """
    begun = asyncio.Event()

    @tool
    async def wait() -> None:
        """Wait."""
        begun.set()
        await asyncio.sleep(HANGS_AFTER)

    client = ToolClient([wait], hooks=[telemetry.hook()])
    inside = []

    async def run():
        before = context.get_current()
        try:
            await client.ainvoke("wait")
        finally:
            inside.append(before is context.get_current())

    task = asyncio.create_task(run())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [span] = telemetry.spans

    assert [True] == inside
    assert ("cancelled", "stopped") == (
        span.attributes["error.type"],
        span.attributes["tooldecl.fate"],
    )


async def test_tasks_that_share_their_context_heal(telemetry):
    """
    Two tasks in one context see each other's span; what is over is current no more.
    """
    gates = [asyncio.Event(), asyncio.Event()]

    @tool
    async def wait(number: int) -> None:
        """Wait."""
        await gates[number].wait()

    client = ToolClient([wait], hooks=[telemetry.hook()])
    shared = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    first, second = (
        loop.create_task(client.ainvoke("wait", {"number": n}), context=shared)
        for n in range(2)
    )
    await asyncio.sleep(0)
    gates[0].set()
    await first
    gates[1].set()
    await second

    assert trace.INVALID_SPAN is shared.run(trace.get_current_span)


def test_a_call_inside_of_a_body_is_its_child(front, telemetry):
    """
    A tool that calls tools shows as a tree.
    """
    hook = telemetry.hook()

    @tool
    def inner() -> None:
        """Do nothing."""

    inside = ToolClient([inner], hooks=[hook])

    @tool
    def outer() -> None:
        """Call another one, under the same id."""
        inside.invoke("inner", call_id="c1")

    call(front, ToolClient([outer], hooks=[hook]), "outer", call_id="c1")
    inner_span, outer_span = telemetry.spans

    assert ["execute_tool inner", "execute_tool outer"] == [
        inner_span.name,
        outer_span.name,
    ]
    assert outer_span.context.span_id == inner_span.parent.span_id


def test_two_hooks_export_to_two_places(telemetry):
    """
    Each has its own calls; the events of one are not put on the spans of the other.
    """

    @tool(retry=Retry(attempts=2, delay=1))
    def fail() -> None:
        """Fail."""
        raise ConnectionError

    hooks = [telemetry.hook(), telemetry.hook()]
    ToolClient([fail], hooks=hooks, clock=FakeClock()).invoke("fail")
    outer, inner = telemetry.spans

    assert [2, 2] == [len(outer.events), len(inner.events)]
    assert (None, outer.context.span_id) == (outer.parent, inner.parent.span_id)
    assert trace.INVALID_SPAN is trace.get_current_span()


@pytest.mark.slow
@pytest.mark.parametrize("body", [apart, apart_async], ids=lambda body: body.__name__)
def test_a_worker_process_goes_on_with_the_trace(front, telemetry, body):
    """
    The W3C headers cross with the call: a body's own span there is a child of ours.
    """
    with (
        ToolClient([body], hooks=[telemetry.hook()]) as client,
        telemetry.tracer.start_as_current_span("host"),
    ):
        token = context.attach(baggage.set_baggage("who", "Ada"))
        first = call(front, client, body.__name__)
        context.detach(token)
        second = call(front, client, body.__name__)
    spans = [span for span in telemetry.spans if "execute" in span.name]

    assert [ids(span) for span in map(Made, spans)] == [
        result.value[:2] for result in (first, second)
    ]
    if body is apart:
        assert [first.value[1], "Ada"] == first.value[2:]
        assert [second.value[1], "None"] == second.value[2:]


class Made:
    """
    A span that has ended, as `ids` reads one.
    """

    def __init__(self, span):
        self._span = span

    def get_span_context(self):
        """
        Return its ids.
        """
        return self._span.context


def abandon(client, gate, **options):
    """
    Call a tool that holds on beyond its deadline, and then let it end.
    """
    result = client.invoke("hold", **options)
    gate.open()
    return result


@pytest.mark.slow
@pytest.mark.parametrize("raises", [False, True])
def test_a_body_that_was_given_up_has_a_span_until_it_ends(telemetry, raises):
    """
    What nobody waits for any more may still take effect: it shows beside the call.
    """
    gate, ended = Gate(), threading.Event()

    @tool(timeout=0.5)
    def hold() -> None:
        """Hold on."""
        gate.pass_through()
        if raises:
            raise ValueError

    def listen(event):
        if type(event).__name__ == "LateFinish":
            ended.set()

    hook = telemetry.hook()
    client = ToolClient([hold], hooks=[hook, listen])
    result = abandon(client, gate)
    assert ended.wait(HANGS_AFTER)
    execute, left = (
        telemetry.span("execute_tool hold"),
        telemetry.span("abandoned hold"),
    )

    assert ("timeout", "timeout", "abandoned") == (
        result.status,
        execute.attributes["error.type"],
        execute.attributes["tooldecl.fate"],
    )
    assert execute.context.span_id == left.parent.span_id
    assert left.end_time >= execute.end_time >= left.start_time
    assert 0 <= left.attributes["tooldecl.late_by"] < HANGS_AFTER
    assert ("ValueError" if raises else None) == left.attributes.get("error.type")
    assert (1, {"number": 1, "fate": "abandoned"}) == (
        len(execute.events),
        {
            k: v
            for k, v in execute.events[0].attributes.items()
            if k in ("number", "fate")
        },
    )


@pytest.mark.slow
def test_each_attempt_that_was_given_up_has_its_own(telemetry):
    """
    A tool that may run twice at once leaves two bodies behind.
    """
    gate, ended = Gate(), threading.Semaphore(0)

    @tool(timeout=0.5, idempotent=True, retry=Retry(attempts=2, delay=0))
    def hold() -> None:
        """Hold on."""
        gate.pass_through()

    def listen(event):
        if type(event).__name__ == "LateFinish":
            ended.release()

    client = ToolClient([hold], hooks=[telemetry.hook(), listen])
    result = abandon(client, gate)
    for _ in range(2):
        assert ended.acquire(timeout=HANGS_AFTER)
    left = [span for span in telemetry.spans if span.name == "abandoned hold"]

    assert ("timeout", 2) == (result.status, result.attempts)
    assert [1, 2] == sorted(span.attributes["tooldecl.attempt"] for span in left)


def test_a_hook_keeps_nothing_of_calls_that_are_over(telemetry):
    """
    A server runs for months.
    """

    @tool
    def quick() -> None:
        """Do nothing."""

    hook = telemetry.hook()
    client = ToolClient([quick], hooks=[hook])
    for _ in range(10):
        client.invoke("quick")

    assert {} == hook._calls._calls


def test_without_an_sdk_nothing_is_made_and_nothing_fails(front):
    """
    The hook may stand in code whose users have no backend.
    """

    @tool
    def current() -> bool:
        """Tell whether there is a span that is recorded."""
        return trace.get_current_span().is_recording()

    client = ToolClient([current], hooks=[OpenTelemetryHook()])

    assert (False, "ok") == (
        (result := call(front, client, "current")).value,
        result.status,
    )


def test_a_loop_that_is_a_tool_goes_on_with_the_trace(front, telemetry):
    """
    Its context variables are fresh, and yet a run with sub-runs shows as one tree.
    """

    @tool
    def leaf() -> None:
        """Do nothing."""

    hook = telemetry.hook()
    script = [Turn(calls=[ToolCall("leaf")]), Turn(text="Done.")]
    child = ToolLoop(ToolClient([leaf], hooks=[hook]), ScriptedModel(script))
    sub = child.as_tool(name="sub", description="Run a task.")
    call(front, ToolClient([sub], hooks=[hook]), "sub", {"task": "x"})
    inner, outer = telemetry.spans

    assert ["execute_tool leaf", "execute_tool sub"] == [inner.name, outer.name]
    assert outer.context.span_id == inner.parent.span_id


class Broken(SpanProcessor):
    """
    A processor that fails, at the start or at the end of a span.
    """

    def __init__(self, when):
        self._when = when

    def on_start(self, span, parent_context=None):
        """
        Fail, or not.
        """
        if self._when == "start":
            raise OSError("no disk")

    def on_end(self, span):
        """
        Fail, or not.
        """
        if self._when == "end":
            raise OSError("no disk")


@pytest.mark.parametrize("when", ["start", "end"])
def test_an_exporter_that_fails_breaks_nothing(front, when, caplog):
    """
    The call is answered, the caller's context is as before, and nothing is kept.
    """
    tracers = TracerProvider()
    tracers.add_span_processor(Broken(when))
    hook = OpenTelemetryHook(tracer_provider=tracers)

    @tool
    def quick() -> str:
        """Do nothing."""
        return "done"

    before = context.get_current()
    result = call(front, ToolClient([quick], hooks=[hook]), "quick")

    assert ("done", True) == (result.value, before is context.get_current())
    assert ({}, True) == (hook._calls._calls, "no disk" in caplog.text)


@pytest.mark.slow
def test_a_body_that_held_its_loop_is_told_on(telemetry):
    """
    That explains why other calls were slow at that time.
    """

    @tool(timeout=0.1)
    async def block() -> None:
        """Hold the loop."""
        threading.Event().wait(0.5)

    with ToolClient([block], hooks=[telemetry.hook()]) as client:
        result = asyncio.run(client.ainvoke("block"))
    execute = telemetry.span("execute_tool block")
    told = [event for event in execute.events if event.name == "tooldecl.loop_blocked"]

    assert ("timeout", 1) == (result.status, len(told))
    assert 0 < told[0].attributes["blocked_for"] < HANGS_AFTER


async def test_a_sync_call_inside_of_a_loop_has_its_span_in_an_async_body(telemetry):
    """
    Such a body runs on the client's own loop, on another thread.
    """
    body = body_of("async", telemetry, lambda: None)
    before = context.get_current()
    with ToolClient([body], hooks=[telemetry.hook()]) as client:
        client.invoke("work", call_id="c1")

    assert ([("c1", "c1")], True) == (
        parents(telemetry),
        before is context.get_current(),
    )


def test_an_end_that_is_told_elsewhere_changes_nothing_there(telemetry):
    """
    A coroutine that is thrown away ends in whatever context that happens.
    """

    @tool
    def quick() -> None:
        """Do nothing."""

    events, hook = [], telemetry.hook()
    ToolClient([quick], hooks=[events.append]).invoke("quick")
    started, finished = events
    contextvars.copy_context().run(hook, started)
    with telemetry.tracer.start_as_current_span("other") as other:
        hook(finished)
        assert other is trace.get_current_span()

    assert ["execute_tool quick", "other"] == [span.name for span in telemetry.spans]
    assert [None, None] == [span.parent for span in telemetry.spans]


@pytest.mark.slow
def test_a_body_may_end_before_the_news_that_it_was_given_up(telemetry):
    """
    Its end is told on its own thread, and nobody waits for one to tell of the other.
    """
    gate, told, ended = Gate(), [], threading.Event()

    @tool(timeout=0.5)
    def hold() -> None:
        """Hold on."""
        gate.pass_through()

    def listen(event):
        told.append(event)
        if isinstance(event, LateFinish):
            ended.set()

    abandon(ToolClient([hold], hooks=[listen]), gate)
    assert ended.wait(HANGS_AFTER)
    late = [event for event in told if isinstance(event, LateFinish)]
    others = [event for event in told if not isinstance(event, LateFinish)]
    hook = telemetry.hook()
    for event in [*others[:1], *late, *others[1:]]:
        hook(event)

    assert ["abandoned hold", "execute_tool hold"] == [s.name for s in telemetry.spans]
    assert {} == hook._calls._calls
