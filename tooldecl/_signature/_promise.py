"""
What a callable promises: its parameters, what each takes, and where the context goes.
"""

from __future__ import annotations

from inspect import Parameter
from types import FrameType
from typing import NoReturn, final

from .._context import ToolContext
from .._records import record
from .._refs import label_of, ref_to
from ..exceptions import UnsupportedSignatureError
from ._callables import MISSING, docstring_of, innermost, parameters_of, without_first
from ._docstrings import Docstring, read_docstring
from ._hints import (
    Scope,
    UnreadableHintError,
    means_awaitable,
    means_context,
    spells_awaitable,
    spells_context,
)


VARIADIC: dict[object, str] = {
    Parameter.VAR_POSITIONAL: "*",
    Parameter.VAR_KEYWORD: "**",
}


@final
@record(frozen=True, slots=True, kw_only=True)
class ToolParameter:
    """
    One parameter of a tool.

    Attributes:
        name: Its name in Python.
        hint: What it takes; for the context, the type of the context.
        written: The parameter as it is written.
        default: Its default, or MISSING.
        text: What the docstring says about it, or "".
        positional: Whether it can only be given by its place.
        injected: Whether the context goes here.
    """

    name: str
    hint: object
    written: Parameter
    default: object
    text: str
    positional: bool
    injected: bool


@final
class Promise:
    """
    The parameters of one callable, and the means to read their hints once needed.

    Attributes:
        inside: The function inside of all wrappers.
        label: Its ``module.qualname``.
        doc: What its docstring says.
        written: The parameters as they are written.
        built: Room for what is made from the promise once and shared by all bindings.
    """

    __slots__ = (
        "_bound",
        "_hints",
        "_read",
        "_returns",
        "_scope",
        "built",
        "doc",
        "inside",
        "label",
        "written",
    )

    def __init__(
        self,
        parameters: list[Parameter],
        *,
        inside: object,
        doc: Docstring,
        scope: Scope,
        returns: object,
    ) -> None:
        self.inside = inside
        self.label = label_of(ref_to(inside))
        self.doc = doc
        self.built: object = None
        self.written = parameters
        self._scope = scope
        self._returns = returns
        self._hints: dict[str, object] = {}
        self._read: tuple[ToolParameter, ...] | None = None
        self._bound: Promise | None = None

    def read_early(self, *, excused: Parameter | None) -> None:
        """
        Refuse at declaration what can be known then.

        Args:
            excused: The parameter that binding will fill, which needs no type.

        Raises:
            UnsupportedSignatureError: A parameter cannot be offered to a model.
        """
        complete = True
        for parameter in self.written:
            if parameter is excused:
                continue
            self._check(parameter)
            try:
                self._hints[parameter.name] = self._hint(parameter)
            except UnreadableHintError as error:
                if not error.later:
                    self._refuse_hint(parameter, error)
                complete = False
        if complete:
            self._forget()

    def parameters(self) -> tuple[ToolParameter, ...]:
        """
        Return the parameters with their hints.

        Raises:
            UnsupportedSignatureError: A parameter cannot be offered to a model.
        """
        if self._read is None:
            self._read = tuple(map(self._parameter, self.written))
            self._forget()

        return self._read

    def contexts(self) -> frozenset[str]:
        """
        Return the names of the parameters that the context goes to, as far as known.
        """
        found: set[str] = set()
        for parameter in self.written:
            try:
                if means_context(self._hint(parameter)):
                    found.add(parameter.name)
            except UnreadableHintError:
                continue

        return frozenset(found)

    def returns(self) -> object:
        """
        Return the hint of what is returned; MISSING where there is no readable one.
        """
        try:
            return self._scope.read(self._returns)
        except UnreadableHintError:
            return MISSING

    def returns_awaitable(self) -> bool:
        """
        Tell whether the return hint promises something to be awaited.
        """
        try:
            return means_awaitable(self._scope.read(self._returns))
        except UnreadableHintError:
            return spells_awaitable(self._returns)

    def bound(self) -> Promise:
        """
        Return the promise without its first parameter, which binding fills.
        """
        if self._bound is None:
            self._bound = self._over(without_first(self.written))
            self._bound._hints = self._hints

        return self._bound

    def around(self, function: object) -> Promise:
        """
        Return what a wrapper promises around the function of this promise.
        """
        return self._over(parameters_of(function))

    def _over(self, parameters: list[Parameter]) -> Promise:
        return Promise(
            parameters,
            inside=self.inside,
            doc=self.doc,
            scope=self._scope,
            returns=self._returns,
        )

    def _forget(self) -> None:
        """
        Read the last that may need the names around the declaration, and drop those.
        """
        if (returns := self.returns()) is not MISSING:
            self._returns = returns
        self._scope.forget()

    def _parameter(self, parameter: Parameter) -> ToolParameter:
        self._check(parameter)
        try:
            known = self._hints.get(parameter.name, MISSING)
            hint = self._hint(parameter) if known is MISSING else known
        except UnreadableHintError as error:
            self._refuse_hint(parameter, error)

        return ToolParameter(
            name=parameter.name,
            hint=hint,
            written=parameter,
            default=parameter.default,
            text=self.doc.parameters.get(parameter.name, ""),
            positional=parameter.kind is Parameter.POSITIONAL_ONLY,
            injected=means_context(hint),
        )

    def _hint(self, parameter: Parameter) -> object:
        try:
            return self._scope.read(parameter.annotation)
        except UnreadableHintError:
            if spells_context(parameter.annotation):
                return ToolContext
            raise

    def _check(self, parameter: Parameter) -> None:
        name = parameter.name
        if stars := VARIADIC.get(parameter.kind):
            self._refuse(
                name,
                f"it takes {stars}{name}, and a model can only be offered parameters "
                "with a name and a type. A decorator that wraps it in such a function "
                "has to use functools.wraps",
            )
        if parameter.annotation is MISSING:
            self._refuse(
                name,
                f"its parameter {name!r} has no type. Annotate it, or fill it with "
                "functools.partial",
            )

    def _refuse_hint(
        self, parameter: Parameter, error: UnreadableHintError
    ) -> NoReturn:
        reason = (
            f"the hint {spelled(parameter)!r} of its parameter {parameter.name!r} "
            f"cannot be read, because {error}"
        )
        if error.later:
            reason += ". Import it outside of TYPE_CHECKING and define it before the "
            reason += "client is built"
        self._refuse(parameter.name, reason)

    def _refuse(self, parameter: str, reason: str) -> NoReturn:
        raise UnsupportedSignatureError(
            f"{self.label} cannot be a tool: {reason}.",
            tool=self.label,
            parameter=parameter,
        )


def promise_of(function: object, frame: FrameType | None = None) -> Promise:
    """
    Read what *function* promises to a caller.

    Args:
        function: Any callable, or a class or static method not yet bound.
        frame: Where it is declared, for the names in its hints.

    Raises:
        UnsupportedSignatureError: Its parameters cannot be known.
    """
    inside = innermost(function)

    return Promise(
        parameters_of(function),
        inside=inside,
        doc=read_docstring(docstring_of(function)),
        scope=Scope(inside, frame),
        returns=getattr(inside, "__annotations__", {}).get("return", MISSING),
    )


def spelled(parameter: Parameter) -> str:
    """
    Write a hint as it stands in the code.
    """
    return (
        str(parameter.replace(name="p", default=MISSING)).partition(": ")[2].strip("'")
    )
