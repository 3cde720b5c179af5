#!/usr/bin/env python3
"""Makes a self-contained directory for a GPU machine without network: ./x bundle DIR.

The programs are linked against glibc alone, Python code is pure, and libnvrtc is found on the target (a CUDA toolkit
or PyTorch's own), never shipped. CUTLASS headers travel as one archive that the launcher unpacks on first use.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 56 << 20
FOLDERS = (
    "kernels", "machines", "models", "prompts", "python", "examples", "bench/families", "bench/kernels", "bench/speed",
    "tests/gpu", "tests/sick",
)  # fmt: skip
LEFT_OUT = ("tests/sick/facts",)  # recorded on the machine that the bundle is for
FILES = ("LICENSE", "README.md", "tools/sick.py")
PROGRAMS = {
    "bin/solstice": "bin",
    "bin/solstice-runner": "bin",
    "lib/libsolstice_rt.so": "lib",
    "tests/test_gpu_runtime": "bin",
    "tests/test_random_kernels": "bin",
}
LAUNCHER = """#!/bin/sh
# Starts Solstice from this bundle; nothing has to be installed.
here=$(CDPATH= cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
if [ ! -d "$here/cutlass/include" ] && [ -w "$here/cutlass" ]; then
  mkdir "$here/cutlass/.unpack.$$" && tar -xzf "$here/cutlass/headers.tar.gz" -C "$here/cutlass/.unpack.$$" &&
    mv -T "$here/cutlass/.unpack.$$/include" "$here/cutlass/include" 2>/dev/null
  rm -rf "$here/cutlass/.unpack.$$"
fi
exec "$here/bin/solstice" "$@"
"""


def fail(message):
    print(f"bundle: {message}", file=sys.stderr)
    sys.exit(3)


def tracked(folder):
    """Files of `folder` that belong to the project: no caches, nothing that is ignored."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder],
        capture_output=True,
    )
    if listed.returncode == 0:
        names = sorted(name for name in listed.stdout.decode().split("\0") if name)
        return [ROOT / name for name in names if (ROOT / name).is_file()]
    return sorted(p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def copy_programs(build, out, programs=PROGRAMS):
    for name, folder in programs.items():
        source, target = build / name, out / folder / Path(name).name
        if not source.exists():
            fail(f"{source} is not built; run ./x build")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)


def copy_folders(out, folders=FOLDERS):
    for folder in folders:
        for path in tracked(folder):
            if any(path.is_relative_to(ROOT / name) for name in LEFT_OUT):
                continue
            target = out / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)


def copy_files(out):
    for name in FILES:
        if (ROOT / name).exists():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, out / name)


def cutlass_headers(python=sys.executable):
    """Of the package in `python`."""
    ask = "import importlib.util as u; found = u.find_spec('cutlass_library'); print(found.origin if found else '')"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    origin = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True, env=env).stdout.strip()
    folder = Path(origin).parent / "source/include" if origin else None
    if folder is None or not (folder / "cutlass/cutlass.h").exists():
        fail("CUTLASS headers are not installed (nvidia-cutlass); run ./x setup")
    return folder


def plain(info):
    """The same bytes whoever packs: no owner, no time."""
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


def pack_cutlass(out):
    (out / "cutlass").mkdir(parents=True, exist_ok=True)
    headers = cutlass_headers()
    with tarfile.open(out / "cutlass/headers.tar.gz", "w:gz") as archive:
        for path in sorted(p for p in headers.rglob("*") if p.is_file() and p.suffix in (".h", ".hpp", ".cuh", ".inl")):
            archive.add(path, Path("include") / path.relative_to(headers), filter=plain)


def write_launcher(out):
    launcher = out / "solstice"
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)


def write_gpu_tests(out):
    for script, name in (("gpu_tests.sh", "gpu-tests"), ("sanitize_kernels.sh", "sanitize-kernels")):
        shutil.copy2(ROOT / "tools" / script, out / name)
        (out / name).chmod(0o755)


def commit():
    asked = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True)
    return asked.stdout.strip() if asked.returncode == 0 else ""


def write_manifest(out):
    version = subprocess.run(
        [out / "bin/solstice", "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    files, total = [], 0
    for path in sorted(p for p in out.rglob("*") if p.is_file()):
        content = path.read_bytes()
        total += len(content)
        files.append(
            {"path": str(path.relative_to(out)), "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        )
    manifest = {"schema": "solstice.bundle/1", "version": version, "commit": commit(), "files": files}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    return len(files), total


def is_bundle(folder):
    try:
        return json.loads((folder / "manifest.json").read_text())["schema"].startswith("solstice.bundle/")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def make(out, build, limit=LIMIT):
    """Number of files and bytes of the bundle that `out` becomes."""
    if out.exists() and any(out.iterdir()):
        if not is_bundle(out):
            fail(f"{out} is not empty and holds no bundle; name another folder")
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    copy_programs(build, out)
    copy_folders(out)
    copy_files(out)
    pack_cutlass(out)
    write_launcher(out)
    write_gpu_tests(out)
    count, total = write_manifest(out)
    if total > limit:
        fail(f"the bundle has {total / 2**20:.1f} MiB, over the limit of {limit >> 20} MiB")
    return count, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="that becomes the bundle; an older bundle there is replaced")
    parser.add_argument("build", type=Path, nargs="?", default=ROOT / "build", help="folder of the build")
    arguments = parser.parse_args()
    out = arguments.folder.resolve()
    count, total = make(out, arguments.build.resolve())
    shown = os.path.relpath(out)
    print(f"{shown}: {count} files, {total / 2**20:.1f} MiB; start {shown}/solstice")


if __name__ == "__main__":
    main()
