"""The cut of a module: whose each call is, the stages, the order of the drop-in; and what the calls do together."""

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

from conftest import ROOT  # noqa: E402
from partial_site import calls_of, made_parts, parts_of, seconds_of, session_of, steps_of  # noqa: E402

from solstice.dropin.numbers import Unforeseen  # noqa: E402
from solstice.errors import OracleError  # noqa: E402
from solstice.loading import load_file  # noqa: E402
from solstice.oracle import partial, requests  # noqa: E402
from solstice.oracle.session import Session  # noqa: E402
from solstice.partial.parts import make_parts, stage_subject, state_of  # noqa: E402
from solstice.tracing import trace  # noqa: E402


class Net(torch.nn.Module):
    """A module of one function of itself and its arguments."""

    def __init__(self, function, **state):
        super().__init__()
        self.function = function
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)
        for name, value in state.items():
            if isinstance(value, torch.nn.Module):
                self.add_module(name, value)
            else:
                self.register_buffer(name, value)

    def forward(self, *args):
        return self.function(self, *args)


def why(parts):
    return {node.name: reason for node, reason in parts.found.why.items()}


def test_a_draw_divides_and_stays():
    parts = parts_of(Net(lambda m, x: m.down(F.dropout(F.gelu(m.up(x)), 0.5, True))), torch.randn(4, 8))
    assert [calls_of(s) for s in parts.stages] == [["linear", "gelu"], ["linear"]]
    assert steps_of(parts) == [1, "dropout", 2]
    assert why(parts) == {"dropout": "it draws random numbers"}


def test_dropout_that_is_off_draws_nothing():
    parts = parts_of(Net(lambda m, x: m.down(F.dropout(m.up(x), 0.5, False))), torch.randn(4, 8))
    assert [calls_of(s) for s in parts.stages] == [["linear", "linear"]]


def test_dropout_that_is_off_makes_no_call_worth_a_kernel():
    forward = lambda m, x: F.dropout(F.dropout(x + 1, 0.5, False), 0.5, True)
    parts = parts_of(Net(forward), torch.randn(4, 8))
    assert steps_of(parts) == ["add", "dropout", "dropout"]
    assert why(parts)["add"] == "too small a part for kernels of its own"


def test_calls_that_were_refused_stay_with_their_reason():
    module = Net(lambda m, x: m.down(torch.erfinv(m.up(x)).tanh()))
    parts = parts_of(module, torch.randn(4, 8), refused={"erfinv": "no equations"})
    assert steps_of(parts) == [1, "erfinv", 2]
    assert why(parts) == {"erfinv": "no equations"}


def test_independent_branches_share_a_stage():
    def forward(m, x):
        left = F.dropout(m.up(x), 0.5, True)
        return m.down(left) + m.down(torch.tanh(m.up(x * 2)))

    parts = parts_of(Net(forward), torch.randn(4, 8))
    assert steps_of(parts) == [1, "dropout", 2]
    assert calls_of(parts.stages[0]).count("linear") == 3


def test_an_input_written_in_place_keeps_its_order():
    def forward(m, x, cache):
        before = m.down(F.gelu(m.up(cache)))
        cache.add_(x)
        return before, m.down(F.gelu(m.up(cache)))

    parts = parts_of(Net(forward), torch.randn(4, 8), torch.randn(4, 8))
    assert steps_of(parts) == [1, "add_", 2]
    assert why(parts) == {"add_": "an input is written in place"}


def test_views_of_written_memory_are_made_in_order():
    def forward(m, x, cache):
        cache[:, 1:3] = m.up(x)[:, None, :8].expand(-1, 2, -1)
        return m.down(F.gelu(m.up(cache.sum(1))))

    parts = parts_of(Net(forward), torch.randn(4, 8), torch.randn(4, 5, 8))
    steps = steps_of(parts)
    assert steps.index("slice") < steps.index("copy_") < steps.index(2)
    assert "copy_" not in [name for s in parts.stages for name in calls_of(s)]


def test_writes_to_memory_of_its_own_are_ordinary_calls():
    def forward(m, x):
        y = m.up(x)
        y.relu_()
        y += 1
        return m.down(F.dropout(y, 0.5, True))

    parts = parts_of(Net(forward), torch.randn(4, 8))
    assert [calls_of(s) for s in parts.stages] == [["linear", "relu", "add"], ["linear"]]


