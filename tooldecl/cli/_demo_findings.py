"""
What the demo has shown and found, as plain data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple, final

from ._demo_checks import Verdict
from ._demo_journal import Episode, Journal


class Left(NamedTuple):
    """
    A body that may still be running, *age* seconds after its call was answered.
    """

    name: str
    call_id: str
    age: float


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """
    All that came of a run.

    Attributes:
        model: Who decided.
        fallback: Why no model did although it was asked for, or an empty text.
        episodes: Its parts.
        left: The bodies that were answered for and may still be running.
        verdicts: What had to hold.
        journal: What all clients told of their calls.
    """

    model: str
    fallback: str
    episodes: Sequence[Episode]
    left: Sequence[Left]
    verdicts: Sequence[Verdict]
    journal: Journal

    @property
    def held(self) -> bool:
        """
        Whether every claim did.
        """
        return all(verdict.held for verdict in self.verdicts)

    def to_dict(self) -> dict[str, object]:
        """
        Return plain JSON data; of arguments, what they looked like.
        """
        return {
            "held": self.held,
            "claims": [asdict(verdict) for verdict in self.verdicts],
            "model": self.model,
            "fallback": self.fallback or None,
            "parts": [self._part(episode) for episode in self.episodes],
            "abandoned": [call._asdict() for call in self.left],
            "calls": len(self.journal.starts),
            "seconds": self.journal.seconds,
        }

    def _part(self, episode: Episode) -> dict[str, object]:
        shapes = self.journal.shapes

        return {
            "title": episode.title,
            "remark": episode.remark or None,
            "results": [
                {**result.to_dict(), "arguments": shapes.get(result.call_id, "")}
                for result in episode.results
            ],
        }
