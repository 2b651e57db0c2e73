"""rl_quotient: exact for every divisor, where a whole number is nearly reached or just passed, each cycle another."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from runner import bench

LATENCY = 4


async def divide(dut, divisor, dividends):
    """Gives a dividend each cycle, and compares what comes."""
    clock = dut.clk_i
    dut.divisor_i.value = divisor
    dut.start_i.value = 1
    await FallingEdge(clock)
    dut.start_i.value = 0
    await FallingEdge(clock)
    waited = 0
    while not dut.ready_o.value:
        await FallingEdge(clock)
        waited += 1
    assert waited <= len(dut.dividend_i) + len(dut.divisor_i) + 3
    for at in range(len(dividends) + LATENCY):
        if at >= LATENCY:
            got = int(dut.quotient_o.value), int(dut.rest_o.value)
            assert got == divmod(dividends[at - LATENCY], divisor), f"{dividends[at - LATENCY]} / {divisor}"
        if at < len(dividends):
            dut.dividend_i.value = dividends[at]
        await FallingEdge(clock)


def near(divisor, width):
    """Dividends at the first, the last and some multiples, and one before and behind them."""
    most = (1 << width) - 1
    last = most // divisor
    times = {0, 1, last, last - 1, *(random.randrange(last + 1) for _ in range(12))}
    out = [most] + [n * divisor + more for n in times for more in (-1, 0, 1)]
    return [n for n in out if 0 <= n <= most]


@cocotb.test()
async def every_divisor(dut):
    Clock(dut.clk_i, 10, "ns").start()
    width, bits = len(dut.dividend_i), len(dut.divisor_i)
    await FallingEdge(dut.clk_i)
    for divisor in range(1, 1 << bits):
        dividends = range(1 << width) if width <= 8 else near(divisor, width)
        await divide(dut, divisor, dividends)


@pytest.mark.parametrize("width,divisor", [(22, 8), (8, 5)])
def test_rl_quotient(width, divisor):
    bench("rl_quotient", ["shell/load/rl_quotient.sv"], __name__, {"Width": width, "DivisorW": divisor})
