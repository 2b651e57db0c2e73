"""How many cycles operations take on two to four cards of gateware that are all joined to each other, from the Go to each
card's report: the planner's programs, which are in `crates/check/study-optweb/gateware/programs.txt`. What the cards
took is in `cycles.txt` beside it, where `rackloom study optweb-gateware` finds it and sets its model beside it.

Nothing is random, and each row begins with a reset, so cycles are the same in each run: a row that differs fails.
`MESH_ROWS=long` runs the other rows, in place of those that are short, `MESH_ROWS=all` all, and `MESH_ROWS=send` those
of that name. With `RACKLOOM_BLESS=1` what has been measured is written there.
"""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from runner import ROOT, bench, rtl

HERE = Path(__file__).parent
FOLDER = ROOT / "crates/check/study-optweb/gateware"
PROGRAMS, CYCLES = FOLDER / "programs.txt", FOLDER / "cycles.txt"
ROWS, BLESS = os.environ.get("MESH_ROWS", "short"), os.environ.get("RACKLOOM_BLESS") == "1"
CARDS, TICK, LIMIT_TICKS = 4, 16, 1 << 24
# Bytes of rows that run always; each from several phases of what goes round in a card, and the mean counts.
SHORT, PHASES = 1024, [0, 3, 7, 12, 18, 25, 33, 42]
# What `rackloom study optweb-gateware` says: cycles of memory and of a cable.
LATENCY, DELAY = 30, 10
COMMAND = struct.Struct(">BBHIQQ8x")


@dataclass(frozen=True)
class Row:
    """Programs of ranks, and after how many cycles each gets its Go."""

    name: str
    gos: list[int]
    programs: list[list[bytes]]

    @property
    def is_short(self) -> bool:
        return int(self.name.split()[2]) <= SHORT


def rows() -> Iterator[Row]:
    """All that is measured."""
    for text in PROGRAMS.read_text().split("\n\n"):
        head, *lines = text.strip().splitlines()
        words = head.split()
        programs = [[] if line == "-" else [*map(encoded, line.split())] for line in lines]
        yield Row(" ".join(words[:3]), [*map(int, words[3:])], programs)


def encoded(command: str) -> bytes:
    """A command of its fields."""
    return COMMAND.pack(*map(int, command.split(".")))


class Mesh:
    """The cards."""

    def __init__(self, dut):
        self.dut, self.edge, self.number = dut, RisingEdge(dut.clk_i), 0
        Clock(dut.clk_i, 10, "ns").start()

    async def start(self, linked):
        """From a reset on, so that rows do not depend on each other. `linked` has all links come up."""
        dut = self.dut
        for name in ("card", "poke", "at", "poke_data", "start_valid", "start", "go"):
            getattr(dut, f"{name}_i").value = 0
        given = {"tick_cycles": TICK, "rto": 120, "patience": 65535, "latency": LATENCY, "delay": DELAY}
        for name, value in given.items():
            getattr(dut, f"{name}_i").value = value
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 60)
        await self.run(linked)

    async def begin(self, card, commands):
        """Gives a card its program, which waits for its Go."""
        dut, program = self.dut, b"".join(commands)
        dut.card_i.value, dut.poke_i.value = card, 1
        for at in range(0, len(program), 8):
            dut.at_i.value, dut.poke_data_i.value = at // 8, int.from_bytes(program[at : at + 8], "little")
            await self.edge
        dut.poke_i.value = 0
        value = self.number | 77 << 32 | LIMIT_TICKS << 96 | len(commands) << 128 | 1 << 181
        dut.start_i.value, dut.start_valid_i.value = value, 1
        for _ in range(2000):
            await self.edge
            if dut.start_ready_o.value == 1:
                break
        else:
            raise AssertionError("a program is not started")
        assert dut.start_invalid_o.value == 0
        dut.start_valid_i.value = 0
        await self.edge

    async def run(self, row, phase=0):
        """Cycles of each card from its Go to its report; 0: it has no program. `phase`: cycles by which all is later."""
        dut, programs = self.dut, row.programs
        self.number += 1
        for card, commands in enumerate(programs):
            if commands:
                await self.begin(card, commands)
        # Commands are here, and all before is acknowledged and done.
        await ClockCycles(dut.clk_i, 1000 + phase)
        gone = 0
        for at in sorted(set(row.gos)):
            if at > gone:
                await ClockCycles(dut.clk_i, at - gone - 1)
            dut.go_i.value = sum(1 << card for card, when in enumerate(row.gos) if when == at)
            await self.edge
            dut.go_i.value = 0
            gone = at
        wanted = sum(1 << card for card, commands in enumerate(programs) if commands)
        for _ in range(0, 4_000_000, 200):
            if dut.has_ended_o.value.to_unsigned() & wanted == wanted:
                break
            await ClockCycles(dut.clk_i, 200)
        else:
            raise AssertionError(f"programs have not ended: {dut.has_ended_o.value}")
        assert dut.causes_o.value == 0 and dut.wrong_o.value == 0
        bits = dut.cycles_o.value.to_unsigned()
        return [bits >> 32 * card & 0xFFFFFFFF if commands else 0 for card, commands in enumerate(programs)]


@cocotb.test()
async def operations_take_as_many_cycles_as_is_written(dut):
    mesh, given = Mesh(dut), list(rows())
    barrier = next(row for row in given if row.name == f"barrier {CARDS} 0")
    found = {}
    for row in given:
        if ROWS in ("all", "short" if row.is_short else "long", row.name.split()[0]):
            await mesh.start(barrier)
            runs = [await mesh.run(row, phase) for phase in (PHASES if row.is_short else PHASES[:1])]
            found[row.name] = " ".join(str(round(sum(cycles) / len(cycles))) for cycles in zip(*runs))
            print(row.name, found[row.name], "of", runs, flush=True)
    written = dict(line.split(": ") for line in CYCLES.read_text().splitlines())
    if BLESS:
        written |= found
        CYCLES.write_text("".join(f"{row.name}: {written[row.name]}\n" for row in given if row.name in written))
    wrong = {name: (cycles, written.get(name)) for name, cycles in found.items() if cycles != written.get(name)}
    assert not wrong, f"other cycles than in {CYCLES.name}: {wrong}"


def test_rl_collective_mesh():
    bench("rl_collective_mesh_tb", [*rtl("collectives"), *sorted(HERE.glob("*.sv"))], __name__, {"Cards": CARDS})
