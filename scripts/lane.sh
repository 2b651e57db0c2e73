#!/usr/bin/env bash
# Runs a test program if it is of the lane that RACKLOOM_LANE names; to be cargo's runner of tests, which starts each in its
# crate's folder. Three lanes run side by side:
#   virtual   what a test waits for is a number: simulations, studies, the core, the gateware in Verilator; all processor
#   gateware  those of the gateware that have a few long tests each, of which the last has a processor for itself
#   real      sockets, processes and time-outs, which mostly wait: all the rest, and examples in the documentation
set -euo pipefail
case "$PWD:$1" in
  *:*/rustdoctest*) lane=real ;;
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
