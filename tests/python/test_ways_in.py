"""How a module of a file is named and made: classes, instances and functions, parts of packages, modes, inputs."""

import sys

import pytest
import torch

from solstice import locate, modes
from solstice.errors import OracleError
from solstice.loading import as_arguments, load_file

NET = """
import torch
class Net(torch.nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = torch.nn.Linear(4, width)
        self.drop = torch.nn.Dropout(0.5)
    def forward(self, x, *, scale=None):
        y = self.drop(self.layer(x))
        return y if scale is None else y * scale
"""
INPUTS = "def get_inputs(): return [torch.rand(2, 4)]\n"


def failure(*arguments, **options):
    with pytest.raises(OracleError) as caught:
        load_file(*arguments, **options)
    return caught.value


@pytest.mark.parametrize(
    "more, name, kind, training",
    [
        ("", "Net", "class", True),
        ("", None, "class", True),
        ("model = Net(8).eval()\n", "model", "instance", False),
        ("class Block(Net): pass\nmodel = Net(8).eval()\n", None, "instance", False),
        ("def build(): return Net(8).eval()\n", "build", "function", False),
        ("def build(width): return Net(width)\ndef get_init_inputs(): return [8]\n", "build", "function", True),
    ],
)
def test_what_a_name_may_stand_for(write_model, more, name, kind, training):
    subject = load_file(write_model(NET + INPUTS + more), name)
    assert (subject.found.kind, subject.class_name, subject.module.training) == (kind, "Net", training)
    assert subject.module.layer.out_features == (8 if more else 4)
    args, kwargs = subject.inputs()
    assert subject.module(*args, **kwargs).shape[0] == 2


def test_an_instance_has_the_same_weights_each_time(write_model):
    first, second = (load_file(write_model(NET + INPUTS + "model = Net()\n"), "model").module for _ in range(2))
    assert torch.equal(first.layer.weight, second.layer.weight)


def test_a_module_that_says_cuda_at_once_is_made_on_the_host(write_model):
    subject = load_file(write_model(NET + INPUTS + "model = Net().cuda()\n"), "model")
    assert subject.module.layer.weight.device.type == "cpu"


@pytest.mark.parametrize(
    "more, name, message, hint",
    [
        ("", "Nte", "defines no `Nte`; it has classes derived from nn.Module: `Net`", "did you mean"),
        ("width = 3\n", "width", "`width` of", "name one:"),
        ("class Config: pass\n", "Config", "the class `Config` of", "name one:"),
        (
            "def build(): return 3\n",
            "build",
            "returns a value of type `int`, not a module",
            "function that returns one",
        ),
        ("class A(Net): pass\na = A()\nb = A()\ndef make(): return a\n", None, "several other modules", "name one:"),
    ],
)
def test_what_was_found_is_said(write_model, more, name, message, hint):
    error = failure(write_model(NET + INPUTS + more), name)
    assert error.kind == "input" and message in error.message and hint in error.hint, error
    if name is None:
        assert "`Net`, `A`" in error.message and "instances of them: `a`, `b`" in error.message
        assert "functions: `make`" in error.message


def test_a_file_without_a_module(write_model):
    error = failure(write_model("x = 3\n"))
    assert error.code == "load.no_model" and "defines no module" in error.message and "class Model" in error.hint


def test_a_class_that_does_not_derive_from_a_module(write_model):
    error = failure(write_model("class Model:\n    def forward(self, x): return x\n" + INPUTS))
    assert "the class `Model` of" in error.message and "does not derive from nn.Module" in error.message
    assert "class Model(nn.Module)" in error.hint and "super().__init__()" in error.hint


def test_a_package_is_named_as_such_in_hints():
    error = failure(torch.nn.__file__, "Liner")
    assert error.message == "`torch.nn` defines no `Liner`"
    assert error.hint == "did you mean Linear? name it torch.nn:Linear"


@pytest.mark.parametrize("mode, training", [(None, True), ("train", True), ("eval", False)])
def test_the_mode_that_is_asked_for(write_model, mode, training):
    subject = load_file(write_model(NET + INPUTS), mode=mode)
    assert subject.module.training is training and subject.module.drop.training is training
    words = "training mode: dropout active" if training else "evaluation mode: no dropout"
    assert modes.note_of(subject.module) == f"traced in {words}"
    assert failure(write_model(NET + INPUTS), mode="test").code == "load.mode"


