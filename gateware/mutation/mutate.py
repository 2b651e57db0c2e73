#!/usr/bin/env python3
"""Plants the faults of mutants.txt, one at a time, and tells which its bench finds.

    gateware/mutation/mutate.py                     all of them; a line for each, and a table
    gateware/mutation/mutate.py rl_guard port/      those whose line has one of these texts
    gateware/mutation/mutate.py --sample 12         so many, of three benches, chosen by --seed

All faults are in one copy of the sources, out/mutation/rtl, each behind a comparison with a number that the simulation
reads from its environment when it begins: a bench is built once, for all of them. Without a fault each bench has to
pass first. Fails if a fault is not found. RACKLOOM_GOLDEN names the library of the models, as for the benches.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "gateware" / "rtl"
BENCHES = ROOT / "gateware" / "tb"
COPY = ROOT / "out" / "mutation" / "rtl"
LIST = Path(__file__).with_name("mutants.txt")
NUMBER = "RACKLOOM_MUTANT"
SAME = "same: "
SAMPLE_BENCHES = 3  # Building one takes longer than several faults.
PACKAGE = f"""// Which fault is planted: 0 for none.
package rl_mutant_pkg;
  int unsigned number = $c32("std::getenv(\\"{NUMBER}\\") ? std::atoi(std::getenv(\\"{NUMBER}\\")) : 0");
endpackage
"""


@dataclass
class Mutant:
    """A fault: `original` in `file` of the sources is `fault` instead."""

    number: int  # Its place in the list, from 1 on.
    file: str
    bench: str
    original: str
    fault: str
    what: str

    @property
    def differs(self) -> bool:
        """Whether anything can find it."""
        return not self.what.startswith(SAME)


@dataclass
class Outcome:
    """What became of a fault."""

    mutant: Mutant
    by: str  # What has found it; nothing: it was not found.
    seconds: float


def main() -> int:
    """Returns the exit status."""
    args = arguments()
    mutants = [one for one in listed() if one.differs and matches(one, args.only)]
    if args.sample:
        mutants = sample(mutants, args.sample, args.seed)
    COPY.parent.mkdir(parents=True, exist_ok=True)
    # Held until the program ends: there is one copy.
    lock = open(COPY.with_name("lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    plant(listed())
    of_bench = defaultdict(list)
    for one in mutants:
        of_bench[one.bench].append(one)
    # Mutants of a bench one after the other: it has one folder. The longest first.
    order = sorted(of_bench.items(), key=lambda item: -len(item[1]))
    with ThreadPoolExecutor(args.jobs) as pool:
        outcomes = [one for found in pool.map(lambda item: try_bench(*item), order) for one in found]
    print(table(outcomes))
    return 1 if any(not one.by for one in outcomes) else 0


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="*", help="texts of which a mutant's line has to have one")
    parser.add_argument("--sample", type=int, default=0, help="try so many, chosen at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="benches side by side")
    return parser.parse_args()


def listed() -> list[Mutant]:
    """The list."""
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return [Mutant(number, *line.split(" | ")) for number, line in enumerate(lines, 1)]


def matches(one: Mutant, texts: list[str]) -> bool:
    return not texts or any(text in f"{one.file} {one.bench} {one.what}" for text in texts)


def sample(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many of them, which few benches try. A list that grows changes little of what a seed chooses."""

    def place(what: str) -> bytes:
        return hashlib.sha256(f"{seed} {what}".encode()).digest()

    benches = sorted({one.bench for one in mutants}, key=place)[:SAMPLE_BENCHES]
    chosen = [one for one in mutants if one.bench in benches]
    return sorted(chosen, key=lambda one: place(f"{one.bench} {one.what}"))[:count]


def plant(mutants: list[Mutant]) -> None:
    """Writes the sources with all faults in them. What has not changed keeps its time, and its builds."""
    texts = {path.relative_to(RTL): path.read_text() for path in sorted(RTL.rglob("*.sv"))}
    for one in mutants:
        file = Path(one.file)
        if texts[file].count(one.original) != 1:
            raise SystemExit(f"error: {one.original!r} is {texts[file].count(one.original)} times in {file}")
        switch = f"(rl_mutant_pkg::number == {one.number} ? ({one.fault}) : ({one.original}))"
        texts[file] = texts[file].replace(one.original, switch)
    shutil.rmtree(COPY, ignore_errors=True)
    for file, text in texts.items():
        (COPY / file).parent.mkdir(parents=True, exist_ok=True)
        (COPY / file).write_text(text)
    (COPY / "rl_mutant_pkg.sv").write_text(PACKAGE)


def try_bench(bench: str, mutants: list[Mutant]) -> list[Outcome]:
    """Runs the bench without a fault, and then with each of these."""
    began = time.monotonic()
    sound, told = run(bench, 0, None)
    if sound:
        raise SystemExit(f"error: {bench} finds faults where there is none:\n{told}")
    limit = 3 * (time.monotonic() - began) + 30
    outcomes = []
    for one in mutants:
        began = time.monotonic()
        found, _ = run(bench, one.number, limit)
        outcomes.append(Outcome(one, found, time.monotonic() - began))
        status = found or "MISSED"
        print(f"{status:9} {one.number:3} {Path(one.file).stem}: {one.what} ({outcomes[-1].seconds:.0f} s)", flush=True)
    return outcomes


def run(bench: str, number: int, limit: float | None) -> tuple[str, str]:
    """How the bench finds this fault, which is nothing if it passes; and what it has printed."""
    environment = os.environ | {"RACKLOOM_RTL": str(COPY), NUMBER: str(number)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(BENCHES / bench)]
    silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    # A group of its own: what hangs is the simulation, which the bench has started.
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True, **silent)
    try:
        told, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        told, _ = process.communicate()
        return "hangs", told
    if process.returncode not in (0, 1):
        raise SystemExit(f"error: {' '.join(command)}\n{told}")
    return "found" if process.returncode else "", told


def table(outcomes: list[Outcome]) -> str:
    """A line for each group of blocks, and those that were not found."""
    groups = defaultdict(list)
    for one in outcomes:
        groups[str(Path(one.mutant.file).parent)].append(one)
    lines = [f"{'blocks':16} {'faults':>6} {'found':>6} {'hang':>6} {'missed':>6} {'s':>5}"]
    for name, ones in [*sorted(groups.items()), ("all", outcomes)]:
        count = {by: sum(one.by == by for one in ones) for by in ("found", "hangs", "")}
        seconds = sum(one.seconds for one in ones)
        lines.append(f"{name:16} {len(ones):6} {count['found']:6} {count['hangs']:6} {count['']:6} {seconds:5.0f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
