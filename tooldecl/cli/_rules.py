"""
The rules of `tooldecl check`, each with a code that never changes its meaning.

The matching page is docs/reference/cli.md; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, final

from . import _rules_limits as limits
from . import _rules_parameters as parameters
from . import _rules_source as source
from . import _rules_words as words
from ._subjects import Subject


Find: TypeAlias = Callable[[Subject], Iterable[str]]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """
    One rule.

    Attributes:
        code: Names it in the output and for ``--ignore``.
        title: What it finds.
        find: Yields what is wrong with a tool, in words.
        target: It holds only for tools that are sent in this format; None is always.
    """

    code: str
    title: str
    find: Find
    target: str | None = None


STRICT = "openai-strict"

RULES = (
    Rule(code="T101", title="a description of one word", find=words.one_word),
    Rule(code="T102", title="a description that another tool has", find=words.same),
    Rule(
        code="T103",
        title="a name that is almost that of another tool",
        find=words.near_name,
    ),
    Rule(
        code="T104",
        title="a tool that a later one of its name has replaced",
        find=source.replaced,
    ),
    Rule(
        code="T201",
        title="a parameter without a description",
        find=parameters.undescribed,
    ),
    Rule(
        code="T202",
        title="a docstring that describes a parameter which is not there",
        find=parameters.not_there,
    ),
    Rule(code="T203", title="a mutable default", find=parameters.mutable_default),
    Rule(
        code="T204",
        title="a default that has no plain JSON form",
        find=parameters.default_not_json,
    ),
    Rule(
        code="T205",
        title="a definition of more than about 1,024 tokens",
        find=parameters.large,
    ),
    Rule(
        code="T206",
        title="a schema that strict mode does not have",
        find=parameters.not_strict,
        target=STRICT,
    ),
    Rule(
        code="T301",
        title="a timeout on a body that nothing can stop",
        find=limits.unstoppable,
    ),
    Rule(
        code="T302",
        title="a retry that a timeout ends",
        find=limits.retry_after_timeout,
    ),
    Rule(
        code="T303",
        title="an approval that others wait for",
        find=limits.approval_in_line,
    ),
    Rule(
        code="T304",
        title="a timeout on an async body that never awaits",
        find=limits.never_awaits,
    ),
    Rule(
        code="T305",
        title="a repair that has nothing to repair",
        find=limits.nothing_to_repair,
    ),
    Rule(
        code="T401",
        title="a return type that has no JSON form",
        find=limits.returns_no_json,
    ),
)

TARGETS = tuple(dict.fromkeys(rule.target for rule in RULES if rule.target))
CODES = tuple(rule.code for rule in RULES)
