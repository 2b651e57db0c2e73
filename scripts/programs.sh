#!/usr/bin/env bash
# OpenCL programs that strangers wrote, unchanged: each on PoCL alone and through a manager, over shared memory and over
# TCP, in turn. Checks that the results are the same, and prints a table with the times of whole programs.
# scripts/programs/burst.sh has many that start at once, scripts/programs/cts.sh Khronos' conformance tests.
# Needs `make build`'s release binaries, cmake, git, and what `make setup` installs.
#   scripts/programs.sh [PROGRAM...]
#     hashcat clpeak clblast vkfft babelstream opencl-benchmark rodinia shoc
#   Without a program: all. RUNS is how often each is timed (3), after a run each way that is not.
#   RESULTS=1 only prints the table of what was run before.
#   RACKLOOM_PROGRAMS names a folder of sources that were fetched already, as NAME-VERSION, for machines without
#   network.
# What is fetched is of a pinned version and is kept in out/programs, as are builds and outputs.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$root/out/programs
all=(hashcat clpeak clblast vkfft babelstream opencl-benchmark rodinia shoc)
programs=("$@")
[ $# -gt 0 ] || programs=("${all[@]}")
for program in "${programs[@]}"; do
  [ -f "scripts/programs/$program.sh" ] || { echo "error: no such program: $program; there are ${all[*]}" >&2; exit 2; }
done
# shellcheck source=scripts/programs/common.sh
source scripts/programs/common.sh
if [ -z "${RESULTS:-}" ]; then
  start_manager
  for program in "${programs[@]}"; do
    rm -rf "${out:?}/runs/$program"
    # shellcheck source=/dev/null
    source "scripts/programs/$program.sh"
    "$program"
    cd "$root"
  done
fi
python3 scripts/programs/table.py "$out/runs" "${programs[@]}"
