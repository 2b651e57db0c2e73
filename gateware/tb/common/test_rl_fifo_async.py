"""rl_fifo_async: words in order between two clocks that know nothing of each other."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from runner import bench, common
from streams import CLOCK_PAIRS, PAUSE_PAIRS, PAUSES, receive, send

WORDS = 400


async def start(dut, periods):
    dut.wvalid_i.value = 0
    dut.rready_i.value = 0
    dut.rst_wr_ni.value = 0
    dut.rst_rd_ni.value = 0
    clocks = [Clock(dut.clk_wr_i, periods[0], "ps"), Clock(dut.clk_rd_i, periods[1], "ps")]
    for clock in clocks:
        clock.start(start_high=random.choice([False, True]))
    await ClockCycles(dut.clk_wr_i, 4)
    await ClockCycles(dut.clk_rd_i, 4)
    # Either side may leave its reset first.
    resets = [(dut.rst_wr_ni, dut.clk_wr_i), (dut.rst_rd_ni, dut.clk_rd_i)]
    random.shuffle(resets)
    for reset, clock in resets:
        reset.value = 1
        await ClockCycles(clock, random.randint(1, 10))
    return clocks


@cocotb.test()
@cocotb.parametrize(periods=CLOCK_PAIRS, pauses=PAUSE_PAIRS)
async def words_keep_their_order(dut, periods, pauses):
    await start(dut, periods)
    sent = [random.getrandbits(dut.Width.value.to_unsigned()) for _ in range(WORDS)]
    cocotb.start_soon(send(dut.clk_wr_i, dut.wvalid_i, dut.wready_o, dut.wdata_i, sent, PAUSES[pauses[0]]()))
    got = await receive(dut.clk_rd_i, dut.rvalid_o, dut.rready_i, dut.rdata_o, WORDS, PAUSES[pauses[1]]())
    assert got == sent
    await ClockCycles(dut.clk_rd_i, 6)
    assert not dut.rvalid_o.value


@cocotb.test()
@cocotb.parametrize(periods=CLOCK_PAIRS)
async def it_fills_to_its_depth(dut, periods):
    await start(dut, periods)
    depth = dut.Depth.value.to_unsigned()
    taken = 0
    dut.wvalid_i.value = 1
    await ClockCycles(dut.clk_wr_i, 1)
    for _ in range(depth + 8):
        taken += int(dut.wready_o.value)
        await ClockCycles(dut.clk_wr_i, 1)
    assert taken == depth


@pytest.mark.parametrize("width,depth,late", [(1, 4, 0), (1, 4, 1), (64, 16, 2), (130, 64, 0)])
def test_rl_fifo_async(width, depth, late):
    bench("rl_fifo_async", common(), __name__, {"Width": width, "Depth": depth}, late=late)
