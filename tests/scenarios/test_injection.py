"""
A parameter annotated with `ToolContext` is filled in, and no model can send it.
"""

from __future__ import annotations

from typing import Annotated, Optional

import pytest

from fronts import call
from tooldecl import (
    DeclarationError,
    ToolClient,
    ToolContext,
    tool,
)


class OwnContext(ToolContext):
    """
    A host's name for the same thing.
    """


def as_type(q: str, ctx: ToolContext) -> str:
    """
    Take the class.
    """
    return f"{q} {ctx.tool}"


def as_text(q: str, ctx: "ToolContext") -> str:  # noqa: UP037 (that is the case)
    """
    Take it in quotes.
    """
    return f"{q} {ctx.tool}"


def as_union(q: str, ctx: ToolContext | None = None) -> str:
    """
    Take it with None beside it.
    """
    return f"{q} {ctx.tool}"


def as_optional(q: str, ctx: Optional[ToolContext] = None) -> str:  # noqa: UP045
    """
    Take it in the old spelling.
    """
    return f"{q} {ctx.tool}"


def as_annotated(q: str, ctx: Annotated[ToolContext, "of the call"]) -> str:
    """
    Take it with a note.
    """
    return f"{q} {ctx.tool}"


def as_subclass(q: str, ctx: OwnContext) -> str:
    """
    Take a subclass.
    """
    return f"{q} {ctx.tool}"


SPELLINGS = [as_type, as_text, as_union, as_optional, as_annotated, as_subclass]


class TestInjection:
    """
    A parameter annotated with `ToolContext` is filled in, and no model can send it.
    """

    @pytest.mark.parametrize("function", SPELLINGS, ids=lambda f: f.__name__)
    def test_every_spelling_is_filled_and_not_offered(self, front, function):
        """
        R106: postponed annotations, unions, notes and subclasses are the same request.
        """
        client = ToolClient([tool(function)])
        [definition] = client.definitions("mcp")

        assert ["q"] == [*definition["inputSchema"]["properties"]]
        assert (
            f"x {function.__name__}"
            == call(front, client, function.__name__, {"q": "x"}).value
        )

    def test_a_model_that_sends_it_is_refused(self, front):
        """
        R107: nobody may talk a tool into another context; the body does not run.
        """
        client = ToolClient([tool(as_type)])
        result = call(front, client, "as_type", {"q": "x", "ctx": {}})

        assert ("invalid", "not_started", 0) == (
            result.status,
            result.fate,
            result.attempts,
        )
        assert "ctx" in result.content

    def test_a_parameter_without_a_type_is_refused(self):
        """
        R107: ``ctx=None`` says neither what a model may send nor what to inject.
        """

        def work(q: str, ctx=None) -> str:
            """
            Work.
            """
            return q

        with pytest.raises(DeclarationError) as caught:
            ToolClient([tool(work)])

        assert "ctx" in str(caught.value)
