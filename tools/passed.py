"""Remembers the inputs with which a test passed; `./x test --quick` leaves out tests whose inputs are still the same.

Inputs are compared by content, so a build that makes the same program again changes nothing. A full run leaves out
nothing; it only remembers, and forgets what failed.
"""

import fcntl
import functools
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
MEMORY = BUILD / "test-logs/passed.json"

# What programs and tests of the house read besides their own code.
DATA = (
    *("kernels", "machines", "models", "prompts", "examples", "web", "docs", "bench", "README.md", "CHANGELOG.md"),
    *(
        "tests/corpus",
        "tests/evil",
        "tests/golden",
        "tests/sick",
        "tests/support",
        "tests/transcripts",
        "tests/writing",
    ),
)
PACKAGE = (
    *("python", "tools", "tests/python", "tests/gpu", "tests/modules", "cmake", "x", "LICENSE", "ruff.toml"),
    *("requirements.txt", "requirements-torch.txt", "requirements-cuda.txt"),
)


@functools.cache
def machine():
    """What decides how a test ends here, or is skipped: packages, compilers, a GPU, a browser, variables."""
    packages = sorted(f"{each.name} {each.version}" for each in importlib.metadata.distributions())
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=False).stdout
    found = [shutil.which(name) for name in ("cc", "g++", "nvcc", "clang++-14", "chromium")]
    named = sorted(
        f"{key}={value}" for key, value in os.environ.items() if key.startswith(("SOLSTICE_", "CUDA_", "CI"))
    )
    return json.dumps([sys.version, packages, compiler, found, named, Path("/dev/nvidia0").exists()])


def files_of(path):
    """The file, or all files below the folder; none where there is neither."""
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if p.is_file() and p.suffix != ".pyc")


def digest(*names):
    """Of this machine, and of the names and contents of files and folders, relative to the root or absolute."""
    whole = hashlib.blake2b(machine().encode(), digest_size=16)
    for name in names:
        for path in files_of(ROOT / name):
            whole.update(f"{path}\0".encode())
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "blake2b").digest())
    return whole.hexdigest()


class Passed:
    """The digests of what passed, in a file that the steps of a run share."""

    def __init__(self, path=MEMORY):
        self.path = path

    def _read(self):
        try:
            return json.loads(self.path.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return {}  # nothing is known to have passed: all tests run

    def _change(self, change):
        """Of all that is remembered, one process and thread after another."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            remembered = self._read()
            change(remembered)
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(remembered, indent=1, sort_keys=True))
            new.replace(self.path)

    def has(self, test, inputs):
        return self._read().get(test) == inputs

    def add(self, digests):
        """{test: the digest of its inputs}."""
        self._change(lambda remembered: remembered.update(digests))

    def forget(self, tests):
        self._change(lambda remembered: [remembered.pop(test, None) for test in tests])
