#!/usr/bin/env python3
"""Compares the models of `rackloom study optweb-collectives` with SimGrid's SMPI, an independent simulator.

    compare.py RACKLOOM        the command, with which the study is run

Each row of the study is simulated again: `operations.c` is an MPI program of its own, and the full mesh is SimGrid's,
with a link for each direction of each pair. Fails if a time differs by more than a hundredth.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
LINK_GBPS = 45
EAGER_BYTES = 16 << 10
# Microseconds until a message is there: one that leaves at once, and one that is asked for.
AT_ONCE, ASKED = 0.71, 0.79
# And until its sender knows, which SMPI has no message for: so much longer takes a round that another follows.
TOLD = 0.40
OVER_ALL = ("send", "broadcast")
IDEAL = [
    "--cfg=network/model:CM02",
    "--cfg=network/latency-factor:1",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/weight-S:0",
    "--cfg=network/crosstraffic:0",
    "--cfg=network/TCP-gamma:0",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/wtime:0",
    "--log=root.thres:error",
]
TOLERANCE = 0.01


def main() -> int:
    """Runs the study, simulates each of its rows, and prints both."""
    if not shutil.which("smpicc"):
        sys.exit("error: SimGrid's SMPI is not installed\nhelp: on Debian, apt-get install libsimgrid-dev")
    study = [sys.argv[1], "study", "optweb-collectives", "--quick", "--json"]
    # A claim that does not hold is the study's matter.
    report = json.loads(subprocess.run(study, stdout=subprocess.PIPE, check=False).stdout)
    rows = report["operations"] + report["sizes"] + report["growth"]
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "operations"
        subprocess.run(["smpicc", "-O1", HERE / "operations.c", "-o", program], check=True)
        print(f"{'OPERATION':<15} {'RANKS':>5} {'BYTES':>10} {'MODEL us':>12} {'SMPI us':>12} {'OFF %':>6}")
        for row in rows:
            operation, ranks, size, model = (row[key] for key in ("operation", "ranks", "bytes", "time_us"))
            pieces = pieces_of(operation, ranks)
            smpi = min(simulate(folder, program, operation, ranks, size, count) for count in pieces)
            off = abs(model / smpi - 1)
            worst = max(worst, off)
            print(f"{operation:<15} {ranks:>5} {size:>10} {model:>12.2f} {smpi:>12.2f} {100 * off:>6.2f}", flush=True)
    print(f"{len(rows)} rows, the worst {100 * worst:.2f} % off")
    return 0 if worst <= TOLERANCE else 1


def pieces_of(operation: str, ranks: int) -> tuple[int, ...]:
    """Into how many pieces a message may be cut: the best of them counts."""
    return (4, 16, 64) if operation in OVER_ALL and ranks > 2 else (1,)


def simulate(folder: Path, program: Path, operation: str, ranks: int, size: int, pieces: int) -> float:
    """Microseconds of an operation by SMPI."""
    latency = ASKED if size > EAGER_BYTES else AT_ONCE
    rounds = pieces + 1 if operation in OVER_ALL and ranks > 2 else 1
    if operation == "allreduce":
        rounds = 2 if size / ranks > EAGER_BYTES else 1
    if rounds > 1:
        latency += TOLD
    platform = folder / "platform.xml"
    platform.write_text(mesh(ranks, latency))
    hosts = folder / "hosts"
    hosts.write_text("".join(f"h{rank}\n" for rank in range(ranks)))
    command = ["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts, *IDEAL, program]
    done = subprocess.run([*command, operation, str(size), str(pieces)], stdout=subprocess.PIPE, check=True, text=True)
    told = TOLD if rounds > 1 else 0  # Of the last round nobody waits for it.
    return float(done.stdout) * 1e6 - told


def mesh(ranks: int, latency: float) -> str:
    """A full mesh for SimGrid, a link for each direction of each pair."""
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    lines = [f'<host id="h{rank}" speed="50Tf"/>' for rank in range(ranks)]
    lines += [f'<link id="l{a}_{b}" bandwidth="{LINK_GBPS}Gbps" latency="{latency}us"/>' for a, b in pairs]
    lines += [
        f'<route src="h{a}" dst="h{b}" symmetrical="NO"><link_ctn id="l{a}_{b}"/></route>' for a, b in pairs
    ]
    head = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">'
    body = "\n".join(lines)
    return f'{head}\n<zone id="mesh" routing="Full">\n{body}\n</zone>\n</platform>\n'


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())
