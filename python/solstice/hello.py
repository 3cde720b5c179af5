"""What this worker is: versions and device; and the flags that decide what eager means."""

from __future__ import annotations

import os
import platform
from typing import Any

import torch

from .errors import OracleError, environment_error, input_error
from .protocol import SCHEMA

DEVICES = ("auto", "cuda", "cpu")


def choose_device(name: str) -> torch.device:
    if name not in DEVICES:
        raise input_error("hello.device", f"no device `{name}`; legal are {', '.join(DEVICES)}")
    if name != "cpu" and torch.cuda.is_available():
        # The current device, asked without initialising CUDA: that comes after the trace has forked.
        return torch.device("cuda", torch.cuda.current_device() if torch.cuda.is_initialized() else 0)
    if name == "cuda":
        raise no_gpu()
    return torch.device("cpu")


def describe_device(device: torch.device) -> dict[str, Any]:
    if device.type == "cpu":
        return {"kind": "cpu", "name": platform.processor() or platform.machine()}
    properties = torch.cuda.get_device_properties(device)
    return {
        "kind": "cuda",
        "index": device.index,
        "name": properties.name,
        "uuid": str(properties.uuid),
        "capability": [properties.major, properties.minor],
        "sm_count": properties.multi_processor_count,
        "total_bytes": properties.total_memory,
        "l2_bytes": properties.L2_cache_size,
    }


def describe_flags() -> dict[str, Any]:
    """They hold for a session: the user's file may set them when it is imported."""
    return {
        "matmul_precision": torch.get_float32_matmul_precision(),
        "matmul_tf32": torch.backends.cuda.matmul.allow_tf32,
        "cudnn_tf32": torch.backends.cudnn.allow_tf32,
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }


def describe_probed(name: str, probed: dict[str, Any]) -> dict[str, Any]:
    """The device that `choose_device` will choose in a session, from what the driver said (probe.py)."""
    if name not in DEVICES:
        raise input_error("hello.device", f"no device `{name}`; legal are {', '.join(DEVICES)}")
    built = int(torch.version.cuda.split(".")[0]) if torch.version.cuda else None
    usable = probed and built is not None and probed["driver"] // 1000 >= built
    if name != "cpu" and usable:
        return probed["device"]
    if name == "cuda":
        raise no_gpu()
    return describe_device(torch.device("cpu"))


def no_gpu() -> OracleError:
    build = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
    return environment_error(
        "hello.no_gpu",
        f"PyTorch sees no usable GPU; PyTorch {torch.__version__} is {build}",
        hint="check the driver with nvidia-smi, or use the device `cpu`",
    )


def describe_worker(device: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "pid": os.getpid(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "device": device,
    }
