#!/usr/bin/env python3
"""Runs every test this machine can run; `./x test` and CI call it. Usage: run_tests.py [--quick]

--quick is the inner loop: no second compiler, no sanitizer build. A step that cannot run here is skipped aloud.
The last line is `N passed, N failed, N skipped`: single GoogleTest, pytest and syntax cases are counted, and a step
that fails without a failed case counts as one.
"""
import argparse
import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
SANITIZED = ("base", "record", "lang", "ir")
SKIPPED = 77  # exit code of a step that says itself why it does not run

COUNTS = {
    "passed": re.compile(r"(?:\[  PASSED  \] (\d+) test|\b(\d+) passed)"),
    "failed": re.compile(r"(?:\[  FAILED  \] (\d+) tests?, listed|\b(\d+) failed)"),
    "skipped": re.compile(r"(?:\[  SKIPPED \] (\d+) tests?, listed|\b(\d+) skipped)"),
}


def has_gpu():
    return Path("/dev/nvidia0").exists()


def steps(quick):
    """(name, command, or a string that says why it is skipped)"""
    python = sys.executable
    yield "build", ["ninja", "-C", str(BUILD), "--quiet"]
    yield "layers", [python, "tools/check_layers.py"]
    yield "format", ["tools/format.sh", "--check"]
    yield "unit tests", ["ctest", "--test-dir", str(BUILD), "-j2", "--timeout", "600", "--verbose"]
    if any((ROOT / "tests/python").glob("test_*.py")):
        yield "python tests", [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/python"]
    for name, arguments in against_pytorch():
        yield name, [python, *arguments, "--binary", str(BUILD / "tests/import_check")]
    if any((ROOT / "tests/gpu").glob("*_test.py")):
        gpu = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/gpu"]
        yield "gpu tests", gpu if has_gpu() else "no GPU on this machine"
    if quick:
        return
    yield "clang syntax", [python, "tools/clang_pass.py", str(BUILD)]
    yield "sanitizers", ["bash", "tools/sanitize.sh", str(BUILD / "sanitize"), *SANITIZED]


def against_pytorch():
    """Imported programs are compared with PyTorch: our cases by operator, and PyTorch's own of its modules."""
    if importlib.util.find_spec("torch") is None:
        return
    yield "import", ["tools/check_import.py"]
    yield "torch modules", ["tools/check_modules.py", "--known", "tests/golden/import_modules.txt"]


def count(text):
    """Sums of the closing lines of GoogleTest, pytest and our own tools."""
    found = {}
    for name, pattern in COUNTS.items():
        found[name] = sum(int(a or b) for a, b in pattern.findall(text))
    return found


def environment():
    env = dict(os.environ, PYTHONPATH=str(ROOT / "python"), PYTHONDONTWRITEBYTECODE="1")
    env.setdefault("SOLSTICE_PYTHON", sys.executable)
    return env


def run_step(name, command, total):
    if isinstance(command, str):
        print(f"[skipped] {name}: {command}", flush=True)
        total["skipped"] += 1
        return
    print(f"[run    ] {name}", flush=True)
    start = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    took = time.monotonic() - start
    log = BUILD / "test-logs" / f"{name.replace(' ', '-')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(done.stdout)
    if done.returncode == SKIPPED:
        print(f"[skipped] {name}: {done.stdout.strip()}", flush=True)
        total["skipped"] += 1
        return
    counts = count(done.stdout)
    if done.returncode and not counts["failed"]:
        counts["failed"] = 1
    if not done.returncode and not counts["passed"]:
        counts["passed"] = 1
    for key in total:
        total[key] += counts[key]
    if done.returncode:
        print(relevant(done.stdout), flush=True)
    verdict = "FAILED" if done.returncode else "ok"
    print(f"[{verdict:7}] {name}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped, "
          f"{took:.1f} s (log: {log.relative_to(ROOT)})", flush=True)


def relevant(text):
    """The lines around failures, else the end."""
    lines = text.splitlines()
    marked = set()
    for i, line in enumerate(lines):
        if re.search(r"Failure|FAILED|error:|Error:|violations|runtime error|SEGV|Timeout", line):
            marked.update(range(max(0, i - 3), min(len(lines), i + 12)))
    chosen = sorted(marked)[:200] if marked else range(max(0, len(lines) - 60), len(lines))
    return "\n".join(lines[i] for i in chosen)


def main():
    parser = argparse.ArgumentParser(prog="./x test", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="no second compiler, no sanitizer build")
    quick = parser.parse_args().quick
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for name, command in steps(quick):
        run_step(name, command, total)
        if name == "build" and total["failed"]:
            break
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
