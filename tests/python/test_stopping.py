"""The built program when it is stopped: Ctrl-C, an end of its time, a kill, a full disk.

It ends within a second or two, with what it has by then, and leaves an earlier outcome as it was.
"""

import json
import re
import resource
import signal
import time

import pytest
from real_program import MODEL, earlier, needs_program, optimize, store_of, until, whole

pytestmark = needs_program


@pytest.mark.slow
def test_a_full_disk_names_the_path_and_leaves_the_earlier_outcome(run, write_model, tmp_path):
    path, out = write_model(MODEL), tmp_path / "out"
    before = earlier(run, path, out)

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

    code, _, err = optimize(run, path, out, "--store", tmp_path / "store", preexec_fn=small)
    assert code == 3 and any(f"error[{c}]" in err for c in ("disk_full", "store_error")), err
    assert str(tmp_path) in err
    assert whole(before, out)


@pytest.mark.slow
def test_a_killed_run_leaves_the_earlier_outcome(run, start, write_model, tmp_path):
    path, out = write_model(MODEL), tmp_path / "out"
    before = earlier(run, path, out)
    process = start("optimize", path, "--device", "model", "--out", out)
    until(process, "plan")
    process.kill()
    process.communicate()
    assert whole(before, out)
    assert optimize(run, path, out)[0] == 0 and not (out / ".fresh").exists()


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_so_far(start, write_model, tmp_path):
    process = start("optimize", write_model(MODEL), "--device", "model", "--out", tmp_path / "out")
    until(process, "trial 1:")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "\ncontinue with: solstice optimize --resume 2" in out, out + err
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["predicted"] and report["outcome"] == "interrupted" and "so far" in report["reason"], report["reason"]


@pytest.mark.slow
def test_ctrl_c_in_a_part_keeps_what_was_found(start, write_model, tmp_path):
    text = """
        import torch
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.up, self.down = torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256)
            def forward(self, x):
                return self.down(torch.dropout(torch.nn.functional.gelu(self.up(x)), 0.1, True))
        def get_inputs(): return [torch.randn(2048, 256)]
        def get_init_inputs(): return []
    """
    process = start("optimize", write_model(text), "--device", "model", "--out", tmp_path / "out")
    until(process, "trial 1:")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["predicted"] and report["outcome"] == "interrupted" and "so far" in report["reason"], report["reason"]


# Steps that are no recurrence for a scan, each a result: planning and compiling take a while.
STEPS = """
    import torch
    class Model(torch.nn.Module):
        def forward(self, x, a):
            h, out = x[:, 0], []
            for t in range(160):
                h = torch.tanh(a * h + x[:, t])
                out.append(h)
            return torch.stack(out, 1)
    def get_inputs(): return [torch.rand(8, 160, 64), torch.rand(64)]
    def get_init_inputs(): return []
"""


@pytest.mark.slow
def test_ctrl_c_ends_planning(start, write_model, tmp_path):
    process = start("optimize", write_model(STEPS), "--device", "model", "--out", tmp_path / "out")
    until(process, "plan")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "error[interrupted]" in err, err
    assert time.monotonic() - began < 10  # of what is 2 s on a machine of its own


@pytest.mark.slow
def test_a_budget_of_seconds_ends_a_long_program(run, write_model, tmp_path):
    path, out = write_model(STEPS), tmp_path / "out"
    assert run("import", path)[0] == 0  # the trace is kept: it counts in the budget too
    began = time.monotonic()
    code, _, err = run("optimize", path, "--device", "model", "--budget", "8s", "--out", out)
    assert code == 0, err
    assert time.monotonic() - began < 60  # 12 s on a machine of its own


# A trace that takes longer than anybody wants to wait.
SLOW_TRACE = """
    import time, torch
    class Model(torch.nn.Module):
        def forward(self, x):
            time.sleep(40)
            return torch.relu(x)
    def get_inputs(): return [torch.randn(8, 8)]
    def get_init_inputs(): return []
"""


@pytest.mark.slow
def test_a_budget_ends_a_trace(run, write_model, tmp_path):
    began = time.monotonic()
    out = tmp_path / "out"
    code, _, err = run("optimize", write_model(SLOW_TRACE), "--device", "model", "--budget", "2s", "--out", out)
    assert code == 3 and "error[deadline]" in err, err
    assert "the budget of 2 s was used up before PyTorch had traced the module" in err and "--budget 60s" in err, err
    assert time.monotonic() - began < 35  # 4 s on a machine of its own


# Some 500 kernels, most of which differ in nothing but their tensors.
DEEP = """
    import torch
    from torch import nn
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(
                nn.Sequential(nn.Linear(64, 96), nn.LayerNorm(96), nn.Linear(96, 64), nn.GELU()) for _ in range(176)
            )
        def forward(self, x):
            for layer in self.layers:
                x = x + layer(x)
            return x
    def get_inputs(): return [torch.randn(32, 64)]
    def get_init_inputs(): return []
"""


def seconds_of(err, stage):
    """Of a stage, as its line says it."""
    took = re.search(rf"{stage} done: .*\(([\d.]+) (ms|s)\)$", err, re.MULTILINE)
    return float(took[1]) / (1000 if took[2] == "ms" else 1)


@pytest.mark.slow
def test_a_budget_is_that_of_planning_and_trials(run, write_model, tmp_path):
    path, out = write_model(DEEP), tmp_path / "out"
    assert run("import", path)[0] == 0  # the trace is kept
    code, _, err = run("optimize", path, "--device", "model", "--budget", "8s", "--out", out)
    assert code == 0, err
    report = json.loads((out / "report.json").read_text())
    assert report["outcome"] == "predicted" and len(report["candidates"]) >= 1, report["reason"]
    took = sum(seconds_of(err, stage) for stage in ("import", "plan", "search"))
    assert took < 30, err  # 9 s on a machine of its own


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["import", "plan", "search"])
def test_ctrl_c_ends_each_stage_of_a_deep_module(start, write_model, tmp_path, stage):
    process = start("optimize", write_model(DEEP), "--device", "model", "--out", tmp_path / "out")
    until(process, f" {stage}:")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert time.monotonic() - began < 10  # of what is 2 s on a machine of its own


@pytest.mark.slow
def test_ctrl_c_before_the_first_trial_leaves_the_earlier_outcome(run, start, write_model, tmp_path):
    path, out, store = write_model(MODEL), tmp_path / "out", tmp_path / "store"
    before = earlier(run, path, out)
    process = start("optimize", path, "--device", "model", "--out", out, "--store", store)
    until(process, "oracle")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "error[interrupted]" in err, err
    assert f"the earlier outcome in {out} is unchanged" in err
    assert whole(before, out) and not (out / ".fresh").exists()
    kept = store_of(run, store)
    assert kept["state"] == kept["outcome"] == "interrupted" and "before" in kept["reason"], kept
