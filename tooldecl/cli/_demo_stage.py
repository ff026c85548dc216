"""
What all parts of the demo share: the parts that tools work on, the clients, the notes.
"""

from __future__ import annotations

import contextlib
import tempfile

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from .. import ToolClient, ToolRequest, ToolResult
from ..engines import SequentialEngine, ThreadEngine
from ..exceptions import NotAvailableError
from ._demo_journal import Journal
from ._demo_parts import Carrier, Database, OtherWriter, Pages
from ._demo_rounds import plan_apart, plan_round, scan_label
from ._demo_tools import Entries, ShopTools


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """
    What all parts of the demo share.

    Attributes:
        tools: The tools.
        pages: The pages that can be searched.
        entries: How often their bodies were entered, as they count it.
        journal: What all clients tell of their calls.
        writer: The other program that uses the database.
        shop: The client that the model has.
        back_office: The same with more tools.
        cramped: A client that takes no more calls while a body is left behind.
        guarded: A client with a filter that fails.
        elsewhere: Tools that wait, as another process would have them.
        heavy: A client with tools that need a process; None where there is none to have.
        notes: Where what was computed on a thread and in a process is noted.
    """

    tools: ShopTools
    pages: Pages
    entries: Entries
    journal: Journal
    writer: OtherWriter
    shop: ToolClient
    back_office: ToolClient
    cramped: ToolClient
    guarded: ToolClient
    elsewhere: list[object]
    heavy: ToolClient | None
    notes: tuple[Path, Path]

    @property
    def clients(self) -> tuple[ToolClient, ...]:
        """
        All clients.
        """
        light = self.shop, self.back_office, self.cramped, self.guarded

        return light if self.heavy is None else (*light, self.heavy)


@contextlib.contextmanager
def staged() -> Generator[Stage, None, None]:
    """
    Set everything up, and leave nothing of it behind: no file, no port.

    Bodies that hang are not waited for; they end when the carrier hangs up.
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="tooldecl-", ignore_cleanup_errors=True)
        )
        database = Database(Path(folder) / "shop.sqlite")
        writer = stack.enter_context(contextlib.closing(OtherWriter(database)))
        carrier = stack.enter_context(contextlib.closing(Carrier()))
        pages, entries, journal = Pages(), Entries(), Journal()
        tools = ShopTools(database, carrier, pages, entries)
        shop = ToolClient(tools.for_the_model(), hooks=[journal, writer])
        notes = Path(folder) / "thread.txt", Path(folder) / "process.txt"
        for file in notes:
            file.touch()
        heavy = _heavy(journal)
        if heavy is not None:
            stack.enter_context(heavy)
        yield Stage(
            tools=tools,
            pages=pages,
            entries=entries,
            journal=journal,
            writer=writer,
            shop=stack.enter_context(shop),
            back_office=stack.enter_context(shop.adding(*tools.that_go_wrong())),
            cramped=stack.enter_context(
                ToolClient(
                    [tools.look_up_order, tools.track_parcel],
                    engine=SequentialEngine(max_abandoned=1),
                    hooks=[journal],
                )
            ),
            guarded=stack.enter_context(
                ToolClient([tools.look_up_order], filters=[audit], hooks=[journal])
            ),
            elsewhere=ShopTools(database, carrier, pages, Entries()).that_wait(),
            heavy=heavy,
            notes=notes,
        )


def _heavy(journal: Journal) -> ToolClient | None:
    """
    Return the client that needs processes, or None on a system without them.
    """
    heavy = [plan_round, plan_apart, scan_label]
    try:
        return ToolClient(heavy, engine=ThreadEngine(), hooks=[journal])
    except* NotAvailableError:
        pass

    return None


def audit(request: ToolRequest) -> Generator[ToolRequest, ToolResult, ToolResult]:
    """
    Write a call down before it runs, on a disk that is full.
    """
    _write_down(request.name)
    result = yield request

    return result


def _write_down(name: str) -> None:
    raise OSError(f"There is no room for {name}.")
