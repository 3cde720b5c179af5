"""Every way in which a user's file can be wrong has its message."""

import os
import sys

import pytest
import torch

from solstice import loading
from solstice.errors import OracleError
from solstice.loading import load_file


def failure(path, class_name=None):
    with pytest.raises(OracleError) as caught:
        load_file(path, class_name)
    return caught.value


MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.l = torch.nn.Linear(n, n)
    def forward(self, x): return self.l(x)
def get_inputs(): return [torch.rand(2, 4)]
def get_init_inputs(): return [4]
"""


@pytest.mark.parametrize(
    "text, code, line",
    [
        ("def f(:\n", "load.syntax", 1),
        ("import torch\nimport surely_not_installed.part\n", "load.missing_package", 2),
        ("import torch\n1 / 0\n", "load.import_failed", 2),
        ("import torch\nclass Net(torch.nn.Module): pass\n", "load.no_get_inputs", None),
        ("import torch\nclass A(torch.nn.Module): pass\nclass B(A): pass\n", "load.no_model", None),
        ("import torch\nclass Model(torch.nn.Module): pass\n", "load.no_get_inputs", None),
        (MODEL.replace("self.l =", "self.missing.l ="), "load.constructor_failed", 6),
        (MODEL.replace("return [4]", "return [[4]]"), "load.constructor_failed", 6),
    ],
)
def test_bad_files(write_model, text, code, line):
    error = failure(write_model(text))
    assert (error.kind, error.code, error.line) == ("input", code, line)


def test_missing_package_is_named(write_model):
    error = failure(write_model("import surely_not_installed.part\n"))
    assert "`surely_not_installed`" in error.message and "pip install surely_not_installed" in error.hint


def test_no_such_file(tmp_path):
    assert failure(str(tmp_path / "absent.py")).code == "load.no_file"


def test_no_model_lists_the_classes(write_model):
    error = failure(write_model("import torch\nclass Net(torch.nn.Module): pass\nclass Other(Net): pass\n"))
    assert "`Net`, `Other`" in error.message and "model.py:Net" in error.hint


def test_inputs_that_raise(write_model):
    subject = load_file(write_model(MODEL.replace("torch.rand(2, 4)", "torch.rand(2, -4)")))
    with pytest.raises(OracleError) as caught:
        subject.inputs()
    assert (caught.value.code, caught.value.line) == ("load.inputs_failed", 8)


def test_same_seed_same_weights(write_model):
    first, second = load_file(write_model(MODEL)), load_file(write_model(MODEL, "other.py"))
    assert torch.equal(first.module.l.weight, second.module.l.weight)
    torch.manual_seed(42)
    assert torch.equal(first.module.l.weight, torch.nn.Linear(4, 4).weight)


def test_module_too_large_for_memory_is_built_without_storage(write_model, monkeypatch):
    monkeypatch.setattr(loading, "available_bytes", lambda: 64)
    subject = load_file(write_model(MODEL))
    assert subject.weights == "fake" and subject.module.l.weight.shape == (4, 4)


def test_class_with_its_own_example_inputs(write_model):
    path = write_model("""
        import torch
        class Scale(torch.nn.Module):
            def __init__(self, by):
                super().__init__()
                self.by = by
            def forward(self, x): return x * self.by
            @staticmethod
            def example_inputs(): return {"x": torch.ones(2)}
            @staticmethod
            def init_inputs(): return {"by": 3}
        class Other(torch.nn.Module): pass
    """)
    for name in (None, "Scale"):
        subject = load_file(path, name)
        args, kwargs = subject.inputs()
        assert subject.module(*args, **kwargs).tolist() == [3, 3]


def test_modules_beside_the_file_can_be_imported(write_model):
    write_model("VALUE = 4\n", "helper_beside.py")
    subject = load_file(
        write_model("import helper_beside\n" + MODEL.replace("return [4]", "return [helper_beside.VALUE]"))
    )
    assert subject.module.l.in_features == 4


def test_a_file_beside_does_not_answer_the_imports_of_packages(write_model):
    for name in ("z3.py", "nt.py", "sympy.py"):
        write_model("raise RuntimeError('imported in place of the package')\n", name)
    subject = load_file(write_model(MODEL))
    from solstice.tracing import trace

    assert [n["op"] for n in trace(subject)["nodes"]] == ["aten.linear.default"]
    error = failure(write_model("import nt\n" + MODEL, "asks.py"))
    assert "imported in place" in error.message


def test_a_program_of_equations_is_told_from_python(write_model):
    error = failure(write_model("program p\ninput x : f32[4]\n", "problem.ucut"))
    assert (
        error.code == "load.not_python" and "program of equations" in error.message and "solstice check" in error.hint
    )


def test_other_kinds_of_inputs():
    assert loading.as_arguments((1, 2)) == ((1, 2), {})
    assert loading.as_arguments({"a": 1}) == ((), {"a": 1})
    with pytest.raises(OracleError, match="must be a list"):
        loading.as_arguments(3)


@pytest.mark.parametrize("maker, line", [("get_inputs", 8), ("get_init_inputs", 9)])
def test_what_a_maker_may_return(write_model, maker, line):
    other = MODEL.replace(f"def {maker}():", f"def {maker}(): return 3.0\ndef unused():")
    with pytest.raises(OracleError) as caught:
        load_file(write_model(other)).inputs()
    error = caught.value
    assert error.code == "load.bad_inputs" and error.line == line
    assert error.message == f"what `{maker}()` returns must be a list, tuple, dict or tensor, not `float`"


@pytest.mark.parametrize("given", ["[]", "[4, 5]", "{'m': 4}"])
def test_arguments_that_the_constructor_does_not_take(write_model, given):
    error = failure(write_model(MODEL.replace("n=4", "n").replace("return [4]", f"return {given}")))
    assert error.code == "load.constructor_failed" and "get_init_inputs" in error.hint and error.line == 4


def test_a_file_that_is_rewritten_at_once_runs_its_new_text(tmp_path, monkeypatch):
    """Python knows bytecode by second and size."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "m.py"
    for value in (1, 2):
        file.write_text(
            "import torch\n"
            "class Model(torch.nn.Module):\n"
            f"    value = {value}\n"
            "    def forward(self, x): return x\n"
            "def get_inputs(): return [torch.ones(2)]\n"
            "def get_init_inputs(): return []\n"
        )
        os.utime(file, (1_700_000_000, 1_700_000_000))
        assert load_file(str(file)).module.value == value
