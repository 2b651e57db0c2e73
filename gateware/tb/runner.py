"""Builds a module with Verilator and runs cocotb tests on it.

A bench is one file, `gateware/tb/<block>/test_<block>.py`, with both halves in it:

    @cocotb.test()
    async def words_keep_their_order(dut): ...      # runs in the simulator

    @pytest.mark.parametrize("depth", [2, 16])
    def test_rl_fifo(depth):                        # pytest calls this one
        bench("rl_fifo", common(), __name__, {"Depth": depth})

Environment variables: `RACKLOOM_GOLDEN` names the library of the models (see `golden`); `WAVES=1` writes a trace,
dump.fst, beside the built model (FST needs liblz4-dev and zlib1g-dev); `COCOTB_RANDOM_SEED` sets another seed than the
one that all runs use; `COCOTB_TEST_FILTER` selects cocotb tests.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from cocotb_tools.runner import get_runner
from sources import ROOT, RTL, closure, files

OUT = ROOT / "out" / "tb"

# Verilator's own sources are the larger part of a small bench's compilation and the same in all of them.
SHARED_OBJECTS = ("verilated.o", "verilated_dpi.o", "verilated_vpi.o", "verilated_threads.o", "verilated_fst_c.o")


def rtl(*folders: str) -> list[Path]:
    """All files of these folders of gateware/rtl."""
    return [path for folder in folders for path in sorted((RTL / folder).rglob("*.sv"))]


def common() -> list[Path]:
    """The packages, FIFOs and memories of gateware/rtl/common."""
    return rtl("common")


def bench(
    toplevel: str,
    sources: Iterable[str | Path],
    test_module: str,
    parameters: Mapping[str, int] = {},
    testcase: str | list[str] | None = None,
) -> None:
    """Builds `toplevel` in out/tb and runs the cocotb tests of `test_module` (all, or `testcase`); none may fail.

    Sources are absolute or relative to gateware/rtl. What they name of that need not be listed, and what the top
    does not need is left out. The same module with other parameters is another build. The tests find the parameters
    as `dut.<Name>.value`.
    """
    waves = os.environ.get("WAVES", "0") not in ("", "0")
    given = [(RTL / source).resolve() for source in sources]
    paths = closure([toplevel], files() | {path.stem: path for path in given})
    key = json.dumps([sorted(parameters.items()), [str(path) for path in paths], waves])
    build_dir = OUT / f"{toplevel}-{hashlib.sha256(key.encode()).hexdigest()[:10]}"
    shared = OUT / ("verilated-waves" if waves else "verilated")
    runner = get_runner("verilator")
    restore(shared, build_dir)
    runner.build(
        sources=paths,
        hdl_toplevel=toplevel,
        parameters=parameters,
        build_dir=build_dir,
        # Warnings are the lint's business. Delays have no place in sources, so that one clock model fits all.
        build_args=["--assert", "--no-timing", "-Wno-fatal", "-CFLAGS", "-O1"] + (["--trace-fst"] if waves else []),
        timescale=("1ns", "1ps"),
        waves=waves,
    )
    keep(shared, build_dir)
    runner.test(
        hdl_toplevel=toplevel,
        test_module=test_module,
        testcase=testcase,
        seed=os.environ.get("COCOTB_RANDOM_SEED", "1"),
        build_dir=build_dir,
        test_dir=build_dir,
        waves=waves,
        timescale=("1ns", "1ps"),
    )


def restore(shared: Path, build_dir: Path) -> None:
    """Puts the objects of Verilator's own sources into a new build; make sees by their dates whether they are stale."""
    build_dir.mkdir(parents=True, exist_ok=True)
    for name in SHARED_OBJECTS:
        if (shared / name).exists() and not (build_dir / name).exists():
            shutil.copy2(shared / name, build_dir / name)


def keep(shared: Path, build_dir: Path) -> None:
    """Keeps them for the next build. Benches may run side by side: a file appears whole or not at all."""
    shared.mkdir(parents=True, exist_ok=True)
    for name in SHARED_OBJECTS:
        if (build_dir / name).exists() and not (shared / name).exists():
            part = shared / f"{name}.{os.getpid()}"
            shutil.copy2(build_dir / name, part)
            part.replace(shared / name)
