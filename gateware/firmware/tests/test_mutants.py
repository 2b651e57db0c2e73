"""The faults of mutants.txt, each in a copy of the firmware: its test has to fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LINES = [line for line in HERE.joinpath("mutants.txt").read_text().splitlines() if line[0] != "#"]


def run(test: str, firmware: Path) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "-k", "native"]
    environment = os.environ | {"RACKLOOM_FIRMWARE": str(firmware)}
    ran = subprocess.run([*command, HERE / test], env=environment, capture_output=True, cwd=firmware, check=False)
    return ran.returncode


@pytest.mark.parametrize("line", LINES, ids=[line.split(" | ")[-1] for line in LINES])
def test_each_fault_is_found(line, tmp_path):
    name, test, original, fault, _ = (part.strip() for part in line.split(" | "))
    for source in [*HERE.parent.glob("*.c"), *HERE.parent.glob("*.h")]:
        shutil.copy(source, tmp_path)
    source = tmp_path / name
    text = source.read_text()
    assert text.count(original) == 1, "it stands there once"
    source.write_text(text.replace(original, fault))
    assert run(test, tmp_path) == 1

