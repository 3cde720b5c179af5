"""The worker process: its protocol under good and bad input, and that one module cannot harm the next."""

import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

from conftest import ROOT
from solstice import protocol

MODEL = """
import torch
print("noise while importing")
class Model(torch.nn.Module):
    def forward(self, x):
        print("noise while running")
        return x + 1
def get_inputs(): return [torch.rand(2, 3)]
def get_init_inputs(): return []
"""


class Worker:
    def __init__(self):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "solstice.worker", "--device", "cpu"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.last = 0

    def send(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self):
        """The next answer that is no progress, and how many were."""
        progress = 0
        while True:
            message = json.loads(self.process.stdout.readline())
            assert message["schema"] == protocol.SCHEMA
            if message["event"] != "progress":
                return message, progress
            progress += 1

    def ask(self, name, **params):
        self.last += 1
        self.send(json.dumps({"schema": protocol.SCHEMA, "id": self.last, "request": name, "params": params}).encode())
        message, _ = self.receive()
        assert message["id"] == self.last
        return message[message["event"]]


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return value


def is_over(pid):
    """Gone, or waiting for whoever adopted it."""
    try:
        return ") Z " in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.process.kill()
    worker.process.wait()


@pytest.mark.parametrize(
    "line, code",
    [
        (b"not json", "protocol.bad_json"),
        (b"[1]", "protocol.bad_request"),
        (b'{"schema":"solstice.oracle/1","request":"hello"}', "protocol.bad_request"),
        (b'{"schema":"solstice.oracle/9","id":1,"request":"hello"}', "protocol.bad_schema"),
        (b'{"schema":"solstice.oracle/1","id":1,"request":3}', "protocol.bad_request"),
        (b"\xff\xfe", "protocol.bad_json"),
        (b"", "protocol.bad_json"),
        (b"[" * 100000, "protocol.bad_json"),
        (b"x" * (protocol.MAX_LINE_BYTES + 10), "protocol.bad_json"),
    ],
)
def test_bad_lines_are_answered_and_survived(worker, line, code):
    worker.send(line)
    message, _ = worker.receive()
    assert message["event"] == "error" and message["error"]["code"] == code


def test_unknown_requests_and_parameters(worker, write_model):
    assert worker.ask("dance")["code"] == "protocol.unknown_request"
    assert worker.ask("trace")["code"] == "session.no_module"
    worker.ask("load", file=write_model(MODEL))
    assert worker.ask("dance")["code"] == "protocol.unknown_request"
    assert worker.ask("trace", speed=1)["code"] == "protocol.unknown_parameter"
    assert worker.ask("expected")["code"] == "protocol.missing_parameter"
    assert worker.ask("expected", set="none")["code"] == "session.no_set"


def test_a_session(worker, write_model):
    hello = worker.ask("hello")
    assert hello["pid"] == worker.process.pid and hello["device"]["kind"] == "cpu"
    loaded = worker.ask("load", file=write_model(MODEL))
    assert loaded["class_name"] == "Model" and loaded["weights"] == "real"
    assert len(worker.ask("trace")["graph"]["nodes"]) == 1
    assert worker.ask("prepare_inputs", set="a", seed=1)["inputs"][0]["shape"] == [2, 3]
    assert worker.ask("expected", set="a")["values"][0]["name"] == "output.0"
    assert worker.ask("time_eager", set="a", reps=1, warmups=0)["code"] == "timing.no_gpu"
    assert worker.ask("release", set="a") == {}
    assert worker.ask("release") == {}
    assert worker.ask("expected", set="a")["code"] == "session.no_module"


@pytest.mark.parametrize(
    "death, code, how",
    [
        ("os.kill(os.getpid(), 11)", "load.ended_python", "SIGSEGV"),
        ("os._exit(3)", "load.ended_python", "status 3"),
        ("os.kill(os.getpid(), 9)", "oracle.crashed", "SIGKILL"),
    ],
)
def test_a_module_that_kills_its_process(worker, write_model, death, code, how):
    error = worker.ask("load", file=write_model(f"import os\n{death}\n"))
    assert error["code"] == code and how in error["message"]
    assert error["kind"] == ("input" if code.startswith("load.") else "internal")
    assert worker.ask("load", file=write_model(MODEL, "good.py"))["class_name"] == "Model"


def test_a_forward_that_kills_the_tracing_process(worker, write_model):
    worker.ask("load", file=write_model(MODEL.replace("return x + 1", "import os; os.kill(os.getpid(), 11)")))
    error = worker.ask("trace")
    assert error["code"] == "oracle.crashed" and "SIGSEGV" in error["message"]
    assert worker.ask("prepare_inputs", set="a")["applies"]  # the session itself goes on


def test_one_module_does_not_see_what_another_patched(worker, write_model):
    worker.ask("load", file=write_model("import torch\ntorch.rand = None\n" + MODEL))
    worker.ask("load", file=write_model(MODEL, "good.py"))
    assert "inputs" in worker.ask("prepare_inputs", set="a")


def test_sys_exit_in_a_module_is_reported(worker, write_model):
    error = worker.ask("load", file=write_model("import sys\nsys.exit('enough')\n"))
    assert error["code"] == "load.import_failed" and "enough" in error["message"]


def test_shutdown_ends_it(write_model):
    worker = Worker()
    assert worker.ask("shutdown") == {}
    assert worker.process.wait(timeout=60) == 0


def test_a_killed_worker_takes_the_module_along(tmp_path, write_model):
    told = tmp_path / "pid"
    worker = Worker()
    path = write_model(f"import os\nopen({str(told)!r}, 'w').write(f'{{os.getpid()}}.')\nwhile True: pass\n")
    worker.send(json.dumps({"schema": protocol.SCHEMA, "id": 1, "request": "load", "params": {"file": path}}).encode())
    child = until(lambda: told.exists() and told.read_text().endswith(".") and int(told.read_text()[:-1]))
    worker.process.kill()
    worker.process.wait()
    assert until(lambda: is_over(child))


def test_end_of_input_ends_it():
    worker = Worker()
    worker.process.stdin.close()
    assert worker.process.wait(timeout=60) == 0


def test_opponents_have_a_process_of_their_own(worker, write_model):
    path = write_model(MODEL)
    assert worker.ask("start_rivals", file=path) == {}
    assert worker.ask("load", file=path)["class_name"] == "Model"  # at once: it does not wait for the other
    failure = worker.ask("time_rivals", reps=1, warmups=0)
    assert failure["code"] == "timing.no_gpu"
    assert worker.ask("trace")["graph"]["nodes"]
    worker.ask("release")
    assert worker.ask("time_rivals", reps=1, warmups=0)["code"] == "session.no_rivals"


def test_opponents_can_outlive_the_session(worker, write_model):
    path = write_model(MODEL)
    assert worker.ask("start_rivals", file=path) == {}
    worker.ask("load", file=path)
    assert worker.ask("release", keep_opponents=True) == {}
    assert worker.ask("trace")["code"] == "session.no_module"
    assert worker.ask("find_flaws", budget=1)["constant"] == ""
    assert worker.ask("release") == {}
    assert worker.ask("find_flaws", budget=1)["code"] == "session.no_rivals"
