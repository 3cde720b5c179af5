"""Language models in the loop, with faults: sessions against a server that misbehaves, replayed from their transcripts,
and from the transcripts in tests/transcripts/ (SOLSTICE_UPDATE_GOLDEN=1 writes those anew)."""

import json
import os
import pathlib
import re
import signal
import subprocess
import threading

import pytest

from faulty_model import FaultyModel

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = ROOT / "build" / "bin" / "solstice"
STORED = ROOT / "tests" / "transcripts"
CONTROLLERS = ("flat", "inprompt")
TRIALS = 8

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built: `./x build`"),
    pytest.mark.usefixtures("warm_python"),
]

HEAD = """program softmax
dim B = 8192, N = 16384
input x : f32[B, N]
output y : f32[B, N]
"""


def softmax(knobs, of="x[b,n] - max[n](x[b,n])"):
    return f"""{HEAD}kernel k by rows({knobs}) {{
  ex[b,n] = exp({of})
  y[b,n] = ex[b,n] / sum[n](ex[b,n])
}}
"""


# Keeps its first result: what it returns later was computed for other inputs.
CHEAT = (
    HEAD
    + '''source "k.cu" """
__device__ int calls;
extern "C" __global__ void softmax(const float* x, float* y) {
  if (calls++ > 0) return;
  y[blockIdx.x * 16384 + threadIdx.x] = x[blockIdx.x * 16384 + threadIdx.x];
}
"""
kernel k by cuda("k.cu", entry="softmax", args=(x, y), grid=8192, block=1024) {
  ex[b,n] = exp(x[b,n] - max[n](x[b,n]))
  y[b,n] = ex[b,n] / sum[n](ex[b,n])
}
'''
)


def answer(controller, reason, program="", nothing_left="no"):
    method = {"lesson": "", "analysis": "", "hypotheses": []} if controller == "inprompt" else {}
    return method | {"reason": reason, "nothing_left": nothing_left, "edits": [], "program": program}


def script_of(controller):
    def says(reason, program):
        return answer(controller, reason, program)

    return [
        "429",
        says("after an overload", softmax("threads=256")),
        "500",
        "malformed",
        says("a knob that there is not", softmax("warps=8")),
        says("mended", softmax("threads=512")),
        answer(controller, "it moves its bytes as fast as they come", nothing_left="here"),
        "broken_off",
        says("no maximum: equal over the reals, and it overflows", softmax("threads=128", "x[b,n]")),
        "hang",
        "refusal",
        "empty",
        "no JSON at all",
        says("after the client's own repair", softmax("threads=1024")),
        *[
            says(f"twice what it should be, {i}", softmax(f"threads={64 * i}", "2*x[b,n] - max[n](x[b,n])"))
            for i in (1, 2, 3, 4)
        ],
        *[says(f"a kernel that cheats, {i}", CHEAT) for i in (1, 2, 3, 4)],
    ]


def command_of(folder, name, *arguments, expert=1, tune=0):
    return [
        PROGRAM, "optimize", ROOT / "examples" / "softmax.py", "--device", "model", "--no-baselines",
        "--budget", f"10m,{TRIALS}trials", "--window", "0", "--eps", "0", "--expert", str(expert), "--tune", str(tune),
        "--write", "both", "--store", folder / f"{name}-store", "--out", folder / f"{name}-out", "--json",
        *map(str, arguments),
    ]  # fmt: skip


def asking(controller, model):
    return [
        "--agent", controller, "--provider", "openai", "--model", "gpt-5-mini", "--option", f"base_url={model.url}",
        "--option", "key_env=", "--option", "idle_timeout=2",
    ]  # fmt: skip


def replaying(controller, transcript):
    """Arguments that take the answers from a session of OpenAI's protocol."""
    return (
        "--agent", controller, "--provider", "openai", "--model", "gpt-5-mini", "--no-network",
        "--replay-transcript", transcript,
    )  # fmt: skip


