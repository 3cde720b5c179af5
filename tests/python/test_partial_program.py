"""The built program on modules that PyTorch has to run a part of, without a GPU."""

import dataclasses
import importlib.util
import json
import re
import sqlite3
import subprocess
import sys

import pytest
import torch

import solstice
from real_program import PROGRAM, needs_program, until

MODEL = """
    import torch
    import torch.nn.functional as F

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256)

        def forward(self, x):
            return self.down(F.dropout(F.gelu(self.up(x)), 0.1, True))

    def get_inputs():
        return [torch.randn(2048, 256)]

    def get_init_inputs():
        return []
"""

REFUSED = MODEL.replace(
    "return self.down(F.dropout(F.gelu(self.up(x)), 0.1, True))",
    """y = torch.special.erfcx(self.up(x))
            y = F.conv_transpose1d(y.view(2048, 16, 64), self.mix, padding=1)
            return self.down(F.gelu(y.flatten(1)))""",
).replace(
    "torch.nn.Linear(1024, 256)\n",
    "torch.nn.Linear(1024, 256)\n            self.mix = torch.nn.Parameter(torch.randn(16, 16, 3))\n",
)


RECURRENT = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.out = torch.nn.LSTM(64, 128, batch_first=True), torch.nn.Linear(128, 512)

        def forward(self, x):
            return torch.relu(self.out(self.rnn(x)[0]))

    def get_inputs():
        return [torch.randn(16, 128, 64)]
