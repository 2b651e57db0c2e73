#!/usr/bin/env python3
"""Runs random OpenCL programs on the installed OpenCL and on another one, and compares what they print.

    workloads/compare.py --seeds 1-100 OCL_ICD_VENDORS=/path/of/another.icd

The variables are the environment of the other. Prints the first line that differs for each seed that does. Exit codes:
0 all the same; 1 not; 2 usage.
"""

import argparse
import itertools
import os
import subprocess
import sys
from pathlib import Path

RANDOM = Path(__file__).resolve().parent.parent / "out" / "workloads" / "bin" / "random"


def transcript(seed, steps, more):
    """What the program prints, with its end as the last line."""
    command = [RANDOM, "--seed", str(seed), "--steps", str(steps)]
    done = subprocess.run(command, env=os.environ | more, stdout=subprocess.PIPE, text=True, check=False)
    return [*done.stdout.splitlines(), f"exit code {done.returncode}"]


def difference(here, there):
    """The first lines that differ, with their number; None if none does."""
    pairs = itertools.zip_longest(here, there, fillvalue="(ends)")
    return next(((at, a, b) for at, (a, b) in enumerate(pairs, 1) if a != b), None)


def numbers(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def variable(text):
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text} is not NAME=VALUE")
    return name, value


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=numbers, default=range(1, 21), metavar="FIRST-LAST", help="default: 1-20")
    parser.add_argument("--steps", type=int, default=500, help="of each program; default: 500")
    parser.add_argument("other", nargs="+", type=variable, metavar="NAME=VALUE", help="environment of the other")
    args = parser.parse_args()
    different = 0
    for seed in args.seeds:
        here, there = transcript(seed, args.steps, {}), transcript(seed, args.steps, dict(args.other))
        found = difference(here, there)
        if found:
            different += 1
            at, a, b = found
            print(f"seed {seed} line {at}\n  installed: {a}\n  other:     {b}", flush=True)
    print(f"{different} of {len(args.seeds)} programs differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
