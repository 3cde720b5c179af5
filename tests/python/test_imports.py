"""The modules of python/solstice form a DAG: none imports one that imports it, at whatever depth."""

import ast
import graphlib

from conftest import ROOT

PACKAGE = ROOT / "python"
FILES = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
MODULES = {name.removesuffix(".__init__"): path for name, path in FILES.items()}


def imported_by(name):
    """Modules of the package that a file names anywhere, also within functions."""
    package = name.split(".") if MODULES[name].name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*above, node.module] if node.module else above)
            names = [f"{source}.{alias.name}" for alias in node.names]
            yield from (full if full in MODULES else source for full in names)


def test_no_module_imports_itself_through_others():
    graph = {name: {other for other in imported_by(name) if other in MODULES} - {name} for name in MODULES}
    assert len(graph) > 60 and sum(map(len, graph.values())) > 100
    graphlib.TopologicalSorter(graph).prepare()
