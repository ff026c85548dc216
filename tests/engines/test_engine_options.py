"""
What an engine may be given, what it shows, and how it is closed.
"""

from __future__ import annotations

import asyncio

import pytest

from engine_stage import begin_batch, client_of, outcome
from fronts import call_batch
from tooldecl import DeclarationError
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine
from tooldecl.exceptions import EngineClosedError


COUNT = "a whole number from 1, or None"
WRONG = [
    *(("timeout", bad, "seconds above 0") for bad in ("5s", -1, 0, True)),
    *(("max_concurrency", bad, COUNT) for bad in (0, -1, True, 2.0, "2")),
    *(("max_abandoned", bad, COUNT) for bad in (0, -1, False, 1.5, "1")),
    *(
        ("over_limit", bad, "'queue', 'sequential' or 'reject'")
        for bad in ("wait", None, True, ["queue"])
    ),
]


@pytest.mark.parametrize(("option", "value", "rule"), WRONG)
def test_an_odd_option_is_refused_by_name(case, option, value, rule):
    """
    VAL-03, VAL-05: the error names the engine, the option and the rule.
    """
    with pytest.raises(DeclarationError) as caught:
        case.make(**{option: value})

    assert f"{case.kind}({option}=...) takes {rule}, got {value!r}." == (
        str(caught.value)
    )


def test_an_option_that_no_engine_has_is_refused(case):
    """
    VAL-03: options are keyword-only and closed, so a slip is not ignored.
    """
    with pytest.raises(TypeError):
        case.make(max_concurency=2)
    with pytest.raises(TypeError):
        case.make(2)


def test_what_is_left_out_has_its_default():
    """
    SPEC 6: eight at once where calls overlap, and no limit where they do not.
    """
    assert (8, "queue", None, None) == (
        ThreadEngine().max_concurrency,
        ThreadEngine().over_limit,
        ThreadEngine().timeout,
        ThreadEngine().max_abandoned,
    )
    assert (None, None, 3) == (
        SequentialEngine().max_concurrency,
        ThreadEngine(max_concurrency=None).max_concurrency,
        SequentialEngine(max_concurrency=3).max_concurrency,
    )


def test_an_engine_shows_its_limits_and_what_runs(overlapping, stage):
    """
    SPEC 5: what is going on is visible, also in a debugger.
    """
    engine = overlapping.make(timeout=60, max_concurrency=2, max_abandoned=3)
    future = begin_batch("sync", client_of(engine), stage.calls(("hold", "a")))
    stage.arrivals(1)
    busy = repr(engine)
    stage.go()
    outcome(future)
    name = overlapping.kind

    engine.close()
    rest = "of 2 running, over_limit='queue', 0 of 3 abandoned>"

    assert f"<{name} timeout 60 s, 1 {rest}" == busy
    assert f"<{name} closed, timeout 60 s, 0 {rest}" == repr(engine)


async def test_an_engine_is_closed_from_async_code_too(case):
    """
    ENG-09: both colours have the same end.
    """
    async with case.make() as engine:
        client = client_of(engine)
    with pytest.raises(EngineClosedError):
        await client.ainvoke("tell", {"number": 1})
    await engine.aclose()

    assert engine.closed


@pytest.mark.parametrize("kind", [ThreadEngine, AsyncioEngine])
async def test_calls_that_run_outlive_the_engine(kind, stage):
    """
    ENG-09: closing refuses what comes, and takes nothing from what is there.
    """
    engine = kind()
    task = asyncio.create_task(
        client_of(engine).ainvoke_batch(stage.calls(("hold", "a")))
    )
    await asyncio.to_thread(stage.arrivals, 1)
    engine.close()
    stage.go()

    assert ["A"] == [result.value for result in await task]


def test_a_closed_engine_takes_no_calls(case, front, stage):
    """
    ENG-09: from no client on it, single or several; closing it twice is fine.
    """
    engine = case.make()
    client, other = client_of(engine), client_of(engine)
    with engine:
        assert call_batch(front, client, stage.calls(("work", "a"))).ok
    engine.close()
    for refused in (client, other):
        with pytest.raises(EngineClosedError):
            call_batch(front, refused, stage.calls(("work", "b")))
    with pytest.raises(EngineClosedError):
        other.invoke("work", {"where": stage.where, "word": "c"})

    assert (True, ["in a", "out a"]) == (engine.closed, stage.journal)
