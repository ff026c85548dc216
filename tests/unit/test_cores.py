"""
A thread stays off the cores of its helpers while it works with them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from tooldecl.models._cores import cores_tied_to, kept_off, threads


# Where the system has no such calls, the functions do nothing, and say so.
TELLS = sys.platform == "linux"


def allowed():
    """
    Return the cores that this thread may run on; none where the system does not tell.
    """
    return os.sched_getaffinity(0) if TELLS else set()


def test_a_thread_is_kept_off_and_let_back():
    """
    The host's thread is only borrowed: its cores are its own again afterwards.
    """
    mine = allowed()
    cores = frozenset(list(mine)[:1]) if len(mine) > 1 else frozenset()
    with kept_off(cores):
        inside = allowed()

    assert (mine - cores, mine) == (inside, allowed())


def test_a_thread_is_let_back_after_a_failure():
    """
    A failing engine must not cost the host's thread its cores.
    """
    mine = allowed()
    try:
        with kept_off(frozenset(list(mine)[:1])):
            raise LookupError
    except LookupError:
        pass

    assert mine == allowed()


def test_a_thread_without_other_cores_stays():
    """
    Where there is one core, both have to share it.
    """
    mine = allowed()
    with kept_off(frozenset(mine)):
        inside = allowed()

    assert mine == inside


def test_the_core_of_a_tied_thread_is_found():
    """
    Only a thread that is tied to one core has a core to be kept off.
    """
    program = """if True:
        import os
        from tooldecl.models._cores import cores_tied_to, threads
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(cores_tied_to(threads()) == os.sched_getaffinity(0))
    """
    if TELLS:
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            text=True,
        )
        assert "True\n" == done.stdout
    else:
        assert frozenset() == cores_tied_to(threads())


def test_a_thread_that_has_ended_is_tied_to_nothing():
    """
    A helper may end between being listed and being asked.
    """
    ended = threading.Thread(target=int)
    ended.start()
    ended.join()

    assert frozenset() == cores_tied_to(frozenset([ended.native_id or 0]))
