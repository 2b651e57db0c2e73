"""rl_sync: bits arrive after two cycles, or after three where the simulator draws it; each on its own."""

import os
import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from runner import bench, common

CYCLES = 2000
WIDTH = 5


@cocotb.test()
async def bits_arrive_after_two_or_three_cycles(dut):
    Clock(dut.clk_i, 10, "ns").start()
    dut.rst_ni.value = 0
    dut.d_i.value = 0
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    assert dut.q_o.value.to_unsigned() == 0
    dut.rst_ni.value = 1
    given = [0, 0]
    late = [0] * WIDTH
    apart = 0
    for _ in range(CYCLES):
        given.append(random.getrandbits(WIDTH))
        dut.d_i.value = given[-1]
        await FallingEdge(dut.clk_i)
        former, present = given[-3], given[-2]
        old = dut.q_o.value.to_unsigned() ^ present
        changed = former ^ present
        assert old & ~changed == 0, "neither the present nor the former bit"
        late = [count + (old >> bit & 1) for bit, count in enumerate(late)]
        apart += old not in (0, changed)
    if os.environ["RL_SYNC_LATE"] == "0":
        assert late == [0] * WIDTH
    else:
        # Half of the bits change, and half of those are late.
        assert all(0.2 * CYCLES < count < 0.3 * CYCLES for count in late), late
        assert apart > CYCLES // 4


@pytest.mark.parametrize("late", [0, 1, 77])
def test_rl_sync(late, monkeypatch):
    monkeypatch.setenv("RL_SYNC_LATE", str(late))
    bench("rl_sync", common(), __name__, {"Width": WIDTH}, late=late)
