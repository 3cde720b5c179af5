#!/usr/bin/env python3
"""Checks that the includes of src/ and kernels/ follow tools/layers.txt, and that files do not include in circles.

A line of layers.txt names a layer and the layers it may include. A layer is a folder of src/ (`ir`), a folder inside
one (`ir/normal`), or the files that lie in a folder itself where its subfolders are layers (`ir/*`). `ir/normal.h` is
the public header of the layer `ir/normal` and belongs to it. Layers inside a folder are listed with the folder's own
name left to its line: `ir: base` says what all of ir may include outside ir, `ir/normal: ir/*` what this layer may
include inside. Folders of kernels/ are layers under `kernels/`.

A room is a header with its .cpp. Rooms that include each other in a circle are listed in tools/room_cycles.txt, one
line a circle; a circle that is not listed, and a listed one that is gone, are violations: the list only shrinks.

Prints one line a violation, with the rule; exits 1 if there is one. `--cycles` prints today's circles.
"""

import argparse
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
SOURCES = {".h", ".cpp", ".cuh", ".cu", ".def"}


class Layers:
    """tools/layers.txt: the layers in order, and for each the names on its line."""

    def __init__(self, path):
        self.allowed, self.complaints = {}, []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            text = line.split("#", 1)[0].strip()
            if text:
                self.add(f"{path.name}:{number}", *text.partition(":")[::2])

    def add(self, place, layer, names):
        for name in names.split():
            if name not in self.allowed:
                self.complaints.append(f"{place}: `{layer}` names `{name}`, which is not listed above it")
        if layer in self.allowed:
            self.complaints.append(f"{place}: `{layer}` is listed twice")
        self.allowed[layer] = set(names.split())

    def is_divided(self, folder):
        """Whether the folder's subfolders are layers."""
        return f"{folder}/*" in self.allowed or any(name.startswith(f"{folder}/") for name in self.allowed)

    def layer_of(self, path):
        """`ir/normal` of ir/normal/form.h and of ir/normal.h, `ir/*` of ir/program.h, `sol` of sol/sol.h."""
        parts = path.with_suffix("").parts
        for end in range(len(parts), 0, -1):
            name = "/".join(parts[:end])
            if name in self.allowed and not (end == 1 and self.is_divided(name)):
                return name
        return "/".join(parts[:-1]) + "/*"

    def may_include(self, source, target):
        """Whether a file of the layer `source` may include one of `target`, and the line that says so."""
        one, other = source.split("/")[0], target.split("/")[0]
        if one == other:
            return target == source or target in self.allowed.get(source, ()), source
        return other in self.allowed.get(one, ()), one


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found.group(1)


class Tree:
    """The sources below one root that includes are written from."""

    def __init__(self, root, folder, prefix):
        self.base = root / folder
        self.prefix = prefix  # of its layers' names
        self.name = folder
        self.files = sorted(p for p in self.base.rglob("*") if p.suffix in SOURCES)

    def edges(self):
        """(file, line, what it includes), both relative to the root of includes; only what lies in this tree."""
        for path in self.files:
            for number, name in includes(path):
                yield path, number, name

    def check(self, layers):
        for path, number, name in self.edges():
            place = f"{self.name}/{path.relative_to(self.base)}:{number}"
            if not (self.base / name).exists():
                if name.startswith("../") or (path.parent / name).exists():
                    yield f'{place}: `{name}` is not written from {self.name}/; write "folder/file.h"'
                continue
            source = layers.layer_of(self.prefix / path.relative_to(self.base))
            allowed, line = layers.may_include(source, layers.layer_of(self.prefix / name))
            if not allowed:
                legal = ", ".join(sorted(layers.allowed.get(line, ()))) or "no other layer"
                yield f"{place}: `{line}` may not include `{name}`; tools/layers.txt allows {legal}"

    def unlisted(self, layers):
        """Folders that have no line."""
        for folder in sorted({path.relative_to(self.base).parent for path in self.files}):
            name = str(self.prefix / folder)
            listed = name in layers.allowed or f"{name}/*" in layers.allowed
            under = any(str(self.prefix / above) in layers.allowed for above in folder.parents if above != Path("."))
            if (
                folder != Path(".")
                and not listed
                and (not under or layers.is_divided(str(self.prefix / folder.parent)))
            ):
                yield f"{self.name}/{folder}: not listed in tools/layers.txt; add it with what it may include"

    def rooms(self):
        """{room: rooms it includes}"""
        graph = {}
        for path, _, name in self.edges():
            room = str((self.prefix / path.relative_to(self.base)).with_suffix(""))
            if (self.base / name).exists():
                target = str((self.prefix / name).with_suffix(""))
                if target != room:
                    graph.setdefault(room, set()).add(target)
        return graph


def circles(graph):
    """Strongly connected components of more than one room (Tarjan 1972), each sorted."""
    index, low, stack, out = {}, {}, [], []

    def visit(room):
        index[room] = low[room] = len(index)
        stack.append(room)
        for target in sorted(graph.get(room, ())):
            if target not in index:
                visit(target)
                low[room] = min(low[room], low[target])
            elif target in stack:
                low[room] = min(low[room], index[target])
        if low[room] == index[room]:
            members = stack[stack.index(room) :]
            del stack[stack.index(room) :]
            if len(members) > 1:
                out.append(sorted(members))

    sys.setrecursionlimit(10000)
    for room in sorted(graph):
        if room not in index:
            visit(room)
    return sorted(out)


def check_cycles(found, path):
    listed = [sorted(line.split()) for line in path.read_text().splitlines() if line and not line.startswith("#")]
    for members in found:
        if members not in listed:
            yield f"rooms that include each other in a circle: {' '.join(members)}"
    for members in listed:
        if members not in found:
            yield f"{path.name}: this circle is gone or has changed; list what is left of it: {' '.join(members)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--cycles", action="store_true", help="print circles of rooms and exit")
    args = parser.parse_args()
    root = args.root.resolve()
    layers = Layers(root / "tools/layers.txt")
    trees = [Tree(root, "src", Path()), Tree(root, "kernels", Path("kernels"))]
    found = sorted(members for tree in trees for members in circles(tree.rooms()))
    if args.cycles:
        print("\n".join(" ".join(members) for members in found))
        return 0
    complaints = layers.complaints
    for tree in trees:
        complaints += [*tree.unlisted(layers), *tree.check(layers)]
    complaints += check_cycles(found, root / "tools/room_cycles.txt")
    print("\n".join(complaints + [""]), end="")
    print(f"{sum(len(t.files) for t in trees)} files checked against tools/layers.txt: {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
