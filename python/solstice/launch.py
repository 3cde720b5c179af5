"""The `solstice` program: where it lies, and what it is told of the Python that starts it. Imports no PyTorch."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Optional

from .errors import OracleError, environment_error, input_error

PROGRAM = "solstice"
PACKAGE = Path(__file__).resolve().parent
INSTALLED = PACKAGE / "_program"  # of a wheel: programs, kernels and data
EXIT_CODES = {"input": 2, "environment": 3}


def find_program(named: Optional[str] = None) -> str:
    """`named`, else SOLSTICE_PROGRAM, else the one of this package, else the one on PATH."""
    explicit = named or os.environ.get("SOLSTICE_PROGRAM")
    if explicit:
        if not os.access(explicit, os.X_OK):
            raise input_error("optimize.no_program", f"`{explicit}` is not an executable file")
        return explicit
    for candidate in _beside():
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which(PROGRAM)
    if found is None:
        raise environment_error(
            "optimize.no_program",
            f"the program `{PROGRAM}` was not found",
            hint="build it with `./x build`, or set SOLSTICE_PROGRAM",
        )
    return found


def _beside() -> tuple[Path, ...]:
    if INSTALLED.is_dir():
        return (INSTALLED / "bin" / PROGRAM,)
    # A bundle's launcher unpacks headers before it starts the program in bin/.
    root = PACKAGE.parents[1]
    return (root / PROGRAM, root / "bin" / PROGRAM, root / "build" / "bin" / PROGRAM)


def environment() -> dict[str, str]:
    """Of the program: an installed one uses the Python that it is installed in. A clone has one of its own."""
    env = dict(os.environ)
    if INSTALLED.is_dir() and not env.get("SOLSTICE_PYTHON"):
        env["SOLSTICE_PYTHON"] = sys.executable
    return env


def main() -> int:
    """Becomes the program, so that signals and exit codes are its own."""
    try:
        program = find_program()
    except OracleError as error:
        return _refuse(error.code, f"{error}; {error.hint}" if error.hint else str(error), error.kind)
    name = sys.argv[0] if os.access(sys.argv[0], os.X_OK) else program
    try:
        os.execve(program, [name, *sys.argv[1:]], environment())
    except OSError as error:
        return _refuse("optimize.no_program", f"cannot start {program}: {error.strerror}", "environment")


def _refuse(code: str, text: str, kind: str) -> int:
    print(f"solstice: error[{code}]: {text}", file=sys.stderr)
    return EXIT_CODES[kind]
