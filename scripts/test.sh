#!/usr/bin/env bash
# All tests, in the size of continuous integration. Everything is built as one workspace each time: with another selection of
# packages cargo would build wasmtime again, for other features of what it depends on.
set -euo pipefail
cd "$(dirname "$0")/.."
export RACKLOOM_PYTHON="$PWD/.venv/bin/python3"
# The gateware: a bench for each block, the proofs, and that no area changed unseen.
scripts/gateware.sh
gateware/synth/synth.py --check
# The OpenCL workloads, on PoCL; they are built for it.
.venv/bin/pytest -q -n 2 workloads/tests
# Each fuzz target runs for a minute.
export RACKLOOM_FUZZ_SECONDS="${RACKLOOM_FUZZ_SECONDS:-60}"
cargo test --locked --workspace
# The OpenCL library and the manager, with programs that know neither.
scripts/opencl.sh
# The registry, in Go.
scripts/cloud.sh test
# The cards and the transport with planted bugs, which the simulator and their own random tests have to find.
cargo test --locked --workspace --features rackloom-card/planted-bugs,rackloom-swarm/planted-bugs,rackloom-conformance/planted-bugs,rackloom-transport/planted-bugs \
  --test swarm --test card --test differential --test simulation
