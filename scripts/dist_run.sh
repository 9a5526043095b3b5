#!/bin/sh
# On a machine with a GPU: ./run [test|sanitizer|mnist|bench] [arguments]. SINTER_DEVICE says on which device (cuda; cuda-sim simulates one).
# Kernels and results stay in this folder.
set -eu
cd "$(dirname "$0")"
: "${SINTER_DEVICE:=cuda}" "${SINTER_CACHE:=$PWD/cache}" "${FUZZ_PROGRAMS:=200}"
export SINTER_DEVICE SINTER_CACHE FUZZ_PROGRAMS

what=${1:-test}
[ $# -eq 0 ] || shift
case $what in
  test)  # left out: a forked child has no GPU (V7), and one test of V3 maps a file, which the CPU's kernels read
    bin/test_semantics '~"V7*"~"V3 a store writes*"' "$@"
    bin/test_fuzz "random programs agree*" "$@" ;;
  sanitizer)  # NVIDIA's compute-sanitizer, which is part of the toolkit
    FUZZ_PROGRAMS=20 exec compute-sanitizer --error-exitcode 9 bin/test_fuzz "random programs agree*" "$@" ;;
  mnist) exec bin/mnist --device "$SINTER_DEVICE" "$@" ;;
  bench) exec python3 bench/bench.py --device cuda "$@" ;;
  *) sed -n 2,3p run; exit 2 ;;
esac
