"""
What Sphinx is told; build.py prepares the pages and calls it.
"""

from __future__ import annotations

import os
import re

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx


project = "tooldecl"
author = "The tooldecl authors"
project_copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
default_role = "py:obj"
add_module_names = False
maximum_signature_line_length = 88

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_use_ivar = True

# Four errors are offered in two places on purpose; either is the right one.
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = project
html_copy_source = False
html_show_sphinx = False
html_extra_path = [os.environ["TOOLDECL_DOCS"]]  # as Markdown too, for llms.txt


def link_pages(
    app: object, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """
    Make links of the pages that a docstring names by their place in the checkout.
    """
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"\bdocs/([\w/-]+)\.md", r":doc:`/\1`", line)


def setup(app: Sphinx) -> None:
    """
    Let Pygments know what programs print, and follow every docstring.
    """
    app.add_lexer("output", TextLexer)
    app.connect("autodoc-process-docstring", link_pages)
