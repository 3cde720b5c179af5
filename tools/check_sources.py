#!/usr/bin/env python3
"""Do the sources of a diagnosis agree? What two of them both say of a kernel is compared.

    tools/check_sources.py [--solstice PROGRAM] [--family NAME,..] [--each N] [--device cuda]
    tools/check_sources.py [--solstice PROGRAM] --facts DIR

About ten programs of each built kernel family (tools/source_programs.py) are compiled, and of every launch is compared

    registers, stack, barriers   ptxas's report, and the cubin's ELF sections
    shared memory                ptxas's report, the ELF sections, the plan, and the facts
    threads                      the plan's block, and the limit in the cubin
    spills                       ptxas's bytes, and the loads and stores of local memory in the machine code
    occupancy                    the facts, and the rules of CUDA's own occupancy header, written here once more
    bytes                        the plan's tensors, and loads and stores of kernels without loops
    products                     wgmma and mma in the machine code of a main loop, and the tile of the schedule

`--device cuda` profiles with counters and also compares the wgmma instructions that ran with those of the equations.
`--facts DIR` compares those in facts that were recorded, as `tests/sick/facts`.
Exit code 1: something differs. The machine code needs nvdisasm; without it these comparisons are left out, by name.
"""

import argparse
import gzip
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cubin_file
from source_programs import programs_of

ROOT = Path(__file__).resolve().parent.parent
# Products of narrow operands that one product of the equations takes (docs/numerics.md).
PRODUCTS = {"tf32": 1, "tf32x3": 3, "bf16": 1, "bf16x3": 3, "bf16x6": 6, "fp16": 1, "fp16x3": 3}
# nvdisasm's name has the shape of wgmma: HGMMA.64x256x16.F32
WGMMA = re.compile(r"\b[HBQI]GMMA\.(\d+)x(\d+)x(\d+)\.")


class Kernel:
    """A launch of a program, and what each source says of it."""

    def __init__(self, name, program, step, facts, sheet, ptxas, cubin, sass):
        self.name = name  # "gemm 3, k"
        self.program = program  # its text
        self.step = step  # of plan.json
        self.facts = facts  # of the step, in the facts
        self.sheet = sheet  # of the kernel, in the facts
        self.ptxas = ptxas
        self.cubin = cubin
        self.sass = sass  # of nvdisasm, as text; None: it is missing


class Checks:
    def __init__(self):
        self.done = Counter()
        self.equal_bytes = Counter()
        self.differ = []

    def equal(self, what, kernel, **said):
        self.done[what] += 1
        if any(value != list(said.values())[0] for value in said.values()):
            self.say(what, kernel, said)

    def holds(self, what, kernel, true, **said):
        self.done[what] += 1
        if not true:
            self.say(what, kernel, said)

    def say(self, what, kernel, said):
        words = ", ".join(f"{source} {value}" for source, value in said.items())
        self.differ.append(f"{kernel.name}: {what}: {words}")


def check_resources(kernel, checks, machine):
    ptxas, cubin = kernel.ptxas, kernel.cubin
    checks.equal("registers", kernel, ptxas=ptxas["registers"], cubin=cubin.registers, facts=kernel.facts["registers"])
    checks.equal("stack", kernel, ptxas=ptxas["stack_bytes"], cubin=cubin.stack, facts=kernel.facts["stack_bytes"])
    checks.equal("barriers", kernel, ptxas=ptxas["barriers"], cubin=cubin.barriers)
    static = ptxas["static_shared_bytes"]
    system = machine["shared_reserved"] if cubin.shared else 0  # which the section of CUDA 13 holds too
    checks.holds(
        "static shared memory", kernel, cubin.shared in (static, static + system), ptxas=static, cubin=cubin.shared
    )
    checks.equal(
        "shared memory", kernel, ptxas_and_plan=static + kernel.step["shared_bytes"], facts=kernel.facts["shared_bytes"]
    )


def check_threads(kernel, checks):
    threads = math.prod(kernel.step["block"])
    checks.equal("block", kernel, plan=kernel.step["block"], facts=kernel.facts["block"])
    limit = kernel.cubin.threads
    if limit:
        checks.holds("threads", kernel, threads <= limit, plan=threads, cubin=limit)


def bytes_of(mix, space, store):
    """Of a thread's accesses."""
    return sum(
        a["bits"] // 8 * a["count"] for a in mix.get("accesses", []) if a["space"] == space and a["store"] == store
    )


