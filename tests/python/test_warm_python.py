"""The Python of warm_python.py is one to the program: it ends as the worker ends, and the worker ends with it."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("torch")

HELLO = b'{"schema": "solstice.oracle/1", "id": 1, "request": "hello"}\n'


@pytest.fixture
def worker(warm_server, tmp_path):
    command = [warm_server, "-m", "solstice.worker", "--device", "cpu"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process
        process.kill()


def hello(worker):
    worker.stdin.write(HELLO)
    worker.stdin.flush()
    return json.loads(worker.stdout.readline())["reply"]


def test_it_answers_and_ends_with_its_input(worker):
    assert hello(worker)["pid"] != worker.pid
    worker.stdin.close()
    assert worker.wait(10) == 0


def test_a_worker_that_is_killed_is_told(worker):
    os.kill(hello(worker)["pid"], signal.SIGKILL)
    assert worker.wait(10) == 128 + signal.SIGKILL


def test_a_worker_ends_where_its_caller_is_killed(worker):
    process = pathlib.Path("/proc", str(hello(worker)["pid"]))
    worker.kill()
    until = time.monotonic() + 10
    while process.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not process.exists()


def test_other_calls_are_pythons(warm_server):
    done = subprocess.run([warm_server, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
    assert done.stdout.strip() == sys.executable
