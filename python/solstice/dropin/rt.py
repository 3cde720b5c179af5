"""libsolstice_rt through ctypes (src/rt/solstice_rt.h, ABI 1)."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

from .recording import DropinError

ABI = 1
_ERROR_BYTES = 1024


class Library:
    _opened: dict[str, "Library"] = {}

    def __init__(self, path: str) -> None:
        try:
            slow, fast = ctypes.CDLL(path), ctypes.PyDLL(path)
            found = slow.solstice_rt_abi()
        except (OSError, AttributeError) as error:
            raise DropinError(f"cannot load {path}: {error}") from None
        if found != ABI:
            raise DropinError(
                f"{path} has ABI {found}, this runtime speaks {ABI}: take both from one version of Solstice"
            )
        self.load, self.free, self.prepare = (
            slow.solstice_rt_load,
            slow.solstice_rt_free,
            slow.solstice_rt_prepare,
        )
        self.tensor_count, self.workspace_bytes = (
            slow.solstice_rt_tensor_count,
            slow.solstice_rt_workspace_bytes,
        )
        self.tensor_count.restype = self.workspace_bytes.restype = ctypes.c_size_t
        self.free.restype = None
        # Keeps the GIL: giving it back and fetching it again costs more than a launch.
        self.launch = fast.solstice_rt_launch

    @classmethod
    def open(cls, path: str) -> "Library":
        if path not in cls._opened:
            cls._opened[path] = cls(path)
        return cls._opened[path]


class Plan:
    """A loaded plan with a pointer array. It remembers addresses from prepare to launch, so that every
    module and every stream has one of its own."""

    def __init__(self, library_path: str, plan_path: str, slots: int) -> None:
        self._library = Library.open(library_path)
        self._error = ctypes.create_string_buffer(_ERROR_BYTES)
        handle = ctypes.c_void_p()
        limit = ctypes.c_size_t(_ERROR_BYTES)
        if self._library.load(plan_path.encode(), ctypes.byref(handle), self._error, limit):
            raise DropinError(f"cannot load {plan_path}: {self._message()}")
        weakref.finalize(self, self._library.free, handle)
        count = self._library.tensor_count(handle)
        if count != slots:
            raise DropinError(f"{plan_path} has {count} interface buffers, the recording {slots}")
        self.workspace_bytes = int(self._library.workspace_bytes(handle))
        self.pointers = (ctypes.c_void_p * slots)()
        self._handle, self._limit = handle, limit
        self._launch, self._arguments = self._library.launch, None

    def bind(self, workspace: int, stream: int) -> None:
        """Fixes the arguments of prepare and launch: nothing is converted when they run."""
        self._arguments = (
            self._handle,
            self.pointers,
            ctypes.c_void_p(workspace),
            ctypes.c_void_p(stream),
            self._error,
            self._limit,
        )

    def prepare(self) -> None:
        if self._library.prepare(*self._arguments):
            raise DropinError(f"preparing the kernels failed: {self._message()}")

    def launch(self) -> None:
        if self._launch(*self._arguments):
            raise DropinError(f"launching the kernels failed: {self._message()}")

    def _message(self) -> str:
        return self._error.value.decode(errors="replace")