"""

SPECTRUM = MODEL.replace(
    "return self.down(F.dropout(F.gelu(self.up(x)), 0.1, True))",
    "return self.down(torch.fft.irfft(self.gain * torch.fft.rfft(F.gelu(self.up(x)))))",
).replace(
    "torch.nn.Linear(1024, 256)\n",
    "torch.nn.Linear(1024, 256)\n            self.gain = torch.nn.Parameter(torch.randn(513, dtype=torch.cfloat))\n",
)


pytestmark = needs_program


@pytest.fixture
def environment(tmp_path, monkeypatch):
    homes = {
        "SOLSTICE_HOME": str(tmp_path / "home"),
        "SOLSTICE_CACHE": str(tmp_path / "cache"),
        "SOLSTICE_PYTHON": sys.executable,
    }
    for name, value in homes.items():
        monkeypatch.setenv(name, value)


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def optimize(file, out, *more, budget="60s,8trials"):
    return run("optimize", file, "--device", "model", "--budget", budget, "--no-baselines", "--out", out, *more)


@pytest.mark.slow
def test_a_module_is_not_lost_to_a_draw(environment, write_model, tmp_path):
    file, out = write_model(MODEL), tmp_path / "out"
    optimize(file, out)
    report = json.loads((out / "report.json").read_text())
    assert report["outcome"] == "predicted"
    assert re.search(
        r"predicted [\d.]+x faster, .* where PyTorch eager takes .*: \d of 3 parts are ours, ", report["reason"]
    )
    by_name = {row["what"]: row for row in report["parts"]}
    assert by_name.keys() == {"stage 1: linear, gelu", "stage 2: linear", "aten.dropout.default"}
    draw = by_name.pop("aten.dropout.default")
    assert (draw["ours"], draw["place"], draw["why"]) == (False, "model.py:11", "it draws random numbers")
    assert sum(row["share"] for row in report["parts"]) == pytest.approx(1)
    assert "## Parts" in (out / "report.md").read_text()
    assert {p.name for p in out.iterdir() if p.name.startswith("stage_")} <= {"stage_1", "stage_2"}
    shown = run("show", "last").stdout
    assert report["run"] in shown.splitlines()[0]  # `last` passes over the runs of its stages, which it names
    assert "model, stage 1" in shown
    run("show", "last", "--html", out / "page.html")
    assert "aten.dropout.default" in (out / "page.html").read_text()


@pytest.mark.slow
def test_a_call_has_one_price_in_the_parts_and_in_the_original(environment, write_model, tmp_path):
    """An LSTM goes step by step: what surrounds it cannot make the module much faster."""
    file, out = write_model(RECURRENT), tmp_path / "out"
    optimize(file, out, budget="60s,2trials")
    report = json.loads((out / "report.json").read_text())
    original = report["predicted_original"]
    priced = {row["op"]: row["time"] for row in original["operators"]}
    parts = {row["what"]: row for row in report["parts"]}
    assert parts["aten.lstm.input"]["original"] == pytest.approx(priced["lstm"])
    assert parts["stage 1: linear, relu"]["original"] == pytest.approx(priced["linear"] + priced["relu"])
    gain = float(re.search(r"predicted ([\d.]+)x faster", report["reason"]).group(1))
    saved = parts["stage 1: linear, relu"]["original"] - parts["stage 1: linear, relu"]["time"]
    assert gain == pytest.approx(original["time"] / (original["time"] - saved), rel=0.01)


@pytest.mark.slow
def test_the_predicted_drop_in_is_the_original_and_says_so(environment, write_model, tmp_path):
    out = tmp_path / "out"
    optimize(write_model(MODEL), out)
    spec = importlib.util.spec_from_file_location("partial_model_new", out / "model_new.py")
    scope = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scope)
    new, original, x = scope.ModelNew(), scope.Model(), torch.randn(2048, 256)
    new.load_state_dict(original.state_dict())
    torch.manual_seed(1)
    with torch.no_grad(), pytest.warns(UserWarning, match="predicted and not measured"):
        found = new(x)
    torch.manual_seed(1)
    assert torch.equal(found, original(x))


@pytest.mark.slow
def test_refused_calls_are_found_stage_by_stage(environment, write_model, tmp_path):
    """A call without equations, and one without a family behind it."""
    file = write_model(REFUSED)
    optimize(file, tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    why = {row["what"]: row["why"] for row in report["parts"] if row["why"]}
    assert "equations" in why["aten.special_erfcx.default"]
    assert "family" in why["aten.conv_transpose1d.default"]


@pytest.mark.slow
def test_a_stage_equal_to_an_earlier_one_begins_with_what_that_found(environment, write_model, tmp_path):
    text = MODEL.replace(
        "return self.down(F.dropout(F.gelu(self.up(x)), 0.1, True))",
        """for up in (self.up, self.again, self.third):
                x = F.dropout(F.layer_norm(F.gelu(up(x)), (256,)), 0.1, True)
            return x""",
    ).replace("torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256)", "torch.nn.Linear(256, 256), None")
    more = "\n            self.again, self.third = torch.nn.Linear(256, 256), torch.nn.Linear(256, 256)\n"
    file = write_model(text.replace("(256, 256), None\n", "(256, 256), None" + more))
    done = optimize(file, tmp_path / "out", budget="60s,8trials")  # trials are counted, on a slow machine too
    assert "equal to stage 1" in done.stderr
    database = sqlite3.connect(tmp_path / "home" / "runs.db")
    trials = [
        [
            json.loads(record)
            for (record,) in database.execute("SELECT record FROM trials WHERE run = ? ORDER BY number", run)
        ]
        for run in database.execute("SELECT id FROM runs WHERE id IN (SELECT run FROM trials) ORDER BY started")
    ]
    best = lambda found: min((t for t in found if t["state"] == "predicted"), key=lambda t: t["predicted"])
    first, second, third = trials
    assert len(first) > 2 >= max(len(second), len(third))
    assert second[0]["settings"] == third[0]["settings"] == best(first)["settings"]


LEVELS = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            widths = range(128, 640, 64)
            self.up = torch.nn.ModuleList([torch.nn.Linear(256, n) for n in widths])
            self.down = torch.nn.ModuleList([torch.nn.Linear(n, 256) for n in widths])

        def forward(self, x):
            for up, down in zip(self.up, self.down):
                x = down(torch.relu(up(x)))
                x = x[x.sum(-1).argsort()]
            return x

    def get_inputs():
        return [torch.randn(1024, 256)]
"""


@pytest.mark.slow
def test_a_short_budget_reaches_every_stage(environment, write_model, tmp_path):
    """An eighth of it is little time to search."""
    optimize(write_model(LEVELS), tmp_path / "out", budget="12s,40trials")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    stages = [row for row in report["parts"] if row["what"].startswith("stage")]
    assert len(stages) == 8 and all(row["trials"] >= 1 for row in stages), stages
    assert sum("not compiled" in str(row) for row in stages) <= 4, stages  # on a busy machine some take longer than 2 s


