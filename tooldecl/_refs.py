"""
Name an importable function, find it again, and say where it was written.
"""

from __future__ import annotations

import importlib
import os

from pathlib import PurePath
from types import FrameType

from .exceptions import DeclarationError


def type_of(value: object) -> type[object]:
    """
    Return the type itself; what ``__class__`` says may be a proxy's word.
    """
    return type(value)


def ref_to(function: object) -> str:
    """
    Return ``module:qualname``; whether that can be imported again, `resolve` tells.
    """
    kind = type(function)
    module = getattr(function, "__module__", None) or kind.__module__
    qualname = getattr(function, "__qualname__", None) or kind.__qualname__

    return f"{module}:{qualname}"


def site_of(function: object) -> str:
    """
    Return ``file:line`` without the folders of the host, or "" for what has no source.
    """
    code = getattr(function, "__code__", None)

    return _site(code.co_filename, code.co_firstlineno) if code else ""


def site_at(frame: FrameType) -> str:
    """
    Return ``file:line`` of a place in running code.
    """
    return _site(frame.f_code.co_filename, frame.f_lineno)


def _site(file: str, line: int) -> str:
    name = file.rpartition("/")[2]
    if os.sep != "/" or name in ("", "."):
        name = PurePath(file).name

    return f"{name}:{line}"


def label_of(ref: str) -> str:
    """
    Write a reference the way tracebacks and people do, ``module.qualname``.
    """
    return ref.replace(":", ".")


def place_of(ref: str, site: str) -> str:
    """
    Return ``module.qualname (file:line)``, or the name alone without a site.
    """
    return f"{label_of(ref)} ({site})" if site else label_of(ref)


def resolve(ref: str) -> object:
    """
    Import what `ref_to` named.

    Raises:
        DeclarationError: Nothing of that name can be imported.
    """
    module, _, qualname = ref.partition(":")
    if not module or not qualname or "<" in qualname:
        raise DeclarationError(
            f"{ref!r} names nothing that can be imported: define the function at the "
            "top level of a module."
        )
    try:
        found: object = importlib.import_module(module)
        for name in qualname.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as exc:
        raise DeclarationError(f"{ref!r} cannot be imported.") from exc

    return found
