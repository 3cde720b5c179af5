"""A drop-in made by hand for the GPU tests: a plan with one kernel, y = max(x * w[0], 0)."""

import ctypes
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import warnings

import torch

SHAPE = (512, 1024)
SOURCE = f"""
import torch
class Model(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([scale]))
    def forward(self, x):
        return torch.relu(x * self.w)
def get_inputs(): return [torch.randn{SHAPE}]
def get_init_inputs(): return [2.0]
"""
KERNEL = """
extern "C" __global__ void scaled_relu(const float* x, const float* w, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i] * w[0], 0.f);
}
"""
COUNT = SHAPE[0] * SHAPE[1]


def buffer(name, kind, shape, **more):
    count = 1
    for n in shape:
        count *= n
    strides = [shape[1], 1] if len(shape) == 2 else [1]
    return {
        "name": name,
        "kind": kind,
        "dtype": "f32",
        "shape": list(shape),
        "strides": strides,
        "bytes": 4 * count,
        "alignment": 16,
        **more,
    }


def pointer(name):
    return {"kind": "pointer", "buffer": name}


def make_plan(target, frozen):
    """Frozen: the weight is copied into the workspace once; the kernel reads it there."""
    weight = "packed" if frozen else "w"
    launch = {
        "name": "main",
        "kind": "launch",
        "module": "k",
        "entry": "scaled_relu",
        "grid": [-(-COUNT // 256), 1, 1],
        "block": [256, 1, 1],
        "arguments": [pointer("x"), pointer(weight), pointer("y"), {"kind": "i32", "integer": COUNT}],
    }
    pack = {"name": "pack", "kind": "copy", "phase": "prepare", "buffer": "packed", "from": "w", "bytes": 4}
    buffers = [
        buffer("x", "input", SHAPE),
        buffer("w", "param", (1,), path="w"),
        buffer("y", "output", SHAPE),
    ]
    if frozen:
        buffers.append(buffer("packed", "workspace", (1,), persistent=True))
    return {
        "schema": "solstice.plan/1",
        "program": "scaled_relu",
        "target": target,
        "buffers": buffers,
        "modules": [{"name": "k", "cubin": "k.cubin", "hash": "?"}],
        "steps": [*([pack] if frozen else []), launch],
    }


def write_plan(folder, plan, library):
    """The content hash is the library's own: it names the one it wants."""
    path = folder / "plan.json"
    path.write_text(json.dumps(plan))
    rt, handle, message = ctypes.CDLL(str(library)), ctypes.c_void_p(), ctypes.create_string_buffer(1024)
    rt.solstice_rt_load(str(path).encode(), ctypes.byref(handle), message, ctypes.c_size_t(1024))
    plan["modules"][0]["hash"] = re.search(r"has hash ([0-9a-f]+)", message.value.decode()).group(1)
    path.write_text(json.dumps(plan))


def compile_kernel(nvcc, folder):
    (folder / "k.cu").write_text(KERNEL)
    major, minor = torch.cuda.get_device_capability()
    subprocess.run(
        [nvcc, "-cubin", f"-arch=sm_{major}{minor}", "-o", str(folder / "k.cubin"), str(folder / "k.cu")],
        check=True,
    )
    return folder / "k.cubin"


def write_description(folder, weights):
    from solstice import dropin
    from solstice.dropin import structure

    described = {
        "schema": "solstice.dropin/1",
        "plan": "plan.json",
        "library": "libsolstice_rt.so",
        "weights": weights,
        "source": {
            "file": "original.py",
            "class": "Model",
            "sha256": hashlib.sha256(SOURCE.encode()).hexdigest(),
        },
        "arguments": [{"buffer": "x", "dtype": "f32", "shape": list(SHAPE), "stride": [SHAPE[1], 1]}],
        "results": [{"buffer": "y"}],
        "flags": {
            "matmul_tf32": torch.backends.cuda.matmul.allow_tf32,
            "cudnn_tf32": torch.backends.cudnn.allow_tf32,
            "deterministic": False,
        },
    }
    described["structure"] = structure.describe(dropin.load_original(str(folder), described).Model(2.0))
    (folder / "dropin.json").write_text(json.dumps(described))


def write_outcome(folder, weights, cubin, library):
    """What `solstice optimize` writes."""
    from solstice import dropin

    package = pathlib.Path(dropin.__file__).parent
    shutil.copy(cubin, folder / "k.cubin")
    shutil.copy(library, folder / "libsolstice_rt.so")
    major, minor = torch.cuda.get_device_capability()
    write_plan(folder, make_plan(f"sm_{major}{minor}", weights == "frozen"), library)
    (folder / "original.py").write_text(SOURCE)
    write_description(folder, weights)
    text = (package.parent / "templates" / "model_new.py.in").read_text()
    for key, value in {
        "@CLASS@": "Model",
        "@VERSION@": "test",
        "@FOLDER@": json.dumps(str(folder)),
        "@NOTE@": "",
    }.items():
        text = text.replace(key, value)
    (folder / "model_new.py").write_text(text)
    shutil.copytree(package, folder / "solstice_dropin", ignore=shutil.ignore_patterns("__pycache__"))


def load(folder):
    """The names of the outcome's file: `Model`, `ModelNew`."""
    scope = {"__name__": "model_new", "__file__": str(folder / "model_new.py")}
    exec(compile((folder / "model_new.py").read_text(), scope["__file__"], "exec"), scope)
    return scope


def same(new, original, x):
    torch.testing.assert_close(new(x), original(x), rtol=0, atol=0)


def fast(new, original, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(new, original, x)
