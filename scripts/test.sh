#!/usr/bin/env bash
# Lints and all tests, in the size of continuous integration; then a table of where the time went.
#   scripts/test.sh         lints and tests
#   scripts/test.sh lint    lints alone
# Cargo always gets the whole workspace: with another selection of packages it would build wasmtime again, for other
# features of what it depends on.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/phases.sh
export RACKLOOM_PYTHON="$PWD/.venv/bin/python3"

lints() {
  phase "lint: gateware" gateware/lint.sh --changed
  phase "lint: Go" scripts/cloud.sh lint
  phase "lint: rustfmt" cargo fmt --check
  phase "lint: generated files" cargo run --locked -q --bin protogen -- --check
  phase "lint: pictures" scripts/pictures.py --check
  phase "lint: tidy" cargo test --locked -q --workspace --test tidy
  phase "lint: planted bugs are off in what is released" no_planted_bugs
  phase "lint: clippy, without planted bugs" released_clippy
}

# Cards and transports with planted bugs, which the simulator and their own random tests have to find, are in the build that is
# tested: they only add settings, so one build serves all tests. What is released must not have them.
planted=rackloom-card/planted-bugs,rackloom-swarm/planted-bugs,rackloom-conformance/planted-bugs,rackloom-transport/planted-bugs,rackloom-bridge/planted-bugs
no_planted_bugs() {
  local features
  features=$(cargo tree --locked -p rackloom-cli -p rackloom-swarm -p rackloom-opencl -e normal,features -f '{p} {f}')
  # The search must be able to find something.
  grep -q rackloom-card <<<"$features"
  if grep planted-bugs <<<"$features"; then
    echo "error: a released binary has planted bugs" >&2
    return 1
  fi
}

# What the features that are tested change, without them.
released_clippy() {
  cargo clippy --locked -p rackloom-card -p rackloom-host -p rackloom-transport -p rackloom-bridge -- -D warnings
}

# All, with the features that are tested, so that the gateware is compiled once for both.
clippy() {
  cargo clippy --locked --workspace --features "$planted" --all-targets -- -D warnings
}

# Clippy's driver is the compiler with more lints: where all is compiled anyway, it lints with no second pass over the
# sources. This is how `cargo clippy -- -D warnings` calls it.
lint_while_compiling() {
  export RUSTC_WORKSPACE_WRAPPER=clippy-driver
  export CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"
}

tests() {
  cargo test --locked --workspace --features "$planted" "$@"
}

# All tests, also after one has failed, in lanes side by side (`lane.sh`); those that are all processor give way, so that
# time-outs of the other are not put to the test. Tests that failed come again at the very end, with what they said.
all_tests() {
  local log status=0 runner lane busy=()
  log=$(mktemp)
  runner=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
  local -x "CARGO_TARGET_${runner}_RUNNER=$PWD/scripts/lane.sh"
  for lane in virtual gateware; do
    (
      renice -n 10 $BASHPID >/dev/null
      RACKLOOM_LANE=$lane tests --tests --no-fail-fast
    ) >"$log.$lane" 2>&1 &
    busy+=($!)
  done
  RACKLOOM_LANE=real tests --no-fail-fast 2>&1 | tee "$log" || status=$?
  for lane in "${busy[@]}"; do wait "$lane" || status=$?; done
  cat "$log".* | tee -a "$log"
  longest "$log"
  if [ $status != 0 ]; then
    phase_failures=$(grep -E -A 12 "panicked at|^error" "$log" | cut -c 1-300 | tail -n 120
      grep -E '^test .*FAILED$|^error: .* failed|^ +`.*`$' "$log" || true)
  fi
  rm -f "$log" "$log".*
  return $status
}

# The test programs that took the most of the processor.
longest() {
  printf '\n%8s %8s  %s\n' 'CPU s' 'real s' 'test program'
  sed -n 's/.*time: \(.*\) and \(.*\) s of processor in \(.*\) s: \(.*\)/\1 \2 \3 \4/p' "$1" |
    awk '{ printf "%8.1f %8.1f  %s\n", $1 + $2, $3, $4 }' | sort -rn | head -n 20
}

if [ "${1:-}" = lint ]; then
  lints
  phase "lint: clippy" clippy
  exit
fi
lint_while_compiling
lints
phase "cargo: lint and build all tests" tests --no-run
# The models for the gateware's benches are among what has been built, with planted bugs that nobody turns on.
export RACKLOOM_GOLDEN="${CARGO_TARGET_DIR:-$PWD/target}/debug/deps/librackloom_golden.so"
. scripts/gateware.sh
phase "workloads, on PoCL" .venv/bin/pytest -q -n 2 workloads/tests
# Five seconds of each fuzz target; `make fuzz` gives each a minute.
export RACKLOOM_FUZZ_SECONDS="${RACKLOOM_FUZZ_SECONDS:-5}"
phase "cargo: run all tests" all_tests
phase "OpenCL programs, through a manager" scripts/opencl.sh
phase "cloud: Go tests" scripts/cloud.sh test
