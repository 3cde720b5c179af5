"""What a drop-in has to notice about PyTorch around it: gradients, flags, tracers and modes."""

import warnings

import pytest
import torch
from host_dropin import refused


def test_gradients(subject):
    with torch.enable_grad():
        refused(subject, "gradients are required")
        assert subject.call()[0].requires_grad


def test_gradients_of_the_input_alone(subject):
    for parameter in subject.new.parameters():
        parameter.requires_grad_(False)
    with torch.enable_grad():
        assert subject.call()[1]
        refused(subject, "gradients are required", subject.x.clone().requires_grad_())


def test_forward_mode_differentiation(subject):
    from torch.autograd import forward_ad

    assert subject.call()[1]
    with forward_ad.dual_level(), pytest.warns(UserWarning, match="forward-mode"):
        dual = forward_ad.make_dual(subject.x, torch.ones_like(subject.x))
        assert forward_ad.unpack_dual(subject.new(dual)).tangent is not None


def test_inference_mode(subject):
    with torch.inference_mode():
        assert subject.call()[1]
        module = type(subject.new)(2.0)
        assert subject.call(module=module)[1]


def test_autocast_of_the_gpu(subject):
    torch.set_autocast_enabled("cuda", True)
    try:
        refused(subject, "autocast")
    finally:
        torch.set_autocast_enabled("cuda", False)


def test_changed_flags(subject):
    saved = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = not saved
    try:
        refused(subject, "TF32")
    finally:
        torch.backends.cudnn.allow_tf32 = saved


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


def test_vmap(subject):
    with pytest.warns(UserWarning, match="function transform"):
        torch.vmap(subject.new)(subject.x[None])


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
