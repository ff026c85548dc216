from typing import Any, Generic, TypeVar

_T = TypeVar("_T")

class ActorHandle(Generic[_T]):
    def __getattr__(self, name: str) -> Any: ...