def test_a_write_that_views_see_stays():
    def forward(m, x):
        y = m.up(x)
        part = y[:, :4]
        y.mul_(2)
        return m.down(y) + part.sum()

    parts = parts_of(Net(forward), torch.randn(4, 8))
    assert "mul_" in steps_of(parts)
    assert why(parts)["mul_"] == "memory of which there are views is written"


def test_running_statistics_are_state_of_a_stage():
    module = Net(lambda m, x: F.dropout(m.norm(m.up(x)), 0.5, True), norm=torch.nn.BatchNorm1d(16))
    parts = parts_of(module, torch.randn(4, 8))
    assert "batch_norm" in calls_of(parts.stages[0])
    assert "`norm.num_batches_tracked` is written in place" in why(parts).values()


def test_state_that_pytorch_writes_is_no_constant_of_a_stage():
    """Neither packed with frozen weights nor assumed to hold what it held (zeros, say) when the module was traced."""

    def scaled(m, x):
        m.scale[2:].add_(1)
        return F.gelu(m.up(x) * m.scale + m.shift)

    net = Net(scaled, scale=torch.zeros(16), shift=torch.zeros(16))
    session = session_of(net, torch.randn(4, 8))
    parts = made_parts(session)
    (stage,) = parts.stages
    assert [parts.own.sources[n] for n in stage.inputs] == [("state", "scale"), ("argument", 0)]
    assert ("state", "shift") in [parts.own.sources[n] for n in stage.state]
    subject = stage_subject(session, parts, stage)
    (scale, _), _ = subject.inputs()
    assert scale.tolist() == [0, 0] + [1] * 14 and not net.scale.any()
    assert dict(subject.module.named_buffers()).keys() == {"shift"}
    assert partial.check_schedule(Session(session.device, session.subject, parts=parts))["differences"] == []


def test_decisions_stay_where_their_values_are_pytorchs():
    def forward(m, x):
        scores, chosen = torch.topk(F.softmax(m.up(x), -1), 2)
        return m.down(F.gelu(m.up(x))) * scores.sum(-1, keepdim=True), chosen

    parts = parts_of(Net(forward), torch.randn(4, 8), refused={"topk": "no equations"})
    assert [calls_of(s) for s in parts.stages] == [["linear", "gelu", "linear", "sum", "mul"]]
    assert why(parts)["softmax"] == "a decision of PyTorch's rests on it alone"


def test_decisions_do_not_leave_a_stage():
    def forward(m, x):
        y = F.gelu(m.up(x))
        return F.dropout(y, 0.5, True), torch.round(y * 8).to(torch.int8)

    parts = parts_of(Net(forward), torch.randn(4, 8))
    assert {"to", "round_1"} <= why(parts).keys()


def test_sorted_values_are_no_decision():
    parts = parts_of(Net(lambda m, x: F.dropout(m.up(x).sort(-1)[0], 0.5, True)), torch.randn(4, 8))
    assert [calls_of(s) for s in parts.stages] == [["linear", "sort"]]


def test_a_module_that_returns_a_choice_is_not_lost_to_it():
    parts = parts_of(Net(lambda m, x: m.down(F.dropout(F.gelu(m.up(x)), 0.5, True)).argmax(-1)), torch.randn(4, 8))
    assert [calls_of(s) for s in parts.stages] == [["linear", "gelu"], ["linear"]]


def test_a_reshape_that_copies_belongs_to_a_stage():
    def forward(m, x):
        y = m.up(x).view(4, 4, 4).transpose(0, 1).reshape(16, 4)
        return F.dropout(y, 0.5, True)

    parts = parts_of(Net(forward), torch.randn(4, 8))
    assert [calls_of(s) for s in parts.stages] == [["linear", "reshape"]]


def test_stages_before_a_decision_are_marked():
    def forward(m, x):
        y = m.down(F.gelu(m.up(x)))
        return m.up(F.gelu(y)) * torch.topk(y, 2)[1].sum(-1, keepdim=True)

    session = session_of(Net(forward), torch.randn(4, 8))
    found = partial.cut(session, refused={"topk": "no equations"}, seconds=seconds_of(session))
    assert [s["decides"] for s in found["stages"]] == [True, False]


def test_parts_too_small_for_kernels_stay():
    parts = parts_of(Net(lambda m, x: F.dropout(x + 1, 0.5, True)), torch.randn(4, 8))
    assert parts.stages == [] and why(parts)["add"] == "too small a part for kernels of its own"


