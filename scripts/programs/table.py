"""The table of what programs.sh has run: results natively and through a manager, and times of whole programs.

    table.py RUNS PROGRAM...

A run is right if the program ended with 0 and the lines that tell its result are there. All runs of a program have to
have the same lines. Times are medians, without the first run each way.
"""

import re
import sys
from pathlib import Path
from statistics import median

WAYS = ("native", "shared", "tcp")


class Run:
    def __init__(self, file, lines):
        text = re.sub(r"\x1b\[[\d;]*[a-zA-Z]", "", file.read_text(errors="replace"))
        ended = re.search(r"\nended with (\d+) after (\d+) ns\n$", text)
        self.status = int(ended[1]) if ended else None
        self.seconds = int(ended[2]) / 1e9 if ended else None
        # A progress bar goes back to the start of its line.
        self.result = [line for line in re.split(r"[\r\n]+", text) if re.search(lines, line)]

    def fault(self, expected):
        if self.status is None:
            return "was cut off"
        if self.status:
            return f"ended with {self.status}"
        if not self.result:
            return "does not tell its result"
        if self.result != expected:
            return "has another result"
        return None


def row(folder):
    """A line of the table, and what is wrong."""
    lines = (folder / "lines").read_text().rstrip("\n")
    runs = {way: [Run(file, lines) for file in sorted(folder.glob(f"{way}.*"))] for way in WAYS}
    expected = runs["native"][0].result if runs["native"] else []
    faults = []
    for way in WAYS:
        found = [fault for run in runs[way] if (fault := run.fault(expected))]
        if not runs[way] or found:
            faults.append(f"{way}: {found[0] if found else 'did not run'}")
    timed = {way: [run.seconds for run in runs[way][1:] if run.seconds] for way in WAYS}
    times = {way: median(timed[way]) if timed[way] else None for way in WAYS}
    native = times["native"]
    cells = [folder.parent.name, (folder / "version").read_text().strip(), folder.name]
    cells.append(seconds(native))
    for way in WAYS[1:]:
        cells += [seconds(times[way]), f"{times[way] / native:.2f}" if times[way] and native else "-"]
    cells.append("; ".join(faults) or "same")
    return cells, faults


def seconds(value):
    return "-" if value is None else f"{value:.2f}"


def main():
    folder, programs = Path(sys.argv[1]), sys.argv[2:]
    print("| program | version | what | native s | shared s | ratio | TCP s | ratio | result |")
    print("|---|---|---|---|---|---|---|---|---|")
    runs = [what for program in programs for what in sorted((folder / program).glob("*/"))]
    rows = [row(what) for what in runs if (what / "lines").exists()]
    for cells, _ in rows:
        print("| " + " | ".join(cells) + " |")
    sys.exit(not rows or any(faults for _, faults in rows))


if __name__ == "__main__":
    main()
