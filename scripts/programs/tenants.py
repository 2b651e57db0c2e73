#!/usr/bin/env python3
"""Tenants that share boards: what all of them together get done, beside the boards alone, and what each gets of it.

    scripts/programs/tenants.py [--tenants 5] [--boards 1] [--seconds 10] [--runtime LIBRARY] [PROGRAM ARGUMENT...]

Each tenant runs PROGRAM, one of workloads/ (matmul --size 2048), without end, in a process of its own on each board.
Counted are the iterations that end within the same seconds, when all have begun. Rows are: a program on each board, on
the driver alone and through a manager; all tenants' programs on each board, the same two ways; and those of one board.
The exit code is 1 if a result was wrong or a program ended, if all tenants get more than 3 % less done than one on each
board through the manager, or if a tenant has less than 0.9 of its part.
"""

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Seconds for the first iterations.
PATIENCE = 60
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


class Program(threading.Thread):
    """A workload that runs until it is stopped, and when each of its iterations ended."""

    def __init__(self, command, environment):
        super().__init__(daemon=True)
        self.process = subprocess.Popen(
            command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.ended, self.wrong = [], False
        self.start()

    def run(self):
        for line in self.process.stdout:
            self.wrong |= json.loads(line)["correct"] is False
            self.ended.append(time.monotonic())

    def stop(self):
        """Ends it; what was wrong with it, if anything was."""
        died = self.process.poll()
        self.process.kill()
        self.process.wait()
        self.join()
        if died is not None:
            return f"a program ended by itself with {died}: {self.process.stderr.read()}"
        return "a result was wrong" if self.wrong else None


def work(commands, seconds):
    """Iterations a second of each command, counted at the same time."""
    programs = [Program(command, environment) for command, environment in commands]
    # The first iteration compiles, the second may find cold caches.
    patience = time.monotonic() + PATIENCE
    while not all(len(program.ended) > 2 for program in programs) and time.monotonic() < patience:
        if any(program.process.poll() is not None for program in programs):
            break
        time.sleep(0.05)
    begin = time.monotonic()
    time.sleep(seconds)
    end = time.monotonic()
    faults = [fault for program in programs if (fault := program.stop())]
    if faults:
        raise RuntimeError("; ".join(faults))
    return [sum(begin <= at < end for at in program.ended) / (end - begin) for program in programs]


class Manager:
    """A manager for tenants with tokens."""

    def __init__(self, folder, tenants, runtime, options):
        self.endpoint = f"unix:{folder}/manager.sock"
        self.tokens = [secrets.token_hex(32) for _ in range(tenants)]
        tokens = Path(folder) / "tokens"
        tokens.touch(mode=0o600)
        tokens.write_text("".join(f"{token} name=tenant-{i}\n" for i, token in enumerate(self.tokens)))
        command = [BUILT / "rackloom-manager", "--listen", self.endpoint, "--tokens", tokens]
        command += ["--runtime", runtime] if runtime else []
        command += options.split()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("board"):
                break
        else:
            sys.exit("the manager has not started")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def environment(self, tenant):
        library = BUILT / "librackloom_opencl.so"
        return {
            "OCL_ICD_VENDORS": str(library),
            "RACKLOOM_MANAGERS": self.endpoint,
            "RACKLOOM_TOKEN": self.tokens[tenant],
        }

    def stop(self):
        self.process.terminate()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tenants", type=int, default=5, help="how many share each board (5)")
    parser.add_argument("--boards", type=int, default=1, help="how many boards, the runtime's first (1)")
    parser.add_argument("--seconds", type=float, default=10, help="how long each row is counted (10)")
    parser.add_argument("--runtime", help="vendor's OpenCL library, in place of all that are installed")
    parser.add_argument("--manager", default="", metavar="OPTIONS", help="further options of the manager")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="workload and its options (matmul --size 2048)")
    asked = parser.parse_args()
    program, *options = asked.program or ["matmul", "--size", "2048"]
    command = [ROOT / "out/workloads/bin" / program, *options, "--iterations", "100000000", "--check", "first", "--json"]

    def on(board, environment):
        return [*command, "--device", str(board)], environment

    boards, each = range(asked.boards), range(asked.tenants)
    native = {"OCL_ICD_VENDORS": asked.runtime} if asked.runtime else {}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        manager = Manager(folder, asked.tenants, asked.runtime, asked.manager)
        tenant = manager.environment
        try:
            for name, commands in [
                ("driver alone, a program on each board", [on(board, native) for board in boards]),
                ("manager, a program on each board", [on(board, tenant(0)) for board in boards]),
                ("driver alone, all programs", [on(board, native) for board in boards for _ in each]),
                ("manager, all tenants", [on(board, tenant(i)) for board in boards for i in each]),
                ("manager, all tenants on one board", [on(0, tenant(i)) for i in each]),
            ]:
                rows.append((name, work(commands, asked.seconds)))
        except RuntimeError as fault:
            print(f"{name}: {fault}", file=sys.stderr)
            return 1
        finally:
            manager.stop()
    print(f"{' '.join([program, *options])}: iterations a second\n")
    print("| programs | sum | least | most |\n|---|---|---|---|")
    for name, rates in rows:
        print(f"| {name} | {sum(rates):.1f} | {min(rates):.2f} | {max(rates):.2f} |")
    alone, shared = sum(rows[1][1]), rows[3][1]
    parts = [rate * len(shared) / sum(shared) for rate in shared]
    print(f"\nall tenants: {sum(shared) / alone:.3f} of what the boards do for one program each through the manager,")
    print(f"{sum(shared) / sum(rows[0][1]):.3f} of the driver alone; parts {min(parts):.3f} to {max(parts):.3f} of an equal")
    print(f"one; {asked.boards} boards do {sum(shared) / sum(rows[4][1]):.2f} times what one does")
    return 0 if sum(shared) >= 0.97 * alone and min(parts) >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
