"""
Layers around a call, written as generator functions.

::

    def add_one(request):
        changed = {**request.arguments, "x": request.arguments["x"] + 1}
        result = yield request.replace(arguments=changed)
        return result
"""

from __future__ import annotations

from ._chain import Filter


__all__ = ["Filter"]
