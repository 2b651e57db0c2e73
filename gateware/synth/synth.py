#!/usr/bin/env python3
"""Synthesizes blocks of the gateware for three families from one source, and compares areas with a committed table.

    gateware/synth/synth.py                     the table of all blocks in blocks.toml
    gateware/synth/synth.py rl_mem_write Bulk=8960  one block, listed or not, with other parameters
    gateware/synth/synth.py --rates             places and routes only, with three seeds each
    gateware/synth/synth.py --bless             writes area.json, and rates.json of what was routed
    gateware/synth/synth.py --check             ECP5 only; fails when area.json tells something else
    gateware/synth/synth.py --check --changed   of what has changed since area.json was written
    gateware/synth/synth.py --check --changed --bless   the same; whose area has stayed has not changed from now on

What was synthesized once is kept in out/synth until one of its sources changes.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What finds a module's files is a step above.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import area
import flow

LEDGER = Path(__file__).parent / "area.json"
RATES = Path(__file__).parent / "rates.json"
# The paper's Table IV: what SAF adds to the vendor's shell on an Arria 10.
PAPER = {"alm": 5867, "ff": 14406, "bits": 7155056 - 6111846}


def main() -> int:
    """Returns the exit status."""
    args = arguments()
    known = flow.listed()
    blocks = chosen(args.block, known) if args.block else known
    blessed = json.loads(LEDGER.read_text()) if LEDGER.exists() else {}
    if args.changed:
        blocks = [block for block in blocks if blessed.get(block.name, {}).get("made_of") != flow.made_of(block)]
        print(f"synth: {len(blocks)} of {len(known)} blocks are not as they were for {LEDGER.name}", file=sys.stderr)
    families = ["ecp5"] if args.check else args.only or list(flow.FAMILIES)
    jobs = [(block, family) for block in blocks for family in families]
    routes = [] if args.check or args.no_route else [b for b in blocks if b.route or args.route]
    if args.rates:
        blocks, jobs = routes, []
    # The longest first, so that the last does not run alone: a route takes longer than any synthesis.
    work = [(flow.route, block) for block in routes if "ecp5" in families]
    work += [(flow.synthesize, *job) for job in jobs]
    results: dict[str, dict] = {block.name: {} for block in blocks}
    with ThreadPoolExecutor(args.jobs) as pool:
        for number, (block, family, result, note) in enumerate(pool.map(lambda item: item[0](*item[1:]), work), 1):
            results[block.name][family] = result
            print(f"[{number}/{len(work)}] {block.name} {family}: {note}", file=sys.stderr)
    if args.json:
        print(json.dumps(results, indent=2, sort_keys=True))
    elif args.rates:
        print(area.rates(results))
    elif not args.check:
        less = {block.name: block.without for block in blocks if set(block.without) <= results.keys()}
        print(area.table(results, {name: others for name, others in less.items() if others}, PAPER))
    if args.check and args.bless:
        stayed = [block for block in blocks if blessed.get(block.name, {}).get("ecp5") == results[block.name]["ecp5"]]
        same = {block.name: blessed[block.name] | {"made_of": flow.made_of(block)} for block in stayed}
        LEDGER.write_text(json.dumps(blessed | same, indent=2, sort_keys=True) + "\n")
    elif args.bless:
        routed = {name: result.pop("routed") for name, result in results.items() if "routed" in result}
        for block in blocks:
            results[block.name]["made_of"] = flow.made_of(block)
        for ledger, found in ((LEDGER, {} if args.rates else results), (RATES, routed)):
            if found:
                before = json.loads(ledger.read_text()) if ledger.exists() and (args.block or args.changed) else {}
                ledger.write_text(json.dumps(before | found, indent=2, sort_keys=True) + "\n")
    if args.check:
        found = area.differences(blessed, results)
        found += [] if args.block else area.strangers(blessed, {block.name for block in known})
        print("\n".join(found) if found else f"synth: the area of {len(results)} blocks is as in {LEDGER.name}")
        return 1 if found else 0
    return 0


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("block", nargs="*", help="blocks or modules, each followed by parameters as Name=value")
    parser.add_argument("--only", action="append", choices=list(flow.FAMILIES), help="this family; may be repeated")
    parser.add_argument("--route", action="store_true", help="place and route all, for ECP5")
    parser.add_argument("--rates", action="store_true", help="place and route only")
    parser.add_argument("--no-route", action="store_true", help="place and route none")
    parser.add_argument("--bless", action="store_true", help="write the results to area.json and rates.json")
    parser.add_argument("--check", action="store_true", help="compare with area.json, ECP5 only, without routing")
    parser.add_argument("--changed", action="store_true", help="only what is not made of what it was for area.json")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="how many at a time (2)")
    return parser.parse_args()


def chosen(words: list[str], blocks: list[flow.Block]) -> list[flow.Block]:
    """The blocks that the command line names."""
    known = {name: block for block in blocks for name in (block.name, block.top)}
    out: list[flow.Block] = []
    for word in words:
        if "=" in word:
            name, value = word.split("=")
            out[-1].parameters[name] = int(value, 0)
        else:
            out.append(known.get(word) or flow.Block(word))
    return out


if __name__ == "__main__":
    sys.exit(main())
