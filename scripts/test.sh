#!/usr/bin/env bash
# All tests. The default features first; then the cards with planted bugs, which the simulator has to find.
set -euo pipefail
cd "$(dirname "$0")/.."
export RACKLOOM_PYTHON="$PWD/.venv/bin/python3"
cargo test --locked --workspace
cargo test --locked -p rackloom-card -p rackloom-soak --features rackloom-card/planted-bugs,rackloom-soak/planted-bugs
