"""
Write modules that are odd to import, each with one tool that answers.
"""

from __future__ import annotations

import importlib
import sys

from pathlib import Path
from types import ModuleType


TOOL = """
from tooldecl import tool

@tool(isolation="process")
def NAME(x: int = 1) -> int:
    "Give a number back."
    return x
"""

# In a worker and in what starts it, sys.argv begins with what -c leaves there.
APART = "import os, sys, threading, time\nif sys.argv[0] == '-c':\n    "

ODD = {
    "fails": APART + "raise ValueError('at import')",
    "exits": APART + "sys.exit(3)",
    "ends": APART + "os._exit(3)",
    "prints": APART + "print('printed'); os.write(1, b'written')",
    "threads": APART
    + "threading.Thread(target=time.sleep, args=[60], daemon=True).start()",
    "starts": APART
    + "import subprocess; CHILD = subprocess.Popen(['sleep', '60'], close_fds=False)",
    "half": APART + "raise ValueError('\\ud800')",
    "interrupts": APART + "raise KeyboardInterrupt",
}


def odd_module(name: str, folder: Path) -> ModuleType:
    """
    Write one of them, and import it here, where it is not odd.
    """
    module = f"odd_{name}"
    text = ODD[name] + "\n" + TOOL.replace("NAME", name)
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        sys.modules.pop(module, None)

        return importlib.import_module(module)
    finally:
        sys.path.remove(str(folder))
