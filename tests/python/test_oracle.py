"""Inputs, expected values, exports and judgements, on the CPU."""

import json
import math
import struct

import pytest
import torch

from solstice.errors import OracleError
from solstice.handler import collect_requests
from solstice.loading import load_file
from solstice.oracle import distance, exporting, families, kernelbench, running, timing
from solstice.oracle.precision import tf32_allowed
from solstice.oracle.session import Session

LINEAR = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(64, 8)
    def forward(self, x): return torch.relu(self.l(x))
def get_inputs(): return [torch.rand(16, 64)]
def get_init_inputs(): return []
"""


@pytest.fixture
def session_of(write_model):
    def make(text=LINEAR, name="model.py"):
        return Session(torch.device("cpu"), load_file(write_model(text, name)))

    return make


def requests(session):
    return collect_requests(session)


def prepared(session, **options):
    ask = requests(session)
    assert ask["prepare_inputs"](set="a", **options)["applies"]
    ask["expected"](set="a")
    return session.sets["a"]


@pytest.mark.parametrize("family", families.NAMES)
@pytest.mark.parametrize("weights", ["built", "perturbed"])
def test_oracle_of_every_family(session_of, family, weights):
    chosen = prepared(session_of(), seed=3, family=family, weights=weights)
    assert chosen.expected["output.0"].dtype is torch.float64
    assert chosen.eager["output.0"].dtype is torch.float32
    assert distance.relative_error(chosen.eager["output.0"], chosen.expected["output.0"]) < 1e-5


@pytest.mark.parametrize("family", [f for f in families.NAMES if f != "default"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_families_follow_from_the_seed_and_keep_the_layout(family, dtype):
    tensor = torch.zeros(64, 96, dtype=dtype).t()
    cpu = torch.device("cpu")
    first, again, other = (families.fill(tensor, family, families.generator_on(cpu, s)) for s in (1, 1, 2))
    assert torch.equal(first.nan_to_num(7.0), again.nan_to_num(7.0))
    assert not torch.equal(
        first.signbit() if family == "zeros" else first.nan_to_num(7.0),
        other.signbit() if family == "zeros" else other.nan_to_num(7.0),
    )
    assert (first.dtype, first.shape, first.stride()) == (dtype, tensor.shape, tensor.stride())
    assert first.isfinite().all() or family == "nan_inf"


def test_what_the_families_hold():
    def values(family):
        return families.fill(torch.zeros(512, 512), family, families.generator_on(torch.device("cpu"), 0))

    assert values("positive").min() >= 0
    assert values("one_outlier").abs().max() == 2.0**20
    assert values("zeros").abs().max() == 0 and values("zeros").signbit().any() and not values("zeros").signbit().all()
    ends = values("heavy_ends").square()
    assert (
        ends[-1, -1] == ends.max() and ends[:, -1].sum() > 1e4 * ends[:-1, :-1].sum() / 512 and ends[:, 0].mean() > 100
    )
    zero = values("zero_channels").eq(0).all(dim=0)
    assert 0.4 < zero.float().mean() < 0.6
    tiny = values("subnormals")
    assert 0 < tiny.abs().max() < torch.finfo(torch.float32).smallest_normal
    assert values("extreme_logits").max() > 200
    assert values("ties").unique().numel() == 4
    special = values("nan_inf")
    assert special.isnan().any() and special.isinf().any() and special.isfinite().float().mean() > 0.99


def test_integers_and_masks_keep_their_values(session_of):
    session = session_of("""
        import torch
        class Model(torch.nn.Module):
            def forward(self, x, t, m): return torch.where(m, x, 0).gather(1, t)
        def get_inputs(): return [torch.rand(4, 6), torch.randint(0, 6, (4, 2)), torch.rand(4, 6) > .5]
        def get_init_inputs(): return []
    """)
    for family in families.NAMES:
        if family != families.BALANCED:
            _, target, mask = prepared(session, family=family).args
            assert target.dtype is torch.int64 and 0 <= target.min() and target.max() < 6 and mask.dtype is torch.bool


def test_balanced_outliers_leave_a_product_unchanged(session_of):
    session = session_of("""
        import torch
        class Model(torch.nn.Module):
            def forward(self, a, b): return a @ b
        def get_inputs(): return [torch.rand(4, 64), torch.rand(64, 5)]
        def get_init_inputs(): return []
    """)
    chosen = prepared(session, family="balanced_outliers", seed=5)
    plain = prepared(session, family="normal", seed=5)
    assert chosen.args[0].abs().max() > 1e5
    torch.testing.assert_close(chosen.expected["output.0"], plain.expected["output.0"])


def test_balanced_outliers_scale_a_linear_layers_weight(session_of):
    session = session_of()
    chosen = prepared(session, family="balanced_outliers")
    weight = session.module(chosen.variant).l.weight
    assert torch.equal(weight[:, ::32] * 2**20, session.module().l.weight[:, ::32])


def test_balanced_outliers_do_not_apply_to_elementwise_modules(session_of):
    session = session_of(
        LINEAR.replace("torch.relu(self.l(x))", "torch.relu(x)").replace("Linear(64, 8)", "Linear(3, 8)")
    )
    assert not requests(session)["prepare_inputs"](set="a", family="balanced_outliers")["applies"]
    assert "a" not in session.sets


BRANCH = LINEAR.replace("torch.relu(self.l(x))", "x[:, :8] + 0.001 * self.l(x)")


@pytest.mark.parametrize("name", ["input.0", "parameter.l.weight", "parameter.l.bias"])
def test_a_tensor_is_scaled_until_results_move(session_of, name):
    """A kernel that leaves the branch out is then far from the result: the least that was asked for."""
    session = session_of(BRANCH)
    chosen = prepared(session, family="scaled", scaled=name, least=0.2)
    found, factor = chosen.scaled
    assert found == name and factor > 1
    module, plain = session.module("scaled"), session.module()
    weights = {"parameter.l.weight": module.l.weight, "parameter.l.bias": module.l.bias}
    for other, weight in weights.items():
        built = plain.get_parameter(other.removeprefix("parameter."))
        assert torch.equal(weight, built * factor if other == name else built)
    if name in weights:
        without = chosen.args[0][:, :8].double()
        assert distance.relative_error(without, chosen.expected["output.0"]) > 0.1
    assert distance.relative_error(chosen.eager["output.0"], chosen.expected["output.0"]) < 1e-5


def test_a_tensor_whose_size_moves_nothing_is_not_scaled(session_of):
    session = session_of(
        LINEAR.replace("torch.relu(self.l(x))", "torch.sign(self.l.weight.sum() * x + self.l.bias[0])")
    )
    assert not requests(session)["prepare_inputs"](set="a", family="scaled", scaled="input.0", least=2.1)["applies"]
    assert "a" not in session.sets
    with pytest.raises(OracleError, match="no float input or parameter `input.1`"):
        requests(session)["prepare_inputs"](set="a", family="scaled", scaled="input.1", least=0.1)


def test_unknown_family(session_of):
    with pytest.raises(OracleError, match="legal are default, normal"):
        requests(session_of())["prepare_inputs"](set="a", family="nice")


def test_perturbed_norm_weights(session_of):
    session = session_of(LINEAR.replace("torch.nn.Linear(64, 8)", "torch.nn.BatchNorm1d(64)"))
    weight = session.module("perturbed").l.weight
    assert weight.std() > 0.1 and session.module("perturbed").l.bias.abs().max() > 0
    assert (session.module("perturbed").l.running_var > 0).all()
    assert (session.module().l.weight == 1).all()


CLOSURE = LINEAR.replace(
    "self.l = torch.nn.Linear(64, 8)", "l = self.l = torch.nn.Linear(64, 8)\n        self.run = lambda x: l(x)"
).replace("torch.relu(self.l(x))", "torch.relu(self.run(x))")


@pytest.mark.parametrize("weights", ["built", "perturbed"])
def test_layers_that_a_function_closes_over_are_copied(session_of, weights):
    inputs = prepared(session_of(CLOSURE), weights=weights)
    assert inputs.expected["output.0"].dtype == torch.float64
    torch.testing.assert_close(inputs.expected["output.0"].float(), inputs.eager["output.0"], rtol=1e-5, atol=1e-5)


def test_a_copied_function_is_its_own(session_of):
    session = session_of(CLOSURE)
    perturbed, built = session.module("perturbed"), session.module()
    x = torch.rand(4, 64)
    assert torch.equal(perturbed.run(x), perturbed.l(x)) and torch.equal(built.run(x), built.l(x))
    assert perturbed.run is not built.run


def test_buffers_are_results_and_are_put_back(session_of):
    session = session_of(LINEAR.replace("torch.nn.Linear(64, 8)", "torch.nn.BatchNorm1d(64)"))
    chosen = prepared(session)
    assert set(chosen.expected) == {
        "output.0",
        "buffer.l.running_mean",
        "buffer.l.running_var",
        "buffer.l.num_batches_tracked",
    }
    assert session.module().l.num_batches_tracked == 0 and (session.module().l.running_mean == 0).all()
    assert chosen.expected["buffer.l.num_batches_tracked"] == 1


def test_reassigned_buffer(session_of):
    session = session_of(
        LINEAR.replace(
            "torch.nn.Linear(64, 8)", "torch.nn.Identity(); self.register_buffer('b', torch.zeros(64))"
        ).replace("return torch.relu(self.l(x))", "self.b = self.b * .9 + x.mean(0) * .1; return x - self.b")
    )
    chosen = prepared(session)
    assert "buffer.b" in chosen.expected and (session.module().b == 0).all()


def test_a_result_with_tf32_is_a_set_of_its_own(session_of):
    session = session_of(LINEAR.replace("return torch.relu(self.l(x))", "x.mul_(2); return self.l(x)"))
    chosen = prepared(session, seed=9)
    before = chosen.args[0].clone()
    seen = []
    session.module().register_forward_hook(
        lambda *_: seen.append((torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32))
    )
    requests(session)["run_tf32"](set="a", into="b")
    assert seen == [("high", True)]
    assert torch.equal(chosen.args[0], before)  # where they are: others read them
    made = session.sets["b"]
    assert made.args == () and made.expected == {} and made.eager.keys() == chosen.eager.keys()
    torch.testing.assert_close(made.eager["output.0"], chosen.eager["output.0"])


def switches():
    backends = torch.backends
    newer = (backends.cuda.matmul, backends.mkldnn.matmul, backends.cudnn, backends.cudnn.conv, backends.cudnn.rnn)
    values = [s.fp32_precision for s in newer]
    try:
        return [*values, torch.get_float32_matmul_precision(), backends.cudnn.allow_tf32]
    except RuntimeError:
        return values


@pytest.mark.parametrize("precision", ["highest", "high", "medium", "by the newer switch"])
@pytest.mark.parametrize("cudnn", [False, True])
def test_the_switches_for_tf32_are_put_back(precision, cudnn):
    if not hasattr(torch.backends.cuda.matmul, "fp32_precision"):
        pytest.skip("PyTorch before 2.9")
    saved = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    try:
        torch.backends.cudnn.allow_tf32 = cudnn
        if precision in ("highest", "high", "medium"):
            torch.set_float32_matmul_precision(precision)
        else:
            torch.backends.cuda.matmul.fp32_precision = "tf32"
        before = switches()
        with tf32_allowed():
            assert torch.backends.cuda.matmul.fp32_precision == torch.backends.cudnn.conv.fp32_precision == "tf32"
        assert switches() == before
    finally:
        torch.backends.cuda.matmul.fp32_precision = "ieee"
        torch.set_float32_matmul_precision(saved[0])
        torch.backends.cudnn.allow_tf32 = saved[1]


def test_inputs_that_forward_writes_are_made_anew(session_of):
    session = session_of(LINEAR.replace("return torch.relu(self.l(x))", "x.mul_(2); return x + 1"))
    chosen = prepared(session, seed=9)
    assert torch.equal(chosen.args[0], session.example_inputs(9)[0][0])
    torch.testing.assert_close(chosen.expected["input.0"].float(), chosen.args[0] * 2)


def test_balanced_inputs_that_forward_writes_are_balanced_anew(session_of):
    session = session_of(LINEAR.replace("return torch.relu(self.l(x))", "y = self.l(x); x.zero_(); return y"))
    chosen = prepared(session, family="balanced_outliers", seed=4)
    assert chosen.args[0].abs().max() > 1e5
    assert distance.relative_error(chosen.eager["output.0"], chosen.expected["output.0"]) < 1e-5


def test_results_that_alias_an_input_are_copies(session_of):
    session = session_of(LINEAR.replace("return torch.relu(self.l(x))", "return x, x.view(-1), self.l.weight"))
    chosen = prepared(session)
    assert chosen.eager["output.1"].data_ptr() != chosen.args[0].data_ptr()
    assert chosen.eager["output.2"].data_ptr() != session.module().l.weight.data_ptr()


def test_casts_to_float32_do_not_round_the_oracle(session_of):
    session = session_of(
        LINEAR.replace(
            "return torch.relu(self.l(x))",
            "return x.float() / 3 + torch.ones(64, dtype=torch.float32) / 7 + x.to(torch.float32)",
        )
    )
    chosen = prepared(session)
    x = chosen.args[0].double()
    torch.testing.assert_close(chosen.expected["output.0"], x / 3 + 1 / 7 + x, rtol=1e-15, atol=0)


def test_too_large_for_this_machine(session_of, monkeypatch):
    from solstice.oracle import inputs

    session = session_of()
    monkeypatch.setattr(inputs, "available_bytes", lambda: 1000)
    with pytest.raises(OracleError) as caught:
        requests(session)["prepare_inputs"](set="a")
    assert caught.value.code == "inputs.too_large" and caught.value.kind == "environment"


def test_forward_that_fails(session_of):
    session = session_of(LINEAR.replace("Linear(64, 8)", "Linear(63, 8)"))
    requests(session)["prepare_inputs"](set="a")
    with pytest.raises(OracleError) as caught:
        requests(session)["expected"](set="a")
    assert (caught.value.code, caught.value.line) == ("oracle.forward_failed", 7)


def read_file(path):
    data = bytearray(open(path, "rb").read())
    assert data[:8] == exporting.MAGIC
    length = struct.unpack("<Q", data[8:16])[0]
    header = json.loads(data[16 : 16 + length])
    values = {}
    for entry in header["tensors"]:
        region = header["regions"][entry["region"]]
        assert region["offset"] % exporting.ALIGNMENT == 0
        raw = torch.frombuffer(data, dtype=torch.uint8)[region["offset"] : region["offset"] + region["bytes"]]
        from solstice.tensors import DTYPES

        typed = raw.clone().view(DTYPES[entry["dtype"]])
        start = entry["offset"] // typed.element_size()
        values[entry["kind"], entry["name"]] = torch.as_strided(typed, entry["shape"], entry["stride"], start)
    return values


def test_export_to_a_file(session_of, tmp_path):
    session = session_of(
        LINEAR.replace("torch.rand(16, 64)", "torch.rand(64, 18).t()[1:17]").replace(
            "self.l = ", "self.tied = self.l = "
        )
    )
    chosen = prepared(session)
    path = str(tmp_path / "tensors")
    kinds = list(exporting.KINDS)
    reply = requests(session)["export_tensors"](set="a", kinds=kinds, where="file", path=path)
    values = read_file(path)
    assert (
        torch.equal(values["input", "0"], chosen.args[0]) and values["input", "0"].stride() == chosen.args[0].stride()
    )
    assert torch.equal(values["parameter", "l.weight"], session.module().l.weight)
    assert torch.equal(values["expected", "output.0"], chosen.expected["output.0"])
    regions = {t["name"]: t["region"] for t in reply["tensors"] if t["kind"] == "parameter"}
    assert regions["l.weight"] == regions["tied.weight"]
    assert not (tmp_path / "tensors.partial").exists()


def test_export_errors(session_of, tmp_path):
    session = session_of()
    ask = requests(session)["export_tensors"]
    requests(session)["prepare_inputs"](set="a")
    for options, code in [
        (dict(kinds=["weights"], where="file", path="x"), "export.no_kind"),
        (dict(kinds=["eager"], where="file", path="x"), "export.not_computed"),
        (dict(kinds=["input"], where="ipc"), "export.no_gpu"),
        (dict(kinds=["input"], where="mail"), "export.where"),
        (dict(kinds=["input"], where="file", path=str(tmp_path / "none" / "x")), "export.file"),
    ]:
        with pytest.raises(OracleError) as caught:
            ask(set="a", **options)
        assert caught.value.code == code


DROPIN = LINEAR.replace("class Model", "class ModelNew")


@pytest.mark.parametrize(
    "change, passed",
    [
        (("", ""), True),
        (("return torch.relu(self.l(x))", "return torch.relu(self.l(x)) + 2e-4"), False),
        (("return torch.relu(self.l(x))", "return torch.relu(self.l(x)) * float('nan')"), False),
        (("return torch.relu(self.l(x))", "return torch.relu(self.l(x))[:3]"), False),
        (("return torch.relu(self.l(x))", "x.zero_(); return torch.relu(self.l(x))"), False),
    ],
)
def test_kernelbenchs_check(session_of, write_model, change, passed):
    session = session_of()
    verdict = requests(session)["check_dropin"](path=write_model(DROPIN.replace(*change), "model_new.py"))
    assert verdict["passed"] is passed and verdict["state_dict"] == "loads" and len(verdict["trials"]) == 5
    json.dumps(verdict, allow_nan=False)


@pytest.mark.parametrize("numerics, passed", [("reference", False), ("high", True)])
def test_a_lower_policy_is_checked_as_reduced_precision(session_of, write_model, numerics, passed):
    off = DROPIN.replace("torch.relu(self.l(x))", "torch.relu(self.l(x)) * 1.001")
    verdict = requests(session_of())["check_dropin"](path=write_model(off, "model_new.py"), numerics=numerics)
    assert verdict["passed"] is passed and not verdict["strict"]


def test_half_precision_results_are_checked_as_such(session_of, write_model):
    half = LINEAR.replace("torch.relu(self.l(x))", "torch.relu(self.l(x)).bfloat16()")
    off = half.replace("class Model", "class ModelNew").replace(".bfloat16()", ".mul(1.004).bfloat16()")
    verdict = requests(session_of(half))["check_dropin"](path=write_model(off, "model_new.py"))
    assert verdict["passed"] and verdict["strict"]


def test_kernelbenchs_check_wants_the_same_dtype(session_of, write_model):
    narrower = LINEAR.replace("class Model", "class ModelNew").replace(
        "torch.relu(self.l(x))", "torch.relu(self.l(x)).double()"
    )
    verdict = requests(session_of())["check_dropin"](path=write_model(narrower, "model_new.py"))
    assert not verdict["passed"]
    assert verdict["trials"][0]["reason"] == "the results have other dtypes: float64 instead of float32"


def test_kernelbenchs_check_leaves_no_mark_on_the_original(session_of, write_model):
    normalised = LINEAR.replace("torch.nn.Linear(64, 8)", "torch.nn.BatchNorm1d(64)")
    session = session_of(normalised)
    path = write_model(normalised.replace("class Model", "class ModelNew"), "model_new.py")
    assert requests(session)["check_dropin"](path=path)["passed"]
    assert session.module().l.num_batches_tracked == 0


def test_a_failed_check_says_who_is_off(session_of, write_model):
    off = LINEAR.replace("torch.relu(self.l(x))", "torch.relu(self.l(x)) + x.new_tensor(3e8) - x.new_tensor(3e8)")
    verdict = requests(session_of(off))["check_dropin"](path=write_model(DROPIN, "model_new.py"))
    trial = verdict["trials"][0]
    assert not verdict["passed"] and trial["original_off"] > 1 > trial["new_off"], trial
    wrong = requests(session_of())["check_dropin"](
        path=write_model(DROPIN.replace("torch.relu(self.l(x))", "torch.relu(self.l(x)) + 1"), "model_new.py")
    )
    trial = wrong["trials"][0]
    assert trial["new_off"] > 1 > trial["original_off"], trial


@pytest.mark.parametrize(
    "result, constant",
    [
        ("torch.relu(self.l(x))", ""),
        ("torch.relu(self.l(x)) * 1e-6", "zeros"),
        ("torch.softmax(self.l(x), 1).sum(1)", "the result for other inputs"),
    ],
)
def test_a_constant_result_is_named(session_of, write_model, result, constant):
    source = LINEAR.replace("torch.relu(self.l(x))", result)
    path = write_model(source.replace("class Model", "class ModelNew"), "model_new.py")
    assert requests(session_of(source))["check_dropin"](path=path)["constant"] == constant


def test_kernelbenchs_check_wants_the_same_parameters(session_of, write_model):
    verdict = requests(session_of())["check_dropin"](
        path=write_model(DROPIN.replace("self.l =", "self.extra = torch.nn.Linear(2, 2); self.l ="), "model_new.py")
    )
    assert not verdict["passed"] and verdict["state_dict"] != "loads"


def test_error_measures():
    exact = torch.tensor([3.0, 4.0])
    assert distance.relative_error(exact, exact) == 0
    assert math.isclose(distance.relative_error(torch.tensor([3.0, 4.5]), exact), 0.1)
    assert distance.relative_error(torch.tensor([3.0, math.nan]), exact) == math.inf
    assert kernelbench._excess(torch.tensor([math.inf]), torch.tensor([math.inf])) == 0
    assert kernelbench._excess(torch.tensor([math.nan]), torch.tensor([math.nan])) == math.inf


def test_enough_flushes_hide_the_dispatch():
    flush = 100 << 20
    assert timing.flushes_for(1e-6, flush) == (1, True)
    count, hidden = timing.flushes_for(100e-6, flush)
    assert hidden and count * flush / timing.FASTEST_WRITE >= 150e-6
    assert timing.flushes_for(1.0, flush) == (timing.MOST_FLUSHES, False)


def test_run_reports_what_a_call_wrote():
    class Writes(torch.nn.Module):
        def forward(self, x, y):
            y.add_(1)
            return x

    x, y = torch.ones(2), torch.zeros(2)
    values = running.run(Writes(), (x, y), {}, seed=0)
    assert sorted(values) == ["input.1", "output.0"] and values["input.1"].tolist() == [1, 1]
