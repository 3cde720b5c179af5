"""Searches that go on, on a real GPU: a run that was killed, and problems whose searches took turns. Each comes to its
end with candidates that another process measured."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

pytest.importorskip("torch")

from conftest import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "python"))

MODULE = """
import torch
class Model(torch.nn.Module):
    def forward(self, x): return RESULT
def get_inputs(): return [torch.rand(4096, 4096)]
def get_init_inputs(): return []
"""
RESULTS = {1: "torch.softmax(torch.relu(x), dim=1)", 2: "x / x.norm(dim=1, keepdim=True)"}


@pytest.fixture
def solstice(tmp_path):
    from solstice.errors import OracleError
    from solstice.launch import find_program

    try:
        program = find_program()
    except OracleError as error:
        pytest.skip(f"{error.message}: nothing was searched")
    (tmp_path / "kb/level1").mkdir(parents=True)
    for number, result in RESULTS.items():
        (tmp_path / f"kb/level1/{number}_Problem.py").write_text(MODULE.replace("RESULT", result))

    def begin(*words):
        homes = {"SOLSTICE_HOME": str(tmp_path / "home")}
        return subprocess.Popen(
            [str(word) for word in (program, *words)],
            env={**os.environ, **homes},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    return begin


def rows(tmp_path, query):
    try:
        with sqlite3.connect(f"file:{tmp_path / 'home/runs.db'}?mode=ro", uri=True) as store:
            return store.execute(query).fetchall()
    except sqlite3.OperationalError:  # it has not got so far
        return []


def measured(tmp_path):
    """Trials by their first measurement: the full verification measures again what it refuses."""
    again = (
        "SELECT 1 FROM events a WHERE a.run = e.run AND a.node = e.node AND a.kind = 'again' AND a.number < e.number"
    )
    return rows(
        tmp_path,
        f"SELECT run, node FROM events e WHERE kind = 'measured' AND node > 0 AND NOT EXISTS ({again}) "
        "ORDER BY run, number",
    )


def test_a_killed_run_comes_to_its_end(solstice, tmp_path):
    options = ("--store", tmp_path / "home", "--out", tmp_path / "out", "--budget", "60s,12trials")
    command = ("optimize", tmp_path / "kb/level1/1_Problem.py", "--eps", "0", "--window", "0", "--allow-busy", *options)
    killed = solstice(*command)
    while killed.poll() is None and len(measured(tmp_path)) < 8:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    again = solstice(*command, "--resume", "last")
    out, _ = again.communicate(timeout=300)
    assert again.returncode == 0, out
    trials = measured(tmp_path)
    assert len(trials) >= 8 and len(set(trials)) == len(trials)
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert report["outcome"] == "faster", out
    assert sum(c["timing"] is not None for c in report["candidates"]) > 1  # finalists, measured before it was killed


# A run of many candidates, killed at random moments until it comes to its end; then another, until there were so many
# kills.
KILLS = int(os.environ.get("SOLSTICE_KILLS", "4"))
CHAIN = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2048, 2048)
    def forward(self, x): return torch.softmax(torch.nn.functional.gelu(self.linear(x)), dim=1)
def get_inputs(): return [torch.rand(1024, 2048)]
def get_init_inputs(): return []
"""


def test_kills_at_random_moments_lose_and_repeat_no_trial(solstice, tmp_path):
    module = tmp_path / "chain.py"
    module.write_text(CHAIN)
    options = (
        "--store", tmp_path / "home", "--budget", "120s,60trials", "--eps", "0", "--window", "0", "--no-baselines",
        "--allow-busy",
    )  # fmt: skip
    moments = random.Random(11)
    kills, runs, while_searching, known = 0, 0, 0, []
    while kills < KILLS:
        out, ended = tmp_path / f"out{runs}", False
        more = ()
        while not ended:
            process = solstice("optimize", module, "--out", out, *options, *more)
            if kills < KILLS:
                try:
                    process.wait(moments.uniform(2, 8))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    kills += 1
            text, _ = process.communicate(timeout=300)
            ended = process.returncode == 0
            assert ended or process.returncode == -signal.SIGKILL, text
            trials = measured(tmp_path)
            assert trials[: len(known)] == known and len(set(trials)) == len(
                trials
            )  # none is lost, none is there twice
            while_searching += not ended and len(trials) > len(known)
            known = trials
            more = ("--resume", "last") if len(rows(tmp_path, "SELECT id FROM runs")) > runs else ()
        runs += 1
        assert json.loads((out / "report.json").read_text())["outcome"] in ("faster", "not faster"), text
    print(
        f"{kills} kills of {runs} runs, {while_searching} of them while trials came in; {len(known)} trials, each once"
    )


def test_searches_that_took_turns_come_to_their_ends(solstice, tmp_path):
    total = ("--total", "16trials", "--budget", "60s,12trials", "--schedule", "log-gain(stop=0)", "--opponents", "none")
    done = solstice(
        "bench", "kernelbench", "--path", tmp_path / "kb", *total, "--allow-busy", "--out", tmp_path / "out"
    )
    out, _ = done.communicate(timeout=300)
    assert done.returncode == 0, out
    rows = json.loads((tmp_path / "out/bench.json").read_text())["rows"]
    assert [row["id"] for row in rows] == ["1/1", "1/2"]
    for row in rows:
        variant = row["variants"][0]
        assert not variant["failed"] and variant["outcome"] == "faster", (variant, out)
        assert variant["turns"]["trials"] >= 3
    assert sum(row["variants"][0]["turns"]["trials"] for row in rows) <= 16
