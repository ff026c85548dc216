"""
What the text of a result may weigh, and how it is cut.
"""

from __future__ import annotations

import pytest

from tooldecl._encode import Fitted, encode, fit
from tooldecl.exceptions import ResultTooLargeError


def cut(content, limit, overflow="truncate"):
    """
    Return *content* within *limit*.
    """
    return fit(content, tool="find", limit=limit, overflow=overflow)


@pytest.mark.parametrize("overflow", ["fail", "truncate"])
@pytest.mark.parametrize("limit", [5, 6, None])
def test_content_at_the_limit_passes(limit, overflow):
    """
    RES-01: the limit is what may be sent, counted in characters and not in bytes.
    """
    assert Fitted(content="éé😀é\u0301") == cut("éé😀é\u0301", limit, overflow)


def test_too_much_fails_by_default():
    """
    R115: the size and the limit are named, so that the next call can ask for less.
    """
    with pytest.raises(ResultTooLargeError) as refused:
        cut("x" * 6, 5, "fail")

    assert str(refused.value) == (
        "Tool 'find' ran, but its result has 6 characters and the limit is 5. "
        "Ask for less."
    )


def test_what_would_fit_if_it_were_cut_fails_all_the_same():
    """
    R115: nothing is cut where nobody asked for it.
    """
    with pytest.raises(ResultTooLargeError):
        cut("x" * 100, 99, "fail")


def test_cut_text_is_marked_and_fits():
    """
    RES-02: 36 characters, limit 29: two characters and the mark, 29 in all.
    """
    text = "abcdefghijklmnopqrstuvwxyz0123456789"

    assert Fitted(
        content="a[text cut, 36 chars in all]9", truncated=True, original_size=36
    ) == cut(text, 29)
    assert "a[text cut, 36 chars in all]" == cut(text, 28).content
    assert "abcd[text cut, 36 chars in all]6789" == cut(text, 35).content


@pytest.mark.parametrize("limit", [1, 26, 27])
def test_a_limit_without_room_for_the_mark_fails(limit):
    """
    RES-02, E-39: a cut that nobody can see is worse than none.
    """
    with pytest.raises(ResultTooLargeError) as refused:
        cut("x" * 36, limit)

    assert (limit, 36) == (refused.value.limit, refused.value.size)


def test_a_huge_result_is_cut_to_its_ends():
    """
    R115: 5 MB under a limit of 20,000 keep head and tail and say how much there was.
    """
    text = "head" + "x" * 5_000_000 + "tail"
    fitted = cut(text, 20_000)

    assert 20_000 == len(fitted.content)
    assert fitted.content.startswith("headx")
    assert fitted.content.endswith("xtail")
    assert 1 == fitted.content.count("[text cut, 5000008 chars in all]")


def test_cut_json_says_that_it_is_cut():
    """
    R116: nobody should take it for broken JSON of the tool's own making.
    """
    text = encode({"rows": [{"name": "é" * 50}] * 20}, tool="find")
    fitted = cut(text, 200)

    assert 200 == len(fitted.content)
    assert fitted.content.startswith('{"rows":[{"name":"éé')
    assert f"[text cut, {len(text)} chars in all]" in fitted.content
    assert fitted.content.endswith('é"}]}')


GRAPHEMES = {
    "combining mark": "e\u0301",
    "several marks": "e\u0301\u0323\u20dd",
    "spacing mark": "\u0915\u093e",
    "variation selector": "❤\ufe0f",
    "keycap": "1\ufe0f\u20e3",
    "skin tone": "👍🏽",
    "joined by ZWJ": "👩\u200d👩\u200d👧",
    "flag of two letters": "🇫🇷",
    "flag of tags": "🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
    "Hangul in parts": "\u1112\u1161\u11ab",
    "non-joiner": "a\u200c",
    "joined letters": "a\u200db",
    "line break": "\r\n",
    "surrogates": "\ud83d\ude00",
}


@pytest.mark.parametrize("grapheme", GRAPHEMES.values(), ids=GRAPHEMES)
def test_a_cut_never_splits_a_grapheme(grapheme):
    """
    R116: half of one is another character, or none.
    """
    text = grapheme * 40
    mark = f"[text cut, {len(text)} chars in all]"
    for room in range(2 * len(grapheme), len(text) - len(mark)):
        head = (room - room // 2) // len(grapheme) * grapheme
        tail = room // 2 // len(grapheme) * grapheme

        assert head + mark + tail == cut(text, len(mark) + room).content


def test_a_grapheme_that_does_not_fit_leaves_nothing_to_show():
    """
    E-39: the first one is longer than the room beside the mark.
    """
    text = "e\u0301\u0323" * 20
    mark = len("[text cut, 60 chars in all]")

    with pytest.raises(ResultTooLargeError):
        cut(text, mark + 2)

    assert text[:3] == cut(text, mark + 5).content[:3]


@pytest.mark.parametrize("unit", ["\u0301", "🇫", "👩\u200d", "e\u0301"])
def test_hostile_content_is_cut_in_no_time(unit):
    """
    R115: looking for the end of a grapheme of a million marks must not take for ever.
    """
    text = "a" + unit * 1_000_000
    sizes = []
    for limit in (20_000, 900_000):
        try:
            sizes.append(len(cut(text, limit).content))
        except ResultTooLargeError:
            sizes.append(0)

    assert sizes[0] <= 20_000
    assert sizes[1] <= 900_000
