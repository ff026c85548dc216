"""
Frames: whole, in pieces, and what is none.
"""

from __future__ import annotations

import socket

import pytest

from tooldecl._processes._wire import (
    ANSWER,
    CALL,
    HEADER,
    MAX_FRAME,
    PROGRESS,
    BrokenFrameError,
    FrameReader,
    frame,
    is_text,
    parts,
    raw_frame,
)


@pytest.fixture
def ends():
    """
    Have both ends of a socket.
    """
    ours, theirs = socket.socketpair()
    ours.settimeout(5)
    with ours, theirs:
        yield ours, theirs


@pytest.mark.parametrize(
    ("head", "text"),
    [
        ({"a": [1, None, "Ü"]}, None),
        ({}, ""),
        ([1], 'text with \x00 and "quotes" and Ü'),
        (None, "x" * 100_000),
    ],
)
def test_a_frame_comes_as_it_went(head, text, ends):
    """
    A text may hold anything, the byte that is between it and the head as well.
    """
    ours, theirs = ends
    data = frame(ANSWER, head, text)
    theirs.sendall(data[:60_000])
    reader = FrameReader(ours)
    reader.receive()
    theirs.sendall(data[60_000:])
    kind, body = reader.read()

    assert (ANSWER, (head, text or "")) == (kind, parts(body))


def test_frames_are_taken_one_by_one(ends):
    """
    Two that came in one read are two; half of the next one waits for its rest.
    """
    ours, theirs = ends
    third = frame(PROGRESS, 3)
    theirs.sendall(frame(CALL, 1) + frame(ANSWER, 2, "x") + third[:3])
    reader = FrameReader(ours)
    first, second = reader.read(), reader.read()
    whole = reader.has_all()
    theirs.sendall(third[3:])

    assert [(CALL, (1, "")), (ANSWER, (2, "x"))] == [
        (kind, parts(body)) for kind, body in (first, second)
    ]
    assert not whole
    assert (PROGRESS, b"3") == reader.read()


def test_a_frame_may_come_byte_by_byte(ends):
    """
    No border of a read is a border of a frame.
    """
    ours, theirs = ends
    reader = FrameReader(ours)
    for byte in frame(ANSWER, {"a": 1}, "b"):
        assert not reader.has_all()
        theirs.sendall(bytes([byte]))
        reader.receive()

    assert reader.has_all()
    assert ({"a": 1}, "b") == parts(reader.read()[1])


@pytest.mark.parametrize(
    "data",
    [
        HEADER.pack(0, 1),
        HEADER.pack(99, 1),
        HEADER.pack(ANSWER, MAX_FRAME + 1),
        b"Hello, I am no frame at all.",
    ],
)
def test_what_is_no_frame_is_refused(data, ends):
    """
    A wrong kind, or a length that would fill the memory, is not waited for.
    """
    ours, theirs = ends
    theirs.sendall(data)

    with pytest.raises(BrokenFrameError):
        FrameReader(ours).read()


@pytest.mark.parametrize("rest", [b"", frame(ANSWER, 1)[:-1]])
def test_an_end_in_the_middle_is_an_end(rest, ends):
    """
    Half a frame is none.
    """
    ours, theirs = ends
    theirs.sendall(rest)
    theirs.close()

    with pytest.raises(EOFError):
        FrameReader(ours).read()


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"1\x00\xff", b"[" * 100_000, b"NaN1"]
)
def test_a_body_that_is_not_ours_is_broken(body):
    """
    Whatever reading it raises, it is one kind of fault for the host.
    """
    with pytest.raises(BrokenFrameError):
        parts(body)


def test_a_raw_frame_holds_any_bytes(ends):
    """
    The tools of the host's own author go out as they are.
    """
    ours, theirs = ends
    theirs.sendall(raw_frame(CALL, b"\x00\xff\x00"))

    assert (CALL, b"\x00\xff\x00") == FrameReader(ours).read()


@pytest.mark.parametrize(
    ("value", "result"),
    [("a", True), ("", False), ('""', True), (1, False), (None, False)],
)
def test_no_text_at_all_goes_as_json(value, result):
    """
    The text of an empty text is two quotes, which a text may be as well.
    """
    assert result == is_text(value)
