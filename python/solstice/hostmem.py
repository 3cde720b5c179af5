"""How much host memory may still be used, so that a module is refused or built fake before the
kernel kills the process. Source: /proc/meminfo and the cgroup (v2, then v1) of this process."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

_CGROUP_LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def _read_int(path: str) -> Optional[int]:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):  # absent, or the word "max"
        return None


def _meminfo_available() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/meminfo has no MemAvailable line")


def available_bytes() -> int:
    """Bytes that can be allocated without swapping or meeting the control group's limit."""
    available = _meminfo_available()
    for limit_path, usage_path in _CGROUP_LIMITS:
        limit, usage = _read_int(limit_path), _read_int(usage_path)
        if limit is not None and usage is not None:
            available = min(available, max(0, limit - usage))
    return available
