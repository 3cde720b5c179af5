"""solstice profile and list tools: findings, open questions, saved facts, a tool of one's own."""

import contextlib
import json
import os
import re
import sqlite3
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


def profiled(*arguments):
    """What it says as JSON; however odd the facts, it ends well."""
    done = run("profile", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
                "evidence": [{{"what": "kernels", "value": 1, "source": "plan"}}], "actions": {actions},
                "gain": {{"program": {gain}, "kernel": 1.5, "because": "I say so"}},
                "confidence": "low", "sources": ["plan"],
            }}
            answer = {{"findings": [finding] * {count}}}
        print(json.dumps(answer), flush=True)
    """
)


def tool(folder, python=sys.executable, gain=1.5, count=1, text=TOOL, actions="[]"):
    path = folder / "tool.py"
    path.write_text(text.format(python=python, gain=gain, count=count, actions=actions))
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


def test_thirty_tools_have_sources_classes_and_thresholds_with_their_origin():
    tools = json.loads(run("list", "tools", "--json").stdout)
    assert len(tools) >= 30
    assert sum("counters" not in each["sources"] for each in tools) >= 20
    classes = {"tensor", "simt", "sfu", "issue", "dram", "l2", "latency", "launch", "mixed"}
    for each in tools:
        assert each["question"].endswith("?") and each["sources"] and set(each["classes"]) <= classes, each["name"]
        assert all(number["origin"] and number["unit"] for number in each["thresholds"]), each["name"]
    # Others report what a source says outright, and decide by no number.
    assert sum(bool(each["thresholds"]) for each in tools) >= 30
    text = run("list", "tools").stdout
    assert all(each["name"] in text for each in tools)


def test_a_tool_of_ones_own_is_listed_and_looks(facts, tmp_path):
    own = tool(tmp_path)
    listed = run("list", "tools", "--tool", own, "--json")
    names = [each["name"] for each in json.loads(listed.stdout)]
    assert "of mine" in names and len(names) > 20
    found = [each for each in profiled(facts[0], "--tool", own)["findings"] if each["tool"] == "of mine"]
    assert len(found) == 1 and found[0]["gain"]["program"] == 1.5
    page = tmp_path / "page.html"
    profiled(facts[0], "--tool", own, "--html", page)
    assert '"tool":"of mine"' in page.read_text()


def as_if_measured(database):
    """Predictions are no outcomes, and statistics count none of them."""
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        db.execute("""UPDATE events SET record = replace(record, '"state":"predicted"', '"state":"verified"')""")


def optimized(folder, *arguments):
    """A search of six trials, without a GPU; its store lies below the folder."""
    done = run(
        "optimize", ROOT / "examples/softmax.py", "--device", "model", "--no-baselines", "--budget", "60s,6trials",
        "--window", "0", "--eps", "0", "--store", folder / "store", "--out", folder / "out", *arguments,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_tool_of_ones_own_is_in_a_search_and_its_statistics(tmp_path):
    """Its advice is a move: the expert takes it, and what came of it is counted as any tool's."""
    knobs = '[{{"kind": "knobs", "text": "fewer", "kernel": kernel, "knobs": {{"threads": "512"}}}}]'
    own = tool(tmp_path, text=TOOL.replace("{actions}", knobs))
    optimized(tmp_path, "--tool", own)
    shown = json.loads(run("show", "last", "--json", "--store", tmp_path / "store").stdout)
    by_trial = [[each["tool"] for each in trial["findings"]] for trial in shown["trials"]]
    assert all("of mine" in tools for tools in by_trial if tools) and any(by_trial)
    assert "of mine" in run("show", "last", "--trial", "1", "--store", tmp_path / "store").stdout
    as_if_measured(tmp_path / "store/runs.db")
    stats = json.loads(run("list", "tools", "--stats", "--json", "--store", tmp_path / "store").stdout)
    (row,) = [each for each in stats["tools"] if each["tool"] == "of mine"]
    assert row["found"] >= 2 and row["acted_on"] >= 1
    page = tmp_path / "run.html"
    assert run("show", "last", "--store", tmp_path / "store", "--html", page).returncode == 0
    assert "of mine" in page.read_text()


