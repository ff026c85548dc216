"""
Conversations of any make are healed: valid, once and for all, and with nothing lost.
"""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from loops import check
from tooldecl import ToolLoop


IDS = st.sampled_from("abc")
CALLS = st.lists(
    st.fixed_dictionaries({"id": IDS, "name": st.just("f"), "arguments": st.just({})}),
    max_size=3,
)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.just("user"), "content": st.just("Hi")})
    | st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.just(""), "tool_calls": CALLS}
    )
    | st.fixed_dictionaries(
        {
            "role": st.just("tool"),
            "tool_call_id": IDS | st.none() | st.integers(),
            "name": st.just("f"),
            "content": st.integers(0, 99).map(str),
        },
        optional={"status": st.sampled_from(["ok", "pending", "tool_error"])},
    ),
    max_size=12,
)


def words(messages):
    """
    List what was said, the ids of calls and all answers apart.
    """
    said = [m for m in copy.deepcopy(messages) if m["role"] != "tool"]
    for message in said:
        for call in message.get("tool_calls", ()):
            del call["id"]

    return said


@given(MESSAGES)
def test_whatever_was_kept_is_healed(messages):
    """
    R58: a strict provider takes it, nothing that was said is lost, and healing it once
    more changes nothing.
    """
    before = copy.deepcopy(messages)
    healed = ToolLoop.close_transcript(messages)
    check(healed)

    assert before == messages
    assert words(messages) == words(healed)
    assert healed == ToolLoop.close_transcript(healed)
    assert not any(m.get("status") == "pending" for m in healed)


@given(MESSAGES)
def test_no_answer_is_given_twice(messages):
    """
    R57: each stands at most once, and none is made of nothing but of the two sentences
    that say what nobody knows.
    """
    numbered = [{**m, "n": n} for n, m in enumerate(messages)]
    healed = ToolLoop.close_transcript(numbered)
    kept = [m["n"] for m in healed if m["role"] == "tool" and "n" in m]
    made = [m for m in healed if m["role"] == "tool" and "n" not in m]

    assert len(kept) == len(set(kept))
    assert all(m["status"] == "cancelled" for m in made)
