#!/usr/bin/env bash
# Runs a test program if it is of the lane that RACKLOOM_LANE names; to be cargo's runner of tests, which starts each in its
# crate's folder. Three lanes run side by side:
#   virtual   what a test waits for is a number: simulations, studies, the core, the gateware in Verilator; all processor
#   gateware  those of the gateware that have a few long tests each, of which the last has a processor for itself
#   real      sockets, processes and time-outs, which mostly wait: all the rest, and examples in the documentation
# Those of the lane `nightly` run by a command of their own, or with `cargo test`: `make clocks`, the suite at 64 bits with
# three ports and each set of clocks, of which `rtl` has the width and `wide` the ports and the clocks.
set -euo pipefail
case "$PWD:$1" in
  *:*/rustdoctest*) lane=real ;;
  */crates/check/conformance:*/clocks-*) lane=nightly ;;
  */crates/check/conformance:*/gateware-* | */crates/check/conformance:*/forgery-*) lane=gateware ;;
  */crates/core/*:* | */crates/run/sim:* | */crates/run/verilated:* | */crates/run/builtin-roles:*) lane=virtual ;;
  */crates/check/conformance:* | */crates/check/fuzz:* | */crates/check/swarm:*) lane=virtual ;;
  */crates/run/rack:*/groups-* | */crates/run/rack:*/group_faults-*) lane=virtual ;;
  */crates/check/golden:* | */crates/check/study-saf:* | */crates/check/study-diad:*) lane=virtual ;;
  *) lane=real ;;
esac
if [ "$lane" != "$RACKLOOM_LANE" ]; then
  echo "in the lane '$lane'"
  exit 0
fi
name=${1##*/} package=${PWD##*/}
TIMEFORMAT="time: %U and %S s of processor in %R s: $package/${name%-*}"
time "$@"
