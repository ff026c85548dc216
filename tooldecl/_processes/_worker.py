"""
The worker: one process, one call at a time, on its main thread.

Invariants:

1. What goes to the host is JSON, and one answer per call; a copy of this process that a
   tool has forked answers nothing.
2. After the answer nothing more is said of that call: its context is sealed before.
3. The host keeps the clock. The worker only notes when a body ended.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import os
import resource
import signal
import socket
import sys
import threading

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn, final

from .._carriers import Carrier, restore
from .._clock import monotonic
from .._context import CallFacts, OnProgress, ToolContext, seal
from .._encode import encode
from .._errors import leaves
from .._isolation import Attempt, GeneratorTooLong, needs_loop, run_body
from .._isolation._body import arun_body
from .._isolation._hosts import new_loop, run_loop
from .._readonly import ReadOnlyDict, frozen_mapping
from .._texts import text_of
from ..exceptions import ToolError, UnencodableResultError
from ._loading import Loaded, carriers_in, import_all, load
from ._outcome import described, retold, shown
from ._system import address_space
from ._wire import (
    ANSWER,
    CALL,
    MAX_FRAME,
    PREPARE,
    PROGRESS,
    READY,
    FrameReader,
    frame,
    is_text,
)


@final
class _Facts(CallFacts):
    """
    What a worker knows of a call; the host's own object stays with the host.
    """

    def __init__(self, has_deps: bool, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._has_deps = has_deps

    @property
    def deps(self) -> Any:
        if self._has_deps:
            raise ToolError(
                "The deps of this call are an object of the host, and do not cross into "
                "the worker process that the tool runs in."
            )

        return None

    @deps.setter
    def deps(self, value: object) -> None:
        pass


@final
class _State(ReadOnlyDict[str, Any]):
    """
    The client's state; slots that have no JSON form are known by name alone.
    """

    lost: Mapping[str, str] = {}

    def __missing__(self, slot: str) -> NoReturn:
        if slot in self.lost:
            raise ToolError(
                f"The slot {slot!r} holds a {self.lost[slot]}, which has no JSON form and "
                "does not cross into the worker process that the tool runs in."
            )
        raise KeyError(slot)

    def get(self, slot: str, default: Any = None) -> Any:
        return self[slot] if slot in self or slot in self.lost else default


def serve(sock: socket.socket, memory_limit: int | None) -> None:
    """
    Answer the host until it is gone.
    """
    if memory_limit is not None:
        # Address space, not memory in use: what is mapped already is not the body's.
        limit = address_space() + memory_limit
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    _Worker(sock).serve()


@final
class _Worker:
    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._pid = os.getpid()
        self._sending = threading.Lock()
        self._tools: dict[int, Loaded] = {}
        self._carriers: dict[str, Carrier] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def serve(self) -> None:
        reader = FrameReader(self._sock)
        while True:
            try:
                kind, body = reader.read()
            except EOFError:
                return
            if kind == PREPARE:
                answer = self._prepare(body)
            elif kind == CALL:
                answer = self._answer(body)
            else:
                raise AssertionError("unreachable")
            self._send(answer)

    def _send(self, data: bytes) -> None:
        if os.getpid() != self._pid:  # a copy that a tool has made of this process
            os._exit(1)
        with self._sending:
            self._sock.sendall(data)

    def _prepare(self, body: bytes) -> bytes:
        """
        Import a tool; what goes wrong is told, and does not end the worker.
        """
        head, _, pickled = body.partition(b"\0")
        number, path, modules, found = json.loads(head)
        sys.path[:] = path
        try:
            import_all(modules)
            self._tools[number] = load(pickled)
            self._carriers |= carriers_in(found)
        except BaseException as error:  # importing runs an author's code
            return frame(READY, [type(error).__name__, text_of(error)[:1000]])
        finally:
            _flush()

        return frame(READY, None)

    def _answer(self, body: bytes) -> bytes:
        """
        Run a call.
        """
        head, _, text = body.partition(b"\0")
        request = json.loads(head)
        number = {"call": request["call"]}
        tool = self._tools[request["tool"]]
        arguments = json.loads(text)
        context = self._context(tool, request, arguments)
        try:
            values = tool.built.validate(text.decode(), arguments)
            attempt = Attempt(
                tool.built.call, values, context, contextvars.copy_context()
            )
            attempt.limit = request["limit"]
            if request["carried"]:
                attempt.variables.run(restore, self._carriers, request["carried"])
            self._run(attempt, tool)
            if attempt.error is not None:
                _make_room(attempt.error)
            answer = _told(tool, attempt, number)
        except BaseException as error:  # the outcome is a value, whatever it was
            _make_room(error)
            answer = frame(ANSWER, {**number, "failed": described(tool, error)})
        seal(context, cancelled=False)
        signal.setitimer(signal.ITIMER_REAL, 0)  # or it goes off in the next call
        _flush()
        if len(answer) > MAX_FRAME:
            answer = frame(ANSWER, {**number, "too_long": len(answer)})

        return answer

    def _run(self, attempt: Attempt, tool: Loaded) -> None:
        if not tool.meta.is_async:
            run_body(attempt)
            if attempt.error is not None or not needs_loop(attempt.value):
                return
            attempt.await_value()
        if self._loop is None:
            self._loop = new_loop()
            asyncio.set_event_loop(self._loop)
        loop = self._loop
        task = asyncio.Task(arun_body(attempt), loop=loop, context=attempt.variables)
        task.add_done_callback(lambda _: loop.stop())
        while not task.done():
            run_loop(loop)
        attempt.close()

    def _context(
        self, tool: Loaded, request: dict[str, Any], arguments: dict[str, Any]
    ) -> ToolContext:
        state, lost = request["state"]
        slots = _State(frozen_mapping(state))
        slots.lost = lost
        facts = _Facts(
            request["deps"],
            request["call_id"],
            slots,
            run_id=request["run_id"],
            position=request["position"],
        )
        facts.meta, facts.arguments = tool.meta, arguments
        facts.on_progress = self._progress(request["call"])
        previous = request["previous"]
        context = ToolContext(
            facts,
            attempt=request["attempt"],
            previous_error=None if previous is None else retold(previous),
        )
        if request["left"] is not None:
            context.deadline = monotonic() + request["left"]

        return context

    def _progress(self, call: int) -> OnProgress:
        def tell(_context: ToolContext, *said: object) -> None:
            try:
                data = frame(PROGRESS, {"call": call, "said": said})
            except (TypeError, ValueError):
                data = b""
            if not 0 < len(data) <= MAX_FRAME:
                told = {"call": call, "said": list(map(shown, said))}
                data = frame(PROGRESS, told)
            self._send(data)

        return tell


def _make_room(error: BaseException) -> None:
    """
    Lift the limit for telling of an error whose frames hold all the memory there is.
    """
    if any(isinstance(leaf, MemoryError) for leaf in leaves(error)):
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.setrlimit(resource.RLIMIT_AS, unlimited)


def _told(tool: Loaded, attempt: Attempt, number: Mapping[str, int]) -> bytes:
    """
    Return what became of a body.
    """
    name, error = tool.meta.name, attempt.error
    told = {**number, "ended": attempt.finished}
    if isinstance(error, GeneratorTooLong):
        return frame(ANSWER, {**told, "items": error.size})
    if error is not None:
        return frame(ANSWER, {**told, "failed": described(tool, error)})
    writes = seal(attempt.context, cancelled=False)
    try:
        content = encode(attempt.value, tool=name)
        written = {slot: _crossing(name, slot, x) for slot, x in writes.items()}
    except UnencodableResultError as fault:
        said = [fault.type_name, fault.reason]
        return frame(ANSWER, {**told, "unencodable": said})
    head = {**told, "text": is_text(attempt.value), "writes": written}

    return frame(ANSWER, head, content)


def _crossing(tool: str, slot: str, value: object) -> Any:
    """
    Return the JSON form of what was written to a slot.
    """
    try:
        text = encode(value, tool=tool)
    except UnencodableResultError as fault:
        reason = f"what it wrote to {slot!r} does not cross: {fault.reason}"
        raise UnencodableResultError(
            tool=tool, type_name=fault.type_name, reason=reason
        ) from None

    return text if is_text(value) else json.loads(text)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # a tool may have put anything there, or closed it
            stream.flush()
