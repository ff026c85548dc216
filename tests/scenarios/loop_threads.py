"""
The threads of clients' loops.
"""

from __future__ import annotations

import threading

from tooldecl import ToolClient, tool


@tool
async def where() -> str:
    """
    Name the thread it runs on.
    """
    return threading.current_thread().name


def loop_threads() -> list[threading.Thread]:
    """
    List the threads of clients' loops.
    """
    return [t for t in threading.enumerate() if t.name.startswith("tooldecl-loop-")]


def thread_of(client: ToolClient) -> threading.Thread:
    """
    Return the thread of a client's loop.
    """
    name = client.invoke("where").unwrap()
    [thread] = [thread for thread in loop_threads() if thread.name == name]

    return thread
