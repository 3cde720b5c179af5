"""Candidates that are measured elsewhere: batches that come back late, twice, in part, changed, or never."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

from batch_site import PROGRAM, ROOT, Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built: `./x build`"),
    pytest.mark.usefixtures("warm_python"),
]


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_a_batch_goes_out_and_comes_back(site):
    first = site.propose("one", "--batch", 3, run=ROOT / "examples" / "softmax.py")
    assert (first["candidates"], first["in_flight"]) == (3, 3)  # the expert goes on by what it expects
    assert sorted(path.name for path in (site.folder / "one").iterdir()) == ["batch.json", "candidates", "softmax.py"]
    assert site.evaluate("one") == {
        "measured": 3,
        "predicted": True,
        "usable": 3,
        "there": 0,
        "predictions": 0,
        "left": 0,
    }
    assert site.evaluate("one") == {
        "measured": 0,
        "predicted": True,
        "usable": 0,
        "there": 3,
        "predictions": 3,
        "left": 0,
    }
    taken = site.absorb("one")
    assert (
        (taken["taken"], taken["in_flight"]) == (3, 0) and taken["best"]["seconds"] > 0 and taken["best"]["predicted"]
    )
    second = site.propose("two", "--batch", 2)
    assert second["run"] == first["run"] and second["candidates"] == 2
    site.evaluate("two")
    assert site.absorb("two")["taken"] == 2
    assert site.states() == [1, 2, 3, 4, 5]


def test_a_module_that_would_be_cut_is_refused_with_the_way_out(site):
    module = ROOT / "examples" / "partial" / "custom_operator.py"
    done = site.text("propose", module, "--out", site.folder / "one", "--store", site.folder / "store")
    assert done.returncode == 2
    assert "no equations for `solstice_example.squared_relu.default`" in done.stderr
    assert "a batch holds candidates of a whole module: `solstice optimize`, where the GPU is" in done.stderr
    assert not (site.folder / "one").exists()


NOTE = "times are predicted by cost models, not measured\n"


def test_what_is_predicted_says_so_and_is_asked_for(site):
    site.propose("one", "--batch", 1, run=ROOT / "examples" / "softmax.py")
    if not pathlib.Path("/dev/nvidia0").exists():
        refused = site.text("evaluate", site.folder / "one")
        assert refused.returncode == 3 and "--device model" in refused.stderr
        assert "nothing is measured" not in refused.stderr and not (site.folder / "one" / "results").exists()
    assert site.text("evaluate", site.folder / "one", "--device", "model").stdout.endswith(
        "1 predicted, 1 of them usable; 0 had results already, 0 left\n" + NOTE
    )
    absorbed = site.text("absorb", site.folder / "one", "--store", site.folder / "store").stdout
    assert "best: trial 1, predicted " in absorbed and absorbed.endswith(NOTE)


def test_a_prediction_is_no_measurement(site):
    site.propose("one", "--batch", 1, run=ROOT / "examples" / "softmax.py")
    site.evaluate("one")
    again = site.text("evaluate", site.folder / "one", "--device", "model").stdout
    assert "0 predicted, 0 of them usable; 1 had results already (1 predicted), 0 left\n" in again
    if not pathlib.Path("/dev/nvidia0").exists():  # it would measure
        assert site.text("evaluate", site.folder / "one").returncode == 3


def test_an_original_that_is_of_no_use_is_written_again(site):
    site.propose("one", "--batch", 1, run=ROOT / "examples" / "softmax.py")
    site.evaluate("one")
    results = site.folder / "one" / "results"
    whole = json.loads((results / "original.json").read_text())
    for damage in ("{", json.dumps(whole | {"batch": "another"})):
        (results / "original.json").write_text(damage)
        (results / "1.json").unlink()
        assert site.evaluate("one")["measured"] == 1
        assert json.loads((results / "original.json").read_text()) == whole
    (results / "original.json").unlink()
    assert site.evaluate("one")["there"] == 1
    assert json.loads((results / "original.json").read_text()) == whole


# What a row adds to all its elements cancels in the row's softmax: a candidate need not read it.
GATE = """import torch


class Model(torch.nn.Module):
    def forward(self, x, row):
        return torch.softmax(x + row, dim=1)


def get_inputs():
    return [torch.rand(4096, 4), torch.rand(4096, 1)]


def get_init_inputs():
    return []
