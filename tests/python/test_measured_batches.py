"""Batches that a GPU measured: where times may not compare, and where what came back is enough."""

import json
import re

import pytest

from batch_site import PROGRAM, ROOT, Site, as_measured

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built: `./x build`")


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def with_a_measured_batch(site):
    """Of three that are out the first has come back."""
    for name in ("one", "two", "three"):
        site.propose(name, "--batch", 1, run=ROOT / "examples" / "softmax.py" if name == "one" else "last")
    as_measured(site, "one")
    assert site.absorb("one")["original"] == 1.0
    site.propose("again", "--again")  # by a build that measures nothing


def test_another_gpu_model_is_refused(site):
    with_a_measured_batch(site)
    run = site.record()["id"]
    as_measured(site, "two", device="NVIDIA H100")
    refused = site.call("absorb", site.folder / "two", "--store", site.folder / "store")
    assert refused.returncode == 2
    assert f"the batch was measured on NVIDIA H100, run {run} on NVIDIA H200: nothing of it is taken" in refused.stderr
    assert site.states() == [0, 1] and site.record()["device"] == "NVIDIA H200"
    as_measured(site, "three")
    assert site.absorb("three")["taken"] == 1


def test_another_driver_torch_or_build_is_warned_of(site):
    with_a_measured_batch(site)
    as_measured(site, "two", driver="560.2", build="b2")
    heard = site.absorb("two")
    said = f"what the run has, and {site.folder / 'two'}, are of driver 550.1 and 560.2, build b1 and b2"
    assert (heard["taken"], heard["warnings"]) == (1, [said])
    assert site.record()["reason"].endswith("; " + said)
    heard = site.absorb("two")
    assert (heard["known"], heard["warnings"]) == (1, [])  # nothing new is mixed in
    as_measured(site, "three")
    assert site.absorb("three")["taken"] == 1
    assert " are of " not in site.record()["reason"]


def test_a_batch_that_does_not_say_where_it_was_measured_is_taken_and_named(site):
    with_a_measured_batch(site)
    as_measured(site, "two")
    (site.folder / "two" / "results" / "original.json").unlink()
    assert site.absorb("two")["taken"] == 1
    assert "original.json: there is none that says where the results were measured" in site.record()["reason"]
    as_measured(site, "three")
    (site.folder / "three" / "results" / "original.json").write_text("{")
    absorbed = site.call("absorb", site.folder / "three", "--store", site.folder / "store")
    heard = json.loads(absorbed.stdout)
    assert absorbed.returncode == 2 and heard["taken"] == 1 and "original.json" in heard["refused"][0]


def test_another_build_is_told_where_it_measures(site):
    site.propose("one", "--batch", 2, run=ROOT / "examples" / "softmax.py")
    evaluate = ("evaluate", site.folder / "one", "--device", "model")
    assert "another build" not in site.text(*evaluate).stdout
    batch, original = site.folder / "one" / "batch.json", site.folder / "one" / "results" / "original.json"
    whole, made = json.loads(batch.read_text()), json.loads(original.read_text())
    assert made["versions"]["build"] == whole["build"]
    batch.write_text(json.dumps(whole | {"build": "b1"}))
    original.write_text(json.dumps(made | {"versions": made["versions"] | {"torch": "1.0", "build": "b2"}}))
    (site.folder / "one" / "results" / "2.json").unlink()
    told = site.text(*evaluate).stdout
    said = f"the batch was proposed by another build or copy of Solstice (b1); the code that runs here is of this one ({whole['build']})"
    assert said in told
    assert f"the results that are there, and those made here, are of torch 1.0 and {made['versions']['torch']}, build b2 and {whole['build']}" in told


def test_a_batch_ends_where_what_came_back_is_enough(site):
    site.propose("one", "--batch", 6, "--eps", 0, "--window", 4, run=ROOT / "examples" / "softmax.py")
    as_measured(site, "one")
    site.absorb("one")
    events = site.states()
    none = site.done("propose", "last", "--batch", 2, "--store", site.folder / "store")  # the run's own window
    assert (none["candidates"], none["folder"]) == (0, "") and none["why"].startswith("the search has enough (patience)")
    assert none["over"] and site.states() == events and re.search(r"enough \(patience\).*; `solstice optimize --resume .*ends the run", site.record()["reason"])
    more = site.propose("two", "--batch", 1, "--window", 0)
    assert more["candidates"] == 1


def test_what_is_expected_to_lose_goes_into_no_batch(site):
    """Once the best is known, and how far the cost models are to be believed."""
    site.propose("one", "--batch", 8, run=ROOT / "examples" / "softmax.py")
    as_measured(site, "one")
    best = min(json.loads(file.read_text())["measurement"]["time"] for file in (site.folder / "one" / "results").glob("[0-9]*.json"))
    site.absorb("one")
    rest = site.propose("two", "--batch", 30, "--window", 0, "--eps", 0)
    assert rest["candidates"] < 30 and rest["skipped"] > 0 and not rest["over"]  # their results may bring moves
    exported = json.loads(site.text("export", "last", "--format", "json", "--store", site.folder / "store").stdout)
    events = [entry.get("event", entry) for entry in exported["events"]]
    predicted = {kind: [event["proposal"]["predicted"] for event in events if event["kind"] == kind] for kind in ("proposed", "skipped")}
    assert predicted["skipped"] and min(predicted["skipped"]) > 1.1 * best
    assert max(predicted["proposed"][8:], default=0) <= 1.1 * best
