"""Remembers the inputs with which a test passed; `./x test --quick` leaves out tests whose inputs are still the same.

Inputs are compared by content, so a build that makes the same program again changes nothing. A full run leaves out
nothing; it only remembers.
"""

import hashlib
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
MEMORY = BUILD / "test-logs/passed.json"

# What programs and tests of the house read besides their own code.
DATA = (
    *("kernels", "machines", "models", "prompts", "examples", "web", "docs", "README.md"),
    *("bench", "tests/corpus", "tests/evil", "tests/golden", "tests/support", "tests/transcripts", "tests/writing"),
)
PACKAGE = ("python", "tools", "tests/python", "requirements.txt", "requirements-torch.txt")


def files_of(path):
    """The file, or all files below the folder; none where there is neither."""
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if p.is_file() and p.suffix != ".pyc")


def digest(*names):
    """Of the names and contents of files and folders, which are relative to the root or absolute."""
    whole = hashlib.blake2b(digest_size=16)
    for name in names:
        for path in files_of(ROOT / name):
            whole.update(f"{path}\0".encode())
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "blake2b").digest())
    return whole.hexdigest()


class Passed:
    """The digests of what passed, in a file that every step of a run adds to."""

    def __init__(self, path=MEMORY):
        self.path = path

    def _read(self):
        try:
            return json.loads(self.path.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return {}  # nothing is known to have passed: all tests run

    def has(self, test, inputs):
        return self._read().get(test) == inputs

    def add(self, digests):
        """{test: the digest of its inputs}. Whole or not at all: two runs at once lose an entry at most."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(f".{id(digests)}.new")
        new.write_text(json.dumps(self._read() | digests, indent=1, sort_keys=True))
        new.replace(self.path)
