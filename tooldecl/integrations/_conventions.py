"""
What OpenTelemetry's conventions for generative AI call things; copied, as they may move.
"""

from __future__ import annotations

import json

from collections.abc import Mapping

from .. import ToolMeta, ToolResult
from ..exceptions import RemoteError
from ..telemetry import CallStarted


EXECUTE_TOOL = "execute_tool"

OPERATION_NAME = "gen_ai.operation.name"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_DESCRIPTION = "gen_ai.tool.description"
CALL_ID = "gen_ai.tool.call.id"
ARGUMENTS = "gen_ai.tool.call.arguments"
RESULT = "gen_ai.tool.call.result"
ERROR_TYPE = "error.type"

DURATION = "gen_ai.execute_tool.duration"
# Seconds, from a call in memory to one that an agent waits for.
BUCKETS = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64),
    *(1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
)

# The conventions' own word for what is one of very many.
OTHER = "_OTHER"

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
# The values that ask for content on spans; the others ask for none, or for it elsewhere.
CAPTURES = ("true", "1", "span_only", "span_and_event")

_LONGEST_ID = 256

_WELL = ("ok", "not_found", "pending")


def named(meta: ToolMeta | None) -> dict[str, str]:
    """
    Return the attributes of spans and of the metric.

    A tool that there is none of goes by one name: models make up any number of them.
    """
    return {
        OPERATION_NAME: EXECUTE_TOOL,
        TOOL_NAME: OTHER if meta is None else meta.name,
        TOOL_TYPE: "function",
    }


def described(event: CallStarted) -> dict[str, str]:
    """
    Return the attributes that a call begins with.
    """
    attributes = named(event.meta)
    attributes[CALL_ID] = event.call_id[:_LONGEST_ID]
    if event.meta is not None:
        attributes[TOOL_DESCRIPTION] = event.meta.description

    return attributes


def arguments_text(event: CallStarted) -> str | None:
    """
    Return the arguments as they were sent, as text, or None where there is none of it.
    """
    given = event.arguments
    if isinstance(given, bytes):
        return given.decode("utf-8", "replace")
    if given is None or isinstance(given, str):
        return given
    try:
        return json.dumps(given)
    except (TypeError, ValueError, RecursionError):  # the gate refuses it too
        return None


def error_type(result: ToolResult) -> str | None:
    """
    Return one of few words for how a call failed, or None when it did not.
    """
    if result.status in _WELL:
        return None
    if result.status == "invalid":
        return "invalid_arguments"
    if result.status != "tool_error":
        return result.status.value

    return kind_of(result.error)


def kind_of(error: BaseException | None) -> str:
    """
    Return the name of the exception's class that a body raised.
    """
    raised = error if error is None else error.__cause__ or error
    if isinstance(raised, RemoteError):
        return raised.type_names[0] if raised.type_names else OTHER

    return OTHER if raised is None else type(raised).__name__


def without_none(
    attributes: Mapping[str, str | float | None],
) -> dict[str, str | float]:
    """
    Return the attributes that there is a value for.
    """
    return {key: value for key, value in attributes.items() if value is not None}
