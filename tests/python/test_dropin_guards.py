"""What a drop-in has to notice about its module and about PyTorch, with the stand-in runtime of test_dropin.py."""

import copy
import pickle
import warnings

import pytest
import torch
from test_dropin import HostDevice, Subject, library, record, refused, subject  # noqa: F401

from solstice import dropin
from solstice.dropin import structure
from solstice.dropin.runtime import Runtime


def fresh(subject, scale=2.0):
    return type(subject.new)(scale)


def test_other_constructor_arguments(subject):
    with pytest.warns(UserWarning, match="`scale` is 3.0; recorded was 2.0"):
        result, fast = subject.call(module=fresh(subject, 3.0))
    assert not fast
    torch.testing.assert_close(result, torch.relu(subject.x * 3))


def test_changed_attribute(subject):
    assert subject.call()[1]
    subject.new.drop.p = 0.5
    refused(subject, "`drop.p` is 0.5")
    subject.new.drop.p = 0.0
    assert subject.call()[1]
    subject.new.drop.p = 0.25
    with pytest.warns(UserWarning, match="`drop.p` is 0.25"):
        subject.call()
    subject.new.drop.p = 0.0
    assert subject.call()[1]
    subject.new.note = "the recording does not know it"
    assert subject.call()[1]


def test_replaced_module(subject):
    assert subject.call()[1]
    inner = torch.nn.Module()
    inner.w = torch.nn.Parameter(torch.tensor([6.0]))
    subject.new.inner = inner
    result, fast = subject.call()
    assert fast
    torch.testing.assert_close(result, torch.relu(subject.x * 6))
    subject.new.drop = torch.nn.ReLU()
    with pytest.warns(UserWarning, match="`drop` is a torch.nn.modules.activation.ReLU; recorded was a torch.nn.modules.dropout.Dropout"):
        assert not subject.call()[1]


def test_added_module(subject):
    assert subject.call()[1]
    subject.new.more = torch.nn.ReLU()
    refused(subject, "`more` is new")


def test_replaced_forward_of_an_inner_module(subject):
    assert subject.call()[1]
    subject.new.drop.forward = lambda x: x
    with pytest.warns(UserWarning, match="another forward"):
        assert not subject.call()[1]
    del subject.new.drop.forward
    assert subject.call()[1]


def test_hook_on_all_modules(subject):
    assert subject.call()[1]
    handle = torch.nn.modules.module.register_module_forward_hook(lambda module, args, out: None)
    with pytest.warns(UserWarning, match="hooks"):
        assert not subject.call()[1]
    handle.remove()
    assert subject.call()[1]


def test_hooks_elsewhere_do_not_matter(subject):
    assert subject.call()[1]
    torch.nn.ReLU().register_forward_hook(lambda module, args, out: None)
    runtime = subject.new.__dict__["_solstice_runtime"]
    for _ in range(2):
        assert subject.call()[1]
    before = subject.launches()
    runtime.fast(subject.new, (subject.x,), {})
    assert subject.launches() == before + 1


def test_same_address_other_view(subject, tmp_path, record):
    matrix = torch.nn.Parameter(torch.tensor([2.0, 5.0]))
    subject.new.inner.w = torch.nn.Parameter(matrix.data[:1])
    assert subject.call()[1]
    subject.new.inner.w.data = matrix.data
    with pytest.warns(UserWarning, match=r"`inner.w` is float32\[2\]"):
        with pytest.raises(RuntimeError):  # the original cannot multiply by it either
            subject.call()


def test_untied_parameter(subject, tmp_path, record):
    class Tied(type(subject.original)):
        def __init__(self, scale):
            super().__init__(scale)
            self.drop.w = self.inner.w

    cls = dropin.replacement(
        Tied,
        dropin.read(str(tmp_path), {**record, "tied": {"inner.w": ["drop.w"]}}),
        lambda m, r: Runtime(m, r, HostDevice.of),
    )
    module = cls(2.0)
    assert subject.call(module=module)[1]
    module.drop.w = torch.nn.Parameter(torch.tensor([9.0]))
    with pytest.warns(UserWarning, match="`drop.w` is no longer the same tensor as `inner.w`"):
        assert not subject.call(module=module)[1]


@pytest.mark.parametrize("newer", [True, False])
def test_tf32_by_either_switch(subject, newer):
    """The older switches refuse to answer once the newer ones were used."""
    assert subject.call()[1]
    try:
        if newer:
            torch.backends.cuda.matmul.fp32_precision = "tf32"
        else:
            torch.backends.cuda.matmul.allow_tf32 = True
        refused(subject, "TF32")
        if newer:
            torch.backends.cuda.matmul.fp32_precision = "ieee"
            assert subject.call()[1]
    finally:
        torch.backends.cuda.matmul.fp32_precision = "none"
        torch.set_float32_matmul_precision("highest")
    assert subject.call()[1]


def test_jit_trace(subject):
    assert subject.call()[1]
    with pytest.warns(UserWarning, match="jit.trace"):
        traced = torch.jit.trace(subject.new, (subject.x,), check_trace=False)
    x = torch.randn(2, 3)
    torch.testing.assert_close(traced(x), subject.original(x))


