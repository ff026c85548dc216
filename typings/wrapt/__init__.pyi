# The few names of wrapt that tooldecl._decl uses, written against wrapt 2.5.2.
# wrapt's own stubs give every proxy `__getattr__ -> Any` and all operators, which hides
# misspellings; this stub stands in for them while tooldecl itself is checked, and is
# not shipped. `nox -s stubs` compares it with the installed package.

from collections.abc import Callable
from typing import Any

class _Proxy:
    __name__: str
    __qualname__: str
    @property
    def __wrapped__(self) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __self_setattr__(self, name: str, value: Any) -> None: ...

class BoundFunctionWrapper(_Proxy):
    _self_binding: str
    _self_instance: Any
    _self_owner: Any
    _self_parent: Any

class FunctionWrapper(_Proxy):
    def __init__(
        self,
        wrapped: Callable[..., Any],
        wrapper: Callable[..., Any] | None,
        enabled: bool | None = None,
    ) -> None: ...
