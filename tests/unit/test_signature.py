"""
What a callable promises: its parameters, their hints, the context, the colour.
"""

from __future__ import annotations

import asyncio
import functools
import textwrap
import types
import typing
import warnings

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
)
from typing import TYPE_CHECKING, Annotated, Any, Optional

import pytest

from pydantic import BaseModel, Field

import sample_declarations

from one_tool import entry_of, problems_of, properties_of, run, schema_of, values_of
from sample_declarations import Shop
from tooldecl import DeclarationError, ToolContext, ToolTable, meta_of, tool
from tooldecl.exceptions import UnsupportedSignatureError


if TYPE_CHECKING:
    from elsewhere import Gone


class MyContext(ToolContext):
    """
    A context of somebody's own.
    """

    __slots__ = ()


def described(function: Any, **options: Any) -> Any:
    """
    Declare a function without a docstring.
    """
    return tool(description="Do it.", **options)(function)


def refused(function: Any) -> UnsupportedSignatureError:
    """
    Return the error with which a function is refused, at declaration or at the build.
    """
    with pytest.raises(UnsupportedSignatureError) as caught:
        entry_of(described(function))

    return caught.value


def module_of(text: str, **names: Any) -> types.ModuleType:
    """
    Run *text* as a module of its own.
    """
    module = types.ModuleType("written")
    vars(module).update(tool=tool, **names)
    exec(compile(textwrap.dedent(text), "written.py", "exec"), vars(module))  # noqa: S102

    return module


