"""Both sides of a batch: a store that proposes, and a machine that predicts, or that seems to have measured."""

import contextlib
import json
import pathlib
import sqlite3
import subprocess

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = ROOT / "build" / "bin" / "solstice"


class Site:
    """A store on one side; on the other a machine that predicts."""

    def __init__(self, folder):
        self.folder = folder

    def text(self, *arguments, **more):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **more)

    def call(self, *arguments):
        return self.text(*arguments, "--json")

    def done(self, *arguments):
        result = self.call(*arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return json.loads(result.stdout)

    def propose(self, name, *arguments, run="last"):
        return self.done("propose", run, "--out", self.folder / name, "--store", self.folder / "store", *arguments)

    def evaluate(self, name):
        return self.done("evaluate", self.folder / name, "--device", "model")

    def absorb(self, name):
        return self.done("absorb", self.folder / name, "--store", self.folder / "store")

    @contextlib.contextmanager
    def database(self):
        (file,) = (self.folder / "store").glob("*.db")
        with contextlib.closing(sqlite3.connect(file)) as store, store:
            yield store

    def record(self):
        with self.database() as store:
            ((record,),) = store.execute("SELECT record FROM runs")
        return json.loads(record)

    def states(self):
        """Nodes that have a measurement in the store, once for each."""
        exported = subprocess.run(
            [PROGRAM, "export", "last", "--format", "json", "--store", self.folder / "store"],
            check=True,
            capture_output=True,
        )
        events = [entry.get("event", entry) for entry in json.loads(exported.stdout)["events"]]
        return sorted(event["node"] for event in events if event["kind"] == "measured")


def as_measured(site, name, device="NVIDIA H200", **versions):
    """The predictions of a batch as a GPU would have measured them: nothing here has one."""
    site.evaluate(name)
    results = site.folder / name / "results"
    for file in results.glob("[0-9]*.json"):
        result = json.loads(file.read_text())
        result["measurement"]["state"] = "verified"
        file.write_text(json.dumps(result))
    original = json.loads((results / "original.json").read_text())
    known = {"driver": "550.1", "torch": "2.11", "build": "b1"}
    original |= {"predicted": False, "time": 1.0, "device": device, "versions": known | versions}
    (results / "original.json").write_text(json.dumps(original))
