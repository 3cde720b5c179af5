"""Tools for who works on Solstice: each can be imported, and says what it takes."""

import subprocess
import sys

import pytest

pytest.importorskip("torch")

from conftest import ROOT  # noqa: E402

TOOLS = sorted((ROOT / "tools").glob("*.py"))

# A package that is not installed is no fault of the tool's; a name that a module of ours lacks is.
IMPORT_ALL = """
import importlib, sys
sys.path[:0] = [sys.argv[1] + "/python", sys.argv[1] + "/tools"]
OURS = {"solstice", *sys.argv[2:]}
faults = []
for name in sys.argv[2:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0] in OURS:
            faults.append(f"{name}: {e}")
    except Exception as e:
        faults.append(f"{name}: {type(e).__name__}: {e}")
sys.exit("\\n".join(faults) or 0)
"""


def test_every_tool_can_be_imported():
    names = [tool.stem for tool in TOOLS]
    command = [sys.executable, "-c", IMPORT_ALL, str(ROOT), *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_help_runs_where_a_tool_has_options():
    for tool in TOOLS:
        if "parse_args" not in tool.read_text() or "torch" in tool.read_text():
            continue
        done = subprocess.run([sys.executable, str(tool), "--help"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "usage:" in done.stdout, f"{tool.name}: {done.stderr}"
