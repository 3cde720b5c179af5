"""`python -m solstice` becomes the program; `import solstice` needs no PyTorch."""

import os
import signal
import subprocess
import sys

import pytest
from conftest import ROOT

PACKAGE = str(ROOT / "python")


@pytest.fixture
def program(tmp_path):
    """Makes an executable of this shell text, which `python -m solstice` starts."""

    def make(text):
        path = tmp_path / "program"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return {**os.environ, "PYTHONPATH": PACKAGE, "SOLSTICE_PROGRAM": str(path)}

    return make


def start(env, *arguments):
    command = [sys.executable, "-m", "solstice", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Tests that run in the background ignore Ctrl-C, and so would a shell, which cannot trap it then.
    return subprocess.Popen(command, env=env, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **pipes)


def test_arguments_and_exit_code_pass_through(program):
    running = start(program('echo "$# $1 $2"; exit 37'), "import", "a file.py")
    assert running.communicate()[0] == "2 import a file.py\n" and running.returncode == 37


def test_signals_are_the_programs(program):
    running = start(program('trap "exit 41" INT; echo ready; while :; do sleep 0.05; done'))
    assert running.stdout.readline() == "ready\n"
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=20) == 41
    running.communicate()


def test_a_program_that_is_not_there_or_no_program(program, tmp_path):
    missing = {**program(""), "SOLSTICE_PROGRAM": str(tmp_path / "none")}
    running = start(missing)
    assert "is not an executable file" in running.communicate()[1] and running.returncode == 2
    (tmp_path / "broken").write_bytes(b"\x7fELF of another machine")
    (tmp_path / "broken").chmod(0o755)
    running = start({**missing, "SOLSTICE_PROGRAM": str(tmp_path / "broken")})
    assert "cannot start" in running.communicate()[1] and running.returncode == 3


def test_names_of_the_package():
    code = (
        "import sys, solstice\n"
        "assert 'torch' not in sys.modules\n"
        "assert [n for n in dir(solstice) if not n.startswith('__')] == ['Error', 'Result', 'optimize', 'result_of']\n"
        "try: solstice.optimise\n"
        "except AttributeError as error: print(error)\n"
    )
    env = {**os.environ, "PYTHONPATH": PACKAGE}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "module `solstice` has no attribute `optimise`\n", done.stderr


def test_result_of_takes_what_optimize_returned():
    import solstice

    with pytest.raises(TypeError, match="what solstice.optimize returned, not dict"):
        solstice.result_of({})