def test_equal_stages_name_the_first_of_them():
    """Weights and names differ; another shape, dtype or number makes another stage."""

    def forward(m, x):
        for linear in (m.a, m.b, m.wide, m.c):
            x = F.dropout(F.gelu(linear(x)), 0.5, True)
        return F.dropout(F.gelu(m.c(x), approximate="tanh"), 0.5, True)

    state = {name: torch.nn.Linear(8, 8) for name in "abc"} | {"wide": torch.nn.Linear(8, 8, bias=False)}
    session = session_of(Net(forward, **state), torch.randn(4, 8))
    found = partial.cut(session, refused={}, seconds=seconds_of(session))
    assert [s.get("like") for s in found["stages"]] == [None, 1, None, 1, None]


def test_steps_of_a_loop_that_take_other_rows_are_equal_stages():
    def forward(m, x):
        keep = x[:, 0] > 0
        for i in range(4):
            suppressed = (x[i] > 0.3) & keep[i]
            suppressed[: i + 1] = False
            keep = keep & ~suppressed
        return keep

    session = session_of(Net(forward), torch.randn(8, 8))
    found = partial.cut(session, refused={}, seconds=seconds_of(session))
    alike = [s for s in found["stages"] if s["title"] == "bitwise_not, __and__, __and__"]
    assert len(alike) > 1 and {s.get("like", s["number"]) for s in alike} == {alike[0]["number"]}


def test_shapes_change_outside_of_a_stage():
    def forward(m, x):
        y = F.dropout(m.up(x).view(4, 4, 4).transpose(0, 1), 0.5, True)
        return m.down(y.transpose(0, 1).reshape(4, 16))

    parts = parts_of(Net(forward), torch.randn(4, 8))
    assert [list(n.meta["val"].shape) for n in parts.stages[1].inputs] == [[4, 16]]
    assert [list(n.meta["val"].shape) for n in parts.stages[0].outputs] == [[4, 16]]


def test_a_custom_operator_stays_and_may_fill_its_tables():
    @torch.library.custom_op("solstice_test::halved", mutates_args=())
    def halved(x: torch.Tensor) -> torch.Tensor:
        return x / 2

    halved.register_fake(torch.empty_like)
    parts = parts_of(Net(lambda m, x: m.down(halved(m.up(x)))), torch.randn(4, 8))
    assert steps_of(parts) == [1, "halved", 2]
    assert why(parts) == {"halved": "a custom operator"}


def test_an_autocast_region_is_refused_with_its_reason():
    def forward(m, x):
        with torch.autocast("cpu", torch.bfloat16):
            y = m.up(x)
        return F.dropout(m.down(y.float()), 0.5, True)

    with pytest.raises(OracleError, match="cannot be cut: .*autocast"):
        parts_of(Net(forward), torch.randn(4, 8))


def test_a_region_without_gradients_is_its_calls():
    def forward(m, x):
        with torch.no_grad():
            y = F.gelu(m.up(x))
        return m.down(F.dropout(y, 0.5, True))

    assert steps_of(parts_of(Net(forward), torch.randn(4, 8))) == [1, "dropout", 2]


def test_a_region_with_gradients_is_refused():
    def forward(m, x):
        with torch.enable_grad():
            y = F.gelu(m.up(x))
        return m.down(F.dropout(y, 0.5, True))

    with pytest.raises(OracleError, match="cannot be cut: `forward` turns gradients on"):
        parts_of(Net(forward), torch.randn(4, 8))


def test_a_check_of_a_number_stays():
    def forward(m, x):
        n = x[0, 0].to(torch.long).item()
        torch._check(n >= -100)
        return m.down(F.gelu(m.up(x))) * n

    parts = parts_of(Net(forward), torch.randn(4, 8))
    assert "check" in steps_of(parts)
    run = lambda x: parts.schedule().run([x], state_of(parts.original.module).__getitem__)
    run(torch.zeros(4, 8))
    with pytest.raises(Unforeseen, match="u0 >= -100"):
        run(torch.full((4, 8), -200.0))


def test_a_device_other_than_the_arguments_is_named():
    def forward(m, x):
        return F.dropout(m.up(x), 0.5, True), torch.zeros(3, device="meta"), torch.ones(3, device=x.device)

    parts = parts_of(Net(forward), torch.randn(4, 8))
    steps = parts.record({1})["steps"]
    devices = {s["out"]: s["kwargs"]["device"] for s in steps if "device" in s.get("kwargs", ())}
    assert devices == {"zeros": {"device": "meta"}, "ones": {"device": "here"}}


