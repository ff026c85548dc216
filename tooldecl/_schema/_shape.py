"""
From the hints of a tool's parameters to the schema that is shown and the check of it.

One schema serves both: what it offers, the check lets through. The parameters become
the keyword-only parameters of a stand-in function, which the validator reads, so that
whatever may be a name in Python may be the name of a parameter.
"""

from __future__ import annotations

import types

from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Annotated, Any, TypeAlias, final, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from .._jsonschema import Problem, Schema, close_named, settle, walk
from .._meta import ToolMeta
from .._readonly import frozen_mapping
from .._sentinels import UNSET, Unset
from .._signature import MISSING, Promise, ToolParameter, result_of, spelled
from ..exceptions import InvalidArgumentsError, UnsupportedSignatureError
from ._choices import has_loose_choices, loose_choices
from ._published import as_data, drop_titles, drop_useless_defaults, plain_text
from ._publisher import ONE_NAME, NotOfferedError, Omitted, Publisher
from ._translate import translate


Node: TypeAlias = dict[str, Any]


@final
class Shape:
    """
    What the parameters of one function look like to a model, and how they are checked.

    Attributes:
        schema: JSON Schema of the arguments, closed at every depth, read-only.
    """

    __slots__ = ("_loose", "_optional", "_output", "_returned", "_validate", "schema")

    def __init__(self, promise: Promise) -> None:
        offered = [p for p in promise.parameters() if not p.injected]
        adapter, schema, nodes = _read(promise.label, offered)
        self.schema = frozen_mapping(schema)
        self._returned = promise.returns()
        self._output: Schema | None | Unset = UNSET
        self._validate = adapter.validator.validate_json
        self._optional = any(p.default is not MISSING for p in offered)
        self._loose = has_loose_choices(nodes)

    def output(self) -> Schema | None:
        """
        Return the JSON Schema of what is returned, an object, or None.

        Few formats show it, so it is made when it is first asked for.
        """
        if self._output is UNSET:
            self._output = _output_of(self._returned)

        return self._output

    def values(self, text: str, data: dict[str, Any], meta: ToolMeta) -> dict[str, Any]:
        """
        Return the arguments as instances of the declared types, by parameter.

        Args:
            text: The arguments as JSON text.
            data: The same, parsed.
            meta: Whose arguments they are.

        Raises:
            InvalidArgumentsError: They do not fit.
        """
        cause: Exception | None = None
        try:
            values: dict[str, Any] = self._validate(text, strict=True, extra="forbid")
            problems = self._loose_in(data, meta) if self._loose else []
            if not problems:
                return _given(values) if self._optional else values
        except ValidationError as error:
            problems = translate(
                error.errors(include_url=False),
                data=data,
                schema=self.schema,
                sensitive=meta.sensitive,
            )
            if self._loose:
                found = [*problems, *self._loose_in(data, meta)]
                problems = list(dict.fromkeys(found))
        except MemoryError:
            raise
        # A check that a tool's author declared may raise anything.
        except Exception as exc:
            cause = None if meta.sensitive else exc
            text = (
                f"cannot be checked: a check of the tool raised {type(exc).__name__}."
            )
            problems = [("$", text)]

        # Raised here, so that the values in a validator's error are not kept by ours.
        raise InvalidArgumentsError(tool=meta.name, problems=problems) from cause

    def _loose_in(self, data: dict[str, Any], meta: ToolMeta) -> list[Problem]:
        findings = loose_choices(self.schema, data)

        return settle(findings, schema=self.schema, data=data, sensitive=meta.sensitive)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in values.items() if type(v) is not Omitted}


def _read(
    label: str, offered: Sequence[ToolParameter]
) -> tuple[TypeAdapter[Any], Node, list[Node]]:
    """
    Make the validator, the schema and all schemas in that; name the parameter that makes
    it impossible.
    """
    # Reading a user's types runs their code, which may raise anything.
    try:
        return _adapt(label, offered)
    except Exception as exc:
        fault = exc
    culprit = None
    for parameter in offered:
        try:
            _adapt(label, [parameter])
        except Exception as exc:
            culprit, fault = parameter, exc
            break
    what = "its parameters together"
    if culprit:
        what = (
            f"the hint {spelled(culprit.written)!r} of its parameter {culprit.name!r}"
        )

    raise UnsupportedSignatureError(
        f"{label} cannot be a tool: {what} cannot be offered to a model, because "
        f"{_reason(fault)}.",
        tool=label,
        parameter=culprit.name if culprit else None,
    ) from fault


