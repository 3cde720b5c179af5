"""The few things a drop-in asks of a device, each as fast as PyTorch offers it."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Optional

import torch

from .errors import DropinError

_thread = threading.local()


class CudaDevice:
    """The GPU with this ordinal."""

    @classmethod
    def of(cls, leaves: Any) -> Optional["CudaDevice"]:
        """The device of the first tensor on a GPU."""
        for leaf in leaves:
            if isinstance(leaf, torch.Tensor) and leaf.is_cuda:
                return cls(leaf.get_device())
        return None

    def __init__(self, index: int) -> None:
        self.index = index
        self.several = torch.cuda.device_count() > 1
        self.stream = torch._C._cuda_getCurrentRawStream  # of the device with this index
        self.current = torch._C._cuda_getDevice
        self.capturing = torch._C._cuda_isCurrentStreamCapturing
        self.empty = _fast_empty(torch.device("cuda", index))

    def enter_thread(self) -> None:
        """Makes the context current in a thread that has none yet: PyTorch does so with its first CUDA call,
        which an allocation from its cache is not, and the runtime library leaves it to its caller."""
        try:
            _thread.entered
        except AttributeError:
            _make_context_current(self.index)
            _thread.entered = True

    def capture(self, stream: int) -> Optional[int]:
        """Which graph this stream is being captured into: a number that no other capture of the process has. None
        outside of a capture."""
        if not self.capturing():
            return None
        status, number = ctypes.c_int(), ctypes.c_uint64()
        ask = _driver().cuStreamGetCaptureInfo_v2
        error = ask(ctypes.c_void_p(stream), ctypes.byref(status), ctypes.byref(number), None, None, None)
        if error:
            raise DropinError(f"the driver does not name the graph that is being captured: CUDA error {error}")
        return number.value

    def selected(self) -> Any:
        """A context in which this device is the current one."""
        return torch.cuda.device(self.index)

    def workspace(self, bytes: int) -> torch.Tensor:
        return torch.empty(max(bytes, 1), dtype=torch.uint8, device=torch.device("cuda", self.index))

    def mismatch(self, target: str) -> Optional[str]:
        """Why kernels for `target` ("sm_90a") do not run here; None when they do."""
        major, minor = torch.cuda.get_device_capability(self.index)
        wanted = target.removeprefix("sm_")
        if wanted.rstrip("af") == f"{major}{minor}":
            return None
        return f"the kernels are built for {target}, this GPU is sm_{major}{minor}"


def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def _make_context_current(index: int) -> None:
    cuda = _driver()
    context, device = ctypes.c_void_p(), ctypes.c_int()
    if cuda.cuCtxGetCurrent(ctypes.byref(context)) == 0 and context.value:
        return
    status = cuda.cuDeviceGet(ctypes.byref(device), index)
    status = status or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    status = status or cuda.cuCtxSetCurrent(context)
    if status:
        raise DropinError(f"no CUDA context for this thread: CUDA error {status}")
    cuda.cuDevicePrimaryCtxRelease_v2(device)  # PyTorch keeps it alive


def _fast_empty(device: torch.device) -> Any:
    """`empty(shape, stride, dtype)` on the current device, which the caller sees to; the allocation that compiled
    code of PyTorch uses, where it exists."""
    guards = getattr(torch._C._dynamo, "guards", None)
    fast = getattr(guards, "_empty_strided_cuda", None)
    if fast is not None:
        return fast
    return lambda shape, stride, dtype: torch.empty_strided(shape, stride, dtype=dtype, device=device)
