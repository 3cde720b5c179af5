#!/usr/bin/env bash
# Formats the C++ and CUDA sources (.clang-format) and the Python sources (ruff.toml); with --check only says what is
# not formatted.
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
clang_format=$root/.venv/bin/clang-format  # both are pinned: versions differ in their opinions
ruff=$root/.venv/bin/ruff
for formatter in "$clang_format" "$ruff"; do
  [ -x "$formatter" ] || { echo "no $(basename "$formatter") in .venv: ./x setup" >&2; exit 77; }
done
cd "$root"
sources() {
  find src kernels tests bench tools -path tests/golden -prune -o \
    \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) -print0
}
python=(--quiet bench examples python tests tools)
if [ "${1:-}" = --check ]; then
  status=0
  sources | xargs -0 "$clang_format" --dry-run --Werror || status=1
  "$ruff" format --check --diff "${python[@]}" || status=1
  exit $status
fi
sources | xargs -0 "$clang_format" -i
"$ruff" format "${python[@]}"
