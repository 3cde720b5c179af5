#!/usr/bin/env python3
"""Compares the device code of two builds: what `bench_emit` wrote with each, as text and, where that differs, as SASS.

    tools/compare_emitted.py BEFORE AFTER [--kernels-before DIR] [--kernels-after DIR] [--jobs N] [--match TEXT]
        [--holding TEXT] [--explain] [--pack DIR]

BEFORE and AFTER are folders of `bench_emit`. Without --kernels-*: the text of every file has to be the same. With them
each distinct source is compiled by NVRTC against its own folder of device headers and the machine code of every kernel
is compared, with its registers and shared memory; sources that are the same text are compiled too, since the headers
may differ. Compiled code is kept in ~/.cache/solstice-emitted by content, so a second call compiles only what is new.
--match: only names that contain TEXT; --holding: only sources that do. --explain: what differs in each kernel
(sass.py), its registers and spills, and how many sources differ how. --pack: writes the launch plans of the programs
that differ to DIR, with the cubins of both builds, for tools/time_emitted.py to time on a GPU. Exit code 1: something
differs, is missing, or does not compile.
"""

import argparse
import concurrent.futures
import ctypes
import ctypes.util
import functools
import hashlib
import json
import os
import sys
from collections import Counter
from pathlib import Path

import sass

ARCHITECTURE = "sm_90a"
CACHE = Path.home() / ".cache/solstice-emitted"


def cuda_folder():
    """The folder of CUDA's pip packages, or the toolkit's."""
    for entry in sys.path:
        if (found := Path(entry) / "nvidia/cu13").is_dir():
            return found
    return Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))


@functools.cache
def nvrtc():
    """The compiler's library, loaded once a process."""
    folder = cuda_folder()
    for libraries in ("lib", "lib64"):
        for name in sorted((folder / libraries).glob("libnvrtc.so*")):
            for builtins in sorted(name.parent.glob("libnvrtc-builtins.so*")):  # which it would look for elsewhere
                ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(str(name))
    sys.exit(f"no libnvrtc below {folder}: run this with the Python of .venv")


def compiled(source, kernels):
    """(cubin, ""), or (b"", the compiler's log)."""
    library, program = nvrtc(), ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source, b"emitted.cu", 0, None, None)
    options = ["--std=c++20", f"--gpu-architecture={ARCHITECTURE}", f"-I{kernels}", f"-I{cuda_folder() / 'include'}"]
    texts = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    status, size = library.nvrtcCompileProgram(program, len(options), texts), ctypes.c_size_t()
    ask = ("Log", "ProgramLog") if status else ("CUBIN", "CUBIN")
    getattr(library, f"nvrtcGet{ask[1]}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{ask[1]}")(program, text)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return (b"", text.value.decode(errors="replace")) if status else (text.raw[: size.value], "")


def machine_code(cubin):
    """{section: hash} of what runs: the code of every kernel, its shared memory and its registers.

    Constants that code does not address by an immediate (.nv.constant4, .nv.global) change with mangled names alone and
    are left out.
    """
    found = sass.sections(cubin)
    out = {
        name: hashlib.sha256(repr((section.content, section.size)).encode()).hexdigest()
        for name, section in found.items()
        if name.startswith((".text.", ".nv.shared."))
    }
    registers = sass.attribute(found[".nv.info"].content, sass.REGISTER_COUNT)
    return out | {"registers": repr(sorted(registers.values()))}


def code_of(job):
    """(key, machine code or None, log)"""
    key, path, kernels = job
    kept = CACHE / key
    if not kept.exists():
        cubin, log = compiled(Path(path).read_bytes(), kernels)
        if log:
            return key, None, log
        kept.parent.mkdir(parents=True, exist_ok=True)
        temporary = kept.with_suffix(f".{os.getpid()}")
        temporary.write_bytes(cubin)
        temporary.rename(kept)
    return key, machine_code(kept.read_bytes()), ""


def fingerprint(folder):
    """Of all device headers."""
    digest = hashlib.sha256()
    for path in sorted(p for p in Path(folder).rglob("*") if p.is_file()):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def listed(folder, match, holding):
    return {
        str(path.relative_to(folder)): path
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and match in str(path.relative_to(folder)) and holding.encode() in path.read_bytes()
    }


def compare_text(before, after):
    """Names that differ, by what kind of file they are."""
    different = Counter()
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            print(f"{name}: only {'after' if name in after else 'before'}")
            different["missing"] += 1
        elif before[name].read_bytes() != after[name].read_bytes():
            different[name.split(".", 1)[1].split(".")[-1]] += 1
            if different.total() <= 20:
                print(f"{name}: text differs")
    return different


