#!/usr/bin/env python3
"""Checks sizes: lines of at most 120 columns, files of src/ and kernels/ of at most 400 lines, at most 40 files in a
folder of src/ that is not a folder of plug-ins (cmake/SolsticePlugins.cmake).

Prints one line a violation; exits 1 if there is one.
"""

import argparse
import re
import sys
from pathlib import Path

COLUMNS, LINES, FILES = 120, 400, 40
CODE = {".h", ".cpp", ".cu", ".py", ".sh", ".cmake", ".js", ".css", ".html", ".def"}
CHECKED = ("src", "kernels", "tests", "bench", "tools", "python", "cmake", "web", "examples")


def is_data(path):
    """Golden files and recorded graphs hold what a program printed."""
    return "golden" in path.parts or "corpus" in path.parts


def code_files(root):
    for folder in CHECKED:
        yield from (
            p
            for p in sorted((root / folder).rglob("*"))
            if (p.suffix in CODE or p.name == "CMakeLists.txt") and not is_data(p.relative_to(root))
        )


def wide_lines(path, name):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns; at most {COLUMNS}"


def check_files(root):
    for path in code_files(root):
        name = path.relative_to(root)
        yield from wide_lines(path, name)
        lines = path.read_text().count("\n")
        if name.parts[0] in ("src", "kernels") and lines > LINES:
            yield f"{name}: {lines} lines; at most {LINES}: find the concept that is missing"


def plugin_folders(root):
    text = (root / "src/CMakeLists.txt").read_text()
    return {root / "src" / name for name in re.findall(r"solstice_plugins\((\S+)", text)}


def check_folders(root):
    plugins = plugin_folders(root)
    for folder in sorted(p for p in (root / "src").rglob("*") if p.is_dir() and p not in plugins):
        count = sum(1 for p in folder.iterdir() if p.is_file())
        if count > FILES:
            yield f"{folder.relative_to(root)}: {count} files; at most {FILES}: make rooms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parent.parent, help="of a clone")
    root = parser.parse_args().root.resolve()
    complaints = [*check_files(root), *check_folders(root)]
    print("\n".join(complaints + [""]), end="")
    print(f"sizes checked: {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