CRASHES = TOOL.replace("finding = ", "1/0; finding = ")
HANGS = TOOL.replace("import json, sys", "import json, sys, time").replace("finding = ", "time.sleep(100); finding = ")


@pytest.mark.parametrize(
    "gain, count, text, says",
    [
        (0.5, 1, TOOL, "a bound of 0.5; legal are 1 to"),
        ("float('nan')", 1, TOOL, "is no JSON"),
        (1.5, 10000, TOOL, "10000 findings"),
        (1.5, 1, CRASHES, "ZeroDivisionError"),
        pytest.param(1.5, 1, HANGS, "did not answer in time", marks=pytest.mark.slow),
        (1.5, 1, TOOL.replace('"kernel": kernel', '"kernel": "nobody"'), "`nobody`, which is no kernel"),
        (1.5, 1, TOOL.replace('"kernel": kernel', '"kernel": kernel, "step": "nowhere"'), "step `nowhere`, which"),
        (1.5, 1, TOOL.replace('"cause": "there is one"', '"cause": ""'), "without a cause"),
        (1.5, 1, TOOL.replace('"there is one"', '"x" * 600'), "a text of 600; 500 is the most"),
        (1.5, 1, TOOL.replace('1, "source": "plan"}}]', '1, "source": "plan"}}] * 40'), "a list of 40"),
        (1.5, 1, TOOL.replace("json.dumps(answer)", "'no JSON'"), "is no JSON"),
    ],
    ids=["bound", "nan", "many", "crashes", "hangs", "nobody", "nowhere", "no cause", "long", "many parts", "no JSON"],
)
def test_a_bad_tool_costs_its_own_answer(facts, tmp_path, gain, count, text, says):
    if "'no JSON'" in text:
        text = text.replace("print('no JSON'", "print(json.dumps(answer) if 'schema' in asked else 'no JSON'")
    answer = profiled(facts[0], "--tool", tool(tmp_path, gain=gain, count=count, text=text))
    assert answer["findings"] == facts[1]["findings"]
    (fault,) = answer["faults"]
    assert "of mine" in fault and says in fault


def test_a_tool_that_crashes_costs_a_search_no_trial_and_no_verdict(tmp_path):
    optimized(tmp_path / "without")
    optimized(tmp_path / "with", "--tool", tool(tmp_path, text=CRASHES))
    trials = {}
    for name in ("with", "without"):
        shown = json.loads(run("show", "last", "--json", "--store", tmp_path / name / "store").stdout)
        trials[name] = [{key: each[key] for key in ("state", "program", "findings")} for each in shown["trials"]]
    assert trials["with"] == trials["without"] and len(trials["with"]) > 1
    page = tmp_path / "run.html"
    assert run("show", "last", "--store", tmp_path / "with/store", "--html", page).returncode == 0
    assert "of mine: " in page.read_text() and "ZeroDivisionError" in page.read_text()


def test_an_illegal_move_is_shown_as_text(facts, tmp_path):
    moves = [
        ("knobs", '"knobs": {{"threads": "77"}}'), ("knobs", '"knobs": {{"no_such": "1"}}'),
        ("knobs", '"knobs": {{"threads": "256) {{{{ ("}}'), ("math", '"knobs": {{"math": "fp8"}}'),
        ("rewrite", '"rewrite": "no_such"'), ("cut", '"with": "nobody"'),
        ("same", '"knobs": {{"threads": "256"}}'),
    ]  # fmt: skip
    actions = ", ".join(
        f'{{{{"kind": "{kind.replace("same", "knobs")}", "text": "{kind}", "kernel": kernel, {rest}}}}}'
        for kind, rest in moves
    )
    legal = '{{"kind": "knobs", "text": "legal", "kernel": kernel, "knobs": {{"threads": "512"}}}}'
    own = tool(tmp_path, text=TOOL.replace("{actions}", f"[{actions}, {legal}]"))
    answer = profiled(facts[0], "--tool", own)
    (found,) = [each for each in answer["findings"] if each["tool"] == "of mine"]
    kinds = {each["text"]: each["kind"] for each in found["actions"]}
    assert kinds.pop("legal") == "knobs" and set(kinds.values()) == {"text"}
    assert found["actions"][0]["text"] == "legal", "moves come first"
    assert not any(each["knobs"] for each in found["actions"] if each["kind"] == "text")


