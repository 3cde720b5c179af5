"""The wheel, built from the programs that are there and installed into an environment that has nothing else.

PyTorch comes by a path file from the Python of these tests: it is the user's own, and large.
"""

import importlib.util
import os
import re
import subprocess
import sys
import time
import venv
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

BUILD = ROOT / "build"
PROGRAMS = ("bin/solstice", "bin/solstice-runner", "lib/libsolstice_rt.so")
MISSING = [name for name in PROGRAMS if not (BUILD / name).exists()]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not built; run ./x build"),
    pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling is missing; run ./x setup"),
]
MOST_BYTES = 60 << 20
MOST_SECONDS = 60  # from `pip install` to the first report
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
VERSION = re.search(r'"(.+)"', (ROOT / "python/solstice/version.py").read_text().splitlines()[-1]).group(1)


def pip(*arguments, **environment):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **environment))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", out, ROOT, SOLSTICE_BUILT=str(BUILD))
    (made,) = out.iterdir()
    return made


class Environment:
    """A virtual environment with the wheel, and a home of its own."""

    def __init__(self, folder, wheel, torch):
        self.home = folder / "home"
        self.home.mkdir()
        venv.create(folder / "env", with_pip=False)
        self.bin = folder / "env/bin"
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        self.packages = folder / "env/lib" / version / "site-packages"
        if torch:
            beside = Path(importlib.util.find_spec("torch").origin).parents[1]
            (self.packages / "torch.pth").write_text(f"{beside}\n")
        pip("--python", self.bin / "python", "install", "--no-deps", "--no-index", wheel)

    def run(self, program, *arguments):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("SOLSTICE_", "PYTHONPATH", "XDG_"))}
        command = [str(self.bin / program), *map(str, arguments)]
        return subprocess.run(
            command, cwd=self.home, env=env | {"HOME": str(self.home)}, capture_output=True, text=True
        )

    def files(self):
        return {p for p in self.packages.rglob("*") if "__pycache__" not in p.parts}


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("installed"), wheel, torch=True)


def test_is_small_and_complete(wheel):
    assert wheel.stat().st_size <= MOST_BYTES
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = "solstice/_program/"
    assert {inside + name for name in PROGRAMS} <= names
    assert {inside + "machines/h200.toml", inside + "kernels/ptx/types.h", inside + "models/README.md"} <= names
    assert {inside + "cutlass/include/cutlass/cutlass.h", "solstice/py.typed"} <= names
    assert not [name for name in names if "__pycache__" in name or "nvrtc" in name.lower() and name.endswith(".so")]


def test_the_tag_names_the_glibc_that_the_programs_need(wheel):
    """Debian 12 has 2.36."""
    python, abi, platform = wheel.stem.split("-")[2:]
    assert (python, abi) == ("py3", "none")
    major, minor = map(int, re.fullmatch(r"manylinux_(\d+)_(\d+)_x86_64", platform).groups())
    assert (major, minor) <= (2, 36)


def test_one_version(installed):
    said = f"solstice {VERSION}\n"
    assert installed.run("solstice", "--version").stdout == said
    assert installed.run("python", "-m", "solstice", "--version").stdout == said
    assert installed.run("python", "-c", "import solstice; print('solstice', solstice.__version__)").stdout == said


def test_exit_codes_are_the_programs(installed):
    for command in (("solstice",), ("python", "-m", "solstice")):
        wrong = installed.run(*command, "no-such-command")
        assert wrong.returncode == 2 and "error[bad_argument]" in wrong.stderr


def test_doctor_finds_the_environment(installed):
    said = installed.run("solstice", "doctor").stdout
    assert str(installed.packages / "solstice/_program") in said
    assert f"({installed.bin / 'python'})" in said and "MISSING  Python" not in said


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_from_the_wheel_are_optimized_and_nothing_is_written_there(installed, name):
    before = installed.files()
    example = installed.packages / "solstice/_program/examples" / name
    done = installed.run("solstice", "optimize", example, "--device", "model", "--budget", "60s,1trials")
    assert done.returncode == 0, done.stderr
    assert list(installed.home.glob("runs/*/report.md"))
    assert installed.files() == before


def test_import(installed):
    done = installed.run("solstice", "import", ROOT / "examples/linear_gelu.py")
    assert done.returncode == 0 and "gelu" in done.stdout, done.stderr


def test_from_python(installed):
    done = installed.run(
        "python", "-c",
        "import torch, solstice\n"
        "fast = solstice.optimize(torch.nn.Linear(64, 64), (torch.randn(8, 64),), device='model',\n"
        "                         budget='2s,1trials', progress=False)\n"
        "print(solstice.result_of(fast).outcome)\n",
    )  # fmt: skip
    assert done.stdout == "predicted\n", done.stderr


def test_from_install_to_the_first_report_in_a_minute(wheel, tmp_path):
    start = time.monotonic()
    fresh = Environment(tmp_path, wheel, torch=True)
    fresh.run("solstice", "optimize", ROOT / "examples/linear_gelu.py", "--device", "model", "--budget", "5s,4trials")
    assert list(fresh.home.glob("runs/*/report.md"))
    assert time.monotonic() - start < MOST_SECONDS


def test_without_pytorch_the_message_says_so(wheel, tmp_path):
    bare = Environment(tmp_path, wheel, torch=False)
    assert "no PyTorch" in bare.run("solstice", "doctor").stdout
    by_program = bare.run("solstice", "import", ROOT / "examples/linear_gelu.py")
    assert by_program.returncode == 3 and "error[no_python]" in by_program.stderr
    by_python = bare.run("python", "-c", "import solstice; solstice.optimize")
    for said in (by_program.stderr, by_python.stderr):
        assert "needs PyTorch 2.11 or newer" in said and str(bare.bin / "python") in said
