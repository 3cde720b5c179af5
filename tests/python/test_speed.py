"""The scripts of the speed tables, without a GPU: every row has a plan, and the table says what was reached."""

import json
import subprocess
import sys
import types

import pytest
from conftest import ROOT

SPEED = ROOT / "bench/speed"
sys.path.insert(0, str(SPEED))
MET = {
    "work": "softmax",
    "shape": "8 x 9 f32",
    "bar": 0.9,
    "of": "copy",
    "ratio": 0.95,
    "ms": 1.5,
    "TB/s": 4.0,
    "error": 1e-8,
    "how": "rows()",
}


def table(tmp_path, *rows):
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"machine": {"device": "a GPU"}, "results": rows}))
    return subprocess.run(
        [sys.executable, str(SPEED / "table.py"), "--from", str(file)], capture_output=True, text=True
    )


def test_a_bar_that_is_met(tmp_path):
    done = table(tmp_path, MET)
    assert done.returncode == 0, done.stderr
    assert "| softmax, 8 x 9 f32 | 0.9 of copy | 0.950 | 1.5 ms, 4 TB/s |  | 1.0e-08 | rows() |" in done.stdout
    assert "1 of 1 bars are met" in done.stdout


@pytest.mark.parametrize(
    "row",
    [MET | {"ratio": 0.89}, MET | {"speedup": 0.9, "floor": 0.99}, {"work": "scan", "shape": "", "failed": "no GPU"}],
)
def test_a_bar_that_is_missed_or_has_no_figure(row, tmp_path):
    done = table(tmp_path, MET, row)
    assert done.returncode == 1 and "1 of 2 bars are met" in done.stdout


def test_an_unknown_script_is_refused():
    done = subprocess.run([sys.executable, str(SPEED / "table.py"), "softmax"], capture_output=True, text=True)
    assert done.returncode == 2 and "elementwise" in done.stderr


@pytest.mark.parametrize("script", ["elementwise", "rows", "gemm"])
@pytest.mark.parametrize("quick", [True, False])
def test_every_row_has_a_plan(script, quick, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: types.SimpleNamespace(L2_cache_size=60 << 20))
    import harness
    import works

    if not (ROOT / "build/bin/solstice").exists():
        pytest.skip(f"{harness.solstice()} is not built; run ./x build")
    for work in __import__(script).works(quick, 0):
        assert works.plan(work, "reference")[0]["schedules"], work.work
