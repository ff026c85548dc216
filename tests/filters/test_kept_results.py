"""
A filter that keeps a result and answers with it again: nothing of the old call comes along.
"""

from __future__ import annotations

from filters.slots import count, write
from fronts import call, call_batch
from tooldecl import ToolCall, ToolClient


def keeping(cache):
    """
    Make a filter that keeps the first result and answers with it from then on.
    """

    def keep(request):
        if not cache:
            cache.append((yield request))
        return cache[0]

    return keep


def test_a_kept_result_is_answered_under_the_new_call(front):
    """
    A cache that keeps whole results gives each call its own id, fate and number of
    attempts, and the kept one stays as it was.
    """
    cache = []
    client = ToolClient([write], filters=[keeping(cache)])
    first = call(front, client, "write", {"slot": "a"}, call_id="c1")
    kept = cache[0].to_dict()
    second = call(front, client, "write", {"slot": "a"}, call_id="c2")

    assert [("c1", "completed", 1), ("c2", "not_started", 0)] == [
        (r.call_id, r.fate, r.attempts) for r in (first, second)
    ]
    assert (kept, first.value) == (cache[0].to_dict(), second.value)


def test_a_kept_result_brings_nothing_of_its_batch(front):
    """
    The id that one batch replaced, and the time that one call waited, are not those of
    the next.
    """
    cache = []
    client = ToolClient([write], filters=[keeping(cache)])
    calls = [ToolCall("write", {"slot": "a"}, i) for i in ("c1", "c1")]
    call_batch(front, client, calls[:1])
    [first, second] = call_batch(front, client, calls)
    cache[0] = second
    later = call(front, client, "write", {"slot": "a"}, call_id="c2")

    assert ([None, "c1", None], 0.0) == (
        [r.original_id for r in (first, second, later)],
        later.queue_wait,
    )


def test_a_kept_result_is_not_changed_after_it_was_handed_out(front):
    """
    R17: a filter or a host that holds a result holds what it was given.
    """
    held = []

    def holding(request):
        held.append((yield request))
        return held[-1]

    client = ToolClient([write], filters=[holding])
    result = call(front, client, "write", {"slot": "a"})
    before = held[0].to_dict()
    call(front, client, "write", {"slot": "b"})

    assert (False, before) == (result is held[0], held[0].to_dict())


def test_a_kept_result_does_not_write_again(front):
    """
    The tool of the second call did not run; what it wrote the first time is old.
    """
    cache = []
    client = ToolClient([count], filters=[keeping(cache)])
    call(front, client, "count", {"slot": "n"})
    other = client.adding(write)
    cache_of_other = [cache[0]]
    client = ToolClient([count], filters=[keeping(cache_of_other)], state={"n": 7})
    result = call(front, client, "count", {"slot": "n"})

    assert ({"n": 1}, {}, {"n": 7}) == (other.state, result.writes, client.state)
