#!/usr/bin/env python3
"""Runs the firmware's tests, or finds that they have passed with what they are made of now.

    gateware/firmware/tests/run.py             all
    gateware/firmware/tests/run.py --changed   none if nothing has changed since passed.json was written
    gateware/firmware/tests/run.py --bless     the same, and notes that all have passed

They give the same result as long as nothing changes of the firmware and its tests, the gateware, the models, the
protocol, the compiler and the pinned tools. Needs RACKLOOM_GOLDEN, as the benches do.
"""

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIRMWARE, TB = HERE.parent, HERE.parents[1] / "tb"
sys.path += [str(FIRMWARE), str(TB), str(TB.parent)]
import build as firmware  # noqa: E402
import passed  # noqa: E402
from sources import ROOT  # noqa: E402

LEDGER = HERE / "passed.json"


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changed", action="store_true", help="only if something has changed since they passed")
    parser.add_argument("--bless", action="store_true", help="the same, and note that they have passed")
    args = parser.parse_args()
    now = digest()
    noted = json.loads(LEDGER.read_text())["digest"] if LEDGER.exists() else None
    if (args.changed or args.bless) and noted == now:
        print("firmware: its tests did not run: they are as they were when they passed (passed.json)")
        return 0
    status = subprocess.run([sys.executable, "-m", "pytest", "-q", "-n", "2", HERE], check=False).returncode
    if status == 0 and args.bless:
        LEDGER.write_text(json.dumps({"digest": now}) + "\n")
    return status


def digest() -> str:
    """Changes with all that could change a result."""
    # A test reads some of the gateware's sources.
    folders = [FIRMWARE, ROOT / "gateware/rtl", ROOT / "protocol", ROOT / "crates/core/auth/tests/vectors"]
    files = {path for folder in folders for path in folder.rglob("*") if path.is_file() and path != LEDGER}
    files |= {path for test in HERE.glob("*.py") for path in passed.imported(test)} | set(passed.models())
    of_files = [
        [str(path.relative_to(ROOT)), hashlib.sha256(path.read_bytes()).hexdigest()]
        for path in sorted(files)
        if "__pycache__" not in path.parts
    ]
    tools = (ROOT / "scripts" / "requirements.txt").read_text()
    return hashlib.sha256(json.dumps([of_files, firmware.compiler(), tools]).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
