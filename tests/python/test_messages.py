"""What the program says in bad situations: what, where, why and the way out, and nothing of its inside.

The situations are data (situations/); here is what holds for all of them.
"""

import os
import pathlib
import re
import shlex
import subprocess

import pytest
from pages import PROGRAM, needs_program
from situations import GOOD, of_commands, of_modules, of_programs

ALL = [*of_modules.SITUATIONS, *of_commands.SITUATIONS, *of_programs.SITUATIONS]
INSIDE = re.compile(
    r"Traceback|\b(?:std|solstice|nlohmann|CLI|toml)::|json\.exception|TEXT missing|while asking|_dispatch_cache"
    r"|frozen runpy|worker\.py|\b(?:UnicodeDecode|ModuleNotFound|NotImplemented|UncapturedHigherOrderOp|Runtime)Error\b"
    r"|\bOracle\w*|<class |\boracle broke"
)
WAY_IN_MESSAGE = re.compile(
    r"error\[\w+\]: .*[;:] (?:call|choose|convert|drop|export|free|give|install|leave|make it|move it|name|prepare"
    r"|put|run|set|use|wait|write) "
)
WAYS = re.compile(r"  hint: \S|; \S|legal are|did you mean|expected |--why|give |needs ")


def write(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def say(tmp_path, warm_python):
    """Runs a situation; its exit code and all that it printed, without progress."""

    def run(situation):
        write(tmp_path, situation.files)
        (tmp_path / "home").mkdir()
        places = {
            name: str(tmp_path / "home" / name) for name in ("SOLSTICE_HOME", "SOLSTICE_CACHE", "XDG_CONFIG_HOME")
        }
        command = [str(PROGRAM), *shlex.split(situation.command)]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, **places, **situation.environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        lines = [line for line in done.stderr.splitlines() if not line.startswith("[")]
        return done.returncode, "\n".join([*lines, done.stdout])

    return run


@needs_program
@pytest.mark.parametrize("situation", ALL, ids=lambda s: s.name.replace(" ", "-"))
def test_what_is_said(say, situation):
    code, text = say(situation)
    assert code == situation.code, text
    assert not [part for part in situation.says if part not in text], text
    assert not INSIDE.search(text), text
    assert "error[" not in text or WAYS.search(text), text
    assert not WAY_IN_MESSAGE.search(text), text


def test_there_are_enough_situations_each_with_its_own_name():
    assert len(ALL) >= 100 and len({s.name for s in ALL}) == len(ALL)


@needs_program
@pytest.mark.slow
def test_what_is_said_about_a_run(tmp_path, warm_python):
    """Of one that ended, and whose module is gone."""
    write(tmp_path, {"m.py": GOOD, "other.py": GOOD})
    environment = {**os.environ, "SOLSTICE_HOME": str(tmp_path / "home"), "SOLSTICE_CACHE": str(tmp_path / "cache")}

    def run(command):
        done = subprocess.run(
            [str(PROGRAM), *shlex.split(command)], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        return done.returncode, done.stderr + done.stdout

    code, text = run("optimize m.py --device model --budget 60s,2trials")
    assert code == 0, text
    for command, says in (
        ("show last --trial 99", "hint: it has 2: `solstice show"),
        ("show last --failed", "no trial of run"),
        ("export last m.py --format csv", "hint: name another file, or replace it with --force"),
        ("optimize other.py --resume last", "other.py"),
        ("optimize --resume last --budget 1trials", "trial"),
        ("export last runs", "hint: name another folder, or replace an export with --force"),
        ("compare last", ""),
    ):
        code, text = run(command)
        assert says in text and not INSIDE.search(text), (command, code, text)
    (tmp_path / "m.py").unlink()
    code, text = run("optimize --resume last --budget 60s,9trials")
    assert code == 2 and "m.py" in text and WAYS.search(text), text
