#!/usr/bin/env bash
# A program that may spoil its OpenCL driver, many times beside four honest ones, all through one manager: the four must
# notice nothing. Needs release builds (`make build`) and the workloads (`make -C workloads`).
#   scripts/neighbours.sh RUNTIME TIMES COMMAND...
# such as, with a test of OpenCL-CTS that corrupts the heap within NVIDIA's driver:
#   scripts/neighbours.sh libnvidia-opencl.so.1 100 test_compiler unload_program_binaries
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 3 ] || { sed -n '2,6s/^# *//p' "$0" >&2; exit 2; }
runtime=$1 times=$2
shift 2
built=${CARGO_TARGET_DIR:-$PWD/target}/release
folder=$(mktemp -d)
"$built/rackloom" manager --quiet --listen "unix:$folder/manager.sock" --runtime "$runtime" >"$folder/says" 2>"$folder/errors" &
manager=$!
trap 'touch "$folder/stop"; wait "${honest[@]}" 2>/dev/null; kill $manager 2>/dev/null; wait $manager || true; rm -rf "$folder"' EXIT
until grep -q '^board' "$folder/says"; do
  kill -0 $manager || { cat "$folder/errors" >&2; exit 1; }
  sleep 0.1
done
export RACKLOOM_MANAGERS=unix:$folder/manager.sock OCL_ICD_VENDORS=$built/librackloom_opencl.so

honest() { # NUMBER COMMAND...
  local number=$1 runs=0 failed=0
  shift
  until [ -e "$folder/stop" ]; do
    "$@" >"$folder/output-$number" 2>&1 || { failed=$((failed + 1)); cat "$folder/output-$number" >&2; }
    runs=$((runs + 1))
    echo "$runs $failed" >"$folder/honest-$number"
  done
}
honest=()
for number in 1 2 3 4; do
  program=(out/workloads/bin/matmul --size 512)
  if [ $((number % 2)) = 0 ]; then program=(out/workloads/bin/sobel --size 1920x1080); fi
  honest "$number" "${program[@]}" &
  honest+=($!)
done
passed=0
for _ in $(seq "$times"); do
  if timeout 60 "$@" >"$folder/output" 2>&1; then passed=$((passed + 1)); fi
done
touch "$folder/stop"
wait "${honest[@]}"
kill -0 $manager || { echo "error: the manager has ended" >&2; cat "$folder/errors" >&2; exit 1; }
echo "$1: $times runs, $passed passed"
awk '{ runs += $1; failed += $2 }
  END { print "four programs beside it: " runs " runs, " failed " failed"
        if (runs < 2 * NR) print "error: too few runs to tell; name more TIMES" > "/dev/stderr"
        exit failed > 0 || runs < 2 * NR }' "$folder"/honest-?
