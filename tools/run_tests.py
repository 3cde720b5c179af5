#!/usr/bin/env python3
"""Runs every test this machine can run; `./x test` and CI call it. Usage: run_tests.py [--quick]

--quick is the inner loop: no second compiler, no sanitizer build, no slow Python tests (those marked `slow`), and
nothing whose inputs are the same as when it passed (tools/passed.py). A step that cannot run here is skipped aloud.
After the build two steps run side by side, since the longest of them keeps one core busy; on a machine with a GPU each
runs alone, for the times' sake. Ctrl-C stops the steps that run, and the exit status is 130. The last line is
`N passed, N failed, N skipped`: single GoogleTest, pytest and syntax cases are counted, and a step that fails without a
failed case counts as one.
"""

import argparse
import concurrent.futures
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from passed import BUILD, DATA, PACKAGE, ROOT, Passed, digest

SANITIZED = ("base", "record", "lang", "ir", "import")
UNCHANGED = "its inputs are the same as when it passed"
SKIPPED = 77  # exit code of a step that says itself why it does not run
INTERRUPTED = 130

COUNTS = {
    "passed": re.compile(r"(?:\[  PASSED  \] (\d+) test|\b(\d+) passed)"),
    "failed": re.compile(r"(?:\[  FAILED  \] (\d+) tests?, listed|\b(\d+) failed)"),
    "skipped": re.compile(r"(?:\[  SKIPPED \] (\d+) tests?, listed|\b(\d+) skipped)"),
}


def has_gpu():
    return Path("/dev/nvidia0").exists()


def first_steps():
    """(name, command), one after the other; without a build nothing else runs."""
    yield "build", ["ninja", "-C", str(BUILD), "--quiet"]
    yield "layers", [sys.executable, "tools/check_layers.py"]
    yield "docs", [sys.executable, "tools/check_docs.py"]
    yield "sizes", [sys.executable, "tools/check_sizes.py"]
    yield "format", ["tools/format.sh", "--check"]


def steps(quick):
    """(name, command or the reason to skip it): what keeps one core busy for long comes first, what uses all last.
    Behind them the digests that are remembered where the step passes."""
    python = sys.executable
    if any((ROOT / "tests/python").glob("test_*.py")):
        tests = [python, "-m", "pytest", "-q", "--durations=25", "-p", "no:cacheprovider", "tests/python"]
        yield "python tests", tests + (["--quick"] if quick else [])
    if not quick:
        yield "sanitizers", ["bash", "tools/sanitize.sh", str(BUILD / "sanitize"), *SANITIZED]
    yield "unit tests", *unit_tests(quick)
    checker = str(BUILD / "tests/import_check")
    inputs = digest(checker, *DATA, *PACKAGE)
    for name, arguments in against_pytorch():
        same = quick and Passed().has(name, inputs)
        yield name, UNCHANGED if same else [python, *arguments, "--binary", checker], {name: inputs}
    if any((ROOT / "tests/gpu").glob("*_test.py")):
        gpu = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/gpu"]
        yield "gpu tests", gpu if has_gpu() else "no GPU on this machine"
    if not quick:
        yield "clang syntax", [python, "tools/clang_pass.py", str(BUILD)]


def unit_tests(quick):
    """(command, or why there is none; digests): a test reads its program, those that it requires, and data."""
    command = ["ctest", "--test-dir", str(BUILD), "-j2", "--timeout", "1200", "--verbose"]
    listing = subprocess.run([*command[:3], "--show-only=json-v1"], capture_output=True, text=True)
    if listing.returncode:
        return command, {}  # it will say why
    data = digest(*DATA)
    tests = json.loads(listing.stdout)["tests"]
    inputs = {f"unit {test['name']}": data + digest(test["command"][0], *required(test)) for test in tests}
    if not quick:
        return command, inputs
    changed = {name: value for name, value in inputs.items() if not Passed().has(name, value)}
    if not changed:
        return UNCHANGED, {}
    return [
        *command,
        "--tests-regex",
        f"^({'|'.join(re.escape(name.removeprefix('unit ')) for name in changed)})$",
    ], changed


def failed_of(inputs, text):
    """Those of a failed step's tests that failed: all of them, unless ctest says which."""
    said = {f"unit {name}" for name in re.findall(r"Test +#\d+: (\S+) \.+\*\*\*(?!Skipped)", text)}
    return said & inputs.keys() or set(inputs)


def required(test):
    """The files that tests/CMakeLists.txt says a test of ctest needs."""
    return [file for p in test["properties"] if p["name"] == "REQUIRED_FILES" for file in p["value"]]


def against_pytorch():
    """Imported programs are compared with PyTorch: our cases by operator, PyTorch's own of its modules, and
    modules as people have them."""
    if importlib.util.find_spec("torch") is None:
        return
    yield "import", ["tools/check_import.py"]
    yield "torch modules", ["tools/check_modules.py", "--known", "tests/golden/import_modules.txt"]
    yield "modules of people", ["tools/check_field.py", "--quick"]


