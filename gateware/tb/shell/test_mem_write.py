"""rl_mem_write and rl_ddr_write: writes reach DDR each once, whatever their order, length and address; at full rate and
within the promised latency; and what else is written to DDR: image chunks, chaining values, zeros."""

import random
from pathlib import Path

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiBus, AxiRamWrite
from rx_stream import STORE, RxStream, RxFrame, packed
from golden import Arrival, Sack
from runner import bench, rtl
from slave import ReadySlave
from streams import CLOCK_PAIRS, PAUSES, bursts, pause_channels

TB = Path(__file__).parent
MEMORY = 1 << 20
ACK_NOW = 2
# Of both clocks, where they are equal, in picoseconds.
PERIOD = 6400


class Bench:
    def __init__(self, dut):
        self.dut = dut

    async def start(self, periods=(6400, 6400)):
        dut = self.dut
        for handle in (
            *(dut.rx_beat, dut.reset_window, dut.insert, dut.insert_seq, dut.insert_ack_now, dut.time_us, dut.acked),
            *(dut.bits_addr, dut.image_valid, dut.image_desc, dut.image_data, dut.value_valid, dut.value_addr),
            *(dut.value_data, dut.value_more, dut.scrub, dut.scrub_first, dut.scrub_last, dut.rst_net_n, dut.rst_ddr_n),
            *(dut.axi_awready, dut.axi_wready, dut.axi_bvalid, dut.axi_bresp, dut.axi_bid),
        ):
            handle.value = 0
        dut.ack_every.value = 16
        dut.ack_delay.value = 20
        Clock(dut.clk_net, periods[0], "ps").start()
        Clock(dut.clk_ddr, periods[1], "ps").start()
        await ClockCycles(dut.clk_net, 4)
        await ClockCycles(dut.clk_ddr, 4)
        await FallingEdge(dut.clk_net)
        dut.rst_net_n.value = 1
        dut.rst_ddr_n.value = 1
        self.rx_beat = RxStream(dut.clk_net, dut.rx_beat, dut.room)
        await self.rx_beat.idle(20)

    def ram(self, share):
        """A DDR behind cocotbext-axi's model, whose channels pause in this share of the cycles."""
        bus = AxiBus.from_prefix(self.dut, "axi")
        ram = AxiRamWrite(bus.write, self.dut.clk_ddr, self.dut.rst_ddr_n, reset_active_level=False, size=MEMORY)
        cocotb.start_soon(pause_channels(self.dut.clk_ddr, (ram.aw_channel, ram.w_channel, ram.b_channel), share))
        return ram

    async def settle(self):
        """Waits until all frames are judged, and those stored are in memory."""
        await self.rx_beat.idle(8)
        for _ in range(20_000):
            await ClockCycles(self.dut.clk_ddr, 1)
            gray = int(self.dut.mem_written_gray.value)
            written = gray ^ gray >> 1 ^ gray >> 2 ^ gray >> 3 ^ gray >> 4 ^ gray >> 5 ^ gray >> 6 ^ gray >> 7
            if written == int(self.dut.stored.value):
                return
        raise AssertionError("not all frames were written")

    async def bits(self):
        """The window's ring, as one number."""
        out = 0
        for at in range(8):
            self.dut.bits_addr.value = at
            await FallingEdge(self.dut.clk_net)
            out |= int(self.dut.bits.value) << 32 * at
        return out


def write(seq, addr, payload, **fields):
    return RxFrame("write", payload, fields={"seq": seq, "addr": addr, **fields})


def some_length(bulk):
    return min(bulk, random.choice([0, 1, 7, 8, 9, 28, 63, 64, 65, bulk - 1, bulk, random.randint(0, bulk)]))


