"""What of a module, beside its tensors, decides what `forward` computes: its tree, the class of each module in it with
the code of its `forward`, and its plain attributes (a scale that the constructor took, `eps`, the training flag, an
activation function, a small tensor, a list of these). What stays unseen is listed in docs/protocol.md.

The recording holds a description of them. A module is bound only where it fits; afterwards each call compares
identities, which is cheap. Attributes that the recording does not know are nobody's concern.
"""

from __future__ import annotations

import hashlib
import sys
import types
from typing import Any, Iterator, Optional

import torch

from . import contents
from .contents import Paths, name_of, paths_of, text_of

Description = dict[str, dict[str, Any]]

_OWN = set(vars(torch.nn.Module())) - {"training"}
_ABSENT = object()


def describe(module: torch.nn.Module) -> Description:
    """By path: the class, and the attributes as text. The root's class is left out: a drop-in has another."""
    paths = paths_of(module)
    return {
        path: {
            "class": name_of(type(m)) if path else "",
            "forward": _forward(type(m)),
            "attributes": dict(_attributes(m, paths)),
        }
        for path, m in module.named_modules(remove_duplicate=False)
    }


def _forward(cls: type) -> dict[str, str]:
    """Of a drop-in, the original's. Bytecode differs between versions of Python, a library's between versions of it."""
    function = getattr(getattr(cls, "_solstice_original", cls), "forward", None)
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    digest = hashlib.sha256(repr(_content(code)).encode()).hexdigest()[:16]
    return {"name": name_of(function), "code": digest, "versions": f"{sys.version_info[:2]} {torch.__version__}"}


def _content(code: types.CodeType) -> tuple:
    constants = [_content(c) if isinstance(c, types.CodeType) else _constant(c) for c in code.co_consts]
    return code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars


def _constant(value: Any) -> Any:
    """Sets are in no order."""
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _other_forward(found: dict[str, str], recorded: dict[str, str]) -> bool:
    if not found or not recorded:
        return bool(recorded)
    same_versions = found["versions"] == recorded["versions"]
    return found["name"] != recorded["name"] or same_versions and found["code"] != recorded["code"]


def _attributes(module: torch.nn.Module, paths: Paths) -> Iterator[tuple[str, str]]:
    for name, value in vars(module).items():
        text = None if name in _OWN or name.startswith("_solstice") else text_of(value, paths)
        if text is not None:
            yield name, text


def difference(module: torch.nn.Module, recorded: Description) -> Optional[str]:
    """How the module differs from the recorded one; None where it does not."""
    for path, child in module.named_modules():
        if path and "forward" in vars(child):
            return f"the module `{path}` was given another forward"
    now = describe(module)
    for path in [*recorded, *(p for p in now if p not in recorded)]:
        shown = f"the module `{path}`"
        if path not in now or path not in recorded:
            return f"{shown} is {'gone' if path in recorded else 'new'}"
        if now[path]["class"] != recorded[path]["class"]:
            return f"{shown} is a {now[path]['class']}; recorded was a {recorded[path]['class']}"
        if _other_forward(now[path]["forward"], recorded[path].get("forward", {})):
            return f"the class of {shown} has another forward than the recorded one"
        found = now[path]["attributes"]
        for name, was in recorded[path]["attributes"].items():
            if found.get(name) != was:
                place = f"{path}.{name}" if path else name
                return f"`{place}` is {found.get(name, 'no plain value')}; recorded was {was}"
    return None


class Watch:
    """One module's tree and attributes as they were when it was bound: by identity, hence never loosely equal; the tensors
    among them also by version.

    The root's own dict is not held, since it owns what holds this; whoever compares passes it.
    """

    def __init__(self, module: torch.nn.Module, recorded: Description) -> None:
        paths: dict[int, list[str]] = {}
        for path, child in module.named_modules(remove_duplicate=False):
            paths.setdefault(id(child), []).append(path)
        self.children: list[tuple[dict, dict[str, torch.nn.Module]]] = []
        self.attributes: list[tuple[Optional[dict], dict[str, Any]]] = []  # None: the root's
        for child in module.modules():
            own, root = vars(child), child is module
            if child._modules:
                self.children.append((child._modules, dict(child._modules)))
            names = {n for path in paths[id(child)] for n in recorded.get(path, {}).get("attributes", ())}
            self.attributes.append((None if root else own, {n: own.get(n, _ABSENT) for n in sorted(names)}))
        classes = {type(child) for child in module.modules() if child is not module}
        self.forwards = [(c, c.forward) for c in sorted(classes, key=name_of) if hasattr(c, "forward")]
        held = [value for _, values in self.attributes for value in values.values()]
        self.contents = contents.Watch(held, paths_of(module))
        self.tables = [module._modules, module._parameters, module._buffers]

    def holds(self, root: dict) -> bool:
        if [id(root[n]) for n in ("_modules", "_parameters", "_buffers")] != [id(t) for t in self.tables]:
            return False
        for table, children in self.children:
            if table.keys() != children.keys() or any(table[n] is not c for n, c in children.items()):
                return False
        if any(c.forward is not forward for c, forward in self.forwards):
            return False
        for owner, values in self.attributes:
            own = root if owner is None else owner
            if any(own.get(n, _ABSENT) is not v for n, v in values.items()):
                return False
            if owner is not None and "forward" in own:
                return False
        return self.contents.holds()
