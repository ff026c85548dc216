"""
References to functions, and the places they were written at.
"""

from __future__ import annotations

import functools

import pytest

import sample_declarations

from tooldecl._refs import label_of, place_of, ref_to, resolve, site_of
from tooldecl.exceptions import DeclarationError


def test_a_reference_leads_back_to_the_function():
    """
    A worker in another process finds a tool by nothing but its reference.
    """
    ref = ref_to(sample_declarations.Shop.count)

    assert "sample_declarations:Shop.count" == ref
    assert sample_declarations.Shop.count == resolve(ref)


def test_an_object_without_a_name_is_known_by_its_class():
    """
    Every tool has a reference to show, also one that cannot be imported.
    """
    assert "functools:partial" == ref_to(functools.partial(print))


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "sample_declarations",
        ":add",
        "sample_declarations:",
        "sample_declarations:f.<locals>.g",
        "sample_declarations:<lambda>",
    ],
)
def test_what_has_no_name_of_a_module_is_refused(ref):
    """
    A function made inside of another one is not there after an import.
    """
    with pytest.raises(DeclarationError) as caught:
        resolve(ref)

    assert (
        f"{ref!r} names nothing that can be imported: define the function at the top "
        "level of a module."
    ) == str(caught.value)


@pytest.mark.parametrize(
    "ref",
    ["no_such_module_here:f", "sample_declarations:no_such", "json:loads.nothing"],
)
def test_what_is_not_there_is_refused(ref):
    """
    An import that fails is a bad declaration, whatever the reason.
    """
    with pytest.raises(DeclarationError) as caught:
        resolve(ref)

    assert f"{ref!r} cannot be imported." == str(caught.value)


def test_a_site_has_no_folders():
    """
    Sites stand in error texts, which must not show paths of the host.
    """

    def here():
        pass

    line = here.__code__.co_firstlineno

    assert f"test_refs.py:{line}" == site_of(here)
    assert "" == site_of(len)


def test_a_place_is_written_the_way_people_read_it():
    """
    Duplicates are told apart by where they were written.
    """
    assert "shop.catalog.search" == label_of("shop.catalog:search")
    assert "shop.search (a.py:3)" == place_of("shop:search", "a.py:3")
    assert "builtins.len" == place_of("builtins:len", "")