@cocotb.test()
@cocotb.parametrize(periods=CLOCK_PAIRS, stall=[0.1, 0.6])
async def memory_holds_what_was_written(dut, periods, stall):
    tb = Bench(dut)
    ram = tb.ram(stall)
    await tb.start(periods)
    bulk = dut.Bulk.value.to_unsigned()
    image = bytearray(MEMORY)
    sack = Sack(1)
    expected = dict.fromkeys(Arrival, 0)
    frames = []
    for _ in range(100):
        seq = (sack.next + random.choice([0, 0, 0, 1, 2, random.randint(-3, 20), 256, 257])) % (1 << 32)
        payload = random.randbytes(some_length(bulk))
        addr = random.choice([random.randrange(MEMORY - bulk), random.randrange(256)])
        frame = write(seq, addr, payload)
        frame.abort = random.random() < 0.1
        frames.append(frame)
        if random.random() < 0.2:
            # Other blocks' frames go by.
            frames.append(RxFrame(random.choice(["control", "read", "image", "drop"]), random.randbytes(24)))
        if frame.abort:
            continue
        arrival = sack.insert(seq)
        expected[arrival] += 1
        if arrival == Arrival.NEW:
            image[addr : addr + len(payload)] = payload
    await tb.rx_beat.send(frames, PAUSES[random.choice(list(PAUSES))]())
    await tb.rx_beat.idle(600)
    await tb.settle()
    assert int(dut.next.value) == sack.next
    assert await tb.bits() == sack.ring()
    assert dut.write_count.value == expected[Arrival.NEW]
    assert dut.duplicate_count.value == expected[Arrival.DUPLICATE]
    assert dut.beyond_count.value == expected[Arrival.BEYOND]
    got = ram.read(0, MEMORY)
    wrong = next((at for at in range(MEMORY) if got[at] != image[at]), None)
    assert wrong is None, f"byte {wrong:#x}"
    assert not dut.failed.value


@cocotb.test()
async def the_window_closes_long_gaps(dut):
    """A gap that closes with 255 numbers beyond it holds up the next frame, which is judged by the window as it is
    then."""
    tb = Bench(dut)
    slave = ReadySlave(dut)
    await tb.start()
    sack = Sack(1)
    frames = []
    for seq in [*range(2, 257), 1, 257 + 256, 257, 257 + 257, 258, 257 + 300]:
        sack.insert(seq)
        frames.append(write(seq, 8 * seq, seq.to_bytes(8, "little"), flags=0))
    await tb.rx_beat.send(frames)
    await tb.rx_beat.idle(20)
    # With wide words it stands in line, and the receive stream goes on.
    assert tb.rx_beat.waits > 200 or len(dut.image_data) > 64
    await tb.rx_beat.idle(300)
    await tb.settle()
    assert int(dut.next.value) == sack.next == 259
    assert await tb.bits() == sack.ring()
    for seq in [*range(1, 259), 513, 514]:
        assert slave.read(8 * seq, 8) == seq.to_bytes(8, "little"), seq
    assert slave.read(8 * 557, 8) == bytes(8)


@cocotb.test()
async def the_firmware_inserts_between_frames(dut):
    tb = Bench(dut)
    slave = ReadySlave(dut)
    await tb.start()
    sack = Sack(1)
    refused = set(random.sample(range(1, 200), 40))
    results = []

    async def firmware():
        for seq in sorted(refused):
            await ClockCycles(dut.clk_net, random.randint(1, 30))
            await FallingEdge(dut.clk_net)
            # The second time it is a duplicate; the others are far before and beyond the window.
            for number in (seq, seq, seq - 1024, seq + 1024):
                dut.insert_seq.value = number % 4096
                dut.insert.value = 1
                await FallingEdge(dut.clk_net)
                dut.insert.value = 0
                while dut.insert_busy.value:
                    await FallingEdge(dut.clk_net)
                results.append(int(dut.insert_result.value))

    task = cocotb.start_soon(firmware())
    frames = [write(seq, 64 * seq, bytes([seq]) * 28) for seq in range(1, 200) if seq not in refused]
    await tb.rx_beat.send(frames, bursts(60, 10))
    await tb.rx_beat.idle(2)
    await task
    await tb.rx_beat.idle(300)
    await tb.settle()
    for seq in range(1, 200):
        sack.insert(seq)
        assert slave.read(64 * seq, 28) == (bytes(28) if seq in refused else bytes([seq]) * 28)
    assert results == [0, 1, 1, 2] * len(refused)
    assert int(dut.next.value) == sack.next == 200
    assert await tb.bits() == 0


