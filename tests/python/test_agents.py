"""Language models in the loop, with faults: sessions against a server that misbehaves, replayed from their transcripts, and
from the transcripts in tests/transcripts/ (SOLSTICE_UPDATE_GOLDEN=1 writes those anew)."""

import json
import os
import pathlib
import subprocess

import pytest

from faulty_model import FaultyModel

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = ROOT / "build" / "bin" / "solstice"
STORED = ROOT / "tests" / "transcripts"
CONTROLLERS = ("flat", "inprompt")
TRIALS = 8

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built: `./x build`")

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


def script_of(controller):
    def says(reason, program):
        method = {"lesson": "", "analysis": "", "hypotheses": []} if controller == "inprompt" else {}
        return method | {"reason": reason, "edits": [], "program": program}

    return [
        "429",
        says("after an overload", softmax("threads=256")),
        "500",
        "malformed",
        says("a knob that there is not", softmax("warps=8")),
        says("mended", softmax("threads=512")),
        "broken_off",
        says("no maximum: equal over the reals, and it overflows", softmax("threads=128", "x[b,n]")),
        "hang",
        "refusal",
        "empty",
        "no JSON at all",
        says("after the client's own repair", softmax("threads=1024")),
        *[says(f"twice what it should be, {i}", softmax(f"threads={64 * i}", "2*x[b,n] - max[n](x[b,n])")) for i in (1, 2, 3, 4)],
        says("a kernel that cheats", CHEAT),
    ]


def optimize(folder, name, *arguments):
    done = subprocess.run(
        [PROGRAM, "optimize", ROOT / "examples" / "softmax.py", "--device", "model", "--no-baselines", "--budget", f"10m,{TRIALS}trials",
         "--window", "0", "--eps", "0", "--expert", "1", "--write", "both", "--store", folder / f"{name}-store",
         "--out", folder / f"{name}-out", "--json", *map(str, arguments)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["report"]


def events_of(folder, name):
    command = [PROGRAM, "export", "last", "--format", "json", "--store", folder / f"{name}-store"]
    exported = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [entry.get("event", entry) for entry in exported["events"]]


def tree_of(folder, name):
    """What became of each trial, without times and costs."""
    nodes = {}
    for event in events_of(folder, name):
        if event["kind"] == "proposed":
            proposal = event["proposal"]
            nodes[event["node"]] = {name: proposal.get(name) for name in ("program", "reason", "parent", "origin", "tokens", "repairs", "answer")}
        elif event["kind"] == "measured" and event["node"] > 0:
            nodes[event["node"]]["state"] = event["measurement"]["state"]
    return [nodes[number] for number in sorted(nodes)]


@pytest.fixture(scope="module", params=CONTROLLERS)
def session(request, tmp_path_factory):
    """A session against the server: controller, folder, report, tree."""
    folder = tmp_path_factory.mktemp(request.param)
    with FaultyModel(script_of(request.param)) as model:
        report = optimize(
            folder, "first", "--agent", request.param, "--provider", "openai", "--model", "gpt-5-mini", "--transcript", folder / "session.jsonl",
            "--option", f"base_url={model.url}", "--option", "key_env=", "--option", "idle_timeout=2",
        )  # fmt: skip
        assert len(model.asked) == len(model.script)
    return request.param, folder, report, tree_of(folder, "first")


def test_every_fault_has_its_place(session):
    _, folder, report, tree = session
    states = [node["state"] for node in tree]
    #                     expert       429          500 ..       not finite   refused    empty ..     refuted    cheats
    assert states == ["predicted", "predicted", "predicted", "predicted", "illegal", "predicted", "wrong", "not compiled"]
    assert [node["repairs"] or 0 for node in tree] == [0, 0, 1, 0, 0, 1, 3, 0]
    assert tree[4]["program"] == "# attempt 5 brought no program: the answer was refused\n"
    assert "threads=512" in tree[2]["program"] and tree[2]["reason"] == "mended"
    assert {node["origin"] for node in tree[1:]} == {"gpt-5-mini"}
    (cheat,) = [e["measurement"]["detail"] for e in events_of(folder, "first") if e["kind"] == "measured" and e["node"] == 8]
    assert "calls" in cheat and "from one launch to the next" in cheat
    account = report["agent"]["account"]
    assert account["failures"] == 5 and account["repairs"] == 1
    assert account["input"] == 1000 * 13 and account["unpriced"] == 0


def test_replayed_without_network_it_is_the_same_tree(session):
    controller, folder, report, tree = session
    again = optimize(
        folder, "again", "--agent", controller, "--provider", "openai", "--model", "gpt-5-mini", "--no-network",
        "--replay-transcript", folder / "session.jsonl",
    )  # fmt: skip
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
    optimize(
        folder, "stored", "--agent", controller, "--provider", "openai", "--model", "gpt-5-mini", "--no-network",
        "--replay-transcript", transcript, "--option", "match=order",
    )  # fmt: skip
    assert tree_of(folder, "stored") == json.loads(expected.read_text())
