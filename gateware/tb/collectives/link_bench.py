"""Two ends of a link, or one whose neighbour is the bench, as a bench drives them."""

import random
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

EAGER, SLOTS = 16384, 8
EARLY_AT, DATA_AT, MEMORY = 0, SLOTS * EAGER, 1 << 19
MACS = [0x02524C000107, 0x02524C000209]
# Causes, as cause_e.
DONE, LINK_DEAD, RESTARTED, MEMORY_FAILED, MISMATCH, PROTOCOL = 0, 2, 3, 7, 8, 9


@dataclass(frozen=True)
class Key:
    """Which message."""

    tag: int
    number: int = 1
    group: int = 0x0123456789ABCDEF


class Ends:
    """The gateware."""

    def __init__(self, dut):
        self.dut, self.edge = dut, RisingEdge(dut.clk_i)
        self.bytes = len(dut.poke_data_i) // 8
        self.moves, self.rst, self.valid, self.now = [0, 0], 0, {"put": 0, "take": 0}, 0

    async def start(self, *, twin=False, rto=30, patience=400, tick=16, latency=20, pause=0, delay=10, errors=0,
                    stall=0, epochs=(7, 9), seed=1):
        dut = self.dut
        for name in ("put_valid", "take_valid", "cancel", "fails", "cut", "poke", "in_valid", "move", "count_of"):
            getattr(dut, f"{name}_i").value = 0
        dut.rst_ni.value = dut.power_ni.value = 0
        dut.twin_i.value, dut.seed_i.value, dut.tick_cycles_i.value = twin, seed, tick
        dut.epoch_i.value = epochs[1] << 32 | epochs[0]
        for name, value in {"rto": rto, "patience": patience, "latency": latency, "pause": pause, "delay": delay,
                            "errors": errors, "stall": stall}.items():
            getattr(dut, f"{name}_i").value = value
        self.tick, self.patience = tick, patience
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 4)
        dut.power_ni.value, self.rst = 1, 3
        dut.rst_ni.value = self.rst
        await ClockCycles(dut.clk_i, 40)  # Counts, blocks and peers are set up.

    async def cycles(self, count):
        await ClockCycles(self.dut.clk_i, count)

    async def reset(self, end, epoch):
        """An end starts anew; its memory stays."""
        dut = self.dut
        dut.rst_ni.value = self.rst & ~(1 << end)
        other = dut.epoch_i.value.to_unsigned() >> 32 * (1 - end) & 0xFFFFFFFF
        dut.epoch_i.value = epoch << 32 * end | other << 32 * (1 - end)
        await self.cycles(30)
        dut.rst_ni.value = self.rst
        await self.cycles(40)

    def field(self, name, end, width=32):
        return getattr(self.dut, name).value.to_unsigned() >> width * end & (1 << width) - 1

    def ended(self, kind, end, slot):
        """How a context's put or take has ended; None: it has not."""
        got = self.field(f"{kind}_end_o", end, 40) >> 5 * slot & 31
        return got & 15 if got >> 4 else None

    # -- memory
    async def write(self, end, addr, data):
        dut, first, last = self.dut, addr // self.bytes * self.bytes, -(-(addr + len(data)) // self.bytes) * self.bytes
        # What is beside it in its first and last words stays.
        data = await self.read(end, first, addr - first) + data
        data += await self.read(end, first + len(data), last - first - len(data))
        addr = first
        dut.poke_i.value = 1 << end
        for at in range(0, len(data), self.bytes):
            dut.at_i.value = (addr + at) // self.bytes
            dut.poke_data_i.value = int.from_bytes(data[at : at + self.bytes], "little")
            await self.edge
        dut.poke_i.value = 0
        await self.edge

    async def read(self, end, addr, length):
        first, pieces = addr // self.bytes, []
        for at in range(first, -(-(addr + length) // self.bytes)):
            self.dut.at_i.value = at
            await self.edge
            await self.edge
            pieces.append(self.field("peek_data_o", end, 8 * self.bytes).to_bytes(self.bytes, "little"))
        return b"".join(pieces)[addr - first * self.bytes :][:length]

    # -- moves
    async def begin(self, kind, end, slot, key, addr, length):
        """Begins a put or a take, and waits until it is taken."""
        dut = self.dut
        value = length | addr << 32 | key.tag << 72 | key.number << 88 | key.group << 120 | slot << 184
        width = len(dut.move_i) // 2
        self.moves[end] = value
        dut.move_i.value = self.moves[0] | self.moves[1] << width
        valid, ready = getattr(dut, f"{kind}_valid_i"), getattr(dut, f"{kind}_ready_o")
        self.valid[kind] |= 1 << end
        valid.value = self.valid[kind]
        for _ in range(20000):
            await self.edge
            if ready.value.to_unsigned() >> end & 1:
                break
        else:
            raise AssertionError(f"a {kind} of context {slot} is not taken")
        self.valid[kind] &= ~(1 << end)
        valid.value = self.valid[kind]
        await self.edge

    async def until(self, what, limit=60000, step=20):
        """Until this is so."""
        for _ in range(0, limit, step):
            if what():
                return
            await self.cycles(step)
        raise AssertionError("it does not end")

    async def settled(self, moves, limit=60000):
        """How each of these (kind, end, slot) has ended."""
        await self.until(lambda: all(self.ended(*move) is not None for move in moves), limit)
        return [self.ended(*move) for move in moves]

    async def healthy(self):
        """Nothing has gone where it must not, and all has come to rest."""
        await self.until(lambda: self.dut.rests_o.value.to_unsigned() == 3)
        assert self.dut.wrong_o.value.to_unsigned() == 0


class Area:
    """Places in a memory that do not touch: a word at least is between two."""

    def __init__(self):
        self.at = DATA_AT

    def place(self, length):
        at = self.at + 8 + random.randrange(8)
        self.at = (at + length + 23) // 8 * 8
        assert self.at < MEMORY
        return at


class Cable:
    """The cable of end 0, whose other end is the bench: frames in and out, word by word, for as long as the test runs.
    After each cycle it calls `then`."""

    def __init__(self, ends, then):
        self.ends, self.dut, self.size = ends, ends.dut, ends.bytes
        self.words, self.frame, self.came = [], b"", []
        self.cycle = 0
        cocotb.start_soon(self._run(then))

    async def _run(self, then):
        while True:
            await self._step()
            then()

    def send(self, data, bad=False):
        """A frame to the gateware."""
        for at in range(0, len(data), self.size):
            piece = data[at : at + self.size]
            last = at + self.size >= len(data)
            self.words.append((int.from_bytes(piece, "little"), (1 << len(piece)) - 1, last, last and bad))

    async def _step(self):
        dut = self.dut
        if self.words:
            data, keep, last, bad = self.words.pop(0)
            dut.in_valid_i.value, dut.in_data_i.value, dut.in_keep_i.value = 1, data, keep
            dut.in_last_i.value, dut.in_bad_i.value = last, bad
        else:
            dut.in_valid_i.value = 0
        await self.ends.edge
        self.cycle += 1
        if dut.out_valid_o.value == 1:
            size = dut.out_keep_o.value.to_unsigned().bit_length()
            self.frame += dut.out_data_o.value.to_unsigned().to_bytes(self.size, "little")[:size]
            if dut.out_last_o.value == 1:
                self.came.append(self.frame)
                self.frame = b""
