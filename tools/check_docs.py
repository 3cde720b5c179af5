#!/usr/bin/env python3
"""Checks README.md, CHANGELOG.md and docs/**/*.md: links, paths in backticks, and the length of paragraphs.

- A relative link names an existing file, and with `#anchor` an existing heading (GitHub's spelling of anchors).
- A path in backticks that begins with a folder of FOLDERS exists. Not globs and placeholders (`<name>`, `NAME`).
- A paragraph has at most MAX_WORDS words. List items, table cells and lines that begin in bold are paragraphs; code
  blocks are excepted.

Prints one line a violation, `file:line: rule`; exits 1 if there is one.
"""

import re
import sys
from pathlib import Path

MAX_WORDS = 120
FOLDERS = (
    "bench",
    "docs",
    "examples",
    "kernels",
    "machines",
    "models",
    "prompts",
    "python",
    "src",
    "tests",
    "tools",
    "web",
)

FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
RUN_IN = re.compile(r"^\*\*")
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
PATH = re.compile(rf"^(?:{'|'.join(FOLDERS)})/[\w./+-]*$")
PLACEHOLDER = re.compile(r"(?<![A-Za-z])(?:NAME|GROUP|N+)(?![A-Za-z])")


def prose_lines(text):
    """(number, line) of what is outside code blocks; a code block leaves one empty line, which ends a paragraph."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1] == fence:
                fence = None
        elif mark:
            fence = mark[1]
            yield number, ""
        else:
            yield number, line


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


def check_paths(page, text, root):
    name = page.relative_to(root).as_posix()
    for number, line in prose_lines(text):
        for _, code in CODE.findall(line):
            for word in (word.strip("(),:;'\"") for word in code.split()):
                word = re.sub(r"(?::\d+|#.*|\.)$", "", word)
                if PATH.match(word) and not PLACEHOLDER.search(word) and not (root / word).exists():
                    yield f"{name}:{number}: there is no `{word}`"


def check_paragraphs(page, text, root):
    for number, paragraph in paragraphs(text):
        if (count := words(paragraph)) > MAX_WORDS:
            yield (
                f"{page.relative_to(root).as_posix()}:{number}: the paragraph has {count} words; {MAX_WORDS} is the "
                "limit"
            )


def check(root):
    pages = [root / "README.md", root / "CHANGELOG.md", *sorted((root / "docs").rglob("*.md"))]
    complaints = []
    for page in pages:
        text = page.read_text()
        for rule in (check_links, check_paths, check_paragraphs):
            complaints += rule(page, text, root)
    return len(pages), complaints


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    pages, complaints = check(root)
    for complaint in complaints:
        print(complaint)
    print(f"{pages} pages checked: {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
