"""
A fake provider that speaks as Anthropic's messages do.
"""

from __future__ import annotations

from typing import final

from ._script import Data, Saying, object_in, text_in, without_none


@final
class MessagesSpeaker:
    """
    Messages.
    """

    def whole(self, saying: Saying, /) -> Data:
        """
        Return the answer in one piece.
        """
        return {**_frame(saying), "content": _blocks(saying, is_stream=False)}

    def events(self, saying: Saying, /) -> list[Data]:
        """
        Return the answer as the events of a stream.
        """
        begun: Data = {**_frame(saying), "content": [], "stop_reason": None}
        events: list[Data] = [{"type": "message_start", "message": begun}]
        for index, block in enumerate(_blocks(saying, is_stream=True)):
            events += _block_events(saying, index, block)
        delta = {"stop_reason": _ending(saying), "stop_sequence": None}
        usage = {"output_tokens": 1}
        events.append({"type": "message_delta", "delta": delta, "usage": usage})

        return [*events, {"type": "message_stop"}]


def _frame(saying: Saying) -> Data:
    return {
        "id": f"msg_{saying.number}",
        "type": "message",
        "role": "assistant",
        "model": saying.model,
        "stop_reason": _ending(saying),
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _blocks(saying: Saying, *, is_stream: bool) -> list[Data]:
    blocks = [dict(item) for item in saying.reply.provider_items]
    if saying.turn.text:
        blocks.append({"type": "text", "text": saying.turn.text})
    for place, call in enumerate(saying.turn.calls):
        given = (text_in(call) or "") if is_stream else object_in(call)
        blocks.append(
            without_none(
                type="tool_use",
                id=saying.id_of(place, call, "toolu"),
                name=call.name,
                input=given,
            )
        )

    return blocks


def _block_events(saying: Saying, index: int, block: Data) -> list[Data]:
    """
    Return the events of a block, whose input and text come in pieces.
    """
    begun, deltas = dict(block), list[Data]()
    if isinstance(block.get("input"), str):
        begun["input"] = {}
        deltas = [
            {"type": "input_json_delta", "partial_json": piece}
            for piece in ["", *saying.pieces(block["input"])]
        ]
    if block["type"] in ("text", "thinking"):
        grown = {word: text for word, text in block.items() if word != "type"}
        begun.update(dict.fromkeys(grown, ""))
        deltas = [
            {"type": f"{word}_delta", word: piece}
            for word, text in grown.items()
            for piece in saying.pieces(text)
        ]

    return [
        {"type": "content_block_start", "index": index, "content_block": begun},
        *(
            {"type": "content_block_delta", "index": index, "delta": delta}
            for delta in deltas
        ),
        {"type": "content_block_stop", "index": index},
    ]


def _ending(saying: Saying) -> str:
    if saying.reply.ending is not None:
        return saying.reply.ending
    if saying.reply.refused:
        return "refusal"
    if saying.turn.truncated:
        return "max_tokens"

    return "tool_use" if saying.turn.calls else "end_turn"
