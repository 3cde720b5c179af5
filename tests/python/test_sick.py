"""The corpus of sick kernels: its programs are legal, its facts are diagnosed, and the script that does it."""

import json
import os
import subprocess
import sys

import pytest
import sick
from conftest import ROOT
from real_program import PROGRAM, needs_program

CORPUS = ROOT / "tests/sick"
NAMES = sorted(path.parent.name for path in CORPUS.glob("*/meta.json"))
FACTS = sorted(CORPUS.glob("facts/*.json*"))
pytestmark = needs_program


def run(*arguments, timeout=600):
    env = dict(os.environ, SOLSTICE_PYTHON=sys.executable)
    command = [sys.executable, ROOT / "tools/sick.py", *arguments, "--solstice", PROGRAM]
    return subprocess.run([*map(str, command)], capture_output=True, text=True, env=env, timeout=timeout)


def test_every_pair_is_complete_and_names_tools_that_exist():
    listed = subprocess.run([PROGRAM, "list", "tools", "--json"], capture_output=True, text=True, check=True)
    tools = {each["name"] for each in json.loads(listed.stdout)}
    for name in NAMES:
        meta = json.loads((CORPUS / name / "meta.json").read_text())
        assert meta["tools"] and set(meta["tools"]) <= tools, name
        assert meta["defect"] and meta["heals"], name
        texts = [path.read_text() for path in (CORPUS / name).glob("*.[cu]*") if path.stem != "healthy"]
        for code in meta["place"].get("code", []):
            assert any(code in text for text in texts), f"{name}: no line has {code}"


@pytest.mark.parametrize("name", NAMES)
def test_both_twins_are_legal(name):
    for twin in sick.TWINS:
        done = subprocess.run([PROGRAM, "check", CORPUS / name / f"{twin}.ucut"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_what_is_recorded_without_a_gpu_is_diagnosed(tmp_path):
    done = run("record", CORPUS, "spill_tile", "--out", tmp_path, "--device", "model", "--without", "counters")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[2/2] spill_tile.healthy" in done.stdout
    again = run("record", CORPUS, "spill_tile", "--out", tmp_path, "--without", "counters", "--missing")
    assert "0 of 0 recorded" in again.stdout
    done = run("check", CORPUS, "spill_tile", "--facts", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 pairs with counters, 1 without" in done.stdout


def test_the_gain_is_of_the_measured_times_and_packed_facts_are_read(tmp_path):
    done = run("record", CORPUS, "map_scalar", "--out", tmp_path, "--device", "model", "--without", "counters")
    assert done.returncode == 0, done.stdout + done.stderr
    for twin, seconds in (("sick", 3e-4), ("healthy", 2e-4)):
        facts = sick.recorded(tmp_path, "map_scalar", twin, counters=False)
        facts["measured"] = seconds
        (tmp_path / f"map_scalar.{twin}.json").unlink(missing_ok=True)
        facts["program"] += "#" * sick.LARGE
        sick.keep(facts, tmp_path / f"map_scalar.{twin}.counters.json")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".gz", ".gz"]
    done = run("check", CORPUS, "map_scalar", "--facts", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 pairs with counters, 1 without" in done.stdout and " 1.50 " in done.stdout


def test_a_program_that_fails_is_named_and_the_next_is_recorded(tmp_path):
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        for file in (CORPUS / "map_scalar").iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
    (tmp_path / "a/sick.ucut").write_text("program broken\n")
    options = ("--device", "model", "--without", "counters")
    done = run("record", tmp_path, *options)
    assert done.returncode == 1
    assert "FAILED" in done.stdout and "failed: a.sick\n" in done.stdout and "3 of 4 recorded" in done.stdout
    assert len(list((tmp_path / "facts").iterdir())) == 3


def test_a_program_that_takes_too_long_is_named(tmp_path):
    done = run("record", CORPUS, "map_scalar", "--out", tmp_path, "--device", "model", "--timeout", "0.05")
    assert done.returncode == 1 and "it took longer than" in done.stdout and not list(tmp_path.iterdir())


def test_a_pair_that_is_not_there_is_named():
    done = run("check", CORPUS, "no_such_pair")
    assert done.returncode == 1 and "no pair no_such_pair" in done.stderr


def test_the_recorded_corpus_is_diagnosed(capsys):
    if not FACTS:
        pytest.skip("no facts are recorded: tools/sick.py record tests/sick, on an H200")
    done = run("check", CORPUS, "--bars")
    with capsys.disabled():
        print(f"\n{done.stdout}")
    assert done.returncode == 0, done.stdout + done.stderr
