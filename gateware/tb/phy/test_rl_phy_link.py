"""rl_phy_link against the registers of a KSZ9031: reset, who it is, what is written to it, and links that come and go."""

import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from runner import bench

HERE = Path(__file__).parent
KSZ9031 = 0x00221622
ALL, FAST, SLOW = 0b111, 0b010, 0b001
SPEED = {0b100: 2, 0b010: 1, 0b001: 0}
ACCESS = 2 * 4 * 64 + 4  # Cycles.
LOOK = 400 + 2 * ACCESS  # From one look to the next.
SETUP = 13 * ACCESS  # Who it is, and what is written to it.


async def start(dut, id=KSZ9031, mute=0, cable=0, partner=ALL, half=0):
    dut.rst_ni.value = 0
    dut.id_i.value = id
    dut.mute_i.value = mute
    dut.cable_i.value = cable
    dut.partner_i.value = partner
    dut.half_i.value = half
    dut.forced_i.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1


async def until(dut, holds, most):
    """Waits until this holds, and gives the cycles that it took."""
    for cycle in range(most):
        if holds():
            return cycle
        await RisingEdge(dut.clk_i)
    raise AssertionError("it does not come to that")


@cocotb.test()
async def reset_and_first_access_keep_their_times(dut):
    await start(dut, cable=1)
    assert not dut.phy_rst_no.value
    reset = await until(dut, lambda: dut.phy_rst_no.value, 1000)
    want = dut.ResetCycles.value.to_unsigned()
    assert want <= reset + 1 <= want + 4
    assert not dut.mdc_o.value
    settle = await until(dut, lambda: dut.mdc_o.value, 1000)
    want = dut.SettleCycles.value.to_unsigned()
    assert want <= settle <= want + 12


@cocotb.test()
async def it_tells_the_phy_what_to_offer_and_sees_the_link(dut):
    await start(dut)
    await until(dut, lambda: dut.known_o.value, 500 + SETUP)
    await until(dut, lambda: dut.begins_o.value == 1, SETUP)
    assert dut.writes_o.value == 11
    assert dut.pulses_o.value == 0x0006_1A80
    await ClockCycles(dut.clk_i, 2 * LOOK)
    assert not dut.up_o.value and not dut.half_o.value
    dut.cable_i.value = 1
    await until(dut, lambda: dut.up_o.value, 2 * LOOK)
    assert dut.phy_speed_o.value == 0b100 and dut.speed_o.value == SPEED[0b100]
    # Everything is written to it once.
    await ClockCycles(dut.clk_i, 3 * LOOK)
    assert dut.writes_o.value == 11 and dut.up_o.value


@cocotb.test()
async def links_come_and_go_with_any_speed(dut):
    await start(dut)
    await until(dut, lambda: dut.begins_o.value == 1, 500 + 2 * SETUP)
    for _ in range(12):
        partner = random.randrange(1, 8)
        dut.partner_i.value = partner
        dut.cable_i.value = 1
        await until(dut, lambda: dut.up_o.value, 3 * LOOK)
        best = 1 << partner.bit_length() - 1
        assert dut.phy_speed_o.value == best and dut.speed_o.value == SPEED[best]
        await ClockCycles(dut.clk_i, random.randrange(2 * LOOK))
        assert dut.up_o.value
        dut.cable_i.value = 0
        await until(dut, lambda: not dut.up_o.value, 2 * LOOK)
        await ClockCycles(dut.clk_i, random.randrange(LOOK))


@cocotb.test()
async def a_link_that_was_lost_between_looks_counts_as_lost(dut):
    await start(dut, cable=1)
    await until(dut, lambda: dut.up_o.value, 500 + 2 * SETUP)
    for _ in range(5):
        reads = dut.reads_o.value.to_unsigned()
        await until(dut, lambda: dut.reads_o.value != reads, 2 * LOOK)
        await ClockCycles(dut.clk_i, ACCESS + random.randrange(200))
        dut.cable_i.value = 0
        await ClockCycles(dut.clk_i, 3)
        dut.cable_i.value = 1
        await until(dut, lambda: not dut.up_o.value, 2 * LOOK)
        await until(dut, lambda: dut.up_o.value, 2 * LOOK)


@cocotb.test()
async def another_speed_is_another_link(dut):
    """The PHY's status says nothing of it: the speed that it tells has changed all the same."""
    await start(dut, cable=1)
    await until(dut, lambda: dut.up_o.value, 500 + 2 * SETUP)
    for partner in (FAST, SLOW, ALL):
        dut.partner_i.value = partner
        await until(dut, lambda: not dut.up_o.value, 3 * LOOK)
        await until(dut, lambda: dut.up_o.value, 3 * LOOK)
        assert dut.speed_o.value == SPEED[1 << partner.bit_length() - 1]


@cocotb.test()
async def half_duplex_is_no_link_and_is_said(dut):
    """Of a partner that does not negotiate a PHY assumes it, whatever it offers itself; here it offers all again."""
    await start(dut, id=KSZ9031, cable=0)
    await until(dut, lambda: dut.begins_o.value == 1, 500 + 2 * SETUP)
    dut.half_i.value = 1
    dut.cable_i.value = 1
    await ClockCycles(dut.clk_i, 3 * LOOK)
    # It has offered none.
    assert not dut.link_o.value and not dut.half_o.value and not dut.up_o.value
    dut.forced_i.value = 1
    await until(dut, lambda: dut.half_o.value, 3 * LOOK)
    assert not dut.up_o.value
    dut.forced_i.value = 0
    dut.half_i.value = 0
    await until(dut, lambda: dut.up_o.value, 3 * LOOK)
    assert not dut.half_o.value


@cocotb.test()
async def a_phy_that_does_not_answer_is_asked_again(dut):
    await start(dut, mute=1, cable=1)
    await ClockCycles(dut.clk_i, 500 + 4 * LOOK)
    assert not dut.answers_o.value and not dut.known_o.value and not dut.up_o.value
    # It may work all the same: nobody resets it.
    assert dut.phy_rst_no.value
    dut.mute_i.value = 0
    await until(dut, lambda: dut.up_o.value, 2 * SETUP + LOOK)
    # It falls silent, and comes back.
    for times in (2, 3):
        dut.mute_i.value = 1
        await until(dut, lambda: not dut.answers_o.value, 2 * LOOK)
        assert not dut.up_o.value and not dut.known_o.value
        dut.mute_i.value = 0
        await until(dut, lambda: dut.up_o.value, 2 * SETUP + 2 * LOOK)
        assert dut.begins_o.value == times and dut.phy_rst_no.value


@cocotb.test()
async def another_phy_is_told_nothing(dut):
    for other in (0x001CC916, 0x00221632, 0x01221622, 0):
        await start(dut, id=other, cable=1)
        await until(dut, lambda: dut.answers_o.value, 500 + 2 * SETUP)
        await ClockCycles(dut.clk_i, 4 * LOOK)
        assert dut.answers_o.value and not dut.known_o.value and not dut.up_o.value
        assert dut.writes_o.value == 0


def test_rl_phy_link():
    bench("rl_phy_link_tb", [HERE / "rl_phy_link_tb.sv", HERE / "phy_model.sv"], __name__)
