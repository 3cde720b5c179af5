"""Drop-ins captured in CUDA graphs, on a real GPU."""

import gc
import threading
import warnings

import pytest

torch = pytest.importorskip("torch")

from scaled_relu import SHAPE, fast, load  # noqa: E402


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
    other = load(folder)["ModelNew"](2.0).cuda()
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
    other = load(folder)["ModelNew"](2.0).cuda()

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
