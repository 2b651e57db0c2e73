#!/usr/bin/env python3
"""Checks by the structure of the netlist that every bit between two clock domains crosses in a way that is sound.

    gateware/cdc/cdc.py                  the tops below; a table, and what is wrong. Fails if anything is
    gateware/cdc/cdc.py --list           each crossing as well
    gateware/cdc/cdc.py --xdc rl_shell clk_net_i=6.4 clk_ddr_i=3.33 clk_role_i=4 clk_cfg_i=10
                                         constraints for Vivado, with these periods in ns
    gateware/cdc/cdc.py --sdc ...        the same for Quartus

crossings.py says which ways there are.
"""

import argparse
import sys
from collections import Counter

import constraints
import crossings
from netlist import Netlist

# The shell and what stands beside it, each with all its clocks as ports.
TOPS = {
    "rl_shell": {},
    "rl_port_layer": {},
    "rl_region": {"Memories": 2, "Streams": 2},
    "rl_memory_hub": {"Memories": 2},
    "rl_bridge_card": {},
    "rl_role_events": {},
}


def main() -> int:
    """Returns the exit status."""
    args = arguments()
    if args.xdc or args.sdc:
        top, *periods = args.xdc or args.sdc
        write = constraints.xdc if args.xdc else constraints.sdc
        found, problems = crossings.find(Netlist(top, TOPS.get(top, {})))
        print("\n".join(write(found, {name: float(ns) for name, _, ns in (p.partition("=") for p in periods)})))
        return report(problems)
    wrong: list[str] = []
    print(f"{'top':<16} {'sync':>6} {'gray':>6} {'memory':>6} {'held':>6}   registers into which bits cross")
    for top, parameters in TOPS.items():
        found, problems = crossings.find(Netlist(top, parameters))
        ways = Counter(crossing.way for crossing in found)
        print(f"{top:<16} {ways['sync']:>6} {ways['gray']:>6} {ways['memory']:>6} {ways['held']:>6}")
        if args.list:
            for crossing in sorted(found, key=lambda crossing: (crossing.way, crossing.into)):
                print(f"  {crossing.way:<6} {crossing.into} ({crossing.clock}) from {crossing.sources[0].name}")
        wrong += [f"{top}: {problem}" for problem in problems]
    return report(wrong)


def report(problems: list[str]) -> int:
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print each crossing")
    parser.add_argument("--xdc", nargs="+", metavar="WORD", help="a top, and its clocks as NAME=NS")
    parser.add_argument("--sdc", nargs="+", metavar="WORD", help="a top, and its clocks as NAME=NS")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
