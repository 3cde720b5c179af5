"""Drop-ins that `solstice optimize` wrote, under everything a caller may do with a module."""

import copy
import subprocess
import warnings

import pytest

torch = pytest.importorskip("torch")


LINEAR = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = torch.nn.Linear(width, width)
    def forward(self, x):
        return torch.nn.functional.gelu(self.up(x))
def get_inputs(): return [torch.randn(1024, 2048)]
def get_init_inputs(): return [2048]
"""

# Two arguments, two results, a parameter under two names, a scale that only the constructor knows.
PAIR = """
import torch
class Model(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.gain = torch.nn.Parameter(torch.randn(4096))
        self.tied = torch.nn.ParameterList([self.gain])
    def forward(self, x, r):
        h = torch.tanh(x + r) * self.scale
        return h * self.gain + self.tied[0], torch.relu(h - r)
def get_inputs(): return [torch.randn(2048, 4096), torch.randn(2048, 4096)]
def get_init_inputs(): return [0.5]
"""

CASES = {"linear": (LINEAR, "live"), "frozen": (LINEAR, "frozen"), "pair": (PAIR, "live")}


@pytest.fixture(scope="module", params=CASES)
def optimized(request, program, tmp_path_factory):
    """The names that model_new.py defines."""
    source, weights = CASES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "model.py").write_text(source)
    command = [program, "optimize", str(folder / "model.py"), "--weights", weights, "--budget", "10s,4trials"]
    done = subprocess.run([*command, "--no-baselines", "--out", str(folder / "out")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    written = folder / "out" / "model_new.py"
    if not written.exists():
        pytest.skip("nothing was faster:\n" + done.stdout)
    again = subprocess.run(
        [program, "run", str(folder / "out" / "program.ucut"), "--of", str(folder / "model.py"), "--weights", weights],
        capture_output=True,
        text=True,
    )
    assert again.returncode == 0 and again.stdout.startswith("verified"), again.stdout + again.stderr
    scope = {"__name__": f"model_new_{request.param}", "__file__": str(written)}
    exec(compile(written.read_text(), scope["__file__"], "exec"), scope)
    return scope


class Pair:
    """The original and the drop-in with the same weights, and inputs."""

    def __init__(self, scope):
        self.scope = scope
        self.original = scope["Model"](*scope["get_init_inputs"]()).cuda()
        self.new = scope["ModelNew"](*scope["get_init_inputs"]()).cuda()
        self.new.load_state_dict(self.original.state_dict())
        self.inputs = self.fresh()

    def fresh(self):
        return [x.cuda() for x in self.scope["get_inputs"]()]

    def same(self, new=None, original=None, inputs=None):
        inputs = self.inputs if inputs is None else inputs
        mine = (self.new if new is None else new)(*inputs)
        theirs = (self.original if original is None else original)(*inputs)
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4)
        return mine

    def fast(self, *args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return self.same(*args, **kwargs)

    def refused(self, reason, *args, **kwargs):
        with pytest.warns(UserWarning, match=reason):
            return self.same(*args, **kwargs)


@pytest.fixture
def pair(optimized):
    with torch.no_grad():
        yield Pair(optimized)


def first(result):
    return result[0] if isinstance(result, tuple) else result


def test_runs_the_kernels(pair):
    for _ in range(3):
        pair.fast(inputs=pair.fresh())
    assert pair.new.solstice_fallbacks() == []


def test_requires_grad(pair):
    pair.fast()
    with torch.enable_grad():
        first(pair.refused("gradients")).sum().backward()
        assert all(p.grad is not None for p in pair.new.parameters())
        for parameter in (*pair.new.parameters(), *pair.original.parameters()):
            parameter.requires_grad_(False)
        pair.fast()


def test_autocast(pair):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        pair.refused("autocast")
    pair.fast()


def test_other_arguments(pair):
    pair.fast()
    pair.refused("recorded was", inputs=[x[:64].contiguous() for x in pair.inputs])
    pair.refused("stride", inputs=[x.t().contiguous().t() for x in pair.inputs])
    pair.refused("stride", inputs=[torch.cat([x, x], 1)[:, : x.shape[1]] for x in pair.inputs])
    pair.refused("aligned", inputs=[torch.cat([x.flatten()[:1], x.flatten()])[1:].view(x.shape) for x in pair.inputs])
    pair.fast()


def test_to_and_back(pair):
    pair.fast()
    pair.new.double(), pair.original.double()
    pair.refused("float64", inputs=[x.double() for x in pair.inputs])
    pair.new.float().cpu(), pair.original.float().cpu()
    pair.refused("no argument is on a GPU", inputs=[x.cpu() for x in pair.inputs])
    pair.new.cuda(), pair.original.cuda()
    pair.fast()


def test_deepcopy(pair):
    pair.fast()
    clone, reference = copy.deepcopy(pair.new), copy.deepcopy(pair.original)
    for module in (clone, reference):
        for parameter in module.parameters():
            parameter.mul_(-1.5)
    pair.fast(clone, reference)
    pair.fast()
    del clone
    pair.fast()


def test_changed_weights(pair):
    pair.fast()
    for module in (pair.new, pair.original):
        for i, parameter in enumerate(module.parameters()):
            parameter.add_(0.25 * (i + 1))
    pair.fast()
    state = {name: value * 0.5 for name, value in pair.original.state_dict().items()}
    for module in (pair.new, pair.original):
        module.load_state_dict(state)
    pair.fast()
    for module in (pair.new, pair.original):
        module.load_state_dict({name: value.clone() for name, value in state.items()}, assign=True)
    if "tied.0" in state:  # two parameters now
        pair.refused("no longer the same tensor")
    else:
        pair.fast()


def test_other_constructor_arguments(pair):
    other = pair.scope["ModelNew"](*(2 * a for a in pair.scope["get_init_inputs"]())).cuda()
    original = pair.scope["Model"](*(2 * a for a in pair.scope["get_init_inputs"]())).cuda()
    original.load_state_dict(other.state_dict())
    inputs = (
        pair.inputs if original.state_dict().keys() == {"gain", "tied.0"} else [torch.randn(64, 4096, device="cuda")]
    )
    pair.refused("recorded was", other, original, inputs)


def test_second_stream(pair):
    expected = pair.original(*pair.inputs)
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in range(3)]
    results = []
    for turn in range(24):
        with torch.cuda.stream(streams[turn % 3]):
            results.append(pair.new(*pair.inputs))
    torch.cuda.synchronize()
    for result in results:
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)
    assert pair.new.solstice_fallbacks() == []


def test_cuda_graph(pair):
    static = pair.fresh()
    pair.new(*static)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = pair.new(*static)
    assert pair.new.solstice_fallbacks() == []
    for _ in range(3):
        for target, source in zip(static, pair.fresh()):
            target.copy_(source)
        graph.replay()
        torch.testing.assert_close(captured, pair.original(*static), rtol=1e-4, atol=1e-4)
        pair.fast(inputs=pair.fresh())


def test_compile_and_inference_mode(pair):
    with torch.inference_mode():
        pair.fast()
    compiled = torch.compile(pair.new, backend="eager", fullgraph=True)
    pair.same(new=compiled)


def test_host_time(pair, capsys):
    from host_time import host_overhead

    def least(module):
        return min(host_overhead(lambda: module(*pair.inputs), 20) for _ in range(30)) * 1e6

    new, original = least(pair.new), least(pair.original)
    with capsys.disabled():
        print(f"\nhost time of a call: drop-in {new:.2f} us, original {original:.2f} us")
