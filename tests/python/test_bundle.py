"""A bundle: complete, small, and started from wherever it lies."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile

import bundle
import pytest
from conftest import ROOT

BUILD = ROOT / "build"
MISSING = [name for name in bundle.PROGRAMS if not (BUILD / name).exists()]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not built; run ./x build"),
]
MIB = 1 << 20


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A bundle that nobody starts: a start adds files."""
    out = tmp_path_factory.mktemp("made") / "bundle"
    subprocess.run([sys.executable, str(ROOT / "tools/bundle.py"), str(out), str(BUILD)], check=True)
    return out


@pytest.fixture
def moved(made, tmp_path):
    return shutil.copytree(made, tmp_path / "a folder" / "bundle")


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def start(launcher, *arguments, cwd):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SOLSTICE_")}
    return subprocess.run([str(launcher), *arguments], cwd=cwd, env=environment, capture_output=True, text=True)


def test_manifest_lists_every_file_with_its_hash(made):
    manifest = json.loads((made / "manifest.json").read_text())
    assert manifest["schema"] == "solstice.bundle/1"
    assert {entry["path"] for entry in manifest["files"]} == files_in(made) - {"manifest.json"}
    for entry in manifest["files"]:
        content = (made / entry["path"]).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())


def test_holds_what_a_machine_without_network_needs_and_no_nvrtc(made):
    names = files_in(made)
    assert {
        "solstice",
        "gpu-tests",
        "sanitize-kernels",
        "bin/solstice",
        "bin/solstice-runner",
        "lib/libsolstice_rt.so",
    } <= names
    assert {"machines/h200.toml", "python/solstice/__init__.py", "examples/linear_gelu.py"} <= names
    assert {"tools/sick.py", "tests/sick/spill_tile/sick.ucut", "tests/sick/spill_tile/problem.py"} <= names
    assert not [name for name in names if "nvrtc" in name.rsplit("/", 1)[-1] and ".so" in name]


def test_is_small_and_a_larger_one_is_an_error(made, tmp_path, monkeypatch, capsys):
    assert sum((made / name).stat().st_size for name in files_in(made)) <= bundle.LIMIT == 56 * MIB
    monkeypatch.setattr(bundle, "pack_cutlass", lambda out: None)  # seconds of compression, nothing to the point
    with pytest.raises(SystemExit) as ended:
        bundle.make(tmp_path / "large", BUILD, limit=2 * MIB)
    assert ended.value.code == 3 and "over the limit of 2 MiB" in capsys.readouterr().err


def test_a_folder_of_something_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(SystemExit) as ended:
        bundle.make(tmp_path, BUILD)
    assert ended.value.code == 3 and "holds no bundle" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_python_starts_the_launcher(moved):
    """Which unpacks CUTLASS."""
    asked = "from solstice.launch import find_program; print(find_program())"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SOLSTICE_")} | {
        "PYTHONPATH": str(moved / "python")
    }
    found = subprocess.run([sys.executable, "-c", asked], cwd=moved, env=environment, capture_output=True, text=True)
    assert found.stdout.strip() == str(moved / "solstice"), found.stderr


@pytest.mark.parametrize("by", ["path", "symbolic link"])
def test_starts_from_another_folder(moved, tmp_path, by):
    launcher = moved / "solstice"
    if by == "symbolic link":
        link = tmp_path / "links" / "sol"
        link.parent.mkdir()
        link.symlink_to(os.path.relpath(launcher, link.parent))
        launcher = link
    helped = start(launcher, "--help", cwd="/")
    assert helped.returncode == 0 and "usage: solstice COMMAND" in helped.stdout, helped.stderr
    listed = start(launcher, "list", "machines", cwd="/")  # read from the bundle's own folder
    assert listed.returncode == 0 and "h200" in listed.stdout, listed.stderr


def test_first_start_unpacks_cutlass(moved):
    with tarfile.open(moved / "cutlass/headers.tar.gz") as archive:
        packed = {member.name for member in archive if member.isfile()}
    assert "include/cutlass/cutlass.h" in packed
    assert files_in(moved / "cutlass") == {"headers.tar.gz"}
    start(moved / "solstice", "--help", cwd="/")
    assert files_in(moved / "cutlass") == packed | {"headers.tar.gz"}
    marker = moved / "cutlass/include/mine"
    marker.touch()
    start(moved / "solstice", "--help", cwd="/")
    assert marker.exists()  # once, not again
