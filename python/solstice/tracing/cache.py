"""Traced graphs, kept by content.

A trace takes seconds of imports and is the same as long as nothing that it depends on has changed. The key is a hash of
all that is known to matter: the text of the tracer and of every module of the user's that is loaded, packages that they
brought in, the class, constructor arguments, example inputs without their values, PyTorch, its flags, the kind of
device, and what the live module looks like (submodules, training flags, plain attributes, parameters and buffers
without their values, closed forms of buffers). An entry also lists the user files that were loaded at the end of the
trace, since `forward` may import more; they are compared before it is believed. What cannot be seen this way (a file or
an environment variable that `forward` reads) is caught afterwards: candidates made from a graph are verified against
the live module.

Not kept: modules given as objects, graphs with constant tensors, attributes too large to hash.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence

import torch

from ..errors import OracleError, is_library_file
from ..tensors import leaves, module_tensors
from .closed_forms import closed_forms
from .fakes import sized_inputs

if TYPE_CHECKING:
    from ..loading import Subject

SCHEMA = "solstice.trace/2"
MOST_HASHED_BYTES = 1 << 20
MOST_PLAIN_ITEMS = 4096
_PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size)


class _Unknowable(Exception):
    """Something that a trace may depend on and that cannot be put into a key."""


def key_of(subject: "Subject", decompose: Sequence[str], device: torch.device) -> Optional[str]:
    """32 hexadecimal digits, or None where no key would be safe."""
    if subject.path is None or any(t.layout is not torch.strided for t in module_tensors(subject.module)):
        return None
    try:
        parts = {
            "tracer": _tracer_hash(),
            "python": platform.python_version(),
            "torch": [torch.__version__, str(torch.version.git_version)],
            "device": device.type,
            "file": str(subject.path),
            "class": subject.class_name,
            "name": subject.found.name if subject.found else "",
            "weights": subject.weights,
            "decompose": sorted(decompose),
            "sources": user_modules(),
            "packages": _packages(),
            "init": _call_signature(subject.init()) if subject.init else None,
            "inputs": _call_signature(_example(subject), values=False),
            "flags": describe_modes(),
            "module": list(_module_signature(subject.module)),
            "closed_forms": closed_forms(subject.module),
        }
    except (_Unknowable, OracleError, OSError):
        return None
    text = json.dumps(parts, sort_keys=True, allow_nan=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def find(folder: str, key: str) -> Optional[dict[str, Any]]:
    """The entry, with `graph` and `sources`, or None. Whatever is wrong with an entry, tracing anew mends it."""
    try:
        entry = json.loads(path_of(folder, key).read_text())
        if entry["schema"] != SCHEMA or entry["key"] != key:
            return None
        if any(_file_hash(source["file"]) != source["sha256"] for source in entry["sources"]):
            return None
        if not isinstance(entry["graph"], dict):
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    _mark_used(path_of(folder, key))
    return entry


def _mark_used(path: Path) -> None:
    """The time of a file is that of its last use: `solstice gc` removes what was not used for longest."""
    try:
        os.utime(path)
    except OSError:  # a cache that may only be read still serves
        pass


def store(folder: str, key: str, graph: dict[str, Any], sources: list[dict[str, str]]) -> bool:
    """False where it is not kept: constants in it, or no space."""
    if any(given["kind"] == "constant_tensor" for given in graph["inputs"]):
        return False
    path = path_of(folder, key)
    entry = {"schema": SCHEMA, "key": key, "sources": sources, "graph": graph}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f"{key}.", delete=False) as file:
            try:
                json.dump(entry, file, separators=(",", ":"), allow_nan=False)
                file.close()
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except (OSError, ValueError):
        return False
    return True


def path_of(folder: str, key: str) -> Path:
    return Path(folder) / f"{key}.json"


def user_modules() -> list[dict[str, str]]:
    """Every loaded module that is no library's: its name, its file and a hash of the file's text."""
    found = []
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        # PyTorch's made-up modules have names of files that are not there.
        if isinstance(file, str) and os.path.isabs(file) and not is_library_file(file) and os.path.isfile(file):
            found.append({"module": name, "file": file, "sha256": _file_hash(file)})
    return found


def _file_hash(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _tracer_hash() -> str:
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _packages() -> list[list[Any]]:
    """Installed packages that are loaded: PyTorch is identified by its version, these by their files."""
    tops: dict[str, Any] = {}
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        file = getattr(module, "__file__", None)
        if name != top or not isinstance(file, str) or top in ("torch", "solstice"):
            continue
        if "/site-packages/" in file or "/dist-packages/" in file:
            stat = os.stat(file)
            tops[top] = [top, stat.st_size, stat.st_mtime_ns]
    # What PyTorch itself loads depends on how far it was used; only what users import shapes a graph.
    return [tops[top] for top in sorted(tops.keys() - _PYTORCHS_OWN)]


_PYTORCHS_OWN = {
    *("numpy", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "filelock", "fsspec", "triton", "psutil"),
    *("typing_extensions", "packaging", "yaml", "attr", "optree", "setuptools", "pkg_resources", "_distutils_hack"),
    *(
        "torchgen",
        "cuda",
        "nvidia",
        "pynvml",
        "tqdm",
        "requests",
        "certifi",
        "idna",
        "urllib3",
        "charset_normalizer",
        "six",
    ),
}


def describe_modes() -> list[Any]:
    """The switches of PyTorch that a trace depends on."""
    return [
        torch.is_grad_enabled(),
        str(torch.get_default_dtype()),
        torch.get_float32_matmul_precision(),
        torch.backends.cudnn.allow_tf32,
        torch.are_deterministic_algorithms_enabled(),
    ]


def _example(subject: "Subject") -> tuple[tuple, dict]:
    torch.manual_seed(0)
    return sized_inputs(subject.inputs)


def _call_signature(call: tuple[tuple, dict], values: bool = True) -> Any:
    """Of tensors without `values` only what a graph says of its inputs."""
    structure = torch.utils._pytree.tree_structure(call)
    signature = [_meta(v) if isinstance(v, torch.Tensor) and not values else _value(v) for v in leaves(call)]
    return [str(structure), signature]


def _module_signature(module: torch.nn.Module) -> Iterator[Any]:
    storages: dict[int, int] = {}

    def tensor(value: Optional[torch.Tensor]) -> Any:
        if value is None:
            return None
        number = storages.setdefault(value.untyped_storage()._cdata, len(storages))
        return [*_meta(value), value.requires_grad, number]

    for path, child in module.named_modules(remove_duplicate=False):
        kind = type(child)
        yield [path, f"{kind.__module__}.{kind.__qualname__}", child.training]
        yield {name: tensor(value) for name, value in child._parameters.items()}
        yield {name: tensor(value) for name, value in child._buffers.items()}
        yield sorted(child._non_persistent_buffers_set)
        hooks = (child._forward_hooks, child._forward_pre_hooks, child._state_dict_hooks)
        yield [len(h) for h in hooks]
        yield {n: _value(v) for n, v in vars(child).items() if n not in _MODULES_OWN}


_MODULES_OWN = frozenset(vars(torch.nn.Module()))


def _meta(tensor: torch.Tensor) -> list[Any]:
    return [str(tensor.dtype), list(tensor.shape), list(tensor.stride()), tensor.storage_offset()]


def _value(value: Any, depth: int = 0) -> Any:
    """A JSON-able likeness that differs wherever a trace could."""
    if depth > 8:
        raise _Unknowable("nested too deeply")
    if isinstance(value, torch.Tensor):
        return [*_meta(value), _content(value)]
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return _items(value, depth)
    if isinstance(value, type) or callable(value) and hasattr(value, "__qualname__"):
        if getattr(value, "__closure__", None):
            raise _Unknowable("a closure")
        return f"{value.__module__}.{value.__qualname__}"
    raise _Unknowable(type(value).__name__)


def _items(value: Any, depth: int) -> Any:
    if len(value) > MOST_PLAIN_ITEMS:
        raise _Unknowable("a long list")
    if isinstance(value, dict):
        return [[_value(k, depth + 1), _value(v, depth + 1)] for k, v in value.items()]
    items = [_value(v, depth + 1) for v in value]
    if isinstance(value, (set, frozenset)):
        items.sort(key=json.dumps)
    return [type(value).__name__, items]


def _content(tensor: torch.Tensor) -> Any:
    """Values of a tensor that is no parameter or buffer."""
    if tensor.numel() * tensor.element_size() > MOST_HASHED_BYTES or tensor.device.type != "cpu":
        raise _Unknowable("a large tensor attribute")
    flat = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    return hashlib.sha256(bytes(flat.tolist())).hexdigest()
