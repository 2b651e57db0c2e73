"""rl_memory_stripe: a memory of several channels is one memory, as quick as all of them."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from runner import bench, rtl
from streams import PAUSES, never

BEAT, PAGE = 64, 4096
ANSWERS = ("arready", "awready", "wready", "rvalid", "rdata", "rid", "rlast", "rresp", "bvalid", "bid", "bresp")
INPUTS = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")
OUTPUTS = ("awvalid", "awaddr", "awlen", "wvalid", "wdata", "wstrb", "wlast", "arvalid", "araddr", "arlen")
FAILS = 0x1F  # Beats whose number ends so are answered with an error.


class Channel:
    """A memory that moves a beat each so many cycles, either way, and answers after a while, some with an error."""

    def __init__(self, cycles, latency, pause, errors):
        self.cycles, self.latency, self.pause, self.errors = cycles, latency, pause, errors
        self.words: dict[int, int] = {}
        self.reads, self.answers, self.bursts, self.data = deque(), deque(), deque(), deque()
        self.cycle = self.read_next = self.write_next = 0

    def drive(self):
        self.cycle += 1
        r = self.reads[0] if self.reads and self.reads[0][0] <= self.cycle >= self.read_next else None
        b = self.answers[0] if self.answers and self.answers[0][0] <= self.cycle else None
        return {
            "arready": not next(self.pause), "awready": not next(self.pause),
            "wready": self.cycle >= self.write_next and not next(self.pause),
            "rvalid": r is not None, "rdata": self.words.get(r[1], 0) if r else 0, "rresp": self.resp(r[1]) if r else 0,
            "bvalid": b is not None, "bresp": b[1] if b else 0,
        }  # fmt: skip

    def resp(self, at):
        return 2 if self.errors and at // BEAT % 32 == FAILS else 0

    def see(self, driven, saw):
        if driven["rvalid"]:
            self.reads.popleft()
            self.read_next = self.cycle + self.cycles
        if driven["bvalid"]:
            self.answers.popleft()
        if saw["arvalid"] and driven["arready"]:
            assert saw["araddr"] % PAGE + BEAT * saw["arlen"] < PAGE
            self.reads.extend((self.cycle + self.latency, saw["araddr"] + BEAT * i) for i in range(saw["arlen"] + 1))
        if saw["awvalid"] and driven["awready"]:
            self.bursts.append((saw["awaddr"], saw["awlen"], 0))
        if saw["wvalid"] and driven["wready"]:
            self.data.append((saw["wdata"], saw["wstrb"], bool(saw["wlast"])))
            self.write_next = self.cycle + self.cycles
        while self.bursts and self.data:
            (addr, left, resp), (data, strb, last) = self.bursts.popleft(), self.data.popleft()
            assert last == (left == 0), "the last beat is marked, and no other"
            mask = sum(0xFF << 8 * i for i in range(8) if strb >> i & 1)
            self.words[addr] = self.words.get(addr, 0) & ~mask | data & mask
            resp |= self.resp(addr)
            if left:
                self.bursts.appendleft((addr + BEAT, left - 1, resp))
            else:
                self.answers.append((self.cycle + self.latency, resp))


class Stripe:
    """A manager in front, channels behind, and what the whole must be: one memory."""

    def __init__(self, dut, cycles=1, latency=30, pauses="never", errors=False):
        self.dut = dut
        pause = PAUSES[pauses] if pauses in PAUSES else never
        sizes = ("Channels", "Stripe", "Hash")
        self.count, self.stripe, self.hash = (getattr(dut, name).value.to_unsigned() for name in sizes)
        self.channels = [Channel(cycles, latency, pause(), errors) for _ in range(self.count)]
        self.takes, self.answers, self.sends = pause(), pause(), pause()
        self.memory: dict[int, int] = {}
        self.asks, self.puts = deque(), deque()
        self.ar = self.aw = self.w = None
        self.data, self.reading, self.writing = deque(), deque(), deque()
        self.read_beats = self.written_beats = 0

    def place(self, addr):
        """The channel of a byte, and its address there."""
        stripe = addr // self.stripe
        channel, rest = stripe % self.count, stripe // self.count
        while self.hash and rest:
            channel, rest = channel ^ rest % self.count, rest // self.count
        return channel, stripe // self.count * self.stripe + addr % self.stripe

    def resp(self, addr):
        channel, local = self.place(addr)
        return self.channels[channel].resp(local)

    async def start(self):
        dut = self.dut
        dut.rst_ni.value = 0
        for port in ("awvalid", "awaddr", "awlen", "awid", "wvalid", "wdata", "wstrb", "bready", "arvalid", "araddr",
                     "arlen", "arid", "rready"):  # fmt: skip
            getattr(dut, f"s_{port}_i").value = 0
        for port in INPUTS:
            getattr(dut, f"m_{port}_i").value = 0
        Clock(dut.clk_i, 2, "ns").start()
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1

    def write(self, addr, beats):
        """Queues a write of whole or partial beats."""
        self.puts.append((addr, beats - 1, random.randrange(4)))

    def read(self, addr, beats):
        self.asks.append((addr, beats - 1, random.randrange(4)))

    def drive(self):
        if self.ar is None and self.asks:
            self.ar = self.asks.popleft()
        if self.aw is None and self.puts:
            self.aw = addr, length, ident = self.puts.popleft()
            resp = 0
            for at in range(addr, addr + BEAT * (length + 1), BEAT):
                data, strb = random.getrandbits(64), random.choice([0xFF, 0xFF, random.getrandbits(8)])
                mask = sum(0xFF << 8 * i for i in range(8) if strb >> i & 1)
                self.memory[at] = self.memory.get(at, 0) & ~mask | data & mask
                self.data.append((data, strb))
                resp |= self.resp(at)
            self.writing.append((ident, resp))
        if self.w is None and self.data and not next(self.sends):
            self.w = self.data.popleft()
        ar, aw, w = self.ar or (0, 0, 0), self.aw or (0, 0, 0), self.w or (0, 0)
        return {
            "arvalid": self.ar is not None, "araddr": ar[0], "arlen": ar[1], "arid": ar[2],
            "awvalid": self.aw is not None, "awaddr": aw[0], "awlen": aw[1], "awid": aw[2],
            "wvalid": self.w is not None, "wdata": w[0], "wstrb": w[1],
            "rready": not next(self.takes), "bready": not next(self.answers),
        }  # fmt: skip

    def see(self, driven, saw):
        if driven["arvalid"] and saw["arready"]:
            addr, length, ident = self.ar
            self.reading.extend((addr + BEAT * i, ident, i == length) for i in range(length + 1))
            self.ar = None
        if driven["awvalid"] and saw["awready"]:
            self.aw = None
        if driven["wvalid"] and saw["wready"]:
            self.w = None
            self.written_beats += 1
        if saw["rvalid"] and driven["rready"]:
            addr, ident, last = self.reading.popleft()
            got = saw["rdata"], saw["rid"], bool(saw["rlast"]), saw["rresp"]
            assert got == (self.memory.get(addr, 0), ident, last, self.resp(addr)), f"{addr:#x}"
            self.read_beats += 1
        if saw["bvalid"] and driven["bready"]:
            assert (saw["bid"], saw["bresp"]) == self.writing.popleft()

    async def run(self, cycles):
        dut, n = self.dut, self.count
        widths = {"rdata": 64, "rresp": 2, "bresp": 2}
        sizes = {"awaddr": 40, "awlen": 8, "wdata": 64, "wstrb": 8, "araddr": 40, "arlen": 8}
        for _ in range(cycles):
            await FallingEdge(dut.clk_i)
            driven = self.drive()
            for port, value in driven.items():
                getattr(dut, f"s_{port}_i").value = int(value)
            given = [channel.drive() for channel in self.channels]
            for port in INPUTS:
                width = widths.get(port, 1)
                getattr(dut, f"m_{port}_i").value = sum(int(given[i][port]) << i * width for i in range(n))
            await RisingEdge(dut.clk_i)
            saw = {port: int(getattr(dut, f"s_{port}_o").value) for port in ANSWERS}
            self.see(driven, saw)
            assert int(dut.m_rready_o.value) == int(dut.m_bready_o.value) == (1 << n) - 1, "no channel waits"
            out = {port: int(getattr(dut, f"m_{port}_o").value) for port in OUTPUTS}
            for i, channel in enumerate(self.channels):
                of = {port: out[port] >> i * sizes.get(port, 1) & (1 << sizes.get(port, 1)) - 1 for port in OUTPUTS}
                channel.see(given[i], of)

    async def finish(self):
        for _ in range(200):
            await self.run(100)
            if not (self.asks or self.puts or self.data or self.reading or self.writing or self.w or self.aw):
                break
        await self.run(4)
        assert not self.reading and not self.writing and not self.dut.busy_o.value


def some_burst():
    beats = random.choice([1, 2, 3, 4, 7, 16, 64])
    return PAGE * random.randrange(64) + BEAT * random.randrange(PAGE // BEAT - beats + 1), beats


@cocotb.test()
@cocotb.parametrize((("pauses", "latency"), [("ragged", 1), ("bursts", 30), ("never", 30)]))
async def it_is_one_memory(dut, pauses, latency):
    """What is written is read again, whatever the bursts are and whoever pauses; errors go to whom they belong."""
    tb = Stripe(dut, random.choice([1, 3]), latency, pauses, errors=True)
    await tb.start()
    bursts = [some_burst() for _ in range(30)]
    for burst in bursts:
        tb.write(*burst)
    await tb.finish()
    for channel in range(tb.count):
        # Each byte is where the map says, and nowhere else.
        own = {local for where, local in map(tb.place, tb.memory) if where == channel}
        assert own == set(tb.channels[channel].words)
    for burst in bursts + [some_burst() for _ in range(10)]:
        tb.read(*burst)
    await tb.finish()
    # Both ways at the same time, in memory of which each has its own half.
    for burst in bursts:
        tb.write(burst[0] + 64 * PAGE, burst[1])
        tb.read(*burst)
    await tb.finish()


@cocotb.test()
async def all_channels_work(dut):
    """Of channels that move a beat in four cycles, N move N in four."""
    tb = Stripe(dut, cycles=4)
    await tb.start()
    beats, total = 64, 1024
    for at in range(0, total, beats):
        tb.read(BEAT * at, beats)
        tb.write(BEAT * (at + total), beats)
    await tb.run(400)
    read, written = tb.read_beats, tb.written_beats
    cycles = 400
    await tb.run(cycles)
    rates = (tb.read_beats - read) / cycles, (tb.written_beats - written) / cycles
    dut._log.info(f"{tb.count} channels, stripes of {tb.stripe} bytes: {rates[0]:.3f} and {rates[1]:.3f} beats a cycle")
    for rate in rates:
        assert rate >= 0.95 * min(1, tb.count / 4)
    await tb.finish()


@cocotb.test()
async def a_stride_meets_all_channels_when_hashed(dut):
    """Single beats a kibibyte apart: each in the same channel, or spread."""
    tb = Stripe(dut, cycles=4)
    await tb.start()
    for at in range(400):
        tb.read(1024 * at, 1)
    await tb.run(200)
    read = tb.read_beats
    await tb.run(300)
    rate = (tb.read_beats - read) / 300
    dut._log.info(f"{tb.count} channels, hashed: {tb.hash}: {rate:.3f} beats a cycle")
    if tb.hash:
        assert rate >= 0.8 * min(1, tb.count / 4)
    await tb.finish()


SIZES = [(1, 4096, 0), (2, 256, 0), (4, 4096, 0), (4, 256, 1)]


@pytest.mark.parametrize("channels,stripe,hashed", SIZES)
def test_rl_memory_stripe(channels, stripe, hashed):
    buffer = 2 * stripe // 64 if stripe > 2048 else 64
    parameters = {"DataW": 64, "Channels": channels, "Stripe": stripe, "Hash": hashed, "ReadBuffer": buffer,
                  "WriteBuffer": 64 if stripe > 2048 else 16}  # fmt: skip
    bench("rl_memory_stripe", rtl("memory"), __name__, parameters)
