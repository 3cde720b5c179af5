#!/usr/bin/env python3
"""Checks the pages (README.md, CHANGELOG.md, docs/**/*.md, READMEs of data): links, paths, the length of paragraphs.

- A relative link names an existing file, and with `#anchor` an existing heading (GitHub's spelling of anchors).
- A path in backticks or in a code block exists: a word that begins with a folder of FOLDERS, or with a folder of src/
  (also without `src/`), and any name of a C++ file, wherever it is. `*`, NAME, GROUP and N stand for anything.
- A paragraph has at most MAX_WORDS words. List items, table cells and lines that begin in bold are paragraphs; code
  blocks are excepted.

Prints one line a violation, `file:line: rule`; exits 1 if there is one.
"""

import argparse
import fnmatch
import functools
import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

MAX_WORDS = 120
FOLDERS = (
    "bench", "docs", "examples", "kernels", "machines", "models", "prompts", "python", "src", "tests", "tools", "web",
)  # fmt: skip

MADE = {"build", "bundle", "runs"}  # folders that are no part of the project

FENCE = re.compile(r"^\s*(```|~~~)(\w*)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
RUN_IN = re.compile(r"^\*\*")
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
PATH = re.compile(r"[\w.*/+-]+")
PLACEHOLDER = re.compile(r"(?<![A-Za-z])(?:NAME|GROUP|N+)(?![A-Za-z])")


@dataclass
class Line:
    number: int
    text: str
    language: str | None = None  # of the code block that it stands in


def lines(text):
    """All but the fences; an opening one leaves an empty line, which ends a paragraph."""
    fence, language = None, None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1] == fence:
                fence, language = None, None
            else:
                yield Line(number, line, language)
        elif mark:
            fence, language = mark[1], mark[2]
            yield Line(number, "")
        else:
            yield Line(number, line)


def prose_lines(text):
    """(number, line) of what is outside code blocks."""
    return ((line.number, line.text) for line in lines(text) if line.language is None)


def code(text):
    """(number, code) of each line of a code block, and of what stands between backticks."""
    for line in lines(text):
        found = (match[1] for match in CODE.findall(line.text)) if line.language is None else [line.text]
        yield from ((line.number, one) for one in found)


def blocks(text):
    """(language, text) of each code block."""
    for is_code, block in itertools.groupby(lines(text), lambda line: line.language is not None):
        if is_code:
            block = list(block)
            yield block[0].language, "".join(line.text + "\n" for line in block)


def cells(row):
    return re.split(r"(?<!\\)\|", row.strip().strip("|"))


def paragraphs(text):
    """(number of the first line, text) of each paragraph, list item, heading and table cell."""
    start, lines = 0, []
    for number, line in [*prose_lines(text), (0, "")]:
        table = line.lstrip().startswith("|")
        if lines and (not line.strip() or table or any(rule.match(line) for rule in (ITEM, RUN_IN, HEADING))):
            yield start, " ".join(lines)
            lines = []
        if table:
            yield from ((number, cell) for cell in cells(line))
        elif HEADING.match(line):
            yield number, line
        elif line.strip():
            start = start if lines else number
            lines.append(line)


def words(paragraph):
    return len(LINK.sub(r"\1", ITEM.sub("", paragraph)).split())


def anchor(heading):
    """GitHub's anchor of a heading: its text without marks, lower case, blanks as hyphens."""
    text = re.sub(r"[`*]", "", LINK.sub(r"\1", heading)).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    found = {}
    for _, line in prose_lines(text):
        if heading := HEADING.match(line):
            name = anchor(heading[1])
            found[name] = found.get(name, -1) + 1
    return {name if i == 0 else f"{name}-{i}" for name, most in found.items() for i in range(most + 1)}


def check_links(page, text, root):
    name = page.relative_to(root).as_posix()
    for number, line in prose_lines(text):
        for _, target in LINK.findall(CODE.sub("", line)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, heading = target.partition("#")
            file = page.parent / path if path else page
            if not file.exists():
                yield f"{name}:{number}: the link `{target}` names no file"
            elif heading and file.suffix == ".md" and heading not in anchors(file.read_text()):
                yield f"{name}:{number}: the link `{target}` names no heading of {file.name}"


@functools.cache
def tree(root):
    """Files and folders of the project, as paths from its root."""
    tops = [path for path in root.iterdir() if path.name not in MADE and not path.name.startswith(".")]
    return {path.relative_to(root).as_posix() for top in tops for path in (top, *top.rglob("*"))}


@functools.cache
def tails(root):
    """The ends of those paths, from any folder on."""
    parts = (path.split("/") for path in tree(root))
    return {"/".join(path[i:]) for path in parts for i in range(len(path))}


def is_missing(word, root):
    first, slash, _ = word.partition("/")
    at_root, in_source = slash and first in FOLDERS, slash and f"src/{first}" in tree(root)
    if not PATH.fullmatch(word) or not (at_root or in_source or re.search(r"\w\.(h|cpp)$", word)):
        return False
    known = tree(root) if at_root and not in_source else tails(root)
    pattern = PLACEHOLDER.sub("*", word).rstrip("/")
    return not (fnmatch.filter(known, pattern) if "*" in pattern else pattern in known)


def check_paths(page, text, root):
    name = page.relative_to(root).as_posix()
    for number, found in code(text):
        for word in (word.strip("(),:;'\"") for word in found.split()):
            word = re.sub(r"(?::\d+|#.*|\.)$", "", word)
            if is_missing(word, root):
                yield f"{name}:{number}: there is no `{word}`"


def check_paragraphs(page, text, root):
    for number, paragraph in paragraphs(text):
        if (count := words(paragraph)) > MAX_WORDS:
            yield (
                f"{page.relative_to(root).as_posix()}:{number}: the paragraph has {count} words; {MAX_WORDS} is the "
                "limit"
            )


def pages_of(root):
    data = [path for name in ("machines", "models", "prompts") if (path := root / name / "README.md").exists()]
    return [root / "README.md", root / "CHANGELOG.md", *sorted((root / "docs").rglob("*.md")), *data]


def check(root):
    pages = pages_of(root)
    complaints = []
    for page in pages:
        text = page.read_text()
        for rule in (check_links, check_paths, check_paragraphs):
            complaints += rule(page, text, root)
    return len(pages), complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parent.parent, help="of a clone")
    root = parser.parse_args().root.resolve()
    pages, complaints = check(root)
    for complaint in complaints:
        print(complaint)
    print(f"{pages} pages checked: {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