class TestParameters:
    """
    Every parameter has a name and a type, or the function is refused.
    """

    def test_variadic_parameters_are_refused(self):
        """
        R88, R94: they would be published as arguments named args and kwargs.
        """

        def many(x: int, *args: int) -> None: ...

        def named(x: int, **kw: int) -> None: ...

        first, second = refused(many), refused(named)

        assert ("args", "kw") == (first.parameter, second.parameter)
        assert str(first).endswith(
            "many cannot be a tool: it takes *args, and a model can only be offered "
            "parameters with a name and a type. A decorator that wraps it in such a "
            "function has to use functools.wraps."
        )
        assert "it takes **kw, and" in str(second)

    def test_a_parameter_may_be_called_args(self):
        """
        R88: it is the stars that count, not the name.
        """

        @described
        def function(args: int, kwargs: int = 2) -> tuple[int, int]:
            return args, kwargs

        assert (1, 2) == run(function, {"args": 1})

    def test_a_parameter_without_a_type_is_refused(self):
        """
        R107: it would be published as a property without a type, also with a default.
        """

        def function(q: str, ctx=None) -> None: ...

        error = refused(function)

        assert "ctx" == error.parameter
        assert str(error).endswith(
            "function cannot be a tool: its parameter 'ctx' has no type. Annotate it, or "
            "fill it with functools.partial."
        )

    def test_positional_only_parameters_are_given_by_their_place(self):
        """
        R90: what is declared can be called.
        """

        @described
        def function(a: int, b: int = 5, c: int = 6, /, d: int = 7) -> list[int]:
            return [a, b, c, d]

        assert [1, 2, 6, 7] == run(function, {"a": 1, "b": 2})
        assert [1, 5, 3, 4] == run(function, {"a": 1, "c": 3, "d": 4})

    def test_a_partial_offers_what_it_has_not_filled(self):
        """
        R91: name, text and the remaining parameters are the function's, at any nesting.
        """

        def find(q: str, limit: int = 3, *, key: str) -> tuple[str, int, str]:
            """
            Find it.

            Args:
                q: What to find.
            """
            return q, limit, key

        inner = functools.partial(find, key="k")
        functools.update_wrapper(inner, find)
        found = tool(functools.partial(inner, limit=9))

        assert ("find", "Find it.") == (meta_of(found).name, meta_of(found).description)
        assert {"q": {"type": "string", "description": "What to find."}} == (
            properties_of(found)
        )
        assert ("x", 9, "k") == run(found, {"q": "x"})
        assert ["$.key"] == list(problems_of(found, {"q": "x", "key": "z"}))

    def test_a_partial_fills_by_place_too(self):
        """
        R91: the first parameters are gone, and those behind a named one go by name.
        """

        @described
        def three(a: int, b: int, c: int) -> list[int]:
            return [a, b, c]

        assert ["b", "c"] == list(properties_of(functools.partial(three, 1)))
        assert [1, 2, 3] == run(functools.partial(three, 1), {"b": 2, "c": 3})
        assert [1, 2, 3] == run(functools.partial(three, b=2), {"a": 1, "c": 3})
        assert [1, 2, 3] == run(functools.partial(three, 1, 2, 3), {})

    def test_what_a_partial_fills_needs_no_type(self):
        """
        R91: a connection or a client object is filled in, not annotated for a model.
        """

        def query(connection, text: str) -> str:
            """
            Query it.
            """
            return connection + text

        assert "db: x" == run(tool(functools.partial(query, "db: ")), {"text": "x"})

    def test_what_stands_behind_a_name_goes_by_its_name(self):
        """
        R91: a partial of a partial cannot fill by place what is behind a named one.
        """

        def three(a: int, b: int, c: int) -> None: ...

        inner = functools.update_wrapper(functools.partial(three, a=1), three)

        assert "gives it more arguments than it takes." in str(
            refused(functools.partial(inner, 5))
        )

    @pytest.mark.parametrize(
        ("partial", "reason"),
        [
            (functools.partial(lambda a: a, 1, 2), "more arguments than it takes"),
            (
                functools.partial(lambda a: a, b=1),
                "an argument 'b' that it does not take",
            ),
        ],
        ids=["by place", "by name"],
    )
    def test_a_partial_that_could_never_be_called_is_refused(self, partial, reason):
        """
        R90: never a late TypeError.
        """
        text = str(refused(partial))

        assert (
            f"<lambda> cannot be a tool: functools.partial gives it {reason}." == text
        )

    def test_a_callable_without_a_signature_is_refused(self):
        """
        Some builtins cannot be read; the remedy is a function around them.
        """
        assert (
            "iter cannot be a tool: it has no signature to read. Call it from a function "
            "of your own."
        ) == str(refused(iter))

    def test_wrappers_that_go_in_a_circle_are_refused(self):
        """
        A chain without an end must not hang the declaration.
        """

        def function() -> None: ...

        function.__wrapped__ = function

        assert (
            "The wrappers around a function go in a circle: it cannot be a tool."
            == (str(refused(function)))
        )

    def test_any_legal_name_of_a_parameter_works(self):
        """
        R92: nothing generated has names of its own that a parameter could meet.
        """

        @described
        def function(
            schema: int,
            json: int,
            copy: int,
            model_extra: int,
            model_config: int,
            model_fields_set: int,
            self_: int,
            self: int,
            cls: int,
            validate: int,
            values: int,
            function: int,
            context: int,
            _private: int = 0,
            type: int = 0,  # noqa: A002
            default: int = 0,
            properties: int = 0,
            title: int = 0,
        ) -> dict[str, int]:
            return dict(locals())

        names = list(properties_of(function))
        sent = {name: place for place, name in enumerate(names)}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert sent == run(function, sent)

    def test_an_alias_is_published_and_taken_and_the_name_is_not(self):
        """
        R93: one name on the wire, the other in Python, mapped both ways.
        """

        @described
        def function(
            x: Annotated[int, Field(alias="externalX")], y: int = 2
        ) -> list[int]:
            return [x, y]

        assert ["externalX", "y"] == list(properties_of(function))
        assert ["externalX"] == schema_of(function)["required"]
        assert [1, 2] == run(function, {"externalX": 1})
        assert {
            "$.externalX": "is missing, and it is required.",
            "$.x": "is unknown. Accepted: 'externalX', 'y'.",
        } == problems_of(function, {"x": 1})

    def test_names_that_are_not_published_are_refused_at_the_build(self):
        """
        R93: several aliases of one parameter, or one of two, cannot all be shown.
        """
        from pydantic import AliasChoices

        def several(
            x: Annotated[int, Field(validation_alias=AliasChoices("a", "b"))],
        ): ...

        def same(
            x: Annotated[int, Field(alias="a")], y: Annotated[int, Field(alias="a")]
        ) -> None: ...

        reason = "each parameter is published under one name of its own: one alias."

        assert "x" == refused(several).parameter
        assert str(refused(several)).endswith(reason)
        assert str(refused(same)).endswith(
            "same cannot be a tool: its parameters together cannot be offered to a model, "
            f"because {reason}"
        )


