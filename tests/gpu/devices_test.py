"""`--devices`: the candidates of one search, or of a batch, on several GPUs of this host."""

import json
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from conftest import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "python"))

MODULE = ROOT / "examples" / "linear_gelu.py"


@pytest.fixture(scope="module")
def program():
    from solstice.errors import OracleError
    from solstice.launch import find_program

    try:
        return find_program()
    except OracleError as error:
        pytest.skip(f"{error.message}: its commands were not run")


@pytest.fixture
def two_gpus():
    count = torch.cuda.device_count()
    if count < 2 or torch.cuda.get_device_name(0) != torch.cuda.get_device_name(1):
        pytest.skip("no two GPUs of one model: searches on several were not run")


def run(program, *arguments, code=0):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def trials_of(program, store):
    shown = subprocess.run(
        [program, "show", "last", "--store", store, "--json"], capture_output=True, text=True, check=True
    )
    return json.loads(shown.stdout)["trials"]


def test_gpus_that_are_not_there_are_named(program, tmp_path):
    count = torch.cuda.device_count()
    text = run(
        program, "optimize", MODULE, "--devices", f"0,{count}", "--out", tmp_path / "out",
        "--store", tmp_path / "store", code=3,
    )  # fmt: skip
    assert f"--devices names GPU {count}, and" in text
    if count > 1:
        text = run(
            program, "optimize", MODULE, "--devices", "1", "--out", tmp_path / "out", "--store", tmp_path / "store",
            code=3,
        )  # fmt: skip
        assert "leaves out GPU 0" in text


def test_one_gpu_is_named_by_no_trial(program, tmp_path):
    options = ("--budget", "60s,4trials", "--no-baselines", "--out", tmp_path / "out", "--store", tmp_path / "store")
    run(program, "optimize", MODULE, "--devices", "0", *options)
    assert {trial["gpu"] for trial in trials_of(program, tmp_path / "store")} == {None}


def test_a_search_on_two_gpus(program, tmp_path, two_gpus):
    options = ("--budget", "120s,16trials", "--eps", "0", "--window", "0", "--no-baselines")
    places = ("--out", tmp_path / "out", "--store", tmp_path / "store")
    text = run(program, "optimize", MODULE, "--devices", "0,1", *options, *places)
    print(text)
    assert "2 GPUs measure candidates" in text and "takes no" not in text
    trials = trials_of(program, tmp_path / "store")
    measured = [trial for trial in trials if trial["measured"]]
    assert {trial["gpu"] for trial in measured} == {0, 1}
    assert all(trial["state"] == "verified" for trial in measured)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert not any("GPU 1" in warning for warning in report["warnings"])


def test_a_batch_on_two_gpus(program, tmp_path, two_gpus):
    batch = tmp_path / "batch"
    machine = "h100_sxm" if "H100" in torch.cuda.get_device_name(0) else "h200"
    run(program, "propose", MODULE, "--batch", "8", "--machine", machine, "--out", batch, "--store", tmp_path / "store")
    text = run(program, "evaluate", batch, "--devices", "all")
    assert ", 0 left" in text
    results = [json.loads(path.read_text()) for path in sorted((batch / "results").glob("[0-9]*.json"))]
    print(text, [result["measurement"]["record"].get("gpu") for result in results])
    assert results
    run(program, "absorb", batch, "--store", tmp_path / "store")
