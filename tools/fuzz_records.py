#!/usr/bin/env python3
"""Seeds for the fuzzers of facts, findings and ncu's pages, each below the length that the fuzzer changes: what the
tests have recorded, with some of its counters, loops, columns and rows."""

import argparse
import csv
import io
import json
import random
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORDED = [*sorted(ROOT.glob("tests/sick/facts/*.json")), ROOT / "tests/python/profiles/everything.json"]
PAGES = sorted(ROOT.glob("tests/support/ncu/*.csv"))
PROGRAM_TEXT = 200  # characters of it: diagnosis does not read it
DICE = random.Random(1)


def text_of(value):
    return json.dumps(value, separators=(",", ":"))


def some(values, most):
    """As many of a list or of a map, in their order."""
    if len(values) <= most:
        return values
    if isinstance(values, dict):
        return {key: values[key] for key in values if key in set(DICE.sample(list(values), most))}
    return values[:most]


def thin_counters(counters, most):
    hot = [dict(each, instruction="LDG.E R1, desc[UR4][R2.64]") for each in some(counters.get("hot", []), most // 4)]
    return dict(counters, metrics=some(counters["metrics"], most), stalls=some(counters["stalls"], most), hot=hot)


def thin_mix(mix, most):
    short = {key: some(mix.get(key, {}), most) for key in ("counts", "pipes", "named", "calls")}
    return dict(mix, **short, accesses=some(mix.get("accesses", []), most // 4))


def thin_sass(sass, most):
    loops = [dict(each, mix=thin_mix(each["mix"], most // 2), pieces=[]) for each in some(sass["loops"], most // 4)]
    return dict(sass, mix=thin_mix(sass["mix"], most), loops=loops)


def thin_step(step, most):
    out = dict(step, notes=some(step.get("notes", []), 1))
    if step.get("counters"):
        out["counters"] = thin_counters(step["counters"], most)
    if step.get("sass"):
        out["sass"] = thin_sass(step["sass"], most)
    return out


def facts(longest, _program):
    for path in RECORDED:
        recorded = json.loads(path.read_text())
        recorded["program"] = recorded["program"][:PROGRAM_TEXT]
        for most in (16, 12, 8, 4):
            steps = [[thin_step(step, most) for step in each["steps"]] for each in recorded["kernels"]]
            kernels = [dict(each, steps=own) for each, own in zip(recorded["kernels"], steps, strict=True)]
            seed = text_of(dict(recorded, kernels=kernels))
            if len(seed) <= longest:
                yield f"{path.stem}-{most}.json", seed


def findings(longest, program):
    for path in RECORDED:
        done = subprocess.run([program, "profile", path, "--json"], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)["findings"]
        for number, finding in enumerate(found):
            seed = text_of({"findings": [finding]})
            if len(seed) <= longest:
                yield f"{path.stem}-{number}.json", seed


def csv_text(rows):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return out.getvalue()


def counters(longest, _program):
    for path in PAGES:
        rows = [row for row in csv.reader(path.read_text().splitlines()) if row and not row[0].startswith("==")]
        columns = range(len(rows[0]))
        for number in range(20):
            chosen = some(dict.fromkeys(columns), 12)
            kept = {0, *(column for column in columns if rows[0][column] in ("ID", "Kernel Name")), *chosen}
            seed = csv_text([[row[column] for column in sorted(kept) if column < len(row)] for row in rows[:8]])
            if len(seed) <= longest:
                yield f"{path.stem}-{number}.csv", seed


KINDS = {"facts": facts, "findings": findings, "counters": counters}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("folder", type=Path, help="that the seeds are written to")
    parser.add_argument("longest", type=int, help="seed in bytes")
    parser.add_argument("--program", default=ROOT / "build/bin/solstice", help="that diagnoses facts")
    arguments = parser.parse_args()
    for name, text in KINDS[arguments.kind](arguments.longest, arguments.program):
        (arguments.folder / name).write_text(text)


if __name__ == "__main__":
    main()
