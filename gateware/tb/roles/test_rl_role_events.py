"""rl_role_events: each word that a role raises is reported once, in order; what it says in its reset is nothing."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from runner import bench, common
from streams import PAUSES, always

CLOCKS = [(1000, 1000), (1000, 3170), (2310, 1000)]


async def start(dut, role_ps, net_ps):
    dut.rst_role_ni.value = dut.rst_net_ni.value = dut.role_rst_ni.value = 0
    dut.raises_i.value = dut.ready_i.value = 0
    Clock(dut.clk_role_i, role_ps, "ps").start()
    Clock(dut.clk_net_i, net_ps, "ps").start()
    await ClockCycles(dut.clk_role_i, 8)
    await ClockCycles(dut.clk_net_i, 8)
    dut.rst_role_ni.value = dut.rst_net_ni.value = dut.role_rst_ni.value = 1


async def hear(dut, pause, heard):
    while True:
        await FallingEdge(dut.clk_net_i)
        ready = not next(pause)
        dut.ready_i.value = ready
        await RisingEdge(dut.clk_net_i)
        if ready and dut.valid_o.value == 1:
            heard.append(int(dut.word_o.value))


async def say(dut, words, pause):
    """Offers each word until it is taken."""
    for word in words:
        while next(pause):
            await FallingEdge(dut.clk_role_i)
        dut.raises_i.value = 1 << 64 | word
        await RisingEdge(dut.clk_role_i)
        while dut.ready_o.value == 0:
            await RisingEdge(dut.clk_role_i)
        await FallingEdge(dut.clk_role_i)
        dut.raises_i.value = 0


@cocotb.test()
@cocotb.parametrize(clocks=CLOCKS, pauses=["never", "ragged", "bursts"])
async def each_word_is_told_once_in_order(dut, clocks, pauses):
    await start(dut, *clocks)
    heard, words = [], [random.getrandbits(64) for _ in range(150)]
    cocotb.start_soon(hear(dut, PAUSES[pauses](), heard))
    await FallingEdge(dut.clk_role_i)
    await say(dut, words, PAUSES["ragged"]())
    await ClockCycles(dut.clk_net_i, 200)
    assert heard == words


@cocotb.test()
async def a_role_waits_while_nobody_hears_and_says_nothing_in_its_reset(dut):
    await start(dut, 1000, 1000)
    heard, depth = [], dut.Depth.value.to_unsigned()
    hears = cocotb.start_soon(hear(dut, always(), heard))
    await FallingEdge(dut.clk_role_i)
    await say(dut, range(depth), PAUSES["never"]())
    dut.raises_i.value = 1 << 64 | 99
    for _ in range(50):
        await FallingEdge(dut.clk_role_i)
        assert dut.ready_o.value == 0
    dut.role_rst_ni.value = 0
    hears.cancel()
    cocotb.start_soon(hear(dut, PAUSES["never"](), heard))
    await ClockCycles(dut.clk_net_i, 100)
    assert heard == list(range(depth)), "what was taken is reported though the role is gone"


@pytest.mark.parametrize("late", [0, 3])
def test_rl_role_events(late):
    bench("rl_role_events", [*common(), "role/rl_role_events.sv"], __name__, late=late)
