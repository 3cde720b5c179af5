"""Modules that `solstice torch` writes from equations, in float64, against the interpreter of equations."""

import json
import pathlib
import re
import subprocess

import pytest

torch = pytest.importorskip("torch")

from language import CASES  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = ROOT / "build" / "bin" / "solstice"
INTERPRETER = ROOT / "build" / "tests" / "interpret_check"
NARROW = ("bf16", "f16", "e4m3", "e5m2")

pytestmark = pytest.mark.skipif(
    not PROGRAM.exists() or not INTERPRETER.exists(), reason="`./x build` builds what is tested here"
)


def written(file):
    """What `solstice torch --json` says of the program: its module and interface; or why there is none."""
    done = subprocess.run([PROGRAM, "torch", file, "--json"], capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout)


def namespace_of(text):
    """The module in float64: where it names float32, the interpreter's precision stands."""
    space = {}
    exec(compile(text.replace("torch.float32", "torch.float64"), "written", "exec"), space)
    return space


def interpreted(text, inputs):
    tensors = {n: {"shape": list(t.shape), "values": t.double().flatten().tolist()} for n, t in inputs.items()}
    question = json.dumps({"text": text, "inputs": tensors}) + "\n"
    done = subprocess.run([INTERPRETER], input=question, capture_output=True, text=True, timeout=120)
    answer = json.loads(done.stdout.splitlines()[0])
    assert "error" not in answer, answer["error"]
    return {
        name: torch.tensor([float(x) for x in t["values"]], dtype=torch.float64).reshape(t["shape"])
        for name, t in answer["results"].items()
    }


def wide(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


def results_of(module, program, arguments):
    """What `forward` left, by the names of the program."""
    results = module(*arguments)
    out = dict(zip(program["outputs"], results if isinstance(results, tuple) else (results,)))
    state = module.state_dict()
    for tensor, buffer in program["updates"].items():
        out[tensor] = state[program["state"][buffer]]
    return {name: value.detach().double() for name, value in out.items()}


@pytest.fixture(autouse=True)
def float64():
    default = torch.get_default_dtype()
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    with torch.no_grad():
        yield
    torch.set_default_dtype(default)


def check(text, program, inputs=None):
    """On its own draws, or on `inputs`, which name parameters and buffers too; False where they cannot be asked for."""
    space = namespace_of(program["module"])
    module = space["Model"]().double()
    state = module.state_dict()
    given = dict(inputs or zip(program["inputs"], space["get_inputs"]()))
    for name, path in program["state"].items():
        if inputs:
            state[path].copy_(inputs[name])
        given[name] = state[path].clone()
    given = {name: wide(value) for name, value in given.items()}
    if not all(value.isfinite().all() for value in given.values()):
        return False  # questions to the interpreter are JSON
    expected = interpreted(text, given)
    found = results_of(module, program, [given[name] for name in program["inputs"]])
    assert found.keys() == expected.keys()
    off = 1e-2 if any(f": {dtype}[" in text for dtype in NARROW) else 1e-9  # stores round
    for name, value in expected.items():
        torch.testing.assert_close(found[name].reshape(value.shape), value, rtol=off, atol=off, equal_nan=True)
    return True


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases_of_the_language(case, tmp_path):
    file = tmp_path / "case.ucut"
    file.write_text(case.text)
    program = written(file)
    if "random " in case.text:
        assert program["error"]["code"] == "not_yet" and "the draw of `" in program["error"]["message"]
        return
    inputs = {name.replace("__", "."): value for name, value in case.inputs.items()}
    assert check(case.text, program, inputs)
    assert check(case.text, program)  # gathers of its own draws stay within their tensors


# Folders of programs that are whole; those with mistakes, and parts of others, are left out where they are met.
FOLDERS = ("examples", "docs", "tests/golden", "tests/property", "tests/writing", "tests/unit", "tests/evil")
DIM = re.compile(r"(\b[A-Z]\w*\s*=\s*)(\d+)\b")
SMALL = 300_000  # elements of all tensors together, which the interpreter takes a moment for


def files():
    found = {path for folder in FOLDERS for path in (ROOT / folder).rglob("*.ucut")}
    return sorted(path for path in found if "diagnostics" not in path.parts)


def shrunk(text, divisor):
    """Dims about so many times smaller, different ones different."""
    lines, known = [], {}
    for line in text.splitlines():
        if line.lstrip().startswith("dim "):
            line = DIM.sub(lambda m: m[1] + str(known.setdefault(m[2], smaller(int(m[2]), divisor, known))), line)
        lines.append(line)
    return "\n".join(lines) + "\n"


def smaller(value, divisor, known):
    out = value if value <= 8 else max(2, value // divisor)
    while value > 8 and out in known.values():
        out += 1
    return out


def small_program(path, folder):
    """Text and module of the program at the largest dims that are small; None where there are none."""
    for divisor in (1, 16, 64, 128, 256, 512, 1024):
        text = shrunk(path.read_text(), divisor)
        file = folder / "small.ucut"
        file.write_text(text)
        program = written(file)
        if program.get("error", {}).get("code") == "not_yet" and divisor < 1024:
            continue  # too large at once, perhaps
        if "error" not in program and program["elements"] <= SMALL:
            return text, program
    return None


def test_programs_of_this_repository(tmp_path):
    done, off = [], {}
    for path in files():
        small = small_program(path, tmp_path)
        if small is None:
            continue
        try:
            done += [path] if check(small[0], small[1]) else []
        except Exception as error:  # each is told with its file
            off[str(path.relative_to(ROOT))] = str(error)[:300]
    assert not off and len(done) >= 100, (off, len(done))
