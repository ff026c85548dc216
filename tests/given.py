"""
Engines of optional packages, which a session of nox puts in the place of ours.

``TOOLDECL_ENGINES=loky`` names folders of tests/extras. Each has a module `engine` with two
functions: `running()`, a context in which there is what the engine needs, and
`make(**options)`, which returns an engine on it. Every test that runs under each of our
engines then runs under these, with the name in its id: ``pytest -k loky`` selects them.
"""

from __future__ import annotations

import importlib
import os

from contextlib import AbstractContextManager
from typing import Any, Protocol

from tooldecl.engines import Engine


class Given(Protocol):
    """
    What the module of such an engine has.
    """

    def running(self) -> AbstractContextManager[object]:
        """
        Have what the engine needs, for the whole session.
        """

    def make(self, **options: Any) -> Engine:
        """
        Return an engine with these options.
        """


NAMES = [name for name in os.environ.get("TOOLDECL_ENGINES", "").split(",") if name]
GIVEN: dict[str, Given] = {
    name: importlib.import_module(f"extras.{name}.engine") for name in NAMES
}
