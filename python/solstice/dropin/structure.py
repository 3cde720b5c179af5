"""What of a module, beside its tensors, decides what `forward` computes: its tree, the class of each module in it with
its `forward`, which parameters and buffers there are, and its attributes (a scale that the constructor took, `eps`, the
training flag, an activation function, a small tensor, a list of these). docs/protocol.md lists what stays
unseen.

The recording holds a description of them. A module is bound only where it fits; afterwards each call compares
identities, which is cheap (watch below, and contents of attributes in watching.py).
"""

from __future__ import annotations

import hashlib
import sys
from typing import Any, Iterator, Optional

import torch

from . import arrays, identity, names, watching
from .arrays import form_of
from .contents import Paths, of_class, paths_of, text_of
from .reads import Reads

Description = dict[str, dict[str, Any]]

_OWN = set(vars(torch.nn.Module())) - {"training"} | {"_compiled_call_impl"}
_TABLES = ("_modules", "_parameters", "_buffers")
_ABSENT = object()
_SHOWN = 200  # characters of a text


def describe(module: torch.nn.Module) -> Description:
    """By path, what a recording holds. Left out is what no forward reads, where that spares others: the training flag,
    what only its identity tells, and arrays, whose content each call would compare."""
    found, reads = _describe(module), Reads(module)
    for path, child in module.named_modules(remove_duplicate=False):
        kept = found[path]["attributes"]
        for name, text in list(kept.items()):
            is_read = reads.may_read_training(child) if name == "training" else reads.may_read(name)
            if not is_read and (name == "training" or identity.is_in(text) or arrays.has_array(text)):
                del kept[name]
    return found


def _describe(module: torch.nn.Module) -> Description:
    """The root's class is left out: a drop-in has another."""
    paths = paths_of(module)
    return {
        path: {
            "class": of_class(type(m)) if path else "",
            "forward": _forward(type(m)),
            "children": [name if child is not None else f"{name}: None" for name, child in m._modules.items()],
            "tensors": dict(_tensors(m)),
            "attributes": dict(_attributes(m, paths)),
        }
        for path, m in module.named_modules(remove_duplicate=False)
    }


def _forward(cls: type) -> dict[str, str]:
    """Of a drop-in, the original's. Bytecode differs between versions of Python, a library's between versions of it."""
    function = getattr(getattr(cls, "_solstice_original", cls), "forward", None)
    parts = names.parts_of_code(function)
    if parts is None:
        return {}
    text = repr([parts[0], *(f"{key}{text_of(value, {})}" for key, value in parts[1])])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return {"name": names.of(function), "code": digest, "versions": f"{sys.version_info[:2]} {torch.__version__}"}


def _other_forward(found: dict[str, str], recorded: dict[str, str]) -> bool:
    if not found or not recorded:
        return bool(recorded)
    same_versions = found["versions"] == recorded["versions"]
    return found["name"] != recorded["name"] or same_versions and found["code"] != recorded["code"]


def _tensors(module: torch.nn.Module) -> Iterator[tuple[str, str]]:
    """Parameters and buffers: what kind each is, or that there is none under this name."""
    for table in (module._parameters, module._buffers):
        yield from ((name, "None" if tensor is None else form_of(tensor)) for name, tensor in table.items())


def _attributes(module: torch.nn.Module, paths: Paths) -> Iterator[tuple[str, str]]:
    for name, value in vars(module).items():
        if not _is_own(name):
            yield name, text_of(value, paths)


def _is_own(name: str) -> bool:
    """PyTorch's attributes and the drop-in's. Another `forward` is looked for apart."""
    return name in _OWN or name == "forward" or name.startswith("_solstice")


def difference(module: torch.nn.Module, recorded: Description) -> Optional[str]:
    """How the module differs from the recorded one; None where it does not."""
    for path, child in module.named_modules():
        if path and "forward" in vars(child):
            return f"the module `{path}` was given another forward"
    now, reads = _describe(module), Reads(module)
    for path in [*recorded, *now]:
        if path not in now or path not in recorded:
            return f"the module `{path}` is {'gone' if path in recorded else 'new'}"
    for path in recorded:
        found = _difference_at(path, _without_unread(now[path], recorded[path], reads), recorded[path])
        if found is not None:
            return found
    return None


