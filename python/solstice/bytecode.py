"""Where Python keeps the bytecode of PyTorch's sources.

Many container images set PYTHONDONTWRITEBYTECODE: PyTorch then lies there without bytecode, and every process compiles
its sources anew, seconds each time. A process of Solstice's own keeps it in Solstice's cache instead. Nothing is
changed where bytecode is installed, nor in a process that the program did not start: a user's keeps its settings.
"""

from __future__ import annotations

import importlib.util
import os
import sys

VARIABLE = "SOLSTICE_BYTECODE"  # the folder, set by the program for what it starts

INSTALLED, KEPT, NOWHERE = "installed", "kept", "nowhere"


def keep(package: str = "torch") -> str:
    """To be called before `package` is imported; says where its bytecode is from now on."""
    spec = importlib.util.find_spec(package)  # imports nothing
    if spec is None or spec.cached is None or os.path.exists(spec.cached):
        return INSTALLED
    folder = os.environ.get(VARIABLE)
    if not folder or not _ours(folder):
        return NOWHERE
    sys.pycache_prefix = folder
    sys.dont_write_bytecode = False
    return KEPT


def _ours(folder: str) -> bool:
    """Whether we may write there, and nobody else: what lies there is run."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.stat(folder)
    except OSError:
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022 and os.access(folder, os.W_OK | os.X_OK)
