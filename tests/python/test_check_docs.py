"""tools/check_docs.py: one broken page a rule, and pages that keep them."""

import check_docs
import pytest


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
    assert complaints("`docs/*.none`, `docs/NAME.cpp`\n") == [
        "1: there is no `docs/*.none`",
        "1: there is no `docs/NAME.cpp`",
    ]


def test_paths_in_code_blocks_and_below_src_exist(complaints, tmp_path):
    (tmp_path / "src/ir").mkdir(parents=True)
    (tmp_path / "src/ir/bind.cpp").touch()
    assert complaints("`ir/bind.cpp`, `bind.cpp:12`, `ir/bind.*`\n```sh\ncat ir/bind.cpp src/ir/\n```\n") == []
    assert complaints("```\nir/none.txt\n```\nand `none.h`\n") == [
        "2: there is no `ir/none.txt`",
        "4: there is no `none.h`",
    ]


def test_code_blocks_have_a_language_and_a_text():
    text = "a `b`\n```sh\nx\n\ny\n```\n```\nz\n```\n"
    assert list(check_docs.blocks(text)) == [("sh", "x\n\ny\n"), ("", "z\n")]
    assert list(check_docs.code(text)) == [(1, "b"), (3, "x"), (4, ""), (5, "y"), (8, "z")]


def test_paragraphs_are_short(complaints):
    long = "word " * 121
    limit = "the paragraph has 121 words; 120 is the limit"
    assert complaints("word " * 120 + "\n") == []
    assert complaints(f"```\n{long}\n```\n") == []
    assert complaints(f"text\n\n- item\n- {long}\n") == [f"4: {limit}"]
    assert complaints(f"| a | b |\n|---|---|\n| a | {long} |\n") == [f"3: {limit}"]
    assert complaints("word\n" * 121) == [f"1: {limit}"]
    assert complaints("word\n" * 60 + "**Bold** " + "word\n" * 90) == []
