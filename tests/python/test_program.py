"""The built program on real modules, without a GPU: `solstice.optimize()`, and what bad input comes to.

Every failure names its cause and the way out, has an exit code of its class, and leaves an earlier outcome as it was.
"""

import contextlib
import json
import pathlib
import re
import sqlite3

import pytest
import torch
from real_program import MODEL, PROGRAM, earlier, needs_program, optimize, store_of, whole

import solstice

pytestmark = needs_program


def test_optimize_from_python_with_the_real_program(homes, monkeypatch, tmp_path):
    for name, value in homes.items():
        monkeypatch.setenv(name, value)
    module = torch.nn.Sequential(torch.nn.Linear(128, 64), torch.nn.ReLU())
    state = {name: value.clone() for name, value in module.state_dict().items()}
    lines = []
    given = {"program": PROGRAM, "device": "model", "budget": "20s,2trials", "progress": lines.append}
    result = solstice.optimize(module, (torch.rand(32, 128),), out=tmp_path / "out", **given)
    found = result.solstice
    assert found.outcome == "predicted" and "nothing was measured" in found.reason and found.speedup is None
    assert found.kernels and found.folder == tmp_path / "out" and any("search done" in line for line in lines)
    assert all(torch.equal(module.state_dict()[name], value) for name, value in state.items())
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["predicted"] and report["outcome"] == "predicted" and report["file"] == ""
    assert report["problem"] == "Sequential" and report["headline"]["speedup"] is None
    assert report["candidates"][0]["meaning"] == "proved"
    assert not (tmp_path / "out" / "model_new.py").exists()


@pytest.mark.slow
def test_a_report_says_where_the_time_went(run, write_model, tmp_path):
    path = write_model(MODEL)
    for cached in (False, True):
        code, out, err = optimize(run, path, tmp_path / "out")
        assert code == 0, err
        assert ("graph from the cache" in err) == cached and len(out.splitlines()) == 2
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert {"oracle", "import", "search", "total", "oracle: trace"} <= report["timings"].keys()
    assert report["command"][1] == "optimize" and report["versions"]["torch"] == torch.__version__


