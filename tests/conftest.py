"""
What pytest does for the whole suite: coroutine tests, without a plugin.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect

import pytest


# The properties need hypothesis; `nox -s property` brings it.
collect_ignore = [] if importlib.util.find_spec("hypothesis") else ["property"]

HANGS_AFTER = 30


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """
    Run coroutine tests, each in a fresh loop in debug mode.
    """
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None

    names = pyfuncitem._fixtureinfo.argnames
    kwargs = {name: pyfuncitem.funcargs[name] for name in names}
    with asyncio.Runner(debug=True) as runner:
        # A step that takes long on a busy machine is not worth a word in the log.
        runner.get_loop().slow_callback_duration = HANGS_AFTER
        runner.run(asyncio.wait_for(pyfuncitem.obj(**kwargs), HANGS_AFTER))

    return True
