"""
The decorator leaves a function what it is, and notes what was declared.
"""

from __future__ import annotations

import abc
import asyncio
import contextlib
import copy
import functools
import gc
import importlib
import inspect
import pickle
import sys
import typing
import weakref

from typing import Any

import pytest
import wrapt

import sample_declarations

from one_tool import entry_of, run, schema_of, values_of
from sample_declarations import Shop, add, add_five, fetch
from tooldecl import DeclarationError, ToolContext, ToolTable, meta_of, prefixed, tool
from tooldecl._decl import BoundTool, Tool
from tooldecl._declared import Carrier


def refused(declare) -> str:
    """
    Return the text with which a declaration is refused.
    """
    with pytest.raises(DeclarationError) as caught:
        declare()

    return str(caught.value)


class TestTheFunctionStays:
    """
    Calling, looking at and copying a declared function.
    """

    def test_a_direct_call_is_the_functions_own(self):
        """
        R138, DEC-07: the same call, the same result and the same exception, with no
        limit around it.
        """

        @tool(timeout=0.001, retry=3)
        def divide(x: int, y: int = 2) -> float:
            """
            Divide.
            """
            return x / y

        assert 2.0 == divide(4)
        assert 4.0 == divide(x=4, y=1)
        with pytest.raises(ZeroDivisionError):
            divide(1, 0)
        with pytest.raises(TypeError, match="missing 1 required positional argument"):
            divide()

    def test_a_call_reaches_the_function_directly(self):
        """
        Nothing of ours stands in the way of a direct call or in its traceback.
        """

        @tool
        def caller() -> str:
            """
            Name the caller.
            """
            return sys._getframe(1).f_code.co_name

        assert "test_a_call_reaches_the_function_directly" == caller()

    def test_an_async_function_stays_one(self):
        """
        Frameworks ask before they call, on every Python.
        """
        assert inspect.iscoroutinefunction(fetch)
        assert inspect.iscoroutinefunction(Shop(1).later)
        assert "u" == asyncio.run(fetch("u"))

    def test_it_looks_like_the_function(self):
        """
        Editors, documentation and `help` read these.
        """
        assert "add" == add.__name__
        assert "add" == add.__qualname__
        assert "sample_declarations" == add.__module__
        assert "Add two integers." == inspect.getdoc(add)
        assert "(x: 'int', y: 'int' = 2) -> 'int'" == str(inspect.signature(add))
        assert {"x": int, "y": int, "return": int} == typing.get_type_hints(add)
        assert inspect.isfunction(add)
        assert "Count the stock." == inspect.getdoc(Shop(1).count)

    @pytest.mark.parametrize("cls", [Tool, BoundTool, Carrier])
    def test_no_proxy_class_has_annotations(self, cls):
        """
        An annotation in the body of a proxy class would become that of every tool.
        """
        assert "__annotations__" not in vars(cls)

    def test_it_says_that_it_is_a_tool(self):
        """
        The record's name is what matters when a list of tools is looked at.
        """
        assert "<tool fetch_page>" == repr(fetch) == str(fetch)
        assert "<tool count of Shop(stock=1)>" == repr(Shop(1).count)
        assert "<decorator tooldecl.tool>" == repr(tool)

    def test_it_pickles_by_reference(self):
        """
        R36: a tool of a module goes to a worker by its name and is the same there.
        """
        assert add is pickle.loads(pickle.dumps(add))
        assert 5 == pickle.loads(pickle.dumps(Shop(4).count))(1)
        assert 8 == pickle.loads(pickle.dumps(Shop.double))(4)
        assert "Shop" == pickle.loads(pickle.dumps(Shop.named))(1)

    def test_what_has_no_name_of_a_module_says_so_when_pickled(self):
        """
        R36: such a tool cannot be sent, and the error is not about proxies.
        """
        with pytest.raises(pickle.PicklingError) as caught:
            pickle.dumps(add_five)

        assert (
            "Tool 'add_five' is not a function of a module: it cannot be found again by "
            "its name."
        ) == str(caught.value)

    def test_it_copies_to_itself(self):
        """
        A deep copy of an object that holds a tool holds the same tool.
        """
        bound = Shop(1).count

        assert add is copy.copy(add)
        assert add is copy.deepcopy([add])[0]
        assert bound is copy.copy(bound)
        assert bound is copy.deepcopy({"t": bound})["t"]
        assert add is weakref.ref(add)()

    def test_two_tools_of_one_function_are_two(self):
        """
        A proxy would be equal to the function; then one would hide the other in a dict.
        """

        def function() -> None:
            """
            Do nothing.
            """

        first, second = tool(name="first")(function), tool(name="second")(function)

        assert 3 == len({first, second, function})
        assert first != second
        assert not first == second  # noqa: SIM201 (both operators are the proxy's own)
        assert first == first  # noqa: PLR0124
        assert not first != first  # noqa: PLR0124, SIM202

    def test_a_bound_tool_is_equal_to_itself_taken_again(self):
        """
        Like a bound method: equal where tool and instance are.
        """
        shop = Shop(1)

        assert shop.count == shop.count
        assert not shop.count != shop.count  # noqa: SIM202
        assert shop.count != Shop(2).count
        assert shop.count != Shop.count

        class Plain:
            @tool
            def method(self) -> None:
                """
                Do nothing.
                """

        plain = Plain()
        assert 1 == len({plain.method, plain.method})
        assert 2 == len({plain.method, Plain().method})

    def test_attributes_stay_on_the_tool(self):
        """
        Decorators above may note something, as pytest does; the function below does not
        change, and neither does another tool of it.
        """

        def function() -> None:
            """
            Do nothing.
            """

        first, second = tool(name="first")(function), tool(name="second")(function)
        first.note = 1

        assert 1 == first.note
        assert not hasattr(second, "note")
        assert not hasattr(function, "note")

    @pytest.mark.parametrize("name", ["timeout", "name", "meta", "retry"])
    def test_what_was_declared_cannot_be_set(self, name):
        """
        R48: setting an option on the tool would be accepted and then ignored.
        """
        with pytest.raises(AttributeError) as caught:
            setattr(add, name, 5)

        assert (
            f"{name} is part of what was declared and cannot be changed: declare it with "
            "@tool."
        ) == str(caught.value)

    def test_a_bound_tool_takes_no_attributes(self):
        """
        It is made anew each time it is taken, so they would be lost.
        """
        with pytest.raises(AttributeError, match="takes no attribute 'note'"):
            Shop(1).count.note = 1

    def test_pytest_takes_no_tool_for_a_test(self):
        """
        A tool may be called test_connection.
        """
        assert False is Tool.__test__ is BoundTool.__test__

    def test_a_frame_is_not_kept(self):
        """
        What the function around a declaration held must be free to go.
        """

        class Big:
            pass

        def declare() -> tuple[Any, weakref.ref[Big]]:
            big = Big()

            @tool
            def small(x: int) -> int:
                """
                Return it.
                """
                return x

            return small, weakref.ref(big)

        small, big = declare()
        gc.collect()

        assert 1 == small(1)
        assert big() is None


