"""Files of the user's that cannot be loaded, run or traced."""

from . import GOOD, HEAD, INPUTS, Situation, module

CUSTOM = (
    '@torch.library.custom_op("{space}::twice", mutates_args=())\n'
    "def twice(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
)
FAKE = "@twice.register_fake\ndef _(x): return torch.empty_like(x)\n"
CALLS_IT = module("return twice(self.l(x))", "self.l = nn.Linear(8, 8)").removeprefix(HEAD)
PART = "`solstice optimize` leaves such calls to it"
STAYS = "the module stays in PyTorch"
GOES = "goes the way of the example inputs"


def of(name, text, *says, command="import m.py", **options):
    return Situation(name, command, says, {"m.py": text}, **options)


LOADED = [
    Situation("no file", "import modul.py", ("no file modul.py", "did you mean module.py?"), {"module.py": GOOD}),
    Situation("no suffix", "import lib/m", ("no file lib/m", "did you mean lib/m.py?"), {"lib/m.py": GOOD}),
    Situation("a folder", "import d", ("d is a folder, not a file", "FILE.py:NAME"), {"d/x.py": GOOD}),
    Situation("no text", "import m.py", ("is not text", "save it as UTF-8"), {"m.py": b"x = '\xe9'\n"}),
    Situation("no Python", "import a.txt", ("`a.txt` is not a Python file", "ends in .py"), {"a.txt": "hello"}),
    Situation("no module", "import no_such.thing:Net", ("Python finds no module of this name", "install the package")),
    Situation("a class of a package", "import torch.nn:Lstm", ("defines no `Lstm`", "did you mean LSTM?")),
    Situation(
        "a class without inputs of a package",
        "import torch.nn:Linear",
        ("nothing says what `Linear` is called with", "`from torch.nn import Linear`", "FILE.py:Linear"),
    ),
    of("syntax", "def f(:\n  pass\n", "m.py:1:7: Python 3.", "  1 | def f(:\n    |       ^\n"),
    of(
        "missing package",
        "import torch\nimport fancy_layers\n",
        "m.py:2:1: the Python package `fancy_layers`",
        "-m pip",
    ),
    of("failing import", "x = 1 / 0\n", "m.py:1:5: importing `m.py` failed: ZeroDivisionError", "    |     ^^^^^\n"),
    of("an exit", "import sys\nsys.exit(3)\n", "m.py:2:1: importing `m.py` ends Python: `sys.exit(3)`", "__main__"),
    of("a hard exit", "import os\nos._exit(3)\n", "m.py ended the Python process", "status 3", "`os._exit`"),
    of(
        "a crash",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n",
        "m.py ended the Python process that loaded it: it was ended by SIGSEGV",
        "compiled code",
    ),
    of("no class", "x = 3\n", "`m.py` defines no module", "define `class Model(nn.Module)`"),
    of("two classes", GOOD.replace("Model", "A") + "class B(A): pass\n", "`A`, `B`", "name one: m.py:A"),
    of(
        "a misspelt class",
        GOOD,
        "defines no `Modle`",
        "did you mean Model? name it m.py:Model",
        command="import m.py:Modle",
    ),
    of("no inputs", GOOD.replace(INPUTS, ""), "m.py:7: ", "nothing says what `Model` is called with", "def get_inputs"),
    of(
        "inputs of a wrong type",
        GOOD.replace(INPUTS, "def get_inputs(): return 3\n"),
        "m.py:9: ",
        "not `int`",
        "give a list",
    ),
    of(
        "failing inputs",
        GOOD.replace(INPUTS, "def get_inputs(): return [torch.rand(4) + torch.rand(3)]\n"),
        "m.py:9:27: `get_inputs()` failed: The size of tensor a (4) must match",
        "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n",
    ),
    of(
        "constructor's arguments",
        GOOD.replace("(self):", "(self, width):"),
        "m.py:4: ",
        "'width'",
        "`get_init_inputs()`",
    ),
    of(
        "failing constructor",
        GOOD.replace("(8, 8)", "(8, -8)"),
        "m.py:6:18: constructing `Model` failed",
        "PyTorch alone",
    ),
    of(
        "no module made", GOOD + "def build(): return 3\n", "m.py:10: `build()`", "NAME is", command="import m.py:build"
    ),
]

