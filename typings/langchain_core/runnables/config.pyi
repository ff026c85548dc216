from typing import Any, TypedDict

class RunnableConfig(TypedDict, total=False):
    configurable: dict[str, Any]

def ensure_config(config: RunnableConfig | None = None) -> RunnableConfig: ...
