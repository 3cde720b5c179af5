#!/usr/bin/env python3
"""Parses every unit of BUILD_FOLDER/compile_commands.json that our flags apply to with clang 14 (-fsyntax-only), as a
second opinion with the same warnings as errors."""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

DROPPED = re.compile(r"-static-lib\S+|-fsanitize\S*|-Wno-restrict")


def find_clang():
    return next((p for name in ("clang++-14", "clang++") if (p := shutil.which(name))), None)


def syntax_command(clang, entry):
    arguments = shlex.split(entry["command"])
    compiler = next(i for i, a in enumerate(arguments) if re.search(r"(g\+\+|c\+\+)[-0-9.]*$", a))
    out, skip = [clang, "-fsyntax-only"], False
    for argument in arguments[compiler + 1 :]:
        if skip or argument in ("-c", "-o"):
            skip = argument == "-o"
        elif not DROPPED.match(argument):
            out.append(argument)
    return out


def parse(clang, entry):
    done = subprocess.run(syntax_command(clang, entry), cwd=entry["directory"], capture_output=True, text=True)
    return entry["file"], done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="folder of the build")
    build = parser.parse_args().build.resolve()
    clang = find_clang()
    if clang is None:
        print("skipped: clang 14 is not installed (apt-get install clang-14)")
        return 77
    root = Path(__file__).resolve().parent.parent
    entries = json.loads((build / "compile_commands.json").read_text())
    ours = [e for e in entries if "-Wshadow" in e["command"]]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, code, errors in pool.map(lambda e: parse(clang, e), ours):
            if code:
                bad += 1
                print(f"{os.path.relpath(file, root)}:\n{errors}")
    print(f"{len(ours)} units parsed with {os.path.basename(clang)}, {bad} with errors")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
