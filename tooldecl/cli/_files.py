"""
Import a file by its path, under a name that leads to it in other processes too.

A worker of ours finds a tool by the name of its module, along the same import path, and
by the file of the module where its name leads to nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys

from pathlib import Path
from types import ModuleType


class NotThereError(Exception):
    """
    The path leads to nothing that can be imported.
    """


def import_file(path: str) -> ModuleType:
    """
    Import a file as Python would by its name, with its package and its neighbours.

    Raises:
        NotThereError: There is no such file.
        Exception: Whatever its code raises.
    """
    file = Path(os.path.normpath(Path.cwd() / path))  # links stay as they are
    if file.suffix != ".py":
        raise NotThereError(f"{path} is not the path of a .py file.")
    if not file.is_file():
        raise NotThereError(f"There is no file {path}.")
    folder, names = file.parent, [] if file.name == "__init__.py" else [file.stem]
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        names.insert(0, folder.name)
        folder = folder.parent
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    if _leads_to(names, file, folder):
        return importlib.import_module(".".join(names))
    if len(names) > 1:
        raise NotThereError(
            f"{path} belongs to the package {names[0]!r}, and another module of that "
            "name comes first."
        )

    return _import_as(_free_name(names[0]), file)


def _leads_to(names: list[str], file: Path, folder: Path) -> bool:
    """
    Whether the name of the outermost part is found where the file is.
    """
    first = names[0]
    if "." in first:
        return False
    wanted = file if len(names) == 1 else folder / first / "__init__.py"
    try:
        spec = importlib.util.find_spec(first)
    except ValueError:  # the module of a script has none
        return False
    if spec is None or spec.origin is None:
        return False
    if not Path(spec.origin).is_file():  # built in, or frozen
        return False

    return wanted.samefile(spec.origin)


def _free_name(stem: str) -> str:
    name = stem.replace(".", "_")
    while name in sys.modules or importlib.util.find_spec(name) is not None:
        name += "_"

    return name


def _import_as(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise NotThereError(f"{file} is nothing that Python can import.")
    module = importlib.util.module_from_spec(spec)
    with contextlib.ExitStack() as undo:
        undo.callback(sys.modules.pop, name)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        undo.pop_all()

    return module
