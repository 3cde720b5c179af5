"""Asks the CUDA driver what GPU there is, in a process of its own, while this one imports PyTorch.

Without a context and without PyTorch it takes a fraction of a second, and the asking process stays clean:
a process that has initialised CUDA cannot fork for it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import traceback
import uuid
from typing import Any, Optional

_SM_COUNT, _L2_BYTES, _MAJOR, _MINOR = 16, 38, 75, 76  # CUdevice_attribute


class Probe:
    def __init__(self) -> None:
        self._answer: Optional[dict[str, Any]] = None
        self._read, write = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.write(write, json.dumps(ask_driver()).encode())
            except BaseException:  # above is the parent's code, in the wrong process; no answer means no usable GPU
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(0)
        os.close(write)

    def result(self) -> dict[str, Any]:
        """`{driver, device}` as `ask_driver` gives it; `{}` where there is no usable GPU."""
        if self._answer is None:
            with os.fdopen(self._read, "rb") as pipe:
                data = pipe.read()
            os.waitpid(self._pid, 0)
            self._answer = json.loads(data) if data else {}
        return self._answer


def ask_driver() -> dict[str, Any]:
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {}
    version, device = ctypes.c_int(), ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDriverGetVersion(ctypes.byref(version)) or cuda.cuDeviceGet(ctypes.byref(device), 0):
        return {}
    name, total, identity = ctypes.create_string_buffer(256), ctypes.c_size_t(), (ctypes.c_ubyte * 16)()
    cuda.cuDeviceGetName(name, 256, device)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(total), device)
    cuda.cuDeviceGetUuid_v2(identity, device)

    def attribute(which: int) -> int:
        value = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(value), which, device)
        return value.value

    return {
        "driver": version.value,
        "device": {
            "kind": "cuda",
            "index": 0,
            "name": name.value.decode(),
            "uuid": str(uuid.UUID(bytes=bytes(identity))),
            "capability": [attribute(_MAJOR), attribute(_MINOR)],
            "sm_count": attribute(_SM_COUNT),
            "total_bytes": total.value,
            "l2_bytes": attribute(_L2_BYTES),
        },
    }
