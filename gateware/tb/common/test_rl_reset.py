"""rl_reset: begins and ends at edges of its own clock, within three of them."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from runner import bench, common


@cocotb.test()
async def it_follows_within_three_cycles(dut):
    Clock(dut.clk_i, 10, "ns").start()
    dut.rst_ni.value = 0
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    for _ in range(50):
        wanted = not dut.rst_ni.value
        assert dut.rst_no.value == dut.rst_ni.value
        # Anywhere in a cycle, but not at its edges.
        await Timer(random.choice([1, 2, 3, 4, 6, 7, 8, 9]), "ns")
        dut.rst_ni.value = wanted
        await Timer(1, "ps")
        assert dut.rst_no.value != wanted, "it does not wait for its clock"
        for edges in range(1, 4):
            await RisingEdge(dut.clk_i)
            await FallingEdge(dut.clk_i)
            if dut.rst_no.value == wanted:
                break
        assert edges in (2, 3)
        for _ in range(4):
            await FallingEdge(dut.clk_i)


@pytest.mark.parametrize("late", [0, 9])
def test_rl_reset(late):
    bench("rl_reset", common(), __name__, late=late)
