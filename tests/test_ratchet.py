"""
How often the package steps around a checker: these numbers only go down.
"""

from __future__ import annotations

import io
import re
import tokenize

from source import SOURCES


# Raising one needs its reason in the same change; lowering is free.
CEILINGS = {
    "Any": 648,  # 67 of them are JSON of providers, clients of their SDKs, and MCP's
    "cast(": 0,
    "type: ignore": 0,
    "pyright: ignore": 0,
    "noqa": 15,
    "pragma": 0,
    "except Exception": 24,  # Ray raises all kinds
    "except BaseException": 46,
}


def counted(sources):
    """
    Count each way around a checker; prose in docstrings does not count.
    """
    counts = dict.fromkeys(CEILINGS, 0)
    for text in sources.values():
        code, comments = [], []
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comments.append(token.string)
            elif token.type in (tokenize.NAME, tokenize.OP):
                code.append(token.string)
        for word in ("type: ignore", "pyright: ignore", "noqa", "pragma"):
            counts[word] += sum(word in comment for comment in comments)
        words = " ".join(code)
        counts["Any"] += code.count("Any")
        counts["cast("] += len(re.findall(r"\bcast \(", words))
        counts["except Exception"] += len(re.findall(r"\bexcept Exception\b", words))
        counts["except BaseException"] += words.count("except BaseException")

    return counts


def test_no_more_ways_around_the_checkers():
    """
    Each of these is a place where a checker was told to look away.
    """
    over = {
        word: count
        for word, count in counted(SOURCES).items()
        if count > CEILINGS[word]
    }

    assert {} == over


def test_each_way_around_is_counted():
    """
    A ratchet that does not count does not hold.
    """
    planted = (
        '"""Any cast( noqa"""\n'
        "x: Any = cast(Any, y)  # type: ignore[misc]  # pyright: ignore[x]\n"
        "try:  # noqa: E501  # pragma: no cover\n    f()\n"
        "except Exception:\n    g()\nexcept BaseException:\n    h()\n"
    )

    assert {**dict.fromkeys(CEILINGS, 1), "Any": 2} == counted({"planted.py": planted})
