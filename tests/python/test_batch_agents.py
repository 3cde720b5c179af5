"""Batches of a language model: what it proposes goes out, comes back, is told to it, and
is replayed from its transcript."""

import json
import pathlib
import subprocess

import pytest

from batch_site import Site

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = ROOT / "build" / "bin" / "solstice"
MODULE = ROOT / "examples" / "softmax.py"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built: `./x build`"),
    pytest.mark.usefixtures("warm_python"),
]

# A provider of `command`: keeps each request, and gives the answers of its folder one after the other.
MODEL = """#!/bin/sh
cd "$(dirname "$0")"
n=$(($(cat count 2>/dev/null || echo 0) + 1))
echo $n > count
cat > request$n.json
cat answer$n.json
"""

HEAD = """program softmax
dim B = 8192, N = 16384
input x : f32[B, N]
output y : f32[B, N]
"""
EQUATIONS = """  ex[b,n] = exp(x[b,n] - max[n](x[b,n]))
  y[b,n] = ex[b,n] / sum[n](ex[b,n])
}
"""
BY_ROWS = f"{HEAD}kernel k by rows(threads=256) {{\n{EQUATIONS}"
BY_CUDA = f'''{HEAD}source "k.cu" """
extern "C" __global__ void softmax(const float* x, float* y, long long n) {{
  __shared__ float shared[256];
  const float* row = x + blockIdx.x * n;
  float most = -3.4e38f, sum = 0;
  for (long long i = threadIdx.x; i < n; i += 256) most = fmaxf(most, row[i]);
  shared[threadIdx.x] = most;
  __syncthreads();
  for (int i = 0; i < 256; ++i) most = fmaxf(most, shared[i]);
  __syncthreads();
  for (long long i = threadIdx.x; i < n; i += 256) sum += expf(row[i] - most);
  shared[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 256; ++i) sum += shared[i];
  for (long long i = threadIdx.x; i < n; i += 256) y[blockIdx.x * n + i] = expf(row[i] - most) / sum;
}}
"""
kernel k by cuda("k.cu", entry="softmax", args=(x, y, N), grid=B, block=256) {{
{EQUATIONS}'''


def program(reason, text):
    return {"reason": reason, "nothing_left": "no", "edits": [], "program": text}


def edit(reason, find, replace):
    return {"reason": reason, "nothing_left": "no", "edits": [{"find": find, "replace": replace}], "program": ""}


class Model:
    """What a run's model says, and what it was told."""

    def __init__(self, folder, *answers):
        self.folder = folder
        self.folder.mkdir()
        self.script = folder / "model.sh"
        self.script.write_text(MODEL)
        self.script.chmod(0o755)
        for number, said in enumerate(answers, 1):
            usage = {"input": 100, "output": 10}
            text = {"text": json.dumps(said), "finish": "complete", "usage": usage}
            (folder / f"answer{number}.json").write_text(json.dumps(text))

    def options(self, *more, agent="flat"):
        # tune 0: the expert has no trial between
        return ("--agent", agent, "--provider", "command", "--option", f"command={self.script}", "--tune", 0, *more)

    def asked(self):
        return int((self.folder / "count").read_text())

    def request(self, number):
        """The last message, and the instructions."""
        request = json.loads((self.folder / f"request{number}.json").read_text())
        return request["messages"][-1]["text"], request["system"]


def tree_of(folder):
    """What was proposed, and the predicted time, of each trial; without what a clock says."""
    exported = subprocess.run(
        [PROGRAM, "export", "last", "--format", "json", "--store", folder / "store"], check=True, capture_output=True
    )
    nodes = {}
    for event in (entry.get("event", entry) for entry in json.loads(exported.stdout)["events"]):
        if event["kind"] == "proposed":
            kept = ("program", "reason", "parent", "origin", "author", "tokens", "repairs", "answer")
            nodes[event["node"]] = {name: event["proposal"].get(name) for name in kept}
        elif event["kind"] == "measured" and event["node"] > 0:
            nodes[event["node"]]["measured"] = (event["measurement"]["state"], event["measurement"]["time"])
    return [nodes[number] for number in sorted(nodes)]


