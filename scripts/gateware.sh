#!/usr/bin/env bash
# Tests of the gateware: a bench for each block and the firmware's tests, both against the models, and the proofs.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/phases.sh

models() {
  RACKLOOM_GOLDEN=$(scripts/golden.sh)
  export RACKLOOM_GOLDEN
}

# Unless the environment names them, as `scripts/test.sh` does, which has built them with all tests.
[ -n "${RACKLOOM_GOLDEN:-}" ] || phase "gateware: models" models
# Those of which something has changed since they passed; `make nightly` runs all of them again.
phase "gateware: benches" .venv/bin/pytest -q -n 2 gateware/tb --changed
# All of them: `make mutants`. The seed gives benches that are built and run fast.
phase "gateware: a sample of faults" .venv/bin/python gateware/mutation/mutate.py --sample 10 --seed 288
phase "gateware: firmware, as generated" gateware/firmware/build.py --check
phase "gateware: firmware's tests" .venv/bin/python gateware/firmware/tests/run.py --changed
# What a proof or an area is made of decides what comes out. `make nightly` makes all of them again.
phase "gateware: proofs" gateware/formal/prove.py --changed
phase "gateware: areas" gateware/synth/synth.py --check --changed
