"""
What a client offers to another framework, and what such a framework cannot keep.

A framework calls tools one by one: what a client does for a batch as a whole has no
place there, and is refused rather than forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from .. import (
    DeclarationError,
    Status,
    Suspension,
    ToolClient,
    ToolMeta,
    ToolResult,
)
from ..exceptions import CallPendingError


__all__ = ["Offer", "missing_package", "offers", "receipt", "went_well"]

_HINT = "Leave it out with exclude_tags, or declare it without."


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """
    One tool as another framework is shown it.

    Attributes:
        name: The name on the wire.
        description: What the model reads.
        schema: JSON Schema of the arguments; a copy of its own.
        strict: Whether that is the strict form.
        meta: What was declared.
    """

    name: str
    description: str
    schema: dict[str, object]
    strict: bool
    meta: ToolMeta


def offers(
    client: ToolClient,
    place: str,
    *,
    refused: Mapping[str, str],
    tags: Iterable[str] | None,
    exclude_tags: Iterable[str],
    strict: bool = False,
) -> list[Offer]:
    """
    Return what *client* offers.

    Args:
        client: The client.
        place: Whoever asks, for the errors.
        refused: Options of tools that the framework has no place for, and the reason.
        tags: Only tools with one of these; None is all.
        exclude_tags: No tools with one of these.
        strict: Take the strict form of a schema where there is one.

    Raises:
        DeclarationError: Something was declared that would not be kept there; several
            faults come as one ExceptionGroup.
    """
    shown = client.definitions(
        "openai-strict" if strict else "openai", tags=tags, exclude_tags=exclude_tags
    )
    found = [
        Offer(
            name=function["name"],
            description=function["description"],
            schema=function["parameters"],
            strict=bool(function.get("strict")),
            meta=client.table[function["name"]],
        )
        for function in (definition["function"] for definition in shown)
    ]
    faults = [
        *_faults_of_client(client, place),
        *_faults_of_tools(found, place, refused),
    ]
    if len(faults) > 1:
        raise ExceptionGroup(f"{place} cannot keep what was declared.", faults)
    if faults:
        raise faults[0]

    return found


def _faults_of_client(client: ToolClient, place: str) -> list[DeclarationError]:
    faults: list[DeclarationError] = []
    meter = client.meter
    if meter is not None and meter.budget.per_turn is not None:
        faults.append(
            DeclarationError(
                f"{place}: the client has a Budget(per_turn={meter.budget.per_turn}), and "
                "the framework makes its calls one by one, so no turn is ever seen. Limit "
                "calls, per_tool, seconds or repeats instead."
            )
        )
    if client.engine.over_limit == "sequential":
        faults.append(
            DeclarationError(
                f"{place}: the client's {type(client.engine).__name__} has "
                "over_limit='sequential', and the framework makes its calls one by one, "
                "so no batch is ever too large. Use 'queue' or 'reject'."
            )
        )

    return faults


def _faults_of_tools(
    found: Iterable[Offer], place: str, refused: Mapping[str, str]
) -> list[DeclarationError]:
    return [
        DeclarationError(
            f"{place}: tool {offer.name!r} is declared with {option}=True. {reason} {_HINT}"
        )
        for offer in found
        for option, reason in refused.items()
        if getattr(offer.meta, option)
    ]


def missing_package(place: str, package: str, extra: str) -> ModuleNotFoundError:
    """
    Return the error that says how to install what is missing.
    """
    return ModuleNotFoundError(
        f"{place} needs the package {package!r}, which is not installed. Install it "
        f"with: pip install 'tooldecl[{extra}]'",
        name=package,
    )


def went_well(result: ToolResult) -> bool:
    """
    Tell whether a framework should take *result* for an answer and not for a failure.

    That nothing was found is an answer too.
    """
    return result.status in (Status.OK, Status.NOT_FOUND)


def receipt(result: ToolResult) -> dict[str, object]:
    """
    Return what a host may want to know of *result* beside its content, as JSON data.

    Where it is pending, with what `ToolClient.resume` takes; None where the client's
    state has no JSON form.
    """
    told: dict[str, object] = {
        "call_id": result.call_id,
        "name": result.name,
        "status": result.status.value,
        "fate": result.fate.value,
        "attempts": result.attempts,
        "elapsed": result.elapsed,
    }
    error = result.error
    if isinstance(error, CallPendingError) and isinstance(error.suspension, Suspension):
        told["suspension"] = _written(error.suspension)

    return told


def _written(suspension: Suspension) -> str | None:
    try:
        return suspension.to_json()
    except TypeError:
        return None
