#!/bin/sh
# Random kernels under compute-sanitizer, from a clone (tools/sanitize_kernels.sh) or a bundle (./sanitize-kernels):
# memcheck and racecheck on 200 small programs each. Arguments are test_random_kernels' own; TOOLS names other checkers.
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
here=$(CDPATH= cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
[ -d "$here/tests/gpu" ] && root=$here || root=$(dirname "$here")
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
export PATH
program=$root/bin/test_random_kernels
[ -x "$program" ] || program=$root/build/tests/test_random_kernels
set -- --sizes sanitizer --programs 200 --no-shrink "$@"
# Compiled before, so that the checker sees cubins of the cache alone.
"$program" --compile-only "$@" > /dev/null || exit 1
status=0
for tool in ${TOOLS:-memcheck racecheck}; do
  echo "compute-sanitizer --tool $tool"
  compute-sanitizer --tool "$tool" --target-processes application-only --error-exitcode 9 \
    "$program" --in-process "$@" || status=1
done
exit $status
