"""
Data that nobody can change: still equal to what it was made of, and still plain data.
"""

from __future__ import annotations

import copy
import json
import operator
import pickle

from types import MappingProxyType

import pytest

from tooldecl._readonly import ReadOnlyDict, ReadOnlyList, freeze, frozen_mapping


DATA = {"a": [1, {"b": [2, 3]}], "c": {"d": None}, "e": "text", "f": [[]]}

CHANGES_OF_A_DICT = [
    ("set", lambda d: operator.setitem(d, "a", 1)),
    ("delete", lambda d: operator.delitem(d, "a")),
    ("or", lambda d: operator.ior(d, {"x": 1})),
    ("clear", lambda d: d.clear()),
    ("pop", lambda d: d.pop("a")),
    ("popitem", lambda d: d.popitem()),
    ("setdefault", lambda d: d.setdefault("x", 1)),
    ("update", lambda d: d.update(x=1)),
]
CHANGES_OF_A_LIST = [
    ("set", lambda v: operator.setitem(v, 0, 1)),
    ("slice", lambda v: operator.setitem(v, slice(0, 1), [])),
    ("delete", lambda v: operator.delitem(v, 0)),
    ("add", lambda v: operator.iadd(v, [1])),
    ("multiply", lambda v: operator.imul(v, 2)),
    ("append", lambda v: v.append(1)),
    ("extend", lambda v: v.extend([1])),
    ("insert", lambda v: v.insert(0, 1)),
    ("pop", lambda v: v.pop()),
    ("remove", lambda v: v.remove(1)),
    ("clear", lambda v: v.clear()),
    ("sort", lambda v: v.sort()),
    ("reverse", lambda v: v.reverse()),
]


def ids_of(changes):
    """
    Name the changes for pytest.
    """
    return [name for name, _ in changes]


def change(data, how):
    """
    Try to change *data*, and return what is said to that.
    """
    before = copy.deepcopy(data)
    with pytest.raises(TypeError) as caught:
        how(data)
    assert before == data

    return str(caught.value)


@pytest.mark.parametrize(
    "how", [how for _, how in CHANGES_OF_A_DICT], ids=ids_of(CHANGES_OF_A_DICT)
)
def test_a_dict_takes_no_change(how):
    """
    Filters, hooks and tools see the same request and the same state; none of them may
    change it for the others.
    """
    text = "This dict is read-only: make a copy to change it."

    assert [text, text] == [change(d, how) for d in (freeze({"a": 0}), freeze(DATA))]


@pytest.mark.parametrize(
    "how", [how for _, how in CHANGES_OF_A_LIST], ids=ids_of(CHANGES_OF_A_LIST)
)
def test_a_list_takes_no_change(how):
    """
    A list deep inside of arguments or of the state is as shared as the dict around it.
    """
    text = "This list is read-only: make a copy to change it."

    assert [text, text] == [change(v, how) for v in (freeze([1]), freeze(DATA)["a"])]


def test_every_mutator_of_the_builtins_is_covered():
    """
    A method that a later Python adds to dict or list would be a hole in the wall.
    """
    reading = {"copy", "count", "fromkeys", "get", "index", "items", "keys", "values"}
    open_ones = [
        f"{kind.__name__}.{name}"
        for kind, base in ((ReadOnlyDict, dict), (ReadOnlyList, list))
        for name in vars(base)
        if not name.startswith("_")
        and name not in reading
        and getattr(kind, name) is getattr(base, name)
    ]

    assert [] == open_ones


def test_it_is_equal_to_what_it_was_made_of():
    """
    Tools compare and serialise it as the plain data that it is.
    """
    frozen = freeze(DATA)

    assert DATA == frozen
    assert frozen == DATA
    assert json.dumps(DATA) == json.dumps(frozen)


def test_it_is_a_copy():
    """
    R148: whoever gave the data may change it afterwards, and nothing is noticed here.
    """
    given = {"a": [1], "b": {"c": [2]}}
    frozen = freeze(given)
    given["a"].append(9)
    given["b"]["c"].clear()
    given.clear()

    assert {"a": [1], "b": {"c": [2]}} == frozen


def test_a_copy_of_it_can_be_changed():
    """
    The error says to make a copy, so the usual ways to make one have to give one.
    """
    frozen = freeze({"a": [1, 2]})
    copies = [dict(frozen), frozen | {}, {**frozen}, frozen.copy()]
    lists = [list(frozen["a"]), frozen["a"][:], frozen["a"] + [], frozen["a"].copy()]

    assert [dict] * 4 == [type(d) for d in copies]
    assert [list] * 4 == [type(v) for v in lists]


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_copying_gives_itself(make):
    """
    What never changes needs no second copy; a transcript is copied once per turn.
    """
    frozen = freeze(DATA)

    assert (True, True) == (make(frozen) is frozen, make(frozen["a"]) is frozen["a"])


def test_it_pickles_and_is_still_read_only():
    """
    Requests and results go to other processes and come back.
    """
    loaded = pickle.loads(pickle.dumps(freeze(DATA)))
    kinds = [type(loaded), type(loaded["a"]), type(loaded["a"][1]["b"])]

    assert (DATA, [ReadOnlyDict, ReadOnlyList, ReadOnlyList]) == (loaded, kinds)


def test_tuples_and_sets_are_frozen_too():
    """
    State is not only JSON: a list in a tuple, or a set, would be a way to change it.
    """
    frozen = freeze({"t": ([1], {"a": [2]}), "s": {1, 2}})

    assert ([ReadOnlyList, ReadOnlyDict], frozenset) == (
        [type(v) for v in frozen["t"]],
        type(frozen["s"]),
    )
    assert {"t": ([1], {"a": [2]}), "s": {1, 2}} == frozen


def test_other_objects_are_left_as_they_are():
    """
    A handle that a host keeps in the state is that very handle for the tools.
    """
    thing = object()

    assert thing is freeze({"thing": thing})["thing"]


def test_any_mapping_becomes_a_dict():
    """
    A view of somebody's dict would change with it.
    """
    source = {"a": {"b": 1}}
    frozen = frozen_mapping(MappingProxyType(source))
    source["a"]["b"] = 2

    assert {"a": {"b": 1}} == frozen


def test_what_is_frozen_already_is_not_copied_again():
    """
    Filters pass requests on many times; each pass would cost a walk through all of it.
    """
    frozen = freeze(DATA)

    assert (True, True) == (freeze(frozen) is frozen, frozen_mapping(frozen) is frozen)
