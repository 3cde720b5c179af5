"""Work in a child process: every way it can end reaches the caller."""

import os
import sys

import pytest

from solstice.errors import OracleError
from solstice.forked import call_in_child


def raising(error):
    raise error


def test_a_value_comes_back():
    assert call_in_child(lambda: {"a": [1, None]}) == {"a": [1, None]}


def test_an_unexpected_error_leaves_its_traceback(capfd):
    with pytest.raises(OracleError) as caught:
        call_in_child(lambda: raising(KeyError("lost")))
    assert caught.value.code == "oracle.unexpected" and "KeyError" in caught.value.message
    assert "in raising" in capfd.readouterr().err


def test_a_value_without_a_json_form_is_an_error(capfd):
    with pytest.raises(OracleError) as caught:
        call_in_child(lambda: float("nan"))
    assert caught.value.code == "oracle.unexpected" and "ValueError" in caught.value.message


@pytest.mark.parametrize("end", [lambda: sys.exit(0), lambda: raising(KeyboardInterrupt()), lambda: os._exit(1)])
def test_an_exit_stays_in_the_child(end):
    parent = os.getpid()
    with pytest.raises(OracleError) as caught:
        call_in_child(end)
    assert os.getpid() == parent
    assert caught.value.code == "oracle.crashed" and "status 1" in caught.value.message
