"""The files of an outcome: mixed, changed or missing ones, and model_new.py in a process of its own."""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

import pytest
import torch
from host_dropin import SOURCE, refused

from solstice import dropin

PACKAGE = pathlib.Path(dropin.__file__).parent
RUN_IT = (
    "import importlib.util, torch; spec = importlib.util.spec_from_file_location('model_new', {path!r}); "
    "model_new = importlib.util.module_from_spec(spec); spec.loader.exec_module(model_new); "
    "x = torch.rand(2, 3); assert torch.equal(model_new.ModelNew(2.0)(x), model_new.Model(2.0)(x)); print('ran')"
)


def test_other_architecture(subject, tmp_path, record):
    plan = json.loads((tmp_path / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps({**plan, "target": "sm_100a"}))
    module = subject.module(record)
    refused(subject, "sm_100a", module=module)


def test_missing_library_falls_back(subject, tmp_path, record):
    module = subject.module({**record, "library": str(tmp_path / "absent.so")})
    refused(subject, "cannot load", module=module)


@pytest.mark.parametrize("change", ["other plan", "unreadable plan", "other cubin", "no cubin"])
def test_files_of_two_runs_fall_back(subject, tmp_path, record, change):
    """As a kill between two renames leaves them."""
    (tmp_path / "k.cubin").write_text("kernels")
    digest = lambda name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    record = {**record, "content": {name: digest(name) for name in ("k.cubin", "plan.json")}}
    make = lambda: subject.module(record)
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


def written_file(tmp_path, record):
    """model_new.py and what lies beside it, as the program writes them."""
    text = (PACKAGE.parent / "templates" / "model_new.py.in").read_text()
    values = {"@CLASS@": "Model", "@VERSION@": "0", "@FOLDER@": repr(str(tmp_path)), "@NOTE@": ""}
    for key, value in values.items():
        text = text.replace(key, value)
    (tmp_path / "model_new.py").write_text(text)
    (tmp_path / "dropin.json").write_text(json.dumps(record))
    shutil.copytree(PACKAGE, tmp_path / "solstice_dropin")
    return text


def clean_process(script, folder):
    command = [sys.executable, "-W", "always::UserWarning", "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_written_file_runs_without_the_package(tmp_path, record):
    written_file(tmp_path, record)
    script = (
        "import model_new, torch; m = model_new.ModelNew(*model_new.get_init_inputs()); "
        "x, = model_new.get_inputs(); assert torch.equal(m(x), model_new.Model(2.0)(x)); print(type(m).__mro__[1])"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Model" in done.stdout


def test_written_text_runs_without_a_file_name(tmp_path, record):
    scope = {"__name__": "harness"}
    exec(written_file(tmp_path, record), scope)
    assert scope["ModelNew"](2.0).inner.w.item() == 2.0


def source_with_modules(tag):
    """SOURCE with a forward that needs modules of the user's own."""
    imports = f"import torch\nfrom helpers_{tag} import factor\nimport parts_{tag}.inner as inner\n"
    forward = f"from late_{tag} import act\n        return act(x * self.inner.w) * factor() * inner.ONE"
    source = SOURCE.replace("import torch\n", imports)
    return source.replace("return torch.relu(x * self.inner.w)", forward)


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
    source = source_with_modules(tag)
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


MADE = {
    "function": ("def build(scale): return Model(scale)\n", "build", "(2.0)"),
    "instance": ("ready = Model(2.0).eval()\n", "ready", "()"),
}


@pytest.mark.parametrize("kind", MADE)
def test_a_file_with_a_function_or_an_instance(tmp_path, record, kind):
    more, name, arguments = MADE[kind]
    source = SOURCE + more
    (tmp_path / "model_original.py").write_text(source)
    digest = hashlib.sha256(source.encode()).hexdigest()
    entry = {**record["source"], "class": name, "kind": kind, "sha256": digest}
    written_file(tmp_path, {**record, "source": entry})
    script = (
        f"import model_new, torch; m, o = model_new.ModelNew{arguments}, model_new.Model{arguments}; "
        "assert type(m).__mro__[1] is type(o) and m.solstice_fallbacks() == [] and m.training == o.training; "
        f"n = model_new.ModelNew{arguments}; assert n.inner.w is not m.inner.w; n.load_state_dict(m.state_dict()); "
        "x = torch.rand(2, 3); assert torch.equal(m(x), o(x)); print('ran')"
    )
    done = clean_process(script, tmp_path)
    assert done.returncode == 0 and "ran" in done.stdout, done.stderr


def test_a_file_of_a_package_comes_with_it(tmp_path, record):
    source = "from .factors import FACTOR\n" + SOURCE.replace("self.inner.w)", "self.inner.w) * FACTOR")
    texts = {
        "kit/__init__.py": "from .net import Model\n",
        "kit/factors.py": "FACTOR = 1.0\n",
        "kit/net.py": source,
    }
    modules = []
    for name, text in texts.items():
        file = tmp_path / "original_modules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        digest = hashlib.sha256(text.encode()).hexdigest()
        modules.append({"module": module, "file": f"original_modules/{name}", "sha256": digest})
    (tmp_path / "model_original.py").write_text(source)
    entry = {**record["source"], "sha256": modules[2]["sha256"], "package": "kit", "module": "kit.net"}
    for listed in (modules, []):  # without a list it is an installed package
        entry["modules"] = listed
        written_file(tmp_path, {**record, "source": entry})
        before = "" if listed else f"import sys; sys.path.insert(0, {str(tmp_path / 'original_modules')!r}); "
        done = clean_process(before + RUN_IT.format(path=str(tmp_path / "model_new.py")), tmp_path)
        assert done.returncode == 0 and "ran" in done.stdout, done.stderr
        shutil.rmtree(tmp_path / "solstice_dropin")
