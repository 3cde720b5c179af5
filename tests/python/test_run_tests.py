"""tools/run_tests.py on steps that are made up: it stops at once, and a step that cannot be started has failed."""

import os
import pathlib
import signal
import subprocess
import sys
import time

TOOLS = pathlib.Path(__file__).parents[2] / "tools"

# Runs `steps` as the script runs its own. A job that a shell starts in the background ignores SIGINT, and so would its
# children: these tests.
SCRIPT = """
import pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {tools!r})
import run_tests
python = sys.executable
sys.exit(run_tests.report(run_tests.Runner(pathlib.Path({logs!r})), {first!r}, {others!r}, 2))
"""


def begin(folder, first, others):
    script = SCRIPT.format(tools=str(TOOLS), logs=str(folder / "logs"), first=first, others=others)
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def python(text):
    return [sys.executable, "-c", text]


FIRST = [("build", python("pass"))]


def test_steps_are_counted(tmp_path):
    steps = [
        ("three", python("print('3 passed, 1 skipped')")),
        ("none", "not here"),
        ("bad", python("raise SystemExit(3)")),
    ]
    process = begin(tmp_path, FIRST, steps)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1 and err == "", err
    assert out.splitlines()[-1] == "4 passed, 1 failed, 2 skipped"
    assert (tmp_path / "logs" / "three.log").read_text() == "3 passed, 1 skipped\n"


def test_a_missing_program_is_a_failed_step(tmp_path):
    process = begin(tmp_path, FIRST, [("gone", ["no-such-program"]), ("other", python("pass"))])
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1 and err == "", err
    assert "cannot run no-such-program: No such file or directory" in out
    assert out.splitlines()[-1] == "2 passed, 1 failed, 0 skipped"


def test_without_a_build_nothing_else_runs(tmp_path):
    process = begin(tmp_path, [("build", ["no-such-program"]), ("more", python("pass"))], [("other", python("pass"))])
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and out.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


# Says which processes it consists of, and stays.
SLEEPS = """
import os, pathlib, subprocess, time
child = subprocess.Popen(["sleep", "300"])
part = pathlib.Path({file!r} + ".part")
part.write_text(f"{{os.getpid()}} {{child.pid}}")
part.rename({file!r})
time.sleep(300)
"""


def is_alive(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # ended, and nobody has asked


def stopped(tmp_path, first, others, files, number):
    """The exit status, after a signal to the script alone once all of `files` are there."""
    process = begin(tmp_path, first, others)
    end = time.monotonic() + 30
    while not all(file.exists() for file in files):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, number)
    began = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - began < 4, "it did not stop at once"
    assert err == "" and "FAILED" not in out and out.endswith("interrupted\n"), out + err
    left = [pid for file in files for pid in file.read_text().split() if is_alive(pid)]
    assert left == []
    return process.returncode


def test_an_interrupt_ends_all_that_runs(tmp_path):
    files = [tmp_path / "one", tmp_path / "two"]
    steps = [(file.name, python(SLEEPS.format(file=str(file)))) for file in files]
    later = tmp_path / "later"
    steps.append(("later", python(f"open({str(later)!r}, 'w')")))
    assert stopped(tmp_path, FIRST, steps, files, signal.SIGINT) == 130
    assert not later.exists()


def test_an_interrupt_ends_the_build(tmp_path):
    for number in (signal.SIGINT, signal.SIGTERM):
        file = tmp_path / f"build-{int(number)}"
        build = [("build", python(SLEEPS.format(file=str(file))))]
        assert stopped(tmp_path, build, [("other", python("pass"))], [file], number) == 130


def test_ctest_says_which_tests_failed():
    run_tests = __import__("run_tests")
    inputs = dict.fromkeys(("unit sol", "unit ir", "unit random_kernels"), "")
    lines = (
        "1/3 Test #2: ir .....   Passed",
        "2/3 Test #3: random_kernels ...***Skipped",
        "3/3 Test #1: sol ....***Failed",
    )
    text = "\n".join(lines)
    assert run_tests.failed_of(inputs, text) == {"unit sol"}
    assert run_tests.failed_of(inputs, "no such program") == set(inputs)