BAD = {
    "no_inputs": ("import torch\nclass Model(torch.nn.Module):\n    def forward(self, x): return x\n", "get_inputs"),
    "no_model": ("def get_inputs(): return []\n", "defines no module"),
    "syntax": ("def get_inputs(:\n", "bad.py:1"),
    "package": ("import no_such_package_anywhere\n", "no_such_package_anywhere"),
    "raises": ("raise ValueError('not today')\n", "not today"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_names_the_cause(run, write_model, tmp_path, name):
    text, wanted = BAD[name]
    code, out, err = optimize(run, write_model(text, name="bad.py"), tmp_path / "out")
    assert code == 2 and "error[module_import]" in err and wanted in err, err


def test_a_missing_file(run, tmp_path):
    code, out, err = optimize(run, tmp_path / "none.py", tmp_path / "out")
    assert code == 2 and "error[not_found]" in err and "none.py" in err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.slow
def test_no_gpu(run, write_model, tmp_path):
    code, out, err = run("optimize", write_model(MODEL), "--device", "gpu", "--out", tmp_path / "out")
    assert code == 3 and ("error[no_gpu]" in err or "error[no_driver]" in err), err
    assert "solstice doctor" in err and "--device model" in err
    for given, way in (
        ([], "or leave --devices out, which"),
        (["--device", "gpu"], "out, which chooses GPUs, and use --device model"),
    ):
        code, out, err = run("optimize", write_model(MODEL), "--devices", "0", *given, "--out", tmp_path / "out")
        assert code == 3 and way in err, err
    code, out, err = run("optimize", write_model(MODEL), "--devices", "", "--out", tmp_path / "out")
    assert code == 2 and "it is empty" in err, err


RAISES = MODEL.replace("torch.relu(x) * 2", "x @ torch.rand(3, 3)")


@pytest.mark.slow
def test_a_forward_that_raises_is_an_input_error_and_leaves_the_earlier_outcome(run, write_model, tmp_path):
    out, store = tmp_path / "out", tmp_path / "store"
    before = earlier(run, write_model(MODEL), out)
    code, _, err = optimize(run, write_model(RAISES, name="raises.py"), out, "--store", store)
    assert code == 2 and "error[module_forward]" in err and "raises.py:6" in err, err
    assert "`forward` fails on the example inputs" in err and f"the earlier outcome in {out} is unchanged" in err
    assert whole(before, out)
    kept = store_of(run, store)
    assert kept["state"] == "failed" and "`forward` fails" in kept["reason"], kept


SUM_OF_PRODUCT = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2048, 8192)

        def forward(self, x):
            return self.linear(x).sum(dim=1, keepdim=True)

    def get_inputs():
        return [torch.rand(512, 2048)]

    def get_init_inputs():
        return []
"""


@pytest.mark.slow
def test_rewritten_equations_are_searched_beside_the_problems_own(run, write_model, tmp_path):
    path = write_model(SUM_OF_PRODUCT)
    reports = {}
    for rewrites in ("on", "off"):
        code, _, err = run(
            "optimize", path, "--device", "model", "--rewrites", rewrites, "--budget", "60s,3trials",
            "--out", tmp_path / rewrites,
        )  # fmt: skip
        assert code == 0, err
        reports[rewrites] = json.loads((tmp_path / rewrites / "report.json").read_text())
    first, second = reports["on"]["candidates"][:2]
    assert first["what"].startswith("rewritten by factor_sums: ") and not second["what"].startswith("rewritten")
    assert first["predicted"] < second["predicted"] and first["meaning"] == second["meaning"] == "proved"
    assert "gemm" in [k["family"] for k in reports["off"]["kernels"]] and "gemm" not in [
        k["family"] for k in reports["on"]["kernels"]
    ]
    practical = {of: next(b for b in report["bounds"] if b["name"] == "practical") for of, report in reports.items()}
    assert practical["on"]["time"] < practical["off"]["time"] and "rewritten" in practical["on"]["meaning"]
    assert not any("rewritten" in c["what"] for c in reports["off"]["candidates"])


@pytest.mark.slow
def test_a_bench_of_several_policies_is_merged_and_rendered_again(run, write_model, tmp_path):
    for number in (1, 2):
        folder = tmp_path / f"kb{number}" / "level1"
        folder.mkdir(parents=True)
        pathlib.Path(write_model(SUM_OF_PRODUCT)).rename(folder / f"{number}_Sum.py")
        options = ("--device", "model", "--numerics", "reference,high", "--rewrites", "both", "--budget", "60s,2trials")
        code, out, err = run(
            "bench", "kernelbench", "--path", tmp_path / f"kb{number}", *options, "--out", tmp_path / f"out{number}"
        )
        assert code == 0, out + err
    code, out, err = run("bench", "merge", tmp_path / "out1", tmp_path / "out2", "--out", tmp_path / "both")
    assert code == 0 and "2 problems" in out, out + err
    merged = json.loads((tmp_path / "both" / "bench.json").read_text())
    columns = [(v["numerics"], v["rewrites"]) for v in merged["rows"][1]["variants"]]
    assert columns == [("reference", "on"), ("reference", "off"), ("high", "on"), ("high", "off")]
    assert all(v["predicted"] and v["practical"] > 0 and v["kernels"] for v in merged["rows"][1]["variants"])
    text = (tmp_path / "both" / "bench.md").read_text()
    (tmp_path / "both" / "bench.md").write_text("")
    code, out, err = run("bench", "kernelbench", "--render", tmp_path / "both")
    assert code == 0 and (tmp_path / "both" / "bench.md").read_text() == text and "high, rewrites off" in text
    code, _, err = run("bench", "merge", tmp_path / "out1", tmp_path / "out2", "--out", tmp_path / "both")
    assert code == 2 and "holds a bench already" in err, err


@pytest.mark.slow
def test_searches_of_several_policies_stand_beside_each_other(run, write_model, tmp_path):
    folder = tmp_path / "kb" / "level1"
    folder.mkdir(parents=True)
    pathlib.Path(write_model(SUM_OF_PRODUCT)).rename(folder / "1_Sum.py")
    policies = ("--policy", "greedy", "--policy", "mcts(children=2)")
    options = ("--path", tmp_path / "kb", "--device", "model", "--budget", "60s,3trials", "--out", tmp_path / "out")
    code, out, err = run("bench", "search", *options, *policies[:2])
    assert code == 0 and "best predicted" in out and "p no better" in out, out + err
    assert out.endswith("times are predicted by cost models, not measured\n"), out
    code, _, err = run("bench", "search", *options, *policies)
    assert code == 2 and "--resume" in err, err
    code, out, err = run("bench", "search", *options, *policies, "--resume", "--json")
    assert code == 0, out + err
    rows = json.loads(out)["rows"]
    assert [row["policy"] for row in rows] == ["greedy", "mcts(children=2)"]
    assert all(len(row["best"]) == 3 and row["stop"] == "trials" for row in rows), rows
    code, out, err = run("replay", "--store", tmp_path / "out" / "store", "--json")
    assert code == 0 and {looked["id"] for looked in json.loads(out)["runs"]} == {row["run"] for row in rows}, out + err
    assert sorted(p.name for p in (tmp_path / "out").iterdir() if not p.name.startswith(".")) == [
        "search.json",
        "store",
    ]
    code, _, err = run("bench", "search", *options, "--policy", "mcts(depth=2)", "--resume")
    assert code == 2 and "depth" in err, err
    file = tmp_path / "out" / "search.json"
    with (
        contextlib.closing(sqlite3.connect(tmp_path / "out" / "store" / "runs.db")) as store,
        store,
    ):  # killed before it was taken over
        for table, column in (("events", "run"), ("trials", "run"), ("facts", "run"), ("runs", "id")):
            store.execute(f"DELETE FROM {table} WHERE {column} = ?", (rows[1]["run"],))
    code, out, err = run("bench", "search", *options, *policies, "--resume", "--json")
    again = json.loads(out)["rows"]
    assert (
        code == 0 and again[0] == rows[0] and again[1]["run"] != rows[1]["run"] and again[1]["best"] == rows[1]["best"]
    ), out + err
    bench = json.loads(file.read_text())
    bench["rows"] = [bench["rows"][0] | {"device": "NVIDIA H100"}]
    file.write_text(json.dumps(bench))
    code, _, err = run("bench", "search", *options, *policies, "--resume")
    assert (
        code == 2 and "1/1 was searched on NVIDIA H100, this is model: continue on the machine of the bench" in err
    ), err


@pytest.mark.slow
def test_a_bench_counts_a_forward_that_raises_as_failed(run, write_model, tmp_path):
    folder = tmp_path / "problems" / "level1"
    folder.mkdir(parents=True)
    pathlib.Path(write_model(RAISES)).rename(folder / "1_Raises.py")
    more = ("--device", "model", "--out", tmp_path / "bench")
    code, out, err = run("bench", "kernelbench", "--path", tmp_path / "problems", *more)
    assert code == 0 and "failed" in out and "unsupported" not in out, out + err
    assert "geometric mean" not in out and "0.00x" not in out, out
    (tmp_path / "bench" / "bench.json").write_text("{")
    code, _, err = run("bench", "kernelbench", "--path", tmp_path / "problems", "--resume", *more)
    assert code == 2 and "bench.json" in err and "move it away, or use another --out" in err, err
    code, _, err = run("bench", "kernelbench", "--path", tmp_path / "problems", *more)
    assert code == 2 and "continue with --resume, or use another --out" in err, err


@pytest.mark.slow
def test_a_shape_that_the_machine_cannot_hold(run, write_model, tmp_path):
    huge = MODEL.replace("torch.rand(64, 128)", "torch.empty(1 << 20, 1 << 20)")
    code, _, err = optimize(run, write_model(huge), tmp_path / "out")
    assert code == 2 and "error[too_large]" in err, err
    assert "h200 has" in err and "--machine" in err and "use smaller sizes" in err


@pytest.mark.slow
def test_unsupported_is_said_once(run, write_model, tmp_path):
    text = MODEL.replace("torch.relu(x) * 2", "torch.linalg.inv(x)").replace("rand(64, 128)", "rand(8, 8)")
    code, out, err = optimize(run, write_model(text), tmp_path / "out")
    assert code == 0, err
    last = out.splitlines()[-2]
    assert "unsupported: no equations for `aten.linalg_inv.default`" in last and last.count("unsupported") == 1, last


def test_a_file_that_ends_python(run, write_model, tmp_path):
    code, _, err = optimize(run, write_model("import os\nos._exit(7)\n", name="ends.py"), tmp_path / "out")
    assert code == 2 and "error[module_import]" in err, err
    assert "ends.py" in err and "status 7" in err


@pytest.mark.slow
def test_times_have_fitting_units(run, write_model, tmp_path):
    code, out, err = optimize(run, write_model(MODEL), tmp_path / "out")
    assert code == 0, err
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    for text in (report["reason"], report["bound_by"], out):
        assert " us" in text and not re.search(r"\b0\.0\d* ms", text), text


def runs_of(run, store):
    code, out, err = run("show", "--store", store, "--json")
    assert code == 0, out + err
    return json.loads(out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--policy", "greddy"), "no policy `greddy`"),
        (("--agent", "flat", "--provider", "mailbox"), "give `--option folder=DIR`"),
        (("--agent", "flat", "--provider", "mailbox", "--option", "floder=box"), "did you mean `folder`?"),
        (("--agent", "flat", "--provider", "openai", "--model", "gpt-55"), "no model is called `gpt-55`"),
        (
            ("--agent", "flat", "--provider", "openai", "--model", "gpt-5-mini", "--option", "key_env=NO_SUCH_KEY"),
            "NO_SUCH_KEY",
        ),
    ],
)
def test_a_mistake_in_the_options_leaves_no_run_behind(run, write_model, tmp_path, options, said):
    for command in (("optimize", "--device", "model"), ("propose",)):
        code, _, err = run(
            command[0], write_model(MODEL), *command[1:], *options, "--store", tmp_path / "store",
            "--out", tmp_path / "out",
        )  # fmt: skip
        assert code in (2, 3) and said in err, err
        assert runs_of(run, tmp_path / "store") == [] and not (tmp_path / "out").exists()


@pytest.mark.slow
def test_last_is_no_run_that_failed_before_its_search(run, write_model, tmp_path):
    here = (
        "--device", "model", "--budget", "60s,1trials", "--no-baselines", "--store", tmp_path / "store",
        "--out", tmp_path / "out",
    )  # fmt: skip
    model = write_model(MODEL)
    assert run("optimize", model, *here)[0] == 0
    assert run("optimize", f"{model}:Modle", *here)[0] == 2
    assert run("optimize", write_model(RAISES, name="raises.py"), *here)[0] == 2
    newest, searched = runs_of(run, tmp_path / "store")  # of the misspelt class nothing is kept
    assert newest["state"] == "failed"
    assert json.loads(run("show", "last", "--store", tmp_path / "store", "--json")[1])["run"]["id"] == searched["id"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.slow
def test_a_run_goes_on_without_its_options_being_said_again(run, write_model, tmp_path):
    store, out = ("--store", tmp_path / "store"), ("--out", tmp_path / "out")
    code, _, err = run(
        "optimize", write_model(MODEL), *store, *out, "--numerics", "high", "--budget", "60s,1trials", "--seed", 3
    )
    assert code == 0, err
    (first,) = runs_of(run, tmp_path / "store")
    for more in ((), ("--device", "model")):  # `auto` found no GPU
        code, _, err = run("optimize", "--resume", "last", *store, *out, *more)
        assert code == 0 and "nothing is left to do" in err, err
        (again,) = runs_of(run, tmp_path / "store")
        assert (again["id"], again["state"], again["options"]["numerics"]) == (first["id"], "finished", "high")
    code, _, err = run("optimize", "--resume", "last", *store, *out, "--numerics", "reference")
    assert code == 2 and "--numerics (the run has high, given is reference)" in err, err
    (command,) = re.findall(r"`solstice (optimize --resume [^`]*)`", err)
    code, _, err = run(*command.split(), *out)
    assert code == 0, err
    code, _, err = run("optimize", *store, *out)
    assert code == 2 and "no FILE was given" in err, err


NORMS = """
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(128)

        def forward(self, x, *, scale):
            return self.norm(x) * scale

    model = Net()

    def build():
        return Net()

    def get_inputs():
        return (torch.rand(64, 128),), {"scale": torch.rand(128)}
"""


@pytest.mark.parametrize("name", ["", ":Net", ":model", ":build"])
def test_commands_take_what_makes_a_module(run, write_model, name):
    path = write_model(NORMS) + name
    code, plain, err = run("import", path)
    assert code == 0 and "traced in training mode: batch statistics" in err and "running_mean" in plain, err
    code, out, err = run("import", path, "--eval")
    assert code == 0 and "traced in evaluation mode: running statistics" in err and out != plain, err


@pytest.mark.slow
def test_the_mode_is_said_in_plan_and_report(run, write_model, tmp_path):
    path = write_model(NORMS)
    code, _, err = run("plan", path, "--train")
    assert code == 0 and "note: traced in training mode: batch statistics" in err, err
    code, _, err = run("plan", path, "--train", "--eval")
    assert code == 2 and "give --eval or --train, not both" in err, err
    code, out, err = optimize(run, path, tmp_path / "out", "--eval", "--store", tmp_path / "store")
    assert code == 0 and "traced in evaluation mode: running statistics" in err, err
    assert "\ntraced in evaluation mode: running statistics\n" in out, out
    _, trained, err = optimize(run, path, tmp_path / "trained", "--store", tmp_path / "other")
    assert "\ntraced in training mode: batch statistics; for inference give --eval\n" in trained, trained + err
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert "traced in evaluation mode: running statistics" in report["warnings"] and report["options"]["mode"] == "eval"
    (run_id,) = (record["id"] for record in runs_of(run, tmp_path / "store"))
    code, _, err = run("optimize", "--resume", run_id, "--store", tmp_path / "store", "--train")
    assert code == 2 and "the mode (the run has `eval`, given is `train`)" in err, err
    code, _, err = run("optimize", "--resume", run_id, "--store", tmp_path / "store")
    assert code == 0 and "traced in evaluation mode" in err, err


def test_modules_are_found_by_their_python_names(run, tmp_path):
    package = tmp_path / "kit"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "sizes.py").write_text("WIDTH = 32\n")
    text = (
        "from .sizes import WIDTH\nimport torch\nclass Net(torch.nn.Module):\n    def forward(self, x): return x * 2\n"
    )
    (package / "net.py").write_text(text + "def get_inputs(): return [torch.rand(4, WIDTH)]\n")
    for name in ("kit.net:Net", "kit.net", "kit/net.py:Net", "kit/net.py"):
        code, out, err = run("import", name)
        assert code == 0 and "f32[" in out and "32" in out, err
    for name, said in (
        ("kit.nut:Net", "Python finds no module of this name: `kit.nut`, though `kit` is there"),
        ("torch.nnn:Linear", "correct `nnn`"),
        ("torch.nn.Linear", "a name in a module stands behind a colon: torch.nn:Linear"),
        ("kit/net:Net", "did you mean kit/net.py?"),
        ("kit.net:Nte", "did you mean"),
        ("kit", "kit is a folder, not a file"),
    ):
        code, _, err = run("import", name)
        assert code == 2 and said in err, err


@pytest.mark.slow
def test_a_failed_load_leaves_neither_run_nor_folder(run, write_model, tmp_path):
    store = ("--store", tmp_path / "store", "--device", "model")
    path = write_model(MODEL)
    for subject in (f"{path}:Modle", write_model("import no_such_package_anywhere\n", "bad.py")):
        for out in (("--out", tmp_path / "deep" / "out"), ()):
            code, _, err = run("optimize", subject, *store, *out)
            assert code == 2, err
            assert runs_of(run, tmp_path / "store") == []
            assert not (tmp_path / "deep").exists() and not (tmp_path / "runs").exists()
    code, _, err = run("optimize", path, *store, "--machine", "h2000", "--out", tmp_path / "deep" / "out")
    assert code == 2 and not (tmp_path / "deep").exists() and runs_of(run, tmp_path / "store") == [], err
    (tmp_path / "mine").mkdir()
    assert run("optimize", f"{path}:Modle", *store, "--out", tmp_path / "mine")[0] == 2 and (tmp_path / "mine").is_dir()


@pytest.mark.slow
def test_exit_codes_for_a_build(run, write_model, tmp_path):
    path = write_model(MODEL)
    code, out, err = optimize(run, path, tmp_path / "out", "--require-faster", "--quiet")
    assert code == 1 and "predicted: " in out and err == "", err
    assert "exit code 1: --require-faster asks for `faster`, and the outcome is `predicted`" in out, out
    assert optimize(run, path, tmp_path / "out", "--quiet", "--json")[0] == 0


STATES = """
    import torch
    class Model(torch.nn.Module):
        def forward(self, x, a):
            h, out = torch.zeros_like(x[:, 0]), []
            for t in range(160):
                h = a * h + x[:, t]
                out.append(h)
            return torch.stack(out, 1)
    def get_inputs(): return [torch.rand(8, 160, 64), torch.rand(64)]
    def get_init_inputs(): return []
"""


@pytest.mark.slow
def test_a_recurrence_in_a_loop_is_planned_as_one(run, write_model):
    code, out, err = run("plan", write_model(STATES))
    assert code == 0, err
    assert "by scan(" in out and "[t-1," in out and "else 0]" in out and out.count("\n") < 20, out