def _adapt(
    label: str, offered: Sequence[ToolParameter]
) -> tuple[TypeAdapter[Any], Node, list[Node]]:
    adapter: TypeAdapter[Any] = TypeAdapter(_stand_in(label, offered))
    written = Publisher().generate(adapter.core_schema, mode="validation")
    schema = as_data(written)
    published = schema["properties"]
    if len(published) != len(offered):
        raise NotOfferedError(ONE_NAME)
    nodes: list[Node] = []
    for node in walk(schema):  # what is closed here is not looked into any further
        close_named(node)
        node.pop("title", None)
        nodes.append(node)
    drop_useless_defaults(schema, nodes)
    for parameter, node in zip(offered, published.values(), strict=True):
        text = _text_in(parameter.hint) or parameter.text
        if text and "description" not in node:
            node["description"] = plain_text(text)

    return adapter, schema, nodes


def _stand_in(label: str, offered: Sequence[ToolParameter]) -> Any:
    def stand_in(**values: Any) -> dict[str, Any]:
        return values

    parameters = [
        Parameter(
            p.name, Parameter.KEYWORD_ONLY, annotation=p.hint, default=_default_of(p)
        )
        for p in offered
    ]
    function: Any = stand_in
    function.__name__ = function.__qualname__ = label.rpartition(".")[2]
    function.__signature__ = Signature(parameters)
    function.__annotations__ = {p.name: p.annotation for p in parameters}

    return function


def _default_of(parameter: ToolParameter) -> object:
    """
    Keep a default away from the validator, which would copy or replace it.
    """
    default = parameter.default
    if default is MISSING or isinstance(default, FieldInfo):
        return default
    checked = any(
        isinstance(x, FieldInfo) and x.validate_default
        for x in _notes_on(parameter.hint)
    )

    return default if checked else Omitted(default)


def _notes_on(hint: object) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _text_in(hint: object) -> str:
    """
    Return a plain text in ``Annotated``, which many take for the description.
    """
    return next((note for note in _notes_on(hint) if isinstance(note, str)), "")


def _reason(fault: Exception) -> str:
    match fault:
        case NotOfferedError():
            return str(fault)
        case NameError():
            return (
                f"the name {fault.name!r} in it is not defined; what refers to itself "
                "has to be made with TypeAliasType"
            )
        case PydanticUserError(code="typed-dict-version"):
            return "before Python 3.12, TypedDict has to come from typing_extensions"
        case PydanticUserError(code="class-not-fully-defined"):
            return "a class in it has hints that cannot be read"
        case UnicodeEncodeError():
            return "a text in it holds a lone surrogate, which cannot be sent"
        case _ if "regex parse error" in str(fault):
            return (
                "the check cannot read a pattern in it: its regular expressions have no "
                "look-around and no backreferences"
            )
        case _:
            return "it has no JSON form that can be described"


def _output_of(hint: Any) -> Schema | None:
    """
    Describe what is returned, as an object; what is none goes under ``result``.
    """
    hint = result_of(hint)
    if hint in (MISSING, None, types.NoneType, Any, object):
        return None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        written = Publisher().generate(adapter.core_schema, mode="serialization")
        schema = as_data(written)
    # No tool is refused for what it returns.
    except Exception:
        return None
    drop_titles(schema)
    if not schema:
        return None
    if schema.get("type") != "object":
        shared = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
        members = {"result": schema}
        schema = {"type": "object", "properties": members, "required": ["result"]}
        schema |= shared

    return frozen_mapping(schema)


def check_returned(promise: Promise, text: str) -> None:
    """
    Check a result, as JSON text, against what the function says that it returns.

    Raises:
        ValueError: It does not fit.
    """
    hint = result_of(promise.returns())
    if hint in (MISSING, Any, object):
        return
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
    except Exception:  # no tool is refused for what it returns
        return
    try:
        adapter.validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = "".join(f"[{step!r}]" for step in first["loc"])
        raise ValueError(
            f"the result does not fit what the tool returns: {first['msg']} at ${path}"
        ) from None
