"""rl_image_write: image chunks in any order, each once, to their place in DDR; what is missing; and the blocks of 64 KiB that
are whole, told when they are in DDR and not before."""

import random
from collections import Counter
from pathlib import Path

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotbext.axi import AxiBus, AxiRamWrite
from rx_stream import RxStream, RxFrame
from runner import bench, rtl
from slave import ReadySlave
from streams import CLOCK_PAIRS, bursts, never, pause_channels, sometimes

TB = Path(__file__).parent
PERIOD = 6400
MEMORY = 1 << 21
BASE = 0x40000
BLOCK = 1 << 16


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.told = []
        self.counted = Counter()  # Before the present load.

    async def start(self, periods=(PERIOD, PERIOD)):
        dut = self.dut
        for handle in (
            *(dut.rx_beat, dut.start, dut.base, dut.last, dut.last_length, dut.empty, dut.chunk, dut.bits_addr),
            *(dut.block_pop, dut.rst_net_n, dut.rst_ddr_n),
            *(dut.axi_awready, dut.axi_wready, dut.axi_bvalid, dut.axi_bresp),
        ):
            handle.value = 0
        dut.receiving.value = 1
        Clock(dut.clk_net, periods[0], "ps").start()
        Clock(dut.clk_ddr, periods[1], "ps").start()
        await ClockCycles(dut.clk_net, 4)
        await ClockCycles(dut.clk_ddr, 4)
        await FallingEdge(dut.clk_net)
        dut.rst_net_n.value = dut.rst_ddr_n.value = 1
        self.rx_beat = RxStream(dut.clk_net, dut.rx_beat, dut.room)
        await self.rx_beat.idle(20)

    def ram(self, share):
        bus = AxiBus.from_prefix(self.dut, "axi")
        ram = AxiRamWrite(bus.write, self.dut.clk_ddr, self.dut.rst_ddr_n, reset_active_level=False, size=MEMORY)
        cocotb.start_soon(pause_channels(self.dut.clk_ddr, (ram.aw_channel, ram.w_channel, ram.b_channel), share))
        return ram

    def count(self):
        """Events since the reset."""
        dut = self.dut
        ports = {"chunk": dut.chunk_count, "duplicate": dut.duplicate_count, "malformed": dut.malformed_count}
        return Counter({name: int(port.value) for name, port in ports.items()})

    @property
    def counts(self):
        """Events of the present load."""
        return self.count() - self.counted

    async def load(self, image, chunk, base=BASE):
        """A new load of this image; waits until it is ready for data."""
        dut = self.dut
        last, last_byte = divmod(len(image) - 1, chunk)
        dut.base.value, dut.chunk.value, dut.last.value, dut.last_length.value = base // 64, chunk, last, last_byte + 1
        dut.empty.value = max(last // 4, (len(image) - 1) // BLOCK)
        self.chunks, self.before = last + 1, int(dut.staged.value)
        await self.rx_beat.idle()
        dut.start.value = 1
        await self.rx_beat.idle()
        dut.start.value = 0
        await self.rx_beat.idle()
        while dut.busy.value:
            await self.rx_beat.idle()
        self.counted = self.count()
        self.told.clear()

    def missing(self):
        """Chunks of the load that are missing, as the firmware works it out."""
        staged = self.dut.staged
        return self.chunks - (int(staged.value) - self.before) % (1 << len(staged))

    async def take_blocks(self, memory, image, pause, base=BASE):
        """Takes the blocks that are announced, and sees that all their bytes are in memory."""
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_net)
            dut.block_pop.value = 0
            if not dut.block_valid.value:
                await RisingEdge(dut.block_valid)
            elif not next(pause):
                block = int(dut.block.value)
                span = image[BLOCK * block : BLOCK * (block + 1)]
                assert memory.read(base + BLOCK * block, len(span)) == span, f"block {block} is announced too soon"
                self.told.append(block)
                dut.block_pop.value = 1

    async def have(self, chunks):
        """The set of chunks that are there, as the firmware reads it."""
        dut = self.dut
        out = set()
        for word in range((chunks + 31) // 32):
            dut.bits_addr.value = word
            await FallingEdge(dut.clk_net)
            bits = int(dut.bits.value)
            out |= {32 * word + at for at in range(32) if bits >> at & 1}
        return {index for index in out if index < chunks}


def data(image, offset, length, abort=False):
    return RxFrame("image", image[offset : offset + length].ljust(length, b"\x55"), abort, fields={"addr": offset})


def chunk_frames(image, chunk):
    return [data(image, at, min(chunk, len(image) - at)) for at in range(0, len(image), chunk)]


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize((("periods", "order"), list(zip(CLOCK_PAIRS, ["straight", "shuffled"] * 2, strict=True))))
async def an_image_gets_there_whatever_the_order(dut, periods, order):
    tb = Bench(dut)
    ram = tb.ram(0.1)
    await tb.start(periods)
    bulk = dut.Bulk.value.to_unsigned()
    # Then images with blocks that end within chunks: the last chunk is all of the last block, of which it fills less
    # than a beat, or some; ends with a block; or starts in the last one.
    loads = [(1, 64), (bulk, bulk), (64 * 70, 64)]
    loads += [(BLOCK + more, min(bulk, 1472)) for more in (10, 200, 0, 3000)]
    for length, chunk in loads:
        image = random.randbytes(length)
        blocks = cocotb.start_soon(tb.take_blocks(ram, image, sometimes(0.5)))
        await tb.load(image, chunk)
        frames = chunk_frames(image, chunk)
        chunks = len(frames)
        assert tb.missing() == chunks and not await tb.have(chunks)
        if order == "shuffled":
            random.shuffle(frames)
        # Half of it, some twice, some damaged, and what is no chunk; then the rest.
        half = frames[: chunks // 2]
        there = {frame.fields["addr"] // chunk for frame in half}
        bad = [
            data(image, random.randrange(chunks) * chunk + 64 * chunk, min(64, chunk - 1)),
            data(image, 1, chunk),
            data(image, chunks * chunk, chunk),
            data(image, (chunks - 1) * chunk, (length - 1) % chunk + 2),
            data(image, 1 << 28, chunk),
            data(image, 1 << 63, chunk),
            data(image, 0, 0),
            data(image, 0, chunk + 64),
            data(image, 0, 9024),
        ]
        again = random.sample(half, min(8, len(half)))
        aborted = [data(image, frame.fields["addr"], len(frame.payload), True) for frame in frames[-3:]]
        others = [RxFrame(route, random.randbytes(40)) for route in ("write", "control", "read")]
        extra = bad + again + aborted + others
        random.shuffle(extra)
        await tb.rx_beat.send(half + extra, bursts(200, 20))
        await tb.rx_beat.idle(60)
        assert tb.missing() == chunks - len(half)
        assert await tb.have(chunks) == there
        assert tb.counts == Counter(chunk=len(half), duplicate=len(again), malformed=len(bad))
        await tb.rx_beat.send(frames[chunks // 2 :], bursts(200, 20))
        await tb.rx_beat.idle(60)
        assert tb.missing() == 0 and tb.counts["chunk"] == chunks
        count = (length + BLOCK - 1) // BLOCK
        for _ in range(20_000):
            if len(tb.told) == count:
                break
            await tb.rx_beat.idle()
        assert sorted(tb.told) == list(range(count))
        assert ram.read(BASE, length) == image
        blocks.cancel()
        await FallingEdge(dut.clk_net)
        dut.block_pop.value = 0


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(chunk=[64, 1472])
async def chunks_in_order_keep_up(dut, chunk):
    tb = Bench(dut)
    slave = ReadySlave(dut)
    await tb.start()
    chunk = min(chunk, dut.Bulk.value.to_unsigned())
    image = random.randbytes(BLOCK)
    await tb.load(image, chunk)
    cocotb.start_soon(tb.take_blocks(slave, image, never()))
    start = tb.rx_beat.cycles
    frames = chunk_frames(image, chunk)
    await tb.rx_beat.send(frames)
    dut._log.info(f"{len(frames)} chunks of {chunk}: {tb.rx_beat.waits} of {tb.rx_beat.cycles - start} cycles waited")
    assert tb.rx_beat.waits == 0
    await tb.rx_beat.idle(400)
    assert tb.told == [0] and slave.read(BASE, len(image)) == image


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def without_a_pop_blocks_wait_and_none_is_lost(dut):
    """More blocks than can be told are whole before the firmware looks: staging waits for it."""
    tb = Bench(dut)
    slave = ReadySlave(dut)
    await tb.start()
    chunk = dut.Bulk.value.to_unsigned()
    blocks = dut.Blocks.value.to_unsigned()
    if blocks > 4:
        return  # It would take long.
    image = random.randbytes(2 * blocks * BLOCK)
    await tb.load(image, chunk)
    send = cocotb.start_soon(tb.rx_beat.send(chunk_frames(image, chunk)))
    await ClockCycles(dut.clk_net, 9 * blocks * BLOCK // 4 // 8 + 5000)
    assert tb.rx_beat.waits > 1000
    cocotb.start_soon(tb.take_blocks(slave, image, never()))
    await send
    await tb.rx_beat.idle(10_000)  # The queue's length.
    assert tb.told == list(range(2 * blocks)) and tb.missing() == 0


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_load_that_is_over_takes_nothing(dut):
    tb = Bench(dut)
    ram = tb.ram(0)
    await tb.start()
    chunk = dut.Bulk.value.to_unsigned()
    image = random.randbytes(4 * chunk)
    await tb.load(image, chunk)
    dut.receiving.value = 0
    await tb.rx_beat.send([*chunk_frames(image, chunk), data(image, 1, 5), data(image, 0, 0)])
    await tb.rx_beat.idle(20)
    # The model has it so: all chunks were there once.
    assert tb.counts == Counter(duplicate=6) and tb.missing() == 4
    dut.receiving.value = 1
    await tb.rx_beat.send(chunk_frames(image, chunk)[:2])
    await tb.rx_beat.idle(20)
    assert await tb.have(4) == {0, 1}
    # A new load begins empty, in the other slot.
    image = random.randbytes(4 * chunk)
    await tb.load(image, chunk, 2 * BASE)
    assert await tb.have(4) == set() and tb.missing() == 4
    await tb.rx_beat.send(chunk_frames(image, chunk))
    await tb.rx_beat.idle(2000)
    assert ram.read(2 * BASE, len(image)) == image and tb.counts == Counter(chunk=4)


SIZES = [(1472, 1 << 16, 16, 0), (8960, 1 << 12, 4, 0), (1472, 1 << 14, 16, 1)]


@pytest.mark.parametrize("bulk,chunks,blocks,quick", SIZES)
def test_image_write(bulk, chunks, blocks, quick):
    parameters = {"Bulk": bulk, "Chunks": chunks, "Blocks": blocks, "Quick": quick}
    bench("image_write_bench", [*rtl("common", "shell"), TB / "image_write_bench.sv"], __name__, parameters)
