#!/usr/bin/env python3
"""Records and checks the corpus of sick kernels (tests/sick/README.md).

sick.py record tests/sick --solstice build/bin/solstice     facts of every program, on the GPU at hand
sick.py check tests/sick --solstice build/bin/solstice      what is found in the recorded facts
"""

import argparse
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TWINS = ("sick", "healthy")
LARGE = 16 << 10  # bytes of JSON from which facts are kept compressed
NOISE = 1.05  # two timings of one program differ by that much
NEAR = 1  # lines: machine code is attributed to the neighbour of the line that causes it


def pairs(folder, names):
    """Names of the pairs, all or those named; defects at full strength come first."""
    there = sorted((p.parent.name for p in folder.glob("*/meta.json")), key=lambda name: (name.endswith("_mild"), name))
    unknown = sorted(set(names) - set(there))
    if unknown:
        sys.exit(f"sick: {folder} has no pair {', '.join(unknown)}; it has {', '.join(there)}")
    return names or there


# --- record


def keep(facts, target):
    """Writes compact JSON, compressed where large, in place of what was recorded before."""
    text = json.dumps(facts, separators=(",", ":")).encode()
    packed = target.with_name(target.name + ".gz")
    target.unlink(missing_ok=True)
    packed.unlink(missing_ok=True)
    if len(text) > LARGE:
        packed.write_bytes(gzip.compress(text, mtime=0))
    else:
        target.write_bytes(text)


def finished(command, seconds):
    """Exit code and standard error; None after `seconds`, when all that the command started is ended too."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, start_new_session=True) as process:
        try:
            errors = process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, ""
    return process.returncode, errors


def meta_of(folder):
    return json.loads((folder / "meta.json").read_text())


def profile(folder, twin, target, options):
    """Facts of one program; the reason if there are none."""
    with tempfile.TemporaryDirectory() as scratch:
        facts = Path(scratch) / "facts.json"
        command = [options.solstice, "profile", folder / f"{twin}.ucut", "--of", folder / "problem.py"]
        command += ["--facts", facts, "--device", options.device, "--quiet", "--json"]
        command += ["--counter-time", str(max(1, round(options.timeout / 2)))]
        command += ["--without", options.without] if options.without else []
        command += meta_of(folder).get("options", [])
        code, errors = finished([*map(str, command)], options.timeout)
        if code is None:
            return f"it took longer than {options.timeout:.0f} s"
        if code != 0 or not facts.exists():
            return f"exit code {code}: {errors.strip()[-600:]}"
        keep(json.loads(facts.read_text()), target)
    return None


def is_there(target):
    return target.exists() or target.with_name(target.name + ".gz").exists()


def wanted(options):
    """(folder, twin, file of the facts) of every program that is to be recorded."""
    out = options.out or options.dir / "facts"
    out.mkdir(parents=True, exist_ok=True)
    suffix = ".json" if "counters" in options.without.split(",") else ".counters.json"
    every = [(options.dir / name, twin) for name in pairs(options.dir, options.names) for twin in TWINS]
    todo = [(folder, twin, out / f"{folder.name}.{twin}{suffix}") for folder, twin in every]
    return [each for each in todo if not (options.missing and is_there(each[2]))]


def say(names, what):
    if names:
        print(f"{what}: {', '.join(names)}", flush=True)


def record(options):
    todo, failed = wanted(options), []
    begin = time.monotonic()
    for count, (folder, twin, target) in enumerate(todo):
        start = time.monotonic()
        if start - begin > options.budget:
            say([f"{each[0].name}.{each[1]}" for each in todo[count:]], "no time left for")
            todo = todo[:count]
            break
        why = profile(folder, twin, target, options)
        name, said = f"{folder.name}.{twin}", f", FAILED: {why}" if why else ""
        print(f"[{count + 1}/{len(todo)}] {name}: {time.monotonic() - start:.1f} s{said}", flush=True)
        failed += [name] if why else []
    print(f"{len(todo) - len(failed)} of {len(todo)} recorded in {time.monotonic() - begin:.0f} s")
    say(failed, "failed")
    return 1 if failed else 0


# --- check


def recorded(folder, name, twin, counters):
    """The facts of a program, and whether counters have to be left out of them; None if there are none."""
    kinds = (".counters.json",) if counters else (".json", ".counters.json")
    for kind in kinds:
        path = folder / f"{name}.{twin}{kind}"
        if path.exists():
            return json.loads(path.read_bytes())
        packed = path.with_name(path.name + ".gz")
        if packed.exists():
            return json.loads(gzip.decompress(packed.read_bytes()))
    return None


def diagnose(solstice, facts, counters):
    """Findings, the gravest first."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "facts.json"
        file.write_text(json.dumps(facts))
        command = [str(solstice), "profile", str(file), "--json", "--quiet"]
        command += [] if counters else ["--without", "counters"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[-600:]}")
    return json.loads(done.stdout)["findings"]


