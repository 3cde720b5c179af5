"""Commands on the pages: the program knows them with their options and values, and those that only read files run."""

import functools
import os
import re
import shlex
import subprocess

import pytest
from conftest import ROOT
from pages import (
    PAGES,
    PROGRAM,
    calls_in,
    code_in,
    command_of,
    commands,
    each_page,
    help_of,
    needs_program,
    options_of,
    tasks,
)

COMMANDS = ROOT / "docs/commands.md"
# Neither a GPU, a key nor minutes: these run wherever a page calls them with files that exist.
READERS = {"check", "doctor", "grammar", "import", "list", "normal", "plan", "rewrite", "same", "sol"}
TOOL = re.compile(r"(?:^|\s)((?:tools|bench)/[\w/]+\.(?:py|sh)|build/(?:tests|bench)/\w+)((?: \S+)*)")


@needs_program
@each_page
def test_commands_exist_with_their_options(page):
    wrong = []
    for program, words in calls_in(page):
        known = options_of(program, words)
        if known is None or {word.split("=")[0] for word in words if word.startswith("--")} - known:
            wrong.append((program, *words))
    assert not wrong


@functools.lru_cache(maxsize=None)
def choices_of(name):
    """The legal values of those options of a command that have a list of them."""
    text = help_of(PROGRAM, *name.split(), "--help")
    options = re.findall(r"^  (--[a-z-]+) ([^\n]*(?:\n {20,}[^\n]*)*)", text, re.M)
    lists = {option: re.search(r"\(([a-z]+(?:,\s+[a-z]+)+)\)", body) for option, body in options}
    return {option: re.split(r",\s+", found[1]) for option, found in lists.items() if found}


@needs_program
@each_page
def test_values_of_options_are_legal(page):
    wrong = []
    for _, words in calls_in(page):
        legal = choices_of(name) if (name := command_of(words)) else {}
        for option, value in zip(words, words[1:]):
            if option in legal and not value.isupper() and not set(value.split(",")) <= set(legal[option]):
                wrong.append(f"{option} {value}: legal are {legal[option]}")
    assert not wrong


@needs_program
@each_page
def test_options_named_alone_belong_to_some_command(page):
    known = set().union(*(options_of("solstice", name.split()) for name in commands()))
    named = {code.split()[0].split("=")[0] for code in code_in(page) if code.startswith("--")}
    assert not named - known


def is_complete(words):
    """Its argument is there, no placeholder stands in it, and the files exist that it reads."""
    usage = re.search(r"usage: solstice \w+ ?(\S*)", help_of(PROGRAM, words[0], "--help"))[1]
    arguments = [word for word in words[1:] if not word.startswith("--")]
    files = [word.split(":")[0] for word in words[1:] if re.search(r"[./]", word)]
    placeholders = [word for word in words if re.fullmatch(r"[A-Z|]+", word)]
    return (arguments or not usage.isupper()) and not placeholders and all((ROOT / file).is_file() for file in files)


def runnable_calls():
    calls = {tuple(words) for page in PAGES for _, words in calls_in(page)} if PROGRAM.exists() else set()
    return sorted(words for words in calls if words[0] in READERS and "--out" not in words and is_complete(words))


@needs_program
@pytest.mark.parametrize("words", runnable_calls(), ids=" ".join)
def test_commands_that_only_read_run(words, tmp_path):
    places = {"SOLSTICE_HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    call = shlex.split(" ".join(words))
    done = subprocess.run(
        [PROGRAM, *call], cwd=ROOT, env={**os.environ, **places}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def text_of(tool):
    """A script, or the folders that the binaries of a build are made of."""
    if tool.endswith((".py", ".sh")):
        return (ROOT / tool).read_text()
    folder = ROOT / tool.split("/")[1]
    return "\n".join(
        path.read_text() for path in sorted(folder.rglob("*.[hc]*")) if path.suffix in (".h", ".cpp", ".cu")
    )


@each_page
def test_tools_know_their_options(page):
    calls = (call.groups() for line in code_in(page) for call in TOOL.finditer(line))
    named = {(tool, option) for tool, arguments in calls for option in re.findall(r"--[a-z-]+", arguments)}
    assert not [(tool, option) for tool, option in named if option not in text_of(tool)]


@needs_program
def test_the_tasks_of_the_help_name_commands_with_their_options():
    assert len(tasks()) >= 10
    for words in tasks():
        known = options_of("solstice", words)
        assert known is not None and {word for word in words if word.startswith("--")} <= known, words


@needs_program
def test_the_page_of_commands_has_every_command_once():
    rows = re.findall(r"^\| `([a-z -]+?)(?: (?:--|[A-Z\[]).*)?` \|", COMMANDS.read_text(), re.M)
    assert sorted(rows) == sorted(commands())
