"""A bench whose problems share one budget, as the built program runs it without a GPU: killed at any moment it goes on,
and every trial is recorded once."""

import json
import os
import signal
import sqlite3
import subprocess
import textwrap
import time

import pytest
from test_program import PROGRAM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="the program is not built; set SOLSTICE_PROGRAM or run ./x build"),
]

MODULE = '''
    """{name}"""
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            return {body}

    def get_inputs():
        return [torch.rand(256, {columns})]

    def get_init_inputs():
        return []
'''
BODIES = {
    "fft": "torch.fft.fft(x).abs()",
    "norm": "x / x.norm(dim=1, keepdim=True)",
    "soft": "torch.softmax(torch.relu(x), dim=1)",
}
TOTAL = 12


@pytest.fixture
def bench(tmp_path, warm_server):
    folder = tmp_path / "modules"
    folder.mkdir()
    for name, body in BODIES.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(MODULE.format(name=name, body=body, columns=4096)))

    def begin(*more):
        homes = {
            "SOLSTICE_HOME": str(tmp_path / "home"),
            "SOLSTICE_CACHE": str(tmp_path / "cache"),
            "SOLSTICE_PYTHON": str(warm_server),
        }
        command = [
            PROGRAM, "bench", "kernels", "--path", str(folder), "--device", "model", "--total", f"{TOTAL}trials",
            "--verbose",
        ]  # fmt: skip
        command += ["--out", str(tmp_path / "out"), *more]
        return subprocess.Popen(
            command, env={**os.environ, **homes}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    return begin


def _trials(tmp_path):
    """How often each trial of each run was measured."""
    database = sqlite3.connect(tmp_path / "home" / "runs.db")
    rows = database.execute("SELECT run, node FROM events WHERE kind = 'measured' AND node > 0").fetchall()
    return {row: rows.count(row) for row in rows}


def _wait_for(condition, process):
    while process.poll() is None and not condition():
        time.sleep(0.01)


def test_turns_are_taken_and_a_killed_bench_goes_on(bench, tmp_path):
    record = tmp_path / "out" / "bench.json"
    schedule = ("--schedule", "log-gain(stop=0)")  # so that the whole budget is used
    killed = bench(*schedule)
    _wait_for(lambda: record.exists() and len(json.loads(record.read_text() or "{}").get("open", {})) == 2, killed)
    _wait_for(lambda: len(_trials(tmp_path)) >= 3, killed)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    runs = json.loads(record.read_text())["open"]

    again = bench("--resume", *schedule)
    out, err = again.communicate(timeout=300)
    assert again.returncode == 0, err
    rows = {row["id"]: row["variants"][0] for row in json.loads(record.read_text())["rows"]}
    assert rows["fft"]["outcome"] == "unsupported" and rows["fft"]["turns"] is None
    for name, run in runs.items():  # not those that had a row when it was killed
        assert rows[name]["run"] == run
        report = json.loads((tmp_path / "out" / name / "report.json").read_text())
        assert len(report["candidates"]) == rows[name]["turns"]["trials"]
        assert report["timings"]["search"] == pytest.approx(rows[name]["turns"]["spent"])
    counts = _trials(tmp_path)
    assert set(counts.values()) == {1}
    assert len(counts) == TOTAL == sum(rows[name]["turns"]["trials"] for name in ("norm", "soft"))
    assert "2/3 norm: had " in err
    assert json.loads(record.read_text())["open"] == {}
    assert f"## One budget for all: {TOTAL}trials by log-gain(stop=0)" in (tmp_path / "out" / "bench.md").read_text()


def test_a_schedule_needs_a_total_and_one_policy(bench):
    for options, why in (
        (["--schedule", "fair"], "no schedule `fair`\n  hint: there are `log-gain` and `fixed`"),
        (["--numerics", "reference,high"], "--total takes a single column"),
        (["--total", "12"], "`12` has no unit"),
    ):
        wrong = bench(*options)
        _, err = wrong.communicate(timeout=60)
        assert wrong.returncode == 2 and why in err, err
