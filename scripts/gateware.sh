#!/usr/bin/env bash
# Tests of the gateware: a bench for each block, the firmware's tests, and the proofs.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/pytest -q -n 2 gateware/tb
gateware/firmware/build.py --check
.venv/bin/pytest -q gateware/firmware/tests
gateware/formal/run.sh