class TestOtherDecorators:
    """
    What is wrapped around a tool, and what a tool is wrapped around.
    """

    def test_a_wrapper_above_keeps_the_declaration_and_runs(self):
        """
        R141: never half lost: the record holds and the wrapper is what is called.
        """
        calls = []

        def counting(function):
            @functools.wraps(function)
            def counted(*args, **kwargs):
                calls.append(kwargs)
                return function(*args, **kwargs)

            return counted

        @counting
        @tool(timeout=5)
        def double(x: int) -> int:
            """
            Double.
            """
            return 2 * x

        assert 5.0 == meta_of(double).timeout == entry_of(double).meta.timeout
        assert 6 == run(double, {"x": 3})
        assert [{"x": 3}] == calls

    def test_a_wrapper_above_a_method_is_bound_too(self):
        """
        R141, R89: the chain from the bound method to the declaration is followed.
        """

        def shouting(function):
            @functools.wraps(function)
            def shouted(*args, **kwargs):
                return function(*args, **kwargs).upper()

            return shouted

        class Greeter:
            name = "ann"

            @shouting
            @tool
            def greet(self, word: str) -> str:
                """
                Greet.
                """
                return f"{word} {self.name}"

        assert "HI ANN" == run(Greeter().greet, {"word": "hi"})
        assert "is a method that is not bound" in refused(
            lambda: entry_of(Greeter.greet)
        )

    def test_wrapt_decorators_stack_in_any_order(self):
        """
        Above, the proxy is what runs; below, the tool is a proxy of the proxy.
        """

        @wrapt.decorator
        def twice(wrapped, _instance, args, kwargs):
            return wrapped(*args, **kwargs) * 2

        @twice
        @tool
        def above(x: int) -> int:
            """
            Return it.
            """
            return x

        @tool
        @twice
        def below(x: int) -> int:
            """
            Return it.
            """
            return x

        class Holder:
            factor = 3

            @twice
            @tool
            def above(self, x: int) -> int:
                """
                Multiply.
                """
                return x * self.factor

            @tool
            @twice
            def below(self, x: int) -> int:
                """
                Multiply.
                """
                return x * self.factor

        assert (2, 2) == (run(above, {"x": 1}), run(below, {"x": 1}))
        assert (6, 6) == (
            run(Holder().above, {"x": 1}),
            run(Holder().below, {"x": 1}),
        )
        assert meta_of(above).name == "above"

    def test_a_wrapper_that_says_what_it_takes_is_believed(self):
        """
        A decorator that changes the parameters and says so is well behaved.
        """

        def like_this(y: str) -> None: ...

        @wrapt.decorator(adapter=like_this)
        def adapted(wrapped, _instance, args, kwargs):
            return wrapped(int(kwargs["y"]))

        def renaming(function):
            @functools.wraps(function)
            def renamed(y):
                return function(int(y))

            renamed.__signature__ = inspect.signature(like_this)
            return renamed

        def square(x: int) -> int:
            """
            Square.
            """
            return x * x

        assert 9 == run(tool(adapted(square)), {"y": "3"})
        assert 9 == run(adapted(tool(square)), {"y": "3"})
        assert 9 == run(tool(renaming(square)), {"y": "3"})
        assert 9 == run(renaming(tool(square)), {"y": "3"})

    def test_a_cache_above_and_below(self):
        """
        A cache keeps its own methods where it is outermost, and under a tool.
        """
        bodies = []

        @functools.lru_cache
        @tool
        def above(x: int) -> int:
            """
            Return it.
            """
            bodies.append(x)
            return x

        @tool
        @functools.cache
        def below(x: int) -> int:
            """
            Return it.
            """
            bodies.append(x)
            return x

        for cached in (above, below):
            assert [1, 1] == [run(cached, {"x": 1}) for _ in range(2)]
            cached.cache_clear()
        assert [1, 1] == bodies

    def test_a_context_manager_below(self):
        """
        What the decorated generator gives is the context manager.
        """

        @tool
        @contextlib.contextmanager
        def opened(name: str):
            """
            Open it.
            """
            yield name

        with run(opened, {"name": "a"}) as inside:
            assert "a" == inside

    def test_a_wrapper_without_wraps_is_refused_with_the_remedy(self):
        """
        R88: its parameters are the wrapper's, not the function's.
        """

        def hiding(function):
            def hidden(*args, **kwargs):
                return function(*args, **kwargs)

            return hidden

        text = refused(lambda: tool(name="f")(hiding(add)))

        assert text.endswith(
            "hiding.<locals>.hidden cannot be a tool: it takes *args, and a model can "
            "only be offered parameters with a name and a type. A decorator that wraps "
            "it in such a function has to use functools.wraps."
        )

    def test_a_copied_dict_does_not_make_a_tool(self):
        """
        functools.wraps over an undecorated function that wraps nothing of ours.
        """

        @functools.wraps(len)
        def length(x: str) -> int:
            return len(x)

        assert "is not a tool. Decorate it with @tool." in refused(
            lambda: meta_of(length)
        )

    def test_an_override_without_the_decorator_is_no_tool(self):
        """
        A subclass that replaces the method has not declared anything.
        """

        class Special(Shop):
            def count(self, extra: int = 0) -> int:
                return super().count(extra) * 10

        assert 10 == Special(1).count()
        assert "is not a tool" in refused(lambda: meta_of(Special(1).count))

    def test_abstract_methods_stay_abstract(self):
        """
        The two decorators are used together in either order.
        """

        class Base(abc.ABC):
            @tool
            @abc.abstractmethod
            def first(self) -> int:
                """
                Be first.
                """

            @abc.abstractmethod
            @tool
            def second(self) -> int:
                """
                Be second.
                """

        assert {"first", "second"} == Base.__abstractmethods__


