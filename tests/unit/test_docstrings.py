"""
Docstrings of three styles, split into the tool's text and the parameters' texts.
"""

from __future__ import annotations

import pytest

from tooldecl._signature._docstrings import read_docstring


GOOGLE = """
    Search the index.

    It is quick.

    Args:
        query (str): What to look for,
            in plain words.
        limit (Optional[dict[str, tuple(int)]]): How many
            hits.
    """
NUMPY = """Search the index.

    It is quick.

    Parameters
    ----------
    query : str
        What to look for,
        in plain words.
    limit : int, optional
        How many hits.
    """
SPHINX = """Search the index.

    It is quick.

    :param str query: What to look for,
        in plain words.
    :type query: str
    :param limit: How many hits.
    :type limit: int, or
        nothing
    """


@pytest.mark.parametrize(
    "doc", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"]
)
def test_three_styles_say_the_same(doc):
    """
    R100, R101: no style loses a text, on any Python: 3.13 indents docstrings otherwise.
    """
    read = read_docstring(doc)

    assert "Search the index.\n\nIt is quick." == read.text
    assert {
        "query": "What to look for, in plain words.",
        "limit": "How many hits.",
    } == read.parameters


@pytest.mark.parametrize("doc", [None, "", "   ", "\n\n   \n"])
def test_nothing_says_nothing(doc):
    """
    R103: what is blank must not pass for a description.
    """
    read = read_docstring(doc)

    assert ("", {}) == (read.text, read.parameters)


def test_only_parameter_sections_leave_the_text():
    """
    R105: what the tool returns, raises and is used for is of use to the model; the
    parameters have texts of their own.
    """
    read = read_docstring(
        """Move money.

        Args:
            amount: How much.

        Returns:
            The receipt.

        Raises:
            ValueError: Too much.

        Note:
            Slow.

        Examples:
            move(3)
        """
    )

    assert {"amount": "How much."} == read.parameters
    assert (
        "Move money.\n\nReturns:\n    The receipt.\n\nRaises:\n    ValueError: Too much."
        "\n\nNote:\n    Slow.\n\nExamples:\n    move(3)"
    ) == read.text


def test_numpy_sections_end_at_the_next_one():
    """
    What follows the parameters belongs to the text again.
    """
    read = read_docstring(
        """Move money.

        Parameters
        ----------
        amount, fee : int
            Whole euros.

        Returns
        -------
        str
            The receipt.

        Other Parameters
        ----------------
        **rest
            More.
        """
    )

    assert {"amount": "Whole euros.", "fee": "Whole euros.", "rest": "More."} == (
        read.parameters
    )
    assert "Move money.\n\nReturns\n-------\nstr\n    The receipt." == read.text


def test_sphinx_fields_other_than_parameters_stay():
    """
    One rule for all styles: only what is about parameters goes.
    """
    read = read_docstring("Move.\n\n:param x: a\n:returns: the receipt\n:raises E: b")

    assert ("Move.\n\n:returns: the receipt\n:raises E: b", {"x": "a"}) == (
        read.text,
        read.parameters,
    )


@pytest.mark.parametrize(
    "doc",
    [
        "Move.\n\nArgs:\n    nothing that looks like one",
        "Move.\n\nParameters:\nnone",
        "Move.\n\nParameters\nare none.",
        "Use it. Args: are free.",
    ],
)
def test_what_only_looks_like_a_section_stays(doc):
    """
    R105: no text is lost without being given to a parameter.
    """
    assert (doc, {}) == (read_docstring(doc).text, read_docstring(doc).parameters)


def test_a_text_on_the_line_of_its_parameter_may_go_on_below_it():
    """
    People indent badly; the words still belong to the last parameter named.
    """
    read = read_docstring("F.\n\nArgs:\n    x: one\n    two\n\n    y: three")

    assert {"x": "one two", "y": "three"} == read.parameters


def test_a_paragraph_after_the_numpy_parameters_is_text():
    """
    A sentence is no name of a parameter.
    """
    read = read_docstring(
        "F.\n\nParameters\n----------\nx : int\n    one\n\nMore words here."
    )

    assert ("F.\n\nMore words here.", {"x": "one"}) == (read.text, read.parameters)


def test_a_docstring_may_begin_with_its_parameters():
    """
    R103, R105: they are not the description, although nothing is indented below.
    """
    read = read_docstring("""Args:
            x: one
            y: two

        Returns:
            three
        """)

    assert ("Returns:\n    three", {"x": "one", "y": "two"}) == (
        read.text,
        read.parameters,
    )


@pytest.mark.parametrize(
    "doc",
    [
        "\n    Args:\n        x: one\n\n    Do it.\n    ",
        "Args:\n        x: one\n\n    Do it.\n    ",
        "Args:\n    x: one\n\n    Do it.\n    ",
    ],
    ids=["below", "indented", "flush"],
)
def test_a_summary_may_stand_after_the_parameters(doc):
    """
    It is the description, wherever it stands.
    """
    read = read_docstring(doc)

    assert ("Do it.", {"x": "one"}) == (read.text, read.parameters)


@pytest.mark.parametrize("header", ["Example:", "Example::"])
def test_a_section_inside_of_an_example_is_part_of_it(header):
    """
    An example may show a docstring; its parameters are not those of the tool.
    """
    doc = (
        f"Do it.\n\n{header}\n    Args:\n        y: two\n\n    done\n\n"
        "Args:\n    x: one"
    )
    read = read_docstring(doc)

    assert {"x": "one"} == read.parameters
    assert f"Do it.\n\n{header}\n    Args:\n        y: two\n\n    done" == read.text
