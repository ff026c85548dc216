"""
What an engine over Ray may be given; none of it takes a cluster, nor Ray itself.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine_tools import meet, work
from source import is_found
from tooldecl import ToolClient, tool
from tooldecl.engines import RayEngine
from tooldecl.exceptions import DeclarationError


WITH_RAY = pytest.mark.skipif(not is_found("ray"), reason="ray is not installed")


@pytest.mark.parametrize(
    "address",
    [None, "", "auto", "localhost", ":6379", "a:b", "ray://a:10001", 6379, b"a:1"],
)
def test_an_address_is_asked_for(address):
    """
    Whatever would be looked for, or needs another client of Ray's, is refused.
    """
    with pytest.raises(DeclarationError) as caught:
        RayEngine(address)

    assert "RayEngine(address) takes 'host:port' of a cluster's head" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ([], "takes a mapping from tools"),
        ({1: {}}, "takes names of tools, got 1"),
        ({"work": 2}, "of 'work' takes a mapping from resources to amounts"),
        ({"work": {"": 1}}, "of 'work' takes num_cpus, num_gpus, memory"),
        ({"work": {"CPU": 1}}, "of 'work' takes num_cpus"),
        ({"work": {3: 1}}, "of 'work' takes num_cpus"),
        ({"work": {"num_cpus": -1}}, "takes an amount of num_cpus from 0"),
        ({"work": {"num_cpus": True}}, "takes an amount of num_cpus"),
        ({"work": {"num_cpus": float("nan")}}, "takes an amount of num_cpus"),
        ({"work": {"num_gpus": 1.5}}, "which is whole above 1"),
        ({"work": {"seat": float("inf")}}, "takes an amount of seat"),
    ],
)
def test_odd_resources_are_refused(resources, words):
    """
    At the declaration of the engine, not by Ray at the first call.
    """
    with pytest.raises(DeclarationError) as caught:
        RayEngine("local", resources=resources)

    assert words in str(caught.value)


@pytest.mark.parametrize("given", [0, -1, True, "1", float("nan")])
def test_odd_limits_are_refused(given):
    """
    DEC-07: as for every option that takes seconds.
    """
    with pytest.raises(
        DeclarationError, match=r"RayEngine\(expires=...\) takes seconds"
    ):
        RayEngine("local", expires=given)


@WITH_RAY
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


@WITH_RAY
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


@pytest.mark.skipif(is_found("ray"), reason="ray is installed")
def test_what_to_install_is_said():
    """
    The extra has a name.
    """
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tooldecl\[ray\]'"):
        RayEngine("local")
