"""
What a worker needs to find a tool, and how it imports it.
"""

from __future__ import annotations

import pickle
import sys

import pytest

from sample_declarations import Shop, add
from tooldecl import ToolSpec
from tooldecl._build import build
from tooldecl._declared import declared_of
from tooldecl._processes._loading import cargo_of, import_all, load


def cargo(tool, stop_on=()):
    """
    Return what is sent of a tool.
    """
    return cargo_of(declared_of(tool), build(declared_of(tool)).definition, stop_on)


def test_every_cargo_has_a_number_of_its_own():
    """
    Two tools of one name, of two clients, are not taken for each other.
    """
    assert cargo(add).number != cargo(add).number


def test_a_cargo_names_the_modules_of_function_and_instance():
    """
    The class of an instance may be at home somewhere else than its method.
    """
    names = [name for name, _ in cargo(Borrower(1).count).modules]

    assert ["sample_declarations", "test_loading"] == [
        name.rpartition(".")[2] for name in names
    ]
    assert __file__ == cargo(Borrower(1).count).modules[1][1]


class Borrower(Shop):
    """
    A shop in this module, whose tools are another's.
    """


@pytest.mark.parametrize(
    ("tool", "values", "result"),
    [(add, {"x": 1, "y": 2}, 3), (Shop(5).count, {"extra": 1}, 6)],
)
def test_what_is_loaded_runs(tool, values, result):
    """
    The record is the host's, renamed or not.
    """
    loaded = load(cargo(tool).pickled)

    assert declared_of(tool).meta == loaded.meta
    assert result == loaded.built.call(values, None)


def test_a_foreign_schema_comes_along():
    """
    It is data; only its handler is found by name.
    """
    spec = ToolSpec(
        name="foreign",
        description="Echo.",
        input_schema={"type": "object", "properties": {"x": {"type": "integer"}}},
        handler=handle,
    )
    loaded = load(cargo(spec).pickled)

    assert ("foreign", {"x": 1}) == (
        loaded.meta.name,
        loaded.built.call({"x": 1}, None),
    )


def handle(arguments: dict[str, int]) -> dict[str, int]:
    """
    Give the arguments back.
    """
    return dict(arguments)


def test_stop_signals_come_along():
    """
    A worker judges by them what is fatal.
    """
    assert (LookupError,) == load(cargo(add, (LookupError,)).pickled).stop_on


@pytest.fixture
def module(tmp_path):
    """
    Write a module that lies where no path leads.
    """
    file = tmp_path / "lonely_module.py"
    file.write_text("VALUE = 5\n", encoding="utf-8")
    yield str(file)
    for name in ("lonely_module", "lonely_broken"):
        sys.modules.pop(name, None)


def test_a_module_is_found_by_its_file(module):
    """
    A host may have put it into a path that it has taken out again.
    """
    import_all([("lonely_module", module)])

    assert 5 == sys.modules["lonely_module"].VALUE


def test_a_module_that_is_there_is_not_imported_again(module):
    """
    What the zygote has is what the worker uses.
    """
    import_all([("lonely_module", module)])
    first = sys.modules["lonely_module"]
    import_all([("lonely_module", module)])

    assert first is sys.modules["lonely_module"]


@pytest.mark.parametrize("file", [None, "/nowhere/lonely_module.py"])
def test_a_module_that_is_nowhere(file):
    """
    The error is Python's own.
    """
    with pytest.raises((ModuleNotFoundError, FileNotFoundError)):
        import_all([("lonely_module", file)])
    assert "lonely_module" not in sys.modules


def test_a_module_that_fails_is_not_half_there(module, tmp_path):
    """
    The next try begins anew.
    """
    file = tmp_path / "lonely_broken.py"
    file.write_text("import nothing_of_that_name\n", encoding="utf-8")

    with pytest.raises(ModuleNotFoundError) as caught:
        import_all([("lonely_broken", str(file))])
    assert "nothing_of_that_name" == caught.value.name
    assert "lonely_broken" not in sys.modules


def test_a_cargo_is_pickled_once_and_for_all():
    """
    It is bytes: what the instance is later does not matter.
    """
    shop = Shop(1)
    sent = cargo(shop.count)
    shop.stock = 7

    assert 1 == load(sent.pickled).built.call({"extra": 0}, None)
    assert isinstance(pickle.loads(sent.pickled), tuple)
