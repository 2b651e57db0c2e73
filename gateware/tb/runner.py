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

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import handles as handles  # Each bench has its ports this way.
from cocotb_tools.runner import get_runner
from sources import ROOT as ROOT
from sources import RTL, closure, files
from verilate import build

used: list[str] = []  # The tops of the bench that runs, for `passed`.


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
    visible: Sequence[str] = (),
    late: int = 0,
) -> None:
    """Builds `toplevel` in out/tb and runs the cocotb tests of `test_module` (all, or `testcase`); none may fail.

    Sources are absolute or relative to gateware/rtl. What they name of that need not be listed, and what the top
    does not need is left out. The same module with other parameters is another build. The tests find the parameters
    as `dut.<Name>.value`, and of what lies below the top only the signals in `visible`, as `module.signal`.
    With `late`, bits that cross clock domains may take a cycle longer (`rl_late`): as that number says.
    """
    waves = os.environ.get("WAVES", "0") not in ("", "0")
    given = [(RTL / source).resolve() for source in sources]
    used.append(toplevel)
    paths = closure([toplevel], files() | {path.stem: path for path in given})
    build_dir = build(toplevel, paths, parameters, visible, waves=waves)
    get_runner("verilator").test(
        hdl_toplevel=toplevel,
        hdl_toplevel_lang="verilog",
        test_module=test_module,
        testcase=testcase,
        seed=os.environ.get("COCOTB_RANDOM_SEED", "1"),
        build_dir=build_dir,
        test_dir=build_dir,
        waves=waves,
        plusargs=[f"+rl_late={late}"] if late else [],
        timescale=("1ns", "1ps"),
    )
