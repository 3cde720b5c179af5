"""`stark` end to end: a model that plays its roles, with faults, replayed, and killed between its turns."""

import hashlib
import json
import os
import re
import subprocess

import pytest

from faulty_model import FaultyModel
from test_agents import PROGRAM, STORED, TRIALS, asking, command_of, events_of, killed_and_resumed, optimize
from test_agents import replaying, softmax, thinned, tree_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built: `./x build`"),
    pytest.mark.usefixtures("warm_python"),
]

BEGIN, END = "# <<<IMPROVE BEGIN: other knobs>>>\n", "# <<<IMPROVE END>>>\n"


def role_of(request):
    system = request["messages"][0]["content"]
    return re.search(r"# Your part: (\w+)", system)[1]


def program_in(request):
    """The last program of the question: to go on from, or with its block marked."""
    text = next(m["content"] for m in request["messages"] if m["role"] == "user")
    return re.findall(r"```ucut\n(.*?)```", text, re.S)[-1]


def plan(request, reason="more threads a row", begin=BEGIN, end=END, nothing_left="no"):
    """Marks the line of the kernel; of the problem, which has none, all equations."""
    base = program_in(request)
    marked = re.sub(r"^(kernel .*\n)", lambda line: begin + line[1] + end, base, count=1, flags=re.M)
    if marked == base:
        marked = re.sub(r"^(\w+\[.*)\Z", lambda rest: begin + rest[1] + end, base, count=1, flags=re.M | re.S)
    marked = "" if nothing_left != "no" else marked
    return {"look": [], "reason": reason, "nothing_left": nothing_left, "edits": [], "program": marked}


def code(request, threads, look=(), body=None):
    block = re.search(r"BEGIN.*\n((?:.*\n)*?).*IMPROVE END", program_in(request))[1]
    head = f"kernel k by rows(threads={threads}) {{\n"
    written = head if block.startswith("kernel ") else head + block + "}\n"
    return {"look": list(look), "reason": f"{threads} threads", "body": written if body is None else body}


def mend(threads):
    return {"look": [], "reason": "mended", "nothing_left": "no", "edits": [], "program": softmax(f"threads={threads}")}


def outline(request, threads):
    """An answer that fits the role."""
    role = role_of(request)
    return plan(request) if role == "plan" else code(request, threads) if role == "code" else mend(threads)


