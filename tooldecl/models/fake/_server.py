"""
The server of a fake provider: real HTTP on the loopback interface, and nothing else.
"""

from __future__ import annotations

import json
import socket
import threading

from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self, final
from urllib.parse import unquote, urlsplit

from ... import Turn
from ._chat import ChatSpeaker
from ._generate import GenerateSpeaker
from ._messages import MessagesSpeaker
from ._responses import ResponsesSpeaker
from ._script import (
    Data,
    FakeReply,
    FakeRequest,
    NotSayableError,
    Saying,
    Speaker,
    checked,
)
from ._strict import fault_in


_SPEAKERS: dict[str, Speaker] = {
    "/chat/completions": ChatSpeaker(),
    "/responses": ResponsesSpeaker(),
    "/messages": MessagesSpeaker(),
    ":generateContent": GenerateSpeaker(),
    ":streamGenerateContent": GenerateSpeaker(),
}


@final
class FakeLLM:
    """
    A provider with a script, on a port of this machine: the SDKs speak to it as they do
    to OpenAI (chat completions and responses), Anthropic and Gemini, whole or streamed.

    Use it as a context manager. Each request gets the next entry of the script; when the
    script is over, requests are refused with the status 400.

    Args:
        script: Turns in order; a `FakeReply` is a turn and what happens on the way; a number
            is an HTTP status that the request fails with.
        piece: How many characters each piece of a stream has; it may be set anew.
        ids: Give an id to calls that have none in the script. Gemini gives none.
        strict: Refuse, with the status 400, conversations that the providers would
            refuse, for names, ids or arguments, or for calls without an answer, say.

    Attributes:
        url: Where it is, for ``base_url``.
        requests: Every request it got, in order.

    Raises:
        TypeError: An entry of the script, or an option, is another kind of thing.
        ValueError: *piece* is below 1.
    """

    def __init__(
        self,
        script: Iterable[Turn | FakeReply | int],
        *,
        piece: int = 7,
        ids: bool = True,
        strict: bool = True,
    ) -> None:
        _check_options(piece, ids=ids, strict=strict)
        self._script = [checked(entry) for entry in script]
        self.piece = piece
        self._ids = ids
        self._strict = strict
        self._lock = threading.Lock()
        self.requests: list[FakeRequest] = []
        self._server = _Server(self)
        self._thread: threading.Thread | None = None
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.01},
            name="tooldecl-fake-llm",
            daemon=True,
        )
        self._thread.start()

        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
        self._server.hang_up()
        self._server.server_close()

    def __repr__(self) -> str:
        return f"<FakeLLM at {self.url}, asked {len(self.requests)} times>"

    def _next(self, request: FakeRequest) -> tuple[int, FakeReply | int | None]:
        """
        Note a request; return its number and what the script has for it.
        """
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)

        return number, dict(enumerate(self._script, 1)).get(number)

    def _fault_in(self, word: str, body: Data) -> str | None:
        return fault_in(word, body) if self._strict else None

    def _saying(self, number: int, reply: FakeReply, model: str) -> Saying:
        return Saying(
            reply=reply,
            number=number,
            model=model,
            piece=self.piece,
            makes_ids=self._ids,
        )


def _check_options(piece: object, **flags: object) -> None:
    if isinstance(piece, bool) or not isinstance(piece, int):
        raise TypeError(f"piece takes a whole number of characters, got {piece!r}.")
    if piece < 1:
        raise ValueError(f"piece takes 1 or more characters, got {piece!r}.")
    for option, given in flags.items():
        if not isinstance(given, bool):
            raise TypeError(f"{option} takes True or False, got {given!r}.")


class _Server(ThreadingHTTPServer):
    """
    Serves each connection in a thread of its own, and ends with all of them.
    """

    daemon_threads = False  # so that closing waits for them
    request_queue_size = 64

    def __init__(self, llm: FakeLLM) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.llm = llm
        self.is_closing = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()

    def met(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)

    def left(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)

    def hang_up(self) -> None:
        """
        End the connections that clients keep open for their next request.
        """
        self.is_closing.set()
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:  # the client was faster
                    pass

    def handle_error(self, request: object, client_address: object) -> None:
        """
        Say nothing of a client that went away in the middle of an answer.
        """


class _Handler(BaseHTTPRequestHandler):
    """
    Answers one request after the other of one connection.
    """

    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self._house.met(self.connection)

    def finish(self) -> None:
        self._house.left(self.connection)
        super().finish()

    @property
    def _house(self) -> _Server:
        if not isinstance(self.server, _Server):
            raise AssertionError("unreachable")

        return self.server

    def log_message(self, *args: object, **kwargs: object) -> None:
        """
        Print nothing.
        """

    def do_POST(self) -> None:
        """
        Answer with the next entry of the script.
        """
        length = int(self.headers.get("content-length") or 0)
        body: Data = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = FakeRequest(path=self.path, headers=headers, body=body)
        number, entry = self._house.llm._next(request)
        path = unquote(urlsplit(self.path).path)
        word = next((end for end in _SPEAKERS if path.endswith(end)), None)
        if word is None:
            self._refuse(404, f"No wire is spoken at {path}.")
        elif fault := self._house.llm._fault_in(word, body):
            self._refuse(400, fault)
        elif entry is None:
            count = number - 1
            self._refuse(400, f"The script is over after {count} requests.")
        elif isinstance(entry, int):
            self._refuse(entry, f"The script says {entry}.")
        else:
            model = body.get("model") or path.rpartition("/")[2].partition(":")[0]
            saying = self._house.llm._saying(number, entry, model)
            is_stream = body.get("stream") or word == ":streamGenerateContent"
            self._answer(word, saying, is_stream=bool(is_stream))

    def _answer(self, word: str, saying: Saying, *, is_stream: bool) -> None:
        speaker = _SPEAKERS[word]
        try:
            events = speaker.events(saying) if is_stream else []
            whole = {} if is_stream else speaker.whole(saying)
        except NotSayableError as error:
            self._refuse(400, str(error))
            return
        if is_stream:
            self._stream(word, events, saying.reply)
        else:
            self._send(200, whole, saying.reply)

    def _refuse(self, status: int, text: str) -> None:
        error = {
            "type": "fake_error",
            "code": status,
            "status": "FAKE",
            "message": text,
        }
        self._send(status, {"type": "error", "error": error})

    def _send(self, status: int, answer: Data, reply: FakeReply | None = None) -> None:
        sent = json.dumps(answer).encode()
        if reply is not None:
            self._wait(reply)
        cut_after = None if reply is None else reply.cut_after
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.send_header("retry-after-ms", "1")  # a retry need not be waited for
        self.end_headers()
        self.wfile.write(sent[:cut_after])
        self.close_connection = cut_after is not None

    def _wait(self, reply: FakeReply) -> None:
        """
        Hold the end of an answer back, at the longest until the server ends.
        """
        while reply.until is not None and not self._house.is_closing.is_set():
            if reply.until.wait(0.02):
                return

    def _stream(self, word: str, events: list[Data], reply: FakeReply) -> None:
        named = word in ("/responses", "/messages")
        lines = [
            (f"event: {event['type']}\n" if named else "")
            + f"data: {json.dumps(event)}\n\n"
            for event in events
        ]
        if word == "/chat/completions":
            lines.append("data: [DONE]\n\n")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        last = len(lines) - 1
        for place, line in enumerate(lines[: reply.cut_after]):
            if place == last:
                self._wait(reply)
            sent = line.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(sent), sent))
        if reply.cut_after is None or reply.silently:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True
