"""
A fake provider that speaks as OpenAI's chat completions do.
"""

from __future__ import annotations

from typing import final

from ._script import Data, Saying, text_in, without_none


@final
class ChatSpeaker:
    """
    Chat completions.
    """

    def whole(self, saying: Saying, /) -> Data:
        """
        Return the answer in one piece.
        """
        said = "refusal" if saying.reply.refused else "content"
        message: Data = {
            "role": "assistant",
            "content": None,
            said: saying.turn.text or None,
        }
        calls = _calls(saying)
        if calls:
            message["tool_calls"] = calls

        return {
            **_frame(saying, "chat.completion"),
            "choices": [
                {"index": 0, "finish_reason": _ending(saying), "message": message}
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    def events(self, saying: Saying, /) -> list[Data]:
        """
        Return the answer as the events of a stream.
        """
        said = "refusal" if saying.reply.refused else "content"
        deltas: list[Data] = [{"role": "assistant", "content": ""}]
        deltas += [{said: piece} for piece in saying.pieces(saying.turn.text)]
        for index, call in enumerate(_calls(saying)):
            begun: Data = {"index": index, **call}
            text = ""
            if "function" in call:
                text = call["function"].get("arguments") or ""
                begun["function"] = {"name": call["function"]["name"]}
            deltas.append({"tool_calls": [begun]})
            deltas += [
                {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
                for piece in saying.pieces(text)
            ]
        chunks = [_chunk(saying, delta, None) for delta in deltas]
        chunks.append(_chunk(saying, {}, _ending(saying)))

        return chunks


def _frame(saying: Saying, kind: str) -> Data:
    return {
        "id": f"chatcmpl-{saying.number}",
        "object": kind,
        "created": 1,
        "model": saying.model,
    }


def _chunk(saying: Saying, delta: Data, ending: str | None) -> Data:
    choice = {"index": 0, "delta": delta, "finish_reason": ending}

    return {**_frame(saying, "chat.completion.chunk"), "choices": [choice]}


def _calls(saying: Saying) -> list[Data]:
    ours = [
        without_none(
            id=saying.id_of(place, call, "call"),
            type="function",
            function=without_none(name=call.name, arguments=text_in(call)),
        )
        for place, call in enumerate(saying.turn.calls)
    ]

    return [*(dict(item) for item in saying.reply.provider_items), *ours]


def _ending(saying: Saying) -> str:
    if saying.reply.ending is not None:
        return saying.reply.ending
    if saying.turn.truncated:
        return "length"

    return "tool_calls" if saying.turn.calls else "stop"
