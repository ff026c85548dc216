"""
What a client shows of itself: its tools, its state, what is left running, what is spent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._isolation import AbandonedCall
from ._meter import BudgetMeter
from ._runtime import Runtime
from ._settings import Settings
from ._state import State
from ._stores import ResultStore
from ._table import ToolTable
from .engines import Engine
from .export._dialects import render


class Views:
    """
    How a client is looked at.
    """

    _runtime: Runtime
    _settings: Settings
    _state: State
    _token: object

    @property
    def table(self) -> ToolTable:
        """
        What was declared, by name; immutable.
        """
        return self._runtime.table

    @property
    def engine(self) -> Engine:
        """
        What runs batches, and has the default timeout; clients may share one.
        """
        return self._settings.engine

    @property
    def state(self) -> Mapping[str, Any]:
        """
        The state as the last finished call left it; read-only.
        """
        return self._state.snapshot()

    @property
    def abandoned(self) -> tuple[AbandonedCall, ...]:
        """
        Bodies that may still be running although their calls were answered, oldest first.
        """
        return self._settings.engine.ledger.of(self._token)

    def definitions(
        self,
        format: str = "openai",  # noqa: A002 (the field's word, and it is given by name)
        *,
        tags: Iterable[str] | None = None,
        exclude_tags: Iterable[str] = (),
    ) -> list[dict[str, Any]]:
        """
        Return what a model is shown, as plain data: fresh copies each time.

        Args:
            format: ``"openai"``, ``"openai-responses"``, ``"openai-strict"``,
                ``"anthropic"``, ``"gemini"`` or ``"mcp"``. What has no strict form is
                offered as it is, with a line in the log.
            tags: Only tools with one of these; None is all.
            exclude_tags: No tools with one of these.

        Raises:
            ValueError: There is no such format.
        """
        return render(self.table.entries(), format, tags, exclude_tags)

    @property
    def store(self) -> ResultStore | None:
        """
        What keeps the results that are too long for the model, or None.
        """
        return self._settings.store

    @property
    def meter(self) -> BudgetMeter | None:
        """
        What was spent of the client's budget, or None without one.
        """
        return self._settings.meter
