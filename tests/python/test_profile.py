"""solstice profile and list tools: findings, open questions, saved facts, a tool of one's own."""

import json
import os
import stat
import subprocess
import sys
import textwrap

import pytest
from conftest import ROOT
from real_program import PROGRAM, needs_program

pytestmark = needs_program


def run(*arguments):
    env = dict(os.environ, SOLSTICE_PYTHON=sys.executable)
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=env)


TOOL = textwrap.dedent(
    """\
    #!{python}
    import json, sys
    for line in sys.stdin:
        asked = json.loads(line)
        if "schema" in asked:
            answer = {{"name": "of mine", "question": "Is there a kernel?", "sources": ["plan"]}}
        else:
            kernel = asked["facts"]["kernels"][0]["kernel"]
            finding = {{
                "schema": "solstice.finding/1", "tool": "whatever", "severity": "high",
                "place": {{"kernel": kernel}}, "cause": "there is one",
                "evidence": [{{"what": "kernels", "value": 1, "source": "plan"}}], "actions": [],
                "gain": {{"program": {gain}, "kernel": 1.5, "because": "I say so"}},
                "confidence": "low", "sources": ["plan"],
            }}
            answer = {{"findings": [finding] * {count}}}
        print(json.dumps(answer), flush=True)
    """
)


def tool(folder, python, gain=1.5, count=1, text=TOOL):
    path = folder / "tool.py"
    path.write_text(text.format(python=python, gain=gain, count=count))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"command:{path}"


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """Facts of a module that no GPU ran."""
    file = tmp_path_factory.mktemp("facts") / "facts.json"
    done = run("profile", ROOT / "examples/softmax.py", "--device", "model", "--facts", file, "--json")
    assert done.returncode == 0, done.stderr
    return file, json.loads(done.stdout)


def test_a_module_without_a_gpu_has_classes_open_questions_and_facts(facts):
    file, answer = facts
    assert answer["predicted"]
    assert answer["program"]["class"] == "dram"
    assert {"trace", "counters"} <= {each["source"] for each in answer["open"]}
    assert all(each["question"].endswith("?") for each in answer["open"])
    assert json.loads(file.read_text())["schema"] == "solstice.facts/1"


def test_saved_facts_are_diagnosed_alike(facts):
    file, answer = facts
    done = run("profile", file, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"] == answer["findings"]


def test_a_tool_of_ones_own_is_listed_and_looks(facts, tmp_path):
    own = tool(tmp_path, sys.executable)
    listed = run("list", "tools", "--tool", own, "--json")
    names = [each["name"] for each in json.loads(listed.stdout)]
    assert "of mine" in names and len(names) > 20
    done = run("profile", facts[0], "--tool", own, "--json")
    found = [each for each in json.loads(done.stdout)["findings"] if each["tool"] == "of mine"]
    assert len(found) == 1 and found[0]["gain"]["program"] == 1.5


@pytest.mark.parametrize(
    "gain, count, text", [(0.5, 1, TOOL), (1.5, 10000, TOOL), (1.5, 1, TOOL.replace("print(", "1/0; print("))]
)
def test_a_bad_tool_costs_its_own_answer(facts, tmp_path, gain, count, text):
    own = tool(tmp_path, sys.executable, gain, count, text)
    done = run("profile", facts[0], "--tool", own, "--json")
    if "1/0" in text:
        assert done.returncode != 0 and "command:" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert not [each for each in answer["findings"] if each["tool"] == "of mine"]
    assert [each for each in answer["faults"] if "of mine" in each]


@pytest.mark.parametrize(
    "text, says",
    [("{", "reading"), ('{"schema": "solstice.facts/1"}', "facts"), ('{"schema": "solstice.plan/1"}', "schema")],
)
def test_damaged_facts_are_refused(tmp_path, text, says):
    file = tmp_path / "facts.json"
    file.write_text(text)
    done = run("profile", file)
    assert done.returncode == 2 and says in done.stderr


def test_what_does_not_exist_is_named(facts):
    assert "its kernels are" in run("profile", facts[0], "--kernel", "nobody").stderr
    assert "sources are" in run("profile", facts[0], "--without", "tea").stderr
