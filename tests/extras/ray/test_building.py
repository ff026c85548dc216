"""
What is said of an engine over Ray when a client is built on it, before any call.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine_tools import meet, work
from tooldecl import ToolClient, tool
from tooldecl.engines import RayEngine


def test_resources_of_no_tool_are_refused():
    """
    An option that nothing reads is none: told when the client is built.
    """

    @tool(isolation="inline")
    def here() -> None:
        """Do nothing."""

    engine = RayEngine("local", resources={"work": {"num_cpus": 2}, "here": {}})
    with pytest.raises(ExceptionGroup) as caught:
        ToolClient([meet, here], engine=engine)
    texts = [str(error) for error in caught.value.exceptions]

    assert ["'work'", "'here'"] == [text.split()[2].strip(",") for text in texts]
    assert all("no such tool that runs on the cluster" in text for text in texts)
    ToolClient([work], engine=RayEngine("local", resources={"work": {}}))


def test_ray_is_imported_at_the_first_call():
    """
    A module that makes an engine and a client is imported by the workers as well.
    """
    code = (
        "import sys; from tooldecl.engines import RayEngine; e = RayEngine('local'); "
        "e.close(); print('ray' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert "False" == done.stdout.strip()
