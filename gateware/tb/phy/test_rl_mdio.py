"""rl_mdio against the registers of a PHY, and against clause 22 as Python reads it from the wires."""

import random
from pathlib import Path

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from runner import bench

HERE = Path(__file__).parent
OFFERS, OFFERS_1000 = 4, 9  # Registers that keep what is written.
AT, BROADCAST, ELSEWHERE = 3, 0, 7  # Addresses: of the PHY, of all, of nobody.


async def start(dut):
    for signal in (dut.valid_i, dut.mute_i, dut.write_i, dut.phy_i, dut.register_i, dut.value_i, dut.rst_ni):
        signal.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1
    cocotb.start_soon(nobody_fights(dut))


async def nobody_fights(dut):
    while True:
        await RisingEdge(dut.clk_i)
        assert not dut.fight_o.value


async def access(dut, register, value=None, phy=BROADCAST):
    """Reads, or writes a value; gives what was read, or None if nobody answered."""
    dut.valid_i.value = 1
    dut.write_i.value = value is not None
    dut.phy_i.value = phy
    dut.register_i.value = register
    dut.value_i.value = value or 0
    await RisingEdge(dut.clk_i)
    while not dut.ready_o.value:
        await RisingEdge(dut.clk_i)
    # It looks at them no more.
    dut.valid_i.value = 0
    for signal in (dut.write_i, dut.phy_i, dut.register_i, dut.value_i):
        signal.value = random.getrandbits(len(signal))
    await RisingEdge(dut.clk_i)
    while not dut.done_o.value:
        await RisingEdge(dut.clk_i)
    return None if value is None and dut.missing_o.value else dut.value_o.value.to_unsigned()


@cocotb.test()
async def registers_keep_what_is_written(dut):
    await start(dut)
    held = {}
    for n in range(30):
        register = random.choice([OFFERS, OFFERS_1000])
        if n < 2:
            register = (OFFERS, OFFERS_1000)[n]
        if n < 2 or random.random() < 0.5:
            held[register] = random.getrandbits(16)
            await access(dut, register, held[register], random.choice([AT, BROADCAST]))
        else:
            assert await access(dut, register, phy=random.choice([AT, BROADCAST])) == held[register]
        if random.random() < 0.5:
            await ClockCycles(dut.clk_i, random.randrange(1, 40))
    assert await access(dut, 2) == 0x0022
    assert await access(dut, 3) == 0x1622


@cocotb.test()
async def nobody_answers_for_another_or_when_mute(dut):
    await start(dut)
    assert await access(dut, 2, phy=ELSEWHERE) is None
    await access(dut, OFFERS, 0x1234, ELSEWHERE)
    assert await access(dut, OFFERS) == 0x01E1
    dut.mute_i.value = 1
    assert await access(dut, 2) is None
    dut.mute_i.value = 0
    assert await access(dut, 2) == 0x0022


@cocotb.test()
async def the_wires_are_as_clause_22_wants(dut):
    await start(dut)
    half = dut.HalfCycles.value.to_unsigned()
    bits, edges = [], []

    async def watch():
        cycle = was = line = 0
        while True:
            await RisingEdge(dut.clk_i)
            cycle += 1
            now = int(dut.mdc_o.value)
            if now != was:
                edges.append(cycle)
                if now:
                    bits.append(line)
            # What there was before the edge: the PHY changes its bit with it.
            was, line = now, int(dut.line_o.value)

    cocotb.start_soon(watch())
    for write in (True, False):
        bits.clear()
        edges.clear()
        register, value = OFFERS_1000, 0xA5C3
        await access(dut, register, value if write else None, AT)
        await FallingEdge(dut.clk_i)
        op = "01" if write else "10"
        turn = "10" if write else "00"
        want = "1" * 32 + "01" + op + f"{AT:05b}{register:05b}"
        got = "".join(map(str, bits))
        assert got[: len(want)] == want and len(got) == 64
        if write:
            assert got[46:48] == turn
        else:
            assert got[47] == "0"
        assert int(got[48:], 2) == value
        # Both halves of the clock are as long as they should be.
        assert all(after - before == half for before, after in zip(edges, edges[1:]))


@pytest.mark.parametrize("half", [4, 30])
def test_rl_mdio(half):
    bench("rl_mdio_tb", [HERE / "rl_mdio_tb.sv", HERE / "phy_model.sv"], __name__, {"HalfCycles": half})