class TestHints:
    """
    Hints are read however they are written, wherever their names are.
    """

    def test_postponed_and_evaluated_hints_give_one_schema(self):
        """
        R95: the future import must not lose descriptions or limits.
        """
        text = """
            from typing import Annotated, Literal, Optional
            from pydantic import Field

            @tool
            def find(
                q: Annotated[str, Field(description="What.", min_length=2)],
                mode: Optional[Literal["a", "b"]] = None,
                limits: "list[Annotated[int, Field(ge=1)]]" = [],
            ) -> "list[str]":
                '''Find it.'''
            """
        plain = module_of(text)
        postponed = module_of(
            "from __future__ import annotations\n" + textwrap.dedent(text)
        )

        assert schema_of(plain.find) == schema_of(postponed.find)
        assert {"type": "string", "description": "What.", "minLength": 2} == (
            properties_of(plain.find)["q"]
        )

    def test_types_around_the_declaration_are_found(self):
        """
        R96: of the enclosing function, of the class body, and of both at once.
        """

        class Local(BaseModel):
            z: int

        class Holder:
            class Inner(BaseModel):
                q: int

            @tool
            def both(self, x: Local, y: Inner) -> int:
                """
                Add them.
                """
                return x.z + y.q

        assert 3 == run(Holder().both, {"x": {"z": 1}, "y": {"q": 2}})

    def test_a_decorator_around_the_decorator_does_not_hide_types(self):
        """
        R96: names are looked for where the function is defined, not where it is
        declared.
        """

        class Local(BaseModel):
            z: int

        def ours(function):
            return tool(timeout=5)(function)

        @ours
        def function(x: Local) -> int:
            """
            Return it.
            """
            return x.z

        assert 1 == run(function, {"x": {"z": 1}})

    def test_a_type_that_comes_later_in_the_module_is_found_at_the_build(self):
        """
        R96: the order of definitions in a module is free.
        """

        @described
        def function(x: Later, y: list[Later]) -> int:
            return x.a + y[0].a

        assert 3 == run(function, {"x": {"a": 1}, "y": [{"a": 2}]})

    def test_what_was_missing_may_come_after_a_build_that_failed(self):
        """
        A build is tried again by whoever imports the rest first.
        """
        module = module_of(
            """
            from __future__ import annotations

            @tool
            def function(x: Soon) -> int:
                '''Do it.'''
                return x + 1
            """
        )

        with pytest.raises(DeclarationError):
            ToolTable.assemble([module.function])
        module.Soon = int
        assert 2 == run(module.function, {"x": 1})

    def test_a_hint_that_cannot_be_read_says_all_about_it(self):
        """
        R96: function, parameter, the hint's text and the reason; the function itself
        still works.
        """

        @described
        def function(x: list[Gone]) -> int:
            return 1

        assert 1 == function([])
        error = refused_at_build(function)
        assert "x" == error.parameter
        assert str(error).endswith(
            "function cannot be a tool: the hint 'list[Gone]' of its parameter 'x' cannot "
            "be read, because the name 'Gone' is not defined. Import it outside of "
            "TYPE_CHECKING and define it before the client is built."
        )

    def test_a_name_inside_of_a_hint_that_was_evaluated_is_looked_for_too(self):
        """
        R96: without the future import only the inner name is text.
        """

        def function(x) -> None: ...

        function.__annotations__["x"] = list["Later"]
        assert {"x": [Later(a=1)]} == values_of(described(function), {"x": [{"a": 1}]})
        function.__annotations__["x"] = list["Gone"]
        assert "because the name 'Gone' is not defined" in str(refused(function))

    def test_an_attribute_that_is_not_there_yet_is_reported_at_the_build(self):
        """
        R96: modules that import each other fill up late.
        """

        @described
        def function(x: textwrap.Nothing) -> None: ...  # type: ignore[name-defined]

        assert "module 'textwrap' has no attribute 'Nothing'" in str(
            refused_at_build(function)
        )

    @pytest.mark.parametrize(
        ("hint", "reason"),
        [
            ("list[", "it is not Python"),
            ("int[str]", "TypeError: type 'int' is not subscriptable"),
            ("1 / 0", "ZeroDivisionError: division by zero"),
        ],
    )
    def test_a_hint_that_never_will_be_readable_is_refused_at_once(self, hint, reason):
        """
        R96: waiting for the build would not help.
        """

        def function(x) -> None:
            """
            Do it.
            """

        function.__annotations__["x"] = hint
        with pytest.raises(UnsupportedSignatureError) as caught:
            tool(function)

        assert str(caught.value).endswith(
            f"the hint {hint!r} of its parameter 'x' cannot be read, because {reason}."
        )

    def test_a_return_hint_stops_nothing(self):
        """
        R97: nobody needs it to call the tool.
        """

        @described
        def function(x: int) -> Gone[str]:
            return x

        assert 1 == run(function, {"x": 1})

    def test_a_type_parameter_of_the_function_is_found(self):
        """
        On Python 3.12 and later, a generic function has its type variables to itself.
        """

        def function(x):
            """
            Do it.
            """
            return x

        variable = typing.TypeVar("variable", bound=int)
        function.__annotations__["x"] = "variable"
        function.__type_params__ = (variable,)

        assert 1 == run(tool(function), {"x": 1})