"""


def test_rewritten_candidates_are_judged_by_the_bytes_they_must_move(site):
    module = site.folder / "gate.py"
    module.write_text(GATE)
    site.propose("one", "--batch", 1, run=module)
    shown = subprocess.run(
        [PROGRAM, "show", "last", "--json", "--store", site.folder / "store"], check=True, capture_output=True
    )
    bound = json.loads(shown.stdout)["run"]["summary"]["bounds"]["io"]
    told = site.text("evaluate", site.folder / "one", "--device", "model").stderr
    said = re.search(r"speed of light done: io ([0-9.]+) us", told), re.search(r"cancel_bias: io ([0-9.]+) us", told)
    assert float(said[1][1]) < float(said[0][1]) and float(said[1][1]) == pytest.approx(bound * 1e6, rel=1e-3)


def test_late_twice_and_never(site):
    site.propose("one", "--batch", 2, run=ROOT / "examples" / "softmax.py")
    site.propose("again", "--again")  # the first seems lost: the same candidates once more
    site.evaluate("again")
    assert site.absorb("again")["taken"] == 2
    site.evaluate("one")  # and comes back after all
    late = site.absorb("one")
    assert (late["taken"], late["known"]) == (0, 2)
    site.propose("two", "--batch", 2)
    given_up = site.propose("three", "--batch", 1, "--give-up")
    assert (given_up["candidates"], given_up["in_flight"]) == (1, 1)
    site.evaluate("two")
    assert site.absorb("two")["taken"] == 2  # given up, and taken all the same
    assert site.absorb("three")["missing"] == 1
    assert site.states() == [1, 2, 3, 4]


def test_a_part_is_taken_and_the_rest_later(site):
    site.propose("one", "--batch", 3, run=ROOT / "examples" / "softmax.py")
    site.evaluate("one")
    (site.folder / "one" / "results" / "2.json").unlink()  # as if it had been stopped there
    part = site.absorb("one")
    assert (part["taken"], part["missing"], part["in_flight"]) == (2, 1, 1)
    assert site.evaluate("one")["measured"] == 1
    rest = site.absorb("one")
    assert (rest["taken"], rest["known"], rest["in_flight"]) == (1, 2, 0)


def test_what_was_changed_is_refused(site):
    site.propose("one", "--batch", 2, run=ROOT / "examples" / "softmax.py")
    program = site.folder / "one" / "candidates" / "1.ucut"
    kept = program.read_text()
    program.write_text(kept + "\n# more\n")
    refused = site.call("evaluate", site.folder / "one", "--device", "model")
    assert refused.returncode == 2 and "is not the program that was proposed" in refused.stderr
    program.write_text(kept)
    site.evaluate("one")
    results = site.folder / "one" / "results"
    first = json.loads((results / "1.json").read_text())
    (results / "2.json").write_text(
        json.dumps(first | {"node": 2, "request": json.loads((results / "2.json").read_text())["request"]})
    )
    absorbed = site.call("absorb", site.folder / "one", "--store", site.folder / "store")
    heard = json.loads(absorbed.stdout)
    assert absorbed.returncode == 2 and (heard["taken"], heard["in_flight"]) == (1, 1)
    assert "2.json: it is the result of another program" in heard["refused"][0]
    assert site.states() == [1]
    (results / "2.json").write_text('{"batch": ')  # a damaged one is measured again
    assert site.evaluate("one")["measured"] == 1
    assert site.absorb("one")["taken"] == 1


def test_impossible_results_are_refused(site):
    site.propose("one", "--batch", 2, run=ROOT / "examples" / "softmax.py")
    site.evaluate("one")
    results = site.folder / "one" / "results"
    for number, change in (("1", {"state": "verified", "time": 1e-30}), ("2", {"time": 0})):
        result = json.loads((results / f"{number}.json").read_text())
        result["measurement"] |= change
        (results / f"{number}.json").write_text(json.dumps(result))
    heard = json.loads(site.call("absorb", site.folder / "one", "--store", site.folder / "store").stdout)
    assert heard["taken"] == 0 and len(heard["refused"]) == 2
    batch = json.loads((site.folder / "one" / "batch.json").read_text())
    (site.folder / "one" / "batch.json").write_text(json.dumps(batch | {"file": "../softmax.py"}))
    assert "no file of the folder" in site.call("evaluate", site.folder / "one").stderr


def test_a_record_that_is_too_large_is_refused(site):
    site.propose("one", "--batch", 2, run=ROOT / "examples" / "softmax.py")
    site.evaluate("one")
    with open(site.folder / "one" / "results" / "2.json", "r+b") as result:
        result.truncate((64 << 20) + 1)
    heard = json.loads(site.call("absorb", site.folder / "one", "--store", site.folder / "store").stdout)
    assert heard["taken"] == 1 and len(heard["refused"]) == 1
    assert "2.json has 67108865 bytes; a file of a batch has at most 67108864" in heard["refused"][0]
    with open(site.folder / "one" / "batch.json", "r+b") as batch:
        batch.truncate((64 << 20) + 1)
    refused = site.call("evaluate", site.folder / "one", "--device", "model")
    assert refused.returncode == 2 and "error[too_large]" in refused.stderr


def test_memory_is_a_choice_of_a_new_run(site):
    def begin(name, *arguments):
        return site.propose(name, "--batch", 1, *arguments, run=ROOT / "examples" / "softmax.py")["run"]

    def facts_of(run):
        shown = subprocess.run(
            [PROGRAM, "show", run, "--json", "--store", site.folder / "store"], check=True, capture_output=True
        )
        return json.loads(shown.stdout)["run"].get("facts", 0)

    run = begin("one")
    with site.database() as store:  # of a machine that no search here asks for
        store.execute("INSERT INTO facts(run, node, machine, form, record) VALUES (?, 1, 'another', '', '{}')", (run,))
    assert facts_of(begin("two")) == 1
    run = begin("three", "--memory", "off")
    assert facts_of(run) == 0
    refused = site.call("propose", run, "--again", "--memory", "on", "--store", site.folder / "store")
    assert refused.returncode == 2 and "--memory (the run has off, given is on)" in refused.stderr
    site.propose("four", "--again", run=run)
    assert facts_of(run) == 0


def agent_of(site):
    run = json.loads(
        subprocess.run(
            [PROGRAM, "show", "last", "--json", "--store", site.folder / "store"], check=True, capture_output=True
        ).stdout
    )["run"]
    return run["options"]["agent_terms"]


def test_a_run_goes_on_as_it_was_led(site):
    # It is not asked: there are the expert's trials first.
    model = (
        "--agent", "flat", "--provider", "command", "--option", "command=false",
    )  # fmt: skip
    said = ("--write", "both", "--sol", "off", "--max-tokens", 100000)
    site.propose("one", "--batch", 1, *model, *said, run=ROOT / "examples" / "softmax.py")
    first = {
        "writes": "both",
        "sol": False,
        "feedback": "tools",
        "expert": 8,
        "tune": 2,
        "debug": 2,
        "most_output": 16384,
        "temperature": None,
        "tokens": 100000,
        "cost": None,
    }
    assert agent_of(site) == first
    site.propose("two", "--batch", 1, *model, "--expert", 4)
    assert agent_of(site) == first | {"expert": 4}
    site.propose("three", "--batch", 1)  # the expert alone, this time
    site.propose("four", "--batch", 1, *model, "--sol", "on")
    assert agent_of(site) == first | {"expert": 4, "sol": True}
    shown = subprocess.run(
        [PROGRAM, "show", "last", "--store", site.folder / "store"], check=True, capture_output=True, text=True
    ).stdout
    assert (
        "agent    flat --write both --sol on --feedback tools --expert 4 --tune 2 --debug 2 --most-output 16384 "
        "--max-tokens 100000\n"
    ) in shown


# Answers that nothing is left of any program.
GIVES_UP = r"""#!/bin/sh
cat > /dev/null
echo '{"text": "{\\"reason\\": \\"enough\\", \\"nothing_left\\": \\"anywhere\\", '\
'\\"edits\\": [], \\"program\\": \\"\\"}"}'
"""


def test_the_expert_goes_on_from_what_a_model_gave_up(site):
    script = site.folder / "model.sh"
    script.write_text(GIVES_UP)
    script.chmod(0o755)
    site.propose("one", "--batch", 1, run=ROOT / "examples" / "softmax.py")
    site.evaluate("one")
    site.absorb("one")
    model = ("--agent", "flat", "--provider", "command", "--option", f"command={script}", "--expert", 1)
    asked = site.propose("two", "--batch", 2, *model)
    said = "command has no further moves; without --agent the expert goes on"
    assert (asked["candidates"], asked["why"]) == (0, said)
    assert outcome_of(site).startswith(f"outcome  waiting: {said}; all results are in: `solstice propose ")
    assert site.propose("three", "--batch", 2)["candidates"] == 2


def outcome_of(site):
    shown = subprocess.run(
        [PROGRAM, "show", "last", "--store", site.folder / "store"], check=True, capture_output=True, text=True
    ).stdout
    return next(line for line in shown.splitlines() if line.startswith("outcome"))


def test_a_run_says_what_it_waits_for(site):
    run = site.propose("one", "--batch", 1, run=ROOT / "examples" / "softmax.py")["run"]
    assert outcome_of(site) == "outcome  waiting: 1 result is out"
    shown = subprocess.run(
        [PROGRAM, "show", "last", "--json", "--store", site.folder / "store"], check=True, capture_output=True
    ).stdout
    assert "stop" not in json.loads(shown)["run"]["summary"]  # it goes on
    site.evaluate("one")
    site.absorb("one")
    store = site.folder / "store"
    assert outcome_of(site) == (
        f"outcome  waiting: all results are in: `solstice propose {run} --store {store}` writes the next batch, "
        f"`solstice optimize --resume {run} --store {store}` where the GPU is verifies the best and ends the run"
    )


def test_other_options_than_the_runs_are_named(site):
    run = site.propose("one", "--batch", 1, "--numerics", "high", run=ROOT / "examples" / "softmax.py")["run"]
    assert site.propose("two", "--batch", 1)["run"] == run
    refused = site.call(
        "propose", "last", "--numerics", "medium", "--machine", "h100", "--store", site.folder / "store"
    )
    assert refused.returncode == 2
    assert (
        "--machine (the run has h200, given is h100), --numerics (the run has high, given is medium)" in refused.stderr
    )
    assert f"`solstice propose {run} --store {site.folder / 'store'}`" in refused.stderr


def test_a_folder_that_is_there_is_kept(site):
    site.propose("one", "--batch", 1, run=ROOT / "examples" / "softmax.py")
    before = (site.folder / "one" / "batch.json").read_text()
    refused = site.call("propose", "last", "--again", "--out", site.folder / "one", "--store", site.folder / "store")
    assert refused.returncode == 2 and "a folder of its own" in refused.stderr
    assert (site.folder / "one" / "batch.json").read_text() == before
    shutil.rmtree(site.folder / "one")
    assert site.propose("one", "--again")["candidates"] == 1


def test_what_is_no_batch_is_said(site):
    refused = site.call("evaluate", site.folder)
    assert refused.returncode == 2 and "`solstice propose` makes one" in refused.stderr


def test_batches_come_back_at_once(site):
    for name in ("one", "two"):
        site.propose(name, "--batch", 2, run="last" if name == "two" else ROOT / "examples" / "softmax.py")
        site.evaluate(name)
    for turn in range(4):
        store = site.folder / f"store-{turn}"
        shutil.copytree(site.folder / "store", store)
        command = [PROGRAM, "absorb", "--json", "--store", store]
        calls = [
            subprocess.Popen([*command, site.folder / name], stdout=-1, stderr=-1, text=True)
            for name in ("one", "two", "one", "two")
        ]
        heard = [call.communicate(timeout=60) for call in calls]
        assert [call.returncode for call in calls] == [0] * 4, heard
        assert sum(json.loads(out)["taken"] for out, _ in heard) == 4
        shown = site.text("show", "last", "--store", store).stdout
        assert "outcome  waiting: all results are in: " in shown


def test_what_the_store_does_not_take_is_not_sent(site):
    site.propose("one", "--batch", 1, run=ROOT / "examples" / "softmax.py")
    with site.database() as store:
        count = "(SELECT count(*) FROM events WHERE kind = 'proposed')"
        store.execute(
            f"CREATE TRIGGER full BEFORE INSERT ON events WHEN {count} >= 2 BEGIN SELECT RAISE(ABORT, 'it is "
            "full'); END"
        )
    refused = site.call("propose", "last", "--batch", 3, "--out", site.folder / "two", "--store", site.folder / "store")
    assert refused.returncode == 3 and "it is full" in refused.stderr
    assert not list(site.folder.glob("two*"))
    with site.database() as store:
        store.execute("DROP TRIGGER full")
    assert site.propose("two", "--again")["candidates"] == 2


def ended(site, state):
    """As an `optimize` that went on with the run leaves it."""
    ends = f"'$.state', '{state}', '$.outcome', 'faster', '$.reason', '', '$.finished', '2026-01-01T00:00:00.000Z'"
    with site.database() as store:
        store.execute(
            f"UPDATE runs SET state = '{state}', finished = '2026-01-01T00:00:00.000Z', record = json_set(record, "
            f"{ends})"
        )
    return site.record()


@pytest.mark.parametrize("state", ["finished", "interrupted", "failed"])
def test_without_news_a_run_is_as_it_was(site, state):
    site.propose("one", "--batch", 1, run=ROOT / "examples" / "softmax.py")
    site.evaluate("one")
    site.absorb("one")
    before = ended(site, state)
    assert site.absorb("one")["known"] == 1
    assert site.record() == before
    asked = site.propose("two", "--again")
    assert (asked["candidates"], asked["why"]) == (0, "no candidate is still out, so --again has nothing to write")
    assert site.record() == before


def test_a_batch_without_a_name_goes_out_again(site):
    store = ("--store", site.folder / "store", "--json")
    first = json.loads(
        site.text("propose", ROOT / "examples" / "softmax.py", "--batch", 1, *store, cwd=site.folder).stdout
    )["folder"]
    for number in (2, 3):
        again = site.text("propose", "last", "--again", *store, cwd=site.folder)
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout)["folder"] == f"{first}-{number}"
    assert sorted(path.name for path in site.folder.glob("batch-*")) == [first, f"{first}-2", f"{first}-3"]
    assert (site.folder / first / "batch.json").exists()


BY_ROWS = """program softmax
dim B = 8192, N = 16384
input x : f32[B, N]
output y : f32[B, N]
kernel k by rows(threads=256) {
  ex[b,n] = exp(x[b,n] - max[n](x[b,n]))
  y[b,n] = ex[b,n] / sum[n](ex[b,n])
}
"""


def with_model(site, script):
    """A run whose expert's candidate has come back; the model runs `script`, writes one candidate, and fails then."""
    module = site.folder / "softmax.py"
    shutil.copy(ROOT / "examples" / "softmax.py", module)
    site.propose("first", "--batch", 1, run=module)
    site.evaluate("first")
    site.absorb("first")
    said = {"reason": "rows of a block", "nothing_left": "no", "edits": [], "program": BY_ROWS}
    (site.folder / "answer.json").write_text(json.dumps({"text": json.dumps(said)}))
    model = site.folder / "model.sh"
    model.write_text(f"#!/bin/sh\ncd {site.folder}\ncat > /dev/null\n{script}\ncat answer.json && rm answer.json\n")
    model.chmod(0o755)
    agent = ("--agent", "flat", "--provider", "command", "--option", f"command={model}", "--expert", 1)
    return site.call(
        "propose", "last", "--batch", 2, *agent, "--out", site.folder / "one", "--store", site.folder / "store"
    )


