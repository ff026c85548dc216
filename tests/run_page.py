"""
Run the Python blocks of one page in order, in one namespace: ``run_page.py PAGE``.

A block that is followed by an ``output`` block must print exactly that. A block that
begins with ``python NAME.py`` is a module: it is written to that file, to be imported.
Errors name the lines of the page. What needs a package that is not installed is left to
the session that installs it.
"""

from __future__ import annotations

import contextlib
import io
import sys

from itertools import pairwise
from pathlib import Path

from pages import Fence, fences, is_there


def main(page: Path) -> None:
    """
    Run the blocks as the main module.
    """
    sys.path.insert(0, str(Path.cwd()))
    namespace = vars(sys.modules["__main__"])
    blocks = [*fences(page), Fence(info="", line=0, text="")]
    for block, following in pairwise(blocks):
        if block.info.startswith("python "):
            Path(block.info.removeprefix("python ")).write_text(
                block.text, encoding="utf-8"
            )
            continue
        if block.info != "python" or not is_there(block):
            continue
        source = "\n" * (block.line - 1) + block.text
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(page), "exec", dont_inherit=True), namespace)  # noqa: S102
        if following.info == "output" and printed.getvalue().strip() != following.text:
            raise AssertionError(
                f"{page.name}:{following.line} says\n{following.text}\n"
                f"but its block printed\n{printed.getvalue()}"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
