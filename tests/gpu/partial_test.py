"""Modules that PyTorch runs a part of (examples/partial), optimised: the drop-in does what the original does, with its
draws and its writes, is not slower, and is faster where our part is at least a fifth. Figures are printed (`-s`)."""

import importlib.util
import json
import statistics
import subprocess

import pytest

torch = pytest.importorskip("torch")

from conftest import ROOT  # noqa: E402

EXAMPLES = sorted(path.stem for path in (ROOT / "examples" / "partial").glob("*.py"))
FIFTH = 0.2
NOT_SLOWER = 0.98  # what timing in turns can tell
ROUNDS, CALLS = 12, 20


@pytest.fixture(scope="module", params=EXAMPLES)
def optimized(request, program, tmp_path_factory):
    """The report, and the names that model_new.py defines; None where nothing is faster."""
    folder = tmp_path_factory.mktemp(request.param)
    file = ROOT / "examples" / "partial" / f"{request.param}.py"
    options = ["--budget", "40s,24trials", "--json", "--store", str(folder / "store")]
    done = subprocess.run(
        [program, "optimize", str(file), *options, "--out", str(folder / "out")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((folder / "out" / "report.json").read_text())
    written = folder / "out" / "model_new.py"
    if not written.exists():
        return request.param, report, None
    spec = importlib.util.spec_from_file_location(f"partial_{request.param}", written)
    namespace = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(namespace)
    return request.param, report, namespace


def share_of_ours(report):
    """Of the original's time: what the stages that are ours took there."""
    whole = sum(row["original"] or 0 for row in report["parts"])
    return sum(row["original"] or 0 for row in report["parts"] if row["ours"]) / whole


def searched_share(report):
    """Of the original's time: what was tried."""
    whole = sum(row["original"] or 0 for row in report["parts"])
    return sum(row["original"] or 0 for row in report["parts"] if row["what"].startswith("stage ")) / whole


class Pair:
    """The original and the drop-in with the same weights and buffers."""

    def __init__(self, scope):
        self.scope = scope
        torch.manual_seed(0)
        self.original = scope.Model(*scope.get_init_inputs()).cuda()
        self.new = scope.ModelNew(*scope.get_init_inputs()).cuda()
        self.new.load_state_dict(self.original.state_dict())

    def inputs(self, seed):
        torch.manual_seed(seed)
        return [x.cuda() for x in self.scope.get_inputs()]

    def seconds(self, module, inputs):
        for _ in range(3):
            module(*inputs)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(CALLS):
            module(*inputs)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3 / CALLS

    def speedup(self):
        inputs = self.inputs(1)
        ratios = [self.seconds(self.original, inputs) / self.seconds(self.new, inputs) for _ in range(ROUNDS)]
        return statistics.median(ratios)


@pytest.fixture
def pair(optimized):
    name, report, scope = optimized
    if scope is None:
        pytest.skip(f"{name}: {report['outcome']}: {report['reason']}")
    with torch.no_grad():
        yield Pair(scope)


def test_says_whose_each_part_is(optimized):
    name, report, _ = optimized
    assert report["outcome"] in ("faster", "not faster"), report["reason"]
    theirs = [row for row in report["parts"] if not row["ours"] and not row["what"].startswith("stage ")]
    assert theirs and all(row["why"] and row["place"].startswith(f"{name}.py:") for row in theirs)
    assert abs(sum(row["share"] for row in report["parts"]) - 1) < 1e-6


def test_opponents_are_timed_next_to_it(optimized):
    """As next to a module that is ours as a whole; one that fails says why."""
    eager, *others = optimized[1]["baselines"]
    print(f"\n{optimized[0]}: " + ", ".join(f"{b['name']} {b.get('speedup')}x" for b in (eager, *others)))
    assert eager["name"] == "PyTorch eager" and eager["time"]["median"] > 0
    assert [b["name"] for b in others] == ["PyTorch eager, TF32 allowed", "torch.compile"]
    assert all("time" in b or b["note"] for b in others)


def test_is_faster_where_a_fifth_is_ours(optimized):
    name, report, _ = optimized
    speedup = report["headline"].get("speedup")
    print(f"\n{name}: {report['outcome']} {speedup}x, {report.get('reason', '')}")
    print(f"of the original's time: stages {searched_share(report):.0%}, ours {share_of_ours(report):.0%}")
    if searched_share(report) >= FIFTH:
        assert report["outcome"] == "faster", report["reason"]


def test_results_draws_and_writes_are_the_originals(pair):
    for seed in range(3):
        args = pair.inputs(seed)
        copies = [a.clone() for a in args]
        torch.manual_seed(100 + seed)
        wanted, drawn = pair.original(*args), torch.rand(1, device="cuda")
        torch.manual_seed(100 + seed)
        found, also = pair.new(*copies), torch.rand(1, device="cuda")
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(copies, args, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(dict(pair.new.named_buffers()), dict(pair.original.named_buffers()))
        assert torch.equal(drawn, also)
    assert pair.new.solstice_fallbacks() == []


def test_is_not_slower(pair, optimized):
    pair.new(*pair.inputs(0))
    ratio = pair.speedup()
    print(f"\n{optimized[0]}: {ratio:.2f}x in turns")
    assert ratio >= NOT_SLOWER


def test_goes_back_to_the_original_as_a_whole(pair):
    pair.new(*pair.inputs(0))
    args = pair.inputs(1)
    with torch.enable_grad(), pytest.warns(UserWarning, match="gradients are required"):
        pair.new(*args)


def test_runs_in_a_graph(pair, optimized):
    if optimized[0] == "dropout":
        pytest.skip("a captured draw takes another part of the generator's sequence")
    args = pair.inputs(1)
    pair.new(*args)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        pair.new(*args)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = pair.new(*args)
    graph.replay()
    wanted = pair.original(*pair.inputs(1))
    torch.testing.assert_close(captured, wanted, rtol=1e-4, atol=1e-4)