def goes_out_and_comes_back(site, rounds, *agent):
    """Batches of one candidate each, all but the first of a run that goes on."""
    for number in range(rounds):
        name = f"batch{number}"
        asked = site.propose(name, "--batch", 1, *agent, run="last" if number else MODULE)
        assert asked["candidates"] == 1, asked
        site.evaluate(name)
        assert site.absorb(name)["taken"] == 1
    return tree_of(site.folder)


ANSWERS = [program("a schedule of its own", BY_ROWS), edit("more threads", "threads=256", "threads=512")]


@pytest.mark.parametrize("agent", ["flat", "inprompt"])
def test_what_a_model_proposes_goes_out_and_is_told_what_became_of_it(site, agent):
    method = {"lesson": "", "analysis": "", "hypotheses": []} if agent == "inprompt" else {}
    model = Model(site.folder / "model", *(answer | method for answer in ANSWERS))
    transcript = site.folder / "session.jsonl"
    tree = goes_out_and_comes_back(site, 3, *model.options("--expert", 1, "--transcript", transcript, agent=agent))
    assert [node["origin"] for node in tree] == ["expert", "command", "command"]
    assert [node["measured"][0] for node in tree] == ["predicted"] * 3
    assert (
        "threads=512" in tree[2]["program"]
        and tree[2]["program"] == BY_ROWS.replace("256", "512")
        and tree[2]["parent"] == 2
    )
    assert (site.folder / "batch2" / "candidates" / "3.ucut").read_text() == tree[2]["program"]
    assert model.asked() == 2
    told = model.request(2)[0]
    assert "# Go on from attempt 2" in told and "predicted by cost models: " in told

    again = Site(site.folder / "again")
    again.folder.mkdir()
    replayed = (
        "--agent", agent, "--provider", "command", "--expert", 1, "--tune", 0, "--no-network",
        "--replay-transcript", transcript,
    )  # fmt: skip
    assert goes_out_and_comes_back(again, 3, *replayed) == tree
    assert model.asked() == 2


def test_device_code_goes_out_and_comes_back(site):
    model = Model(site.folder / "model", program("whole rows in a block", BY_CUDA))
    (node,) = goes_out_and_comes_back(site, 1, *model.options("--expert", 0, "--write", "cuda", "--sol", "off"))
    assert node["program"] == BY_CUDA and node["measured"][0] == "predicted" and node["repairs"] == 0, node
    told, instructions = model.request(1)
    assert "# Device code of your own" in instructions and "practical" not in told


def complaint(site, *said, write):
    """What a model that writes `write` is told of its first answer; the second is taken."""
    model = Model(site.folder / "model", *said)
    asked = site.propose("one", "--batch", 1, *model.options("--expert", 0, "--write", write), run=MODULE)
    assert (asked["candidates"], model.asked()) == (1, 2)
    (node,) = tree_of(site.folder)
    assert node["repairs"] == 1 and node["program"] == said[1]["program"]
    return model.request(2)[0]


def test_device_code_that_is_not_asked_for_is_refused(site):
    told = complaint(site, program("my own", BY_CUDA), program("a family", BY_ROWS), write="ucut")
    assert "device code of your own (`by cuda`) is not asked for: use the families" in told


def test_where_device_code_is_asked_for_families_alone_are_refused(site):
    told = complaint(site, program("a family", BY_ROWS), program("my own", BY_CUDA), write="cuda")
    assert "no kernel is `by cuda`: at least one has to be" in told


def test_a_set_of_values_is_refused(site):
    several = BY_ROWS.replace("threads=256", "threads={128, 256}")
    told = complaint(site, program("some", several), program("one", BY_ROWS), write="both")
    assert (
        "kernel `k` has a set of values, of which cost models would choose one: write one value for each knob" in told
    )


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)