def count(text):
    """Sums of the closing lines of GoogleTest, pytest and our own tools."""
    found = {}
    for name, pattern in COUNTS.items():
        found[name] = sum(int(a or b) for a, b in pattern.findall(text))
    return found


def say(text):
    """Whole lines, also beside another step's."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def environment():
    env = dict(os.environ, PYTHONPATH=str(ROOT / "python"), PYTHONDONTWRITEBYTECODE="1")
    env.setdefault("SOLSTICE_PYTHON", sys.executable)
    return env


class Runner:
    """Runs steps, each in a process group of its own, so that all of them can be stopped at once."""

    GRACE = 5  # seconds that a step has to end by itself

    def __init__(self, logs=BUILD / "test-logs"):
        self.logs = logs
        self.running = set()
        self.stopped = False
        self.lock = threading.Lock()

    def stop(self):
        """Ends what runs, and lets no other begin."""
        with self.lock:
            self.stopped = True
            running = list(self.running)
        for process in running:
            send(process, signal.SIGTERM)
        end = time.monotonic() + self.GRACE
        while time.monotonic() < end and any(process.poll() is None for process in running):
            time.sleep(0.02)
        for process in running:
            send(process, signal.SIGKILL)

    def output_of(self, command):
        """(exit status, all that it said); a command that cannot be started is one that failed."""
        with self.lock:
            if self.stopped:
                return -signal.SIGTERM, ""
            try:
                process = subprocess.Popen(
                    command,
                    cwd=ROOT,
                    env=environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    start_new_session=True,
                )
            except OSError as error:
                return 127, f"cannot run {command[0]}: {error.strerror}"
            self.running.add(process)
        text, _ = process.communicate()  # where Ctrl-C ends that, stop() still has to find it
        with self.lock:
            self.running.discard(process)
        return process.returncode, text

    def run_step(self, name, command, inputs=None):
        """What it counts, after it has said how it ended. `inputs`: digests that are remembered where it passes."""
        if isinstance(command, str):
            say(f"[skipped] {name}: {command}")
            return {"skipped": 1}
        say(f"[run    ] {name}")
        start = time.monotonic()
        status, text = self.output_of(command)
        took = time.monotonic() - start
        if self.stopped:
            return {}  # it was ended, which says nothing of it
        log = self.logs / f"{name.replace(' ', '-')}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(text)
        if inputs:
            failed = failed_of(inputs, text) if status else set()
            Passed().forget(failed)
            Passed().add({name: value for name, value in inputs.items() if name not in failed})
        return verdict(name, status, text, f"{took:.1f} s (log: {os.path.relpath(log, ROOT)})")

    def run_together(self, chosen, side_by_side):
        """Yields what each step counts, as they end."""
        with concurrent.futures.ThreadPoolExecutor(side_by_side) as pool:
            try:
                running = [pool.submit(self.run_step, *step) for step in chosen]
                for step in concurrent.futures.as_completed(running):
                    yield step.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.stop()  # the pool waits for them
                raise


def send(process, number):
    """To all that is left of a step, also where its first process has ended."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass  # nothing is


def verdict(name, status, text, after):
    """What an ended step counts; says so."""
    if status == SKIPPED:
        say(f"[skipped] {name}: {text.strip()}")
        return {"skipped": 1}
    counts = count(text)
    if status and not counts["failed"]:
        counts["failed"] = 1
    if not status and not counts["passed"]:
        counts["passed"] = 1
    word = "FAILED" if status else "ok"
    said = (
        f"[{word:7}] {name}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped, {after}"
    )
    say(relevant(text) + "\n" + said if status else said)
    return counts


def cores():
    """That this process may use."""
    return len(os.sched_getaffinity(0))


def relevant(text):
    """The lines around failures, else the end."""
    lines = text.splitlines()
    marked = set()
    for i, line in enumerate(lines):
        if re.search(r"Failure|FAILED|error:|Error:|violations|runtime error|SEGV|Timeout", line):
            marked.update(range(max(0, i - 3), min(len(lines), i + 12)))
    chosen = sorted(marked)[:200] if marked else range(max(0, len(lines) - 60), len(lines))
    return "\n".join(lines[i] for i in chosen)


def run_all(runner, first, others, side_by_side):
    """The sums; without the first of the first steps nothing else runs."""
    total = Counter()
    for number, step in enumerate(first):
        total.update(runner.run_step(*step))
        if number == 0 and total["failed"]:
            return total
    for counts in runner.run_together(others, side_by_side):
        total.update(counts)
    return total


def report(runner, first, others, side_by_side):
    """The exit status, after the last line."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    try:
        total = run_all(runner, first, others, side_by_side)
    except KeyboardInterrupt:
        runner.stop()
        say("interrupted")
        return INTERRUPTED
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] else 0


def main():
    parser = argparse.ArgumentParser(prog="./x test", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="no second compiler, no sanitizers, no slow tests, nothing unchanged"
    )
    quick = parser.parse_args().quick
    return report(Runner(), first_steps(), steps(quick), 1 if has_gpu() else min(2, cores()))


if __name__ == "__main__":
    sys.exit(main())