def optimize(folder, name, *arguments, expert=1, tune=0):
    done = subprocess.run(
        command_of(folder, name, *arguments, expert=expert, tune=tune), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["report"]


def events_of(folder, name):
    command = [PROGRAM, "export", "last", "--format", "json", "--store", folder / f"{name}-store"]
    exported = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [entry.get("event", entry) for entry in exported["events"]]


def tree_of(folder, name):
    """What became of each trial, without times and costs, and where nothing was left."""
    nodes = {}
    for event in events_of(folder, name):
        if event["kind"] == "proposed":
            proposal = event["proposal"]
            nodes[event["node"]] = {
                name: proposal.get(name)
                for name in ("program", "reason", "parent", "origin", "tokens", "repairs", "answer")
            }
        elif event["kind"] == "spent" and event.get("proposal") and event["node"] > 0:
            nodes[event["node"]]["nothing_left"] = event["proposal"]["reason"]
        elif event["kind"] == "measured" and event["node"] > 0:
            nodes[event["node"]]["state"] = event["measurement"]["state"]
    return [nodes[number] for number in sorted(nodes)]


@pytest.fixture(scope="module", params=CONTROLLERS)
def session(request, tmp_path_factory):
    """A session against the server: controller, folder, report, tree."""
    folder = tmp_path_factory.mktemp(request.param)
    with FaultyModel(script_of(request.param)) as model:
        report = optimize(folder, "first", *asking(request.param, model), "--transcript", folder / "session.jsonl")
        assert len(model.asked) == len(model.script)
    return request.param, folder, report, tree_of(folder, "first")


def test_every_fault_has_its_place(session):
    _, folder, report, tree = session
    states = [node["state"] for node in tree]
    #                     expert       429          500 ..       not finite   refused    empty ..     refuted    cheats
    assert states == [
        "predicted",
        "predicted",
        "predicted",
        "predicted",
        "illegal",
        "predicted",
        "wrong",
        "not compiled",
    ]
    assert [node["repairs"] or 0 for node in tree] == [0, 0, 1, 0, 0, 1, 3, 3]
    assert [node["nothing_left"] for node in tree if "nothing_left" in node] == [
        "it moves its bytes as fast as they come"
    ]
    assert report["agent"]["nothing_left"] == 1
    assert tree[4]["program"] == "# attempt 5 brought no program: the answer was refused\n"
    assert "threads=512" in tree[2]["program"] and tree[2]["reason"] == "mended"
    assert {node["origin"] for node in tree[1:]} == {"gpt-5-mini"}
    (cheat,) = [
        e["measurement"]["detail"] for e in events_of(folder, "first") if e["kind"] == "measured" and e["node"] == 8
    ]
    assert "calls" in cheat and "from one launch to the next" in cheat
    account = report["agent"]["account"]
    assert account["failures"] == 5 and account["repairs"] == 1
    # What broke off may be billed: malformed, broken off, hung.
    assert (
        account["input"] == 1000 * 17
        and account["unpriced"] == 3
        and account["cost"] is None
        and account["estimated"] > 0
    )


def test_replayed_without_network_it_is_the_same_tree(session):
    controller, folder, report, tree = session
    again = optimize(folder, "again", *replaying(controller, folder / "session.jsonl"))
    assert tree_of(folder, "again") == tree
    assert again["agent"]["account"] == report["agent"]["account"]


def thinned(line):
    """An exchange without its long prompts, which `match=order` does not look at."""
    exchange = json.loads(line)
    request = exchange["request"]
    request["system"], request["answer_schema"] = "(left out)", None
    request["messages"] = [{"role": "user", "text": "(left out)"}]
    return json.dumps(exchange)


def test_stored_transcripts_still_make_their_trees(session):
    controller, folder, _, tree = session
    transcript, expected = STORED / f"{controller}.jsonl", STORED / f"{controller}.tree.json"
    if os.environ.get("SOLSTICE_UPDATE_GOLDEN"):
        lines = (folder / "session.jsonl").read_text().splitlines()
        STORED.mkdir(exist_ok=True)
        transcript.write_text("".join(thinned(line) + "\n" for line in lines))
        expected.write_text(json.dumps(tree, indent=1) + "\n")
    optimize(folder, "stored", *replaying(controller, transcript), "--option", "match=order")
    assert tree_of(folder, "stored") == json.loads(expected.read_text())


def questions_of(transcript):
    """The texts of all messages that were asked, a question a string."""
    exchanges = [json.loads(line) for line in transcript.read_text().splitlines()]
    return ["\n".join(m["text"] for m in each["request"]["messages"]) for each in exchanges]


# What stands in a question by --feedback, and in no other: where nothing ran, what the compiler and the tools say.
TOLD = {"none": [], "raw": ['{"kernels":'], "tools": ["- left to the families: ", "; try: "]}


@pytest.mark.parametrize("feedback", TOLD)
def test_a_stored_transcript_is_replayed_with_each_feedback(tmp_path, feedback):
    """Counters need a GPU; tests/unit/flow/run/agent/feedback_test.cpp has the same prompts with recorded ones."""
    report = optimize(
        tmp_path, "told", "--agent", "inprompt", "--feedback", feedback,
        "--provider", "openai", "--model", "gpt-5-mini", "--no-network",
        "--replay-transcript", STORED / "inprompt.jsonl", "--option", "match=order",
        "--transcript", tmp_path / "asked.jsonl",
    )  # fmt: skip
    assert report["agent"]["feedback"] == feedback
    # Tokens of what broke off are estimated from the question, which differs.
    trees = [tree_of(tmp_path, "told"), json.loads((STORED / "inprompt.tree.json").read_text())]
    assert len({json.dumps([node | {"tokens": 0} for node in tree], sort_keys=True) for tree in trees}) == 1
    last = questions_of(tmp_path / "asked.jsonl")[-1]
    for other, texts in TOLD.items():
        assert [text for text in texts if (text in last) != (other == feedback)] == [], last
    assert "__" not in last.replace("__device__", "").replace("__global__", "").replace("__constant__", ""), (
        "ncu's name of a counter"
    )


def moment_of(request):
    """The number of the attempt, and whether it is asked for again: to be mended, or from another node."""
    last = request["messages"][-1]["content"]
    left = re.findall(r"(\d+) of 8 attempts are left", "\n".join(message["content"] for message in request["messages"]))
    again = ("That is not tried", "nothing more is tried from", "nothing was left to be tried")
    return TRIALS - int(left[-1]) + 1, any(text in last for text in again)


def gives_up_later(controller):
    """A model that goes by its question alone: programs, one to be mended, a node that it gives up, in the end all."""

    def script(request, _):
        number, again = moment_of(request)
        if number == 4 and not again:
            return answer(controller, "a knob that there is not", softmax("warps=4"))
        if number == 6 and not again:
            return answer(controller, "enough of this one", nothing_left="here")
        if number == 7:
            return answer(controller, "enough of all", nothing_left="anywhere")
        return answer(controller, f"attempt {number}", softmax(f"threads={(256, 512, 128, 1024, 64)[number - 2]}"))

    return script


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_where_nothing_is_left_the_search_ends_and_is_not_asked_again(tmp_path, controller):
    with FaultyModel(gives_up_later(controller)) as model:
        report = optimize(tmp_path, "whole", *asking(controller, model))
        asked, tree = len(model.asked), tree_of(tmp_path, "whole")
        assert len(tree) == 6 and asked == 5 + 1 + 2  # trials, a repair, two answers without one
        assert [node["reason"] for node in tree[1:]] == [f"attempt {number}" for number in range(2, 7)]
        assert report["agent"]["nothing_left"] == 2
        assert sum(node.get("nothing_left") == "enough of this one" for node in tree) == 1
        assert sum(node.get("nothing_left") == "enough of all" for node in tree) == 5
        again = optimize(tmp_path, "whole", *asking(controller, model), "--resume", "last")
        assert len(model.asked) == asked and tree_of(tmp_path, "whole") == tree
        assert again["agent"]["nothing_left"] == 2


def test_without_the_model_the_expert_goes_on_from_what_it_gave_up(tmp_path):
    with FaultyModel([answer("flat", "enough of all", nothing_left="anywhere")]) as model:
        optimize(tmp_path, "whole", *asking("flat", model))
    assert [node["nothing_left"] for node in tree_of(tmp_path, "whole")] == ["enough of all"]
    alone = [
        PROGRAM, "optimize", "--resume", "last", "--no-baselines", "--budget", f"10m,{TRIALS}trials",
        "--store", tmp_path / "whole-store", "--out", tmp_path / "whole-out", "--json",
    ]  # fmt: skip
    done = subprocess.run(alone, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    tree = tree_of(tmp_path, "whole")
    assert len(tree) == TRIALS and {node["origin"] for node in tree} == {"expert"}


def killed_and_resumed(folder, controller, script, delay_of):
    """The run `killed`, which is killed four times and resumed: the questions that it asked, and its processes.
    `delay_of(request, is_doomed)`: seconds after which a process that asked is killed; None: it goes on."""
    running, doomed = [], []

    def kill_in_between(request, number):
        process = running[-1]
        delay = delay_of(request, process in doomed)
        if delay is not None:
            doomed.append(process)
            threading.Timer(delay, process.kill).start()
        if process in doomed and not delay:
            process.wait()
        return script(request, number)

    def started(*arguments):
        with open(folder / "output", "w") as output:
            running.append(subprocess.Popen(command_of(folder, "killed", *arguments), stdout=output, stderr=output))
            return running[-1].wait(timeout=300)

    with FaultyModel(kill_in_between) as model:
        code = started(*asking(controller, model))
        while code == -signal.SIGKILL:
            code = started(*asking(controller, model), "--resume", "last")
        asked = model.asked
    assert code == 0 and len(running) == 5, (folder / "output").read_text()
    return asked, running


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_killed_and_resumed_it_grows_the_same_tree(tmp_path, controller):
    script = gives_up_later(controller)
    with FaultyModel(script) as model:
        optimize(tmp_path, "whole", *asking(controller, model))
    # While it waits for an answer, for a mended one, for the next after a node was given up; and soon after an answer.
    kills = {(3, False): 0, (4, True): 0, (5, False): 0.002, (6, True): 0}

    def delay_of(request, is_doomed):
        return None if is_doomed else kills.pop(moment_of(request), None)

    asked, running = killed_and_resumed(tmp_path, controller, script, delay_of)
    assert tree_of(tmp_path, "killed") == tree_of(tmp_path, "whole")
    # What was asked before a kill is accounted for.
    command = [PROGRAM, "show", "last", "--json", "--store", tmp_path / "killed-store"]
    run = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["run"]
    (transcript,) = (tmp_path / "killed-store" / "transcripts").glob("*.jsonl")
    lines = transcript.read_text().splitlines()
    assert run["summary"]["agent"]["account"]["attempts"] == len(lines) > len(asked) - len(running)


def mends_and_wavers(controller):
    """A model whose fourth attempt is mended, and differs each time it is asked."""
    steady, wavers = gives_up_later(controller), iter((96, 160))

    def script(request, number):
        said = steady(request, number)
        if moment_of(request)[0] == 4:
            said = answer(
                controller, said["reason"], said["program"].replace("threads=512", "threads=512, residency=l2")
            )
            if "warps" in said["program"]:
                said["reason"] += f" ({next(wavers)})"
        return said

    return script


def stopped_and_resumed(folder, name, script, moment, *arguments):
    """Ctrl-C while the model is asked at this moment for the first time; the run goes on. The last output."""
    running, stopped = [], []

    def stop_once(request, number):
        if moment_of(request) == moment and not stopped:
            stopped.append(running[-1])
            running[-1].send_signal(signal.SIGINT)
            running[-1].wait()
        return script(request, number)

    with FaultyModel(stop_once) as model:
        for more in ((), ("--resume", "last")):
            command = command_of(folder, name, *arguments, *more) + list(map(str, asking("flat", model)))
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            out, error = running[-1].communicate(timeout=300)
            assert running[-1].returncode == (0 if more else 130), out + error
    assert stopped
    return json.loads(out)["report"]


@pytest.mark.parametrize("moment", [(3, False), (4, True)], ids=["asked", "mending"])
def test_stopped_and_resumed_it_is_replayed_into_the_same_tree(tmp_path, moment):
    report = stopped_and_resumed(
        tmp_path, "stopped", mends_and_wavers("flat"), moment, "--transcript", tmp_path / "session.jsonl"
    )
    tree, lines = tree_of(tmp_path, "stopped"), (tmp_path / "session.jsonl").read_text().splitlines()
    assert sum("failure" in json.loads(line) and json.loads(line)["failure"] is not None for line in lines) == 1
    account = report["agent"]["account"]
    assert account["attempts"] == len(lines) and account["unpriced"] == 1 and account["cost"] is None
    for name, budget in (("again", ()), ("budgeted", ("--max-cost", "1000"))):
        optimize(tmp_path, name, *replaying("flat", tmp_path / "session.jsonl"), *budget)
        assert tree_of(tmp_path, name) == tree


def test_a_question_ends_with_the_time_of_the_search(tmp_path):
    command = command_of(
        tmp_path, "timed", "--agent", "flat", "--provider", "mailbox", "--option", f"folder={tmp_path / 'box'}"
    )
    command[command.index("--budget") + 1] = f"4s,{TRIALS}trials"
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "box" / "requests" / "0001.expired").exists()
    shown = subprocess.run(
        [PROGRAM, "show", "last", "--json", "--store", tmp_path / "timed-store"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(shown.stdout)["run"]["summary"]["stop"] == "time"
    assert "goes no further" not in done.stderr


def test_keys_of_the_environment_are_in_no_recorded_command(tmp_path):
    key = "sk-0123456789abcdef"
    command = command_of(
        tmp_path, "keyed", "--agent", "flat", "--provider", "command", "--option", f"command=false --with {key}"
    )
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=os.environ | {"SOME_MODEL_API_KEY": key}
    )
    assert "goes no further" in done.stderr
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert [file for file in written if key.encode() in file.read_bytes()] == []
    assert any(b"command=false --with [key]" in file.read_bytes() for file in written if file.name == "report.json")


# With tuning: slow schedules, which the expert has better ones for, and a program that brings none.
SLOW = [
    "threads=32, residency=l2",
    "threads=64, residency=l2",
    "threads=1024, residency=shared, rows_per_block=1",
    "threads=256, residency=l2",
    "threads=128, residency=l2",
    "threads=512, residency=l2",
    "threads=512, residency=shared",
]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A session in which the expert tunes what the model writes: folder, report, tree."""
    folder = tmp_path_factory.mktemp("tuned")
    answers = [answer("flat", f"slow {i}", softmax(knobs)) for i, knobs in enumerate(SLOW)]
    with FaultyModel(answers) as model:
        report = optimize(
            folder, "first", "--agent", "flat", "--provider", "openai", "--model", "gpt-5-mini",
            "--transcript", folder / "session.jsonl", "--option", f"base_url={model.url}", "--option", "key_env=",
            expert=0, tune=2,
        )  # fmt: skip
        asked = json.dumps(model.asked)
    return folder, report, tree_of(folder, "first"), asked


def test_the_expert_tunes_what_the_model_writes(tuned):
    folder, report, tree, asked = tuned
    by_model = [node for node in tree if node["origin"] == "gpt-5-mini"]
    by_expert = [node for node in tree if node["origin"] == "expert"]
    assert len(by_expert) >= 1 and len(by_model) + len(by_expert) == TRIALS
    assert report["agent"]["attempts"] == len(by_model) and report["agent"]["tuned"] == len(by_expert)
    assert report["agent"]["tune"] == 2
    times = {e["node"]: e["measurement"]["time"] for e in events_of(folder, "first") if e["kind"] == "measured"}
    labels = [e["proposal"].get("equations", "") for e in events_of(folder, "first") if e["kind"] == "proposed"]
    for number, (node, label) in enumerate(zip(tree, labels), 1):
        if node["origin"] != "expert":
            assert not label
            continue
        base = int(label.removeprefix("as trial ").removesuffix(" has it"))
        assert tree[base - 1]["origin"] == "gpt-5-mini" and labels.count(label) <= 2
        assert times[number] < times[node["parent"]]
    number = tree.index(by_expert[0]) + 1
    assert f"# Go on from attempt {number}, by the expert" in asked
    assert "the expert takes up to 2 for each program of yours" in asked


def replay_of(folder, name, *arguments):
    return optimize(folder, name, *replaying("flat", folder / "session.jsonl"), *arguments, expert=0, tune=2)


def test_tuned_sessions_are_replayed_into_the_same_tree(tuned):
    folder, report, tree, _ = tuned
    again = replay_of(folder, "again")
    assert tree_of(folder, "again") == tree
    assert again["agent"]["account"] == report["agent"]["account"]


def test_tuned_sessions_are_resumed_into_the_same_tree(tuned):
    folder, _, tree, _ = tuned
    replay_of(folder, "broken", "--max-tokens", "26000")  # ends before it asks for more
    assert 0 < len(tree_of(folder, "broken")) < TRIALS
    replay_of(folder, "broken", "--max-tokens", "1000000", "--resume", "last")
    assert tree_of(folder, "broken") == tree
