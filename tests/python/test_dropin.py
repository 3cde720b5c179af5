"""A drop-in's calls: what it computes, which arguments it takes, and whose parameters it reads."""

import copy
import json
import pickle

import pytest
import torch
from host_dropin import refused

from solstice import dropin
from solstice.dropin import structure


def test_runs_the_kernels_while_all_is_as_recorded(subject):
    for _ in range(3):
        result, fast = subject.call(torch.randn(2, 3))
        assert fast
    result, _ = subject.call()
    torch.testing.assert_close(result, subject.original(subject.x))
    assert subject.new.solstice_fallbacks() == []


def test_results_in_a_tree_and_constant_arguments(subject, record):
    from torch.utils import _pytree as pytree

    tree = lambda value: json.loads(pytree.treespec_dumps(pytree.tree_flatten(value)[1]))
    record = {
        **record,
        "arguments": [*record["arguments"], {"value": 3}],
        "results": [{"buffer": "y"}, {"buffer": "x"}, {"value": 7}],
        "in_tree": tree(((0, 0), {})),
        "out_tree": tree({"a": 0, "b": [0, 0]}),
    }

    class Original(type(subject.original)):
        def forward(self, x, k):
            return {"a": torch.relu(x * self.inner.w), "b": [x, 7]}

    module = subject.module({**record, "structure": structure.describe(Original(2.0))}, Original)
    before = subject.launches()
    result = module(subject.x, 3)
    assert subject.launches() == before + 1
    torch.testing.assert_close(result["a"], subject.original(subject.x))
    assert result["b"][0] is subject.x and result["b"][1] == 7
    with pytest.warns(UserWarning, match="argument 1 is 4; recorded was 3"):
        module(subject.x, 4)
    with pytest.warns(UserWarning, match="another structure"):
        module(subject.x, k=3)


def test_failing_kernel_is_an_error(subject):
    with pytest.raises(RuntimeError, match="the kernel failed"):
        subject.new(torch.full((2, 3), 2e30))


def test_a_module_given_as_an_object_is_checked_with_what_is_attached_to_it(tmp_path, record):
    from solstice.optimizing import subject_of
    from solstice.oracle import kernelbench
    from solstice.oracle.session import Session

    module = dropin.load_original(str(tmp_path), record).Model(2.0)
    (tmp_path / "dropin.json").write_text(json.dumps(record))
    session = Session(torch.device("cpu"), subject=subject_of(module, (torch.randn(2, 3),), {}))
    attached = kernelbench.load_dropin(session, str(tmp_path / "dropin.json"))
    assert type(attached).__name__ == "ModelNew" and attached.inner is module.inner
    with pytest.warns(UserWarning):  # on the host it runs the original, which the check tells
        verdict = kernelbench.check(session, str(tmp_path / "dropin.json"))
    assert verdict["passed"] and len(verdict["trials"]) == 5 and verdict["fallbacks"]


def test_attach_shares_parameters(subject, tmp_path, record):
    new = dropin.attach(subject.original, dropin.read(str(tmp_path), record))
    assert new.inner.w is subject.original.inner.w
    with pytest.warns(UserWarning, match="no argument is on a GPU"):
        torch.testing.assert_close(new(subject.x), subject.original(subject.x))


def test_keeps_constructor_parameters_and_state_dict(subject):
    assert list(subject.new.state_dict()) == ["inner.w"]
    subject.new.load_state_dict(subject.original.state_dict())
    assert isinstance(subject.new, type(subject.original))
    assert list(pickle.loads(pickle.dumps(subject.new.state_dict()))) == ["inner.w"]


def test_signature_is_the_originals(subject):
    import inspect

    assert inspect.signature(subject.new.forward) == inspect.signature(subject.original.forward)


def test_runtime_is_not_pickled(subject):
    assert subject.call()[1]
    state = pickle.loads(pickle.dumps({k: v for k, v in vars(subject.new).items()}))
    assert state["_solstice_runtime"] is None


@pytest.mark.parametrize(
    "x, reason",
    [
        (torch.randn(3, 3), r"\[3, 3\]"),
        (torch.randn(2, 3, dtype=torch.float64), "float64"),
        (torch.randn(3, 2).t(), r"stride \[1, 2\]"),
        (torch.randn(2, 3).to_sparse(), "layout"),
    ],
)
def test_other_arguments(subject, x, reason):
    if x.layout is not torch.strided:
        with pytest.warns(UserWarning, match=reason):
            assert not subject.call(x)[1]
        return
    refused(subject, reason, x)


def test_misaligned_argument(subject, tmp_path, record):
    plan = json.loads((tmp_path / "plan.json").read_text())
    plan["buffers"][0]["alignment"] = 16
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    storage = torch.randn(16)
    offset = 0 if storage[1:].data_ptr() % 16 == 0 else 1
    x = storage[offset : offset + 6].view(2, 3)
    if x.data_ptr() % 16 == 0:
        x = storage[offset + 1 : offset + 7].view(2, 3)
    refused(subject, "not aligned to 16", x, subject.module(record))


def test_tensor_subclass(subject):
    class Own(torch.Tensor):
        pass

    with pytest.warns(UserWarning, match="is a Own"):
        assert not subject.call(subject.x.as_subclass(Own))[1]


def test_keyword_argument(subject):
    with pytest.warns(UserWarning, match="another structure"):
        result = subject.new(x=subject.x)
    torch.testing.assert_close(result, subject.original(subject.x))


def test_replaced_parameter_is_picked_up(subject):
    assert subject.call()[1]
    subject.new.inner.w = torch.nn.Parameter(torch.tensor([3.0]))
    result, fast = subject.call()
    assert fast
    torch.testing.assert_close(result, torch.relu(subject.x * 3))


def test_parameter_data_moved(subject):
    assert subject.call()[1]
    subject.new.inner.w.data = torch.tensor([5.0])
    torch.testing.assert_close(subject.call()[0], torch.relu(subject.x * 5))


def test_live_weights_are_read_on_every_call(subject):
    subject.call()
    before = subject.prepares()
    subject.new.inner.w.fill_(4.0)
    torch.testing.assert_close(subject.call()[0], torch.relu(subject.x * 4))
    assert subject.prepares() == before


def test_state_dict_by_assignment(subject):
    assert subject.call()[1]
    subject.new.load_state_dict({"inner.w": torch.tensor([8.0])}, assign=True)
    result, fast = subject.call()
    assert fast
    torch.testing.assert_close(result, torch.relu(subject.x * 8))


def test_deepcopy_and_shared_state(subject):
    assert subject.call()[1]
    clone = copy.deepcopy(subject.new)
    clone.inner.w.fill_(7.0)
    torch.testing.assert_close(subject.call(module=clone)[0], torch.relu(subject.x * 7))
    torch.testing.assert_close(subject.call()[0], subject.original(subject.x))


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


def test_hook_on_the_module_itself_still_runs(subject):
    subject.new.register_forward_hook(lambda module, args, out: out + 1)
    result, fast = subject.call()
    assert fast
    torch.testing.assert_close(result, subject.original(subject.x) + 1)
