"""The drop-in's guards, with a stand-in runtime on host memory."""

import copy
import ctypes
import gc
import hashlib
import json
import pathlib
import pickle
import shutil
import subprocess
import sys
import warnings
import weakref
from typing import Optional

import pytest
import torch

from solstice import dropin
from solstice.dropin.runtime import Runtime

HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(dropin.__file__).parent
SOURCE = """
import torch
class Model(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.inner = torch.nn.Module()
        self.inner.w = torch.nn.Parameter(torch.tensor([scale]))
        self.drop = torch.nn.Dropout(0.0)
    def forward(self, x):
        return torch.relu(x * self.inner.w)
def get_inputs(): return [torch.rand(2, 3)]
def get_init_inputs(): return [2.0]
"""


class HostDevice:
    """What CudaDevice is for a GPU, for tensors on the host."""

    index = -1
    several = False
    capturing_into: Optional[int] = None  # the number of a graph
    stream_number = 0

    @classmethod
    def of(cls, leaves):
        return cls()

    def current(self):
        return -1

    def stream(self, index):
        return HostDevice.stream_number

    def capturing(self):
        return HostDevice.capturing_into is not None

    def capture(self, stream):
        return HostDevice.capturing_into

    def enter_thread(self):
        pass

    def empty(self, shape, stride, dtype):
        return torch.empty_strided(shape, stride, dtype=dtype)

    def workspace(self, bytes):
        return torch.empty(bytes, dtype=torch.uint8)

    def mismatch(self, target):
        return None if target == "sm_90a" else f"the kernels are built for {target}"


def buffer(name, kind, shape, **more):
    strides = [shape[1], 1] if len(shape) == 2 else [1]
    return {
        "name": name,
        "kind": kind,
        "dtype": "f32",
        "shape": shape,
        "strides": strides,
        "bytes": 24,
        "alignment": 4,
        **more,
    }


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler for the stand-in runtime")
    path = tmp_path_factory.mktemp("rt") / "libfake_rt.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(path), str(HERE / "fake_rt.c")], check=True)
    return path