def test_where_the_mode_matters():
    nn = torch.nn

    class Own(nn.Module):
        def forward(self, x):
            return x if self.training else -x

    note = lambda *parts: modes.note_of(nn.Sequential(*parts))
    assert note(nn.Linear(2, 2), nn.Dropout(0.0), nn.BatchNorm1d(2, track_running_stats=False)) == ""
    assert note(nn.BatchNorm1d(2), nn.Dropout(), Own()) == (
        "traced in training mode: batch statistics, dropout active, `Own` asks for its mode"
    )
    Own.__module__ = "solstice.partial.stages"  # a class of ours is no user's
    assert note(Own()) == ""
    mixed = nn.Sequential(nn.BatchNorm1d(2).eval(), nn.Dropout())
    assert modes.note_of(mixed) == (
        "traced in training mode: dropout active; the rest in evaluation mode: running statistics"
    )


@pytest.mark.parametrize(
    "inputs",
    [
        'def get_inputs(): return (torch.ones(2, 4),), {"scale": torch.ones(4)}\n',
        'example_inputs = ((torch.ones(2, 4),), {"scale": torch.ones(4)})\n',
        'def example_inputs(): return {"x": torch.ones(2, 4), "scale": torch.ones(4)}\n',
    ],
)
def test_positional_and_keyword_inputs(write_model, inputs):
    subject = load_file(write_model(NET + inputs))
    args, kwargs = subject.inputs()
    assert len(args) + len(kwargs) == 2 and subject.module(*args, **kwargs).shape == (2, 4)
    again = subject.inputs()
    assert torch.equal(again[1]["scale"], kwargs["scale"]) and again[1]["scale"] is not kwargs["scale"]


def test_a_pair_that_forward_takes_as_it_is():
    pair = ((1, 2), {"key": 3})
    assert as_arguments(pair) == pair
    assert as_arguments(pair, forward=lambda self, both, options: None) == (pair, {})
    assert as_arguments(pair, forward=lambda self, a, b, key: None) == pair
    assert as_arguments([(1,), {"key": 3}]) == (((1,), {"key": 3}), {})


PART = "from .{where} import WIDTH\n" + NET + INPUTS + "model = Net(WIDTH)\n"


def written_package(tmp_path, top, init="", where="helper"):
    folder = tmp_path / top / "inner"
    folder.mkdir(parents=True)
    if init is not None:
        (tmp_path / top / "__init__.py").write_text(init)
        (folder / "__init__.py").write_text("")
    (folder / "helper.py").write_text("WIDTH = 6\n")
    (tmp_path / top / "helper.py").write_text("WIDTH = 7\n")
    (folder / "net.py").write_text(PART.format(where=where))
    return folder / "net.py"


@pytest.mark.parametrize(
    "top, init, where, width",
    [
        ("pk_one", "", "helper", 6),
        ("pk_two", "", ".helper", 7),
        ("pk_three", None, "helper", 6),  # without `__init__.py`
        ("pk_four", None, ".helper", 7),
        ("pk_five", "from .inner.net import Net\n", "helper", 6),  # the package imports the file
    ],
)
def test_a_part_of_a_package_imports_relatively(tmp_path, top, init, where, width):
    subject = load_file(str(written_package(tmp_path, top, init, where)), "model")
    assert subject.module.layer.out_features == width
    inner = f"{top}.inner" if init is not None or where.startswith(".") else "inner"
    assert (subject.place.package, subject.place.name) == (inner, f"{inner}.net")
    assert type(subject.module) is sys.modules[f"{inner}.net"].Net


def test_a_package_with_the_name_of_another(tmp_path):
    error = failure(str(written_package(tmp_path, "torch")))
    assert error.code == "load.package_name" and "`torch`" in error.message and "rename" in error.hint


def test_a_package_that_fails(tmp_path):
    error = failure(str(written_package(tmp_path, "pk_fails", "import no_such_thing_anywhere\n")))
    assert error.code == "load.missing_package" and error.file.endswith("pk_fails/__init__.py") and error.line == 1


def test_a_module_is_found_by_its_name(tmp_path, monkeypatch):
    file = written_package(tmp_path, "pk_found")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    assert locate.locate("pk_found.inner.net") == str(file)
    assert locate.locate("pk_found") == str(tmp_path / "pk_found" / "__init__.py")
    assert locate.locate("pk_found.absent") is None and locate.locate("surely_absent.part") is None
    assert set(sys.modules) == before  # nothing of it ran
