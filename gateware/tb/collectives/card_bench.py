"""A card of gateware with its links joined two by two, and the model of the same card, as a bench runs programs on
both."""

from dataclasses import dataclass

import golden_link
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from golden_link import Report

CYCLE_NS, TICK = 8, 16  # Nanoseconds, and cycles of a tick.
MAC, WINDOW = 0x02524C000107, 1 << 19
SLOTS, PLACE = 8, 4096  # Places of programs at the beginning of memory, as the golden library has them.
DATA_AT = SLOTS * PLACE


@dataclass(frozen=True)
class Program:
    """What a context runs."""

    commands: list[bytes]
    group: int
    number: int
    limit_us: int = 4000

    def bytes(self) -> bytes:
        """As it lies in memory."""
        return b"".join(self.commands)


def neighbour(port: int) -> int:
    """The port at the other end of a port's cable."""
    return (port - 1 ^ 1) + 1


class Model:
    """The model's card: frames take no time."""

    def __init__(self, links: int, memory: bytes) -> None:
        self.card, self.now_ns = golden_link.Sequencer(MAC, 7, 1408, WINDOW, links), 0
        self.said: list[tuple[int, bytes]] = []  # Ports, and frames from them.
        self.card.write(DATA_AT, memory)

    def run(self, programs: list[Program]) -> list[Report]:
        """Runs these side by side, and says how each has ended."""
        card = self.card
        started = [card.start(p.commands, p.group, p.number, p.limit_us * 1000) for p in programs]
        ended: dict[int, Report] = {}
        while not set(started) <= ended.keys():
            while said := card.says():
                self.said += said
                for port, frame in said:
                    card.handle(frame, neighbour(port))
            ended |= card.ended()
            self.now_ns += 20_000
            card.time(self.now_ns)
            assert self.now_ns < 10**9
        return [ended[number] for number in started]

    def memory(self) -> bytes:
        """What programs may touch, behind the programs themselves."""
        return self.card.read(DATA_AT, WINDOW - DATA_AT)


class Card:
    """The gateware."""

    def __init__(self, dut):
        self.dut, self.edge, self.size = dut, RisingEdge(dut.clk_i), len(dut.poke_data_i) // 8

    async def start(self, *, rto=120, patience=8000, latency=20, pause=0, delay=10, errors=0):
        dut = self.dut
        for name in ("start_valid", "start", "go", "fails", "cut", "poke", "rst_n"):
            getattr(dut, f"{name}_i" if name != "rst_n" else "rst_ni").value = 0
        dut.tick_cycles_i.value = TICK
        for name, value in {"rto": rto, "patience": patience, "latency": latency, "pause": pause, "delay": delay,
                            "errors": errors}.items():
            getattr(dut, f"{name}_i").value = value
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 40)  # Counts, blocks and peers are set up.

    async def cycles(self, count):
        await ClockCycles(self.dut.clk_i, count)

    # -- memory, from a word's beginning on
    async def write(self, addr, data):
        dut = self.dut
        dut.poke_i.value = 1
        for at in range(0, len(data), self.size):
            dut.at_i.value = (addr + at) // self.size
            dut.poke_data_i.value = int.from_bytes(data[at : at + self.size], "little")
            await self.edge
        dut.poke_i.value = 0
        await self.edge

    async def read(self, addr, length):
        dut, pieces = self.dut, []
        for at in range(addr // self.size, -(-(addr + length) // self.size)):
            dut.at_i.value = at
            await self.edge
            pieces.append(dut.peek_data_o.value.to_unsigned().to_bytes(self.size, "little"))
        return b"".join(pieces)[:length]

    # -- programs
    async def begin(self, program, *, held=False, at=None, anew=0):
        """Starts a program and returns its context; None: it is none. `anew`: links whose neighbours have begun a new
        life since it relies on them, a bit each."""
        dut = self.dut
        if at is None:
            # Where none that runs has its commands: as many places as contexts.
            self.place = (getattr(self, "place", -1) + 1) % SLOTS
            at = self.place * PLACE
            await self.write(at, program.bytes())
        ticks = program.limit_us * 1000 // (CYCLE_NS * TICK)
        value = program.number | program.group << 32 | ticks << 96 | len(program.commands) << 128 | at << 141
        dut.start_i.value = value | held << 181 | anew << 182
        dut.start_valid_i.value = 1
        for _ in range(2000):
            await self.edge
            if dut.start_ready_o.value == 1:
                break
        else:
            raise AssertionError("a program is not started")
        slot = None if dut.start_invalid_o.value == 1 else dut.start_slot_o.value.to_unsigned()
        dut.start_valid_i.value = 0
        await self.edge
        return slot

    async def ended(self, slots, limit=400_000):
        """How these have ended."""
        dut, wanted = self.dut, sum(1 << slot for slot in slots)
        for _ in range(0, limit, 50):
            if dut.has_ended_o.value.to_unsigned() & wanted == wanted:
                return [self.report(slot) for slot in slots]
            await self.cycles(50)
        raise AssertionError(f"contexts have not ended: {dut.has_ended_o.value} of {slots}")

    def report(self, slot):
        width = len(self.dut.reports_o) // SLOTS
        bits = self.dut.reports_o.value.to_unsigned() >> width * slot
        field = lambda at, length: bits >> at & (1 << length) - 1
        assert field(153, 3) == slot
        return Report(field(149, 4), field(141, 8), field(128, 13), field(64, 64), field(0, 64))

    async def run(self, programs):
        """Runs these side by side, and says how each has ended."""
        slots = [await self.begin(program, held=True) for program in programs]
        # One that has ended leaves its context to the next: so none begins before all are there.
        self.dut.go_i.value = sum(1 << slot for slot in slots)
        await self.cycles(1)
        self.dut.go_i.value = 0
        return await self.ended(slots)

    async def frames(self, port, cycles):
        """The frames that leave at this port meanwhile. One that is under way at the first edge is none of them."""
        dut, frames, frame, begun = self.dut, [], b"", False
        for cycle in range(cycles):
            await self.edge
            begun |= cycle == 0 and bool(dut.out_valid_o.value.to_unsigned() >> port - 1 & 1)
            if dut.out_valid_o.value.to_unsigned() >> port - 1 & 1:
                word = dut.out_data_o.value.to_unsigned() >> 8 * self.size * (port - 1) & (1 << 8 * self.size) - 1
                frame += word.to_bytes(self.size, "little")
                if dut.out_last_o.value.to_unsigned() >> port - 1 & 1:
                    frames += [] if begun else [frame]
                    frame, begun = b"", False
        return frames

    async def healthy(self):
        """Nothing has gone where it must not, and all has come to rest."""
        for _ in range(200):
            if self.dut.rests_o.value.to_unsigned() == (1 << len(self.dut.rests_o)) - 1:
                break
            await self.cycles(50)
        else:
            raise AssertionError("memory is still written")
        assert self.dut.wrong_o.value == 0
