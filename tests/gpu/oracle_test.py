"""The oracle on a real GPU: the worker process, CUDA IPC, times, a float64 oracle in parts."""

import ctypes
import json
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from conftest import ROOT  # noqa: E402

MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(1024, 512)
    def forward(self, x): return torch.relu(self.l(x))
def get_inputs(): return [torch.rand(2048, 1024)]
def get_init_inputs(): return []
"""


class Worker:
    def __init__(self):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "solstice.worker", "--device", "cuda"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, name, **params):
        message = {"schema": "solstice.oracle/1", "id": 1, "request": name, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer["event"] != "progress":
                assert answer["event"] == "reply", answer
                return answer["reply"]


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.process.kill()
    worker.process.wait()


@pytest.fixture
def loaded(worker, tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    worker.ask("load", file=str(tmp_path / "model.py"))
    return worker


def opened(entry):
    """The tensor behind an IPC handle, copied to the host by the driver."""
    cuda = ctypes.CDLL("libcuda.so.1")

    class Handle(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_ubyte * 64)]

    handle, base = Handle.from_buffer_copy(bytes.fromhex(entry["handle"])), ctypes.c_uint64()
    assert cuda.cuIpcOpenMemHandle_v2(ctypes.byref(base), handle, 1) == 0
    host = torch.empty(entry["shape"], dtype={"f32": torch.float32, "f64": torch.float64}[entry["dtype"]])
    source = ctypes.c_uint64(base.value + entry["handle_offset"])
    assert cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(host.data_ptr()), source, ctypes.c_size_t(entry["physical_bytes"])) == 0
    assert cuda.cuIpcCloseMemHandle(base) == 0
    return host


def test_hello_describes_the_gpu(worker):
    device = worker.ask("hello")["device"]
    assert device["kind"] == "cuda" and device["l2_bytes"] > 0 and device["sm_count"] > 0 and len(device["uuid"]) > 30


def test_trace_is_of_the_host_before_and_of_the_gpu_after(loaded):
    before = loaded.ask("trace")["graph"]
    loaded.ask("prepare_inputs", set="a")
    loaded.ask("expected", set="a")
    after = loaded.ask("trace")["graph"]
    assert [n["op"] for n in before["nodes"]] == [n["op"] for n in after["nodes"]]
    assert [n["args"] for n in before["nodes"]] == [n["args"] for n in after["nodes"]]


def test_another_process_reads_the_tensors(loaded):
    loaded.ask("prepare_inputs", set="a", seed=3, family="normal", weights="perturbed")
    loaded.ask("expected", set="a")
    tensors = loaded.ask("export_tensors", set="a", kinds=["input", "parameter", "expected", "eager"], where="ipc")[
        "tensors"
    ]
    torch.cuda.init(), torch.empty(1, device="cuda")  # a context for the driver calls
    values = {(t["kind"], t["name"]): opened(t) for t in tensors}
    x, w, b = (
        values["input", "0"].double(),
        values["parameter", "l.weight"].double(),
        values["parameter", "l.bias"].double(),
    )
    expected = torch.relu(x @ w.t() + b)
    torch.testing.assert_close(values["expected", "output.0"], expected, rtol=1e-12, atol=1e-10)
    torch.testing.assert_close(values["eager", "output.0"].double(), expected, rtol=1e-4, atol=1e-4)


def test_times(loaded):
    loaded.ask("prepare_inputs", set="a")
    block = loaded.ask("time_eager", set="a", reps=5, warmups=2)
    assert len(block["seconds"]) == 5 and 1e-6 < block["median_s"] < 1 and block["fresh_content"]
    assert loaded.ask("memory", set="a")["peak_bytes"] > 0


def test_families_on_the_gpu(loaded):
    from solstice.oracle import families

    for family in families.NAMES:
        assert loaded.ask("prepare_inputs", set="f", family=family)["applies"]
        value = loaded.ask("expected", set="f")["values"][0]
        assert value["eager_error"] is not None and value["eager_error"] < 1e-5, (family, value)


def test_oracle_that_does_not_fit_is_computed_in_parts(tmp_path):
    from solstice.handler import collect_requests
    from solstice.loading import load_file
    from solstice.oracle.session import Session

    free = torch.cuda.mem_get_info()[0]
    rows = int(free * 0.1) // (4 * 65536)  # x and y a tenth each, their float64 a fifth, three temporaries more
    (tmp_path / "large.py").write_text(f"""
import torch
class Model(torch.nn.Module):
    def forward(self, x): return x * torch.sigmoid(x) + torch.tanh(x) * torch.exp(-x)
def get_inputs(): return [torch.rand({rows}, 65536)]
def get_init_inputs(): return []
""")
    session = Session(torch.device("cuda", 0), load_file(str(tmp_path / "large.py")))
    ask = collect_requests(session)
    ask["prepare_inputs"](set="a")
    reply = ask["expected"](set="a")
    assert reply["parts"] > 1 and reply["values"][0]["eager_error"] < 1e-6
    session.sets.clear()
    torch.cuda.empty_cache()