def test_a_model_that_fails_ends_the_batch_and_not_the_run(site):
    result = with_model(site, "")
    asked = json.loads(result.stdout)
    assert result.returncode == 3 and asked["candidates"] == 1 and "model.sh" in asked["why"]
    assert outcome_of(site) == "outcome  waiting: 1 result is out"
    site.evaluate("one")
    assert site.absorb("one")["taken"] == 1


def test_a_batch_has_the_module_of_its_run(site):
    with_model(site, f"echo '# later' >> {site.folder}/softmax.py")
    assert (site.folder / "softmax.py").read_text().endswith("# later\n")
    assert (site.folder / "one" / "softmax.py").read_text() == (ROOT / "examples" / "softmax.py").read_text()


def test_a_batch_that_cannot_be_written_leaves_nothing_and_is_kept(site):
    refused = with_model(site, f"mkdir -p {site.folder}/one/more")
    assert refused.returncode == 3 and "cannot rename" in refused.stderr and " --again" in refused.stderr
    assert [path.name for path in site.folder.glob("one*")] == ["one"]
    assert site.propose("two", "--again")["candidates"] == 1


def test_a_model_waits_for_the_experts_results(site):
    model = ("--agent", "flat", "--provider", "command", "--option", "command=false")  # it is not asked
    first = site.propose("one", "--batch", 4, *model, "--expert", 2, run=ROOT / "examples" / "softmax.py")
    assert (first["candidates"], first["why"], first["over"]) == (2, "results have to be absorbed first", False)
