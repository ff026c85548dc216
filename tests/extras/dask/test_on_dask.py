"""
What Dask makes of calls that are given up, and of workers that are shot.
"""

from __future__ import annotations

import asyncio

import pytest

from processes.executor_tools import hang, mark
from recipes import recipe
from tooldecl.engines import ExecutorEngine


@pytest.fixture(scope="module")
def executor():
    """
    Have a cluster as the page shows it.
    """
    made = recipe("on_dask").executor_of_dask(n_workers=1, threads_per_worker=2)
    with made as executor:
        yield executor


def test_a_call_that_its_caller_cancels_is_not_said_to_have_ended(
    executor, make_client, lifeline, tmp_path
):
    """
    R31: Dask's ``cancel()`` says that it did, and the call runs on; so it is listed until
    its end, which its deadline brings.
    """
    marker = tmp_path / "marker"
    engine = ExecutorEngine(executor, timeout=3)
    client = make_client(hang, mark, engine=engine)
    client.invoke("mark", {"marker": str(marker)})

    async def main():
        task = asyncio.create_task(client.ainvoke("hang", {"line": lifeline.path}))
        await asyncio.to_thread(lifeline.pid)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

    assert ["hang"] == [call.name for call in client.abandoned]
    assert lifeline.is_held()
    assert lifeline.is_cut()