@pytest.fixture
def record(tmp_path, library):
    """A recording of the module above in a folder of its own."""
    (tmp_path / "model_original.py").write_text(SOURCE)
    plan = {
        "schema": "solstice.plan/1",
        "program": "p",
        "target": "sm_90a",
        "modules": [],
        "steps": [],
        "buffers": [
            buffer("x", "input", [2, 3]),
            buffer("w", "param", [1], path="inner.w"),
            buffer("y", "output", [2, 3]),
            {"name": "s", "kind": "workspace"},
        ],
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    return {
        "schema": "solstice.dropin/1",
        "source": {
            "file": "model_original.py",
            "class": "Model",
            "sha256": hashlib.sha256(SOURCE.encode()).hexdigest(),
        },
        "plan": "plan.json",
        "library": str(library),
        "weights": "live",
        "arguments": [{"buffer": "x", "dtype": "f32", "shape": [2, 3], "stride": [3, 1]}],
        "results": [{"buffer": "y"}],
        "structure": {
            "": {"class": "", "attributes": {"training": "True", "scale": "2.0"}},
            "inner": {"class": "torch.nn.modules.module.Module", "attributes": {"training": "True"}},
            "drop": {
                "class": "torch.nn.modules.dropout.Dropout",
                "attributes": {"training": "True", "p": "0.0", "inplace": "False"},
            },
        },
        "flags": {
            "matmul_tf32": torch.backends.cuda.matmul.allow_tf32,
            "cudnn_tf32": torch.backends.cudnn.allow_tf32,
            "deterministic": False,
        },
    }


class Subject:
    def __init__(self, folder, record, library):
        self._counts = ctypes.CDLL(str(library))
        recording = dropin.read(str(folder), record)
        self.original = dropin.load_original(str(folder), record).Model(2.0)
        cls = dropin.replacement(type(self.original), recording, lambda m, r: Runtime(m, r, HostDevice.of))
        self.new = cls(2.0)
        self.x = torch.randn(2, 3)
        self._base = self.launches()

    def launches(self):
        return self._counts.fake_launches()

    def prepares(self):
        return self._counts.fake_prepares()

    def call(self, x=None, module=None, **kwargs):
        """The result, and whether the kernels made it."""
        before = self.launches()
        result = (module or self.new)(self.x if x is None else x, **kwargs)
        return result, self.launches() > before


@pytest.fixture
def subject(tmp_path, record, library):
    HostDevice.capturing_into, HostDevice.stream_number = None, 0
    with torch.no_grad():
        yield Subject(tmp_path, record, library)


def test_runs_the_kernels_while_all_is_as_recorded(subject):
    for _ in range(3):
        result, fast = subject.call(torch.randn(2, 3))
        assert fast
    result, _ = subject.call()
    torch.testing.assert_close(result, subject.original(subject.x))
    assert subject.new.solstice_fallbacks() == []


def test_a_module_given_as_an_object_is_checked_with_what_is_attached_to_it(tmp_path, record):
    from solstice.optimizing import subject_of
    from solstice.oracle import kernelbench
    from solstice.oracle.session import Session

    module = dropin.load_original(str(tmp_path), record).Model(2.0)
    (tmp_path / "dropin.json").write_text(json.dumps(record))
    session = Session(torch.device("cpu"), subject=subject_of(module, torch.randn(2, 3)))
    attached = kernelbench.load_dropin(session, str(tmp_path / "dropin.json"))
    assert type(attached).__name__ == "ModelNew" and attached.inner is module.inner
    with pytest.warns(UserWarning):  # on the host it runs the original, which the check tells
        verdict = kernelbench.check(session, str(tmp_path / "dropin.json"))
    assert verdict["passed"] and len(verdict["trials"]) == 5 and verdict["fallbacks"]


def test_keeps_constructor_parameters_and_state_dict(subject):
    assert list(subject.new.state_dict()) == ["inner.w"]
    subject.new.load_state_dict(subject.original.state_dict())
    assert isinstance(subject.new, type(subject.original))
    assert list(pickle.loads(pickle.dumps(subject.new.state_dict()))) == ["inner.w"]


def refused(subject, reason, x=None, module=None, **kwargs):
    x = subject.x if x is None else x
    with pytest.warns(UserWarning, match=reason):
        result, fast = subject.call(x, module, **kwargs)
    assert not fast
    torch.testing.assert_close(result, subject.original(x), equal_nan=True, check_dtype=False)
    with warnings.catch_warnings():  # each reason is said once
        warnings.simplefilter("error")
        subject.call(x, module, **kwargs)


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


def test_autocast_of_the_gpu(subject):
    torch.set_autocast_enabled("cuda", True)
    try:
        refused(subject, "autocast")
    finally:
        torch.set_autocast_enabled("cuda", False)


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
    cls = dropin.replacement(
        type(subject.original), dropin.read(str(tmp_path), record), lambda m, r: Runtime(m, r, HostDevice.of)
    )
    storage = torch.randn(16)
    offset = 0 if storage[1:].data_ptr() % 16 == 0 else 1
    x = storage[offset : offset + 6].view(2, 3)
    if x.data_ptr() % 16 == 0:
        x = storage[offset + 1 : offset + 7].view(2, 3)
    refused(subject, "not aligned to 16", x, cls(2.0))


def test_tensor_subclass(subject):
    class Own(torch.Tensor):
        pass

    with pytest.warns(UserWarning, match="is a Own"):
        assert not subject.call(subject.x.as_subclass(Own))[1]


def test_keyword_argument(subject):
    with pytest.warns(UserWarning, match="another structure"):
        result = subject.new(x=subject.x)
    torch.testing.assert_close(result, subject.original(subject.x))


def test_changed_flags(subject):
    saved = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = not saved
    try:
        refused(subject, "TF32")
    finally:
        torch.backends.cudnn.allow_tf32 = saved


def test_training_mode_of_an_inner_module(subject):
    subject.new.drop.eval()
    refused(subject, "`drop.training` is False; recorded was True")


def test_hook_on_an_inner_module(subject):
    assert subject.call()[1]
    handle = subject.new.drop.register_forward_hook(lambda module, args, out: None)
    refused(subject, "hooks")
    handle.remove()
    assert subject.call()[1]


def test_hook_on_the_module_itself_still_runs(subject):
    subject.new.register_forward_hook(lambda module, args, out: out + 1)
    result, fast = subject.call()
    assert fast
    torch.testing.assert_close(result, subject.original(subject.x) + 1)


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


def test_parameter_of_another_dtype(subject):
    assert subject.call()[1]
    subject.new.double()
    with pytest.warns(UserWarning, match="`inner.w` is float64"):
        assert not subject.call()[1]


def test_live_weights_are_read_on_every_call(subject):
    subject.call()
    before = subject.prepares()
    subject.new.inner.w.fill_(4.0)
    torch.testing.assert_close(subject.call()[0], torch.relu(subject.x * 4))
    assert subject.prepares() == before


def test_frozen_weights_are_prepared_again_after_a_change(subject, tmp_path, record):
    module = packed(subject, tmp_path, record)
    before = subject.prepares()
    subject.call(module=module), subject.call(module=module)
    assert subject.prepares() == before + 1
    module.inner.w.fill_(4.0)
    torch.testing.assert_close(subject.call(module=module)[0], torch.relu(subject.x * 4))
    assert subject.prepares() == before + 2


def test_deepcopy_and_shared_state(subject):
    assert subject.call()[1]
    clone = copy.deepcopy(subject.new)
    clone.inner.w.fill_(7.0)
    torch.testing.assert_close(subject.call(module=clone)[0], torch.relu(subject.x * 7))
    torch.testing.assert_close(subject.call()[0], subject.original(subject.x))


def test_plans_end_with_their_module(subject):
    live = subject._counts.fake_live_plans
    gc.collect()
    before = live()
    clone = copy.deepcopy(subject.new)
    subject.call(module=clone)
    assert live() == before + 1
    del clone
    gc.collect()
    assert live() == before


def test_attach_shares_parameters(subject, tmp_path, record):
    new = dropin.attach(subject.original, dropin.read(str(tmp_path), record))
    assert new.inner.w is subject.original.inner.w
    with pytest.warns(UserWarning, match="no argument is on a GPU"):
        torch.testing.assert_close(new(subject.x), subject.original(subject.x))


def test_each_stream_is_prepared_once(subject):
    before = subject.prepares()
    for stream in (1, 2, 1, 2):
        HostDevice.stream_number = stream
        assert subject.call()[1]
    assert subject.prepares() == before + 2


def capturing(graph, stream=9):
    """From here on calls go into this graph; None: ordinary calls on this stream."""
    HostDevice.capturing_into, HostDevice.stream_number = graph, stream


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


def packed(subject, tmp_path, record):
    """The module with weights that are packed at prepare, into a workspace that keeps them."""
    plan = json.loads((tmp_path / "plan.json").read_text())
    plan["buffers"][-1]["persistent"] = True
    (tmp_path / "plan.json").write_text(json.dumps({**plan, "program": "prepack"}))
    recording = dropin.read(str(tmp_path), {**record, "weights": "frozen"})
    cls = dropin.replacement(
        type(subject.original), recording, lambda m, r: Runtime(m, r, HostDevice.of)
    )
    return cls(2.0)


def slots_of(module):
    return module._solstice_runtime._bound.slots


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
    workspace, plans = weakref.ref(slot.workspace), subject._counts.fake_live_plans()
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
    assert workspace() is not None and subject._counts.fake_live_plans() == plans


def test_results_in_a_tree_and_constant_arguments(subject, tmp_path, record):
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

    module = dropin.replacement(
        Original, dropin.read(str(tmp_path), record), lambda m, r: Runtime(m, r, HostDevice.of)
    )(2.0)
    before = subject.launches()
    result = module(subject.x, 3)
    assert subject.launches() == before + 1
    torch.testing.assert_close(result["a"], subject.original(subject.x))
    assert result["b"][0] is subject.x and result["b"][1] == 7
    with pytest.warns(UserWarning, match="argument 1 is 4; recorded was 3"):
        module(subject.x, 4)
    with pytest.warns(UserWarning, match="another structure"):
        module(subject.x, k=3)


def test_vmap(subject):
    with pytest.warns(UserWarning, match="function transform"):
        torch.vmap(subject.new)(subject.x[None])


def test_failing_kernel_is_an_error(subject):
    with pytest.raises(RuntimeError, match="the kernel failed"):
        subject.new(torch.full((2, 3), 2e30))


def test_other_architecture(subject, tmp_path, record):
    plan = json.loads((tmp_path / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps({**plan, "target": "sm_100a"}))
    module = dropin.replacement(
        type(subject.original), dropin.read(str(tmp_path), record), lambda m, r: Runtime(m, r, HostDevice.of)
    )(2.0)
    refused(subject, "sm_100a", module=module)


def test_missing_library_falls_back(subject, tmp_path, record):
    recording = dropin.read(str(tmp_path), {**record, "library": str(tmp_path / "absent.so")})
    module = dropin.replacement(type(subject.original), recording, lambda m, r: Runtime(m, r, HostDevice.of))(2.0)
    refused(subject, "cannot load", module=module)


@pytest.mark.parametrize("change", ["other plan", "unreadable plan", "other cubin", "no cubin"])
def test_files_of_two_runs_fall_back(subject, tmp_path, record, change):
    """As a kill between two renames leaves them."""
    (tmp_path / "k.cubin").write_text("kernels")
    digest = lambda name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    record = {**record, "content": {name: digest(name) for name in ("k.cubin", "plan.json")}}
    make = lambda: dropin.replacement(
        type(subject.original), dropin.read(str(tmp_path), record), lambda m, r: Runtime(m, r, HostDevice.of)
    )(2.0)
    assert subject.call(module=make())[1]
    if change == "other plan":
        (tmp_path / "plan.json").write_text((tmp_path / "plan.json").read_text() + " ")
    elif change == "unreadable plan":
        (tmp_path / "plan.json").write_text("{")
    elif change == "other cubin":
        (tmp_path / "k.cubin").write_text("others")
    else:
        (tmp_path / "k.cubin").unlink()
    refused(subject, "cannot be read" if change == "no cubin" else "belongs to another run", module=make())


def test_changed_source_is_refused(subject, tmp_path, record):
    (tmp_path / "model_original.py").write_text(SOURCE + "# edited\n")
    with pytest.raises(dropin.DropinError, match="is not the file that the kernels were made for"):
        dropin.load_original(str(tmp_path), record)


USING_HELPERS = """
import torch
from helpers_{tag} import factor
import parts_{tag}.inner as inner
class Model(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.inner = torch.nn.Module()
        self.inner.w = torch.nn.Parameter(torch.tensor([scale]))
        self.drop = torch.nn.Dropout(0.0)
    def forward(self, x):
        from late_{tag} import act
        return act(x * self.inner.w) * factor() * inner.ONE
def get_inputs(): return [torch.rand(2, 3)]
def get_init_inputs(): return [2.0]
"""


def with_modules(tmp_path, record, tag):
    """The outcome of a file with modules beside it, through the trace that lists them; the user's folder is gone."""
    from solstice.loading import load_file
    from solstice.oracle import requests
    from solstice.oracle.session import Session

    user = tmp_path / "user"
    (user / f"parts_{tag}").mkdir(parents=True)
    (user / f"helpers_{tag}.py").write_text("def factor(): return 1.0\n")
    (user / f"late_{tag}.py").write_text("import torch\ndef act(x): return torch.relu(x)\n")
    (user / f"parts_{tag}" / "inner.py").write_text("ONE = 1.0\n")  # in a package without __init__.py
    source = USING_HELPERS.replace("{tag}", tag)
    (user / "model.py").write_text(source)
    session = Session(torch.device("cpu"))
    session.subject = load_file(str(user / "model.py"))
    modules = [m for m in requests.trace(session)["modules"] if m["module"].split(".")[0].endswith(tag)]
    assert {m["module"] for m in modules} == {f"helpers_{tag}", f"late_{tag}", f"parts_{tag}.inner"}
    out = tmp_path / "out"
    shutil.copytree(tmp_path, out, ignore=shutil.ignore_patterns("user", "out"))
    (out / "model_original.py").write_text(source)
    for module in modules:
        module["copy"] = f"original_modules/{module['module'].replace('.', '/')}.py"
        (out / module["copy"]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(module["file"], out / module["copy"])
    shutil.rmtree(user)
    entries = [{"module": m["module"], "file": m["copy"], "sha256": m["sha256"]} for m in modules]
    digest = hashlib.sha256(source.encode()).hexdigest()
    source_entry = {**record["source"], "sha256": digest, "modules": entries}
    written_file(out, {**record, "source": source_entry})
    return out


RUN_IT = (
    "import importlib.util, torch; spec = importlib.util.spec_from_file_location('model_new', {path!r}); "
    "model_new = importlib.util.module_from_spec(spec); spec.loader.exec_module(model_new); "
    "x = torch.rand(2, 3); assert torch.equal(model_new.ModelNew(2.0)(x), model_new.Model(2.0)(x)); print('ran')"
)


def clean_process(script, folder):
    command = [sys.executable, "-W", "always::UserWarning", "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_modules_of_the_users_own_come_along(tmp_path, record):
    out = with_modules(tmp_path, record, "along")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "late_along.py").write_text("raise ImportError('not this one')\n")
    done = clean_process(RUN_IT.format(path=str(out / "model_new.py")), elsewhere)
    assert done.returncode == 0 and "ran" in done.stdout, done.stderr
    assert "another module" not in done.stderr


def test_a_module_of_the_same_name_that_is_loaded_stays(tmp_path, record):
    out = with_modules(tmp_path, record, "stays")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "helpers_stays.py").write_text("def factor(): return 100.0\n")
    before, after = "import helpers_stays as mine; ", "; import helpers_stays; assert helpers_stays is mine"
    done = clean_process(before + RUN_IT.format(path=str(out / "model_new.py")) + after, elsewhere)
    assert done.returncode == 0 and "ran" in done.stdout, done.stderr
    assert "another module `helpers_stays` is loaded" in done.stderr


@pytest.mark.parametrize("change", ["edit", "remove"])
def test_a_changed_module_of_the_users_own_is_refused(tmp_path, record, change):
    out = with_modules(tmp_path, record, change)
    copy_of_it = out / "original_modules" / f"helpers_{change}.py"
    copy_of_it.write_text("def factor(): return 3.0\n") if change == "edit" else copy_of_it.unlink()
    done = clean_process(RUN_IT.format(path=str(out / "model_new.py")), tmp_path)
    assert done.returncode != 0 and f"helpers_{change}.py is " in done.stderr, done.stderr


def written_file(tmp_path, record):
    """model_new.py and what lies beside it, as the program writes them."""
    text = (PACKAGE.parent / "templates" / "model_new.py.in").read_text()
    values = {"@CLASS@": "Model", "@VERSION@": "0", "@FOLDER@": repr(str(tmp_path))}
    for key, value in values.items():
        text = text.replace(key, value)
    (tmp_path / "model_new.py").write_text(text)
    (tmp_path / "dropin.json").write_text(json.dumps(record))
    shutil.copytree(PACKAGE, tmp_path / "solstice_dropin")
    return text


def test_written_file_runs_without_the_package(tmp_path, record):
    written_file(tmp_path, record)
    script = (
        "import model_new, torch; m = model_new.ModelNew(*model_new.get_init_inputs()); "
        "x, = model_new.get_inputs(); assert torch.equal(m(x), model_new.Model(2.0)(x)); print(type(m).__mro__[1])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "Model" in done.stdout


def test_written_text_runs_without_a_file_name(tmp_path, record):
    scope = {"__name__": "harness"}
    exec(written_file(tmp_path, record), scope)
    assert scope["ModelNew"](2.0).inner.w.item() == 2.0