class TestMethods:
    """
    Tools of instances and classes.
    """

    def test_each_instance_has_its_own(self):
        """
        R89: bound per instance, with self neither shown nor sent.
        """
        small, large = Shop(1), Shop(10)

        assert ["extra"] == list(
            entry_of(small.count).definition.input_schema["properties"]
        )
        assert (3, 12) == (
            run(small.count, {"extra": 2}),
            run(large.count, {"extra": 2}),
        )
        assert meta_of(small.count) is meta_of(large.count)
        assert (
            entry_of(small.count).definition.input_schema
            is entry_of(large.count).definition.input_schema
        )

    @pytest.mark.parametrize("holder", [Shop, Shop(1)], ids=["class", "instance"])
    @pytest.mark.parametrize(
        ("name", "expected"),
        [("double", 4), ("triple", 6), ("named", "ShopShop"), ("called", "ShopShop")],
    )
    def test_static_and_class_methods_in_both_orders(self, holder, name, expected):
        """
        R89: the order of the two decorators is a matter of taste.
        """
        method = getattr(holder, name)

        assert ["x"] == list(entry_of(method).definition.input_schema["properties"])
        assert expected == run(method, {"x": 2})
        assert name == meta_of(method).name

    @pytest.mark.parametrize(
        "method",
        [Shop.count, vars(Shop)["count"], vars(Shop)["named"]],
        ids=["of the class", "as it is defined", "class method"],
    )
    def test_a_method_that_is_not_bound_is_refused(self, method):
        """
        R89: self would be asked of the model.
        """
        name = meta_of(method).name

        assert (
            f"sample_declarations.Shop.{name} is a method that is not bound. List it "
            f"from an instance, as in instance.{name}."
        ) == refused(lambda: entry_of(method))

    def test_a_typed_self_is_not_offered_either(self):
        """
        R89: an annotation on self does not make it an argument.
        """

        class Holder:
            @tool
            def get(self: Holder, x: int) -> int:
                """
                Get it.
                """
                return x

        assert 1 == run(Holder().get, {"x": 1})
        assert "is a method that is not bound" in refused(lambda: entry_of(Holder.get))

    def test_a_partial_method_is_a_tool_with_less_to_give(self):
        """
        R91: filling in an argument in a class body works as it does elsewhere.
        """

        class Holder:
            @tool
            def get(self, x: int, y: int) -> int:
                """
                Get it.
                """
                return x + y

            get_five = functools.partialmethod(get, y=5)

        assert {"x"} == set(values_of(Holder().get_five, {"x": 1}))
        assert 6 == run(Holder().get_five, {"x": 1})


