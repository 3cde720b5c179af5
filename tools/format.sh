#!/usr/bin/env bash
# Formats the C++ and CUDA sources (.clang-format); with --check only names the files that are not formatted.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
formatter=$root/.venv/bin/clang-format  # pinned: versions differ in their opinions
[ -x "$formatter" ] || { echo "no clang-format in .venv: ./x setup" >&2; exit 77; }
cd "$root"
find src kernels tests bench tools -path tests/golden -prune -o \
    \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) -print0 |
  if [ "${1:-}" = --check ]; then xargs -0 "$formatter" --dry-run --Werror; else xargs -0 "$formatter" -i; fi
