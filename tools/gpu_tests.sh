#!/bin/sh
# Every test that needs a GPU, from a clone (tools/gpu_tests.sh) or a bundle (./gpu-tests). Arguments go to pytest.
# Needs PyTorch with a GPU, pytest, and nvcc for the kernels that misbehave on purpose.
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
here=$(CDPATH= cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
[ -d "$here/tests/gpu" ] && root=$here || root=$(dirname "$here")
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
export PATH
SOLSTICE_PYTHON=${SOLSTICE_PYTHON:-$(command -v "$root/.venv/bin/python" || command -v python3)}
export SOLSTICE_PYTHON
[ -x "$root/bin/test_gpu_runtime" ] && programs=$root/bin || programs=$root/build/tests
status=0
"$programs/test_gpu_runtime" --gtest_brief=1 || status=1
"$programs/test_random_kernels" --programs 300 || status=1
"$SOLSTICE_PYTHON" -m pytest -q -rs -p no:cacheprovider "$root/tests/gpu" "$@" || status=1
exit $status
