"""Programs of equations, interpreted in float64, against the PyTorch code beside them (language/)."""

import json
import pathlib
import subprocess

import pytest

torch = pytest.importorskip("torch")

from language import CASES  # noqa: E402

BINARY = pathlib.Path(__file__).parents[2] / "build" / "tests" / "interpret_check"


@pytest.fixture(scope="module")
def interpret():
    if not BINARY.exists():
        pytest.skip(f"{BINARY} is not built: `./x build`")
    process = subprocess.Popen([BINARY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(text, inputs):
        tensors = {
            name.replace("__", "."): {"shape": list(t.shape), "values": t.double().flatten().tolist()}
            for name, t in inputs.items()
        }
        process.stdin.write(json.dumps({"text": text, "inputs": tensors}) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return {
            name: torch.tensor([float(x) for x in t["values"]], dtype=torch.float64).reshape(t["shape"])
            for name, t in answer["results"].items()
        }

    yield run
    process.stdin.close()
    assert process.wait(10) == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_pytorch(case, interpret):
    results = interpret(case.text, case.inputs)
    expected = case.expected()
    if isinstance(expected, torch.Tensor):
        expected = {next(iter(results)): expected}
    assert results.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(results[name], value.detach().double(), rtol=1e-12, atol=1e-12)
