"""
Fixtures for pytest, found by its entry point; nothing is imported before a test uses one.

The matching page is docs/how-to/test-your-tools.md.
"""

from __future__ import annotations

import sys

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, ParamSpec, TypeVar, final

import pytest

import tooldecl


if TYPE_CHECKING:
    from . import ToolClient
    from .testing import FakeClock, RecordingHook


P = ParamSpec("P")
T = TypeVar("T")

OPTION = "tooldecl_no_abandoned"
MARK = "tooldecl_abandons"


def pytest_addoption(parser: pytest.Parser) -> None:
    """
    Know the one setting.
    """
    parser.addini(
        OPTION,
        "Fail tests that leave bodies of tools running which were given up.",
        type="bool",
        default=False,
    )


def pytest_configure(config: pytest.Config) -> None:
    """
    Look at what tests leave behind only where that is wanted.
    """
    config.addinivalue_line(
        "markers", f"{MARK}: this test leaves bodies of tools running on purpose"
    )
    if config.getini(OPTION):
        config.pluginmanager.register(_NoAbandoned(), "tooldecl-no-abandoned")


@pytest.fixture
def fake_clock() -> FakeClock:
    """
    A clock that does not wait, for ``ToolClient(clock=...)``.
    """
    return tooldecl.testing.FakeClock()


@pytest.fixture
def recording_hook() -> RecordingHook:
    """
    A hook that keeps every event, for ``ToolClient(hooks=[...])``.
    """
    return tooldecl.testing.RecordingHook()


@pytest.fixture
def tool_client() -> Iterator[Callable[..., ToolClient]]:
    """
    Make clients that are closed when the test has ended; takes what `ToolClient` takes.
    """
    made: list[ToolClient] = []
    yield _kept(tooldecl.ToolClient, made)
    for client in made:
        client.close()


def _kept(make: Callable[P, T], made: list[T]) -> Callable[P, T]:
    def make_and_keep(*args: P.args, **kwargs: P.kwargs) -> T:
        made.append(make(*args, **kwargs))

        return made[-1]

    return make_and_keep


@final
class _NoAbandoned:
    """
    Fails each test that leaves bodies running which it has given up.
    """

    def __init__(self) -> None:
        self._before: set[tuple[str, str]] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        """
        Note what earlier tests have left.
        """
        self._before = {key for key, _ in _abandoned()}

        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(
        self, item: pytest.Item
    ) -> Generator[None, object, object]:
        """
        Look, when the fixtures of the test have done their part.
        """
        result = yield
        left = [text for key, text in _abandoned() if key not in self._before]
        if left and item.get_closest_marker(MARK) is None:
            pytest.fail(
                f"Abandoned calls are still running: {', '.join(left)}. Open what they "
                f"wait for, or mark the test with {MARK}.",
                pytrace=False,
            )

        return result


def _abandoned() -> list[tuple[tuple[str, str], str]]:
    """
    List bodies that were given up, with what names them.
    """
    if "tooldecl.engines" not in sys.modules:  # nothing was called
        return []

    return [
        ((call.name, call.call_id), f"{call.name} ({call.age:.1f} s)")
        for call in tooldecl.engines.abandoned_calls()
    ]
