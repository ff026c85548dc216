"""
One Ctrl-C ends a blocked call at once.
"""

from __future__ import annotations

import signal

import pytest

from scripts import SOON, ended, start


pytestmark = pytest.mark.slow


class TestInterrupt:
    """
    One Ctrl-C ends a blocked call at once.
    """

    @pytest.mark.parametrize(
        "declared",
        [
            "@tool\ndef hang",
            "@tool(timeout=30)\ndef hang",
            "@tool(isolation='thread')\ndef hang",
            "@tool\nasync def hang",
            "@tool(timeout=30)\nasync def hang",
            "@tool(isolation='thread')\nasync def hang",
        ],
        ids=lambda text: text.replace("\n", " "),
    )
    @pytest.mark.parametrize("batch", [False, True], ids=["one", "batch"])
    def test_it_surfaces_as_keyboard_interrupt(self, declared, batch):
        """
        R24: whatever the body does, and however it is run; no second call begins.
        """
        wait = "await asyncio.sleep(30)" if "async" in declared else "time.sleep(30)"
        invoke = (
            "client.invoke_batch([ToolCall('hang'), ToolCall('hang')])"
            if batch
            else "client.invoke('hang')"
        )
        script = start(
            f"""
{declared}() -> str:
    "Hang."
    print("began", flush=True)
    {wait}

client = ToolClient([hang])
try:
    {invoke}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
        )
        assert "began\n" == script.stdout.readline()
        script.send_signal(signal.SIGINT)

        assert (0, "interrupted\n", "") == ended(script, SOON)

    def test_it_ends_asyncio_run(self):
        """
        R24: there the main task is cancelled, and the body in its thread is left.
        """
        script = start(
            """
            @tool
            def hang() -> str:
                "Hang."
                print("began", flush=True)
                time.sleep(30)

            try:
                asyncio.run(ToolClient([hang]).ainvoke("hang"))
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            """
        )
        assert "began\n" == script.stdout.readline()
        script.send_signal(signal.SIGINT)

        assert (0, "interrupted\n", "") == ended(script, SOON)

    def test_a_wait_between_attempts_ends_too(self):
        """
        R24: nothing happens there, and nothing may hold it.
        """
        script = start(
            """
            from tooldecl import Retry

            @tool(retry=Retry(attempts=2, delay=30, jitter=0))
            def fail() -> str:
                "Fail."
                print("began", flush=True)
                raise ConnectionError

            try:
                ToolClient([fail]).invoke("fail")
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            """
        )
        assert "began\n" == script.stdout.readline()
        script.send_signal(signal.SIGINT)
        code, out, _ = ended(script, SOON)

        assert (0, "interrupted\n") == (code, out)
