"""
What an engine over Ray may be given; none of it takes a cluster, nor Ray itself.
"""

from __future__ import annotations

import sys

import pytest

from tooldecl.engines import RayEngine
from tooldecl.exceptions import DeclarationError


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
        ({"work": {"max_retries": 3}}, "of 'work' takes num_cpus"),
        ({"work": {"num_cpus": 0.00001}}, "of 0.0001 or more"),
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


def test_what_to_install_is_said(monkeypatch):
    """
    The extra has a name.
    """
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tooldecl\[ray\]'"):
        RayEngine("local")