class Library:
    """
    Methods that are no tools yet.
    """

    def search(self, q: str) -> str:
        """
        Search.
        """
        return f"found {q}"

    async def fetch(self, q: str) -> str:
        """
        Fetch.
        """
        return q

    @classmethod
    def open(cls, q: str) -> str:
        """
        Open.
        """
        return f"{cls.__name__} {q}"

    def untyped(self, q):
        """
        Do it.
        """


class Lending:
    """
    A tool over the bound method of another object, held by a class.
    """

    search = tool(Library().search)


class TestBoundBefore:
    """
    Methods that were bound before they became tools.
    """

    @pytest.mark.parametrize(
        "entry",
        [
            tool(Library().search),
            tool(Library().fetch),
            tool(Library.open),
            tool(timeout=5)(Library().search),
            prefixed("p", [tool(Library().search)])[0],
            Lending().search,
        ],
        ids=["method", "async", "class", "options", "prefixed", "held"],
    )
    def test_no_parameter_is_lost(self, entry):
        """
        Binding has filled the first one already; the next one is an argument.
        """
        assert ["q"] == list(schema_of(entry)["properties"])
        assert {"q": "x"} == values_of(entry, {"q": "x"})

    def test_the_body_runs_as_it_was_bound(self):
        """
        The tool calls the method of the very object that it was taken from.
        """
        assert "found x" == run(tool(Library().search), {"q": "x"})
        assert "Library x" == run(tool(Library.open), {"q": "x"})
        assert "found x" == run(Lending().search, {"q": "x"})

    def test_its_first_parameter_needs_a_type(self):
        """
        Nothing will fill it any more, so it is not excused.
        """
        assert "its parameter 'q' has no type" in refused(
            lambda: tool(Library().untyped)
        )