FAILING = [
    of(
        "too many inputs",
        GOOD.replace(INPUTS, "def get_inputs(): return [torch.rand(4, 8), 3]\n"),
        "m.py:7: `forward(x)` cannot be called with the example inputs, 2 by position",
        "example inputs are the arguments of `forward`",
    ),
    of(
        "wrong shapes",
        GOOD.replace("(8, 8)", "(9, 8)"),
        "m.py:8:16: `forward` fails on the example inputs: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x8)",
        "    |                ^^^^^^^^^\n",
        "check the shapes and dtypes",
    ),
    of(
        "an exception",
        module("raise ValueError('no batch of 4')"),
        "m.py:8:9: ",
        "ValueError: no batch of 4",
        "mend it",
    ),
    of(
        "no trace, in a mode that matters",
        module("return self.d(x) if x.sum() > 3 else x", "self.d = nn.Dropout()"),
        "note: traced in training mode: dropout active",
        "m.py:8:",
    ),
    of("no attribute", module("return self.layer(x)"), "m.py:8:16: ", "has no attribute 'layer'", "mend it there"),
    of("an assertion", module("assert x.shape[0] == 5\nreturn x"), "m.py:8:16: ", "AssertionError", "mend it there"),
    of(
        "a text as result",
        module("return 'hello'"),
        "m.py: the module returns no tensor",
        "let `forward` return a tensor",
    ),
    of("no result", module("x.relu()"), "m.py: the module returns no tensor", "let `forward` return a tensor"),
    of(
        "its own state",
        module("self.n += 1\nreturn x * self.n", "self.n = 0"),
        "m.py:8: ",
        "`n`: 0 -> 1",
        "register_buffer",
    ),
    of(
        "a parameter written",
        module("with torch.no_grad(): self.w.add_(1)\nreturn x * self.w", "self.w = nn.Parameter(torch.ones(8))"),
        "m.py:8: `forward` writes the parameter `w`",
        "make it a buffer",
    ),
]

