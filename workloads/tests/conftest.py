"""Builds the workloads and runs them on the OpenCL that is installed."""

import os
import subprocess
from pathlib import Path

import pytest

WORKLOADS = Path(__file__).resolve().parent.parent
BIN = WORKLOADS.parent / "out" / "workloads" / "bin"


@pytest.fixture(scope="session", autouse=True)
def built(tmp_path_factory):
    # Workers of xdist share the folder: one builds, the others wait.
    lock = tmp_path_factory.getbasetemp().parent / "workloads.lock"
    made = subprocess.run(
        ["flock", lock, "make", "-s", "-j2", "-C", WORKLOADS], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr


def run(program, *options, fault=None, text=None, timeout=50):
    """Runs a workload to its end. `fault` is a bug planted below it."""
    env = dict(os.environ)
    if fault:
        env |= {"OPENCL_LAYERS": str(BIN / "libfaults.so"), "FAULT": fault}
    command = [str(BIN / program), *map(str, options)]
    return subprocess.run(
        command, capture_output=True, text=True, input=text, env=env, timeout=timeout, check=False
    )