def check_spills(kernel, checks):
    if kernel.sass is None:
        return
    mix = kernel.facts["sass"]["mix"]
    stores, loads = bytes_of(mix, "local", True), bytes_of(mix, "local", False)
    told = kernel.ptxas["spill_stores"], kernel.ptxas["spill_loads"]
    if kernel.ptxas["stack_bytes"] == 0:
        checks.holds("no local memory", kernel, stores + loads == 0, ptxas="no stack", sass=stores + loads)
    elif mix.get("computed_local", 0) == 0 and not kernel.facts["sass"].get("routines"):
        checks.equal("spilt bytes", kernel, ptxas=told, sass=(stores, loads))
    else:  # arrays and frames of calls are in local memory too
        checks.holds("spilt bytes", kernel, stores >= told[0] and loads >= told[1], ptxas=told, sass=(stores, loads))


def check_barriers(kernel, checks):
    if kernel.sass is None:
        return
    numbers = {int(n, 16) for n in re.findall(r"\bBAR\.\S+ (0x[0-9a-f]+)", kernel.sass)}
    computed = re.search(r"\bBAR\.\S+ U?R\d+", kernel.sass)
    if not computed:
        least = max(numbers) + 1 if numbers else 0
        checks.holds("barriers in use", kernel, kernel.cubin.barriers >= least, cubin=kernel.cubin.barriers, sass=least)


