"""`solstice doctor` and `solstice calibrate` on a real GPU."""

import json
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from conftest import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "python"))


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def gpu_finding(program):
    found = json.loads(output_of(program, "doctor", "--json"))["findings"]
    return next(f for f in found if f["part"] == "GPU 0")


def test_doctor_sees_the_gpu(program):
    finding = gpu_finding(program)
    assert torch.cuda.get_device_name(0) in finding["found"]


def test_doctor_says_who_holds_memory(program):
    """Another process takes four fifths of what is free."""
    script = (
        "import torch, sys; free, _ = torch.cuda.mem_get_info(); "
        "x = torch.empty(int(free * 0.8), dtype=torch.uint8, device='cuda'); print('held', flush=True); "
        "sys.stdin.read()"
    )
    torch.cuda.empty_cache()
    hog = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert hog.stdout.readline() == "held\n"
        finding = gpu_finding(program)
    finally:
        hog.stdin.close()
        hog.wait()
    print(finding)
    assert "others" in finding["costs"]


def test_calibrate_stays_below_the_datasheet(program, tmp_path):
    out = tmp_path / "machine.toml"
    done = json.loads(output_of(program, "calibrate", "--out", str(out), "--json"))
    text = out.read_text()
    for key in ("copy", "read", "write", "l2_read", "launch", "eager_launch", "grid_sync", "versions", "command"):
        assert f"\n{key} = " in text, key
    print(text[text.index("[measured]") :])
    assert 1e12 < done["ceilings"]["copy"] < done["ceilings"]["l2_read"]
