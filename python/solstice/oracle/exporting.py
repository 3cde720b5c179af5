"""Hands tensors to another process: CUDA IPC handles, or one file in shared memory.

IPC: the handle of the allocation and the byte offset in it; the tensor stays owned here.
File: 8 bytes `SOLTENS1`, 8 bytes little-endian length of the header, the header as JSON
(`tensors`, each with `region` and byte `offset`; `regions`, each with `offset` and `bytes`), then
one region for each storage, 256-byte aligned. Offsets of regions count from the file's start.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
from typing import Any, Iterator

import torch

from ..errors import environment_error, input_error
from ..tracing.graph import state_entries
from ..tracing.values import tensor_meta
from .session import InputSet, Session

KINDS = ("input", "parameter", "buffer", "expected", "eager")
MAGIC = b"SOLTENS1"
ALIGNMENT = 256

Named = tuple[str, str, torch.Tensor]  # kind, name, tensor


def select(session: Session, inputs: InputSet, kinds: list[str]) -> list[Named]:
    unknown = [k for k in kinds if k not in KINDS]
    if unknown:
        raise input_error("export.no_kind", f"no kind `{unknown[0]}`", hint=f"legal are {', '.join(KINDS)}")
    for kind in ("expected", "eager"):
        if kind in kinds and not getattr(inputs, kind):
            raise input_error("export.not_computed", f"the set has no {kind} values", hint="send `expected` first")
    return [named for named in _all(session, inputs, kinds) if named[0] in kinds]


def _all(session: Session, inputs: InputSet, kinds: list[str]) -> Iterator[Named]:
    for index, leaf in enumerate(inputs.leaves()):
        if isinstance(leaf, torch.Tensor):
            yield "input", str(index), leaf
    if "parameter" in kinds or "buffer" in kinds:
        for fqn, kind, tensor, _ in state_entries(session.module(inputs.variant)):
            yield kind, fqn, tensor.detach()
    for kind in ("expected", "eager"):
        for name, tensor in getattr(inputs, kind).items():
            yield kind, name, tensor


def describe(named: Named) -> dict[str, Any]:
    kind, name, tensor = named
    meta = tensor_meta(tensor)
    meta.pop("offset", None)  # places are given in bytes, by each form of export
    return {"kind": kind, "name": name, **meta, "physical_bytes": physical_bytes(tensor)}


def physical_bytes(tensor: torch.Tensor) -> int:
    """From the first element to the end of the last, whatever the strides."""
    if tensor.numel() == 0:
        return 0
    return (1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))) * tensor.element_size()


class _Driver:
    """The three driver calls that IPC needs; PyTorch has loaded the library already."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")

    def _check(self, status: int, what: str) -> None:
        if status != 0:
            raise environment_error(
                "export.ipc",
                f"{what} failed with CUDA error {status}",
                hint="unset PYTORCH_CUDA_ALLOC_CONF=expandable_segments; its memory has no handles",
            )

    def allocation(self, pointer: int) -> tuple[int, int]:
        base, size = ctypes.c_uint64(), ctypes.c_size_t()
        status = self._cuda.cuMemGetAddressRange_v2(ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(pointer))
        self._check(status, "cuMemGetAddressRange")
        return base.value, size.value

    def handle(self, base: int) -> str:
        handle = (ctypes.c_ubyte * 64)()
        self._check(self._cuda.cuIpcGetMemHandle(ctypes.byref(handle), ctypes.c_uint64(base)), "cuIpcGetMemHandle")
        return bytes(handle).hex()


def as_ipc(session: Session, tensors: list[Named]) -> list[dict[str, Any]]:
    if session.device.type != "cuda":
        raise input_error(
            "export.no_gpu", "there are no CUDA handles on a machine without a GPU", hint="use `where: shm`"
        )
    session.synchronize()
    driver = _Driver()
    entries = []
    for named in tensors:
        pointer = named[2].data_ptr()
        entry = describe(named)
        if pointer:
            base, size = driver.allocation(pointer)
            entry.update(handle=driver.handle(base), handle_offset=pointer - base, allocation_bytes=size)
        entries.append(entry)
    return entries


def as_file(tensors: list[Named], path: str) -> list[dict[str, Any]]:
    entries, regions = _layout(tensors)
    header = json.dumps({"schema": "solstice.tensors/1", "tensors": entries, "regions": regions}).encode()
    # The offsets are part of the header, so that its length is fixed first, with room to spare.
    start = _aligned(len(MAGIC) + 8 + len(header) + 32 * len(regions))
    for region in regions:
        region["offset"] += start
    header = json.dumps({"schema": "solstice.tensors/1", "tensors": entries, "regions": regions}).encode()
    try:
        _write(path, header, tensors, entries, regions)
    except OSError as error:
        raise environment_error("export.file", f"cannot write `{path}`: {error.strerror}") from error
    return entries


def _layout(tensors: list[Named]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    numbers: dict[int, int] = {}
    regions: list[dict[str, Any]] = []
    entries = []
    position = 0
    for named in tensors:
        tensor = named[2]
        storage = tensor.untyped_storage()
        region = numbers.setdefault(storage._cdata, len(regions))
        if region == len(regions):
            regions.append({"offset": position, "bytes": storage.nbytes()})
            position = _aligned(position + storage.nbytes())
        entries.append({**describe(named), "region": region, "offset": tensor.storage_offset() * tensor.element_size()})
    return entries, regions


def _aligned(n: int) -> int:
    return -(-n // ALIGNMENT) * ALIGNMENT


def _write(path: str, header: bytes, tensors: list[Named], entries: list, regions: list) -> None:
    partial = f"{path}.partial"
    with open(partial, "wb") as file:
        file.write(MAGIC + struct.pack("<Q", len(header)) + header)
        written = set()
        for (_, _, tensor), entry in zip(tensors, entries):
            if entry["region"] in written:
                continue
            written.add(entry["region"])
            file.seek(regions[entry["region"]]["offset"])
            _write_storage(file, tensor)
        end = max((r["offset"] + r["bytes"] for r in regions), default=len(header))
        file.truncate(max(end, file.tell()))
    os.replace(partial, path)


def _write_storage(file: Any, tensor: torch.Tensor) -> None:
    storage = tensor.untyped_storage().cpu()
    if storage.nbytes():
        view = (ctypes.c_char * storage.nbytes()).from_address(storage.data_ptr())
        file.write(memoryview(view))
