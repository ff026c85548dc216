"""
The strict reader against every text: what it lets through, other parsers read alike.
"""

from __future__ import annotations

import json
import math

import pydantic_core
import pytest

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tooldecl import JSONLimits
from tooldecl._strictjson import loads_any, loads_strict
from tooldecl.exceptions import MalformedJSONError


LIMITS = JSONLimits(max_depth=6)

# Tokens that make JSON, near JSON and all the dangers, so that most joins are of interest.
PIECES = [
    *'{}[]:,"\\ \t\n\r\x00\x0c\x1f\x7f',
    *["0", "1", "-", ".5", "e", "E+", "999", "1e999", "0.0", "9" * 20, "9" * 400],
    *["true", "false", "null", "NaN", "Infinity", "-Infinity"],
    *[
        '"a"',
        '"b"',
        '"a":',
        '"\\u0061":',
        '"\\u003a":',
        '":":',
        '"a":1',
        '"a":{}',
        "/**/",
    ],
    *[
        "\\u003a",
        "\\u003A",
        "\\ud83d",
        "\\ude00",
        "\\ud83d\\ude00",
        "\\\\",
        '\\"',
        "\\n",
    ],
    *["é", "😀", "\u2028", "\ufeff", "\xa0", "\ud800"],
]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(["", ":", "::", '"', "\\", "\\u003a", '{"a": 1}'])
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.sampled_from(
    ["a", "b", "", ":", "a:"]
)


def containers(inner):
    """
    Make lists and objects of *inner*.
    """
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)


OBJECTS = st.dictionaries(
    NAMES, st.recursive(SCALARS, containers, max_leaves=6), max_size=4
)
SPELLINGS = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.sampled_from([None, 1, "\t"]),
        "separators": st.sampled_from([None, (",", ":"), (" , ", " : ")]),
    }
)


class RefusedError(Exception):
    """
    The slow reader refuses.
    """


def depth_of(value):
    """
    Count the levels of lists and objects.
    """
    if isinstance(value, (dict, list)):
        values = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth_of, values), default=0)

    return 0


def judged(value):
    """
    Refuse what a value may not hold, the plain way.
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            judged(name)
            judged(inner)
    elif isinstance(value, list):
        for inner in value:
            judged(inner)
    elif isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise RefusedError from None
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise RefusedError
    elif (
        isinstance(value, int)
        and not isinstance(value, bool)
        and not -(2**63) <= value < 2**64
    ):
        raise RefusedError

    return value


def read_slowly(text, *, strict=True):
    """
    Read a text rule by rule, as the reader would be written if time were no matter.
    """

    def members(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            raise RefusedError
        return found

    judged(text)
    try:
        value = json.loads(text, object_pairs_hook=members, strict=strict)
    except (ValueError, RecursionError):
        raise RefusedError from None
    if depth_of(value) > LIMITS.max_depth:
        raise RefusedError

    return judged(value)


def outcome(read, *args, **options):
    """
    Return what *read* returns, by its exact spelling, or that it refuses.
    """
    try:
        return repr(read(*args, **options))
    except (RefusedError, MalformedJSONError):
        return "refused"


@settings(max_examples=1_500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example('{"a":":","b":"::","a":1}')
@example('{"\\u003a":1,"a":":","a":2}')
def test_any_text_gets_the_slow_readers_verdict(text):
    """
    R69, GATE-02: the short way to the verdict misses nothing and refuses nothing more.
    """
    assert outcome(read_slowly, text) == outcome(loads_any, text, LIMITS)


@settings(max_examples=1_500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_raw_control_characters_change_nothing_else(text):
    """
    R68: the switch opens one rule.
    """
    switched = JSONLimits(max_depth=LIMITS.max_depth, control_characters=True)

    assert outcome(read_slowly, text, strict=False) == outcome(
        loads_any, text, switched
    )


@settings(max_examples=1_500, deadline=None)
@given(
    st.binary(max_size=40)
    | st.lists(st.sampled_from(PIECES), max_size=10).map(
        lambda pieces: f'{{"x":[{"".join(pieces)}]}}'.encode(errors="surrogatepass")
    )
)
def test_what_passes_means_the_same_to_the_validator(data):
    """
    ARG-02: its own parser takes every text that passes, and reads the same from it.
    """
    try:
        found = loads_strict(data, LIMITS)
    except MalformedJSONError:
        return
    if data.strip(b" \t\r\n") in (b"", b"null"):
        assert {} == found
    else:
        assert repr(pydantic_core.from_json(data, allow_inf_nan=False)) == repr(found)


@settings(max_examples=500, deadline=None)
@given(OBJECTS, SPELLINGS, st.sampled_from(["", " ", "\n\t\r"]))
def test_sound_objects_pass_however_they_are_spelled(value, spelling, space):
    """
    ARG-02, ARG-04: white space, escapes and colons in texts are the sender's business.
    """
    text = space + json.dumps(value, **spelling) + space
    limits = JSONLimits()

    assert repr(value) == repr(loads_strict(text, limits))
    assert repr(value) == repr(loads_strict(text.encode(), limits))


def escaped(name):
    """
    Spell a name in escapes alone.
    """
    units = name.encode("utf-16-be")
    pairs = [units[place : place + 2].hex() for place in range(0, len(units), 2)]

    return '"' + "".join(f"\\u{unit}" for unit in pairs) + '"'


@settings(max_examples=500, deadline=None)
@given(OBJECTS.filter(bool), SPELLINGS, st.data())
def test_a_repeated_member_never_passes(value, spelling, data):
    """
    R69, GATE-02: at any depth, in any spelling, whatever the texts beside it hold.
    """
    name = data.draw(st.sampled_from(sorted(value)))
    again = data.draw(st.sampled_from([json.dumps(name), escaped(name)]))
    extra = json.dumps(data.draw(SCALARS))
    text = json.dumps(value, **spelling).rstrip().removesuffix("}")
    text = f'{{"outer": [{text}, {again}: {extra}}}]}}'

    with pytest.raises(MalformedJSONError) as refused:
        loads_strict(text, JSONLimits())

    assert "a member is given twice" == refused.value.reason
    assert refused.value.path.startswith("$.outer[0]")
