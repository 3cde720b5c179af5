"""tools/setup.sh: which PyTorch the project's virtual environment uses. Nothing is downloaded."""

import pathlib
import subprocess
import sys
import venv

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETUP = """
set -euo pipefail
root=$1
. "$2/tools/setup.sh"
pip_install() { echo "pip install $*"; }
install_cuda() { :; }
make_venv "$3"
echo "torch $("$python" -c 'import torch; print(torch.__file__)' 2>/dev/null || echo none)"
"""


@pytest.fixture
def set_up(tmp_path):
    """The lines that a set-up from this Python prints."""
    root = tmp_path / "project"
    root.mkdir()
    for file in ROOT.glob("requirements*.txt"):
        (root / file.name).write_text(file.read_text())

    def run(python):
        command = ["bash", "-c", SETUP, "setup", str(root), str(ROOT), str(python)]
        done = subprocess.run(
            command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def shell(script, *arguments):
    done = subprocess.run(["bash", "-c", script, "setup", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_stamp_knows_of_gpu_and_torch(tmp_path):
    """A set-up is done again where a GPU or the base's PyTorch came or went."""
    root = tmp_path / "project"
    (root / "tools").mkdir(parents=True)
    for file in ("requirements.txt", "tools/setup.sh"):
        (root / file).write_text((ROOT / file).read_text())
    base = tmp_path / "python"

    def stamp(gpu, torch):
        base.write_text(f"#!/bin/sh\n{f'echo torch {torch}' if torch else 'exit 1'}\n")
        base.chmod(0o755)
        script = f'set -euo pipefail; root=$1; . "$1/tools/setup.sh"; has_gpu() {{ {gpu}; }}; stamp_of "$2"'
        return shell(script, root, base)

    stamps = [stamp(gpu, torch) for gpu in ("true", "false") for torch in ("", "2.13.0", "2.13.0+cpu")]
    assert len(set(stamps)) == 6
    assert stamp("false", "") == stamps[3]


@pytest.mark.parametrize(
    "gpu, torch, cuda, installs",
    [
        ("false", True, False, ""),
        ("true", True, True, ""),
        ("true", True, False, "--force-reinstall torch=="),
        ("true", False, False, "torch=="),
    ],
)
def test_a_gpu_wants_a_build_for_cuda(tmp_path, gpu, torch, cuda, installs):
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    answer = f"case $2 in *cuda*) exit {int(not cuda)};; *) exit {int(not torch)};; esac"
    python.write_text(f"#!/bin/sh\n{answer}\n")
    python.chmod(0o755)
    (tmp_path / "requirements-torch.txt").write_text("torch==2.13.0\n")
    script = (
        f'set -euo pipefail; root=$1; . "$2/tools/setup.sh"; has_gpu() {{ {gpu}; }}\n'
        'pip_install() { echo "$*"; }; install_torch'
    )
    said = shell(script, tmp_path, ROOT)
    assert said.startswith(installs) and bool(said) == bool(installs)


def test_torch_of_a_virtual_environment(set_up, tmp_path):
    venv.create(tmp_path / "base", with_pip=False)
    python = tmp_path / "base/bin/python"
    packages = tmp_path / "base/lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    init = tmp_path / "elsewhere/torch/__init__.py"  # found by a path file, as an editable installation is
    (packages / "elsewhere.pth").write_text(f"{init.parents[1]}\n")
    init.parent.mkdir(parents=True)

    init.write_text("__version__ = '2.10.0'\n")  # too old
    lines = set_up(python)
    assert any(line.startswith("pip install torch==") for line in lines) and lines[-1] == "torch none"

    init.write_text("__version__ = '2.13.0+cpu'\n")
    lines = set_up(python)
    assert lines[-1] == f"torch {init}"
    assert not any(line.startswith("pip install torch") for line in lines)


SETTLE = 'set -euo pipefail; root=$1; . "$2/tools/setup.sh"; settle_venv; settle_build'


@pytest.fixture
def clone(tmp_path):
    """A clone with a `.venv` and a `build/`, made where it says; only what names that place."""

    def make(folder, made_at):
        packages = folder / ".venv/lib/python3.11/site-packages"
        for part in (packages, folder / ".venv/bin", folder / "build", folder / "python"):
            part.mkdir(parents=True)
        (packages / "solstice.pth").write_text(f"{made_at}/python\n")
        (folder / ".venv/pyvenv.cfg").write_text(f"command = /usr/bin/python3 -m venv --clear {made_at}/.venv\n")
        tool = folder / ".venv/bin/pytest"
        tool.write_text(f"#!{made_at}/.venv/bin/python\nimport pytest\n")
        tool.chmod(0o755)
        (folder / "build/CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={made_at}\n")
        return folder

    return make


def settle(folder):
    done = subprocess.run(["bash", "-c", SETTLE, "x", str(folder), str(ROOT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("original", ["moved away", "still there"])
def test_a_clone_elsewhere_names_its_own_place(clone, tmp_path, original):
    old = tmp_path / "old & first [1]"
    if original == "still there":
        clone(old, old)
    new = clone(tmp_path / "new place", old)
    kept = new / ".venv/bin/linked"  # a copy may share files by hard links
    kept.hardlink_to(new / ".venv/bin/pytest")
    said = settle(new)
    assert f".venv was made at {old}/.venv" in said and f"build/ was made at {old}; building anew" in said
    assert not (new / "build").exists()
    assert (new / ".venv/lib/python3.11/site-packages/solstice.pth").read_text() == f"{new}/python\n"
    tool = new / ".venv/bin/pytest"
    assert tool.read_text().startswith(f"#!{new}/.venv/bin/python\n") and tool.stat().st_mode & 0o111
    assert str(old) not in (new / ".venv/pyvenv.cfg").read_text()
    assert kept.stat().st_ino != tool.stat().st_ino
    assert settle(new) == ""


def test_a_clone_in_its_place_is_left_alone(clone, tmp_path):
    place = clone(tmp_path / "place", tmp_path / "place")
    link = tmp_path / "link"
    link.symlink_to(place)
    assert settle(place) == settle(link) == ""
    assert (place / "build/CMakeCache.txt").exists()
    assert settle(tmp_path) == ""  # nothing is set up yet
