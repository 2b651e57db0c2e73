"""rl_gray_sync: whatever the clocks, what comes out is what the number was, and it never goes back."""

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from runner import bench, common

WIDTH = 6
STEPS = 1000
PERIOD = 10_000


class Writer:
    """Counts with a clock of its own."""

    def __init__(self, gray):
        self.gray = gray
        self.count = 0

    async def run(self, period):
        while self.count < STEPS:
            await Timer(period, "ps")
            self.count += 1
            number = self.count % (1 << WIDTH)
            self.gray.value = number ^ number >> 1


def binary(gray):
    number = 0
    while gray:
        number ^= gray
        gray >>= 1
    return number


@cocotb.test()
@cocotb.parametrize(period=[3_137, 6_401, 10_003, 23_000])
async def numbers_keep_their_order(dut, period):
    """A fast writer goes some steps in a cycle of the reader."""
    Clock(dut.clk_i, PERIOD, "ps").start()
    dut.rst_ni.value = 0
    dut.gray_i.value = 0
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    writer = Writer(dut.gray_i)
    task = cocotb.start_soon(writer.run(period))
    seen = behind = 0
    while not task.done():
        await RisingEdge(dut.clk_i)
        count = writer.count
        await FallingEdge(dut.clk_i)
        step = (binary(dut.gray_o.value.to_unsigned()) - seen) % (1 << WIDTH)
        assert step < 1 << WIDTH - 1, "it goes back"
        seen += step
        assert seen <= count
        behind = max(behind, count - seen)
    # What is written in two cycles, or with the third.
    assert behind <= 3 * PERIOD // period + 2, behind


@pytest.mark.parametrize("late", [0, 5])
def test_rl_gray_sync(late):
    bench("rl_gray_sync", common(), __name__, {"Width": WIDTH}, late=late)
