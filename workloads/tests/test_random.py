"""The random programs print the same each time, and find bugs that were planted."""

import re
import subprocess

import pytest
from conftest import BIN, WORKLOADS, run

STEPS = 300
# PoCL takes most of a second to compile or link, unless it has kept the outcome of an earlier build. The first three
# programs hardly need it, and find nearly all planted bugs.
SEEDS = (55, 10, 9, 1, 2, 3, 4, 5)


def transcript(seed, *options, fault=None):
    return run("random", "--seed", seed, "--steps", STEPS, *options, fault=fault)


@pytest.mark.parametrize("seed", [1, 9])
def test_a_program_prints_the_same_each_time(seed):
    first, second = transcript(seed), transcript(seed)
    assert first.returncode == 0, first.stdout[-2000:]
    assert first.stdout == second.stdout
    # Nothing between the program and the implementation changes what is seen.
    assert transcript(seed, fault="none").stdout == first.stdout


def test_programs_at_once_print_what_they_print_alone():
    together = transcript(9, "--threads", 3)
    assert together.returncode == 0, together.stdout[-2000:]
    alone = [transcript(seed).stdout for seed in (9, 10, 11)]
    assert together.stdout == "".join(alone)
    # Each seed is a program of its own.
    steps = {text.split("\n", 1)[1] for text in alone}
    assert len(steps) == 3


def test_wrong_arguments_are_answered_as_the_standard_says():
    done = run("random", "--probes")
    assert done.returncode == 0, done.stdout
    listed = run("random", "--list").stdout.splitlines()
    made = [line for line in done.stdout.splitlines() if line.startswith("  probe")]
    # All but those that PoCL answers otherwise, which the list says of each.
    assert len(made) == len([line for line in listed if "PoCL:" not in line])
    assert len(made) > 250


def planted():
    source = (WORKLOADS / "random" / "faults.c").read_text()
    return re.findall(r"^    BUG\((\w+),", source, re.M)


def test_bugs_are_planted():
    assert len(planted()) > 20
    assert (BIN / "libfaults.so").exists()


@pytest.mark.parametrize("fault", planted())
def test_a_planted_bug_is_found(fault):
    for seed in SEEDS:
        # A lost callback is a hang, if it was to set a user event.
        if transcript(seed, "--patience", 15, fault=fault).returncode != 0:
            return
    pytest.fail(f"{len(SEEDS)} programs did not find {fault}")


def compare(*variables):
    command = [WORKLOADS / "compare.py", "--seeds", "9-10", "--steps", str(STEPS), *variables]
    return subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)


def test_two_implementations_are_compared():
    layer = f"OPENCL_LAYERS={BIN / 'libfaults.so'}"
    same = compare(layer, "FAULT=none")
    assert (same.returncode, same.stdout) == (0, "0 of 2 programs differ\n")
    differs = compare(layer, "FAULT=crossed_times")
    assert differs.returncode == 1
    assert "2 of 2 programs differ" in differs.stdout
    assert "other:     WRONG the times of" in differs.stdout
