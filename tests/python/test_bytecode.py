"""Bytecode of a package that was installed without any: kept in our folder, and only where it is needed."""

import os
import pathlib
import subprocess
import sys

import pytest

from conftest import ROOT

TRY = """
import sys
from solstice import bytecode
before = sys.pycache_prefix, sys.dont_write_bytecode
print(bytecode.keep("heavy"))
print((sys.pycache_prefix, sys.dont_write_bytecode) == before)
assert "heavy" not in sys.modules
%s
import heavy.part
"""


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "site" / "heavy"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "part.py").write_text("value = 1\n")
    return folder


def run(package, folder, set_up="", **more):
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'python'}:{package.parent}",
        "PYTHONDONTWRITEBYTECODE": "1",
        **({"SOLSTICE_BYTECODE": str(folder)} if folder else {}),
        **more,
    }
    done = subprocess.run([sys.executable, "-c", TRY % set_up], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def compiled(folder):
    return sorted(path.name.split(".")[0] for path in pathlib.Path(folder).rglob("heavy/**/*.pyc"))


def test_it_is_kept_where_none_is_installed(package, tmp_path):
    folder = tmp_path / "cache" / "bytecode"
    assert run(package, folder) == ["kept", "False"]
    assert compiled(folder) == ["__init__", "part"] and compiled(package.parent) == []
    first = {path: path.stat().st_mtime_ns for path in folder.rglob("*.pyc")}
    assert run(package, folder) == ["kept", "False"]
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.pyc")} == first


def test_nothing_changes_where_it_is_installed(package, tmp_path):
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(package)], check=True)
    assert run(package, tmp_path / "cache") == ["installed", "True"]
    assert not (tmp_path / "cache").exists()


def test_a_prefix_of_the_users_own_is_asked(package, tmp_path):
    theirs = tmp_path / "theirs"
    run(package, None, PYTHONPYCACHEPREFIX=str(theirs), PYTHONDONTWRITEBYTECODE="")
    assert compiled(theirs) == ["__init__", "part"]
    assert run(package, tmp_path / "cache", PYTHONPYCACHEPREFIX=str(theirs)) == ["installed", "True"]


def test_a_process_that_the_program_did_not_start_keeps_its_settings(package):
    assert run(package, None) == ["nowhere", "True"]


def test_a_folder_that_cannot_be_made_changes_nothing(package, tmp_path):
    (tmp_path / "file").write_text("")
    assert run(package, tmp_path / "file" / "bytecode") == ["nowhere", "True"]


def test_nothing_is_run_from_a_folder_that_others_may_write(package, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert run(package, shared) == ["nowhere", "True"]


def test_a_full_disk_fails_nothing(package, tmp_path):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    assert run(package, tmp_path / "cache", full) == ["kept", "False"]
    assert compiled(tmp_path / "cache") == []
