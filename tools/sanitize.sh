#!/usr/bin/env bash
# Builds and runs the unit tests of some layers with AddressSanitizer and UndefinedBehaviorSanitizer.
# Usage: sanitize.sh BUILD_FOLDER LAYER...
set -euo pipefail
build=$1
shift
cmake -S "$(dirname "${BASH_SOURCE[0]}")/.." -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DSOLSTICE_SANITIZE=address,undefined >/dev/null
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