def explain(one, other):
    """(kind, text) of each kernel that differs between two cubins."""
    pairs = zip(*(sass.kernels((CACHE / key).read_bytes()) for key in (one, other)), strict=True)
    return [sass.difference(a, b) for a, b in pairs if a.code != b.code]


def content_hash(content):
    """The hash by which a launch plan names its cubins (base/hash.h)."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or sys.exit("--pack needs libxxhash"))

    class Hash(ctypes.Structure):
        _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]

    library.XXH3_128bits.restype = Hash
    library.XXH3_128bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    found = library.XXH3_128bits(content, len(content))
    return f"{found.high:016x}{found.low:016x}"


def pack(names, key_of, args):
    """DIR/PROGRAM/{before,after}/plan.json with cubins, of the programs that hold the sources `names`."""
    programs = sorted({name.rsplit(".", 2)[0] for name in names})
    for program in programs:
        for side, folder in (("before", args.before), ("after", args.after)):
            plan = json.loads((Path(folder) / f"{program}.plan.json").read_text())
            out = Path(args.pack) / program.replace("/", "-") / side
            out.mkdir(parents=True, exist_ok=True)
            for i, module in enumerate(plan["modules"]):
                content = (CACHE / key_of[side][f"{program}.{i}.cu"]).read_bytes()
                module |= {"cubin": f"{i}.cubin", "hash": content_hash(content)}
                (out / module["cubin"]).write_bytes(content)
            (out / "plan.json").write_text(json.dumps(plan))
    print(f"{len(programs)} programs in {args.pack}")


def compare_code(before, after, args):
    """How many sources compile to other machine code."""
    prints = {folder: fingerprint(folder) for folder in (args.kernels_before, args.kernels_after)}
    jobs, pairs, key_of = {}, {}, {"before": {}, "after": {}}
    for name in sorted(before.keys() & after.keys()):
        if not name.endswith(".cu"):
            continue
        keys = []
        sides = (("before", before[name], args.kernels_before), ("after", after[name], args.kernels_after))
        for side, path, kernels in sides:
            key = hashlib.sha256(path.read_bytes()).hexdigest()[:32] + "-" + prints[kernels]
            jobs.setdefault(key, (key, str(path), kernels))
            key_of[side][name] = key
            keys.append(key)
        pairs.setdefault(tuple(keys), name)
    print(f"{len(jobs)} sources to compile for {len(pairs)} comparisons", flush=True)
    codes, bad, different = {}, 0, []
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for done, (key, code, log) in enumerate(pool.map(code_of, jobs.values(), chunksize=4), 1):
            codes[key] = code
            if code is None:
                bad += 1
                print(f"{jobs[key][1]} does not compile:\n" + "\n".join(log.splitlines()[:6]))
            if done % 200 == 0:
                print(f"  {done} of {len(jobs)}", flush=True)
    kinds = Counter()
    for (one, other), name in pairs.items():
        a, b = codes[one], codes[other]
        if a is None or b is None or a == b:
            continue
        bad += 1
        different.append(name)
        where = ", ".join(sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k)))
        print(f"{name}: other machine code in {where}")
        if args.explain:
            differences = explain(one, other)
            kinds.update({kind for kind, _ in differences})
            print("\n".join(f"    {kind}: {text}" for kind, text in differences))
    for kind, count in kinds.most_common():
        print(f"{count} sources: {kind}")
    print(f"{len(pairs)} pairs of sources, {bad} with other machine code or none")
    if args.pack:
        pack(different, key_of, args)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before"), parser.add_argument("after")
    parser.add_argument("--kernels-before", help="device headers that BEFORE is compiled with")
    parser.add_argument("--kernels-after", help="device headers that AFTER is compiled with")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--match", default="", help="only names that contain this")
    parser.add_argument("--holding", default="", help="only sources that contain this")
    parser.add_argument("--explain", action="store_true", help="how the code of each kernel differs")
    parser.add_argument("--pack", metavar="DIR", help="launch plans and cubins of what differs, for time_emitted.py")
    args = parser.parse_args()
    if args.pack and args.holding:
        parser.error("--pack takes whole programs, of which --holding leaves sources out: choose by --match")
    before, after = (listed(folder, args.match, args.holding) for folder in (args.before, args.after))
    different = compare_text(before, after)
    print(
        f"{len(before)} files: " + (", ".join(f"{n} {kind} differ" for kind, n in different.items()) or "the same text")
    )
    if not args.kernels_before:
        return 1 if different else 0
    bad = compare_code(before, after, args)
    return 1 if bad or different["missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
