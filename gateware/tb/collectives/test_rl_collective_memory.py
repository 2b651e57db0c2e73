"""rl_collective_memory: each port has its own bytes and its own answers, in order; none waits for ever; a stop is clean."""

import random
from collections import deque
from pathlib import Path

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge
from runner import bench, common, rtl
from streams import CLOCK_PAIRS, sometimes

WORD = 64  # Bytes of a word of memory.
PART = 8192  # Each port writes so many bytes, and reads the same number that nobody writes.
PAGE = 4096  # No burst goes beyond one.
SLVERR = 2


class Port:
    """Asks for random bursts, and checks what comes."""

    def __init__(self, number, width, rng, longest=16, idle=0.5):
        self.rng, self.bytes, self.longest = rng, width // 8, longest
        self.base = 2 * PART * number
        self.idles, self.holds = sometimes(idle), sometimes(0.3)
        self.read_from = rng.randbytes(PART)
        self.written = bytearray(PART)
        self.aw = self.ar = None
        self.beats = deque()  # Of the writes that were asked for: data, strobes, last.
        self.unanswered, self.expected = 0, deque()
        self.asks, self.offers = True, False
        self.writes = self.reads = self.failures = 0

    def burst(self):
        beats = self.rng.randint(1, self.longest)
        size = beats * self.bytes
        page = self.rng.randrange(PART // PAGE) * PAGE
        return page + self.rng.randrange((PAGE - size) // self.bytes + 1) * self.bytes, beats

    def new_write(self):
        at, beats = self.burst()
        self.aw = self.base + at, beats - 1
        for beat in range(beats):
            data, strobes = self.rng.randbytes(self.bytes), self.rng.getrandbits(self.bytes)
            for i in range(self.bytes):
                if strobes >> i & 1:
                    self.written[at + beat * self.bytes + i] = data[i]
            self.beats.append((int.from_bytes(data, "little"), strobes, beat == beats - 1))

    def drive(self):
        """What it offers in this cycle."""
        if self.asks and self.aw is None and not self.beats and not next(self.idles):
            self.new_write()
        if self.asks and self.ar is None and not next(self.idles):
            at, beats = self.burst()
            self.ar = self.base + PART + at, beats - 1
            words = [self.read_from[at + i * self.bytes :][: self.bytes] for i in range(beats)]
            self.asked = [(int.from_bytes(word, "little"), i == beats - 1) for i, word in enumerate(words)]
        # What was offered stays until it is taken.
        self.offers = self.offers or (bool(self.beats) and not next(self.holds))
        data, strobes, last = self.beats[0] if self.offers else (0, 0, self.rng.random() < 0.5)
        aw, ar = self.aw or (0, 0), self.ar or (0, 0)
        return {
            "aw_valid": self.aw is not None, "aw_addr": aw[0], "aw_len": aw[1], "w_valid": self.offers, "w_data": data,
            "w_strb": strobes, "w_last": last, "ar_valid": self.ar is not None, "ar_addr": ar[0], "ar_len": ar[1],
        }

    def see(self, gave, saw):
        if gave["aw_valid"] and saw["aw_ready"]:
            self.aw = None
            self.unanswered += 1
        if gave["w_valid"] and saw["w_ready"]:
            self.beats.popleft()
            self.offers = False
        if gave["ar_valid"] and saw["ar_ready"]:
            self.ar = None
            self.expected.extend(self.asked)
        if saw["b_valid"]:
            assert self.unanswered > 0, "an answer that is another port's"
            self.unanswered -= 1
            self.writes += 1
            self.failures += saw["b_resp"] == SLVERR
        if saw["r_valid"]:
            assert self.expected, "bytes that are another port's"
            data, last = self.expected.popleft()
            assert saw["r_last"] == last
            if saw["r_resp"] == SLVERR:
                self.failures += 1
            else:
                assert saw["r_data"] == data
            self.reads += last

    @property
    def under_way(self):
        """Whether something that has begun has not ended."""
        return self.unanswered > 0 or len(self.expected) > 0

    @property
    def is_idle(self):
        return self.aw is None and self.ar is None and not self.beats and not self.under_way


class Bench:
    """The ports around the module, at its clock."""

    def __init__(self, dut, ports):
        self.dut, self.ports = dut, ports
        self.width = dut.DataW.value.to_unsigned()

    async def start(self, periods=(6400, 3000), latency=10, pause=60):
        dut = self.dut
        for name in ("stop", "poke", "fails", "aw_valid", "w_valid", "ar_valid"):
            getattr(dut, f"{name}_i").value = 0
        dut.latency_i.value, dut.pause_i.value = latency, pause
        dut.rst_ni.value = dut.rst_ddr_ni.value = 0
        Clock(dut.clk_i, periods[0], "ps").start()
        Clock(dut.clk_ddr_i, periods[1], "ps").start()
        await ClockCycles(dut.clk_i, 4)
        await ClockCycles(dut.clk_ddr_i, 4)
        for port in self.ports:
            await self.put(port.base, bytes(PART))
            await self.put(port.base + PART, port.read_from)
        dut.rst_ni.value = dut.rst_ddr_ni.value = 1
        cocotb.start_soon(self.run())

    async def put(self, at, content):
        dut = self.dut
        dut.poke_i.value = 1
        for word in range(0, len(content), WORD):
            dut.at_i.value = (at + word) // WORD
            dut.poke_data_i.value = int.from_bytes(content[word : word + WORD], "little")
            await RisingEdge(dut.clk_ddr_i)
            await FallingEdge(dut.clk_ddr_i)
        dut.poke_i.value = 0

    async def get(self, at, length):
        dut, content = self.dut, b""
        for word in range(0, length, WORD):
            dut.at_i.value = (at + word) // WORD
            await FallingEdge(dut.clk_ddr_i)
            content += int(dut.peek_data_o.value).to_bytes(WORD, "little")
        return content

    def field(self, name, number):
        """A port's part of what the module gives."""
        signal = getattr(self.dut, f"{name}_o").value
        size = len(signal) // len(self.ports)
        return int(signal) >> number * size & (1 << size) - 1

    async def run(self):
        dut = self.dut
        gives = ("aw_ready", "w_ready", "b_valid", "b_resp", "ar_ready", "r_valid", "r_data", "r_resp", "r_last")
        while True:
            await FallingEdge(dut.clk_i)
            driven = [port.drive() for port in self.ports]
            for name in driven[0]:
                signal = getattr(dut, f"{name}_i")
                size = len(signal) // len(self.ports)
                signal.value = sum(int(fields[name]) << i * size for i, fields in enumerate(driven))
            await ReadOnly()
            saw = [{name: self.field(name, i) for name in gives} for i in range(len(self.ports))]
            await RisingEdge(dut.clk_i)
            for port, gave, came in zip(self.ports, driven, saw, strict=True):
                port.see(gave, came)

    async def until(self, condition, cycles=4000):
        for _ in range(cycles):
            await RisingEdge(self.dut.clk_i)
            if condition():
                return
        raise AssertionError("it takes too long")

    async def finish(self):
        """All that was asked for ends, and memory is as it has to be."""
        for port in self.ports:
            port.asks = False
        await self.until(lambda: all(port.is_idle for port in self.ports))
        await self.until(lambda: not self.dut.busy_o.value)
        for port in self.ports:
            assert await self.get(port.base, PART) == bytes(port.written)
            assert await self.get(port.base + PART, PART) == port.read_from
        assert not self.dut.wrong_o.value


def made(dut, **kinds):
    rng = random.Random(cocotb.RANDOM_SEED)
    width = dut.DataW.value.to_unsigned()
    return Bench(dut, [Port(i, width, rng, **kinds) for i in range(dut.Ports.value.to_unsigned())])


@cocotb.test()
@cocotb.parametrize(periods=CLOCK_PAIRS, pause=[0, 100])
async def each_port_has_its_own_bytes_and_answers(dut, periods, pause):
    bench = made(dut)
    await bench.start(periods, pause=pause)
    await bench.until(lambda: all(min(port.reads, port.writes) >= 40 for port in bench.ports), 20_000)
    await bench.finish()
    assert not dut.failed_o.value and all(port.failures == 0 for port in bench.ports)


@cocotb.test()
async def ports_that_always_ask_leave_the_others_their_turn(dut):
    bench = made(dut, longest=4, idle=0.0)
    await bench.start(latency=4, pause=0)
    await bench.until(lambda: sum(port.writes for port in bench.ports) >= 300, 20_000)
    await bench.finish()
    for kind in ("reads", "writes"):
        counts = [getattr(port, kind) for port in bench.ports]
        assert max(counts) <= 1.05 * min(counts) + 2, f"{kind}: {counts}"


@cocotb.test()
async def nothing_begins_after_a_stop_and_what_has_begun_ends(dut):
    bench = made(dut, idle=0.0)
    await bench.start(latency=30)
    for _ in range(6):
        await bench.until(lambda: all(port.under_way for port in bench.ports))
        await FallingEdge(dut.clk_i)
        dut.stop_i.value = 1
        await RisingEdge(dut.clk_i)
        begun = [(port.unanswered + port.writes) for port in bench.ports]
        await bench.until(lambda: not dut.busy_o.value)
        assert not any(port.under_way for port in bench.ports)
        assert [port.writes for port in bench.ports] == begun
        await ClockCycles(dut.clk_i, 50)
        assert not dut.busy_o.value and not any(port.under_way for port in bench.ports)
        await FallingEdge(dut.clk_i)
        dut.stop_i.value = 0
    await bench.finish()


@cocotb.test()
async def who_asked_learns_what_memory_could_not_do(dut):
    bench = made(dut)
    await bench.start()
    await bench.until(lambda: all(port.writes >= 4 for port in bench.ports))
    assert not dut.failed_o.value
    await FallingEdge(dut.clk_ddr_i)
    dut.fails_i.value = 1
    await bench.until(lambda: all(port.failures >= 4 for port in bench.ports))
    assert dut.failed_o.value
    for port in bench.ports:
        port.asks = False
    await bench.until(lambda: all(port.is_idle for port in bench.ports))
    assert dut.failed_o.value, "until a reset"


@pytest.mark.parametrize("ports,width", [(3, 64), (2, 256)])
def test_rl_collective_memory(ports, width):
    here = Path(__file__).parent
    memory = here.parent / "bridge" / "bridge_memory.sv"
    sources = [*common(), *rtl("memory", "bridge", "collectives"), memory, here / "rl_collective_memory_tb.sv"]
    bench("rl_collective_memory_tb", sources, __name__, {"Ports": ports, "DataW": width})
