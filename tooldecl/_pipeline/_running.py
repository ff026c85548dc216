"""
Run one call from its gate to its answer, in both colours.
"""

from __future__ import annotations

from .._calls import ToolResult
from .._offload import away
from .._runtime import Incoming, Runtime
from ._adriver import AsyncDriver
from ._call import Call
from ._driver import Driver


__all__ = ["arun_call", "run_call"]


def run_call(runtime: Runtime, incoming: Incoming) -> ToolResult:
    """
    Run one call on this thread.
    """
    call = Call(runtime, incoming)
    try:
        admitted = call.enter()
        if admitted is not None:
            flow = None
            if not call.way.is_straight:
                flow = call.flow(admitted)
            elif (attempt := call.start(admitted)) is not None:
                runtime.terminal.invoke(attempt)
                if not call.end(attempt):
                    flow = call.go_on(admitted, attempt)
            if flow is not None:
                variables, signal = call.surroundings(), incoming.signal
                driver = Driver(runtime, incoming, variables, signal=signal)
                driver.drive(flow)
            if call.is_to_keep():
                call.keep()
    except BaseException as error:
        call.escape(error)
        raise

    return call.finish()


async def arun_call(runtime: Runtime, incoming: Incoming) -> ToolResult:
    """
    Run one call on the running loop.
    """
    call = Call(runtime, incoming)
    try:
        admitted = call.enter()
        if admitted is not None:
            flow = None
            if not call.way.is_straight:
                flow = call.flow(admitted)
            elif (attempt := call.start(admitted)) is not None:
                await runtime.terminal.ainvoke(attempt)
                if not call.end(attempt):
                    flow = call.go_on(admitted, attempt)
            if flow is not None:
                driver = AsyncDriver(runtime, incoming, call.surroundings())
                await driver.adrive(flow)
            if call.is_to_keep():
                await away(call.keep)
    except BaseException as error:
        call.escape(error)
        raise

    return call.finish()