def rank(findings, tools):
    """Of the planted defect, from 1; 0: it was not found."""
    return next((n for n, finding in enumerate(findings, 1) if finding["tool"] in tools), 0)


def lines_of(program, code):
    """Numbers of the lines that hold one of the texts `code`, in the program and in its source item."""
    numbers, start = set(), 0
    for number, line in enumerate(program.splitlines(), 1):
        if line.startswith("source "):
            start = number
        if any(text in line for text in code):
            numbers |= {number, number - start}
    return numbers


def place_is_right(finding, place, program):
    """Where a finding names an equation, a part or a line it has to be that of the defect."""
    found = finding["place"]
    kernels = {found.get("kernel", ""), *finding.get("also", [])}
    if "kernel" in place and place["kernel"] not in kernels:
        return False
    if "equation" in place and found.get("equation") and not found["equation"].startswith(place["equation"] + "["):
        return False
    if "part" in place and found.get("part") and found["part"] != place["part"]:
        return False
    if "code" in place and found.get("line"):
        code = place["code"] + ([f"  {place['equation']}["] if "equation" in place else [])
        return any(abs(found["line"] - number) <= NEAR for number in lines_of(program, code))
    return True


def judge(options, name, counters):
    """What is found in one pair: a dictionary; None where nothing is recorded."""
    meta = meta_of(options.dir / name)
    facts = {twin: recorded(options.facts, name, twin, counters) for twin in TWINS}
    if not all(facts.values()):
        return None
    findings = {twin: diagnose(options.solstice, facts[twin], counters) for twin in TWINS}
    place = rank(findings["sick"], meta["tools"])
    finding = findings["sick"][place - 1] if place else None
    times = [facts[twin].get("measured") for twin in TWINS]
    return {
        "name": name,
        "rank": place,
        "first": findings["sick"][0]["tool"] if findings["sick"] else "-",
        "high": [found["tool"] for found in findings["healthy"] if found["severity"] == "high"],
        "gain": times[0] / times[1] if all(times) else None,
        "bound": finding["gain"]["program"] if finding else None,
        "place": place_is_right(finding, meta["place"], facts["sick"]["program"]) if finding else None,
    }


def share(results, holds):
    """`7/8 (88 %)` of the results for which `holds` is not None."""
    answers = [answer for answer in map(holds, results) if answer is not None]
    if not answers:
        return "-", None
    return f"{sum(answers)}/{len(answers)} ({100 * sum(answers) / len(answers):.0f} %)", sum(answers) / len(answers)


def within(result):
    known = result["gain"] is not None and result["bound"] is not None
    return result["gain"] <= result["bound"] * NOISE if known else None


def tight(result):
    known = result["gain"] is not None and result["bound"] is not None
    return result["bound"] <= 2 * max(1, result["gain"]) if known else None


def first(result):
    return result["rank"] == 1


def leading(result):
    return 1 <= result["rank"] <= 3


def calm(result):
    return not result["high"]


