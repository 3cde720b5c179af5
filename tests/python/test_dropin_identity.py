"""Values that cannot be compared: only the very same object fits."""

import threading

import pytest
from host_dropin import difference, reads_value

from solstice.dropin import contents


def test_what_cannot_be_compared_is_named():
    assert "_thread.lock that cannot be compared with another" in difference(threading.Lock(), threading.Lock())


class Node:
    def __init__(self, *others):
        self.others = others


def deep():
    node = Node()
    for _ in range(3000):
        node = Node(node)
    return node


def shared():
    """With 2^40 ways through it."""
    node = Node()
    for _ in range(40):
        node = Node(node, node)
    return node


@pytest.mark.parametrize("make", [deep, shared])
def test_objects_without_end(subject, record, make):
    assert "Node that cannot be compared with another" in difference(make(), make())
    value = make()
    assert difference(value, value) is None

    module = reads_value(subject, record, lambda: value)
    assert subject.call(module=module)[1]
    module.value = make()
    with pytest.warns(UserWarning, match="`value` is "):
        assert not subject.call(module=module)[1]


def test_identities_are_no_other_objects():
    texts = {contents.text_of(object(), {}) for _ in range(100)}
    assert len(texts) == 100
