"""tools/check_docs.py: one broken page a rule, and pages that keep them."""

import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import check_docs  # noqa: E402


@pytest.fixture
def complaints(tmp_path):
    """The rules broken by a page docs/page.md, without its name."""

    def of(text):
        (tmp_path / "docs").mkdir(exist_ok=True)
        for name in ("README.md", "CHANGELOG.md"):
            (tmp_path / name).write_text("# A heading of `code`\n")
        (tmp_path / "docs/page.md").write_text(text)
        return [line.removeprefix("docs/page.md:") for line in check_docs.check(tmp_path)[1]]

    return of


def test_links_name_files_and_headings(complaints):
    assert complaints("[a](../README.md#a-heading-of-code), [b](https://example.org/x#y), `[c](none.md)`\n") == []
    assert complaints("\n[a](none.md)\n") == ["2: the link `none.md` names no file"]
    assert complaints("[a](../README.md#none)\n") == ["1: the link `../README.md#none` names no heading of README.md"]
    assert complaints("# Two\n## Two\n[a](#two-1), [b](#two-2)\n") == [
        "3: the link `#two-2` names no heading of page.md"
    ]


def test_paths_in_backticks_exist(complaints):
    assert (
        complaints("`docs/page.md`, `docs/*.md`, `docs/NAME.md`, `src/<name>`, `python3 docs/page.md --quick`\n") == []
    )
    assert complaints("see `src/none.cpp`.\n") == ["1: there is no `src/none.cpp`"]


def test_paragraphs_are_short(complaints):
    long = "word " * 121
    limit = "the paragraph has 121 words; 120 is the limit"
    assert complaints("word " * 120 + "\n") == []
    assert complaints(f"```\n{long}\n```\n") == []
    assert complaints(f"text\n\n- item\n- {long}\n") == [f"4: {limit}"]
    assert complaints(f"| a | b |\n|---|---|\n| a | {long} |\n") == [f"3: {limit}"]
    assert complaints("word\n" * 121) == [f"1: {limit}"]
    assert complaints("word\n" * 60 + "**Bold** " + "word\n" * 90) == []
