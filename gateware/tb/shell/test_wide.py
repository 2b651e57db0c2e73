"""rl_rx and rl_memory with wide words: frames back to back, the shortest and the longest, are taken and written at the
rate at which they come, and a unit without room holds up no other."""

import random
from pathlib import Path

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge
from frames import CARD, MEMORY, good
from receive import Receive
from runner import bench, rtl
from streams import keep, words
from wire import CONST

BASE = CONST.ROLE_PRIVATE
BEATS = 1 << 12
# Of the network, for 100 Gb/s at 512 bits: what a vendor's MAC gives.
CLOCK_HZ = 322.265625e6
PERIODS = (3104, 3000)
# What a frame takes on the wire beside its bytes: preamble, check sequence and gap.
WIRE = 24


class Way(Receive):
    """The bench, with the filter told."""

    def __init__(self, dut):
        super().__init__(dut, [], [CARD])
        self.sent = self.words = 0
        self.image: dict[int, int] = {}

    async def begin(self, periods=PERIODS):
        dut = self.dut
        for name in ("rx_valid", "rx_data", "rx_keep", "rx_last", "rx_bad", "filter_we", "listening", "beat",
                     "address_rest"):  # fmt: skip
            getattr(dut, f"{name}_i").value = 0
        dut.memory_i.value = MEMORY
        dut.room_control_i.value = 1
        self.tell(CARD)
        self.belongs = [[0] * 16 for _ in range(12)]
        dut.rst_net_ni.value = dut.rst_ddr_ni.value = 0
        Clock(dut.clk_net_i, periods[0], "ps").start()
        Clock(dut.clk_ddr_i, periods[1], "ps").start()
        await ClockCycles(dut.clk_net_i, 5)
        await ClockCycles(dut.clk_ddr_i, 5)
        dut.rst_net_ni.value = dut.rst_ddr_ni.value = 1
        await ClockCycles(dut.clk_net_i, 5)
        await self.listen()
        await ClockCycles(dut.clk_net_i, 10)

    async def put(self, frame: bytes, pause: int = 0, bad: bool = False):
        """Sends a frame, and then nothing for some cycles."""
        dut, edge = self.dut, self.dut.clk_net_i.rising_edge
        data, valid = words(frame, self.size), keep(frame, self.size)
        self.sent += 1
        self.words += len(data)
        dut.rx_valid_i.value = 1
        for at, word in enumerate(data):
            dut.rx_data_i.value, dut.rx_keep_i.value = word, valid[at]
            dut.rx_last_i.value = at == len(data) - 1
            dut.rx_bad_i.value = bad
            await edge
        if pause:
            dut.rx_valid_i.value = 0
            await ClockCycles(dut.clk_net_i, pause)

    async def end(self):
        """Waits until all is written; how many cycles that took."""
        dut = self.dut
        dut.rx_valid_i.value = 0
        for waited in range(0, 4000, 8):
            await ClockCycles(dut.clk_net_i, 8)
            if dut.frames_o.value == self.sent and dut.stored_o.value == dut.written_o.value and waited > 60:
                return waited
        raise AssertionError(f"{int(dut.frames_o.value)} frames of {self.sent}")

    def write(self, seq: int, addr: int, payload: bytes, arrives=True) -> bytes:
        """A write of the owner; if it arrives, what it leaves."""
        if arrives:
            self.image |= dict(zip(range(addr, addr + len(payload)), payload, strict=True))
        return good("Input.Write", seq, payload, addr=BASE + addr)

    async def check(self):
        """The memory holds what was written."""
        dut = self.dut
        for beat in sorted({at // 64 for at in self.image}):
            dut.beat_i.value = (BASE // 64 + beat) % BEATS
            await FallingEdge(dut.clk_net_i)
            got = int(dut.beat_o.value).to_bytes(64, "little")
            for at in range(64 * beat, 64 * beat + 64):
                assert at not in self.image or got[at % 64] == self.image[at], f"byte {at:#x}"


@cocotb.test()
@cocotb.parametrize(unaligned=[False, True])
async def the_shortest_frames_back_to_back(dut, unaligned):
    """One each two cycles at 512 bits, faster than 100 Gb/s bring them, and in order, which is hardest for the window."""
    way = Way(dut)
    await way.begin()
    count = 1500
    pause = max(0, 2 - -(-60 // way.size))
    for n in range(count):
        # Within a beat: what crosses into the next one takes two of them.
        addr = 64 * n + (random.randrange(36) if unaligned else 0)
        await way.put(way.write(n + 1, addr, random.randbytes(28)), pause)
    lag = await way.end()
    cycles = (int(dut.latest_o.value) - int(dut.first_o.value)) / (count - 1)
    dut._log.info(f"{8 * way.size} bits: {cycles:.2f} cycles a frame, all written {lag} cycles after the last")
    assert dut.overflows_o.value == 0 and dut.writes_o.value == count and dut.copies_o.value == 0
    # Of narrower words a beat takes several, and one that is not aligned may take one more.
    assert cycles <= max(2.2, 60 / way.size + 0.25 + (way.size < 64) * unaligned)
    assert lag < (200 if way.size == 64 else 1200)
    await way.check()


@cocotb.test()
@cocotb.parametrize(rest=[0, 7])
async def the_longest_frames_back_to_back(dut, rest):
    """A word in each cycle, without the gap that a wire leaves; the memory is a little faster. It need not take an
    address in each cycle: with the widest words a frame is one burst, or two."""
    way = Way(dut)
    if rest and way.size < 64:
        return
    await way.begin()
    dut.address_rest_i.value = rest
    count = 160
    for n in range(count):
        await way.put(way.write(n + 1, 1472 * n + 7, random.randbytes(1472)))
    lag = await way.end()
    cycles = (int(dut.latest_o.value) - int(dut.first_o.value)) / (count - 1)
    share = way.words / way.sent / cycles
    need = (CONST.HEADER_END + 1472 + WIRE) * 8 / 100e9 * CLOCK_HZ
    dut._log.info(f"{8 * way.size} bits: {share:.4f} words a cycle, {cycles:.2f} cycles a frame, 100 Gb/s leave {need:.2f}")
    assert dut.overflows_o.value == 0 and dut.writes_o.value == count
    assert share >= 0.99 and lag < 400
    assert way.size < 64 or int(dut.bursts_o.value) <= 1.5 * count
    await way.check()


@cocotb.test()
async def copies_and_broken_frames_among_others(dut):
    """At any length and any address, in an order that leaves gaps."""
    way = Way(dut)
    await way.begin((3104, 3300))
    n, seqs = 0, list(range(1, 301))
    for at in range(0, len(seqs), 8):
        part = seqs[at : at + 8]
        random.shuffle(part)
        for seq in part:
            addr, payload = 768 * (seq % 320), random.randbytes(random.choice([1, 28, 29, 63, 64, 65, 96, 700]))
            payload = payload[: 768 - 64]
            addr += random.randrange(64)
            if random.random() < 0.2:
                await way.put(way.write(seq, addr, random.randbytes(40), arrives=False), bad=True)
            await way.put(way.write(seq, addr, payload), random.choice([0, 0, 3]))
            if random.random() < 0.3:
                n += 1
                await way.put(way.write(seq, addr, random.randbytes(50), arrives=False))
    await way.end()
    assert dut.writes_o.value == 300 and dut.copies_o.value == n and n > 40 and dut.overflows_o.value == 0
    await way.check()


@cocotb.test()
async def a_unit_without_room_holds_up_no_write(dut):
    """Frames for the firmware wait in front of the ring; writes behind them go on, but behind one that may change the
    session."""
    way = Way(dut)
    await way.begin()
    dut.room_control_i.value = 0
    for _ in range(5):
        await way.put(good("Session.Ping", 1), 3)
    for n in range(200):
        await way.put(way.write(n + 1, 64 * n, random.randbytes(28)), 4)
    await way.end()
    assert dut.writes_o.value == 200 and dut.narrow_o.value == 0
    await way.put(good("Session.Claim", 1), 3)
    await way.put(way.write(201, 64 * 201, random.randbytes(28)), 200)
    assert dut.writes_o.value == 200
    dut.room_control_i.value = 1
    await way.end()
    assert dut.writes_o.value == 201 and dut.narrow_o.value == 6
    await way.check()


@cocotb.test()
@cocotb.parametrize(kind=["Input.Read", "Exec.Launch"])
async def what_is_rare_is_taken_at_64_bits(dut, kind):
    """Reads and launches back to back: as many cycles as their words of 64 bits, and as many again in which the next
    one waits for room."""
    way = Way(dut)
    await way.begin()
    count, args = 24, 4
    payload = bytes(8) if kind == "Input.Read" else bytes(16 + 8 * args)
    ends = []

    async def watch():
        for cycle in range(2000):
            await dut.clk_net_i.rising_edge
            if int(dut.narrow_o.value) > len(ends):
                ends.append(cycle)

    task = cocotb.start_soon(watch())
    for n in range(count):
        await way.put(good(kind, n + 1, payload))
    dut.rx_valid_i.value = 0
    await task
    assert len(ends) == count and dut.overflows_o.value == 0
    cycles = (ends[-1] - ends[0]) / (count - 1)
    words = (CONST.HEADER_END + len(payload)) / 8
    dut._log.info(f"{8 * way.size} bits: {kind} of {words:.0f} words of 64 bits: {cycles:.2f} cycles a frame")
    assert cycles <= 2 * words + 2


@pytest.mark.parametrize("width", [128, 512])
def test_wide(width):
    bench("wide_bench", [*rtl("common", "shell", "control"), Path(__file__).with_name("wide_bench.sv")], __name__, {"DataW": width})