def test_values_on_other_devices_stay():
    def forward(m, x):
        y = F.gelu(m.up(x))
        return m.down(y), torch.relu(y.to("meta") * 2)

    parts = parts_of(Net(forward), torch.randn(4, 8))
    assert [calls_of(s) for s in parts.stages] == [["linear", "gelu", "linear"]]
    assert why(parts) == dict.fromkeys(("to", "mul", "relu"), "a value on another device than the arguments")


def test_checks_compare_devices():
    from solstice.oracle.kernelbench import _compare

    here, there = torch.zeros(3), torch.zeros(3, device="meta")
    assert _compare([here], [there], "reference")["reason"] == "the results are on other devices: meta instead of cpu"
    assert partial._differences({"output.0": here}, {"output.0": there}) == ["output.0 is on meta instead of cpu"]


def test_calls_that_write_are_not_repeated(monkeypatch):
    def forward(m, x):
        y = m.up(x)
        m.position.add_(1)
        m.cache.index_copy_(0, m.position, y[:1])
        return m.down(F.dropout(y, 0.5, True)) + m.cache[:4, :8]

    state = {"position": torch.zeros(1, dtype=torch.long), "cache": torch.zeros(5, 16)}
    session = session_of(Net(forward, **state), torch.randn(4, 8))
    session.parts = made_parts(session)
    requests.prepare_inputs(session, set="a", family="normal")
    monkeypatch.setattr(partial, "_seconds", lambda _, again: [again() for _ in range(23)] and 1.0)
    found = partial.time_calls(session, set="a", kept=[stage.number for stage in session.parts.stages])
    assert found == {"calls": [{"name": "dropout", "seconds": 1.0}]}


def test_a_seed_within_forward_is_found():
    def forward(m, x):
        torch.manual_seed(7)
        return m.down(F.dropout(F.gelu(m.up(x)), 0.5, True))

    session = session_of(Net(forward), torch.randn(4, 8))
    session.parts = made_parts(session)
    assert partial.check_schedule(session) == {"differences": ["output.0 differs"]}


def test_without_a_gpu_a_large_module_is_not_run():
    session = session_of(Net(lambda m, x: F.dropout(m.up(x), 0.5, True)), torch.randn(4, 8))
    session.parts = make_parts(session, {}, dict.fromkeys(seconds_of(session), 1.0))
    found = partial.check_schedule(session)
    assert found["differences"] == [] and "there is no GPU" in found["left_out"]


EXAMPLES = sorted(path.stem for path in (ROOT / "examples" / "partial").glob("*.py"))
REFUSED = {
    "deconvolution": {"conv_transpose1d": "no family"},
    "int8": {"_int_mm": "no equations"},
    "kv_cache": {"scaled_dot_product_attention": "no family"},
    "routing": {"topk": "no equations"},
}


@pytest.fixture(params=EXAMPLES)
def example(request, tmp_path):
    """An example with its first dimension made small, cut."""
    text = (ROOT / "examples" / "partial" / f"{request.param}.py").read_text()
    for large, small in (("randn(4096,", "randn(32,"), ("randn(128,", "randn(2,"), ("(64, 256, ", "(2, 96, ")):
        text = text.replace(large, small)
    text = text.replace("randn(64, 64", "randn(2, 64").replace("solstice_example::", f"solstice_{tmp_path.name}::")
    (tmp_path / f"{request.param}.py").write_text(text)
    session = Session(torch.device("cpu"), subject=load_file(str(tmp_path / f"{request.param}.py")))
    partial.cut(session, refused=REFUSED.get(request.param, {}), seconds=seconds_of(session))
    return session


def test_calls_in_their_order_are_the_module(example):
    """Results, buffers and written inputs, with the same draws."""
    assert partial.check_schedule(example) == {"differences": []}


def test_stages_are_problems_of_their_own(example):
    for stage in example.parts.stages:
        partial.enter_stage(example, number=stage.number)
        graph = requests.trace(example)["graph"]
        calls = {node.name for node in stage.calls if hasattr(node.target, "_schema")}
        assert set(graph["producer"]["origins"].values()) >= calls
        requests.prepare_inputs(example, set="a", family="normal")
        assert all(v["eager_error"] < 1e-5 for v in requests.expected(example, set="a")["values"])
        state = {i["fqn"] for i in graph["inputs"] if "fqn" in i}
        assert state <= set(example.parts.original.module.state_dict())
    partial.enter_stage(example)
    assert example.subject is example.parts.original


