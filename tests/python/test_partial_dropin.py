"""Drop-ins with PyTorch's calls between stages: results, draws, effects, order, guards. On host memory."""

import copy
import ctypes
import warnings

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

from host_dropin import HostDevice  # noqa: E402
from partial_site import attached, made_parts, parts_of, session_of, write_dropin  # noqa: E402


class Net(torch.nn.Module):
    """Two stages with a draw and writes between them."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Module()
        self.inner.w = torch.nn.Parameter(torch.tensor([2.0]))
        self.v = torch.nn.Parameter(torch.tensor([3.0]))
        self.register_buffer("seen", torch.zeros(2, 3))

    def forward(self, x, cache):
        y = F.dropout(torch.relu(x * self.inner.w), 0.5, self.training)
        self.seen.add_(y)
        cache[:, 1:] = y[:, 1:]
        return torch.relu(y * self.v), cache


@pytest.fixture
def net(tmp_path, fake_runtime):
    HostDevice.capturing_into, HostDevice.stream_number = None, 0
    module = Net()
    session = session_of(module, torch.randn(2, 3), torch.randn(2, 3))
    parts = made_parts(session)
    assert len(parts.stages) == 2
    new = attached(write_dropin(tmp_path, fake_runtime, session, parts), copy.deepcopy(module))
    with torch.no_grad():
        yield module, new, ctypes.CDLL(str(fake_runtime)).fake_launches


def both(original, new, seed, x=None, cache=None):
    """Results and the written input of each, under the same seed."""
    x, cache = torch.randn(2, 3) if x is None else x, torch.randn(2, 3) if cache is None else cache
    out = []
    for module in (original, new):
        own = cache.clone()
        torch.manual_seed(seed)
        out.append((*module(x, own), own, torch.rand(1)))
    return out


def test_results_draws_and_effects_are_the_originals(net):
    original, new, launches = net
    before = launches()
    for seed in range(4):  # slow the first time, then the straight function
        ours, theirs = both(original, new, seed)
        torch.testing.assert_close(theirs, ours)
        torch.testing.assert_close(new.seen, original.seen)
    assert launches() - before == 8
    assert new.solstice_fallbacks() == []


def test_a_written_argument_that_is_another_needs_the_original(net):
    original, new, launches = net
    both(original, new, 0)
    before = launches()
    x = torch.randn(2, 3)
    with pytest.warns(UserWarning, match="argument 1 is written in place and shares memory with argument 0"):
        for _ in range(2):
            found = []
            for module in (original, new):
                own = x.clone()
                torch.manual_seed(3)
                found.append((*module(own, own), own))
            torch.testing.assert_close(found[1], found[0])
    assert launches() == before


def test_a_written_buffer_that_is_an_argument_needs_the_original(net):
    original, new, launches = net
    both(original, new, 0)
    before = launches()
    found = []
    with pytest.warns(UserWarning, match="`seen` is written in place and shares memory with argument 0"):
        for module in (original, new):
            torch.manual_seed(3)
            found.append(module(module.seen, torch.zeros(2, 3)))
    torch.testing.assert_close(found[1], found[0])
    torch.testing.assert_close(new.seen, original.seen)
    assert launches() == before


def test_parts_of_one_memory_that_do_not_meet_are_apart(net):
    original, new, launches = net
    both(original, new, 0)
    before = launches()
    found = []
    for module in (original, new):
        torch.manual_seed(3)
        whole = torch.arange(128.0)
        found.append(module(whole[:6].view(2, 3), whole[64:70].view(2, 3)))
    torch.testing.assert_close(found[1], found[0])
    assert launches() - before == 2


def test_buffers_of_one_memory_need_the_original(net):
    original, new, launches = net
    both(original, new, 0)
    before = launches()
    for module in (original, new):
        module.seen = torch.zeros(2, 3)
        module.v = torch.nn.Parameter(module.seen.view(-1)[:1])
    with pytest.warns(UserWarning, match="`seen` is written in place and shares memory with `v`"):
        ours, theirs = both(original, new, 1)
    torch.testing.assert_close(theirs, ours)
    assert launches() == before


def test_what_does_not_fit_goes_to_the_original_before_anything_is_written(net):
    original, new, launches = net
    both(original, new, 0)
    before = launches()
    x = torch.randn(3, 2).t()
    with pytest.warns(UserWarning, match=r"argument 0 is float32\[2, 3\] stride \[1, 2\]"):
        ours, theirs = both(original, new, 1, x)
    torch.testing.assert_close(theirs, ours)
    torch.testing.assert_close(new.seen, original.seen)
    assert launches() == before


def test_a_replaced_parameter_is_bound_anew(net):
    original, new, launches = net
    both(original, new, 0)
    for module in (original, new):
        module.v = torch.nn.Parameter(torch.tensor([5.0]))
    before = launches()
    ours, theirs = both(original, new, 1)
    torch.testing.assert_close(theirs, ours)
    assert launches() - before == 2


def test_gradients_need_the_original(net):
    original, new, launches = net
    both(original, new, 0)
    before = launches()
    with torch.enable_grad(), pytest.warns(UserWarning, match="gradients are required"):
        new(torch.randn(2, 3), torch.randn(2, 3))
    assert launches() == before


def test_eval_mode_needs_the_original(net):
    original, new, launches = net
    both(original, new, 0)
    before = launches()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        new.eval()(torch.randn(2, 3), torch.randn(2, 3))
    assert launches() == before and "original forward" in str(said[0].message)


def test_a_stage_of_another_run_is_refused(tmp_path, fake_runtime):
    from solstice import dropin

    module = Net()
    session = session_of(module, torch.randn(2, 3), torch.randn(2, 3))
    write_dropin(tmp_path, fake_runtime, session, made_parts(session))
    record = {"schema": "solstice.dropin/1", "schedule": {}, "flags": {}, "content": {"stage_1/plan.json": "0" * 64}}
    assert "belongs to another run" in dropin.read(str(tmp_path), record).problem


def test_a_predicted_one_says_so(tmp_path, fake_runtime):
    from solstice import dropin

    record = {"schema": "solstice.dropin/1", "schedule": {}, "flags": {}, "predicted": True}
    assert "predicted and not measured" in dropin.read(str(tmp_path), record).problem


class Wide(torch.nn.Module):
    """Reads all of the storage that its argument is a part of, and writes its other argument."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([2.0]))

    def forward(self, x, cache):
        y = torch.relu(x * self.w)
        cache.mul_(2)
        return y, torch.as_strided(x, (2, 3), (3, 1), 0)