def test_a_tool_of_ones_own_is_held_to_what_others_are(facts, tmp_path):
    answer = profiled(facts[0], "--tool", tool(tmp_path, gain=9000))
    (found,) = [each for each in answer["findings"] if each["tool"] == "of mine"]
    assert found["gain"]["program"] == 1.5, "what a kernel of all the time brings"
    assert found["severity"] == "medium", "a guess"
    of_tensors = TOOL.replace('"sources": ["plan"]}}', '"sources": ["plan"], "classes": ["tensor"]}}')
    answer = profiled(facts[0], "--tool", tool(tmp_path, text=of_tensors))
    assert answer["findings"] == facts[1]["findings"] and answer["faults"] == []


@pytest.mark.parametrize(
    "before, after, says",
    [
        ('"of mine"', '"register spill"', "tool of Solstice's own"),
        ('"sources": ["plan"]}}', '"sources": ["tea"]}}', "no source `tea`"),
        ('"of mine"', '""', "needs a name"),
    ],
)
def test_a_tool_that_introduces_itself_badly_is_refused(facts, tmp_path, before, after, says):
    done = run("profile", facts[0], "--tool", tool(tmp_path, text=TOOL.replace(before, after)))
    assert done.returncode == 2 and says in done.stderr


@pytest.mark.parametrize("option", [["--machine", "h100_sxm"], ["--of", "m.py"], ["--device", "gpu"], ["--eval"]])
def test_what_saved_facts_cannot_follow_is_refused(facts, option):
    done = run("profile", facts[0], *option)
    assert done.returncode == 2 and f"{option[0]} goes with what is measured" in done.stderr


def test_lists_of_sources_may_have_blanks(facts):
    open_without = {each["source"] for each in profiled(facts[0], "--without", "plan, ptxas ")["open"]}
    assert {"plan", "ptxas"} <= open_without
    done = run("profile", facts[0], "--without", "")
    assert done.returncode == 2 and "no source ``" in done.stderr


def test_a_source_that_is_missing_says_why_and_the_line_of_a_finding_is_shown(facts, tmp_path):
    text = run("profile", facts[0]).stdout
    assert "nothing was timed on a GPU" in text and "asked" not in text
    recorded = run("profile", ROOT / "tests/sick/facts/intermediate_two_maps.sick.counters.json").stdout
    assert re.search(r"^ +line 8: t\[m,n\] = silu\(x\[m,n\]\)$", recorded, re.MULTILINE), "as the program has it"


def test_tools_are_listed_by_name():
    names = [each["name"].lower() for each in json.loads(run("list", "tools", "--json").stdout)]
    assert names == sorted(names)


def test_a_tool_is_in_a_file_of_its_name():
    for file in (ROOT / "src/diagnose/tools").glob("*/*.cpp"):
        name = re.search(r'\.name = "([^"]+)"', file.read_text())[1]
        assert file.stem == name.lower().replace(" ", "_")


def test_a_tool_that_cannot_begin_is_named(facts):
    done = run("profile", facts[0], "--tool", "command:/no/such/tool")
    assert done.returncode != 0 and "command:/no/such/tool" in done.stderr


@pytest.mark.parametrize(
    "text, says",
    [
        ("{", "facts.json:1:2: not valid JSON"),
        ('{"schema": "solstice.facts/1"}', "facts"),
        ('{"schema": "solstice.plan/1"}', "schema"),
        ("measured", "`.measured` is -1"),
    ],
)
def test_damaged_facts_are_refused(facts, tmp_path, text, says):
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(json.loads(facts[0].read_text()) | {text: -1}) if text == "measured" else text)
    done = run("profile", file)
    assert done.returncode == 2 and says in done.stderr


