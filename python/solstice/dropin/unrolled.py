"""What structure.Watch and watching.Watch compare on every call, as conditions in the text of a function (fast.py):
each is true where something has changed.
"""

from __future__ import annotations

from typing import Any, Iterator, Optional

from . import watching

_UNROLLED = 32  # items of a list
_WORTH = 3  # conditions that take longer than to ask for the version of a dict


class Text:
    """The objects that the names in the text of a function stand for."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = dict(names)

    def bind(self, kind: str, value: Any) -> str:
        name = f"{kind}{len(self.names)}"
        self.names[name] = value
        return name

    def literal(self, value: Any) -> str:
        """Small constants are written out; comparisons by identity need the object."""
        return repr(value) if value is None or isinstance(value, bool) else self.bind("value", value)


def tree(text: Text, binding: Any) -> Iterator[str]:
    """Of a Binding (binding.py). As structure.Watch.holds() and guards.HookWatch."""
    for name, table in zip(("_modules", "_parameters", "_buffers"), binding.watch.tables):
        yield f"root[{name!r}] is not {text.bind('table', table)}"
    for table, children in binding.watch.children:
        yield from _dict(text, table, children)
    owned = {(id(owner.store), owner.name) for owner in binding.owners}
    for table, tensors in binding.watch.tensors:
        others = {name: tensor for name, tensor in tensors.items() if (id(table), name) not in owned}
        own = text.bind("table", table)
        yield from _where_changed(text, own, watching.version_of(table), _entries(text, own, len(tensors), others))
    for cls, forward in binding.watch.forwards:
        yield f"{text.bind('class', cls)}.forward is not {text.bind('forward', forward)}"
    for owner, entries, values in binding.watch.attributes:
        own = "root" if owner is None else text.bind("own", owner)
        version = binding.watch.root_version if owner is None else watching.version_of(owner)
        yield from _where_changed(text, own, version, _attributes(text, own, entries, values, is_root=owner is None))
    yield from _contents(text, binding.watch.contents)
    yield f"Handle.next_id != {text.bind('hooks', binding.hooks)}.seen"


def _where_changed(text: Text, own: str, version: Optional[int], conditions: Iterator[str]) -> Iterator[str]:
    """A dict of another version is looked at, but may hold the same. Few conditions are asked at once."""
    listed = list(conditions)
    if version is None or len(listed) < _WORTH:
        yield from listed
    else:
        yield f"{text.bind('version_of', watching.DICT_VERSION)}({own}) != {version} and ({' or '.join(listed)})"


def _attributes(text: Text, own: str, entries: int, values: dict[str, Any], is_root: bool) -> Iterator[str]:
    yield f"len({own}) != {entries}"
    yield from (f"{own}[{name!r}] is not {text.literal(value)}" for name, value in values.items())
    if not is_root:
        yield f"'forward' in {own}"


def _entries(text: Text, own: str, count: int, entries: dict) -> Iterator[str]:
    """As many as they were, and these of them the same. Whether a dict is empty is the cheapest thing to ask of it."""
    yield f"len({own}) != {count}" if count else own
    yield from (f"{own}[{text.literal(key)}] is not {text.literal(value)}" for key, value in entries.items())


def _dict(text: Text, table: dict, was: dict) -> Iterator[str]:
    """As watching.same_dict()."""
    own = text.bind("table", table)
    if len(was) > _UNROLLED:
        same = f"not {text.bind('same', watching.same_dict)}({own}, {text.bind('was', was)})"
        version = watching.version_of(table)
        yield (
            same
            if version is None
            else f"{text.bind('version_of', watching.DICT_VERSION)}({own}) != {version} and {same}"
        )
        return
    order = [f"[*{own}] != {text.bind('keys', [*was])}"] if len(was) > 1 else []
    yield from _where_changed(
        text, own, watching.version_of(table), iter([*order, *_entries(text, own, len(was), was)])
    )


def _contents(text: Text, watch: watching.Watch) -> Iterator[str]:
    """As watching.Watch.holds()."""
    for tensor, version, pointer in watch.tensors:
        held = text.bind("held", tensor)
        yield f"{held}._version != {version}"
        yield f"{held}.data_ptr() != {pointer}"
    for now, was in watch.lists:
        yield from _list(text, text.bind("list", now), was)
    for now, was in watch.dicts:
        yield from _dict(text, now, was)
    for place, name, value in watch.places:
        yield f"{text.bind('place', place)}.{name} is not {text.literal(value)}"
    for value, was in watch.others:
        yield f"{text.bind('inside', watching.inside_of)}({text.bind('value', value)}) != {text.bind('was', was)}"


def _list(text: Text, own: str, was: list) -> Iterator[str]:
    """A call of watching.same_list() takes longer than a few comparisons."""
    if all(type(item) is str for item in was):  # equal ones are the same
        yield f"{own} != {text.bind('was', was)}"
    elif len(was) > _UNROLLED:
        yield f"not {text.bind('same', watching.same_list)}({own}, {text.bind('was', was)})"
    else:
        yield f"len({own}) != {len(was)}"
        yield from (f"{own}[{i}] is not {text.literal(item)}" for i, item in enumerate(was))
