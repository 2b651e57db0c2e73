"""Runs a suite of OpenCL-CTS, and compares what was run; for cts.sh.

    cts.py run FILE SUITE        writes a line "TEST OUTCOME" for each test, and to FILE.log what they said
    cts.py table FOLDER SUITE... the counts of outcomes, and on stderr each test whose outcomes differ

Each test is a process, so that one that crashes takes no other with it. It has LIMIT seconds. JOBS run at once (1).
"""

import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

WAYS = ("native", "shared", "tcp")
SKIPPED = re.compile(r"\w+ (skipped \(|test not supported|test currently not|tests is not supported)", re.MULTILINE)


def run(file, suite):
    listed = subprocess.run([suite, "--list"], capture_output=True, text=True, check=True).stdout
    tests = [found[1] for line in listed.splitlines() if (found := re.fullmatch(r"\s+(\w+)", line))]
    with open(file, "w") as outcomes, open(f"{file}.log", "w") as log:
        with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
            under_way = {pool.submit(one, suite, test): test for test in tests}
            for ended in as_completed(under_way):
                test, (outcome, said) = under_way[ended], ended.result()
                print(test, outcome, file=outcomes, flush=True)
                print(f"==== {test}\n{said}\n==== {test} {outcome}", file=log, flush=True)


def one(suite, test):
    """The outcome of a test, and what it said."""
    command = [suite, *(["-w"] if os.environ.get("WIMPY") else []), test]
    # A test of printf has its standard output in a file meanwhile.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        said, _ = process.communicate(timeout=float(os.environ.get("LIMIT", "300")))
    except subprocess.TimeoutExpired:
        process.kill()
        return "overdue", process.communicate()[0]
    if process.returncode < 0:
        return "crashed", said
    if process.returncode:
        return "failed", said
    return ("skipped" if SKIPPED.search(said) else "passed"), said


def table(folder, suites):
    worse, total = 0, 0
    print("| suite | " + " | ".join(WAYS) + " |")
    print("|---" * (len(WAYS) + 1) + "|")
    for suite in suites:
        found = {way: read(folder / f"{suite}.{way}") for way in WAYS}
        print(f"| {suite} | " + " | ".join(summary(found[way]) for way in WAYS) + " |")
        total += len(found["native"])
        for test, native in found["native"].items():
            for way in WAYS[1:]:
                # A way that was not run says nothing; a test that is missing in one that was does.
                outcome = found[way].get(test, "missing") if found[way] else native
                if outcome != native:
                    print(f"{suite} {test}: native {native}, {way} {outcome}", file=sys.stderr)
                    # A device without images skips their tests, and says so.
                    worse += native == "passed" and outcome != "skipped"
    sys.exit(bool(worse) or not total)


def read(file):
    return dict(line.split() for line in file.read_text().splitlines()) if file.exists() else {}


def summary(outcomes):
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(Counter(outcomes.values()).items())) or "-"


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(*sys.argv[2:4])
    else:
        table(Path(sys.argv[2]), sys.argv[3:])
