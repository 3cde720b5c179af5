"""Hatchling's build hook: the programs and their data become solstice/_program of the wheel.

SOLSTICE_BUILT names a build folder whose programs are taken as they are; without it `./x build programs` makes them.
The wheel fits any Python of pyproject.toml (the programs link none); its tag names the glibc that the programs need.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bundle  # noqa: E402

ROOT = bundle.ROOT
PROGRAMS = {name: folder for name, folder in bundle.PROGRAMS.items() if not name.startswith("tests/")}
FOLDERS = ("kernels", "machines", "models", "prompts", "examples", "bench/families", "bench/kernels")
INSIDE = Path("solstice/_program")
# Of the libraries inside the programs, as Debian states them.
LICENSES = (
    *("libboost-dev", "libcli11-dev", "libfmt-dev", "libseccomp-dev", "libsqlite3-dev", "libssl-dev"),
    *("libstdc++-12-dev", "libtomlplusplus-dev", "libxxhash-dev", "nlohmann-json3-dev"),
)
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}  # what manylinux lets a wheel find there


class ProgramsHook(BuildHookInterface):
    """Named in pyproject.toml."""

    def initialize(self, version, build_data):
        if self.target_name != "wheel":
            return
        build = built_programs()
        self._staging = tempfile.TemporaryDirectory(prefix="solstice-wheel-")
        staging = Path(self._staging.name)
        bundle.copy_programs(build, staging, PROGRAMS)
        bundle.copy_folders(staging, FOLDERS)
        shutil.copytree(bundle.cutlass_headers(own_python()), staging / "cutlass/include")
        copy_licenses(staging / "licenses")
        build_data["pure_python"] = False
        programs = [staging / folder / Path(name).name for name, folder in PROGRAMS.items()]
        build_data["tag"] = f"py3-none-{platform_of(programs)}"
        for path in sorted(p for p in staging.rglob("*") if p.is_file()):
            build_data["force_include"][str(path)] = str(INSIDE / path.relative_to(staging))

    def finalize(self, version, build_data, artifact_path):
        if self.target_name == "wheel":
            self._staging.cleanup()


def built_programs():
    given = os.environ.get("SOLSTICE_BUILT")
    if given:
        return Path(given).resolve()
    # pip's isolation is for the backend alone.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([str(ROOT / "x"), "build", "programs"], check=True, env=env)
    return ROOT / "build"


def own_python():
    """The one with CUTLASS."""
    own = ROOT / ".venv/bin/python"
    return str(own) if own.exists() else sys.executable


def copy_licenses(out):
    out.mkdir()
    for name in LICENSES:
        text = Path("/usr/share/doc", name, "copyright")
        if not text.exists():
            bundle.fail(f"{text} is missing: the wheel has to carry the license of what is linked into its programs")
        shutil.copy(text, out / f"{name}.txt")


def platform_of(programs):
    """The tag of the oldest glibc that has every symbol which they need (PEP 600)."""
    newest = (2, 17)
    for program in programs:
        said = subprocess.run(["readelf", "-W", "-d", "-V", program], capture_output=True, text=True, check=True).stdout
        foreign = set(re.findall(r"\(NEEDED\).*\[(.+)\]", said)) - SYSTEM_LIBRARIES
        if foreign:
            bundle.fail(f"{program.name} needs {', '.join(sorted(foreign))}, which a manylinux machine may not have")
        newest = max([newest, *((int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", said))])
    return f"manylinux_{newest[0]}_{newest[1]}_x86_64"
