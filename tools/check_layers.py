#!/usr/bin/env python3
"""Checks that every #include of src/ and tests/unit follows tools/layers.txt, and that the list itself is a DAG.

A folder of src/ may include itself and the folders on its line; a folder may name only folders listed above it.
Prints one line a violation, with the rule; exits 1 if there is one.
"""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
SOURCES = {".h", ".cpp", ".cuh", ".cu", ".def"}


def read_layers(path):
    """{folder: allowed folders}, and complaints about the list itself."""
    allowed, complaints = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.split("#", 1)[0].strip()
        if not text:
            continue
        folder, _, names = text.partition(":")
        for name in names.split():
            if name not in allowed:
                complaints.append(f"{path}:{number}: `{folder}` names `{name}`, which is not listed above it")
        if folder in allowed:
            complaints.append(f"{path}:{number}: `{folder}` is listed twice")
        allowed[folder] = set(names.split())
    return allowed, complaints


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found.group(1)


def check_file(path, folder, root, allowed):
    for number, name in includes(path):
        if not (root / "src" / name).exists():
            if name.startswith("../") or (path.parent / name).exists():
                yield f'{path.relative_to(root)}:{number}: `{name}` is not written from src/; write "folder/file.h"'
            continue
        target = name.split("/", 1)[0]
        if target != folder and target not in allowed[folder]:
            legal = ", ".join(sorted(allowed[folder])) or "no other folder"
            yield f"{path.relative_to(root)}:{number}: `{folder}` may not include `{name}`; tools/layers.txt allows {legal}"


def check(root):
    allowed, complaints = read_layers(root / "tools/layers.txt")
    files = 0
    for folder in sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        if folder.name not in allowed:
            complaints.append(f"src/{folder.name}: not listed in tools/layers.txt; add it with what it may include")
            continue
        for path in sorted(p for p in folder.rglob("*") if p.suffix in SOURCES):
            files += 1
            complaints += check_file(path, folder.name, root, allowed)
    return files, complaints


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    files, complaints = check(root)
    for complaint in complaints:
        print(complaint)
    print(f"{files} files of src/ checked against tools/layers.txt: {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
