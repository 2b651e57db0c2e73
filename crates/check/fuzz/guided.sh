#!/bin/sh
# Runs one target under libFuzzer, guided by coverage, on the pinned stable toolchain: crates/check/fuzz/guided.sh TARGET [SECONDS]
# The instrumentation is what cargo-bolero passes, without sanitizers (those need nightly; the code has no `unsafe`). Needs
# a C++ compiler. The corpus and crashing inputs are kept in target/fuzz/TARGET.
set -eu
target=${1:?"which target? See crates/check/fuzz/tests/targets.rs"}
seconds=${2:-60}
cd "$(dirname "$0")/../.."
host=$(rustc -vV | sed -n 's/^host: //p')
work=$PWD/target/fuzz/$target
mkdir -p "$work/corpus" "$work/crashes"
RUSTFLAGS="--cfg fuzzing --cfg fuzzing_libfuzzer -Cpasses=sancov-module -Ccodegen-units=1 -Cdebug-assertions
  -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
  -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
export RUSTFLAGS
# bolero's libFuzzer engine takes its arguments from here; with a harness it needs the target alone in its process.
BOLERO_LIBFUZZER_ARGS="$work/corpus -artifact_prefix=$work/crashes/ -max_total_time=$seconds -max_len=20000 -timeout=10 -print_final_stats=1"
export BOLERO_LIBFUZZER_ARGS
# The card's sandbox brings an engine that takes long to build with these flags: only its own targets have it.
features=--no-default-features
case $target in card_*) features= ;; esac
# A target folder of its own: these flags would make cargo build everything else anew.
exec cargo test --release --target "$host" --target-dir target/fuzz/build -p rackloom-fuzz $features \
  --test targets -- --exact "$target" --nocapture --test-threads 1
