"""A drop-in's plans and workspaces: one slot a stream, and slots of their own for graph captures."""

import copy
import gc
import json
import weakref

import pytest
import torch
from host_dropin import HostDevice


def capturing(graph, stream=9):
    """From here on calls go into this graph; None: ordinary calls on this stream."""
    HostDevice.capturing_into, HostDevice.stream_number = graph, stream


def packed(subject, tmp_path, record):
    """The module with weights that are packed at prepare, into a workspace that keeps them."""
    plan = json.loads((tmp_path / "plan.json").read_text())
    plan["buffers"][-1]["persistent"] = True
    (tmp_path / "plan.json").write_text(json.dumps({**plan, "program": "prepack"}))
    return subject.module({**record, "weights": "frozen"})


def slots_of(module):
    return module._solstice_runtime._bound.slots


def test_each_stream_is_prepared_once(subject):
    before = subject.prepares()
    for stream in (1, 2, 1, 2):
        HostDevice.stream_number = stream
        assert subject.call()[1]
    assert subject.prepares() == before + 2


def test_workspaces_that_keep_nothing_are_shown(subject, tmp_path, record):
    """Whoever times a drop-in overwrites them; packed weights stay."""
    assert subject.new.solstice_workspaces() == []  # before a call there is none
    subject.call()
    (slot,) = slots_of(subject.new).ready.values()
    assert [w.data_ptr() for w in subject.new.solstice_workspaces()] == [slot.workspace.data_ptr()]
    module = packed(subject, tmp_path, record)
    subject.call(module=module)
    assert module.solstice_workspaces() == []


def test_plans_end_with_their_module(subject):
    gc.collect()
    before = subject.live_plans()
    clone = copy.deepcopy(subject.new)
    subject.call(module=clone)
    assert subject.live_plans() == before + 1
    del clone
    gc.collect()
    assert subject.live_plans() == before


def test_frozen_weights_are_prepared_again_after_a_change(subject, tmp_path, record):
    module = packed(subject, tmp_path, record)
    before = subject.prepares()
    subject.call(module=module), subject.call(module=module)
    assert subject.prepares() == before + 1
    module.inner.w.fill_(4.0)
    torch.testing.assert_close(subject.call(module=module)[0], torch.relu(subject.x * 4))
    assert subject.prepares() == before + 2


def test_capture_needs_a_call_before_and_leaves_ordinary_calls_alone(subject):
    capturing(1, 0)
    with pytest.warns(UserWarning, match="before each capture"):
        assert not subject.call()[1]
    capturing(None, 0)
    assert subject.call()[1]
    prepared = subject.prepares()
    for graph, stream in ((2, 9), (3, 0)):  # its own stream, or one that was used before
        capturing(graph, stream)
        assert subject.call()[1] and subject.prepares() == prepared
    capturing(None, 0)
    assert subject.call()[1] and subject.prepares() == prepared


def test_capture_with_packed_weights_keeps_its_slot_to_itself(subject, tmp_path, record):
    module = packed(subject, tmp_path, record)
    capturing(None, 9)
    assert subject.call(module=module)[1]
    prepared = subject.prepares()
    capturing(1)
    assert subject.call(module=module)[1] and subject.call(module=module)[1] and subject.prepares() == prepared
    assert slots_of(module).ready == {}
    capturing(None, 9)  # the stream of the capture, without a capture: another slot
    assert subject.call(module=module)[1] and subject.prepares() == prepared + 1


def test_two_captures_on_one_stream_share_nothing(subject, tmp_path, record):
    module = packed(subject, tmp_path, record)
    capturing(None, 0)
    assert subject.call(module=module)[1]
    capturing(1)
    assert subject.call(module=module)[1]
    capturing(2)
    with pytest.warns(UserWarning, match="call the module once before each capture"):
        assert not subject.call(module=module)[1]
    capturing(None, 0)
    assert subject.call(module=module)[1]
    capturing(3)
    assert subject.call(module=module)[1]
    taken = slots_of(module)._taken
    assert set(taken) == {(1, 9), (3, 9)}
    assert taken[1, 9].workspace.data_ptr() != taken[3, 9].workspace.data_ptr()
    assert taken[1, 9].plan is not taken[3, 9].plan


def test_branches_of_one_graph_share_nothing(subject, tmp_path, record):
    module = packed(subject, tmp_path, record)
    for stream in (1, 2):
        capturing(None, stream)
        assert subject.call(module=module)[1]
    for stream in (7, 8):
        capturing(1, stream)
        assert subject.call(module=module)[1]
    first, second = slots_of(module)._taken.values()
    assert first.workspace.data_ptr() != second.workspace.data_ptr()


def test_capture_after_a_change_of_packed_weights(subject, tmp_path, record):
    module = packed(subject, tmp_path, record)
    assert subject.call(module=module)[1]
    prepared = subject.prepares()
    module.inner.w.fill_(3.0)
    capturing(1)
    with pytest.warns(UserWarning, match="weights changed before a graph capture"):
        assert not subject.call(module=module)[1]
    capturing(None, 0)
    assert subject.call(module=module)[1] and subject.prepares() == prepared + 1


@pytest.mark.parametrize("ending", ["rebind", "delete", "many streams"])
def test_packed_weights_outlive_what_a_graph_was_captured_from(subject, tmp_path, record, ending):
    module = packed(subject, tmp_path, record)
    assert subject.call(module=module)[1]
    capturing(1)
    assert subject.call(module=module)[1]
    slot = slots_of(module)._taken[1, 9]
    gc.collect()  # what other tests left
    workspace, plans = weakref.ref(slot.workspace), subject.live_plans()
    del slot
    capturing(None, 0)
    if ending == "rebind":
        module.inner.w = torch.nn.Parameter(torch.tensor([3.0]))
        assert subject.call(module=module)[1]
    elif ending == "many streams":
        for stream in range(70):
            capturing(None, stream)
            assert subject.call(module=module)[1]
    del module
    gc.collect()
    assert workspace() is not None and subject.live_plans() == plans