def test_a_storage_that_is_read_beyond_its_tensor_needs_the_original(tmp_path, fake_runtime):
    HostDevice.capturing_into, HostDevice.stream_number = None, 0
    module = Wide()
    session = session_of(module, torch.randn(2, 3), torch.randn(2, 3))
    parts = made_parts(session)
    assert "it reads a storage, of which its tensor may be a part" in parts.found.why.values()
    new = attached(write_dropin(tmp_path, fake_runtime, session, parts), copy.deepcopy(module))
    launches = ctypes.CDLL(str(fake_runtime)).fake_launches

    def both_on(cut):
        found = []
        for each in (module, new):
            whole = torch.arange(128.0)
            found.append((each(whole[64:70].view(2, 3), cut(whole)), whole))
        torch.testing.assert_close(found[1], found[0])

    with torch.no_grad():
        before = launches()
        for _ in range(2):
            both_on(lambda whole: torch.ones(2, 3))  # a part of a storage that nothing writes
        assert launches() - before == 2 and new.solstice_fallbacks() == []
        with pytest.warns(UserWarning, match="argument 1 is written in place and shares memory with argument 0"):
            for _ in range(2):
                both_on(lambda whole: whole[:6].view(2, 3))  # the extents of the two do not meet
        assert launches() - before == 2


class Turned(torch.nn.Module):
    """PyTorch hands the stage a transposed value, though its trace had a plain one."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([2.0]))

    def forward(self, x):
        return torch.relu(turned(x) * self.w)


@torch.library.custom_op("solstice_test::turned", mutates_args=())
def turned(x: torch.Tensor) -> torch.Tensor:
    return x.t().contiguous().t() + 0


@turned.register_fake
def _(x):
    return torch.empty(x.shape)


def test_another_layout_is_copied_into_the_recorded_one(tmp_path, fake_runtime):
    module = Turned()
    session = session_of(module, torch.randn(2, 3))
    parts = made_parts(session)
    new = attached(write_dropin(tmp_path, fake_runtime, session, parts), copy.deepcopy(module))
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(2, 3)
            assert not turned(x).is_contiguous()
            torch.testing.assert_close(new(x), module(x))
    assert new.solstice_fallbacks() == []


def test_a_module_without_stages_has_none():
    assert parts_of(Turned(), torch.randn(2, 3)).stages


def test_a_stage_alone_is_a_module_with_a_drop_in(tmp_path, fake_runtime):
    """As its own run checks and times it."""
    import json

    from partial_site import attached as attach_on_host

    from solstice import dropin
    from solstice.oracle.copying import copy_module
    from solstice.partial.stages import StageModule

    session = session_of(Net(), torch.randn(2, 3), torch.randn(2, 3))
    parts = made_parts(session)
    write_dropin(tmp_path, fake_runtime, session, parts)
    folder = tmp_path / "stage_1"
    recording = dropin.read(str(folder), json.loads((folder / "dropin.json").read_text()))
    for module in (StageModule(parts.stages[0], parts.own, Net()), None):
        module = module or copy_module(StageModule(parts.stages[0], parts.own, Net()))
        new = attach_on_host(recording, module)
        with torch.no_grad():
            for _ in range(3):
                x = torch.randn(2, 3)
                torch.testing.assert_close(torch.as_tensor(new(x)), module(x)[0])
        assert new.solstice_fallbacks() == []
