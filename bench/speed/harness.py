"""What the speed tables share: programs compiled and run through libsolstice_rt on PyTorch's tensors, ceilings of the
memory, and timing side by side.

A row's times are taken in turn (A B B A), each after 256 MB were written so that L2 holds nothing of it; the median
counts. Ceilings are timed in the same turns on as many bytes: `copy` is PyTorch's device-to-device copy (bytes read
plus bytes written), `read` the best of PyTorch's sum of a flat tensor and two plain kernels that read 16 bytes a lane.

Every script takes --quick, --seed N and --json FILE (`arguments`), and writes `{"machine": {..}, "results": [..]}`
there (`save`), one object a row. Of each, table.py reads

    work    the line of the table of bars that it belongs to   "softmax"
    shape   extents and dtype, for people                      "8192 x 16384 f32"
    ratio   what was reached, in units of the bar
    bar     what it must reach, and `of`, what it is a ratio to  0.9, "copy"
    how     kernels and knobs that were chosen
    speedup, floor   PyTorch's time over ours, and what it must be at least, where there are such
    ms, "eager ms" or other times, "TB/s" or "TFLOP/s", MHz   where there are such
    error and limit   normwise against float64, where there are such
    failed  why there is no figure, in place of all but work and shape
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Optional

import torch

DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
    "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
    "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
}  # fmt: skip
FLUSH_BYTES = 256 << 20

# A grid as large as the machine, which strides over the data, and one block for every 32 KiB, all its loads in flight.
READ = """
extern "C" __global__ void read_all(const uint4* data, long long count, unsigned* out) {
  const long long step = (long long)gridDim.x * blockDim.x;
  unsigned sum = 0;
  #pragma unroll 8
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 v = __ldg(data + i);
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x9e3779b9u) *out = sum;
}