@cocotb.test()
async def acknowledgements_fall_due_as_the_model_has_it(dut):
    tb = Bench(dut)
    ReadySlave(dut)
    await tb.start()

    async def send(*frames):
        await tb.rx_beat.send([write(seq, 0, b"", flags=flags) for seq, flags in frames])
        await tb.rx_beat.idle(6)
        return bool(dut.ack_due.value)

    async def ticks(count):
        for _ in range(count):
            dut.time_us.value = (int(dut.time_us.value) + 1) % 65536
            await tb.rx_beat.idle(4)
        return bool(dut.ack_due.value)

    async def ack():
        dut.acked.value = 1
        await tb.rx_beat.idle()
        dut.acked.value = 0
        await tb.rx_beat.idle()
        assert not dut.ack_due.value

    # The sixteenth in order.
    assert not await send(*[(seq, 0) for seq in range(1, 16)])
    assert await send((16, 0))
    await ack()
    # After the delay, from the first on.
    assert not await ticks(40)
    assert not await send((17, 0))
    assert not await ticks(10)
    assert not await send((18, 0))
    assert not await ticks(9)
    assert await ticks(1)
    await ack()
    # On request, out of order, there already, beyond the window.
    assert await send((19, ACK_NOW))
    await ack()
    assert await send((21, 0))
    await ack()
    assert await send((20, 0)) is False
    await ack()
    assert await send((3, 0))
    await ack()
    assert await send((22 + 257, 0))
    await ack()
    # A new claim knows nothing of the old.
    assert await send((22, ACK_NOW))
    dut.reset_window.value = 1
    await tb.rx_beat.idle()
    dut.reset_window.value = 0
    await tb.rx_beat.idle(10)
    assert not dut.ack_due.value and int(dut.next.value) == 1
    assert not await send((1, 0))