class Later(BaseModel):
    """
    A model that is defined after the tool that takes it.
    """

    a: int


def refused_at_build(function: Any) -> UnsupportedSignatureError:
    """
    Return the error with which a tool that was declared is refused.
    """
    with pytest.raises(UnsupportedSignatureError) as caught:
        entry_of(function)

    return caught.value


class TestContext:
    """
    The context is filled in, never offered.
    """

    @pytest.mark.parametrize(
        "hint",
        [
            ToolContext,
            "ToolContext",
            "'ToolContext'",
            ToolContext | None,
            Optional[ToolContext],  # noqa: UP045 (a spelling that people use)
            "Union[None, ToolContext]",
            Annotated[ToolContext, "ours"],
            Annotated[ToolContext | None, "ours"],
            MyContext,
            "MyContext | None",
            "missing.ToolContext",
            "'missing.ToolContext'",
            "missing.ToolContext | None",
            "missing.Optional[missing.ToolContext]",
            "missing.Union[missing.ToolContext, None]",
            "missing.Annotated[missing.ToolContext, 1, 'x']",
        ],
        ids=str,
    )
    def test_it_is_known_in_every_spelling(self, hint):
        """
        R106, R98: by its type, or by its name where it is imported for checkers only.
        """

        def function(x: int, ctx) -> object:
            """
            Do it.
            """
            return ctx

        function.__annotations__["ctx"] = hint
        function = tool(function)

        assert ["x"] == list(properties_of(function))
        assert "here" == run(function, {"x": 1}, context="here")
        assert {"$.ctx": "is unknown. Accepted: 'x'."} == (
            problems_of(function, {"x": 1, "ctx": {}})
        )

    def test_an_alias_of_the_type_is_known(self):
        """
        R106: so is a name given to it with TypeAliasType.
        """
        from typing_extensions import TypeAliasType

        alias = TypeAliasType("alias", ToolContext)

        @described
        def function(ctx: alias) -> object:
            return ctx

        assert "here" == run(function, {}, context="here")

    def test_it_is_filled_in_wherever_it_stands(self):
        """
        R106: first, last, by place only, by name only, with a default, twice.
        """

        @described
        def function(
            a: ToolContext, x: int, /, b: ToolContext | None = None, *, c: ToolContext
        ) -> list[object]:
            return [a, x, b, c]

        assert ["c", 1, "c", "c"] == run(function, {"x": 1}, context="c")

    @pytest.mark.parametrize(
        "hint",
        ["missing.Context", "missing.ToolContext | missing.Other", "f()", "list["],
    )
    def test_another_name_is_not_taken_for_it(self, hint):
        """
        R106: guessing further would fill in what was meant to be asked for.
        """

        def function(ctx) -> None: ...

        function.__annotations__["ctx"] = hint
        refused(function)

    def test_what_a_partial_fills_is_not_filled_in(self):
        """
        The author's own value wins.
        """

        @described
        def function(x: int, ctx: ToolContext) -> object:
            return ctx

        assert "mine" == run(functools.partial(function, ctx="mine"), {"x": 1})