extern "C" __global__ void read_tiles(const uint4* data, long long count, unsigned* out) {
  const long long first = (long long)blockIdx.x * blockDim.x * 8 + threadIdx.x;
  uint4 v[8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const long long at = first + i * blockDim.x;
    v[i] = at < count ? __ldg(data + at) : make_uint4(0, 0, 0, 0);
  }
  unsigned sum = 0;
  #pragma unroll
  for (int i = 0; i < 8; ++i) sum ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
  if (sum == 0x9e3779b9u) *out = sum;
}
"""


def program_folder() -> Path:
    """Where `solstice` and its library are: a bundle, or a checkout that is built."""
    here = Path(__file__).resolve().parents[2]
    return here if (here / "manifest.json").exists() else here / "build"


def solstice() -> str:
    folder = program_folder()
    return str(folder / "solstice" if (folder / "solstice").exists() else folder / "bin/solstice")


class Program:
    """A scheduled program, compiled and loaded; `tensors` by name, outputs included."""

    def __init__(self, text: str, numerics: str = "reference") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="speed-"))
        source = self.folder / "program.ucut"
        source.write_text(text)
        done = subprocess.run(
            [solstice(), "compile", str(source), "--out", str(self.folder / "plan"), "--numerics", numerics],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr).strip())
        self._rt = ctypes.CDLL(str(program_folder() / "lib/libsolstice_rt.so"))
        self._rt.solstice_rt_workspace_bytes.restype = ctypes.c_size_t
        self._error = ctypes.create_string_buffer(1024)
        self._plan = ctypes.c_void_p()
        self._check(self._rt.solstice_rt_load(str(self.folder / "plan/plan.json").encode(), ctypes.byref(self._plan),
                                              self._error, ctypes.c_size_t(1024)))  # fmt: skip
        plan = json.loads((self.folder / "plan/plan.json").read_text())
        self.buffers = [b for b in plan["buffers"] if b["kind"] in ("input", "output", "param", "state")]

    def _check(self, code: int) -> None:
        if code:
            raise RuntimeError(self._error.value.decode(errors="replace"))

    def bind(self, given: dict[str, torch.Tensor]) -> None:
        """Inputs, parameters and states by name; outputs and the workspace are made."""
        self.workspace = torch.empty(
            max(256, self._rt.solstice_rt_workspace_bytes(self._plan)), dtype=torch.uint8, device="cuda"
        )
        self.tensors = dict(given)
        for b in self.buffers:
            if b["name"] not in self.tensors:
                if b["kind"] != "output":
                    raise KeyError(f"no value for {b['name']}")
                self.tensors[b["name"]] = torch.empty_strided(
                    b["shape"], b["strides"], dtype=DTYPES[b["dtype"]], device="cuda"
                )
            bound = self.tensors[b["name"]]
            if (
                list(bound.shape) != b["shape"]
                or list(bound.stride()) != b["strides"]
                or bound.dtype != DTYPES[b["dtype"]]
            ):
                raise ValueError(f"{b['name']}: {tuple(bound.shape)} {bound.stride()} {bound.dtype}, the plan has {b}")
        self._pointers = (ctypes.c_void_p * len(self.buffers))(
            *(self.tensors[b["name"]].data_ptr() for b in self.buffers)
        )
        torch.cuda.synchronize()
        self._check(self._rt.solstice_rt_prepare(self._plan, self._pointers, ctypes.c_void_p(self.workspace.data_ptr()),
                                                 ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), self._error,
                                                 ctypes.c_size_t(1024)))  # fmt: skip

    def __call__(self) -> None:
        self._check(self._rt.solstice_rt_launch(self._plan, self._pointers, ctypes.c_void_p(self.workspace.data_ptr()),
                                                ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), self._error,
                                                ctypes.c_size_t(1024)))  # fmt: skip

    def close(self) -> None:
        self._rt.solstice_rt_free(self._plan)
        shutil.rmtree(self.folder, ignore_errors=True)


_flush: Optional[torch.Tensor] = None


def flush() -> None:
    global _flush
    if _flush is None:
        _flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.float32, device="cuda")
    _flush.fill_(1.0)


def seconds_once(work: Callable[[], Any]) -> float:
    flush()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3


def side_by_side(works: dict[str, Callable[[], Any]], rounds: int = 8) -> dict[str, float]:
    """Median seconds of each; every round runs all in order and then in reverse."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(rounds):
        for name in [*works, *reversed(works)]:
            times[name].append(seconds_once(works[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def copy_of(size: int) -> Callable[[], Any]:
    """A copy that moves `size` bytes in all."""
    count = size // 8
    source, target = torch.ones(count, device="cuda"), torch.empty(count, device="cuda")
    return lambda: target.copy_(source)


def reads_of(size: int) -> dict[str, Callable[[], Any]]:
    data = torch.ones(size // 4, device="cuda")
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    strided, tiles = torch.cuda._compile_kernel(READ, "read_all"), torch.cuda._compile_kernel(READ, "read_tiles")
    machine_wide, each_tile = (
        (torch.cuda.get_device_properties(0).multi_processor_count * 4, 1, 1),
        (-(-size // 32768), 1, 1),
    )
    return {
        "read": lambda: strided(grid=machine_wide, block=(512, 1, 1), args=[data, size // 16, out]),
        "read tiles": lambda: tiles(grid=each_tile, block=(256, 1, 1), args=[data, size // 16, out]),
        "torch.sum": data.sum,
    }


CLOCK = """
extern "C" __global__ void clocks(long long* out) {
  unsigned sm;
  long long now;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  out[2 * sm] = clock64();
  out[2 * sm + 1] = now;
}
"""


class Clock:
    """The SMs' clock while something runs: their cycle counters and the global timer, read before and after."""

    def __init__(self) -> None:
        self._kernel = torch.cuda._compile_kernel(CLOCK, "clocks")
        self._sms = torch.cuda.get_device_properties(0).multi_processor_count
        self._at = torch.zeros(2, self._sms, 2, dtype=torch.int64, device="cuda")

    def _read(self, which: int) -> None:
        self._kernel(grid=(4 * self._sms, 1, 1), block=(1, 1, 1), args=[self._at[which]])

    def megahertz(self, work: Callable[[], Any], times: int = 5) -> float:
        """The median over the SMs and `times` runs, each with a cold L2."""
        found = []
        for _ in range(times):
            flush()
            self._read(0)
            work()
            self._read(1)
            cycles, nanoseconds = (self._at[1] - self._at[0]).unbind(1)
            found.append(statistics.median((cycles / nanoseconds * 1e3).tolist()))
        return statistics.median(found)


@functools.cache
def machine() -> dict[str, str]:
    # A number or a UUID; nvidia-smi takes either.
    mine = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0"
    query = ["nvidia-smi", "-i", mine, "--query-gpu=driver_version,clocks.sm,clocks.mem", "--format=csv,noheader"]
    driver = subprocess.run(query, capture_output=True, text=True)
    version = subprocess.run([solstice(), "--version"], capture_output=True, text=True).stdout.strip()
    return {
        "device": torch.cuda.get_device_name(0),
        "driver, clocks": driver.stdout.strip() if driver.returncode == 0 else "unknown",
        "torch": torch.__version__,
        "solstice": version,
    }


def arguments(about: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few rows, within a minute")
    parser.add_argument("--seed", type=int, default=0, help="of values and of the random shapes")
    parser.add_argument("--json", metavar="FILE", help="results; by default in $OUT, or runs/speed")
    return parser.parse_args()


def save(args: argparse.Namespace, results: list[dict[str, Any]]) -> None:
    path = Path(args.json) if args.json else results_folder() / (Path(sys.argv[0]).stem + ".json")
    path.write_text(
        json.dumps({"machine": machine(), "seed": args.seed, "quick": args.quick, "results": results}, indent=1) + "\n"
    )


def results_folder() -> Path:
    out = Path(os.environ.get("OUT", "runs/speed"))
    out.mkdir(parents=True, exist_ok=True)
    return out


def say(text: str) -> None:
    print(text, flush=True)
    sys.stdout.flush()