def test_facts_of_another_version_and_gpu_are_diagnosed_and_say_so(facts, tmp_path):
    changed = json.loads(facts[0].read_text()) | {"version": "0.0.1", "device": "NVIDIA H800"}
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(changed | {"of_a_later_version": {"x": 1}}))
    answer = profiled(file)
    assert [each["tool"] for each in answer["findings"]] == [each["tool"] for each in facts[1]["findings"]]
    version, gpu = answer["notes"]
    assert "solstice 0.0.1" in version and "`NVIDIA H800`" in gpu
    assert facts[1]["notes"] == []
    file.write_text(json.dumps(changed | {"machine": "b9000"}))
    done = run("profile", file)
    assert done.returncode == 2 and "b9000" in done.stderr and "h200" in done.stderr


def test_text_of_facts_is_harmless_to_a_terminal(facts, tmp_path):
    changed = json.loads(facts[0].read_text())
    changed["sources"][-1].update(there=False, why="\x1b]0;title\x07", opens="\x1b[2J")
    changed["kernels"][0]["family"] = "\x1b[31mred"
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(changed))
    done = run("profile", file)
    assert done.returncode == 0 and "\x1b" not in done.stdout and "\x07" not in done.stdout


def many_kernels(facts, count):
    """The same facts with their first kernel many times over."""
    out = dict(facts, kernels=[])
    for number in range(count):
        kernel = json.loads(json.dumps(facts["kernels"][0]))
        kernel["kernel"] = f"k{number}"
        for step in kernel["steps"]:
            step.update(step=f"k{number}", entry=f"solstice_k{number}")
        out["kernels"].append(kernel)
    return out


def test_a_program_of_five_hundred_kernels_is_diagnosed(tmp_path):
    recorded = json.loads((ROOT / "tests/sick/facts/banks_transpose.sick.counters.json").read_text())
    file, page = tmp_path / "facts.json", tmp_path / "page.html"
    file.write_text(json.dumps(many_kernels(recorded, 500)))
    answer = profiled(file, "--html", page)
    assert answer["faults"] == [] and len(answer["kernels"]) == 500
    assert page.stat().st_size < 32 << 20


def test_what_does_not_exist_is_named(facts):
    assert "its kernels are" in run("profile", facts[0], "--kernel", "nobody").stderr
    assert "sources are" in run("profile", facts[0], "--without", "tea").stderr


def test_a_source_that_was_read_in_part_says_what_it_lacks(facts, tmp_path):
    record = json.loads(facts[0].read_text())
    kernel = record["kernels"][0]
    step = next(each for each in kernel["steps"] if each["entry"])["step"] if kernel.get("steps") else None
    if step is None:
        pytest.skip("nothing was compiled here")
    for source in record["sources"]:
        if source["name"] == "counters":
            source.update(there=True, why=f"`{step}`: no time was left", opens="a longer time")
            source["missing"] = {step: "no time was left"}
    file = tmp_path / "partial.json"
    file.write_text(json.dumps(record))
    text = run("profile", file).stdout
    assert f"counters in part: `{step}`: no time was left" in text
    assert f"open without counters for `{step}`" in text
    open_for = [each for each in profiled(file)["open"] if each.get("steps") == [step]]
    assert {"divergence", "warp stall"} <= {each["tool"] for each in open_for}
    assert all(each["why"] == "no time was left" and each["opens"] == "a longer time" for each in open_for)


@pytest.mark.parametrize("seconds", ["0", "soon"])
def test_the_time_of_counters_is_a_number_of_seconds(seconds):
    done = run("profile", ROOT / "examples/softmax.py", "--device", "model", "--counter-time", seconds)
    assert done.returncode == 2
    assert "--counter-time" in done.stderr
