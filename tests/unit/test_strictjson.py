"""
The strict JSON reader: its limits, its texts and the doors around it.

What it lets through, rule by rule, is in tests/json_corpus.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest

from tooldecl import JSONLimits
from tooldecl._jsonfaults import show_path
from tooldecl._strictjson import loads_any, loads_strict
from tooldecl.exceptions import DeclarationError, MalformedJSONError


LIMITS = JSONLimits()


def refusal(text, limits=LIMITS, read=loads_strict, **options):
    """
    Return the error that *text* is refused with.
    """
    with pytest.raises(MalformedJSONError) as refused:
        read(text, limits, **options)

    return refused.value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"max_chars": 0},
            "JSONLimits(max_chars=...) takes a whole number from 1, got 0.",
        ),
        (
            {"max_chars": True},
            "JSONLimits(max_chars=...) takes a whole number from 1, got True.",
        ),
        (
            {"max_chars": 1e6},
            "JSONLimits(max_chars=...) takes a whole number from 1, got 1000000.0.",
        ),
        (
            {"max_depth": 201},
            "JSONLimits(max_depth=...) takes a whole number from 1 to 200, got 201.",
        ),
        (
            {"max_depth": 0},
            "JSONLimits(max_depth=...) takes a whole number from 1 to 200, got 0.",
        ),
        (
            {"max_depth": "9"},
            "JSONLimits(max_depth=...) takes a whole number from 1 to 200, got '9'.",
        ),
        (
            {"control_characters": 1},
            "JSONLimits(control_characters=...) takes True or False, got 1.",
        ),
    ],
)
def test_limits_that_make_no_sense_are_refused(options, message):
    """
    A limit that nothing can hold would be found out by the first hostile text.
    """
    with pytest.raises(DeclarationError) as refused:
        JSONLimits(**options)

    assert message == str(refused.value)


def test_limits_are_plain_records():
    """
    Equal, hashable and picklable, as every record that a client keeps.
    """
    limits = JSONLimits(max_chars=10, max_depth=200, control_characters=True)

    assert limits == pickle.loads(pickle.dumps(limits))
    assert {limits} == {
        JSONLimits(max_chars=10, max_depth=200, control_characters=True)
    }
    assert JSONLimits() == JSONLimits(
        max_chars=1_000_000, max_depth=64, control_characters=False
    )


@pytest.mark.parametrize(
    "text", ["", "  ", "\n\t\r ", "null", " null ", b"", b"null"], ids=repr
)
def test_no_arguments_are_an_empty_object(text):
    """
    ARG-01, R67: many models send these for a tool without parameters.
    """
    assert {} == loads_strict(text, LIMITS)


def test_every_answer_is_a_new_object():
    """
    A shared empty object would carry one call's changes into the next.
    """
    loads_strict("", LIMITS)["a"] = 1

    assert {} == loads_strict("", LIMITS)
    assert {} == loads_strict("null", LIMITS)


def test_text_at_the_limit_passes():
    """
    The limit is what may be sent, not what may not.
    """
    limits = JSONLimits(max_chars=9)

    assert {"a": "é"} == loads_strict('{"a":"é"}', limits)
    assert {"a": "é"} == loads_strict('{"a":"é"}'.encode(), limits)


@pytest.mark.parametrize(
    "text",
    ["[" * 10, b"[" * 10, "é" * 10, "é".encode() * 10, b"\xff" * 41, " " * 10],
    ids=repr,
)
def test_length_is_checked_before_anything_is_parsed(text):
    """
    GATE-06: none of these is JSON, and none is looked at.
    """
    error = refusal(text, JSONLimits(max_chars=9))

    assert str(error) == (
        "The arguments were refused and nothing was run: the text is longer than the "
        "limit of 9 characters. Send one JSON object."
    )
    assert (error.offset, error.path) == (None, None)


def test_a_repeated_member_is_named_by_its_path():
    """
    R69, GATE-02: what a reviewer saw and what runs must not differ.
    """
    flat = refusal('{"amount": 1, "amount": 900}')
    nested = refusal('{"orders": [{"id": 1}, {"id": 2, "i\\u0064": 3}]}')

    assert str(flat) == (
        "The arguments were refused and nothing was run: a member is given twice at "
        "$.amount. Send one JSON object."
    )
    assert "$.orders[1].id" == nested.path


def test_a_position_is_counted_in_characters_of_what_was_sent():
    """
    Space before the text and characters of several bytes must not shift it.
    """
    text = ' \n {"é😀": tru}'

    assert text.index("tru") == refusal(text).offset
    assert text.index("tru") == refusal(text.encode()).offset
    assert str(refusal(text)) == (
        "The arguments were refused and nothing was run: a value was expected "
        "(character 10). Send one JSON object."
    )


def test_a_raw_half_of_a_pair_is_refused():
    """
    A str can hold what no UTF-8 text can, and no parser below would take it.
    """
    error = refusal('{"a": "\udc80"}')

    assert "half of a surrogate pair stands for no character" == error.reason
    assert 7 == error.offset


def test_cut_text_is_never_repaired():
    """
    R70, ARG-03: whatever a text is cut to, it is refused and not completed.
    """
    text = '{"path": "a\\u00e9.txt", "lines": [1, -2.5e1, true, null], "x": {"y": "z"}}'
    for end in range(1, len(text)):
        assert isinstance(refusal(text[:end]), MalformedJSONError)


@pytest.mark.parametrize(
    "text",
    [
        'sure: {"a": 1}',
        '{"a": 1}.',
        '{"a": 1',
        "{a: 1}",
        '{"a": one}',
        '{"a": function () {}}',
        '```json\n{"a": 1}\n```',
    ],
)
def test_what_others_repair_is_refused(text):
    """
    ARG-03, ARG-05: a guess at what was meant is not what was sent.
    """
    assert isinstance(refusal(text), MalformedJSONError)


BRACKETS_IN_A_TEXT = '{"x": "]]]}}}[[[", "y": '


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("[" * 100_000, 64),
        ('{"a":' * 100_000, 64 * 5),
        ('[{"a":' * 100_000, 32 * 6),
        (BRACKETS_IN_A_TEXT + "[" * 100_000, 24 + 63),
        (BRACKETS_IN_A_TEXT + '{"a":' * 100_000, 24 + 63 * 5),
        (BRACKETS_IN_A_TEXT + '[{"a":' * 100_000, 24 + 31 * 6 + 1),
    ],
    ids=["lists", "objects", "both", "lists below", "objects below", "both below"],
)
def test_hostile_nesting_ends_in_a_refusal(text, offset):
    """
    A RecursionError would be the host's error and not that call's.
    """
    error = refusal(text)

    assert "it is nested deeper than the limit of 64 levels" == error.reason
    assert offset == error.offset


def test_depth_counts_the_outermost_object():
    """
    The same data passes or not, whichever brackets it is made of.
    """
    limits = JSONLimits(max_depth=3)

    assert {"a": [{}]} == loads_strict('{"a":[{}]}', limits)
    assert {"a": [[]], "b": "[[[["} == loads_strict('{"a":[[]],"b":"[[[["}', limits)
    assert 7 == refusal('{"a":[[[]]]}', limits).offset
    assert 7 == refusal('{"a":[[{"b":1}]]}', limits).offset
    assert {} == loads_strict("{}", JSONLimits(max_depth=1))


def test_depth_around_the_arguments_does_not_count():
    """
    A whole request holds its arguments one level down, and may hold as deep ones.
    """
    limits = JSONLimits(max_depth=2)

    assert {"a": [[]]} == loads_strict('{"a":[[]]}', limits, levels_around=1)
    assert 7 == refusal('{"a":[[[]]]}', limits, levels_around=1).offset


def test_no_room_on_the_stack_ends_in_a_refusal():
    """
    A tool deep inside of a recursion gets the same kind of answer.
    """
    text = '{"a":' + "[" * 60 + "]" * 60 + "}"

    def deeper(room):
        try:
            return deeper(room - 1) if room else loads_strict(text, LIMITS)
        except MalformedJSONError as error:
            return error.reason

    found = {repr(deeper(room)) for room in range(700, sys.getrecursionlimit() - 60)}

    assert found <= {
        repr(loads_strict(text, LIMITS)),
        "'it is too deep to be read here'",
    }


@pytest.mark.slow
def test_a_raised_recursion_limit_does_not_end_the_process():
    """
    The decoder would use up the stack: hosts that raise the limit are real.
    """
    program = (
        "import sys; sys.setrecursionlimit(10**7)\n"
        "from tooldecl import JSONLimits\n"
        "from tooldecl._strictjson import loads_strict\n"
        "for text in ('[' * 400_000, '{\"a\":' * 150_000):\n"
        "    try: loads_strict(text, JSONLimits())\n"
        "    except ValueError as error: print(error.reason)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (0, "it is nested deeper than the limit of 64 levels\n" * 2) == (
        done.returncode,
        done.stdout,
    )


def test_numbers_are_exact_or_refused():
    """
    Beyond 64 bits parsers disagree; a huge number must not cost what reading it costs.
    """
    reason = "a number is too large to be exchanged safely"
    inside = [2**64 - 1, -(2**63), 0, 2**53 + 1, 1.7976931348623157e308, 5e-324]
    outside = ["18446744073709551616", "-9223372036854775809", "9" * 100_000, "-1e400"]

    assert {"a": inside} == loads_strict(json.dumps({"a": inside}), LIMITS)
    for text in outside:
        error = refusal(f'{{"a": [0, {text}]}}')

        assert (reason, "$.a[1]") == (error.reason, error.path)


def test_pairs_of_surrogates_are_one_character():
    """
    Escaped emoji are ordinary text and must not fall under the rule for halves.
    """
    text = json.dumps({"😀": ["😀", "x"], "a": "é"})

    assert {"😀": ["😀", "x"], "a": "é"} == loads_strict(text, LIMITS)
    assert "$.b" == refusal(text[:-1] + ', "b": "\\ude00"}').path


@pytest.mark.parametrize(
    "text",
    ['{"token": "s3cret" "x"}', '{"a": "s3cret", "b": NaN}', '{"a": "s3cret\ud800"}'],
)
def test_refusals_do_not_show_the_payload(text):
    """
    What a model sent may be a secret; the refusal goes into logs and to the model.
    """
    error = refusal(text)

    assert "s3cret" not in str(error)
    assert "s3cret" not in repr(error.__dict__)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


def test_paths_are_short():
    """
    A name may be a megabyte long; the text for the model stays readable.
    """
    long = refusal('{"' + "k" * 100_000 + '": NaN}')
    deep = refusal('{"abcdefgh":' * 60 + "NaN" + "}" * 60)

    assert f'$["{"k" * 37}..."]' == long.path
    assert 120 == len(deep.path)
    assert len(str(deep)) < 1_000


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ([], "$"),
        (["a", 0, "_b1"], "$.a[0]._b1"),
        (["a b", "", "1a"], '$["a b"][""]["1a"]'),
        (['"\n\ud800'], '$["\\"\\n\\ud800"]'),
        (["k" * 40], f"$.{'k' * 40}"),
        (["k" * 41], f'$["{"k" * 37}..."]'),
    ],
)
def test_a_path_can_be_read_back(path, expected):
    """
    A name with a dot or a bracket in it must not look like two.
    """
    assert expected == show_path(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2]", [1, 2]),
        ('{"a": 1}', {"a": 1}),
        ('"x: y"', "x: y"),
        ("7", 7),
        ("1.5", 1.5),
        ("true", True),
        (" null ", None),
        ('"\\ud83d\\ude00"', "😀"),
    ],
)
def test_any_value_is_read_by_the_same_rules(text, expected):
    """
    R74: a list sent inside of a string is read like the text around it.
    """
    assert expected == loads_any(text, LIMITS)


@pytest.mark.parametrize(
    ("text", "path", "offset"),
    [
        ('[{"a": 1, "a": 2}]', "$[0].a", None),
        ("[NaN]", "$[0]", None),
        ("Infinity", "$", None),
        ("1e999", "$", None),
        ("99999999999999999999", "$", None),
        ('"\\ud800"', "$", None),
        ("[1] 2", None, 4),
        ("", None, 0),
        ("  ", None, 2),
        ("[" * 65 + "]" * 65, None, 64),
        ("'a'", None, 0),
    ],
)
def test_any_value_is_refused_by_the_same_rules(text, path, offset):
    """
    A second, laxer reader would be the way around the first.
    """
    error = refusal(text, read=loads_any)

    assert (path, offset) == (error.path, error.offset)


def test_a_text_of_another_class_is_read_as_the_text_it_is():
    """
    What its methods answer must not decide what runs.
    """

    class Text(str):
        __slots__ = ()

        def strip(self, chars=None):
            return "{}"

        def __len__(self):
            return 0

    class Data(bytes):
        __slots__ = ()

        def decode(self, encoding="utf-8", errors="strict"):
            return "{}"

        def __len__(self):
            return 0

    limits = JSONLimits(max_chars=9)

    assert {"a": 1} == loads_strict(Text('{"a": 1}'), LIMITS)
    assert {"a": 1} == loads_strict(Data(b'{"a": 1}'), LIMITS)
    assert refusal("[" * 99, limits).reason == refusal(Text("[" * 99), limits).reason
    assert refusal("[" * 99, limits).reason == refusal(Data(b"[" * 99), limits).reason
