"""rl_axi_widen: bursts at a plain memory of wide beats, with pauses on every channel; no byte beside them is touched."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.queue import Queue
from cocotb.triggers import ClockCycles
from runner import bench, common
from streams import PAUSES, never

MEMORY = 1 << 14  # Writes have its lower half, reads the upper one: either way on its own keeps its order.
PAGE = 4096
BEATS = 256  # Of a burst at most.
BURSTS = 60


class Channel:
    """One of the ten, in either direction."""

    def __init__(self, dut, name, fields, pause):
        # Of requests the manager's side goes in; of answers it comes out.
        asks = name[2:] in ("aw", "w", "ar")
        valid, ready = ("i", "o") if (name[0] == "s") == asks else ("o", "i")
        self.edge = dut.clk_i.rising_edge
        self.valid, self.ready = getattr(dut, f"{name}valid_{valid}"), getattr(dut, f"{name}ready_{ready}")
        self.fields = [getattr(dut, f"{name}{field}_{valid}") for field in fields]
        self.pause = pause
        (self.valid if valid == "i" else self.ready).value = 0

    async def put(self, *values):
        """Offers this; once offered, it stays until it is taken."""
        while next(self.pause):
            await self.edge
        self.valid.value = 1
        for field, value in zip(self.fields, values, strict=True):
            field.value = value
        await self.edge
        while not self.ready.value:
            await self.edge
        self.valid.value = 0

    async def get(self):
        """Takes the next, as ints."""
        while True:
            self.ready.value = taking = not next(self.pause)
            await self.edge
            if taking and self.valid.value:
                self.ready.value = 0
                return [int(field.value) for field in self.fields]


class Bench:
    """A manager, the memory, and what passed between them."""

    def __init__(self, dut, card, memory):
        self.dut, self.edge = dut, dut.clk_i.rising_edge
        self.narrow, self.wide = int(dut.NarrowW.value) // 8, int(dut.WideW.value) // 8
        self.most = int(dut.Bursts.value)
        self.memory = bytearray(random.randbytes(MEMORY))
        self.writes, self.reads = [], []  # Bursts as the memory sees them: address and beats.
        self.owed = {"w": 0, "r": 0}  # Bursts that the manager has begun and that have not ended.
        self.full = False  # There have been as many as may be.
        self.cycle = 0
        fields = {"aw": ("addr", "len"), "w": ("data", "strb", "last"), "b": (), "ar": ("addr", "len"), "r": ("data",)}
        self.s = {name: Channel(dut, f"s_{name}", fields[name], card()) for name in fields}
        self.s["r"].fields.append(dut.s_rlast_o)
        self.m = {name: Channel(dut, f"m_{name}", fields[name], memory()) for name in fields}

    async def begin(self):
        self.dut.rst_ni.value = 0
        Clock(self.dut.clk_i, 10, "ns").start()
        await ClockCycles(self.dut.clk_i, 3)
        self.dut.rst_ni.value = 1
        to_write, to_read, written = Queue(), Queue(), Queue()
        for task in (self.requests("aw", self.writes, to_write), self.take(to_write, written), self.answer(written),
                     self.requests("ar", self.reads, to_read), self.give(to_read), self.watch()):
            cocotb.start_soon(task)

    async def requests(self, name, seen, asked):
        """Takes addresses, however much is owed."""
        while True:
            addr, beats = await self.m[name].get()
            beats += 1
            assert addr % self.wide == 0 and addr % PAGE + beats * self.wide <= PAGE
            seen.append((addr, beats))
            asked.put_nowait(range(addr, addr + beats * self.wide, self.wide))

    async def take(self, asked, written):
        while True:
            burst = await asked.get()
            for addr in burst:
                data, strobe, last = await self.m["w"].get()
                assert last == (addr == burst[-1]), "a burst's last beat is marked, and no other"
                for at, byte in enumerate(data.to_bytes(self.wide, "little")):
                    if strobe >> at & 1:
                        self.memory[addr + at] = byte
            written.put_nowait(())

    async def answer(self, written):
        while True:
            await self.m["b"].put(*await written.get())

    async def give(self, asked):
        while True:
            for at in await asked.get():
                await self.m["r"].put(int.from_bytes(self.memory[at : at + self.wide], "little"))

    async def watch(self):
        """`busy_o` says what is under way, which is never more than may be."""
        dut = self.dut
        ends = {"w": (dut.s_bvalid_o, dut.s_bready_i, None), "r": (dut.s_rvalid_o, dut.s_rready_i, dut.s_rlast_o)}
        begins = {"w": (dut.s_awvalid_i, dut.s_awready_o), "r": (dut.s_arvalid_i, dut.s_arready_o)}
        while True:
            await self.edge
            self.cycle += 1
            asked = any(valid.value for valid, _ in begins.values())
            assert dut.busy_o.value == (asked or any(self.owed.values())), self.owed
            for way in self.owed:
                valid, ready = begins[way]
                self.owed[way] += bool(valid.value and ready.value)
                valid, ready, last = ends[way]
                self.owed[way] -= bool(valid.value and ready.value and (last is None or last.value))
                assert 0 <= self.owed[way] <= self.most
                self.full |= self.owed[way] == self.most

    def wide_burst(self, addr, beats):
        """The wide beats that hold these narrow ones, and no other."""
        first, end = addr // self.wide, -(-(addr + beats * self.narrow) // self.wide)
        return first * self.wide, end - first

    def a_burst(self, base):
        """A burst of whole beats in this half of memory, often at an end of a page or of a wide beat."""
        page = base + PAGE * random.randrange(MEMORY // 2 // PAGE)
        beats = min(random.choice([1, 2, self.wide // self.narrow, random.randint(1, 40), BEATS]), PAGE // self.narrow)
        last = page + PAGE - beats * self.narrow
        aligned = random.randrange(page, last + 1, self.narrow) // self.wide * self.wide
        return random.choice([page, last, aligned, random.randrange(page, last + 1, self.narrow)]), beats


async def write_all(tb, bursts):
    """Writes these in this order, and returns memory as it has to be then."""
    shadow = bytearray(tb.memory)
    beats = deque()
    for addr, count in bursts:
        for at in range(count):
            data, strobe = random.randbytes(tb.narrow), random.choice([0, -1, random.getrandbits(tb.narrow)])
            strobe &= (1 << tb.narrow) - 1
            beats.append((int.from_bytes(data, "little"), strobe, at == count - 1))
            for byte in range(tb.narrow):
                if strobe >> byte & 1:
                    shadow[addr + at * tb.narrow + byte] = data[byte]

    async def addresses():
        for addr, count in bursts:
            await tb.s["aw"].put(addr, count - 1)

    async def data():
        for beat in beats:
            await tb.s["w"].put(*beat)

    tasks = [cocotb.start_soon(addresses()), cocotb.start_soon(data())]
    for _ in bursts:
        await tb.s["b"].get()
    for task in tasks:
        await task
    return shadow


async def read_all(tb, bursts):
    """Reads these, each in its turn."""

    async def addresses():
        for addr, count in bursts:
            await tb.s["ar"].put(addr, count - 1)

    task = cocotb.start_soon(addresses())
    for addr, count in bursts:
        for beat in range(count):
            at = addr + beat * tb.narrow
            data, last = await tb.s["r"].get()
            assert data.to_bytes(tb.narrow, "little") == tb.memory[at : at + tb.narrow], (addr, count, beat)
            assert last == (beat == count - 1)
    await task


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(pauses=[("never", "never"), ("never", "rare"), ("ragged", "never"), ("bursts", "ragged")])
async def each_byte_goes_where_it_belongs(dut, pauses):
    tb = Bench(dut, *(PAUSES[name] for name in pauses))
    await tb.begin()
    writes = [tb.a_burst(0) for _ in range(BURSTS)]
    reads = [tb.a_burst(MEMORY // 2) for _ in range(BURSTS)]
    task = cocotb.start_soon(write_all(tb, writes))
    await read_all(tb, reads)
    shadow = await task
    assert tb.memory == shadow
    assert tb.writes == [tb.wide_burst(*burst) for burst in writes]
    assert tb.reads == [tb.wide_burst(*burst) for burst in reads]
    await ClockCycles(dut.clk_i, 20)
    assert not dut.busy_o.value and not any(tb.owed.values())
    if tb.most < BURSTS and pauses[0] == "never":
        assert tb.full, "nothing was held back"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_narrow_beat_goes_through_in_every_cycle(dut):
    tb = Bench(dut, never, never)
    await tb.begin()
    beats = 200
    for base, move in ((0, write_all), (MEMORY // 2, read_all)):
        began = tb.cycle
        # From the middle of a wide beat to the middle of another.
        await move(tb, [(base + tb.narrow, beats)])
        assert tb.cycle - began <= beats + 10


@pytest.mark.parametrize("narrow,wide,bursts", [(64, 512, 64), (32, 64, 2)])
def test_rl_axi_widen(narrow, wide, bursts):
    bench("rl_axi_widen", common(), __name__, {"NarrowW": narrow, "WideW": wide, "Bursts": bursts})
