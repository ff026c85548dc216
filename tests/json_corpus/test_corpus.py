"""
What JSON text is let through, one file a rule; ``refusals.json`` says why the others are not.
"""

from __future__ import annotations

import json

from pathlib import Path

import pydantic_core
import pytest

from tooldecl import JSONLimits
from tooldecl._strictjson import loads_strict
from tooldecl.exceptions import MalformedJSONError


HERE = Path(__file__).parent
REFUSALS = json.loads((HERE / "refusals.json").read_text(encoding="utf-8"))
LIMITS = JSONLimits()


def files(folder):
    """
    List the cases of a folder, named by their rules.
    """
    return [
        pytest.param(path.read_bytes(), id=path.stem)
        for path in sorted((HERE / folder).glob("*.json"))
    ]


@pytest.mark.parametrize("data", files("accept"))
def test_sound_text_means_what_it_means_to_every_parser(data):
    """
    ARG-01, ARG-02, ARG-04: bytes, text and two other parsers agree, and strings stay.
    """
    text = data.decode()
    sent = text if text.strip() else "{}"
    found = loads_strict(data, LIMITS)

    assert (json.loads(sent) or {}) == found
    assert (pydantic_core.from_json(sent) or {}) == found
    assert loads_strict(text, LIMITS) == found


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(case.values[0], REFUSALS.get(case.id), id=case.id)
        for case in files("reject")
    ],
)
def test_unsound_text_is_refused_with_its_place(data, expected):
    """
    GATE-02, GATE-03, R68, R69, R70, ARG-03, ARG-06: the reason and where it stands.
    """
    with pytest.raises(MalformedJSONError) as refused:
        loads_strict(data, LIMITS)

    error = refused.value

    assert expected == {
        "reason": error.reason,
        "offset": error.offset,
        "path": error.path,
    }


def test_every_refusal_is_a_file():
    """
    An expectation without a case would prove nothing.
    """
    assert sorted(REFUSALS) == sorted(p.stem for p in (HERE / "reject").iterdir())


@pytest.mark.parametrize("data", files("control_characters"))
def test_raw_control_characters_need_the_switch(data):
    """
    R68: JSON forbids them, some models write them, so the host decides.
    """
    with pytest.raises(MalformedJSONError, match="control character"):
        loads_strict(data, LIMITS)

    switched = loads_strict(data, JSONLimits(control_characters=True))

    assert json.loads(data, strict=False) == switched