def test_fx_trace(subject):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.fx.symbolic_trace(subject.new)
    torch.testing.assert_close(traced(subject.x), subject.original(subject.x))


def test_compile(subject):
    assert subject.call()[1]
    before = subject.launches()
    compiled = torch.compile(subject.new, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(subject.x), subject.original(subject.x))
    assert subject.launches() == before


def test_export(subject):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(subject.new, (subject.x,))
    torch.testing.assert_close(program.module()(subject.x), subject.original(subject.x))


def test_forward_mode_differentiation(subject):
    from torch.autograd import forward_ad

    assert subject.call()[1]
    with forward_ad.dual_level(), pytest.warns(UserWarning, match="forward-mode"):
        dual = forward_ad.make_dual(subject.x, torch.ones_like(subject.x))
        assert forward_ad.unpack_dual(subject.new(dual)).tangent is not None


def test_function_mode(subject):
    from torch.overrides import TorchFunctionMode

    class Seen(TorchFunctionMode):
        count = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):
            Seen.count += 1
            return func(*args, **(kwargs or {}))

    assert subject.call()[1]
    with Seen(), pytest.warns(UserWarning, match="function mode"):
        assert not subject.call()[1]
    assert Seen.count > 0


def test_inference_mode(subject):
    with torch.inference_mode():
        assert subject.call()[1]
        module = fresh(subject)
        assert subject.call(module=module)[1]


def test_shallow_copy_and_replica_have_their_own(subject):
    assert subject.call()[1]
    other = copy.copy(subject.new)
    assert subject.call(module=other)[1]
    assert other.__dict__["_solstice_runtime"] is not subject.new.__dict__["_solstice_runtime"]
    replica = subject.new._replicate_for_data_parallel()
    replica._modules["inner"] = subject.new.inner._replicate_for_data_parallel()
    replica.inner.w = subject.new.inner.w.detach() * 3  # as DataParallel does: no parameter, a plain attribute
    with pytest.warns(UserWarning, match="no parameter or buffer any more"):
        torch.testing.assert_close(replica(subject.x), torch.relu(subject.x * 6))
    assert subject.call()[1]


def test_state_dict_by_assignment(subject):
    assert subject.call()[1]
    subject.new.load_state_dict({"inner.w": torch.tensor([8.0])}, assign=True)
    result, fast = subject.call()
    assert fast
    torch.testing.assert_close(result, torch.relu(subject.x * 8))


def test_runtime_is_not_pickled(subject):
    assert subject.call()[1]
    state = pickle.loads(pickle.dumps({k: v for k, v in vars(subject.new).items()}))
    assert state["_solstice_runtime"] is None


def test_signature_is_the_originals(subject):
    import inspect

    assert inspect.signature(subject.new.forward) == inspect.signature(subject.original.forward)


def test_description_and_difference():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.GELU())
    model.act, model.sizes, model.odd = torch.relu, [1, (2.5, "a")], object()
    known = structure.describe(model)
    assert known["0"].pop("forward")["name"] == "torch.nn.modules.linear.Linear.forward"
    assert known["0"] == {
        "class": "torch.nn.modules.linear.Linear",
        "attributes": {"training": "True", "in_features": "2", "out_features": "2"},
    }
    assert known[""]["attributes"]["sizes"] == "list(1, tuple(2.5, 'a'))" and "odd" not in known[""]["attributes"]
    assert structure.difference(model, known) is None
    model.sizes[1] = (2.5, "b")
    assert structure.difference(model, known) == "`sizes` is list(1, tuple(2.5, 'b')); recorded was list(1, tuple(2.5, 'a'))"
    del model.sizes
    assert "no plain value" in structure.difference(model, known)


def test_patched_forward_of_a_class(subject, tmp_path, record, monkeypatch):
    record = {**record, "structure": structure.describe(subject.original)}
    module = dropin.replacement(
        type(subject.original), dropin.read(str(tmp_path), record), lambda m, r: Runtime(m, r, HostDevice.of)
    )(2.0)
    assert subject.call(module=module)[1]
    monkeypatch.setattr(torch.nn.Dropout, "forward", lambda self, x: x + 1)
    with pytest.warns(UserWarning, match="class of the module `drop` has another forward"):
        assert not subject.call(module=module)[1]
    monkeypatch.undo()
    assert subject.call(module=module)[1]


def test_forward_patched_before_the_module_is_bound(subject, monkeypatch):
    class Block(torch.nn.Module):
        def forward(self, x):
            return x * 2

    module = torch.nn.Sequential(Block())
    recorded = structure.describe(module)
    assert structure.difference(module, recorded) is None
    name = Block.forward.__qualname__

    def forward(self, x):
        return x * 3

    forward.__qualname__ = name  # as functools.wraps leaves it
    monkeypatch.setattr(Block, "forward", forward)
    assert "another forward" in structure.difference(module, recorded)


def test_classes_of_one_name_in_two_modules(subject):
    class Linear(torch.nn.Linear):
        pass

    Linear.__qualname__ = "Linear"
    recorded = structure.describe(torch.nn.Sequential(torch.nn.Linear(2, 2)))
    assert "recorded was a torch.nn" in structure.difference(torch.nn.Sequential(Linear(2, 2)), recorded)
