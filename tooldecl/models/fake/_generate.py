"""
A fake provider that speaks as Gemini's generated content does.
"""

from __future__ import annotations

from typing import final

from ._script import Data, Saying, object_in, without_none


@final
class GenerateSpeaker:
    """
    Generated content; calls have an id only where the script gives one.
    """

    def whole(self, saying: Saying, /) -> Data:
        """
        Return the answer in one piece.
        """
        text = saying.turn.text
        said: list[Data] = [{"text": text}] if text else []

        return _chunk(saying, [*_before(saying), *said, *_calls(saying)], last=True)

    def events(self, saying: Saying, /) -> list[Data]:
        """
        Return the answer as the events of a stream: text in pieces, calls whole.
        """
        said: list[Data] = [
            {"text": piece} for piece in saying.pieces(saying.turn.text)
        ]
        parts = [*_before(saying), *said, *_calls(saying)]
        chunks = [_chunk(saying, [part], last=False) for part in parts]

        return [*chunks, _chunk(saying, [], last=True)]


def _before(saying: Saying) -> list[Data]:
    return [dict(item) for item in saying.reply.provider_items]


def _calls(saying: Saying) -> list[Data]:
    return [
        {"functionCall": without_none(id=call.id, name=call.name, args=object_in(call))}
        for call in saying.turn.calls
    ]


def _chunk(saying: Saying, parts: list[Data], *, last: bool) -> Data:
    content = without_none(role="model", parts=parts or None)
    reason = _ending(saying) if last else None
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}

    return {
        "candidates": [without_none(content=content, finishReason=reason, index=0)],
        "usageMetadata": usage,
        "modelVersion": saying.model,
        "responseId": f"resp_{saying.number}",
    }


def _ending(saying: Saying) -> str:
    if saying.reply.ending is not None:
        return saying.reply.ending
    if saying.reply.refused:
        return "SAFETY"

    return "MAX_TOKENS" if saying.turn.truncated else "STOP"
