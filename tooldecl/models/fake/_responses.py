"""
A fake provider that speaks as OpenAI's responses do.
"""

from __future__ import annotations

from typing import final

from ._script import Data, Saying, text_in, without_none


@final
class ResponsesSpeaker:
    """
    Responses.
    """

    def whole(self, saying: Saying, /) -> Data:
        """
        Return the answer in one piece.
        """
        items = [*(dict(item) for item in saying.reply.provider_items)]
        if saying.turn.text or not saying.turn.calls:
            items.append(_message(saying))

        return _response(saying, items + _calls(saying))

    def events(self, saying: Saying, /) -> list[Data]:
        """
        Return the answer as the events of a stream.
        """
        response = self.whole(saying)
        begun: Data = {**response, "status": "in_progress", "output": []}
        events: list[Data] = [{"type": "response.created", "response": begun}]
        for index, item in enumerate(response["output"]):
            events += _item_events(saying, index, item)
        events.append({"type": f"response.{response['status']}", "response": response})

        return [{**event, "sequence_number": n} for n, event in enumerate(events)]


def _response(saying: Saying, items: list[Data]) -> Data:
    status = "incomplete" if saying.turn.truncated else "completed"
    reason = "max_output_tokens" if saying.turn.truncated else None
    ending, error = saying.reply.ending, None
    if ending == "failed":
        status, error = "failed", {"code": "server_error", "message": "It broke."}
    elif ending is not None:
        status, reason = "incomplete", ending

    return {
        "id": f"resp_{saying.number}",
        "object": "response",
        "created_at": 1,
        "model": saying.model,
        "status": status,
        "error": error,
        "incomplete_details": reason and {"reason": reason},
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _message(saying: Saying) -> Data:
    text = saying.turn.text
    part: Data = {"type": "output_text", "text": text, "annotations": []}
    if saying.reply.refused:
        part = {"type": "refusal", "refusal": text}

    return {
        "type": "message",
        "id": f"msg_{saying.number}",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def _calls(saying: Saying) -> list[Data]:
    return [
        without_none(
            type="function_call",
            id=f"fc_{saying.number}_{place}",
            call_id=saying.id_of(place, call, "call"),
            name=call.name,
            arguments=text_in(call),
            status="incomplete" if saying.turn.truncated else "completed",
        )
        for place, call in enumerate(saying.turn.calls)
    ]


def _item_events(saying: Saying, index: int, item: Data) -> list[Data]:
    at = {"output_index": index, "item_id": item.get("id", f"item_{index}")}
    begun: Data = {**item, "status": "in_progress"}
    inside: list[Data] = []
    if item["type"] == "function_call":
        begun["arguments"] = ""
        inside = _argument_events(saying, at, item)
    elif item["type"] == "message" and item["id"] == f"msg_{saying.number}":
        begun["content"] = []
        inside = _text_events(saying, {**at, "content_index": 0}, item["content"][0])
    place = {"output_index": index}

    return [
        {"type": "response.output_item.added", **place, "item": begun},
        *inside,
        {"type": "response.output_item.done", **place, "item": item},
    ]


def _argument_events(saying: Saying, at: Data, item: Data) -> list[Data]:
    kind = "response.function_call_arguments"
    text = item.get("arguments") or ""
    done = {"type": f"{kind}.done", **at, "name": item["name"], "arguments": text}

    return [
        *(
            {"type": f"{kind}.delta", **at, "delta": piece}
            for piece in saying.pieces(text)
        ),
        done,
    ]


def _text_events(saying: Saying, at: Data, part: Data) -> list[Data]:
    word = "refusal" if part["type"] == "refusal" else "text"
    kind = f"response.{part['type']}"
    empty = {**part, word: ""}

    return [
        {"type": "response.content_part.added", **at, "part": empty},
        *(
            {"type": f"{kind}.delta", **at, "delta": piece, "logprobs": []}
            for piece in saying.pieces(part[word])
        ),
        {"type": f"{kind}.done", **at, word: part[word], "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part},
    ]
