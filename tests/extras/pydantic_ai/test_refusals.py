"""
What the framework could not keep is refused when the adapter is made.
"""

from __future__ import annotations

import pytest

from refusing import click, direct, fine, refusals, whole_turns
from tooldecl import DeclarationError, ToolClient
from tooldecl.integrations.pydantic_ai import to_pydantic_ai


EXPECTED = [
    "to_pydantic_ai: the client has a Budget(per_turn=3), and the framework makes its "
    "calls one by one, so no turn is ever seen. Limit calls, per_tool, seconds or "
    "repeats instead.",
    "to_pydantic_ai: tool 'direct' is declared with return_direct=True. pydantic-ai has "
    "no place for it: there a run ends with an output function.",
]


@pytest.mark.parametrize(("client", "expected"), whole_turns(), ids=["turn", "batch"])
def test_what_is_about_a_whole_turn_is_refused(client, expected):
    """
    The framework makes its calls one by one, so such a limit would be forgotten.
    """
    with pytest.raises(DeclarationError) as caught:
        to_pydantic_ai(client)

    assert f"to_pydantic_ai: {expected}" == str(caught.value)


def test_every_fault_is_told_at_once():
    """
    Whoever mends one fault should not meet the next one only then.
    """
    found = refusals(to_pydantic_ai)

    assert EXPECTED == [text.partition(" Leave it out")[0] for text in found]


def test_what_is_left_out_is_not_refused():
    """
    A client may have tools that only its own loop is given.
    """
    client = ToolClient([fine, direct, click])

    assert to_pydantic_ai(client, exclude_tags=["odd"])
