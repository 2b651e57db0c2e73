#!/usr/bin/env bash
# Programs that start at the same time, as serverless functions do: each looks for a device, builds a program, runs a
# kernel, checks what it has computed and ends (start.c). On PoCL alone, and through managers over shared memory and
# over TCP; the first time nothing has been compiled, the second time all has. Fails if one got no device or a wrong
# result.
#   scripts/programs/burst.sh [PROGRAMS]     200
# Columns are milliseconds, the median and the most of all programs: until the device was there, for the build, until
# the kernel was done. What else runs on the machine counts as much as what this does.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
out=$root/out/programs
programs=${1:-200}
# shellcheck source=scripts/programs/common.sh
source scripts/programs/common.sh
build start cc -O2 -Wall -Wextra -Werror -o "$out/build/start" scripts/programs/start.c -lOpenCL

# The median and the most of a column of numbers.
spread() {
  sort -n | awk '{ of[NR] = $1 } END { if (NR) printf "%.0f, %.0f\n", of[int((NR + 1) / 2)], of[NR]; else print "-" }'
}

failed=0
echo "| $programs programs | served | device | build | kernel done |"
echo "|---|---|---|---|---|"
for way in native shared tcp; do
  # A manager for each, so that none finds what another has compiled. Seats for all, and for those of the first time
  # whose processes have not ended. What a process may take of the
  # machine's memory is counted before it takes it.
  start_manager --clients $((2 * programs)) --tenant-clients $((2 * programs)) --host-memory 64GiB
  results=$folder/results
  for round in first second; do
    mkdir "$results"
    started=()
    for ((number = 0; number < programs; number++)); do
      POCL_CACHE=$folder/cache way $way "$out/build/start" >"$results/$number" 2>"$results/$number.errors" &
      started+=($!)
    done
    served=0
    for process in "${started[@]}"; do if wait "$process"; then served=$((served + 1)); fi; done
    [ "$served" = "$programs" ] || { failed=1; cat "$results"/*.errors | sort | uniq -c >&2; }
    row="| $way, $round | $served |"
    for column in 1 2 3; do
      row+=" $(cat "$results"/*[0-9] | awk -v column=$column 'NF == 3 { print $column }' | spread) |"
    done
    echo "$row"
    rm -r "$results"
  done
  stop_manager
done
trap - EXIT
exit $failed
