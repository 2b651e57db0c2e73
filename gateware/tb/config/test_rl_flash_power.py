"""rl_flash when power fails, or a reset comes: something good is booted."""

import random

import cocotb
from cocotb.triggers import ClockCycles

from flash_board import Board, flash_bench, until
from flash_contents import GOLDEN_IMAGE, layout, with_slots

CUTS = 100
RESETS = 30


@cocotb.test(timeout_time=4000, timeout_unit="ms")
async def power_may_fail_at_any_moment(dut):
    """While an image is loaded, tried, or confirmed: the next power-up ends with the old image or the new one.

    The old one has to, if the new one is one that never comes up.
    """
    board = Board(dut)
    await board.begin()
    assert await board.power_up() == "golden"
    runs = await board.load("app0")
    ends = {"old": 0, "new": 0}
    for n in range(1, CUTS + 1):
        name = f"app{n}"
        if n % 5 == 0:
            board.dead.add(name)
        # Within all of a load and the boot after it, and sometimes later.
        await until(board.load(name, size=random.randrange(300, 700)), random.randrange(10, 2_000_000))
        await board.power_down()
        dut.power_i.value = 1
        await ClockCycles(dut.clk_i, 4)
        if n % 4 == 0:
            # Once more while it comes up.
            await board.start(0)
            await until(board.settle(), random.randrange(10, 500_000))
            await board.power_down()
        board.history.clear()
        before, runs = runs, await board.power_up()
        assert runs in {before, name} - board.dead, (n, runs, board.history)
        ends["new" if runs == name else "old"] += 1
        state = board.state()
        assert state.slots[state.newest].bootable or state.slots[1 - state.newest].bootable
    dut._log.info("power cuts: %s", ends)
    assert min(ends.values()) > CUTS // 10
    for where in (layout.GOLDEN, layout.SECOND_GOLDEN):
        assert board.read(where, len(GOLDEN_IMAGE)) == GOLDEN_IMAGE


@cocotb.test(timeout_time=1000, timeout_unit="ms")
async def a_reset_may_come_at_any_moment(dut):
    """While an image is loaded, of all but the chip, which goes on with what it does: nothing that runs is lost."""
    board = Board(dut)
    await board.begin(*with_slots(a=("old",)))
    runs = await board.power_up()
    for n in range(RESETS):
        name = f"app{n}"
        await until(board.load(name), random.randrange(10, 500_000))
        dut.rst_ni.value = 0
        dut.valid_i.value = 0
        dut.start_i.value = 0
        dut.healthy_i.value = 0
        await ClockCycles(dut.clk_i, random.randrange(2, 10))
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 2)
        assert await board.settle() in (runs, name), (n, board.history)
        runs = board.image.name
    assert await board.load("last") == "last"


def test_rl_flash_power():
    flash_bench(__name__)
