"""Whole networks print short and check fast: graphs that `tools/check_import.py --lengths --store` traced from the
modules of tools/import_repeats.py are imported, folded, and given to `solstice check`."""

import json
import lzma
import resource
import subprocess

import pytest
from conftest import ROOT

pytestmark = pytest.mark.slow

CHECKER = ROOT / "build" / "tests" / "import_check"
SOLSTICE = ROOT / "build" / "bin" / "solstice"
MOST_LINES = 150
MOST_SECONDS = 0.05  # of CPU time, the start of the process included
RUNS = 7  # the fastest counts: other work on the machine only adds time

NETWORKS = sorted((ROOT / "tests/golden/networks").glob("*.json.xz"))


@pytest.fixture(params=NETWORKS, ids=lambda path: path.name.partition(".")[0])
def program(request, tmp_path):
    if not CHECKER.exists() or not SOLSTICE.exists():
        pytest.skip("the programs are not built: `./x build`")
    graph = tmp_path / "graph.json"
    graph.write_bytes(lzma.decompress(request.param.read_bytes()))
    done = subprocess.run([CHECKER, "--folded", graph], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    path = tmp_path / "network.ucut"
    path.write_text(json.loads(done.stdout)["text"])
    return path


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_the_networks_are_there():
    assert [path.name.partition(".")[0] for path in NETWORKS] == [
        "densenet201",
        "lstm_512",
        "resnet101",
        "unrolled_lstm_512",
    ]


def test_prints_short_and_checks_fast(program):
    assert program.read_text().count("\n") <= MOST_LINES
    seconds = []
    for _ in range(RUNS):
        start = cpu_seconds()
        done = subprocess.run([SOLSTICE, "check", program], capture_output=True, text=True)
        seconds.append(cpu_seconds() - start)
        assert done.returncode == 0, done.stdout + done.stderr
    assert min(seconds) < MOST_SECONDS
