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
STARTS_PROGRAMS = re.compile(r"\bbuild\b|^from (pages|batch_site) import", re.MULTILINE)


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out slow tests, and files that are unchanged")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes some seconds; --quick leaves it out")
    config.pluginmanager.register(Remember(config), "remember what passed")


@functools.cache
def _digest(*names):
    return passed.digest(*names)


def inputs_of(path):
    """What the tests of a file read: the package, data, and programs of the build where it speaks of a build."""
    starts = STARTS_PROGRAMS.search(path.read_text())
    return _digest(*passed.PACKAGE, *passed.DATA) + (_digest(*PROGRAMS) if starts else "")


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


class Remember:
    """Files none of whose tests failed, of a run that nobody narrowed down."""

    def __init__(self, config):
        self.whole = config.args == ["tests/python"] and not config.option.keyword and not config.option.markexpr
        self.failed = set()

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.add(report.location[0])

    def pytest_sessionfinish(self, session, exitstatus):
        if not self.whole or exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        files = {item.path for item in session.items}
        passed.Passed().add({name_of(p): inputs_of(p) for p in files if name_of(p) not in self.failed})
