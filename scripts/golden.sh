#!/usr/bin/env bash
# Builds the models with which the gateware's benches and the firmware's tests compare, and prints where they are:
#   export RACKLOOM_GOLDEN=$(scripts/golden.sh)
# They are the only crates that a bench needs, and wasmtime is not among them.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --locked -q -p rackloom-golden >&2
echo "$(realpath "${CARGO_TARGET_DIR:-target}")/debug/librackloom_golden.so"