# What is said, in order, of the questions: faults of the server, of plans and of bodies.
STEPS = [
    "429",
    lambda r: plan(r),
    lambda r: code(r, 256),
    "malformed",
    lambda r: plan(r, begin=""),  # does not begin
    lambda r: plan(r, begin=BEGIN + BEGIN),  # in another
    lambda r: plan(r),
    lambda r: code(r, 512, look=["online softmax", "kernels/../../etc/passwd", "kernels/rows/nothing.h:1-9"]),
    lambda r: code(r, 512, body=softmax("threads=512")),  # the whole program
    lambda r: code(r, 512, body=BEGIN + "kernel k by rows(threads=512) {\n" + END),
    lambda r: code(r, 512),
    lambda r: plan(r, "it moves its bytes as fast as they come", nothing_left="here"),
    "500",
    lambda r: plan(r),
    "broken_off",
    "hang",
    lambda r: code(r, 1024),
    "refusal",
    lambda r: plan(r, begin="// <<<IMPROVE BEGIN: a comment of CUDA>>>\n"),
    "empty",
    "no JSON at all",
    "neither is this",
    lambda r: plan(r, end=""),
    lambda r: plan(r),
    lambda r: code(r, 64),
    lambda r: plan(r, nothing_left="anywhere"),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder, steps = tmp_path_factory.mktemp("stark"), list(STEPS)

    def script(request, number):
        step = steps[number]
        return step if isinstance(step, str) else step(request)

    with FaultyModel(script) as model:
        report = optimize(folder, "first", *asking("stark", model), "--transcript", folder / "session.jsonl")
        assert len(model.asked) == len(steps)
        asked = ["\n".join(m["content"] for m in request["messages"]) for request in model.asked]
    return folder, report, tree_of(folder, "first"), asked


def notes_of(folder, name):
    return [
        (event["proposal"]["role"], event["proposal"]["reason"])
        for event in events_of(folder, name)
        if event["kind"] == "noted"
    ]


def test_every_fault_has_its_place(session):
    folder, report, tree, asked = session
    assert [node["origin"] for node in tree] == ["expert"] + ["gpt-5-mini"] * (len(tree) - 1)
    assert [node["repairs"] or 0 for node in tree[1:]] == [0, 4, 0, 0, 3, 0]
    assert [re.findall(r"threads=(\d+)", node["program"]) for node in tree[1:]] == [
        ["256"],
        ["512"],
        ["1024"],
        [],
        [],
        ["64"],
    ]
    assert tree[4]["program"] == "# attempt 5 brought no program: the answer was refused\n"
    assert tree[5]["program"].startswith("# attempt 6 brought no program: a block does not end")
    assert report["agent"]["nothing_left"] == 2
    roles = [role for role, _ in notes_of(folder, "first")]
    assert roles == ["plan", "look"] * 4
    looked = next(text for text in asked if "# What you looked for" in text)
    assert "### online softmax" in looked and "### kernels/../../etc/passwd" in looked and "root:" not in looked
    assert any("the body repeats what stands before the block" in text for text in asked)
    assert any("a comment outside of a `source` begins with `#`" in text for text in asked)


def test_what_stands_outside_the_block_stays(session):
    _, _, tree, _ = session
    compared = 0
    for node in tree[1:]:
        if "no program" in node["program"] or not node["parent"]:
            continue
        base = tree[node["parent"] - 1]["program"]
        changed = [(a, b) for a, b in zip(base.splitlines(), node["program"].splitlines()) if a != b]
        assert len(base.splitlines()) == len(node["program"].splitlines()) and len(changed) == 1
        compared += 1
    assert compared >= 2


def test_the_instructions_of_each_role_are_short(session):
    folder, _, _, _ = session
    requests = [json.loads(line)["request"] for line in (folder / "session.jsonl").read_text().splitlines()]
    tokens = {request["label"]: len(request["system"].encode()) / 3 for request in requests}  # as budgets count them
    assert set(tokens) == {"plan", "code"} and max(tokens.values()) <= 6000, tokens


def test_replayed_without_network_it_is_the_same_tree(session):
    folder, report, tree, _ = session
    again = optimize(folder, "again", *replaying("stark", folder / "session.jsonl"))
    assert tree_of(folder, "again") == tree and notes_of(folder, "again") == notes_of(folder, "first")
    assert again["agent"]["account"] == report["agent"]["account"]


def test_a_stored_transcript_still_makes_its_tree(session):
    folder, _, tree, _ = session
    transcript, expected = STORED / "stark.jsonl", STORED / "stark.tree.json"
    # What broke off is estimated from its question, which has code of this machine.
    tree = [node | {"tokens": None} for node in tree]
    if os.environ.get("SOLSTICE_UPDATE_GOLDEN"):
        lines = (folder / "session.jsonl").read_text().splitlines()
        transcript.write_text("".join(thinned(line) + "\n" for line in lines))
        expected.write_text(json.dumps(tree, indent=1) + "\n")
    optimize(folder, "stored", *replaying("stark", transcript), "--option", "match=order")
    assert [node | {"tokens": None} for node in tree_of(folder, "stored")] == json.loads(expected.read_text())


def test_a_transcript_of_another_controller_is_refused(session):
    folder, _, _, _ = session
    command = command_of(folder, "other", *replaying("flat", folder / "session.jsonl"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert "the request is not the one recorded as call 1" in done.stdout + done.stderr
    assert [node["origin"] for node in tree_of(folder, "other")] == ["expert"]


def test_killed_and_resumed_it_grows_the_same_tree(tmp_path):
    def script(request, _):
        digest = hashlib.sha256(json.dumps(request["messages"]).encode()).digest()
        return outline(request, 32 * (1 + digest[0] % 16))

    with FaultyModel(script) as model:
        optimize(tmp_path, "whole", *asking("stark", model))
        whole = len(model.asked)
    # While it waits for a plan, for a body; soon after a plan, after a body.
    kills, seen = {1: 0, 4: 0, 7: 0.002, 10: 0.002}, []

    def delay_of(request, _):
        text = json.dumps(request["messages"])
        if text in seen:
            return None
        seen.append(text)
        return kills.pop(len(seen), None)

    asked, _ = killed_and_resumed(tmp_path, "stark", script, delay_of)
    assert tree_of(tmp_path, "killed") == tree_of(tmp_path, "whole")
    assert notes_of(tmp_path, "killed") == notes_of(tmp_path, "whole")
    assert len(seen) == whole and len(asked) <= whole + 4 * 4, "a kill costs the questions of one turn at most"
    assert len(tree_of(tmp_path, "whole")) == TRIALS
