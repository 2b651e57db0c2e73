#!/usr/bin/env python3
"""Which lines of the gateware the benches run, and which bits change, by folder; also in out/coverage/coverage.json.

    gateware/coverage.py            runs all benches, counting
    gateware/coverage.py --again    tells what the last run has counted
    gateware/coverage.py --lines    and the lines that did not run

Fails if a folder has less than 90 of 100 lines. A module that is in no bench is named, and not in the table: whole
cards run it, in the suite of crates/check/conformance, which does not count. RACKLOOM_GOLDEN names the library of the
models.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from sources import ROOT, RTL

OUT = ROOT / "out" / "coverage"
LEAST = 90  # Of 100 lines of a folder.
FIELD = re.compile("\x01([^\x02]+)\x02([^\x01']*)")

# By file: of lines, whether each ran; of bits, by their names, whether they changed that way.
Points = dict[str, dict[str, bool]]


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--again", action="store_true", help="run nothing")
    parser.add_argument("--lines", action="store_true", help="tell the lines that did not run")
    args = parser.parse_args()
    if not args.again:
        environment = os.environ | {"RACKLOOM_COVERAGE": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", str(ROOT / "gateware" / "tb")]
        if status := subprocess.run(command, cwd=ROOT, env=environment).returncode:
            return status
    lines, bits = read()
    folders = summary(lines, bits)
    (OUT / "coverage.json").write_text(json.dumps(folders, indent=2, sort_keys=True) + "\n")
    print(f"{'folder':16} {'lines':>6} {'run':>6} {'%':>6}   {'bits':>6} {'change':>6} {'%':>6}")
    for name, one in folders.items():
        of_lines, of_bits = percent(one["run"], one["lines"]), percent(one["changing"], one["bits"])
        counted = f"{one['lines']:6} {one['run']:6} {of_lines:6.1f}"
        print(f"{name:16} {counted}   {one['bits']:6} {one['changing']:6} {of_bits:6.1f}")
    if args.lines:
        for file, points in sorted(lines.items()):
            silent = sorted(int(line) for line, ran in points.items() if not ran)
            if silent:
                print(f"{file}: {', '.join(map(str, silent))}")
    print("in no bench:", ", ".join(sorted(path.stem for path in unseen(lines | bits))))
    return 1 if any(percent(one["run"], one["lines"]) < LEAST for one in folders.values()) else 0


def read() -> tuple[Points, Points]:
    """What all benches have counted; a line or a bit of several instances counts once."""
    lines: defaultdict = defaultdict(lambda: defaultdict(bool))
    bits: defaultdict = defaultdict(lambda: defaultdict(bool))
    for path in OUT.glob("*/coverage.dat"):
        for record in path.read_text().splitlines():
            fields = dict(FIELD.findall(record))
            file = Path(fields.get("f", ""))
            if not file.is_relative_to(RTL):
                continue
            name = str(file.relative_to(RTL))
            ran = int(record.rsplit(" ", 1)[1]) > 0
            if fields["page"].startswith("v_toggle"):
                bits[name][f"{fields['l']} {fields['o']}"] |= ran
            elif fields["page"].startswith(("v_line", "v_branch")):
                for line in span(fields.get("S", fields["l"])):
                    lines[name][str(line)] |= ran
    return lines, bits


def span(text: str) -> list[int]:
    """The lines of a list such as `3,7-9`."""
    out = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return out


def summary(lines: Points, bits: Points) -> dict[str, dict[str, int]]:
    """By folder, and in all."""
    folders: defaultdict = defaultdict(lambda: {"lines": 0, "run": 0, "bits": 0, "changing": 0})
    for points, total, good in ((lines, "lines", "run"), (bits, "bits", "changing")):
        for file, of_file in points.items():
            for name in (str(Path(file).parent), "all"):
                folders[name][total] += len(of_file)
                folders[name][good] += sum(of_file.values())
    return dict(sorted(folders.items(), key=lambda item: (item[0] == "all", item[0])))


def unseen(seen: Points) -> list[Path]:
    """Modules that no bench has."""
    paths = [path for path in RTL.rglob("*.sv") if not path.stem.endswith("_pkg")]
    return [path for path in paths if str(path.relative_to(RTL)) not in seen and "board" not in path.parts]


def percent(part: int, whole: int) -> float:
    """Of nothing, all."""
    return 100 * part / whole if whole else 100.0


if __name__ == "__main__":
    sys.exit(main())