TRACED = [
    of(
        "a mask as an index",
        module("return x[x > 0.5]"),
        "m.py:8: `aten.index.Tensor`: its shape",
        "depends on the values",
        "torch.where",
    ),
    of("nonzero", module("return x.nonzero()"), "m.py:8: `aten.nonzero", "depends on the values of a tensor", "mask"),
    of(
        "a branch",
        module("if x.sum() > 3:\n    return x\nreturn -x"),
        "m.py:8:12: ",
        "the flow of control",
        "torch.where",
    ),
    of("a loop", module("while x.sum() > 1: x = x / 2\nreturn x"), "m.py:8:15: ", "the flow of control", GOES),
    of("an assert", module("assert not torch.isnan(x).any()\nreturn x"), "m.py:8:9: ", "leave the assert out", GOES),
    of(
        "a mask, optimised",
        module("return x[x > 0.5].sum()"),
        "m: unsupported: `aten.index.Tensor`: its shape",
        "torch.where",
        command="optimize m.py --device model --budget 20s",
        code=0,
    ),
    of(
        "sparse state",
        module("return self.s @ x", "self.register_buffer('s', torch.eye(4).to_sparse_csr())"),
        "m.py:7: `s` has the layout sparse_csr",
        "`.to_dense()`",
    ),
    of(
        "sparse state, optimised",
        module("return self.s @ x", "self.register_buffer('s', torch.eye(4).to_sparse())"),
        "m: unsupported: m.py:7: `s` has the layout sparse_coo",
        "`.to_dense()`",
        command="optimize m.py --device model --budget 20s",
        code=0,
    ),
    of(
        "an array",
        module("return x", inputs="import numpy\ndef get_inputs(): return [numpy.ones(4)]\n"),
        "m.py:10: what `get_inputs()` returns hold a NumPy value of the type `ndarray`",
        "`torch.from_numpy(x)`",
    ),
    of(
        "a script",
        GOOD + "scripted = torch.jit.script(Model())\n",
        "m.py: the module is TorchScript",
        "the Python module that it was scripted or traced from",
        command="import m.py:scripted",
    ),
    of(
        "halves and floats",
        module("return self.l(x.half())", "self.l = nn.Linear(8, 8)"),
        "m.py:8: `forward` fails on the example inputs: ",
        "same dtype",
        "dtypes of the example inputs",
    ),
    of(
        "a result of another class",
        module("return Out(x)") + "class Out:\n    def __init__(self, x): self.x = x\n",
        "m.py:7: the result of `forward` holds a `Out`",
        "dataclasses",
    ),
    of(
        "PyTorch's words",
        module("return x * x.untyped_storage().data_ptr()"),
        "m.py:8:",
        "--why prints PyTorch's own words",
    ),
    of("a value", module("n = x.sum().long().item()\nreturn x[:, :n]"), "m.py:8: ", "no real tensor", PART),
    of("an integer", module("n = int(x.sum().item())\nreturn x[:, :n]"), "m.py:8:13: ", "`x.long().item()`", GOES),
    of("a list", module("return x * sum(x[0].tolist())"), "m.py:8: ", "no real tensor", PART),
    of(
        "a branch of functions",
        module("return torch.cond(x.sum() > 0, lambda x: x, lambda x: -x, (x,))"),
        "m.py:8:16: ",
        "one that the tracer cannot follow",
        "torch.where",
    ),
    of(
        "a custom operator without shapes",
        HEAD + CUSTOM.format(space="one") + CALLS_IT,
        "m.py:11:16: ",
        "the custom operator `one::twice` says nothing about the shape",
        "`@twice.register_fake`",
    ),
    of("a custom operator", HEAD + CUSTOM.format(space="two") + FAKE + CALLS_IT, "two.twice.default, m.py:13", PART),
    of(
        "FFT", module("return torch.fft.fft(x).abs()"), "m.py:8: `aten.fft_fft.default`", "yields complex numbers", PART
    ),
    of(
        "a sparse product",
        module("return torch.sparse.mm(x.to_sparse(), x.t())"),
        "aten._sparse_mm.default, m.py:8",
        PART,
    ),
    of(
        "a sparse input",
        module("return x @ x.t()", inputs="def get_inputs(): return [torch.eye(4).to_sparse()]\n"),
        "m.py:9: ",
        "of the layout `sparse_coo`",
        ".to_dense()",
    ),
    of(
        "complex numbers",
        module("return x * 2", inputs="def get_inputs(): return [torch.ones(4) * 1j]\n"),
        "is complex",
        "torch.view_as_real",
    ),
    of(
        "no family",
        module("return x.sort(dim=1)[0]"),
        "no kernel family runs `order_out",
        "(of sort, m.py:8)",
        "the closest is map: ",
        "--why lists every reason",
        command="plan m.py",
    ),
    of(
        "no family, and why",
        module("return x.sort(dim=1)[0]"),
        "  why: gemm: ",
        "  why: rows: ",
        command="plan m.py --why",
    ),
    of(
        "no inverse",
        module("return torch.linalg.inv(x @ x.t())"),
        "no equations for `aten.linalg_inv.default` (m.py:8)",
        PART,
        command="sol m.py",
    ),
]

PYTHONS = [
    of(
        "Python without PyTorch",
        GOOD,
        "has no PyTorch",
        "SOLSTICE_PYTHON",
        code=3,
        environment={"SOLSTICE_PYTHON": "/usr/bin/python3"},
    ),
    of(
        "no Python there",
        GOOD,
        "SOLSTICE_PYTHON is /no/python, which is no executable file",
        "unset it",
        code=3,
        environment={"SOLSTICE_PYTHON": "/no/python"},
    ),
    of(
        "something else",
        GOOD,
        "Python does not start: `true`",
        "exited with code 0",
        "solstice doctor",
        code=3,
        environment={"SOLSTICE_PYTHON": "/bin/true"},
    ),
]

SITUATIONS = [*LOADED, *FAILING, *TRACED, *PYTHONS]
