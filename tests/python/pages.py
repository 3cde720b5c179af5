"""The pages of the repository, the commands that they name, and the help of the program that these are held against."""

import functools
import re
import subprocess

import check_docs
import pytest
from conftest import ROOT

PROGRAM = ROOT / "build/bin/solstice"
README = ROOT / "README.md"
PAGES = [page for page in check_docs.pages_of(ROOT) if page.name != "CHANGELOG.md"]  # which tells what was
CALL = re.compile(r"(?:^|(?<=[\s/(]))(solstice|\./x) ([a-z][^#|;&>)]*)")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built; run ./x build")


def code_in(page):
    """Lines of the code blocks, and what stands between backticks."""
    return [found for _, found in check_docs.code(page.read_text())]


def blocks_in(page):
    """(language, text) of each code block."""
    return list(check_docs.blocks(page.read_text()))


def calls_in(page):
    """(program, words) of each call of `solstice` or `./x`."""
    return [(call[1], call[2].split()) for line in code_in(page) for call in CALL.finditer(line)]


@functools.lru_cache(maxsize=None)
def help_of(*command):
    return subprocess.run([*command], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def starts_of_lines(help_text, pattern):
    """What the indented lines of a help text begin with."""
    return set(re.findall(rf"^  ({pattern})", help_text, re.M))


def commands():
    _, _, listed = help_of(PROGRAM, "--help").partition("\nCommands:\n")
    return starts_of_lines(listed, "[a-z-]+(?: [a-z]+)?")


def tasks():
    """The command lines of the tasks that the help begins with, as lists of words."""
    shown, _, _ = help_of(PROGRAM, "--help").partition("\nCommands:\n")
    lines = re.findall(r"^  .*?  (solstice .+)$", shown, re.M)
    return [call.split()[1:] for line in lines for call in line.split(";")]


def command_of(words):
    """The command of the program that a call names, or None."""
    return next((name for name in (" ".join(words[:2]), words[0]) if name in commands()), None)


def options_of(program, words):
    """The options of the command that a line calls, or None if there is no such command."""
    script = help_of("./x", "help")
    if program == "./x" and words[0] in starts_of_lines(script, "[a-z]+") - {"optimize", "bench"} | {"help"}:
        return set(re.findall(r"--[a-z-]+", script))
    name = command_of(words)
    return name and {"--help"} | starts_of_lines(help_of(PROGRAM, *name.split(), "--help"), "--[a-z-]+")
