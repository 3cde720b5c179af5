"""pytest --quick: leaves out tests marked `slow`, and files whose inputs are the same as when they passed.

conftest.py takes the hooks from here. What passed is remembered (tools/passed.py) by every run of the whole folder.
"""

import functools
import re

import passed
import pytest

PROGRAMS = (
    "build/bin",
    "build/lib",
    "build/tests/import_check",
    "build/tests/interpret_check",
    "build/tests/make_runs",
)
ALL = (*PROGRAMS, "build/tests/test_gpu_runtime", "build/tests/test_random_kernels", "src", "tests")
READS_ALL = re.compile(r"\bbuild\b|\bsrc\b|^from (pages|batch_site) import", re.MULTILINE)


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out slow tests, and files that are unchanged")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes some seconds; --quick leaves it out")
    config.pluginmanager.register(Remember(config), "remember what passed")


@functools.cache
def _digest(*names):
    return passed.digest(*names)


def inputs_of(path):
    """What the tests of a file read: the package and data; where it speaks of a build or of sources, those too."""
    reads_all = READS_ALL.search(path.read_text())
    return _digest(*passed.PACKAGE, *passed.DATA) + (_digest(*ALL) if reads_all else "")


def name_of(path):
    return str(path.relative_to(passed.ROOT))


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--quick"):
        return
    memory = passed.Passed()
    same = {path for path in {item.path for item in items} if memory.has(name_of(path), inputs_of(path))}
    left_out = {item for item in items if item.path in same or item.get_closest_marker("slow")}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def is_whole(config):
    """Nobody narrowed the run down to some tests."""
    narrowed = ("keyword", "markexpr", "deselect", "lf", "stepwise")
    return config.args == ["tests/python"] and not any(getattr(config.option, name, None) for name in narrowed)


class Remember:
    """The files all of whose tests ran to their end and none failed; the others are forgotten where one failed."""

    def __init__(self, config):
        self.whole = is_whole(config)
        self.quick = config.getoption("--quick")
        self.inputs = {}  # of each file, as they were before its tests
        self.open = {}  # {test: its file} of those that have not ended
        self.failed = set()  # files

    def pytest_collection_finish(self, session):
        for item in session.items:
            if item.path not in self.inputs:
                self.inputs[item.path] = inputs_of(item.path) if self.whole else ""
            self.open[item.nodeid] = item.path

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.add(self.open[report.nodeid])
        if report.when == "teardown":
            del self.open[report.nodeid]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if self.quick and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK  # all of them passed as they are
        memory = passed.Passed()
        if self.failed:
            memory.forget([name_of(path) for path in self.failed])
        ended = self.inputs.keys() - self.failed - set(self.open.values())
        if self.whole and ended:
            memory.add({name_of(path): self.inputs[path] for path in ended})
