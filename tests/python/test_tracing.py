"""Graphs of small modules, each with one awkward construct."""

import base64
import math
import time

import pytest
import torch

from solstice.dropin import arrays
from solstice.errors import OracleError
from solstice.loading import load_file
from solstice.tracing import trace, values

HEADER = "import torch, torch.nn as nn, torch.nn.functional as F\n"


@pytest.fixture
def graph_of(write_model):
    """The graph of a module given by its forward's body, its constructor's body and its inputs."""

    def make(forward, inputs="[torch.rand(3, 8)]", init="pass", args="self, x", **options):
        lines = [HEADER, "class Model(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        lines += [f"        {line}" for line in init.split("\n")]
        lines += [f"    def forward({args}):", *(f"        {line}" for line in forward.split("\n"))]
        lines += [f"def get_inputs(): return {inputs}", "def get_init_inputs(): return []"]
        return trace(load_file(write_model("\n".join(lines))), **options)

    return make


def ops(graph):
    return [n["op"].removeprefix("aten.") for n in graph["nodes"]]


def refusal(make, *args, **kwargs):
    with pytest.raises(OracleError) as caught:
        make(*args, **kwargs)
    return caught.value


def test_linear_gelu_in_full(write_model):
    path = write_model("""
        import torch
        class Model(torch.nn.Module):
            def __init__(self, a, b):
                super().__init__()
                self.up = torch.nn.Linear(a, b)
            def forward(self, x):
                x = self.up(x)
                return torch.nn.functional.gelu(x)
        def get_inputs(): return [torch.rand(3, 4)]
        def get_init_inputs(): return [4, 8]
    """)
    graph = trace(load_file(path))
    assert (graph["schema"], graph["version"], graph["files"]) == ("solstice.graph", 1, [path])
    assert graph["producer"]["mode"] == "nonstrict" and graph["producer"]["level"] == "functional"
    assert [s["fqn"] for s in graph["state"]] == ["up.weight", "up.bias"]
    assert [(i["id"], i["kind"]) for i in graph["inputs"]] == [
        ("p_up_weight", "parameter"),
        ("p_up_bias", "parameter"),
        ("x", "user_input"),
    ]
    linear, gelu = graph["nodes"]
    assert linear["args"] == {"input": {"t": "x"}, "weight": {"t": "p_up_weight"}, "bias": {"t": "p_up_bias"}}
    assert linear["outs"] == [
        {"id": "linear", "dtype": "f32", "shape": [3, 8], "stride": [8, 1], "device": "cpu", "used": True}
    ]
    assert (linear["module"], linear["src"]["line"], linear["src"]["text"]) == ("up", 8, "x = self.up(x)")
    assert gelu["args"] == {"self": {"t": "linear"}, "approximate": "none"}
    assert graph["outputs"] == [{"kind": "user_output", "value": "gelu"}]
    assert graph["modules"][0] == {"path": "", "type": "model.Model", "training": True}


def test_batch_norm_writes_its_statistics(graph_of):
    graph = graph_of("return self.bn(x)", "[torch.rand(2, 3, 4, 4)]", "self.bn = nn.BatchNorm2d(3)")
    node = next(n for n in graph["nodes"] if "batch_norm" in n["op"])
    assert [o["used"] for o in node["outs"]] == [True, False, False, True, True]
    targets = {o["target"] for o in graph["outputs"] if o["kind"] == "buffer_mutation"}
    assert targets == {"bn.running_mean", "bn.running_var", "bn.num_batches_tracked"}


def test_instance_norm_keeps_its_running_statistics(write_model):
    from solstice.tracing.export import export_functional

    module = torch.nn.InstanceNorm2d(3, affine=True, track_running_stats=True)
    x = torch.randn(4, 3, 5, 5)
    program, _ = export_functional(module, (x,), {})
    exported = program.module()
    y = exported(x)
    torch.testing.assert_close(y, module(x))
    for name in ("running_mean", "running_var"):
        torch.testing.assert_close(exported.get_buffer(name), module.get_buffer(name))


def test_hidden_mutation_is_refused(graph_of):
    error = refusal(
        graph_of,
        "return torch.instance_norm(x, None, None, self.m, self.v, True, 0.1, 1e-5, False)",
        "[torch.rand(2, 3, 4)]",
        "self.register_buffer('m', torch.zeros(3))\nself.register_buffer('v', torch.ones(3))",
    )
    assert error.code == "trace.hidden_mutation"


def test_python_state_is_refused(graph_of):
    error = refusal(graph_of, "self.n += 1\nreturn x + self.n", init="self.n = 0")
    assert error.code == "trace.python_state"
    assert "`n`: 0 -> 1" in error.message


def test_python_state_in_a_container_is_refused(graph_of):
    error = refusal(graph_of, "self.seen.append(x.shape[0])\nreturn x + len(self.seen)", init="self.seen = []")
    assert error.code == "trace.python_state"


def test_tensor_kept_between_calls_is_refused(graph_of):
    error = refusal(graph_of, "self.h = x if self.h is None else self.h + x\nreturn self.h * 2", init="self.h = None")
    assert error.code in ("trace.python_state", "trace.not_exportable")


@pytest.mark.parametrize(
    "forward",
    [
        "return x + torch.zeros(8, device='cuda')",
        "return x + torch.zeros(8).cuda()",
        "return x + torch.zeros(8).to('cuda:0')",
        "return x.to(device=torch.device('cuda'))",
    ],
)
def test_hard_coded_cuda(graph_of, forward):
    assert all(o["device"] == "cpu" for n in graph_of(forward)["nodes"] for o in n["outs"])


def test_hard_coded_cuda_in_the_constructor(graph_of):
    graph = graph_of("return x * self.s", init="self.s = nn.Parameter(torch.ones(8, device='cuda'))")
    assert graph["state"][0]["device"] == "cpu"


def test_tied_weights(graph_of):
    graph = graph_of(
        "return self.b(self.a(x))",
        init="self.a = nn.Linear(8, 8, bias=False)\nself.b = nn.Linear(8, 8, bias=False)\n"
        "self.b.weight = self.a.weight",
    )
    weights = [i for i in graph["inputs"] if i["kind"] == "parameter"]
    assert [w["tied"] for w in weights] == [["b.weight"], ["a.weight"]]
    assert weights[0]["storage"] == weights[1]["storage"]


def test_long_lstm_is_one_node(graph_of):
    start = time.perf_counter()
    graph = graph_of(
        "return self.r(x)[0]",
        "[torch.rand(4, 512, 8)]",
        "self.r = nn.LSTM(8, 16, 6, batch_first=True, bidirectional=True)",
    )
    assert ops(graph).count("lstm.input") == 1
    assert time.perf_counter() - start < 30
    node = next(n for n in graph["nodes"] if n["op"] == "aten.lstm.input")
    assert node["outs"][0]["stride"] == [32, 128, 1]  # time outermost in memory, as in eager
    assert graph["rng"] == []


def test_lines_of_helper_functions(write_model):
    graph = trace(
        load_file(
            write_model("""
        import torch
        def helper(x):
            return torch.tanh(x)
        class Model(torch.nn.Module):
            def forward(self, x):
                return helper(x)
        def get_inputs(): return [torch.rand(2)]
        def get_init_inputs(): return []
    """)
        )
    )
    source = graph["nodes"][0]["src"]
    assert (source["line"], source["function"], source["callers"]) == (4, "helper", [[0, 7]])


def test_a_shape_that_depends_on_values_is_the_largest_and_says_so(graph_of):
    graph = graph_of("y = x + 1\nreturn y[y > .5].relu(), y")
    (index,) = [n for n in graph["nodes"] if n["op"] == "aten.index.Tensor"]
    (out,) = index["outs"]
    assert "torch.where" in out["varies"] and out["shape"] == [math.prod(graph["inputs"][-1]["shape"])]
    assert [n["id"] for n in graph["nodes"] if n["outs"][0].get("varies")] == ["index", "relu"]
    assert not graph["symbols"] and graph["producer"]["decomposable"] == []


def test_branch_on_a_value_is_refused(graph_of):
    error = refusal(graph_of, "return x * 2 if x.sum() > 0 else x")
    assert error.code == "trace.branches"
    assert error.line == 8


def test_wrong_shapes_are_told_from_untraceable_code(graph_of):
    error = refusal(graph_of, "return self.l(x)", init="self.l = nn.Linear(7, 2)")
    assert error.code == "trace.forward_failed" and error.kind == "input"
    assert error.line == 8


def test_random_nodes(graph_of):
    graph = graph_of("return self.d(x) + torch.randn_like(x)", init="self.d = nn.Dropout(.3)")
    assert len(graph["rng"]) == 2
    quiet = graph_of("return F.scaled_dot_product_attention(x, x, x)", "[torch.rand(2, 4, 8)]")
    assert quiet["rng"] == [] and ops(quiet) == ["scaled_dot_product_attention.default"]


def test_masks_of_a_transformer_are_applied_as_given(graph_of):
    graph = graph_of(
        "return self.t(x, self.m)",
        "[torch.rand(3, 2, 8)]",
        init="self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), 1)\n"
        "self.register_buffer('m', nn.Transformer.generate_square_subsequent_mask(3))",
    )
    (attention,) = (n for n in graph["nodes"] if n["op"] == "aten.scaled_dot_product_attention.default")
    assert attention["args"]["attn_mask"] and attention["args"]["is_causal"] is False


def test_symbols_that_nothing_has_are_left_out(graph_of):
    init = "self.e = nn.Embedding(4, 3)"
    graph = graph_of("return self.e(x)", "[torch.randint(4, (1, 1)).expand(5, 7)]", init=init)
    assert graph["symbols"] == {}


def test_trees_and_constants(graph_of):
    graph = graph_of(
        "return {'a': xs[0] + k, 'b': (xs[1] * 2, None, 3)}",
        "[[torch.rand(3), torch.rand(2)], 3, None]",
        args="self, xs, k=2, m=None",
    )
    assert [(i["id"], i.get("value")) for i in graph["inputs"]] == [
        ("xs_0", None),
        ("xs_1", None),
        ("k", 3),
        ("m", None),
    ]
    assert [o.get("const") for o in graph["outputs"] if "const" in o] == [None, 3]


def test_keyword_inputs(graph_of):
    graph = graph_of("return x @ y", "{'x': torch.rand(2, 3), 'y': torch.rand(3, 4)}", args="self, x, y")
    assert [i["id"] for i in graph["inputs"]] == ["x", "y"]


def test_strides_of_parameters_and_inputs(graph_of):
    graph = graph_of(
        "return x @ self.w", "[torch.rand(3, 1).expand(3, 6)]", "self.w = nn.Parameter(torch.rand(8, 6).t())"
    )
    strides = {i["id"]: i["stride"] for i in graph["inputs"]}
    assert strides == {"p_w": [1, 6], "x": [1, 0]}


def test_constants_inline_and_as_files(graph_of, tmp_path):
    graph = graph_of("return x * self.c", init="self.c = torch.arange(8.)")
    data = next(i for i in graph["inputs"] if i["kind"] == "constant_tensor")["data"]
    assert torch.frombuffer(bytearray(base64.b64decode(data["base64"])), dtype=torch.float32).tolist() == list(range(8))
    large = graph_of(
        "return x * self.c", "[torch.rand(3, 4096)]", "self.c = torch.arange(4096.)", blob_dir=str(tmp_path)
    )
    data = next(i for i in large["inputs"] if i["kind"] == "constant_tensor")["data"]
    assert data["bytes"] == 16384
    assert (tmp_path / data["blob"]).stat().st_size == 16384


def test_the_structure_tells_what_constants_in_line_hold(graph_of):
    """The kernels may have them as literals; a drop-in compares the structure."""
    graph = graph_of(
        "self.s = self.s.to(x.device)\nreturn x * self.s + self.lst[0] * self.lst[1] + self.most.sum()",
        init="self.s, self.lst, self.most = torch.full((1,), 2.0), [torch.ones(8), 3], torch.rand(1024)",
    )
    data = [i["data"] for i in graph["inputs"] if i["kind"] == "constant_tensor"]
    assert len(data) == 3 and all("base64" in d for d in data)
    found = graph["structure"][""]["attributes"]
    assert found["s"] == "tensor(float32[1], [2.0])"
    assert found["lst"] == f"list(tensor(float32[8], {[1.0] * 8}), 3)"
    assert found["most"].startswith("tensor(float32[1024], ")
    assert arrays.MOST_BYTES >= values.INLINE_BYTES


def test_writes_to_an_input(graph_of):
    graph = graph_of("x.relu_()\nreturn x * 2")
    assert graph["outputs"][0]["kind"] == "user_input_mutation"
    assert graph["outputs"][0]["target"] == "x"


def test_unused_parameters_are_listed(graph_of):
    graph = graph_of("self.dead(x)\nreturn x + 1", init="self.dead = nn.Linear(8, 8)")
    assert [s["fqn"] for s in graph["state"]] == ["dead.weight", "dead.bias"]
    assert not any(i["used"] for i in graph["inputs"] if i["kind"] == "parameter")


def test_strict_mode_is_the_second_try(graph_of):
    graph = graph_of("return torch.from_numpy(np.tanh(x.detach().numpy()))", init="global np\nimport numpy as np")
    assert graph["producer"]["mode"] == "strict"
    assert graph["producer"]["notes"][0].startswith("nonstrict: ")


def test_only_named_operators_are_decomposed(graph_of):
    forward = "return F.mish(torch.einsum('ij,kj->ik', x, x))"
    assert ops(graph_of(forward)) == ["einsum.default", "mish.default"]
    assert "mish.default" not in ops(graph_of(forward, decompose=["aten.mish.default"]))
    assert refusal(graph_of, forward, decompose=["aten.nothing.default"]).code == "trace.no_decomposition"


def test_the_graph_says_what_can_be_decomposed(graph_of):
    graph = graph_of("return F.mish(self.r(x)[0])", init="self.r = nn.RNN(8, 4)")
    assert "aten.mish.default" in graph["producer"]["decomposable"]
    assert "aten.rnn_tanh.input" not in graph["producer"]["decomposable"]


def test_constructor_that_reads_values(graph_of):
    graph = graph_of("return x * self.p[2]", init="self.p = [v.item() for v in torch.linspace(0, .1, 4)]")
    assert graph["nodes"][0]["args"]["other"] == pytest.approx(0.2 / 3)


def test_infinities_and_integers_stay_what_they_are(graph_of):
    graph = graph_of("return F.hardtanh(x.masked_fill(x > 1, float('-inf')), -2, 2)")
    fill, clamp = graph["nodes"][-2]["args"], graph["nodes"][-1]["args"]
    assert fill["value"] == {"float": "-inf"}
    assert clamp["min_val"] == -2 and isinstance(clamp["min_val"], int)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("linear_gelu", ["linear.default", "gelu.default"]),
        ("softmax", ["softmax.int"]),
        ("mlp", ["linear.default", "relu.default", "linear.default"]),
        ("gelu", ["gelu.default"]),
    ],
)
def test_examples(name, expected):
    from conftest import ROOT

    assert ops(trace(load_file(str(ROOT / "examples" / f"{name}.py")))) == expected


def test_covariances_are_products_and_sums(graph_of):
    graph = graph_of("return torch.cov(x), x.corrcoef(), x.cov(correction=0)")
    assert ops(graph).count("mm.default") == 3 and graph["producer"]["unchecked"] == []
    assert {n["src"]["text"] for n in graph["nodes"]} == {"return torch.cov(x), x.corrcoef(), x.cov(correction=0)"}


def test_the_graph_says_what_e4m3_makes_of_large_values(graph_of):
    beyond = torch.tensor(1000.0).to(torch.float8_e4m3fn).float()
    assert graph_of("return x * 2")["semantics"]["fp8_saturates"] == (beyond == 448)