def test_a_stage_is_traced_once_and_in_this_process(monkeypatch):
    session = session_of(Net(lambda m, x: m.down(F.dropout(F.gelu(m.up(x)), 0.5, True))), torch.randn(4, 8))
    session.parts, session.forks = made_parts(session), True
    traced = []
    monkeypatch.setattr(requests, "trace_subject", lambda *args: traced.append(args) or trace(*args))
    graphs = {}
    for number in (1, 2, 1, 2):
        partial.enter_stage(session, number=number)
        graphs.setdefault(number, []).append(requests.trace(session)["graph"])
    assert len(traced) == 2 and graphs[1][0] == graphs[1][1] != graphs[2][0]


def test_inputs_of_a_stage_are_those_of_the_run():
    torch.manual_seed(0)
    module = Net(lambda m, x: m.down(F.dropout(F.gelu(m.up(x)), 0.5, True)))
    x = torch.randn(4, 8)
    session = session_of(module, x)
    parts = session.parts = made_parts(session)
    torch.manual_seed(3)
    with torch.no_grad():
        wanted = F.dropout(F.gelu(module.up(x)), 0.5, True)
    torch.manual_seed(3)
    (args, _) = stage_subject(session, parts, parts.stages[1]).inputs()
    torch.testing.assert_close(args[0], wanted)


def test_every_line_of_a_stage_is_the_users(tmp_path):
    text = (ROOT / "examples" / "partial" / "dropout.py").read_text()
    (tmp_path / "model.py").write_text(text)
    session = Session(torch.device("cpu"), subject=load_file(str(tmp_path / "model.py")))
    parts = made_parts(session)
    graph = trace(stage_subject(session, parts, parts.stages[0]))
    line = next(i for i, t in enumerate(text.splitlines(), 1) if "self.dropout(F.gelu" in t)
    assert {graph["files"][n["src"]["file"]] for n in graph["nodes"]} == {str(tmp_path / "model.py")}
    assert {n["src"]["line"] for n in graph["nodes"]} == {line}


def test_products_that_pytorch_does_not_count_are_worth_a_kernel(monkeypatch):
    """Its formula of attention, for one, refuses keys with fewer heads than queries."""
    from torch.utils.flop_counter import flop_registry

    def refuses(*shapes, **others):
        raise AssertionError("other heads")

    monkeypatch.setitem(flop_registry, torch.ops.aten.bmm, refuses)
    parts = parts_of(Net(lambda m, x: x.unsqueeze(0).bmm(x.t().unsqueeze(0))), torch.randn(4, 8))
    assert [calls_of(stage) for stage in parts.stages] == [["bmm"]]


def test_an_error_that_no_operator_raises_is_no_prediction(monkeypatch):
    from solstice.partial import weights

    def broken(self, *args, **kwargs):
        raise KeyError("a mistake of ours")

    monkeypatch.setattr(weights.FlopCounterMode, "__enter__", broken)
    with pytest.raises(KeyError):
        parts_of(Net(lambda m, x: m.up(x)), torch.randn(4, 8))


def test_calls_are_told_as_the_module_makes_them():
    """For whoever predicts their time: composites whole, writes in place as such, views as what moves nothing."""

    def forward(m, x):
        y = torch.relu_(m.up(x)).reshape(8, 8)
        return F.interpolate(y[None, None], scale_factor=2, mode="bicubic"), m.down(x.new_empty(4, 16))

    session = session_of(Net(forward), torch.randn(4, 8))
    told = {node["op"].split(".")[1]: node for node in partial.calls(session)["nodes"]}
    assert "upsample_bicubic2d" in told
    assert told["relu_"]["mutates"] == ["self"] and told["relu_"]["args"] == {"self": {"t": "linear"}}
    moved_nothing = {name for name, node in told.items() if node.get("view_of")}
    assert "reshape" in moved_nothing and moved_nothing.isdisjoint({"linear", "relu_", "upsample_bicubic2d"})
    assert partial.cut(session, seconds=dict.fromkeys([n["id"] for n in told.values()], 1.0))["stages"]