class _Sync:
    """
    Add one.
    """

    def __call__(self, x: int) -> int:
        return x + 1


class _Async:
    """
    Not this text.
    """

    async def __call__(self, x: int) -> int:
        """
        Add two.
        """
        return x + 2


class _Custom(Awaitable[int]):
    pass


async def _items(x: int) -> AsyncIterator[int]:
    yield x


def _task(x: int) -> asyncio.Task[int]: ...


def _future(x: int) -> asyncio.Future[int]: ...


def _coroutine(x: int) -> Coroutine[Any, Any, int]: ...


def _awaitable(x: int) -> Annotated[Awaitable[int], "soon"]: ...


def _custom(x: int) -> _Custom: ...


def _stream(x: int) -> AsyncIterator[int]: ...


def _unread(x: int) -> Gone.Awaitable[int]: ...


def _values(x: int) -> Iterator[int]: ...


def _perhaps(x: int) -> int | Awaitable[int]: ...


def _unknown(x: int) -> Gone: ...


class TestColour:
    """
    Sync or async, as far as a declaration can tell.
    """

    def test_objects_with_call_are_tools(self):
        """
        R150: the name is the class's; the text and hints are those of the call method.
        """
        sync, later = tool(_Sync()), tool(_Async())

        assert (False, True) == (meta_of(sync).is_async, meta_of(later).is_async)
        assert ("_Sync", "Add one.") == (meta_of(sync).name, meta_of(sync).description)
        assert ("_Async", "Add two.") == (
            meta_of(later).name,
            meta_of(later).description,
        )
        assert {"x": {"type": "integer"}} == properties_of(sync) == properties_of(later)
        assert 2 == run(sync, {"x": 1})
        assert 3 == asyncio.run(run(later, {"x": 1}))

    def test_a_dataclass_does_not_describe_its_objects(self):
        """
        R103: the docstring that a dataclass makes up says nothing about a tool.
        """

        def call(self, x: int) -> int:
            return x

        import dataclasses

        made = dataclasses.make_dataclass("Made", ["a"], namespace={"__call__": call})
        with pytest.raises(DeclarationError, match="it has no description"):
            tool(made(1))

    def test_partials_are_looked_through(self):
        """
        R151: on every Python, however deep, also over a tool and over an object.
        """
        inner = functools.partial(sample_declarations.fetch)
        deep = functools.partial(functools.partial(_Async()))

        assert meta_of(tool(name="a")(functools.partial(inner))).is_async
        assert meta_of(inner).is_async
        assert meta_of(tool(deep)).is_async
        assert meta_of(functools.partial(tool(_Async()))).is_async
        assert 3 == asyncio.run(run(tool(deep), {"x": 1}))

    @pytest.mark.parametrize(
        ("function", "expected"),
        [
            (_items, True),
            (_task, True),
            (_future, True),
            (_coroutine, True),
            (_awaitable, True),
            (_custom, True),
            (_stream, True),
            (_unread, True),
            (_values, False),
            (_perhaps, False),
            (_unknown, False),
            (Shop.later, True),
            (Shop.count, False),
        ],
        ids=lambda value: getattr(value, "__name__", str(value)),
    )
    def test_the_return_hint_tells_too(self, function: Callable[..., Any], expected):
        """
        R154: a plain function may return something to be awaited, and say so.
        """
        if "Shop" not in function.__qualname__:
            function = described(function)

        assert expected is meta_of(function).is_async

    def test_a_wrapper_decides_for_itself(self):
        """
        R141: what runs is the wrapper, whatever is inside.
        """

        def blocking(function):
            @functools.wraps(function)
            def blocked(*args, **kwargs):
                return asyncio.run(function(*args, **kwargs))

            return blocked

        def waiting(function):
            @functools.wraps(function)
            async def waited(*args, **kwargs):
                return function(*args, **kwargs)

            return waited

        sync = blocking(sample_declarations.fetch)
        later = waiting(sample_declarations.add)

        assert (False, True) == (meta_of(sync).is_async, meta_of(later).is_async)
        assert "u" == run(sync, {"url": "u"})
        assert 3 == asyncio.run(run(later, {"x": 1}))
        assert {"x": 1} == values_of(later, {"x": 1})
