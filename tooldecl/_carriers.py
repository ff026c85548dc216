"""
Take texts along with a call, where context variables do not go: what a `Carrier` does.

The matching page is docs/how-to/observe-calls.md.
"""

from __future__ import annotations

import logging
import sys

from collections.abc import Iterable, Mapping
from contextvars import Context
from typing import Protocol, TypeAlias, final, runtime_checkable

from ._refs import label_of, ref_to
from .exceptions import DeclarationError


logger = logging.getLogger("tooldecl")

# How a worker finds a class: its reference, and the file of its module.
Found: TypeAlias = tuple[str, str | None]
# What one takes along, beside its reference.
Taken: TypeAlias = tuple[str, dict[str, str]]

# Characters of all that one takes along; W3C Trace Context and Baggage need 9,000.
MOST = 20_000


@runtime_checkable
class Carrier(Protocol):
    """
    A hook that takes texts along with each call into the worker process it runs in.

    A hook of the client of a loop that is a tool does so as well, from the call around a
    sub-run into the sub-run. A worker finds its class by name: it stands at the top level
    of a module. Like every hook it cannot break a call; what it raises is logged.
    """

    def carry(self) -> Mapping[str, str]:
        """
        Return what to take along; called in the context variables that the body would have.
        """
        ...

    @staticmethod
    def restore(values: Mapping[str, str], /) -> object:
        """
        Make something of *values* there, in the context variables of the body or sub-run.
        """
        ...


@final
class Carriers:
    """
    The hooks of one client that take something along.

    Attributes:
        found: How workers find their classes.
    """

    __slots__ = ("_hooks", "found")

    def __init__(self, hooks: Iterable[object]) -> None:
        self._hooks = carriers_of(hooks)
        self.found = tuple(map(found_in_workers, self._hooks))

    def taken(self) -> list[Taken]:
        """
        Ask each of them what it takes along.
        """
        return _taken(self._hooks)


def carry_over(hooks: Iterable[object], variables: Context) -> None:
    """
    Let what *hooks* take along from here be restored in *variables*, of a sub-run.
    """
    carriers = carriers_of(hooks)
    known = {ref_to(type(carrier)): carrier for carrier in carriers}
    variables.run(restore, known, _taken(carriers))


def _taken(carriers: Iterable[Carrier]) -> list[Taken]:
    """
    Ask each carrier what it takes along; one that fails takes nothing.
    """
    taken: list[Taken] = []
    for carrier in carriers:
        ref = ref_to(type(carrier))
        try:
            taken.append((ref, _texts(carrier.carry())))
        except Exception:  # a watcher must never change the outcome of a call
            logger.exception("The hook %s failed to carry texts.", label_of(ref))

    return taken


def _texts(given: Mapping[str, str]) -> dict[str, str]:
    texts = {str(key): str(text) for key, text in given.items()}
    size = sum(len(key) + len(text) for key, text in texts.items())
    if size > MOST:
        raise ValueError(f"It carries {size:,} characters, and {MOST:,} are the most.")

    return texts


def carriers_of(hooks: Iterable[object]) -> tuple[Carrier, ...]:
    """
    Return the hooks that take something along.
    """
    return tuple(hook for hook in hooks if isinstance(hook, Carrier))


def found_in_workers(carrier: Carrier) -> Found:
    """
    Return how a worker finds the class of *carrier*.

    Raises:
        DeclarationError: It could not.
    """
    kind = type(carrier)
    ref = ref_to(kind)
    module = sys.modules.get(kind.__module__)
    if kind.__module__ == "__main__" or "<" in ref or module is None:
        raise DeclarationError(
            f"The hook {label_of(ref)} takes texts along into worker processes, which "
            "could not find it: define its class at the top level of a module that is "
            "not the script that is run."
        )

    return ref, getattr(module, "__file__", None)


def restore(known: Mapping[str, Carrier], taken: Iterable[Taken]) -> None:
    """
    Restore what was taken along, each by itself.
    """
    for ref, values in taken:
        if ref not in known:
            continue
        try:
            known[ref].restore(values)
        except Exception:  # as above
            logger.exception("The hook %s failed to restore.", label_of(ref))
