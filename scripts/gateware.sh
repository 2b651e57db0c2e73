#!/usr/bin/env bash
# Tests of the gateware: a bench for each block, and the proofs.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/pytest -q -n 2 gateware/tb
gateware/formal/run.sh