def up(value, unit):
    return -(-value // unit) * unit


def occupancy(kernel, machine):
    """Resident blocks of an SM, as cuda_occupancy.h of the CUDA toolkit computes them for compute capability 9.0."""
    warps = up(math.prod(kernel.step["block"]), 32) // 32
    quarters = 4  # of an SM, each with its own registers
    of_warp = up(kernel.ptxas["registers"] * 32, machine["register_unit"])
    if of_warp * up(warps, quarters) > machine["registers"]:
        return 0
    by_registers = machine["registers"] // quarters // of_warp * quarters // warps
    shared = up(kernel.ptxas["static_shared_bytes"] + kernel.step["shared_bytes"] + machine["shared_reserved"], 128)
    return min(machine["warps"] // warps, machine["blocks"], by_registers, machine["shared"] // shared)


def check_occupancy(kernel, checks, machine):
    told = kernel.facts.get("occupancy")
    checks.equal("occupancy", kernel, facts=told["blocks_per_sm"] if told else 0, rules=occupancy(kernel, machine))


def check_bytes(kernel, checks):
    """What the threads of a kernel without loops can load and store is no less than what the plan says, and the same
    where all of them take one path."""
    sass = kernel.facts.get("sass")
    launches = [step for step in kernel.sheet["steps"] if step.get("entry")]
    bulk = any(name in sass["mix"].get("named", {}) for name in ("UTMASTG", "UBLKCP")) if sass else True
    if bulk or sass["loops"] or len(launches) != 1 or sass.get("routines"):
        return
    threads = math.prod(kernel.step["block"]) * math.prod(kernel.step["grid"])
    for store, what in ((True, "bytes written"), (False, "bytes read")):
        of_thread = bytes_of(sass["mix"], "global", store)
        planned = sum(t["bytes"] for t in kernel.sheet["tensors"] if t.get("written", False) == store)
        checks.holds(what, kernel, of_thread * threads >= planned, plan=int(planned), sass=of_thread * threads)
        checks.equal_bytes[what] += of_thread * threads == planned


def main_loop(kernel):
    """The loop with most wgmma instructions that holds no other such loop, with the products of an iteration and warp
    group: m x n x k, summed."""
    lines = re.findall(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*)$", kernel.sass, re.M)
    shapes = [(int(at, 16), WGMMA.search(text)) for at, text in lines]
    places = [(at, [int(x) for x in found.groups()]) for at, found in shapes if found]
    best = None
    for loop in kernel.facts["sass"]["loops"]:
        inside = [m * n * k for at, (m, n, k) in places if loop["first"] <= at <= loop["last"]]
        if inside and (best is None or loop["depth"] > best[0]["depth"]):
            best = (loop, sum(inside))
    return best, len(places)


def check_products(kernel, checks):
    """wgmma of an iteration of the main loop against the tile: an iteration has whole stages of the tile's k."""
    if kernel.sass is None:
        return
    mix = kernel.facts["sass"]["mix"]
    best, count = main_loop(kernel)
    checks.equal("wgmma instructions", kernel, sass=count, facts=mix["counts"].get("wgmma", 0))
    knobs = kernel.sheet.get("knobs", {})
    tile = [int(x) for x in knobs.get("tile", "").split("x") if x.isdigit()]
    kind = knobs.get("math", "")
    if best is None or kind not in PRODUCTS or len(tile) < 2 or knobs.get("stream", "none") != "none":
        return
    groups = kernel.step["block"][0] // 128 - 1  # all but the producer's
    depth = best[1] * groups / (PRODUCTS[kind] * tile[0] * tile[1])
    unit = tile[2] if len(tile) > 2 else 16
    checks.holds(
        "products of an iteration", kernel, depth > 0 and depth % unit == 0, sass=f"k={depth:g}", tile=knobs["tile"]
    )
    extents = extents_of(kernel.program)
    asked = tensor_products(kernel)
    if asked and depth and extents:
        m, n, k = (up(extent, part) for extent, part in zip(extents, (tile[0], tile[1], int(depth))))
        ran = m // tile[0] * (n // tile[1]) * (k // int(depth)) * best[1] * groups
        padded = asked * m * n * k // (extents[0] * extents[1] * extents[2])
        checks.equal("products of a call", kernel, sass_and_trips=ran, equations=padded)


def extents_of(program):
    """m, n, k of a program of this tool's; nothing of another."""
    found = re.search(r"^dim M = (\d+), K = (\d+), N = (\d+)$", program, re.M)
    return (int(found[1]), int(found[3]), int(found[2])) if found else None


def tensor_products(kernel):
    """That the equations take on the tensor cores, of narrow operands; 0: none."""
    kind = kernel.sheet.get("knobs", {}).get("math")
    needs = [need["amount"] for need in kernel.sheet.get("needs", []) if need["resource"].startswith("tensor")]
    return int(PRODUCTS[kind] * needs[0]) // 2 if needs and kind in PRODUCTS else 0


def ran_wgmma(step):
    """Instructions, over all warps, by the step's counters; 0: none ran, or nobody counted."""
    return (step.get("counters") or {}).get("metrics", {}).get("sm__inst_executed_pipe_tensor_op_gmma.sum") or 0


def check_counted(kernel, checks):
    """wgmma that ran, by the counters, against the products of the equations."""
    ran = ran_wgmma(kernel.facts)
    asked = tensor_products(kernel)
    place = WGMMA.search(kernel.sass or "")
    if not ran or not place or not asked:
        return
    m, n, k = (int(x) for x in place.groups())
    products = int(ran / 4 * m * n * k)  # a warp group counts once for each of its four warps
    checks.equal("wgmma that ran", kernel, counters=products, equations=int(asked * padding(kernel, k)))


def padding(kernel, unit):
    """Products of whole tiles of whole clusters, over those of the equations; of a line of k, of whole instructions."""
    extents, knobs = extents_of(kernel.program), kernel.sheet.get("knobs", {})
    tile = [int(x) for x in knobs.get("tile", "").split("x") if x.isdigit()]
    cluster = [int(x) for x in knobs.get("cluster", "1x1").split("x")]
    if not extents or len(tile) < 2:
        return 1
    parts = (tile[0] * cluster[0], tile[1] * cluster[1], tile[2] if len(tile) > 2 else unit)
    return math.prod(up(extent, part) for extent, part in zip(extents, parts)) / math.prod(extents)


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def disassembled(nvdisasm, cubin):
    """The code of each function of a cubin, by name."""
    if not nvdisasm:
        return {}
    text = run([nvdisasm, "-c", cubin])
    parts = re.split(r"^\.text\.(\S+):$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def profiled(source, folder, arguments):
    """The facts of a program."""
    program, facts = folder / "program.ucut", folder / "facts.json"
    program.write_text(source)
    # Without a module a program runs only where a GPU is asked for.
    device = ["--device", "gpu" if arguments.device == "cuda" else "model"]
    run([arguments.solstice, "profile", program, *device, "--machine", "h200", "--quiet", "--facts", facts])
    return json.loads(facts.read_text())


def kernels_of(title, source, folder, arguments, facts):
    """Every launch of a program, with what the sources say."""
    program, out = folder / "program.ucut", folder / "plan"
    program.write_text(source)
    weights = ["--weights", "frozen"] if facts["frozen"] else []
    compiled = [arguments.solstice, "compile", program, "--machine", "h200", *weights, "--out", out, "--json"]
    compiled = json.loads(run(compiled))
    plan = json.loads((out / "plan.json").read_text())
    told = {s["step"]: (s, kernel) for kernel in facts["kernels"] for s in kernel.get("steps", [])}
    reports = {k["entry"]: k for m in compiled["modules"] for k in m["kernels"]}
    cubins, codes = {}, {}
    for module in plan["modules"]:
        cubins[module["name"]] = cubin_file.kernels_in((out / module["cubin"]).read_bytes())
        codes[module["name"]] = disassembled(arguments.nvdisasm, out / module["cubin"])
    for step in plan["steps"]:
        if step["kind"] != "launch":
            continue
        if step["name"] not in told and arguments.facts:
            print(f"{title}: the plan has changed since: {step['name']} is not in the facts")
            continue
        of, sheet = told[step["name"]]
        cubin = cubins[step["module"]][step["entry"]]
        sass = codes[step["module"]].get(step["entry"]) if "sass" in of else None
        yield Kernel(f"{title}, {step['name']}", source, step, of, sheet, reports[step["entry"]], cubin, sass)


def check(kernel, checks, machine):
    check_resources(kernel, checks, machine)
    check_threads(kernel, checks)
    check_spills(kernel, checks)
    check_barriers(kernel, checks)
    check_occupancy(kernel, checks, machine)
    check_bytes(kernel, checks)
    check_products(kernel, checks)
    check_counted(kernel, checks)


def recorded(folder):
    """(name, facts) of those in the folder that have counts of wgmma."""
    for file in sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")]):
        facts = json.loads(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())
        if any(ran_wgmma(step) for kernel in facts["kernels"] for step in kernel.get("steps", [])):
            yield file.name.removesuffix(".gz").removesuffix(".json"), facts


def check_recorded(folder, checks, arguments):
    """Counts that were recorded, against the equations and machine code that is made here: how many launches."""
    launches = 0
    for name, facts in recorded(folder):
        with tempfile.TemporaryDirectory(prefix="solstice-sources-") as scratch:
            for kernel in kernels_of(name, facts["program"], Path(scratch), arguments, facts):
                check_counted(kernel, checks)
                launches += bool(ran_wgmma(kernel.facts))
    return launches


def check_families(checks, arguments):
    machine = machine_of("h200")
    for family in families_of(arguments):
        launches = 0
        sources = programs_of(family, arguments.each)
        for number, source in enumerate(sources, 1):
            with tempfile.TemporaryDirectory(prefix="solstice-sources-") as scratch:
                facts = profiled(source, Path(scratch), arguments)
                for kernel in kernels_of(f"{family} {number}", source, Path(scratch), arguments, facts):
                    check(kernel, checks, machine)
                    launches += 1
        print(f"{family}: {len(sources)} programs, {launches} launches")


def settings():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solstice", default=ROOT / "build/bin/solstice", help="the program")
    parser.add_argument("--family", default="", help="a list with commas [default: all that are built]")
    parser.add_argument("--each", type=int, default=11, help="programs of a family at most")
    parser.add_argument("--device", default="model", choices=["model", "cuda"], help="cuda: with counters")
    parser.add_argument("--facts", type=Path, help="a folder of recorded facts: compare the counters in them alone")
    parser.add_argument("--nvdisasm", default="", help="[default: that of PATH or SOLSTICE_PYTHON's packages]")
    out = parser.parse_args()
    out.nvdisasm = out.nvdisasm or shutil.which("nvdisasm") or packaged_nvdisasm()
    return out


def packaged_nvdisasm():
    """That of SOLSTICE_PYTHON's packages, else of this Python's; "": there is none."""
    python = Path(os.environ.get("SOLSTICE_PYTHON", sys.executable))
    found = sorted(python.parent.parent.glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm"))
    return str(found[-1]) if found else ""


def families_of(arguments):
    if arguments.family:
        return arguments.family.split(",")
    listed = run([arguments.solstice, "list", "families"])
    return [line for line in listed.splitlines() if line and line[0] != " " and "(not yet)" not in line]


def machine_of(name):
    """The limits of an SM that occupancy goes by."""
    told = tomllib.loads((ROOT / f"machines/{name}.toml").read_text())
    size = lambda text: int(text.split()[0]) * 1024
    sm, block = told["sm"], told["block"]
    return {
        "warps": sm["warps"],
        "blocks": sm["blocks"],
        "registers": sm["registers"],
        "register_unit": sm["register_unit"],
        "shared": size(sm["shared"]),
        "shared_reserved": size(block["shared_reserved"]),
    }


def main():
    arguments = settings()
    checks = Checks()
    if arguments.facts:
        print(f"{arguments.facts}: {check_recorded(arguments.facts, checks, arguments)} launches with wgmma")
    else:
        check_families(checks, arguments)
    for what, count in sorted(checks.done.items()):
        equal = f", {checks.equal_bytes[what]} equal" if what in checks.equal_bytes else ""
        print(f"  {what}: {count} compared{equal}")
    if not arguments.nvdisasm:
        print("  without nvdisasm: nothing that machine code says was compared")
    for line in checks.differ:
        print(f"differs: {line}")
    print(f"{sum(checks.done.values())} comparisons, {len(checks.differ)} differ")
    return 1 if checks.differ else 0


if __name__ == "__main__":
    sys.exit(main())
