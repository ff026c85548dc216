"""
Where the whole text of a result is kept that is too long for the model.

The matching page is docs/how-to/limit-results.md.
"""

from __future__ import annotations

import os
import re
import secrets

from pathlib import Path
from typing import ClassVar, Protocol, final

from ._policy import shown
from .exceptions import DeclarationError, UnknownReferenceError


__all__ = ["FileResultStore", "ResultStore"]

# What a reference of ours is made of, and how long it is at most.
LONGEST_REFERENCE = 29

_REFERENCE = re.compile(r"[A-Za-z0-9_-]{1,29}")
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


class ResultStore(Protocol):
    """
    Keeps texts, and gives them back by a reference that the model is shown.

    It is called on a thread, and from several at once. A reference is a short text on one
    line; a store whose references have a greatest length may say it in an attribute
    ``longest_reference``, so that limits without room for it are refused early.
    """

    def put(self, call_id: str, text: str, /) -> str:
        """
        Keep *text*, and return a reference that nothing else has.
        """
        ...

    def get(self, reference: str, /) -> str:
        """
        Return the text of a reference.

        Raises:
            KeyError: There is none.
        """
        ...


def new_reference(call_id: str) -> str:
    """
    Return a reference that can be the name of a file, and tells whose text it is.
    """
    return f"{_ODD.sub('-', call_id)[:16]}-{secrets.token_hex(6)}"


def checked_path(path: object, owner: str) -> Path:
    """
    Return a path as it is found whatever the working directory will be.

    Raises:
        DeclarationError: It is none.
    """
    rule = "a path, as a text that is not empty or a pathlib.Path"
    if not isinstance(path, (str, Path)) or not str(path) or "\0" in str(path):
        raise DeclarationError(f"{owner} takes {rule}, got {shown(path)}.")

    return Path(path).absolute()


@final
class FileResultStore:
    """
    Keeps each text in a file of its own; several processes may share the directory.

    A file is there as a whole or not at all, and only its owner may read it. The
    directory is made when it is first needed. Nothing is ever deleted.

    Args:
        directory: Where the files are.

    Raises:
        DeclarationError: *directory* is no path.
    """

    longest_reference: ClassVar[int] = LONGEST_REFERENCE

    def __init__(self, directory: str | Path) -> None:
        self._directory = checked_path(directory, "FileResultStore(directory)")

    def put(self, call_id: str, text: str) -> str:
        """
        Write *text* to a new file.
        """
        self._directory.mkdir(parents=True, exist_ok=True)
        draft = self._directory / f".{secrets.token_hex(16)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
                file.write(text.encode("utf-8", "surrogatepass"))
            draft.replace(self._path(reference := new_reference(call_id)))
        finally:
            draft.unlink(missing_ok=True)

        return reference

    def get(self, reference: str) -> str:
        """
        Read the file of a reference.

        Raises:
            UnknownReferenceError: There is none.
        """
        if not is_reference(reference):
            raise UnknownReferenceError(reference=reference)
        try:
            data = self._path(reference).read_bytes()
        except FileNotFoundError:
            raise UnknownReferenceError(reference=reference) from None

        return data.decode("utf-8", "surrogatepass")

    def _path(self, reference: str) -> Path:
        return self._directory / f"{reference}.txt"

    def __repr__(self) -> str:
        return f"FileResultStore({str(self._directory)!r})"


def is_reference(reference: object) -> bool:
    """
    Whether a store of ours could have given it: nothing else becomes part of a path.
    """
    return isinstance(reference, str) and bool(_REFERENCE.fullmatch(reference))
