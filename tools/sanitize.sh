#!/usr/bin/env bash
# Builds and runs the unit tests of some layers with AddressSanitizer and UndefinedBehaviorSanitizer.
# Usage: sanitize.sh BUILD_FOLDER LAYER...
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
set -euo pipefail
build=$1
shift
# clang compiles unoptimised checked code in a third of g++'s time.
compiler=g++
if clang++-14 -fsanitize=address,undefined -x c++ -o /dev/null - <<<'int main() {}' 2>/dev/null; then
  compiler=clang++-14
fi
cmake -S "$(dirname "${BASH_SOURCE[0]}")/.." -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER=$compiler -DSOLSTICE_SANITIZE=address,undefined >/dev/null
targets=""
for layer in "$@"; do
  if ninja -C "$build" -t query "test_$layer" >/dev/null 2>&1; then targets+=" test_$layer"; fi
done
ninja -C "$build" --quiet $targets
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
for target in $targets; do
  echo "== $target"
  "$build/tests/$target" --gtest_brief=1
done
