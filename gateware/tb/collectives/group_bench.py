"""Cards of gateware in a line, and the models of the same cards, as a bench runs programs of groups on both."""

from collections.abc import Callable
from pathlib import Path

import golden_link
from card_bench import CYCLE_NS, DATA_AT, PLACE, SLOTS, TICK, WINDOW, Program
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from golden_link import Report

MAC = 0x02524C000100


def port(card: int, other: int) -> int:
    """The port of one card's link to another; 0: it has none."""
    return {-1: 1, 1: 2 if card else 1}.get(other - card, 0)


def far_end(card: int, link: int) -> tuple[int, int]:
    """The card at the other end of a port's cable, and its port."""
    other = card + 1 if link == port(card, card + 1) else card - 1
    return other, port(other, card)


class Models:
    """The models' cards: frames take no time."""

    def __init__(self, cards: int, memories: list[bytes]) -> None:
        self.now_ns = 0
        links = [1 if n in (0, cards - 1) else 2 for n in range(cards)]
        self.cards = [golden_link.Sequencer(MAC + 16 * n, 7, 1408, WINDOW, some) for n, some in enumerate(links)]
        for card, memory in zip(self.cards, memories):
            card.write(DATA_AT, bytes(memory[DATA_AT:]))

    def run(self, programs: list[tuple[int, Program]]) -> list[Report]:
        """Runs these, each on its card, side by side."""
        started = [(n, self.cards[n].start(p.commands, p.group, p.number, p.limit_us * 1000)) for n, p in programs]
        ended: dict[tuple[int, int], Report] = {}
        while not set(started) <= ended.keys():
            moves = True
            while moves:
                said = [(n, *frame) for n, card in enumerate(self.cards) for frame in card.says()]
                for n, link, frame in said:
                    other, to = far_end(n, link)
                    self.cards[other].handle(frame, to)
                moves = bool(said)
            for n, card in enumerate(self.cards):
                ended |= {(n, number): report for number, report in card.ended().items()}
            self.now_ns += 20_000
            for card in self.cards:
                card.time(self.now_ns)
            assert self.now_ns < 10**10
        return [ended[it] for it in started]

    def memories(self) -> list[bytes]:
        """What programs may touch, behind the programs themselves."""
        return [card.read(DATA_AT, WINDOW - DATA_AT) for card in self.cards]


class Cards:
    """The gateware."""

    def __init__(self, dut):
        self.dut, self.edge, self.count = dut, RisingEdge(dut.clk_i), len(dut.cut_i)
        self.memories: list[bytearray] = []

    async def start(self, memories: list[bytes], *, rto=120, patience=8000, latency=20, pause=0, delay=10, errors=0):
        dut, self.memories = self.dut, [bytearray(memory) for memory in memories]
        for name in ("start_valid", "start", "go", "cut", "fails", "load", "save", "card"):
            getattr(dut, f"{name}_i").value = 0
        dut.tick_cycles_i.value = TICK
        for name, value in {"rto": rto, "patience": patience, "latency": latency, "pause": pause, "delay": delay,
                            "errors": errors}.items():
            getattr(dut, f"{name}_i").value = value
        dut.rst_ni.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 40)  # Counts, blocks and peers are set up.

    async def pulse(self, name):
        getattr(self.dut, name).value = 1
        await ClockCycles(self.dut.clk_i, 1)
        getattr(self.dut, name).value = 0
        await ClockCycles(self.dut.clk_i, 1)

    async def run(self, programs: list[tuple[int, Program]], meanwhile: Callable = None, limit=400_000):
        """Runs these, each on its card, side by side, from memories as they are in `memories`."""
        dut, places = self.dut, [0] * self.count
        starts = []
        for n, program in programs:
            at = places[n] * PLACE
            places[n] += 1
            assert places[n] <= SLOTS and len(program.bytes()) <= PLACE
            self.memories[n][at : at + len(program.bytes())] = program.bytes()
            ticks = program.limit_us * 1000 // (CYCLE_NS * TICK)
            value = program.number | program.group << 32 | ticks << 96 | len(program.commands) << 128 | at << 141
            starts.append((n, value | 1 << 181))
        for n, memory in enumerate(self.memories):
            Path(f"memory{n}.bin").write_bytes(memory)
        await self.pulse("load_i")
        slots, gos = [], [0] * self.count
        for n, value in starts:
            dut.card_i.value, dut.start_i.value, dut.start_valid_i.value = n, value, 1
            for _ in range(2000):
                await self.edge
                if dut.start_ready_o.value == 1:
                    break
            else:
                raise AssertionError("a program is not started")
            assert dut.start_invalid_o.value == 0
            slots.append((n, dut.start_slot_o.value.to_unsigned()))
            gos[n] |= 1 << slots[-1][1]
            dut.start_valid_i.value = 0
            await self.edge
        dut.go_i.value = sum(go << SLOTS * n for n, go in enumerate(gos))
        await ClockCycles(dut.clk_i, 1)
        dut.go_i.value = 0
        if meanwhile:
            await meanwhile()
        wanted = sum(1 << SLOTS * n + slot for n, slot in slots)
        for _ in range(0, limit, 50):
            if dut.has_ended_o.value.to_unsigned() & wanted == wanted:
                break
            await ClockCycles(dut.clk_i, 50)
        else:
            raise AssertionError(f"contexts have not ended: {dut.has_ended_o.value} of {slots}")
        bits = dut.reports_o.value.to_unsigned()
        width = len(dut.reports_o) // SLOTS // self.count
        return [self.report(bits >> width * (SLOTS * n + slot)) for n, slot in slots]

    @staticmethod
    def report(bits):
        field = lambda at, length: bits >> at & (1 << length) - 1
        return Report(field(149, 4), field(141, 8), field(128, 13), field(64, 64), field(0, 64))

    async def read(self):
        """What programs may touch, of each card, behind the programs themselves; when nothing is on its way there."""
        for _ in range(200):
            if self.dut.rests_o.value.to_unsigned() == (1 << self.count) - 1:
                break
            await ClockCycles(self.dut.clk_i, 50)
        else:
            raise AssertionError("memory is still written")
        await self.pulse("save_i")
        assert self.dut.wrong_o.value == 0
        self.memories = [bytearray(Path(f"memory{n}.bin").read_bytes()) for n in range(self.count)]
        return [bytes(memory[DATA_AT:]) for memory in self.memories]
