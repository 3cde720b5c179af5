"""Shared by all tests: the package on the path, small files on disk, and drop-ins on host memory."""

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]
pytest.register_assert_rewrite("host_dropin")  # imported by the fixtures only: it loads PyTorch

from quick import pytest_addoption, pytest_collection_modifyitems, pytest_configure  # noqa: E402, F401 (hooks)


@pytest.fixture
def write_model(tmp_path):
    """Writes source text as a file and returns its path."""

    def write(text, name="model.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    return write


@pytest.fixture(scope="session")
def fake_runtime(tmp_path_factory):
    """The library that stands in for libsolstice_rt.so."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler for the stand-in runtime")
    path = tmp_path_factory.mktemp("rt") / "libfake_rt.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(path), str(ROOT / "tests/python/fake_rt.c")], check=True)
    return path


@pytest.fixture
def record(tmp_path, fake_runtime):
    """A recording of a small module, in a folder of its own."""
    from host_dropin import write_recording

    return write_recording(tmp_path, fake_runtime)


@pytest.fixture
def subject(tmp_path, record, fake_runtime):
    """That module, and the drop-in made from the recording."""
    import torch
    from host_dropin import HostDevice, Subject

    HostDevice.capturing_into, HostDevice.stream_number = None, 0
    with torch.no_grad():
        yield Subject(tmp_path, record, fake_runtime)


@pytest.fixture(scope="session")
def warm_server(tmp_path_factory):
    """The path of a Python that starts workers in milliseconds (warm_python.py)."""
    folder = tmp_path_factory.mktemp("warm")
    command = [sys.executable, str(ROOT / "tests/python/warm_python.py"), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout.readline() == b"ready\n"
        yield folder / "python"  # the server ends with its standard input


@pytest.fixture(scope="module")
def warm_python(warm_server):
    """The program's Python is that one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOLSTICE_PYTHON", str(warm_server))
        yield


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """The environment of the built program in these tests: a store and a cache of their own."""
    folder = tmp_path_factory.mktemp("homes")
    return {
        "SOLSTICE_HOME": str(folder / "home"),
        "SOLSTICE_CACHE": str(folder / "cache"),
        "SOLSTICE_PYTHON": sys.executable,
    }


@pytest.fixture
def start(homes, tmp_path):
    """Starts the built program (real_program.py)."""

    def begin(*arguments, **options):
        from real_program import PROGRAM

        command = [PROGRAM, *map(str, arguments)]
        environment = {**os.environ, **homes}
        return subprocess.Popen(
            command, env=environment, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )

    return begin


@pytest.fixture
def run(start):
    """Runs it to its end."""

    def finish(*arguments, **options):
        process = start(*arguments, **options)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    return finish