class TestDeclaring:
    """
    The two forms of the decorator, and what they refuse.
    """

    def test_both_forms_declare(self):
        """
        TAB-07: bare and called, with and without options.
        """

        def function() -> None:
            """
            Do nothing.
            """

        metas = [meta_of(tool(function)), meta_of(tool()(function))]

        assert metas[0] == metas[1]
        assert ("function", "Do nothing.") == (metas[0].name, metas[0].description)
        assert "other" == meta_of(tool(name="other")(function)).name

    def test_the_record_says_where_the_function_is(self):
        """
        R46: clashes are told apart by these.
        """
        meta = meta_of(add)
        line = add.__wrapped__.__code__.co_firstlineno

        assert "sample_declarations:add" == meta.ref
        assert f"sample_declarations.py:{line}" == meta.site

    def test_the_options_are_in_the_record(self):
        """
        TAB-01, DEC-05: what was declared is answered from the record.
        """

        @tool(timeout=0.3, retry=True, serial=True, return_direct=True)
        def function() -> None:
            """
            Do nothing.
            """

        meta = meta_of(function)

        assert (0.3, 3, True, True) == (
            meta.timeout,
            meta.retry.attempts if meta.retry else None,
            meta.serial,
            meta.return_direct,
        )

    def test_an_unknown_option_is_pythons_own_error(self):
        """
        A misspelt option must be noticed at import.
        """
        with pytest.raises(TypeError, match="'timeuot'") as caught:
            tool(timeuot=5)

        assert not isinstance(caught.value, DeclarationError)

    def test_a_bad_value_names_the_function(self):
        """
        VAL-01: the value is checked where the function is known.
        """

        def function() -> None:
            """
            Do nothing.
            """

        text = refused(lambda: tool(timeout="5s")(function))

        assert text.startswith("@tool on ")
        assert text.endswith(
            "test_a_bad_value_names_the_function.<locals>.function: timeout takes "
            "seconds above 0, got '5s'."
        )

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (Shop, "@tool takes a function, got the class sample_declarations.Shop."),
            (3, "@tool takes a function, got int: options go by their names."),
            ("name", "@tool takes a function, got str: options go by their names."),
            (
                property(lambda _: 1),
                "@tool takes a function, got property: options go by their names.",
            ),
            (add, "sample_declarations.add is a tool already: declare it once."),
            (
                Shop(1).count,
                "sample_declarations.Shop.count is a tool already: declare it once.",
            ),
            (
                functools.lru_cache(add),
                "sample_declarations.add is a tool already: declare it once.",
            ),
        ],
        ids=str,
    )
    def test_what_is_no_function_is_refused(self, given, expected):
        """
        Each mistake has its own sentence.
        """
        assert expected == refused(lambda: tool(given))

    def test_options_and_function_do_not_go_together(self):
        """
        The second positional would be taken for a name by half of the readers.
        """
        expected = "@tool takes either a function, or options by their names."

        assert expected == refused(lambda: tool(len, "length"))
        assert expected == refused(lambda: tool(len, name="length"))

    def test_a_tool_with_arguments_filled_in_may_be_declared_anew(self):
        """
        R91: two partials of one tool need two names.
        """
        five = tool(name="five", timeout=1)(functools.partial(add, 5))

        assert ("five", 1.0) == (meta_of(five).name, meta_of(five).timeout)
        assert 6 == run(five, {"y": 1})

    def test_a_lambda_needs_a_name(self):
        """
        R52: "<lambda>" is no name on the wire.
        """
        text = refused(lambda: tool(description="Nothing.")(lambda: None))

        assert "name takes 1 to 64 letters" in text
        assert text.endswith("got '<lambda>'.")
        assert meta_of(tool(name="x", description="Nothing.")(lambda: None)).name == "x"

    @pytest.mark.parametrize("doc", [None, "", "  \n ", "Args:\n    x: a number"])
    def test_a_description_is_needed(self, doc):
        """
        R103: nothing, blanks and parameter sections alone describe nothing; neither does
        an f-string, which is no docstring.
        """

        def function(x: int) -> int:
            f"Not a docstring {1}"  # noqa: B021
            return x

        function.__doc__ = doc or function.__doc__
        text = refused(lambda: tool(function))

        assert text.endswith(
            "function cannot be a tool: it has no description. Give it a docstring (an "
            "f-string is none) or @tool(description=...)."
        )
        assert meta_of(tool(description="Do it.")(function)).description == "Do it."

    def test_the_parameter_section_does_not_count_as_description(self):
        """
        R104: 300 characters of text and 2,000 about parameters are fine; 2,000 of text
        are not.
        """

        def short(x: int) -> int:
            return x

        def long(x: int) -> int:
            return x

        short.__doc__ = f"{'a' * 300}\n\nArgs:\n    x: {'b' * 2000}"
        long.__doc__ = "a" * 2000

        assert "a" * 300 == meta_of(tool(short)).description
        assert "long: the description has 2000 characters" in refused(
            lambda: tool(long)
        )

    def test_declaring_registers_nothing(self):
        """
        R142, R143: a module can be loaded again, and the older client goes on.
        """
        names = dict(vars(sample_declarations))  # others hold on to what is in it now
        before = sample_declarations.add
        old = ToolTable.assemble([before])
        again = importlib.reload(sample_declarations)
        try:
            new = ToolTable.assemble([again.add])
            assert before is not again.add
            assert old.entry("add").declared.function is before
            assert new.entry("add").declared.function is again.add
        finally:
            vars(sample_declarations).update(names)

    def test_the_context_is_seen(self):
        """
        DEC-08: whether a body asks for the context is known from its declaration.
        """

        @tool
        def asking(ctx: ToolContext) -> object:
            """
            Give the context back.
            """
            return ctx

        assert "here" == run(asking, {}, context="here")

    def test_an_unknown_option_is_told_of_the_decorator(self):
        """
        The record behind the decorator is nothing that its user has written.
        """
        options: Any = {"timeot": 5}
        with pytest.raises(TypeError) as caught:
            tool(**options)

        text = "tool() got an unexpected keyword argument 'timeot'"
        assert str(caught.value).startswith(text)
        assert "ToolOptions" not in str(caught.value)
