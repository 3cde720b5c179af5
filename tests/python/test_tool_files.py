"""A diagnosis tool is one file: nothing else names it, and the build finds it by its place alone."""

import re
import shutil
import subprocess

import pytest
from conftest import ROOT

TOOLS = ROOT / "src/diagnose/tools"
SYMBOL = re.compile(r"^extern const Tool (\w+);", re.M)
NAME = re.compile(r'\.name = "([^"]+)"')
# What the program is made of, and what it reads. Pages and tests may name tools: they are about them.
READ = ("src", "web", "python", "prompts", "models", "machines", "cmake", "tools")
TEXTS = {".cpp", ".h", ".js", ".html", ".py", ".md", ".toml", ".cmake", ".in", ".sh", ".txt"}
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(tools LANGUAGES CXX)
add_library(solstice_flags INTERFACE)
include({root}/cmake/SolsticePlugins.cmake)
{call}
"""


def of_each_tool(pattern):
    """What the pattern finds in the file of each tool, by file."""
    found = {path: pattern.search(path.read_text()) for path in sorted(TOOLS.rglob("*.cpp"))}
    return {path: match.group(1) for path, match in found.items() if match}


def test_the_symbol_of_a_tool_stands_in_its_file_alone():
    symbols = of_each_tool(SYMBOL)
    assert len(symbols) >= 30 and len(set(symbols.values())) == len(symbols)
    for path in (path for folder in READ for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS):
        text = path.read_text()
        named = [symbol for of, symbol in symbols.items() if of != path and re.search(rf"\b{symbol}\b", text)]
        assert named == [], f"{path.relative_to(ROOT)} names {named}"


def test_no_code_compares_the_name_of_a_tool():
    """Counters are grouped by questions of their own, some of which read like a tool's name."""
    allowed = {ROOT / "src/diagnose/counters/counter_table.cpp"}
    compared = [
        rf'(?:[=!]=|case|find\w*\(|contains\()\s*[\'"]{re.escape(name)}[\'"]' for name in of_each_tool(NAME).values()
    ]
    pattern = re.compile("|".join(compared))
    for path in (path for folder in READ for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS - {".md"}):
        if path not in allowed:
            assert not pattern.search(path.read_text()), path.relative_to(ROOT)


def table_of(folder):
    """The symbols of the table that the build makes of this copy of the tools."""
    build = folder / "build"
    done = subprocess.run(["cmake", "-S", folder, "-B", build, "-G", "Ninja"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return re.findall(r"&(solstice_tools_\w+)", (build / "generated/diagnose/tools/table.gen.cpp").read_text())


@pytest.mark.skipif(not (shutil.which("cmake") and shutil.which("ninja")), reason="needs cmake and ninja")
def test_without_its_file_a_tool_is_gone_with_no_other_edit(tmp_path):
    """Lists, diagnosis and pages read this table; statistics count what was diagnosed."""
    (call,) = re.findall(r"^solstice_plugins\(diagnose/tools [^)]*\)", (ROOT / "src/CMakeLists.txt").read_text(), re.M)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT, call=call))
    copy = tmp_path / "src/diagnose/tools"
    shutil.copytree(TOOLS, copy)
    whole = table_of(tmp_path)
    symbols = of_each_tool(SYMBOL)
    assert sorted(whole) == sorted(symbols.values())
    gone = sorted(symbols)[len(symbols) // 2]
    (copy / gone.relative_to(TOOLS)).unlink()
    assert table_of(tmp_path) == [symbol for symbol in whole if symbol != symbols[gone]]


def test_the_table_is_read_by_what_lists_and_diagnoses_alone():
    """Whoever shows tools takes them from the table, so none can be left behind."""
    readers = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src").rglob("*.cpp")
        if "all_tools()" in path.read_text()
    }
    assert readers == {
        "cli/view/list_tools.cpp",
        "diagnose/diagnose.cpp",
        "diagnose/external.cpp",  # whose names are taken
        "evaluate/findings/counter_facts.cpp",  # what they read
        "evaluate/findings/diagnosis.cpp",
        "flow/run/profile.cpp",
    }


def test_every_counter_that_a_tool_reads_is_collected():
    metric = re.compile(r'"([a-z0-9]+__[a-z0-9_.]+[a-z0-9])"')
    collected = set(metric.findall((ROOT / "src/diagnose/counters/counter_table.cpp").read_text()))
    sources = [path for path in (ROOT / "src/diagnose").rglob("*.cpp") if path.name != "counter_table.cpp"]
    read = {name for path in sources for name in metric.findall(path.read_text())}
    account = {"profiler__replayer_passes"}  # ncu's own, of each launch, unasked
    assert read and read - collected == account
