"""The pages of docs/tutorial run: every command, in order, in a folder that holds the examples and the tutorial alone.

The commands of a page are one session of the shell. A block without a language shows the output of the commands
before it; `...` stands for anything, as in doctest.
"""

import os
import re
import shutil
import subprocess

import pytest
from conftest import ROOT
from pages import PROGRAM, blocks_in, needs_program

pytestmark = pytest.mark.slow

TUTORIAL = ROOT / "docs/tutorial"
PAGES = sorted(TUTORIAL.glob("*.md"))
MARK = "@@ block"

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


@pytest.fixture
def checkout(tmp_path):
    """`./x` stands for itself without setting up and building."""
    for folder in ("examples", "docs/tutorial"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    script = tmp_path / "x"
    script.write_text(f'#!/bin/sh\nexec "{PROGRAM}" "$@"\n')
    script.chmod(0o755)
    return tmp_path


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def blocks_of(page):
    """Commands, each with the output that the page shows."""
    blocks = []
    for language, text in blocks_in(page):
        if language == "sh":
            blocks.append((text, ""))
        elif not language:
            assert blocks and not blocks[-1][1], f"output without commands:\n{text}"
            blocks[-1] = blocks[-1][0], text
    return blocks


def outputs_of(blocks, folder, cache):
    script = "exec 2>&1\nset -eo pipefail\n" + "".join(f"echo '{MARK}'\n{commands}" for commands, _ in blocks)
    places = {"SOLSTICE_HOME": folder / "home", "SOLSTICE_CACHE": cache, "XDG_CONFIG_HOME": folder / "config"}
    environment = {**os.environ, **{name: str(path) for name, path in places.items()}}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, timeout=300
    )
    if done.returncode and "nvrtc" in done.stdout.lower():
        pytest.skip("NVRTC is not here: nothing was compiled")
    assert done.returncode == 0, done.stdout
    return done.stdout.split(f"{MARK}\n")[1:]


def matches(shown, output):
    pattern = re.escape(shown.rstrip()).replace(re.escape("..."), ".*?")
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in output.rstrip().splitlines()), re.S)


@each_page
@needs_program
def test_commands_print_what_the_page_shows(page, checkout, cache, warm_python):
    blocks = blocks_of(page)
    for (commands, shown), output in zip(blocks, outputs_of(blocks, checkout, cache), strict=True):
        assert not shown or matches(shown, output), f"{commands}prints\n{output}\nThe page shows\n{shown}"


@each_page
def test_pages_are_short(page):
    assert len(page.read_text().splitlines()) <= 80


def test_five_pages():
    assert [page.name[0] for page in PAGES] == list("12345")
