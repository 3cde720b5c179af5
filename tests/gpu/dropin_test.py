"""Drop-ins on a real GPU: a hand-made plan with one kernel, y = max(x * w[0], 0)."""

import copy
import ctypes
import gc
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import warnings

import pytest

torch = pytest.importorskip("torch")

SHAPE = (512, 1024)
SOURCE = f"""
import torch
class Model(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([scale]))
    def forward(self, x):
        return torch.relu(x * self.w)
def get_inputs(): return [torch.randn{SHAPE}]
def get_init_inputs(): return [2.0]
"""
KERNEL = """
extern "C" __global__ void scaled_relu(const float* x, const float* w, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i] * w[0], 0.f);
}
"""
COUNT = SHAPE[0] * SHAPE[1]


def buffer(name, kind, shape, **more):
    count = 1
    for n in shape:
        count *= n
    strides = [shape[1], 1] if len(shape) == 2 else [1]
    return {
        "name": name,
        "kind": kind,
        "dtype": "f32",
        "shape": list(shape),
        "strides": strides,
        "bytes": 4 * count,
        "alignment": 16,
        **more,
    }


def pointer(name):
    return {"kind": "pointer", "buffer": name}


def make_plan(target, frozen):
    """Frozen: the weight is copied into the workspace once; the kernel reads it there."""
    weight = "packed" if frozen else "w"
    launch = {
        "name": "main",
        "kind": "launch",
        "module": "k",
        "entry": "scaled_relu",
        "grid": [-(-COUNT // 256), 1, 1],
        "block": [256, 1, 1],
        "arguments": [pointer("x"), pointer(weight), pointer("y"), {"kind": "i32", "integer": COUNT}],
    }
    pack = {"name": "pack", "kind": "copy", "phase": "prepare", "buffer": "packed", "from": "w", "bytes": 4}
    buffers = [
        buffer("x", "input", SHAPE),
        buffer("w", "param", (1,), path="w"),
        buffer("y", "output", SHAPE),
    ]
    if frozen:
        buffers.append(buffer("packed", "workspace", (1,), persistent=True))
    return {
        "schema": "solstice.plan/1",
        "program": "scaled_relu",
        "target": target,
        "buffers": buffers,
        "modules": [{"name": "k", "cubin": "k.cubin", "hash": "?"}],
        "steps": [*([pack] if frozen else []), launch],
    }


def write_plan(folder, plan, library):
    """The content hash is the library's own: it names the one it wants."""
    path = folder / "plan.json"
    path.write_text(json.dumps(plan))
    rt, handle, message = ctypes.CDLL(str(library)), ctypes.c_void_p(), ctypes.create_string_buffer(1024)
    rt.solstice_rt_load(str(path).encode(), ctypes.byref(handle), message, ctypes.c_size_t(1024))
    plan["modules"][0]["hash"] = re.search(r"has hash ([0-9a-f]+)", message.value.decode()).group(1)
    path.write_text(json.dumps(plan))


@pytest.fixture(scope="module")
def cubin(nvcc, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernel")
    (folder / "k.cu").write_text(KERNEL)
    major, minor = torch.cuda.get_device_capability()
    subprocess.run(
        [nvcc, "-cubin", f"-arch=sm_{major}{minor}", "-o", str(folder / "k.cubin"), str(folder / "k.cu")],
        check=True,
    )
    return folder / "k.cubin"


@pytest.fixture(params=["live", "frozen"])
def folder(request, tmp_path, cubin, rt_library):
    """An outcome folder as `solstice optimize` writes it."""
    from solstice import dropin

    package = pathlib.Path(dropin.__file__).parent
    shutil.copy(cubin, tmp_path / "k.cubin")
    shutil.copy(rt_library, tmp_path / "libsolstice_rt.so")
    major, minor = torch.cuda.get_device_capability()
    write_plan(tmp_path, make_plan(f"sm_{major}{minor}", request.param == "frozen"), rt_library)
    (tmp_path / "original.py").write_text(SOURCE)
    (tmp_path / "dropin.json").write_text(
        json.dumps(
            {
                "schema": "solstice.dropin/1",
                "plan": "plan.json",
                "library": "libsolstice_rt.so",
                "weights": request.param,
                "source": {
                    "file": "original.py",
                    "class": "Model",
                    "sha256": hashlib.sha256(SOURCE.encode()).hexdigest(),
                },
                "arguments": [{"buffer": "x", "dtype": "f32", "shape": list(SHAPE), "stride": [SHAPE[1], 1]}],
                "results": [{"buffer": "y"}],
                "structure": {"": {"class": "", "attributes": {"training": "True"}}},
                "flags": {
                    "matmul_tf32": torch.backends.cuda.matmul.allow_tf32,
                    "cudnn_tf32": torch.backends.cudnn.allow_tf32,
                    "deterministic": False,
                },
            }
        )
    )
    text = (package.parent / "templates" / "model_new.py.in").read_text()
    for key, value in {
        "@CLASS@": "Model",
        "@VERSION@": "test",
        "@FOLDER@": json.dumps(str(tmp_path)),
    }.items():
        text = text.replace(key, value)
    (tmp_path / "model_new.py").write_text(text)
    shutil.copytree(package, tmp_path / "solstice_dropin", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.fixture
def pair(folder):
    """The original and the drop-in, on the GPU, with a fresh input."""
    scope = {"__name__": "model_new", "__file__": str(folder / "model_new.py")}
    exec(compile((folder / "model_new.py").read_text(), scope["__file__"], "exec"), scope)
    with torch.no_grad():
        yield scope["Model"](2.0).cuda(), scope["ModelNew"](2.0).cuda(), torch.randn(SHAPE, device="cuda")


def same(new, original, x):
    torch.testing.assert_close(new(x), original(x), rtol=0, atol=0)


def fast(new, original, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(new, original, x)


def test_matches_the_original(pair):
    original, new, _ = pair
    for _ in range(5):
        fast(new, original, torch.randn(SHAPE, device="cuda"))
    assert new.solstice_fallbacks() == []


def test_goes_back_to_the_original(pair):
    original, new, x = pair
    fast(new, original, x)
    with torch.enable_grad(), pytest.warns(UserWarning, match="gradients"):
        new(x).sum().backward()
    assert new.w.grad is not None
    with torch.autocast("cuda", dtype=torch.bfloat16), pytest.warns(UserWarning, match="autocast"):
        same(new, original, x)
    with pytest.warns(UserWarning, match="recorded was"):
        same(new, original, x[:100])
    with pytest.warns(UserWarning, match="stride"):
        same(new, original, torch.randn(SHAPE[1], SHAPE[0], device="cuda").t())
    with pytest.warns(UserWarning, match="aligned"):
        same(new, original, torch.randn(COUNT + 1, device="cuda")[1:].view(SHAPE))
    torch.backends.cuda.matmul.allow_tf32 = not torch.backends.cuda.matmul.allow_tf32
    try:
        with pytest.warns(UserWarning, match="TF32"):
            same(new, original, x)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = not torch.backends.cuda.matmul.allow_tf32
    fast(new, original, x)


def test_to_another_device_and_back(pair):
    original, new, x = pair
    fast(new, original, x)
    new.cpu()
    with pytest.warns(UserWarning, match="no argument is on a GPU"):
        same(new, original.cpu(), x.cpu())
    fast(new.cuda(), original.cuda(), x)


def test_deepcopy_and_changed_weights(pair):
    original, new, x = pair
    fast(new, original, x)
    clone, reference = copy.deepcopy(new), copy.deepcopy(original)
    clone.w.fill_(5.0), reference.w.fill_(5.0)
    fast(clone, reference, x)
    fast(new, original, x)
    new.load_state_dict(reference.state_dict())
    fast(new, reference, x)
    new.w = torch.nn.Parameter(torch.tensor([-3.0], device="cuda"))
    reference.w.fill_(-3.0)
    fast(new, reference, x)


def test_second_stream(pair):
    original, new, x = pair
    expected = original(x)
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in range(3)]
    results = []
    for round in range(20):
        stream = streams[round % 3]
        with torch.cuda.stream(stream):
            results.append(new(x))
    torch.cuda.synchronize()
    assert all(torch.equal(r, expected) for r in results) and new.solstice_fallbacks() == []


def test_thread(pair):
    import threading

    original, new, x = pair
    expected, results = original(x), []

    def work():
        with torch.no_grad():
            results.extend(new(x) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.cuda.synchronize()
    assert len(results) == 200 and all(torch.equal(r, expected) for r in results)


def test_graph_capture(pair):
    original, new, x = pair
    static = x.clone()
    new(static)  # outside: what is prepared once may not be captured
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = new(static)
    assert new.solstice_fallbacks() == []
    for _ in range(3):
        static.copy_(torch.randn(SHAPE, device="cuda"))
        graph.replay()
        assert torch.equal(y, original(static))
        fast(new, original, torch.randn(SHAPE, device="cuda"))


def test_graphs_replayed_side_by_side(pair):
    """Each graph has a workspace of its own, and so have ordinary calls."""
    original, new, _ = pair
    streams = [torch.cuda.Stream() for _ in range(2)]
    inputs = [torch.randn(SHAPE, device="cuda") for _ in range(3)]
    new(inputs[0])
    torch.cuda.synchronize()
    graphs, results = [], []
    for stream, static in zip(streams, inputs):
        graph = torch.cuda.CUDAGraph()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # packed weights have one slot to give; the other graph holds the original
            with torch.cuda.graph(graph, stream=stream):
                results.append(new(static))
        graphs.append(graph)
    for _ in range(20):
        for graph, stream in zip(graphs, streams):
            with torch.cuda.stream(stream):
                graph.replay()
        ordinary = new(inputs[2])
    torch.cuda.synchronize()
    for result, static in zip((*results, ordinary), inputs):
        assert torch.equal(result, original(static))


def test_two_captures_on_the_default_capture_stream(pair):
    """PyTorch captures on one stream of its own; what was captured there first belongs to the first graph alone."""
    original, new, _ = pair
    inputs = [torch.randn(SHAPE, device="cuda") for _ in range(3)]
    graphs, results = [], []
    for static in inputs[:2]:
        new(static)  # packed weights: a call before each capture
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results.append(new(static))
        graphs.append(graph)
    assert new.solstice_fallbacks() == []
    with torch.cuda.stream(torch.cuda.graph.default_capture_stream):
        ordinary = new(inputs[2])
    torch.cuda.synchronize()
    side = [torch.cuda.Stream() for _ in graphs]
    for _ in range(20):
        for graph, stream in zip(graphs, side):
            with torch.cuda.stream(stream):
                graph.replay()
        with torch.cuda.stream(torch.cuda.graph.default_capture_stream):
            ordinary = new(inputs[2])
    torch.cuda.synchronize()
    for result, static in zip((*results, ordinary), inputs):
        assert torch.equal(result, original(static))


def test_second_capture_without_a_call_between(pair):
    original, new, x = pair
    new(x)
    torch.cuda.synchronize()
    graphs, results = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # packed weights have one slot to give; the second graph holds the original
        for _ in range(2):
            graphs.append(torch.cuda.CUDAGraph())
            with torch.cuda.graph(graphs[-1]):
                results.append(new(x))
    for graph, result in zip(graphs, results):
        result.zero_()
        graph.replay()
        assert torch.equal(result, original(x))


def overwrite_free_memory():
    """Whatever PyTorch's cache holds is handed out again and written over."""
    torch.cuda.synchronize()
    taken = [torch.full((bytes // 4,), -7.0, device="cuda") for bytes in (4, 512, 1 << 16, 1 << 20) for _ in range(64)]
    torch.cuda.synchronize()
    return taken


@pytest.mark.parametrize("ending", ["deletion", "rebind", "cleared slots"])
def test_graph_outlives_what_it_was_captured_from(pair, ending):
    """Also where its packed weights lay: the memory is not handed to anybody else."""
    original, new, x = pair
    expected = original(x)
    new(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = new(x)
    weight = new.w  # live kernels read the parameter itself, as any graph does
    if ending == "rebind":
        new.w = torch.nn.Parameter(torch.tensor([5.0], device="cuda"))
        new(x)
    elif ending == "cleared slots":
        new._solstice_runtime._bound.slots.ready.clear()
    else:  # `pair` holds the module too, so what it owns is let go
        new.__dict__.pop("_solstice_runtime")
        new._parameters.clear()
    gc.collect()
    held = overwrite_free_memory()
    y.zero_()
    graph.replay()
    assert torch.equal(y, expected) and weight.item() == 2.0 and len(held) == 256


def test_a_module_dies_during_a_capture(pair, folder):
    """The collector may run at any time; unloading kernels must not end a capture that is none of theirs."""
    original, new, x = pair
    scope = {"__name__": "model_new", "__file__": str(folder / "model_new.py")}
    exec(compile((folder / "model_new.py").read_text(), scope["__file__"], "exec"), scope)
    other = scope["ModelNew"](2.0).cuda()
    other(x), new(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        before = new(x)
        del other
        gc.collect()
        after = new(x)
    before.zero_(), after.zero_()
    graph.replay()
    assert torch.equal(before, original(x)) and torch.equal(after, original(x))


def test_another_thread_prepares_during_a_capture(pair, folder):
    """In the mode that lets other threads allocate: in the default one PyTorch's own allocations end the capture."""
    original, new, x = pair
    expected, found = original(x), []
    scope = {"__name__": "model_new", "__file__": str(folder / "model_new.py")}
    exec(compile((folder / "model_new.py").read_text(), scope["__file__"], "exec"), scope)
    other = scope["ModelNew"](2.0).cuda()

    def call():
        with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
            found.append(other(x))

    new(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        y = new(x)
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    y.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, expected) and torch.equal(found[0], expected) and other.solstice_fallbacks() == []


def test_graph_capture_without_a_call_before(pair):
    original, new, x = pair
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with pytest.warns(UserWarning, match="before each capture"), torch.cuda.graph(graph):
        y = new(x)
    graph.replay()
    assert torch.equal(y, original(x))


# A loop of bare driver calls: what a launch of this kernel costs whoever makes it.
FLOOR = """
#include <cuda.h>
#include <time.h>
double floor_us(void* function, void** parameters, unsigned blocks, void* stream, int n) {
  CUlaunchConfig config = {blocks, 1, 1, 256, 1, 1, 0, (CUstream)stream, 0, 0};
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (int i = 0; i < n; ++i) {
    if (cuLaunchKernelEx(&config, (CUfunction)function, parameters, 0)) return -1;
  }
  clock_gettime(CLOCK_MONOTONIC, &b);
  return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) * 1e-3 / n;
}
"""


@pytest.fixture(scope="module")
def floor_us(nvcc, cubin, tmp_path_factory):
    """Microseconds of one bare launch of the kernel with these tensors, on the host: the least of many short runs."""
    folder = tmp_path_factory.mktemp("floor")
    (folder / "floor.c").write_text(FLOOR)
    command = [nvcc, "-shared", "-Xcompiler", "-fPIC", "-O2", "-o", str(folder / "floor.so"), str(folder / "floor.c")]
    subprocess.run([*command, "-lcuda"], check=True)
    run, cuda = ctypes.CDLL(str(folder / "floor.so")).floor_us, ctypes.CDLL("libcuda.so.1")
    run.restype = ctypes.c_double
    torch.cuda.synchronize()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuModuleLoad(ctypes.byref(module), str(cubin).encode()) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"scaled_relu") == 0

    def measure(x, w, y):
        values = [ctypes.c_void_p(t.data_ptr()) for t in (x, w, y)] + [ctypes.c_int(COUNT)]
        parameters = (ctypes.c_void_p * 4)(*(ctypes.addressof(v) for v in values))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

        def once():
            torch.cuda.synchronize()
            return run(function, parameters, -(-COUNT // 256), stream, 200)

        return min(once() for _ in range(50))

    return measure


def test_overhead(pair, floor_us, capsys):
    """Host time of a whole call, `module(x)` to the returned tensor, above that of the bare driver call that launches
    its one kernel: at most 8 us."""
    from solstice.oracle.timing import host_overhead

    original, new, x = pair

    class Empty(torch.nn.Module):
        def forward(self, x):
            return x

    calls = {"drop-in": new, "original": original, "an empty module": Empty()}
    us = {name: min(host_overhead(lambda m=m: m(x), 200) for _ in range(50)) * 1e6 for name, m in calls.items()}
    floor = floor_us(x, new.w, torch.empty_like(x))
    with capsys.disabled():
        shown = ", ".join(f"{name} {value:.2f} us" for name, value in us.items())
        print(f"\nhost time of a call: {shown}; bare launch {floor:.2f} us; above it {us['drop-in'] - floor:.2f} us")
    assert us["drop-in"] - floor < 8


def test_judged_by_the_oracle(folder):
    """KernelBench's check, the headline timing and the memory, through the session that the worker runs."""
    from solstice.handler import collect_requests
    from solstice.loading import load_file
    from solstice.oracle.session import Session

    (folder / "model.py").write_text(SOURCE)
    session = Session(torch.device("cuda", 0), load_file(str(folder / "model.py")))
    ask = collect_requests(session)
    path = str(folder / "model_new.py")
    verdict = ask["check_dropin"](path=path)
    assert verdict["passed"] and verdict["fallbacks"] == []
    ask["prepare_inputs"](set="a", seed=1)
    timed = ask["time_dropin"](path=path, set="a", reps=10, warmups=3, rounds=2)
    assert timed["fallbacks"] == [] and [len(block["seconds"]) for block in timed["blocks"]] == [10] * 8
    for options in ({}, {"path": path}):
        memory = ask["memory"](set="a", **options)
        assert memory["peak_bytes"] - memory["resident_bytes"] >= 4 * COUNT


def test_runs_without_the_package(folder):
    script = (
        "import torch, model_new; m = model_new.ModelNew(2.0).cuda(); x = model_new.get_inputs()[0].cuda()\n"
        "with torch.no_grad(): assert torch.equal(m(x), model_new.Model(2.0).cuda()(x))\n"
        "assert m.solstice_fallbacks() == []"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