def _without_unread(now: dict[str, Any], recorded: dict[str, Any], reads: Reads) -> dict[str, Any]:
    """Attributes that were not recorded are of no account where no forward reads them."""
    is_known = lambda name: name in recorded["attributes"] or name != "training" and reads.may_read(name)
    return {**now, "attributes": {name: text for name, text in now["attributes"].items() if is_known(name)}}


def _difference_at(path: str, now: dict[str, Any], recorded: dict[str, Any]) -> Optional[str]:
    shown = f"the module `{path}`"
    if "tensors" not in recorded or "children" not in recorded:
        return "it was recorded by an older version of Solstice: run `solstice optimize` again"
    if now["class"].split()[:1] == recorded["class"].split()[:1] and _other_forward(
        now["forward"], recorded.get("forward", {})
    ):
        return f"the class of {shown} has another forward than the recorded one"
    if now["class"] != recorded["class"]:
        return f"{shown} is a {now['class']}; recorded was a {recorded['class']}"
    for kind, absent in (("tensors", "no parameter or buffer any more"), ("attributes", "no attribute any more")):
        for name in [*recorded[kind], *(n for n in now[kind] if n not in recorded[kind])]:
            found, was = now[kind].get(name, absent), recorded[kind].get(name, absent)
            if found != was:
                place = f"{path}.{name}" if path else name
                return f"`{place}` is {_short(found)}; " + (
                    f"recorded was {_short(was)}" if was != absent else "the recorded module has none"
                )
    if now["children"] != recorded["children"]:
        return f"{shown} has its modules in the order {now['children']}; recorded was {recorded['children']}"
    return None


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


class Watch:
    """One module's tree, tensors and attributes as they were when it was bound: by identity, hence never loosely equal;
    what the attributes hold as watching.py does.

    The root's own dict is not held, since it owns what holds this; whoever compares passes it.
    """

    def __init__(self, module: torch.nn.Module, recorded: Description) -> None:
        paths: dict[int, list[str]] = {}
        for path, child in module.named_modules(remove_duplicate=False):
            paths.setdefault(id(child), []).append(path)
        held: list[Any] = []
        self.root_version = watching.version_of(vars(module))
        self.children: list[tuple[dict, dict[str, Any]]] = []
        self.tensors: list[tuple[dict, dict[str, Optional[torch.Tensor]]]] = []
        self.attributes: list[tuple[Optional[dict], int, dict[str, Any]]] = []  # None: the root's; entries in all
        for child in module.modules():
            own = vars(child)
            self.children.append((child._modules, dict(child._modules)))
            self.tensors += [(table, dict(table)) for table in (child._parameters, child._buffers)]
            known = {name for path in paths[id(child)] for name in recorded.get(path, {}).get("attributes", ())}
            values = {name: own.get(name, _ABSENT) for name in sorted(known)}
            held += values.values()
            if child is not module:
                values.update((name, own[name]) for name in _TABLES)
            self.attributes.append((None if child is module else own, len(own), values))
        classes = {type(child) for child in module.modules() if child is not module}
        self.forwards = [(c, c.forward) for c in sorted(classes, key=names.of) if hasattr(c, "forward")]
        self.contents = watching.Watch(held, paths_of(module))
        self.tables = [vars(module)[name] for name in _TABLES]

    def holds(self, root: dict) -> bool:
        return (
            [id(root[name]) for name in _TABLES] == [id(t) for t in self.tables]
            and all(watching.same_dict(table, was) for table, was in (*self.children, *self.tensors))
            and all(c.forward is forward for c, forward in self.forwards)
            and all(self._has(root if own is None else own, *was) for own, *was in self.attributes)
            and not any(own is not None and "forward" in own for own, _, _ in self.attributes)
            and self.contents.holds()
        )

    @staticmethod
    def _has(own: dict, entries: int, values: dict[str, Any]) -> bool:
        return len(own) == entries and all(own.get(name, _ABSENT) is value for name, value in values.items())
