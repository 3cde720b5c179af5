"""solstice profile RUN: a trial of a run, profiled again on the run's module."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import textwrap

import pytest
from real_program import PROGRAM, needs_program

pytestmark = needs_program

# In training mode it is another module: every element is doubled or 0.
MODEL = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.dropout = torch.nn.Dropout(0.5)

        def forward(self, x):
            return torch.softmax(self.dropout(x), 1)

    def get_inputs():
        return [torch.rand(64, 128)]

    def get_init_inputs():
        return []
"""


@pytest.fixture(scope="module")
def searched(homes, tmp_path_factory):
    """A folder with a module and a store that has one run of it."""
    folder = tmp_path_factory.mktemp("searched")
    (folder / "model.py").write_text(textwrap.dedent(MODEL))
    terms = ["--eval", "--numerics", "high", "--weights", "frozen"]
    places = ["--device", "model", "--store", "store", "--out", "out"]
    command = [PROGRAM, "optimize", "model.py", *terms, *places, "--budget", "60s,2trials"]
    environment = {**os.environ, **homes}
    done = subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def place(run, searched, tmp_path):
    """A copy of it, and calls of the program there."""

    class Place:
        file = str(tmp_path / "model.py")
        store = tmp_path / "store"

        def profile(self, *arguments):
            return run("profile", *arguments, "--device", "model", "--store", self.store)

        def done(self, *arguments):
            code, out, err = self.profile(*arguments, "--json")
            assert code == 0, err
            return json.loads(out), err

        def refused(self, *arguments):
            code, out, err = self.profile(*arguments)
            assert code == 2, out + err
            return err

        def shown(self):
            code, out, err = run("show", "last", "--json", "--store", self.store)
            assert code == 0, err
            return json.loads(out)

        def change(self, summary=None, options=None, **members):
            with contextlib.closing(sqlite3.connect(self.store / "runs.db")) as database, database:
                ((text,),) = database.execute("SELECT record FROM runs").fetchall()
                record = json.loads(text) | members
                record["summary"] |= summary or {}
                record["options"] |= options or {}
                database.execute("UPDATE runs SET record = ?", (json.dumps(record),))

    out = Place()
    shutil.copy(searched / "model.py", out.file)
    shutil.copytree(searched / "store", out.store)
    out.change(file=out.file)
    return out


def test_the_best_trial_of_a_run_is_profiled_as_it_was_tried(place):
    run = place.shown()
    answer, _ = place.done("last")
    best = min(run["trials"], key=lambda trial: trial["predicted"])
    assert answer["facts"]["program"] == best["program"]
    assert answer["facts"]["numerics"] == "high" and answer["facts"]["frozen"]
    assert answer["facts"]["machine"] == run["run"]["machine"]
    assert answer["subject"] == f"model, trial {best['number']} of run {run['run']['id']}"


def test_any_trial_is_named_by_its_number_and_the_beginning_of_an_id(place):
    run = place.shown()
    for trial in run["trials"]:
        answer, _ = place.done(run["run"]["id"][:11], "--trial", trial["number"])
        assert answer["facts"]["program"] == trial["program"]


def test_terms_that_are_given_take_the_place_of_the_runs(place):
    answer, _ = place.done("last", "--weights", "live")
    assert answer["facts"]["numerics"] == "high" and not answer["facts"]["frozen"]
    assert "looser than this run's `reference`" in place.refused("last", "--numerics", "reference")


def test_a_page_and_facts_are_written_of_a_run(place, tmp_path):
    place.done("last", "--html", tmp_path / "page.html", "--facts", tmp_path / "facts.json")
    assert "trial" in (tmp_path / "page.html").read_text().split("<title>")[1].split("</title>")[0]
    assert json.loads((tmp_path / "facts.json").read_text())["schema"] == "solstice.facts/1"


def test_a_trial_that_is_not_there_is_refused(place):
    err = place.refused("last", "--trial", "99")
    assert "has no trial 99" in err and "solstice show" in err
    assert "no run" in place.refused("19990101")
    err = place.refused(place.file, "--trial", "1")
    assert "--trial goes with a run" in err and "solstice show" in err


def test_a_trial_without_a_program_is_refused(place):
    with contextlib.closing(sqlite3.connect(place.store / "runs.db")) as database, database:
        for number, text in database.execute("SELECT number, record FROM trials").fetchall():
            record = json.dumps(json.loads(text) | {"program": ""})
            database.execute("UPDATE trials SET record = ? WHERE number = ?", (record, number))
    assert "has no program" in place.refused("last", "--trial", "1")


def test_a_module_that_moved_is_named_anew(place, tmp_path):
    moved = tmp_path / "moved.py"
    os.rename(place.file, moved)
    err = place.refused("last")
    assert f"is gone: {place.file}" in err and "--of FILE.py" in err and "solstice export" in err
    answer, _ = place.done("last", "--of", moved)
    assert answer["facts"]["kernels"]


def test_a_file_that_changed_is_said_to_have(place):
    with open(place.file, "a") as file:
        file.write("\n# another line\n")
    _, err = place.done("last")
    assert "is not what it was when run" in err


@pytest.mark.parametrize(
    "change, says",
    [
        ({"file": ""}, ["was given as an object", "--of FILE.py:NAME"]),
        ({"options": {"part": True, "part_of": "x"}}, ["of a stage of a module", "solstice export"]),
        ({"summary": {"cut": True}}, ["cut its module", "solstice show"]),
    ],
)
def test_a_module_that_no_file_makes_is_refused(place, change, says):
    place.change(**change)
    err = place.refused("last")
    assert all(each in err for each in says), err


def test_last_is_a_run_and_a_file_is_a_file(place, run, tmp_path):
    for name in ("last", "2026"):
        (tmp_path / name).write_text("no program")
    assert place.done("last")[0]["subject"]
    assert "2026" in place.refused("2026") and "no run" not in place.refused("2026")
