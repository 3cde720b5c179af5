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
        if program.get("error", {}).get("code") == "program_invalid" and divisor == 1:
            return None
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


EDGES = {
    "a variance of some": "y[m] = var[n where x[m,n] > 0](x[m,n])",
    "a mean of some": "y[m] = mean[n where n != m](x[m,n])",
    "the place of the largest of some": "z[m] = argmax[n where n < m + 1](x[m,n])\ny[m] = z[m] + 1.5",
    "logsumexp of some": "y[m] = logsumexp[n where n <= m + 2](x[m,n])",
    "a prefix without its end": "y[m] = sum[n where n < m](x[m,n])",
    "a prefix from the end": "p[m] = max[k where k >= m](v[k]) for m < 9\ny[m] = p[m]",
    "a product of some": "y[m] = prod[n where n % 2 == 1](x[m,n])",
    "conditions": "a[m] = any[n](x[m,n] > 2)\nb[m] = all[n where n > 3](x[m,n] < 2)\n"
    "y[m] = select(a[m] and not b[m], 1, -1)",
    "division of integers": "y[m] = i[m] // 3 + i[m] % 3 + floor((i[m] - 4) / 2) + ceil(i[m] / 4) + trunc(i[m] / 3)",
    "a guarded division": "y[m] = select(i[m] - 2 != 0, 7 // (i[m] - 2), 0)",
    "a sum of indices": "y[m] = sum[n < 5](n * m)",
    "a sum of ones": "y[m] = sum[n < 9 where n <= m](1)",
    "what runs over other indices": "y[m] = sum[n,k](x[m,n] * v[k])",
    "extrema of two": "y[m] = min(max(v[m], 0.5), v[M-1-m]) + max(m, 3) + min(i[m], 2)",
    "powers": "y[m] = v[m]**2 + abs(v[m])**0.5 + 2**v[m] + v[m]**(-1)",
    "remainders": "y[m] = remainder(v[m], 0.3) + fmod(v[m], 0.3) + floor_divide(v[m], 0.3) + atan2(v[m], 2)\n"
    "    + bit_and(i[m], 6)",
    "casts": "y[m] = i64(v[m] * 7) + bf16(v[m]) + f16(v[m] * v[m])",
    "a shift with an end": "y[m] = v[m-1 else v[0]] + v[m+1 else 2] + v[m-2 else 0]",
    "a reversal and strides": "y[m] = v[M-1-m] + x[m,2*(m//2)] + x[m, 8-m]",
    "a diagonal": "y[m] = x[m,m] + sum[k < 9](x[m,k] * x[m,8-k])",
    "parts of a tensor": "tensor t : f32[18]\nt[2*m] = v[m] for m < 9\nt[2*m+1] = x[m,0] for m < 9\ny[m] = t[m+4]",
    "digits": "tensor t : f32[6, 9]\nt[3*a+b,n] = x[a,n] * v[b] for a < 2, b < 3\ny[m] = sum[n](t[m//2,n])",
    "a recurrence from behind": "h[m] = 0.5 * h[m+1 else 1] + v[m]\ny[m] = h[m]",
    "a scatter to nowhere": "y[m] = sum[n < 9 where i[n] == m](v[n])",
    "nan and infinities": "y[m] = select(isnan(v[m] / 0 - v[m] / 0), sign(v[m]), 1)\n"
    "    + select(isfinite(1 / (m - 2)), 1, 0)",
    "ranks": "y[m] = argtop[n; m](x[2,n]) + argbot[n; 1](x[m,n])",
}
HEAD = "program edge\ndim M = 9\ninput x : f32[M, M]\ninput v : f32[M]\ninput i : i64[M]\noutput y : f32[M]\n"


@pytest.mark.parametrize("name", EDGES)
def test_edges(name, tmp_path):
    file = tmp_path / "edge.ucut"
    file.write_text(HEAD + EDGES[name] + "\n")
    program = written(file)
    assert "error" not in program, program["error"]
    inputs = {"x": torch.randn(9, 9), "v": torch.randn(9), "i": torch.randint(0, 9, (9,))}
    assert check(HEAD + EDGES[name] + "\n", program, inputs)
