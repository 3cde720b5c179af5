"""--quick: what is remembered as passed, and what is left out (quick.py, tools/passed.py)."""

import types

import passed
import pytest
import quick


def report(test, when="call", failed=False):
    return types.SimpleNamespace(nodeid=test, when=when, failed=failed)


@pytest.fixture
def memory(tmp_path, monkeypatch):
    """An empty memory, and a digest that is the same for all files until `state` changes."""
    state = types.SimpleNamespace(digest="a")
    monkeypatch.setattr(
        passed.Passed, "__init__", lambda self: setattr(self, "path", tmp_path / "logs" / "passed.json")
    )
    monkeypatch.setattr(quick, "inputs_of", lambda path: state.digest)
    return state


def run(tests, failing=(), unrun=(), option=(), args=("tests/python",), during=lambda: None):
    """A session of {test: file}; the exit status that it leaves."""
    config = types.SimpleNamespace(args=list(args), option=types.SimpleNamespace(**dict.fromkeys(option, True)))
    config.getoption = lambda _: True
    plugin = quick.Remember(config)
    items = [types.SimpleNamespace(nodeid=test, path=passed.ROOT / file) for test, file in tests.items()]
    session = types.SimpleNamespace(items=items, exitstatus=pytest.ExitCode.NO_TESTS_COLLECTED)
    plugin.pytest_collection_finish(session)
    during()
    for test in tests:
        if test not in unrun:
            plugin.pytest_runtest_logreport(report(test, failed=test in failing))
            plugin.pytest_runtest_logreport(report(test, when="teardown"))
    plugin.pytest_sessionfinish(session, session.exitstatus if not tests else pytest.ExitCode.OK)
    return session.exitstatus


TESTS = {"one": "tests/python/test_a.py", "two": "tests/python/test_a.py", "three": "tests/python/test_b.py"}


def known():
    return [name for name in sorted(set(TESTS.values())) if passed.Passed().has(name, "a")]


def test_files_that_passed_are_remembered(memory):
    run(TESTS)
    assert known() == ["tests/python/test_a.py", "tests/python/test_b.py"]


def test_a_failure_is_forgotten_with_its_file(memory):
    run(TESTS)
    run(TESTS, failing=("two",), args=("tests/python/test_a.py",))
    assert known() == ["tests/python/test_b.py"]


def test_a_file_that_did_not_run_to_its_end_is_not_remembered(memory):
    run(TESTS, unrun=("two",))
    assert known() == ["tests/python/test_b.py"]


@pytest.mark.parametrize(
    "narrowed", [{"option": ("keyword",)}, {"option": ("lf",)}, {"args": ("tests/python/test_a.py",)}]
)
def test_a_part_is_not_remembered(memory, narrowed):
    run(TESTS, **narrowed)
    assert known() == []


def test_a_change_during_the_run_is_not_taken_for_tested(memory):
    run(TESTS, during=lambda: setattr(memory, "digest", "b"))
    assert known() == ["tests/python/test_a.py", "tests/python/test_b.py"]
    assert not passed.Passed().has("tests/python/test_b.py", "b")


def test_nothing_left_to_run_is_no_failure(memory):
    assert run({}) == pytest.ExitCode.OK


def test_a_digest_follows_contents_and_names(tmp_path):
    (tmp_path / "a").write_text("1")
    first = passed.digest(tmp_path)
    assert passed.digest(tmp_path) == first
    (tmp_path / "a").write_text("2")
    second = passed.digest(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    assert len({first, second, passed.digest(tmp_path)}) == 3