@cocotb.test()
@cocotb.parametrize(length=[28, 24, 1472])
async def a_word_each_cycle(dut, length):
    """Frames back to back for a few thousand cycles, to any addresses: the receive stream never waits, and memory keeps up."""
    if length > dut.Bulk.value.to_unsigned():
        return
    tb = Bench(dut)
    slave = ReadySlave(dut)
    await tb.start()
    length = min(length, dut.Bulk.value.to_unsigned())
    words = 4 + max(4, (length + 7) // 8)
    count = 4000 // words
    payloads = [random.randbytes(length) for _ in range(count)]
    addrs = [2048 * at + random.randrange(64) for at in range(count)]
    start = tb.rx_beat.cycles
    await tb.rx_beat.send([write(1 + at, addrs[at], payloads[at]) for at in range(count)])
    taken, end = tb.rx_beat.cycles - start, get_sim_time("ps")
    await tb.settle()
    lag = (slave.writes[-1] - end) / PERIOD
    dut._log.info(f"{count} x {length} bytes: {count * words} words in {taken} cycles, last beat {lag:.0f} later")
    assert tb.rx_beat.waits == 0 and taken == count * words
    # A frame waits for its own end, and for no other.
    assert lag <= words + 20
    for addr, payload in zip(addrs, payloads, strict=True):
        assert slave.read(addr, length) == payload


@cocotb.test()
async def a_short_write_is_soon_on_the_bus(dut):
    """From the cycle of rx_beat.done to that of AWVALID and WVALID: at most 20, clocks being equal."""
    tb = Bench(dut)
    slave = ReadySlave(dut)
    await tb.start()
    longest = 0
    for seq in range(1, 101):
        await tb.rx_beat.send([write(seq, random.randrange(4096), random.randbytes(28))])
        end = get_sim_time("ps")
        await tb.rx_beat.idle(random.randint(30, 60))
        longest = max(longest, 1 + (slave.writes[-1] - end) // PERIOD)
        # The cycle of done ended half a cycle ago: whole cycles are between the two.
    dut._log.info(f"done to AWVALID and WVALID: {longest} cycles at most")
    assert longest <= 20


@cocotb.test()
async def others_write_too(dut):
    """Image chunks, chaining values and writes side by side; and then zeros."""
    tb = Bench(dut)
    ram = tb.ram(0.3)
    await tb.start()
    image = bytearray(MEMORY)
    clock = dut.clk_ddr
    bulk = dut.Bulk.value.to_unsigned()

    async def chunks(count):
        for at in range(count):
            length = min(bulk, random.choice([64, 1, 65, 1472]))
            data = random.randbytes(length)
            addr = 0x40000 + at * 1472 // 64 * 64
            image[addr : addr + length] = data
            size = len(dut.image_data) // 8
            words = [int.from_bytes(data[i : i + size], "little") for i in range(0, length, size)]
            dut.image_desc.value = packed(STORE, addr=addr, length=length)
            dut.image_valid.value = 1
            done = False
            while not done:
                dut.image_data.value = words[0] if words else 0
                await ReadOnly()
                done = bool(dut.image_done.value)
                if dut.image_take.value:
                    words.pop(0)
                await FallingEdge(clock)
            assert not words
            dut.image_valid.value = 0
            for _ in range(random.choice([0, 0, 20])):
                await FallingEdge(clock)

    runs = 0

    async def values(count):
        nonlocal runs
        for at in range(count):
            more = at < count - 1 and random.random() < 0.5
            runs += not more
            data = random.randbytes(32)
            addr = 0x80000 + 32 * at
            image[addr : addr + 32] = data
            dut.value_addr.value = addr
            for i in range(0, 32, 8):
                dut.value_valid.value = random.random() < 0.8
                dut.value_data.value = int.from_bytes(data[i : i + 8], "little")
                dut.value_more.value = more if i == 24 else random.random() < 0.5
                taken = False
                while not taken:
                    await ReadOnly()
                    taken = bool(dut.value_ready.value and dut.value_valid.value)
                    await FallingEdge(clock)
                    dut.value_valid.value = 1
            if not more:
                dut.value_valid.value = 0
                for _ in range(random.choice([0, 100])):
                    await FallingEdge(clock)

    await FallingEdge(clock)
    tasks = [cocotb.start_soon(chunks(60)), cocotb.start_soon(values(40))]
    frames = []
    for seq in range(1, 61):
        data = random.randbytes(random.randint(1, min(bulk, 300)))
        addr = random.randrange(0x20000)
        image[addr : addr + len(data)] = data
        frames.append(write(seq, addr, data))
    await tb.rx_beat.send(frames, bursts(100, 50))
    await tb.rx_beat.idle()
    for task in tasks:
        await task
    await tb.settle()
    await ClockCycles(clock, 200)
    assert ram.read(0, MEMORY) == image
    assert dut.value_count.value == runs
    assert int(dut.image_written_gray.value) == 60 ^ 60 >> 1

    first, last = 0x10000 // 64, 0x41000 // 64
    await FallingEdge(clock)
    dut.scrub_first.value, dut.scrub_last.value, dut.scrub.value = first, last, 1
    while not dut.scrub_done.value:
        await FallingEdge(clock)
    image[64 * first : 64 * (last + 1)] = bytes(64 * (last + 1 - first))
    assert ram.read(0, MEMORY) == image
    dut.scrub.value = 0
    await FallingEdge(clock)
    await FallingEdge(clock)
    assert not dut.scrub_done.value
    # And it writes what comes after.
    await tb.rx_beat.send([write(61, 0x10001, b"after")])
    await tb.settle()
    assert ram.read(0x10000, 8) == b"\0after\0\0"


@cocotb.test()
async def after_an_error_no_frame_counts_as_written(dut):
    tb = Bench(dut)
    memory = ReadySlave(dut)
    await tb.start()
    await tb.rx_beat.send([write(1, 0x1000, b"fine")])
    await tb.settle()
    assert not dut.failed.value
    memory.failing.add(0x2000)
    # The first frame's last beat is good, as are the others after it.
    await tb.rx_beat.send([write(2, 0x1FFC, bytes(12)), write(3, 0x3000, b"late"), write(4, 0x3100, b"late")])
    await ClockCycles(dut.clk_ddr, 400)
    assert dut.failed.value
    assert (int(dut.stored.value), int(dut.mem_written_gray.value)) == (4, 1)


@cocotb.test()
async def after_an_error_zeroing_ends_and_is_not_done(dut):
    tb = Bench(dut)
    memory = ReadySlave(dut)
    await tb.start()
    memory.failing.add(64 * 100)
    dut.scrub_first.value = 0
    dut.scrub_last.value = MEMORY // 64 - 1
    await FallingEdge(dut.clk_ddr)
    dut.scrub.value = 1
    await ClockCycles(dut.clk_ddr, 1000)
    assert dut.failed.value and not dut.scrub_done.value
    # Those that were under way when the answer came.
    assert 100 < len(memory.writes) < 200


@pytest.mark.parametrize("width,bulk", [(64, 1472), (64, 64), (128, 1472), (256, 64), (512, 1472)])
def test_mem_write(width, bulk):
    sources = [*rtl("common", "shell"), TB / "mem_write_bench.sv"]
    bench("mem_write_bench", sources, __name__, {"DataW": width, "Bulk": bulk})
