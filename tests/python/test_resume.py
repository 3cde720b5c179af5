"""A run that goes on: as it was where nothing else is said, and as it was before where nothing comes of it."""

import contextlib
import json
import pathlib
import sqlite3
import subprocess

import pytest
import torch

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = ROOT / "build" / "bin" / "solstice"
SOFTMAX = ROOT / "examples" / "softmax.py"

pytestmark = [
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built: `./x build`"),
    pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU"),
    pytest.mark.usefixtures("warm_python"),
]


class Place:
    """A working folder with a store."""

    def __init__(self, folder):
        self.folder = folder
        self.store = folder / "store"

    def call(self, *arguments):
        command = [PROGRAM, *map(str, arguments), "--store", str(self.store)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=self.folder)

    def done(self, *arguments):
        result = self.call(*arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def refused(self, *arguments):
        result = self.call(*arguments)
        assert result.returncode != 0, result.stdout
        return result.stderr

    def run(self):
        return json.loads(self.done("show", "last", "--json"))["run"]

    def report(self, folder):
        return json.loads((self.folder / folder / "report.json").read_text())

    def change(self, **members):
        """Of the only run's record, as if another machine or program had written it."""
        with contextlib.closing(sqlite3.connect(self.store / "runs.db")) as database, database:
            ((text,),) = database.execute("SELECT record FROM runs").fetchall()
            database.execute("UPDATE runs SET record = ?", (json.dumps(json.loads(text) | members),))


def as_a_gpu_would(batch):
    """Writes what was predicted, and what the original takes."""
    for result in (batch / "results").glob("[0-9].json"):
        kept = json.loads(result.read_text())
        kept["measurement"]["state"] = "verified"
        result.write_text(json.dumps(kept))
    original = json.loads((batch / "results" / "original.json").read_text())
    timed = original | {"predicted": False, "time": 1e-3, "device": "NVIDIA H200"}
    (batch / "results" / "original.json").write_text(json.dumps(timed))


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_a_resume_that_fails_leaves_the_run_as_it_was(place):
    place.done("optimize", SOFTMAX, "--budget", "60s,2trials", "--out", "one")
    before = place.run()
    assert before["summary"]["bounds"]["io"] > 0
    for more, said in (("--device gpu", "use --device model"), ("--devices 0", "leave --devices out")):
        assert said in place.refused("optimize", "--resume", "last", *more.split(), "--budget", "60s,9trials")
        assert place.run() == before
    place.change(device="NVIDIA H200")
    assert "no GPU is here" in place.refused("optimize", "--resume", "last")
    assert place.run() == before | {"device": "NVIDIA H200"}


def test_what_waits_for_results_is_not_predicted_unasked(place):
    place.done("propose", SOFTMAX, "--batch", 2, "--out", place.folder / "batch")
    before = place.run()
    said = place.refused("optimize", "--resume", "last")
    assert "2 results are out" in said and "--give-up" in said and "--device model" in said
    assert place.run() == before and before["state"] == "waiting"
    place.done("optimize", "--resume", "last", "--device", "model", "--budget", "60s,2trials")
    assert place.run()["state"] == "finished"
    subprocess.run([PROGRAM, "evaluate", place.folder / "batch", "--device", "model"], check=True, capture_output=True)
    as_a_gpu_would(place.folder / "batch")
    taken = json.loads(place.done("absorb", place.folder / "batch", "--json"))
    assert (taken["taken"], taken["known"], taken["best"]["predicted"]) == (2, 0, False)
    assert json.loads(place.done("absorb", place.folder / "batch", "--json"))["known"] == 2


def test_no_measured_time_is_taken_where_its_limit_is_unknown(place):
    place.done("propose", SOFTMAX, "--batch", 1, "--out", place.folder / "batch")
    subprocess.run([PROGRAM, "evaluate", place.folder / "batch", "--device", "model"], check=True, capture_output=True)
    as_a_gpu_would(place.folder / "batch")
    place.change(summary=None)
    heard = json.loads(place.call("absorb", place.folder / "batch", "--json").stdout)
    assert heard["taken"] == 0 and "has no io bound to check measured times against" in heard["refused"][0]
    place.done("propose", "last", "--again", "--out", place.folder / "again")
    assert json.loads(place.done("absorb", place.folder / "batch", "--json"))["taken"] == 1


def test_a_damaged_original_costs_no_result(place):
    place.done("propose", SOFTMAX, "--batch", 1, "--out", place.folder / "batch")
    subprocess.run([PROGRAM, "evaluate", place.folder / "batch", "--device", "model"], check=True, capture_output=True)
    (place.folder / "batch" / "results" / "original.json").write_text("{")
    heard = json.loads(place.call("absorb", place.folder / "batch", "--json").stdout)
    assert heard["taken"] == 1 and "original.json" in heard["refused"][0]


@pytest.mark.parametrize(
    "damage, why",
    [
        (None, "the original's measured time is missing"),
        ({"batch": "another"}, "it belongs to another batch"),
        ({"time": 0}, "it has no time"),
        ({"predicted": True}, "the original's measured time is missing"),
    ],
)
def test_results_without_their_original_are_measured_all_the_same(place, damage, why):
    batch = place.folder / "batch"
    place.done("propose", SOFTMAX, "--batch", 1, "--out", batch)
    subprocess.run([PROGRAM, "evaluate", batch, "--device", "model"], check=True, capture_output=True)
    as_a_gpu_would(batch)
    original = batch / "results" / "original.json"
    whole = json.loads(original.read_text())
    original.write_text(json.dumps(whole | damage)) if damage else original.unlink()
    for taken in (1, 0):  # it is said as long as it is so
        heard = json.loads(place.call("absorb", batch, "--json").stdout)
        assert heard["taken"] == taken and "best" in heard and not heard["best"]["predicted"]
        assert len(heard["refused"]) == 1 and "original.json: " + why in heard["refused"][0]
    assert "was measured on a GPU, and no GPU is here" in place.refused("optimize", "--resume", "last")
    assert "--device (the run has a GPU, given is model)" in place.refused(
        "optimize", "--resume", "last", "--device", "model"
    )
    place.change(device="model")
    assert json.loads(place.done("memory", "rebuild", "--json"))["runs"] == 1
    original.write_text(json.dumps(whole))
    assert json.loads(place.done("absorb", batch, "--json"))["original"] == 1e-3
    assert place.run()["device"] == "NVIDIA H200"


def test_a_run_of_batches_keeps_its_machine(place):
    place.done("propose", SOFTMAX, "--batch", 1, "--machine", "h100_sxm", "--out", place.folder / "batch")
    place.done("optimize", "--resume", "last", "--device", "model", "--budget", "60s,1trials")
    assert (place.run()["machine"], place.run()["state"]) == ("h100_sxm", "finished")


def test_a_part_of_the_budget_leaves_the_other(place):
    place.done("optimize", SOFTMAX, "--budget", "50s,3trials", "--out", "mine")
    place.done("optimize", "--resume", "last", "--budget", "2m")
    assert place.report("mine")["options"]["budget"] == "120 s, 3 trials"
    place.done("optimize", "--resume", "last", "--budget", "4trials")
    assert place.report("mine")["options"]["budget"] == "120 s, 4 trials"
    options = place.run()["options"]
    assert (options["budget"], options["trials"]) == (120, 4)


def test_a_search_goes_on_under_its_own_terms(place):
    led = (
        "--budget", "50s,3trials", "--window", 2, "--eps", 0.5, "--roi", 0.125, "--memory", "off", "--policy", "mcts",
        "--seed", 5, "--findings", "off", "--counters", "auto",
    )  # fmt: skip
    place.done("optimize", SOFTMAX, *led, "--out", "mine")
    before = place.run()
    place.done("optimize", "--resume", "last")
    after = place.run()
    assert (before["options"]["findings"], before["options"]["counters"]) == (False, True)
    for same in ("options", "policy", "seed", "folder"):
        assert after[same] == before[same]
    assert not (place.folder / "runs").exists()
    report = place.report("mine")
    assert (report["options"]["budget"], report["options"]["memory"]) == ("50 s, 3 trials", "off")
    refused = place.refused("optimize", "--resume", "last", "--findings", "on")
    assert "--findings (the run has off, given is on)" in refused
    place.done(
        "optimize", "--resume", "last", "--policy", "greedy", "--seed", 6, "--window", 0, "--budget", "50s,4trials",
        "--out", "other",
    )  # fmt: skip
    after = place.run()
    assert (after["policy"], after["seed"], after["folder"]) == ("greedy", 6, str(place.folder / "other"))
    assert (after["options"]["window"], after["options"]["trials"], after["options"]["eps"]) == (0, 4, 0.5)


def test_an_empty_id_names_no_run(place):
    place.done("optimize", SOFTMAX, "--budget", "60s,1trials")
    assert "--resume is empty" in place.refused("optimize", "--resume", "")
    assert "RUN is empty" in place.refused("propose", "")


def test_a_mistyped_store_is_not_made(place):
    for command in (
        ["show"],
        ["memory", "rebuild"],
        ["optimize", "--resume", "last"],
        ["propose", "last"],
        ["show", "last"],
    ):
        assert "is no run store: it has no runs.db" in place.refused(*command)
        assert not place.store.exists()


# Answers that nothing is left of the program that it was asked about, and keeps count.
GIVES_UP = r"""#!/bin/sh
cat > /dev/null
echo asked >> "$(dirname "$0")/asked"
echo '{"text": "{\\"reason\\": \\"enough\\", \\"nothing_left\\": \\"here\\", \\"edits\\": [], \\"program\\": \\"\\"}"}'
"""


def test_a_model_that_takes_over_again_is_asked(place):
    script = place.folder / "model.sh"
    script.write_text(GIVES_UP)
    script.chmod(0o755)
    model = ("--agent", "flat", "--provider", "command", "--option", f"command={script}", "--expert", 1)

    def asked():
        return len((place.folder / "asked").read_text().splitlines())

    place.done("optimize", SOFTMAX, *model, "--budget", "60s,2trials", "--window", 3, "--eps", 0)
    first = asked()
    account = place.run()["summary"]["agent"]["account"]
    assert first > 0
    place.done("optimize", "--resume", "last", "--budget", "60s,12trials")
    run = place.run()
    assert run["summary"]["agent"]["account"] == account and asked() == first
    assert place.report("runs/softmax")["agent"]["account"] == account
    assert run["summary"]["stop"] == "window"
    place.done("optimize", "--resume", "last", *model, "--budget", "60s,30trials")
    assert asked() > first
    assert place.run()["summary"]["agent"]["account"]["calls"] == asked()


def test_a_first_model_is_asked_or_the_budget_is_refused(place):
    script = place.folder / "model.sh"
    script.write_text(GIVES_UP)
    script.chmod(0o755)
    model = ("--agent", "flat", "--provider", "command", "--option", f"command={script}", "--expert", 1)
    place.done("optimize", SOFTMAX, "--budget", "50s,2trials")
    before = place.run()
    said = place.refused("optimize", "--resume", "last", *model)
    assert "has 2 trials, and its budget is 2: none is left for flat" in said and "--budget 42trials" in said
    assert place.run() == before
    place.done("optimize", "--resume", "last", *model, "--budget", "4trials")
    assert (place.folder / "asked").exists()
    assert place.report("runs/softmax")["options"]["budget"] == "3600 s, 4 trials"
    place.done("optimize", SOFTMAX, *model, "--budget", "2trials", "--out", "new")
    assert place.report("new")["options"]["budget"] == "3600 s, 2 trials"