def bars(full, bare):
    """Rows of the table: text, share as text, share wanted, share."""
    any_sources = full or bare
    wanted = [
        ("planted defect is the first finding", full, first, 0.9),
        ("it is among the first three", full, leading, 0.98),
        ("without counters: it is the first", bare, first, 0.6),
        ("without counters: among the first three", bare, leading, 0.8),
        ("healthy twins without a finding of high severity", any_sources, calm, 39 / 40),
        ("gain of the healing is within the bound", any_sources, within, 1),
        ("bound is within twice the gain", any_sources, tight, 0.5),
        ("place is right where the defect is found", any_sources, lambda result: result["place"], 0.9),
    ]
    return [(text, *share(results, holds), least) for text, results, holds, least in wanted]


def number(value):
    return "-" if value is None else f"{value:.2f}"


def print_pairs(results, title):
    print(f"\n{title}\n{'pair':24} {'rank':>4} {'gain':>6} {'bound':>6} place first finding / high in the healthy twin")
    for each in results:
        place = {None: "-", True: "yes", False: "no"}[each["place"]]
        high = f" / {', '.join(each['high'])}" if each["high"] else ""
        found = each["rank"] or "-"
        print(
            f"{each['name']:24} {found:>4} {number(each['gain']):>6} {number(each['bound']):>6} {place:5} "
            f"{each['first']}{high}"
        )


def judged(options, counters, broken):
    results = []
    for name in pairs(options.dir, options.names):
        try:
            results.append(judge(options, name, counters))
        except (RuntimeError, ValueError, KeyError) as error:
            broken.append(f"{name}: {error}")
    return [each for each in results if each]


def check(options):
    options.facts = options.facts or options.dir / "facts"
    broken = []
    full = [] if options.without else judged(options, True, broken)
    bare = judged(options, False, broken)
    if full:
        print_pairs(full, "with counters")
    if bare:
        print_pairs(bare, "without counters")
    rows = bars(full, bare)
    print(f"\n{'bar':50} {'seen':>14} {'wanted':>7}")
    for text, seen, value, least in rows:
        held = "" if value is None or value >= least else "  missed"
        print(f"{text:50} {seen:>14} {100 * least:>5.0f} %{held}")
    print(f"{len(full)} pairs with counters, {len(bare)} without")
    for each in broken:
        print(f"not diagnosed: {each}")
    missed = any(value is not None and value < least for _, _, value, least in rows)
    return 1 if broken or (options.bars and missed) else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("dir", type=Path, metavar="DIR", help="folder of the corpus: tests/sick")
    common.add_argument("names", nargs="*", metavar="NAME", help="pairs [default: all]")
    common.add_argument("--solstice", required=True, metavar="BIN", help="the program")
    common.add_argument("--without", default="", metavar="SOURCES", help="leave out sources: counters")
    recording = commands.add_parser("record", parents=[common], help="profile every program, keep its facts")
    recording.add_argument("--out", type=Path, metavar="DIR", help="where facts are kept [default: DIR/facts]")
    recording.add_argument("--device", default="gpu", help="gpu; model: nothing runs [default: gpu]")
    recording.add_argument("--missing", action="store_true", help="only programs without recorded facts")
    recording.add_argument("--budget", type=float, default=float("inf"), metavar="S", help="begin no program after it")
    recording.add_argument("--timeout", type=float, default=60, metavar="S", help="of one program [default: 60]")
    checking = commands.add_parser("check", parents=[common], help="diagnose the facts, print how well that went")
    checking.add_argument("--facts", type=Path, metavar="DIR", help="where they are [default: DIR/facts]")
    checking.add_argument("--bars", action="store_true", help="exit code 1 where a bar is missed")
    options, names = parser.parse_known_args()  # names may stand behind the options as well
    unknown = [name for name in names if name.startswith("-")]
    if unknown:
        parser.error(f"unknown options: {' '.join(unknown)}")
    options.names += names
    return options


def main():
    options = arguments()
    return record(options) if options.command == "record" else check(options)


if __name__ == "__main__":
    sys.exit(main())