@pytest.mark.slow
def test_complex_numbers_are_pytorchs(environment, write_model, tmp_path):
    """Values that no program can hold enter PyTorch's calls and leave them; what is real around them is ours."""
    optimize(write_model(SPECTRUM), tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    whose = {row["what"]: row["ours"] for row in report["parts"]}
    calls = {"aten.fft_rfft.default", "aten.mul.Tensor", "aten.fft_irfft.default"}
    assert report["outcome"] == "predicted" and {name for name, ours in whose.items() if not ours} >= calls
    assert whose["stage 1: linear, gelu"]


@pytest.mark.slow
def test_a_module_of_one_unknown_operator_stays_unsupported(environment, write_model, tmp_path):
    text = MODEL.replace("return self.down(F.dropout(F.gelu(self.up(x)), 0.1, True))", "return torch.linalg.inv(x)")
    done = optimize(write_model(text.replace("2048, 256", "64, 64")), tmp_path / "out")
    assert (
        "unsupported: no equations for `aten.linalg_inv" in done.stdout
        and "nothing else of it is worth kernels; the module stays in PyTorch as it is" in done.stdout
    )


BRANCHES = MODEL.replace(
    "return self.down(F.dropout(F.gelu(self.up(x)), 0.1, True))",
    """h = self.down(F.gelu(self.up(x)))
            rows = (x[:, 0] > 0).nonzero().squeeze(1)
            if rows.numel() > 0:
                h.index_add_(0, rows, x[rows])
            return self.down(F.gelu(self.up(h)))""",
)


@pytest.mark.slow
def test_a_module_is_not_lost_to_a_branch_on_values(environment, write_model, tmp_path):
    file, out = write_model(BRANCHES.replace("2048, 256", "64, 256")), tmp_path / "out"
    optimize(file, out, budget="20s,2trials")
    report = json.loads((out / "report.json").read_text())
    assert report["outcome"] == "predicted"
    assert [row["what"] for row in report["parts"]].count("aten.nonzero.default") == 1
    assert any("model.py:" in text and "way of the example inputs" in text for text in report["warnings"])
    refused = subprocess.run([PROGRAM, "import", file], capture_output=True, text=True, timeout=300)
    assert refused.returncode == 2 and "if rows.numel() > 0" in refused.stderr
    assert "`solstice optimize` goes the way of the example inputs" in refused.stderr


@pytest.mark.slow
def test_a_module_that_is_not_cut_says_why_its_branches_are_not_known(environment, write_model, tmp_path):
    file = write_model(BRANCHES.replace("1024", "65536"))
    done = optimize(file, tmp_path / "out")
    assert "the module cannot be traced: the flow of control depends on the values" in done.stdout
    assert "it is too large to be run on a CPU" in done.stdout and "goes the way" not in done.stdout


@pytest.mark.slow
def test_a_graph_that_misses_an_effect_is_not_searched(environment, write_model, tmp_path):
    text = MODEL.replace(
        "        def forward(self, x):\n", "        def forward(self, x):\n            torch.manual_seed(7)\n"
    )
    done = optimize(write_model(text), tmp_path / "out")
    assert "calls one by one do not give its results (output.0 differs)" in done.stdout
    assert "stage 1: search" not in done.stderr


@pytest.mark.slow
def test_notes_of_the_import_are_those_of_the_whole(environment, write_model, tmp_path):
    text = MODEL.replace(
        "        def forward(self, x):\n",
        "        def forward(self, x):\n            torch._assert_async((x < 100).all(), 'too big')\n",
    )
    optimize(write_model(text), tmp_path / "out")
    warnings = json.loads((tmp_path / "out" / "report.json").read_text())["warnings"]
    assert any("a check of values is left out" in warning for warning in warnings)


@pytest.mark.slow
def test_from_python(environment):
    module = torch.nn.Sequential(
        torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Dropout(0.1), torch.nn.Linear(1024, 256)
    )
    options = {"device": "model", "budget": "60s,8trials", "baselines": False, "progress": False, "program": PROGRAM}
    found = solstice.optimize(module, torch.randn(2048, 256), **options).solstice
    assert found.outcome == "predicted"
    names = {each.name for each in dataclasses.fields(found.parts[0])}
    assert all(set(row) <= names for row in found.report["parts"])
    assert [part.what for part in found.parts if not part.ours and not part.what.startswith("stage")] == [
        "aten.dropout.default"
    ]


def stored(home):
    """Of each run, by its problem: id, state, and how many trials were proposed."""
    with sqlite3.connect(home / "runs.db") as database:
        rows = database.execute("SELECT id, record FROM runs ORDER BY started").fetchall()
        count = "SELECT count(*) FROM events WHERE run = ?"
        return {
            json.loads(record)["problem"]: (
                name,
                json.loads(record)["state"],
                database.execute(count, (name,)).fetchone()[0],
            )
            for name, record in rows
        }


@pytest.mark.slow
def test_a_run_of_parts_goes_on_where_it_was_killed(environment, tmp_path, write_model):
    out, home = tmp_path / "out", tmp_path / "home"
    options = ["--device", "model", "--budget", "60s,8trials", "--out", out]
    command = [PROGRAM, "optimize", write_model(MODEL), *map(str, options)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        until(process, "stage 2: search")
        process.kill()
    before = stored(home)
    assert before["model, stage 1"][1] == "finished" and before["model, stage 2"][1] == "running"
    refused = subprocess.run(
        [PROGRAM, "optimize", "--resume", before["model, stage 1"][0]], capture_output=True, text=True, timeout=300
    )
    assert refused.returncode == 2 and f"a part of run {before['model'][0]}" in refused.stderr
    assert f"hint: `solstice optimize --resume {before['model'][0]}`" in refused.stderr
    assert not (out / "report.json").exists()

    said = run("optimize", "--resume", before["model"][0]).stderr
    assert f"stage 1: run {before['model, stage 1'][0]} has searched it already" in said
    assert f"stage 2: run {before['model, stage 2'][0]} began its search" in said
    after = stored(home)
    assert {name: run_id for name, (run_id, *_) in after.items()} == {
        name: run_id for name, (run_id, *_) in before.items()
    }
    assert {state for _, state, _ in after.values()} == {"finished"}
    assert after["model, stage 1"] == before["model, stage 1"]  # nothing of it was tried again
    assert after["model, stage 2"][2] > before["model, stage 2"][2]
    report = json.loads((out / "report.json").read_text())
    assert report["outcome"] == "predicted" and len(report["parts"]) == 3

    kept = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    again = subprocess.run([PROGRAM, "optimize", "--resume", "last"], capture_output=True, text=True, timeout=300)
    assert again.returncode == 2 and "nothing is left to do" in again.stderr
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == kept


@pytest.mark.slow
def test_a_bench_cuts_too_and_its_row_says_how_much_is_ours(environment, tmp_path, write_model):
    (tmp_path / "problems" / "level1").mkdir(parents=True)
    write_model(MODEL, "problems/level1/1_Dropout.py")
    options = ["--device", "model", "--budget", "60s,8trials", "--opponents", "none"]
    run("bench", "kernelbench", "--path", tmp_path / "problems", *options, "--out", tmp_path / "bench")
    (row,) = json.loads((tmp_path / "bench" / "bench.json").read_text())["rows"]
    (variant,) = row["variants"]
    assert variant["outcome"] == "predicted" and variant["parts"]["all"] == 3
    assert 0 < variant["parts"]["share"] < 1
    assert f"{variant['parts']['ours']} of 3 parts ours" in (tmp_path / "bench" / "bench.md").read_text()
    run(
        "bench",
        "kernelbench",
        "--path",
        tmp_path / "problems",
        *options,
        "--total",
        "8trials",
        "--out",
        tmp_path / "one",
    )
    (row,) = json.loads((tmp_path / "one" / "bench.json").read_text())["rows"]
    assert row["variants"][0]["parts"]["all"] == 3
    assert 0 < row["variants"][0]["turns"]["trials"] <= 8


def test_refusals_of_a_draw_name_the_way_out(environment, write_model):
    drawing = MODEL.replace("F.dropout(F.gelu(self.up(x)), 0.1, True)", "F.dropout(self.up(x), 0.1, self.training)")
    done = subprocess.run([PROGRAM, "sol", write_model(drawing)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 2, done.stderr
    assert "hint: --eval traces" in done.stderr and "`solstice optimize` leaves such calls" in done.stderr
