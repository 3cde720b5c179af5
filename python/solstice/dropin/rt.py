"""libsolstice_rt through ctypes (src/rt/solstice_rt.h, ABI 1)."""

from __future__ import annotations

import ctypes
import weakref

from .errors import DropinError

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
        if found != ABI or not hasattr(fast, "solstice_rt_relaunch"):
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
        # Keeps the GIL: giving it back and fetching it again costs more than a launch. It also makes the launch
        # one step for other threads.
        self.relaunch = fast.solstice_rt_relaunch
        self.relaunch.argtypes = (ctypes.c_void_p, ctypes.c_char_p)

    @classmethod
    def open(cls, path: str) -> "Library":
        if path not in cls._opened:
            cls._opened[path] = cls(path)
        return cls._opened[path]


class _Call(ctypes.Structure):
    """solstice_rt_call"""

    _fields_ = [
        ("plan", ctypes.c_void_p),
        ("tensors", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
        ("moving", ctypes.c_void_p),
        ("moving_count", ctypes.c_size_t),
        ("err", ctypes.c_void_p),
        ("err_len", ctypes.c_size_t),
    ]


class Plan:
    """A loaded plan with its pointer array. It remembers addresses from prepare to launch, so that every module and
    every stream has one of its own. `moving`: slots whose address comes with each launch."""

    def __init__(self, library: Library, plan_path: str, slots: int, moving: list[int]) -> None:
        self.library = library
        self.error = ctypes.create_string_buffer(_ERROR_BYTES)
        self.handle = ctypes.c_void_p()
        limit = ctypes.c_size_t(_ERROR_BYTES)
        if library.load(plan_path.encode(), ctypes.byref(self.handle), self.error, limit):
            raise DropinError(f"cannot load {plan_path}: {self.message()}")
        weakref.finalize(self, library.free, self.handle)
        count = library.tensor_count(self.handle)
        if count != slots:
            raise DropinError(f"{plan_path} has {count} interface buffers, the recording {slots}")
        self.workspace_bytes = int(library.workspace_bytes(self.handle))
        self.pointers = (ctypes.c_void_p * slots)()
        self.moving = (ctypes.c_size_t * len(moving))(*moving)

    def message(self) -> str:
        return self.error.value.decode(errors="replace")


class Launcher:
    """A plan with a workspace and a stream: everything that stays the same from launch to launch."""

    def __init__(self, plan: Plan, workspace: int, stream: int) -> None:
        self._plan = plan
        self._call = _Call(
            plan.handle,
            ctypes.addressof(plan.pointers),
            workspace,
            stream,
            ctypes.addressof(plan.moving),
            len(plan.moving),
            ctypes.addressof(plan.error),
            _ERROR_BYTES,
        )
        self.address = ctypes.addressof(self._call)

    def prepare(self, moved: bytes) -> None:
        plan, call = self._plan, self._call
        for slot, address in zip(plan.moving, (ctypes.c_size_t * len(plan.moving)).from_buffer_copy(moved)):
            plan.pointers[slot] = address
        workspace, stream = ctypes.c_void_p(call.workspace), ctypes.c_void_p(call.stream)
        limit = ctypes.c_size_t(_ERROR_BYTES)
        if plan.library.prepare(plan.handle, plan.pointers, workspace, stream, plan.error, limit):
            raise DropinError(f"preparing the kernels failed: {plan.message()}")

    def launch(self, moved: bytes) -> None:
        """`moved`: the moving slots' addresses, as C pointers in a row."""
        if self._plan.library.relaunch(self.address, moved):
            raise DropinError(f"launching the kernels failed: {self._plan.message()}")
