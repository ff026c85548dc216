"""
What type checkers say about a user's code: right use passes, each mistake is found.
"""

from __future__ import annotations

import gc
import sys

import mypy.api
import pytest

from source import ROOT


TYPING = ROOT / "tests" / "typing"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """
    Leave the checkout: mypy would read the package from there, not as it is installed.

    It also tunes the process that it runs in, which the tests after it must not feel.
    """
    depth, thresholds = sys.getrecursionlimit(), gc.get_threshold()
    monkeypatch.chdir(tmp_path)
    yield
    sys.setrecursionlimit(depth)
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    gc.enable()


def check(*args):
    """
    Run mypy with the project's settings, for the Python that runs the test.
    """
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    report, errors, code = mypy.api.run(
        [
            *("--config-file", str(ROOT / "pyproject.toml")),
            *("--cache-dir", str(ROOT / ".mypy_cache")),
            *("--python-version", version),
            *("--no-pretty", "--no-error-summary"),
            *args,
        ]
    )

    return code, report + errors


def test_right_use_passes_and_every_mistake_is_found():
    """
    In misuse.py each mistake stands on a line that ignores exactly its error: one that
    is no longer found is an ignore too many, and fails.
    """
    files = [str(TYPING / name) for name in ("api.py", "loop_api.py", "misuse.py")]

    assert (0, "") == check(*files)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x: int = 1  # type: ignore[assignment]", "unused-ignore"),
        ("x: int = ''  # type: ignore[arg-type]", "assignment"),
        ("import tooldecl\ntooldecl.tool(timout=1)", "call-overload"),
        ("import tooldecl\nx: int = tooldecl.tool", "assignment"),
    ],
)
def test_the_net_has_no_hole(tmp_path, line, code):
    """
    An ignore that is not needed, a wrong one, and a mistake without one all fail.
    """
    planted = tmp_path / "planted.py"
    planted.write_text(f"{line}\n", encoding="utf-8")
    status, report = check(str(planted))

    assert (1, True) == (status, f"[{code}]" in report)


def test_checking_leaves_the_process_as_it_was():
    """
    mypy raises the limit of recursion, and tests about deep data would then prove less.
    """
    assert (1000, (0, True)) == (
        sys.getrecursionlimit(),
        (gc.get_freeze_count(), gc.isenabled()),
    )
