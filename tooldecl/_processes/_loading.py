"""
How a tool gets into a worker: by reference, never by value of its code.

A function is named by its module and qualname, a bound method by its instance, which is
pickled here, once, when the client is built. `__main__` is refused: a worker does not run
the script again.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import itertools
import json
import logging
import pickle
import sys

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, final

from .._build import Built, ToolDefinition, build
from .._carriers import Carrier, Found
from .._declared import Declared, declared_of
from .._jsonschema import copied
from .._meta import ToolMeta
from .._records import record
from .._refs import label_of, resolve
from .._spec import GivenPromise, ToolSpec
from ..exceptions import DeclarationError, NotImportableError


logger = logging.getLogger("tooldecl")

_NUMBER = itertools.count(1)


@final
@record(frozen=True, slots=True, kw_only=True, eq=False)
class Cargo:
    """
    One tool, ready to be sent to a worker.

    Attributes:
        number: Names it to a worker; no other of this process has it.
        name: The tool's name.
        pickled: How a worker finds it.
        modules: What has to be imported for it: pairs of name and file.
    """

    number: int
    name: str
    pickled: bytes
    modules: tuple[tuple[str, str | None], ...]


@final
@record(frozen=True, slots=True, kw_only=True)
class Loaded:
    """
    One tool in a worker.
    """

    meta: ToolMeta
    built: Built
    stop_on: tuple[type[BaseException], ...]


def mark_of(meta: ToolMeta, definition: ToolDefinition) -> str:
    """
    Return a hash of what host and worker have to agree on: the arguments, and the colour.
    """
    facts = [meta.is_async, copied(definition.input_schema)]
    text = json.dumps(facts, sort_keys=True)

    return hashlib.sha256(text.encode()).hexdigest()


def cargo_of(
    declared: Declared,
    definition: ToolDefinition,
    stop_on: tuple[type[BaseException], ...],
) -> Cargo:
    """
    Return what a worker needs of a tool.

    Raises:
        NotImportableError: A worker could not find it.
    """
    meta, listed = declared.meta, declared.function
    modules = tuple(_modules_of(meta, listed))
    given = declared.promise
    schema = copied(given.given.schema) if isinstance(given, GivenPromise) else None
    try:
        pickled = pickle.dumps(
            (listed, meta, schema, stop_on, mark_of(meta, definition))
        )
    except MemoryError:
        raise
    except Exception as error:  # the methods of a foreign object may raise anything
        raise _refusal(meta, _why_not(meta, error)) from error

    return Cargo(number=next(_NUMBER), name=meta.name, pickled=pickled, modules=modules)


def _modules_of(meta: ToolMeta, listed: object) -> Iterable[tuple[str, str | None]]:
    """
    Yield the modules of a function and of the instance that it is bound to.
    """
    holder = getattr(listed, "__self__", None)
    kind = holder if isinstance(holder, type) else type(holder)
    names = [meta.ref.partition(":")[0]]
    if holder is not None:
        names.append(kind.__module__)
    for name in dict.fromkeys(names):
        if name == "__main__":
            raise _refusal(
                meta,
                "it is defined in the script that is run (__main__), and a worker does "
                "not run that again",
            )
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if module is None or (file is None and getattr(module, "__spec__", 0) is None):
            raise _refusal(meta, f"there is no module {name!r} to import it from")
        yield name, file


def _why_not(meta: ToolMeta, error: Exception) -> str:
    _, _, qualname = meta.ref.partition(":")
    if "<lambda>" in qualname:
        return "a lambda has no name to find it by"
    if "<locals>" in qualname:
        return f"{label_of(meta.ref)} is defined inside of another function"

    return f"it cannot be pickled ({type(error).__name__}: {error})"


def _refusal(meta: ToolMeta, reason: str) -> NotImportableError:
    return NotImportableError(tool=meta.name, ref=meta.ref, reason=reason)


def load(pickled: bytes) -> Loaded:
    """
    Find a tool in this process.

    Raises:
        DeclarationError: What is found is declared otherwise than what the host has.
        Exception: Whatever finding it raises.
    """
    listed, meta, schema, stop_on, mark = pickle.loads(pickled)  # noqa: S301 (the host's)
    declared = _declared(listed, meta, schema)
    built = build(replace(declared, meta=meta))
    here = replace(meta, is_async=declared.meta.is_async)
    if mark_of(here, built.definition) != mark:
        raise DeclarationError(
            f"{label_of(meta.ref)} takes other arguments here than where its client was "
            "built: both need the same version of its module."
        )

    return Loaded(meta=meta, built=built, stop_on=stop_on)


def _declared(
    listed: Callable[..., object], meta: ToolMeta, schema: Mapping[str, Any] | None
) -> Declared:
    if schema is None:
        return declared_of(listed)
    spec = ToolSpec(
        name=meta.name,
        description=meta.description,
        input_schema=schema,
        handler=listed,
    )

    return declared_of(spec)


def import_path() -> list[str]:
    """
    Return where this interpreter finds modules.
    """
    return [e for e in map(_as_is, sys.path) if isinstance(e, str)]


def _as_is(entry: object) -> object:
    return entry


def import_all(modules: Iterable[tuple[str, str | None]]) -> None:
    """
    Import modules, by their file where their name leads to nothing.

    Raises:
        Exception: Whatever their code raises.
    """
    for name, file in modules:
        if name in sys.modules:
            continue
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if file is None or not f"{name}.".startswith(f"{missing}."):
                raise
            _import_file(name, file)


def _import_file(name: str, file: str) -> None:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def carriers_in(found: Iterable[Found]) -> dict[str, Carrier]:
    """
    Find the classes of hooks in this process; what cannot be found restores nothing.
    """
    known: dict[str, Carrier] = {}
    for ref, file in found:
        try:
            import_all([(ref.partition(":")[0], file)])
            kind = resolve(ref)
        except Exception:  # importing runs an author's code
            logger.exception("The hook %s is not found in a worker.", label_of(ref))
        else:
            if isinstance(kind, Carrier):
                known[ref] = kind

    return known
