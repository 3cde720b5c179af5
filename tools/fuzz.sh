#!/usr/bin/env bash
# Fuzzes the lexer, the parser, the checker and the importer of graphs with libFuzzer, AddressSanitizer and UBSan (clang).
# Usage: fuzz.sh BUILD_FOLDER [RUNS [TARGET...]]; RUNS of each target, 1000000 by default. A corpus grows below BUILD_FOLDER;
# its seeds are the programs and graphs of the tests. Coverage over the runs is in BUILD_FOLDER/TARGET.log.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1"
build=$(cd -- "$1" && pwd)
runs=${2:-1000000}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- lexer parser checker graph
clang=$(command -v clang++ || command -v clang++-14) || { echo "fuzz.sh needs clang++ with libFuzzer: apt-get install clang-14 libclang-rt-14-dev" >&2; exit 2; }
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$clang" \
  -DSOLSTICE_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
for target in "$@"; do
  ninja -C "$build" --quiet "fuzz_$target"
  seeds=$build/seeds_$target corpus=$build/corpus_$target
  mkdir -p "$seeds" "$corpus"
  kind=ucut
  [ "$target" != graph ] || kind=json
  # Files of one name lie in several folders.
  find "$root/examples" "$root/tests/golden" -name "*.$kind" | while read -r file; do
    relative=${file#"$root"/}
    cp "$file" "$seeds/${relative//\//-}"
  done
  echo "== $target: $runs runs"
  "$build/tests/fuzz_$target" -runs="$runs" -max_len=8192 -timeout=10 -rss_limit_mb=4096 -artifact_prefix="$build/$target-" \
    -print_final_stats=1 "$corpus" "$seeds" >"$build/$target.log" 2>&1 || { tail -40 "$build/$target.log"; exit 1; }
  grep -E "^stat::number_of_executed_units|DONE" "$build/$target.log"
done
