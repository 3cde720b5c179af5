"""Tools for who works on Solstice: each can be imported, and says what it takes."""

import re
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


def programs():
    """Those that are run, without what only other tools import, and what ./x reads."""
    shell = [path for path in (ROOT / "tools").glob("*.sh") if path.read_text().startswith("#!")]
    return [path for path in TOOLS if "__main__" in path.read_text()] + [
        path for path in shell if path.name != "setup.sh"
    ]


@pytest.mark.parametrize("tool", programs(), ids=lambda path: path.name)
def test_help_is_printed_and_nothing_else_is_done(tool, tmp_path):
    text = tool.read_text()
    if tool.suffix == ".py" and re.search(r"^(import|from) (torch|scipy)", text, re.M):  # seconds each, or not here
        assert "parse_args(" in text or "parser()" in text
        return
    command = [sys.executable] if tool.suffix == ".py" else ["bash"]
    done = subprocess.run([*command, tool, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    first = text.split('"""')[1].split() if tool.suffix == ".py" else text.split("\n")[1].strip("# ").split()
    assert " ".join(first[:4]) in " ".join(done.stdout.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["setup", "build", "test", "bundle", "wheel", "format", "clean"])
def test_help_of_x_does_nothing_else(command, tmp_path):
    for option in ("--help", "-h"):
        done = subprocess.run([ROOT / "x", command, option], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stdout.startswith("usage: ./x"), done.stderr
    assert list(tmp_path.iterdir()) == []
