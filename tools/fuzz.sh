#!/usr/bin/env bash
# Fuzzes the lexer, the parser, the checker, the importer of graphs, the reader of machine code, facts with their
# diagnosis, findings, and the reader of ncu's pages (counters) with libFuzzer, AddressSanitizer and UBSan (clang).
# Usage: [JOBS=N] fuzz.sh BUILD_FOLDER [RUNS [TARGET...]]; RUNS of each target, 1000000 by default, in JOBS processes
# (1) that share a corpus. It grows below BUILD_FOLDER; its seeds are the programs, graphs, disassembled kernels and
# recorded facts of the tests (and what tools/fuzz_graphs.py and tools/fuzz_records.py make, for which the program is
# built and set up: ./x build), its dictionary their words. The logs are BUILD_FOLDER/TARGET.JOB.log; of each the edges
# covered after 80 % of the runs and after all are printed: they are the same where coverage is flat.
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1"
build=$(cd -- "$1" && pwd)
runs=${2:-1000000} jobs=${JOBS:-1}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- lexer parser checker graph sass facts findings counters
clang=$(command -v clang++ || command -v clang++-14) ||
  { echo "fuzz.sh needs clang++ with libFuzzer: apt-get install clang-14 libclang-rt-14-dev" >&2; exit 2; }
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$clang" \
  -DSOLSTICE_SANITIZE=fuzzer-no-link,address,undefined >/dev/null

# The words of the files that three of them at least have, as libFuzzer's dictionary.
dictionary() {
  for file in "$@"; do
    grep -oE '[A-Za-z_][A-Za-z0-9_.]*|[^A-Za-z0-9_[:space:]"\\]{1,2}' "$file" | sort -u
  done | sort | uniq -c | awk '$1 >= 3 { print "\"" $2 "\"" }'
}

# Runs, and edges covered, after 80 % of the runs and after all.
coverage() {
  awk -v last="$(grep -oE '^stat::number_of_executed_units: *[0-9]+' "$1" | grep -oE '[0-9]+$')" '
    match($0, /cov: [0-9]+/) {
      cov = substr($0, RSTART + 5, RLENGTH - 5)
      if (substr($1, 2) + 0 <= 0.8 * last) early = cov
    }
    END { printf "%d runs: %d edges after 80 %%, %d after all (%+.2f %%)\n",
          last, early, cov, 100 * (cov - early) / early }' "$1"
}

trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

# The schedule by entropy costs libFuzzer more than half of its time here; short stacks of allocations are enough, as
# what is found is run again.
export ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=16:max_malloc_fill_size=0
fuzz() {
  local target=$1 length=$2 log=$3
  "$build/tests/fuzz_$target" -runs=$((runs / jobs)) -max_len="$length" -dict="$build/$target.dict" -entropic=0 \
    -timeout=10 -rss_limit_mb=4096 -reload=5 -artifact_prefix="$build/$target-" -print_funcs=0 -print_final_stats=1 \
    "$build/corpus_$target" "$build/seeds_$target" >"$log" 2>&1 || { tail -40 "$log"; return 1; }
}

for target in "$@"; do
  ninja -C "$build" --quiet "fuzz_$target"
  seeds=$build/seeds_$target kind=ucut length=1024
  mkdir -p "$seeds" "$build/corpus_$target"
  [ "$target" != graph ] || kind=json length=8192
  [ "$target" != sass ] || kind=sass length=4096
  case $target in facts) kind=- length=6144 ;; findings | counters) kind=- length=2048 ;; esac
  # Files of one name lie in several folders.
  find "$root/examples" "$root/tests/golden" -name "*.$kind" | while read -r file; do
    relative=${file#"$root"/}
    name=${relative//\//-}
    # Kernels are longer than an input.
    if [ "$target" = sass ]; then split -l 40 "$file" "$seeds/$name-"; else cp "$file" "$seeds/$name"; fi
  done
  [ "$target" != graph ] ||
    "${SOLSTICE_PYTHON:-$root/.venv/bin/python}" -W ignore "$root/tools/fuzz_graphs.py" "$seeds" "$length"
  [ "$kind" != - ] || python3 "$root/tools/fuzz_records.py" "$target" "$seeds" "$length"
  dictionary "$seeds"/* >"$build/$target.dict"
  pids=()
  for job in $(seq "$jobs"); do
    fuzz "$target" "$length" "$build/$target.$job.log" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid"; done
  for job in $(seq "$jobs"); do echo "$target: $(coverage "$build/$target.$job.log")"; done
done
