"""
A headless Chromium, spoken to by its own protocol over two pipes, with nothing else.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

from collections import Counter
from pathlib import Path
from typing import Any

from ordering import HANGS_AFTER


FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]

# The browser reads what it is told from 3, and answers to 4.
LAUNCHER = """
import fcntl, os, sys
given = [fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3]]
os.dup2(given[0], 3)
os.dup2(given[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""

# How long a browser on a busy machine may take for one answer.
PATIENCE = 4 * HANGS_AFTER


class Browser:
    """
    One page of a browser with an empty profile of its own.

    Attributes:
        events: What it has told, in order: pairs of a method and its parameters.
    """

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="browser-")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        self._out, self._in = ours_out, ours_in
        self._pending = b""
        self._ids = itertools.count(1)
        self._session: str | None = None
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", LAUNCHER, str(theirs_in), str(theirs_out)),
                *(program, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"),
            ],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        """
        End the browser and forget its profile.
        """
        self._session = None
        try:
            self.ask("Browser.close")
            self._process.wait(HANGS_AFTER)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._in)
            os.close(self._out)
            shutil.rmtree(self._profile, ignore_errors=True)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """
        Tell the browser to do something, and return what it answers.
        """
        number = next(self._ids)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append((answer["method"], answer["params"]))

    def wait_for(self, method: str) -> dict[str, Any]:
        """
        Wait until the browser tells of something.
        """
        while True:
            answer = self._next()
            self.events.append((answer["method"], answer["params"]))
            if answer["method"] == method:
                return answer["params"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            if not select.select([self._in], [], [], PATIENCE)[0]:
                raise AssertionError("The browser says nothing.")
            piece = os.read(self._in, 1 << 16)
            if not piece:
                raise AssertionError("The browser has ended.")
            self._pending += piece
        message, _, self._pending = self._pending.partition(b"\0")

        return json.loads(message)

    def open(self, path: Path, *, dark: bool = False, width: int = 1200) -> None:
        """
        Show a file.
        """
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.events.clear()
        self.ask("Page.navigate", url=path.as_uri())
        self.wait_for("Page.loadEventFired")

    def value(self, expression: str) -> Any:
        """
        Return the value of an expression in the page; a promise is awaited.
        """
        answer = self.ask(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])

        return answer["result"].get("value")

    def press(self, key: str, *, shift: bool = False) -> None:
        """
        Press a key, as a keyboard does.
        """
        code = {"Tab": 9, "Enter": 13, " ": 32}[key]
        facts: dict[str, Any] = {
            "key": key,
            "code": {" ": "Space"}.get(key, key),
            "windowsVirtualKeyCode": code,
            "modifiers": 8 if shift else 0,
        }
        text = {"Enter": "\r", " ": " "}.get(key)
        typed = {"text": text} if text else {}
        kind = "keyDown" if text else "rawKeyDown"
        self.ask("Input.dispatchKeyEvent", type=kind, **facts, **typed)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **facts)

    def screenshot(self) -> bytes:
        """
        Return what is to be seen, at a third of its size, as a PNG.
        """
        width = self.value("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": 900, "scale": 1 / 3}

        return base64.b64decode(self.ask("Page.captureScreenshot", clip=clip)["data"])

    @property
    def complaints(self) -> list[str]:
        """
        What the page has told a developer: errors, warnings, what a policy has refused.
        """
        told = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}

        return [json.dumps(facts) for method, facts in self.events if method in told]

    @property
    def requests(self) -> list[str]:
        """
        The addresses that were asked for.
        """
        return [
            facts["request"]["url"]
            for method, facts in self.events
            if method == "Network.requestWillBeSent"
        ]


def colours(png: bytes) -> Counter[tuple[int, int, int]]:
    """
    Count the colours of a PNG of eight bits a channel, as browsers write it.
    """
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    size = {2: 3, 6: 4}[kind]
    if depth != 8:
        raise AssertionError(f"{depth} bits")
    data, at = b"", 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    raw, row = zlib.decompress(data), width * size
    above = bytearray(row)
    counted: Counter[tuple[int, int, int]] = Counter()
    for y in range(height):
        start = y * (row + 1)
        line = bytearray(raw[start + 1 : start + 1 + row])
        _unfilter(raw[start], line, above, size)
        pixels = zip(*(line[channel::size] for channel in range(3)), strict=True)
        counted.update(pixels)
        above = line

    return counted


def _unfilter(kind: int, line: bytearray, above: bytearray, size: int) -> None:
    for x in range(len(line)):
        left = line[x - size] if x >= size else 0
        corner = above[x - size] if x >= size else 0
        up = above[x]
        if kind == 1:
            line[x] = (line[x] + left) & 255
        elif kind == 2:
            line[x] = (line[x] + up) & 255
        elif kind == 3:
            line[x] = (line[x] + (left + up) // 2) & 255
        elif kind == 4:
            estimate = left + up - corner
            near = min((left, up, corner), key=lambda value: abs(estimate - value))
            line[x] = (line[x] + near) & 255
