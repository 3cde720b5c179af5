"""Shared by all tests: the package on the path, and small files on disk."""

import pathlib
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))


@pytest.fixture
def write_model(tmp_path):
    """Writes source text as a file and returns its path."""

    def write(text, name="model.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    return write
