"""The README and the pages of docs/ agree with the folders: quoted files, the walk through a family, the index."""

import re
import subprocess

import pytest
from conftest import ROOT
from pages import PAGES, PROGRAM, README, blocks_in, each_page, needs_program


@needs_program
def test_legality_has_the_rules_of_the_tables():
    printed = subprocess.run([PROGRAM, "list", "rules"], capture_output=True, text=True, check=True).stdout
    assert printed.strip() in (ROOT / "docs" / "legality.md").read_text()


@each_page
def test_python_compiles(page):
    for language, block in blocks_in(page):
        if language == "python":
            compile(block, page.name, "exec")


def kernels_in(text):
    """Its kernels without the comments of their lines."""
    lines = [line.split("  #")[0] for line in text.splitlines()]
    return re.findall(r"^kernel .*?^}", "\n".join(lines), re.M | re.S)


@needs_program
def test_kernels_of_the_readme_are_those_of_the_plan():
    block = next(block for language, block in blocks_in(README) if language == "ucut")
    command = block.splitlines()[0].removeprefix("# ./x ").split()
    printed = subprocess.run([PROGRAM, *command], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert kernels_in(block) and kernels_in(block) == kernels_in(printed)


@needs_program
def test_families_that_are_built_are_listed_first():
    printed = subprocess.run([PROGRAM, "list", "families"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^\S.*", printed, re.M)
    later = [name.endswith("(not yet)") for name in names]
    assert "gemm" in names and any(later) and later == sorted(later)


def test_readme_is_short():
    assert len(README.read_text().splitlines()) < 120


def excerpts_of(page):
    """Blocks that quote a file, which their first line names, in pieces between lines of `...`."""
    for _, block in blocks_in(page):
        if quoted := re.match(r"(?://|#) ([\w./-]+\.(?:h|cpp|cu|py|ucut|json))\n", block):
            yield quoted[1], [piece.strip() for piece in re.split(r"^\s*\.\.\.\n", block[quoted.end() :], flags=re.M)]


def plain(text):
    """Without indentation."""
    return "\n".join(line.strip() for line in text.splitlines())


@each_page
def test_excerpts_stand_in_their_files(page):
    for name, pieces in excerpts_of(page):
        text, at = plain((ROOT / name).read_text()), 0
        for piece in pieces:
            at = text.find(plain(piece), at)
            assert at >= 0, f"{name} has no\n{piece}"
            at += len(plain(piece))


ADDING = ROOT / "docs/adding-a-family.md"


def test_functions_of_the_walk_exist():
    code = "\n".join(path.read_text() for folder in ("src", "tests/unit") for path in (ROOT / folder).rglob("*.[hc]*"))
    named = [name.split("::")[-1] for name in re.findall(r"`([\w:]+)\(\)`", ADDING.read_text())]
    assert len(named) > 5 and not [name for name in named if not re.search(rf"\b{name}\(", code)]


@needs_program
def test_commands_of_the_walk_run(tmp_path):
    blocks = blocks_in(ADDING)
    program = next(block for language, block in blocks if language == "ucut")
    (tmp_path / "running_sum.ucut").write_text(program)
    lines = [line for language, block in blocks if language == "sh" for line in block.splitlines()]
    assert len(lines) > 2
    for line in lines:
        call = [PROGRAM, *line.split()[1:]]
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
        if "compile" in call and "nvrtc" in (done.stdout + done.stderr).lower() and done.returncode:
            pytest.skip("NVRTC is not here: nothing was compiled")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "plan/k.cu").exists() and (tmp_path / "plan/plan.json").exists()


def test_the_picture_of_the_house_has_every_room():
    picture = next(block for _, block in blocks_in(README) if block.startswith("src/"))
    rooms = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert not rooms - set(picture.split())


def test_the_index_names_every_page():
    index = ROOT / "docs/README.md"
    linked = {(index.parent / link).resolve() for link in re.findall(r"\]\(([^)#]+)\)", index.read_text())}
    decisions = ROOT / "docs/adr"  # which has an index of its own
    assert not [page for page in PAGES if page != index and page not in linked and page.parent != decisions]


def test_the_glossary_is_sorted():
    for section in (ROOT / "docs/glossary.md").read_text().split("\n## ")[1:]:
        words = re.findall(r"^\| (.*?) \|", section, re.M)[2:]
        assert len(words) > 2 and words == sorted(words, key=str.lower)
