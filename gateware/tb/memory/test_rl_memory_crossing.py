"""rl_memory_crossing: what a manager asks and what memory answers arrive whole and in order, whatever the clocks are."""

from pathlib import Path

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer
from managers import FIELDS, Manager, Memory, lengths
from runner import bench, common, rtl
from streams import CLOCK_PAIRS, PAUSES, sometimes

LATENCY = 8
ANSWERS = ("awready", "wready", "bvalid", "bid", "bresp", "arready", "rvalid", "rid", "rdata", "rresp", "rlast")
# A beat has more bits than the number that manager and memory know it by: these are in the upper ones as well.
DATA = 1 | 1 << 236 | 1 << 480
STROBES = 1 | 1 << 24 | 1 << 56


def widen(signals):
    factors = {"wdata": DATA, "rdata": DATA, "wstrb": STROBES}
    return {name: int(value) * factors.get(name, 1) for name, value in signals.items()}


def narrow(signals):
    for name, factor in (("wdata", DATA), ("rdata", DATA), ("wstrb", STROBES)):
        if name in signals:
            value, rest = divmod(signals[name], factor)
            # What nobody wrote yet is anything.
            signals[name] = value if rest == 0 else None
    return signals


class Crossing:
    def __init__(self, dut, manager, memory, periods):
        self.dut, self.manager, self.memory, self.periods = dut, manager, memory, periods

    async def start(self):
        dut = self.dut
        for name in FIELDS:
            getattr(dut, f"s_{name}_i").value = 0
        for name in ANSWERS:
            getattr(dut, f"m_{name}_i").value = 0
        dut.rst_manager_ni.value = dut.rst_memory_ni.value = 0
        Clock(dut.clk_manager_i, self.periods[0], "ps").start()
        Clock(dut.clk_memory_i, self.periods[1], "ps").start()
        await ClockCycles(dut.clk_manager_i, 4)
        await ClockCycles(dut.clk_memory_i, 4)
        dut.rst_manager_ni.value = dut.rst_memory_ni.value = 1
        cocotb.start_soon(self.side(dut.clk_manager_i, self.manager, "s", FIELDS, ANSWERS))
        cocotb.start_soon(self.side(dut.clk_memory_i, self.memory, "m", ANSWERS, FIELDS))

    async def side(self, clock, who, upper, gives, sees):
        """One side, at the edges of its own clock."""
        given = {name: getattr(self.dut, f"{upper}_{name}_i") for name in gives}
        seen = {name: getattr(self.dut, f"{upper}_{name}_o") for name in sees}
        held = {}
        while True:
            await FallingEdge(clock)
            driven = who.drive()
            for name, value in widen(driven).items():
                if held.get(name) != value:
                    held[name] = given[name].value = value
            await RisingEdge(clock)
            who.see(driven, narrow({name: int(pin.value) for name, pin in seen.items()}))

    async def finish(self):
        self.manager.reads = self.manager.writes = lengths(0)
        self.manager.takes = self.manager.answers = self.manager.sends = PAUSES["never"]()
        self.memory.pause = PAUSES["never"]()
        await Timer(8, "us")
        assert self.manager.is_done()
        assert not self.dut.m_arvalid_o.value and not self.dut.s_rvalid_o.value and not self.dut.s_bvalid_o.value


class PatientMemory(Memory):
    """One whose answers may wait until there is room for them, and which takes no more questions meanwhile."""

    def drive(self):
        driven = super().drive()
        driven["arready"] &= len(self.beats) < 64
        driven["awready"] &= len(self.answers) + len(self.bursts) < 16
        return driven

    def see(self, driven, saw):
        if driven["rvalid"] and not saw["rready"]:
            self.beats.appendleft(self.beats[0])
        if driven["bvalid"] and not saw["bready"]:
            self.answers.appendleft(self.answers[0])
        super().see(driven, saw | {"rready": 1, "bready": 1})


@cocotb.test()
@cocotb.parametrize(periods=CLOCK_PAIRS, pauses=["ragged", "bursts", "rare"])
async def everything_arrives_in_order(dut, periods, pauses):
    pause = PAUSES[pauses]
    manager = Manager(0, lengths(3, 0, 16, 1), lengths(1, 0, 7, 16, 0), pause(), pause(), pause(), ids=64)
    crossing = Crossing(dut, manager, PatientMemory(LATENCY, sometimes(0.3), owner=lambda _: 0), periods)
    await crossing.start()
    await Timer(20, "us")
    assert min(manager.read_beats, manager.written_beats) > 50
    await crossing.finish()


@cocotb.test()
@cocotb.parametrize(periods=CLOCK_PAIRS)
async def a_beat_goes_by_in_each_cycle_of_the_slower_clock(dut, periods):
    if dut.Depth.value.to_unsigned() < 8:
        return
    manager = Manager(0, lengths(16), lengths(16))
    crossing = Crossing(dut, manager, PatientMemory(LATENCY), periods)
    await crossing.start()
    await Timer(2, "us")
    before = manager.read_beats, manager.written_beats
    await Timer(8, "us")
    cycles = 8_000_000 // max(periods)
    assert manager.read_beats - before[0] >= 0.98 * cycles
    assert manager.written_beats - before[1] >= 0.98 * cycles


@pytest.mark.parametrize("depth,late", [(16, 0), (16, 3), (4, 5)])
def test_rl_memory_crossing(depth, late):
    here = Path(__file__).parent
    sources = [*common(), *rtl("memory"), here / "rl_memory_crossing_tb.sv"]
    bench("rl_memory_crossing_tb", sources, __name__, {"Depth": depth}, late=late)
