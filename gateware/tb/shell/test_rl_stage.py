"""rl_stage: chunks in any order, repeated, misplaced and cut short; the bitmap, the blocks that become whole."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from lane import STORE, Lane, LaneFrame
from runner import bench, rtl
from streams import PAUSES

BLOCK = 65536
BASE = 0x12345
QUEUED_MAX = 60


class Queue:
    """The writing side of the configuration queue: what was committed."""

    def __init__(self, dut):
        self.dut, self.words, self.frames = dut, [], []
        # Frames of this image that are in DDR: at most so many behind as the queue holds.
        self.written, self.before = 0, int(dut.written_i.value)
        self.task = cocotb.start_soon(self.watch())

    async def watch(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_net_i)
            if dut.queue_word_o.value:
                self.words.append(int(dut.queue_data_o.value))
            assert not (dut.queue_commit_o.value and dut.queue_rollback_o.value)
            if dut.queue_commit_o.value:
                desc = int(dut.queue_desc_o.value)
                length = desc & ((1 << 14) - 1)
                data = b"".join(w.to_bytes(8, "little") for w in self.words)[:length]
                self.frames.append((desc >> 14, data))
            if dut.queue_commit_o.value or dut.queue_rollback_o.value:
                self.words = []
            self.written = max(self.written, len(self.frames) - random.randint(0, QUEUED_MAX))
            dut.written_i.value = (self.before + self.written) % 256
            if dut.block_valid_o.value and not dut.busy_o.value:
                # A block shows only when its bytes are in DDR.
                at = int(dut.block_o.value) * BLOCK
                there = sum(len(d) - max(0, at - a) - max(0, a + len(d) - at - BLOCK)
                            for a, d in ((a - BASE * 64, d) for a, d in self.frames[: self.written])
                            if a < at + BLOCK and a + len(d) > at)
                assert there == min(BLOCK, int(dut.length_i.value) - at)


class Events:
    """How often each event was seen."""

    def __init__(self, dut):
        self.dut, self.chunk, self.duplicate, self.malformed = dut, 0, 0, 0
        self.task = cocotb.start_soon(self.watch())

    async def watch(self):
        while True:
            await FallingEdge(self.dut.clk_net_i)
            self.chunk += int(self.dut.chunk_o.value)
            self.duplicate += int(self.dut.duplicate_o.value)
            self.malformed += int(self.dut.malformed_o.value)


async def start(dut):
    """Reset, with nothing to do."""
    assert STORE[1] == ("length", 14)
    Clock(dut.clk_net_i, 10, "ns").start()
    for port in ("lane_i", "receiving_i", "written_i", "start_i", "bitmap_re_i", "bitmap_addr_i", "block_pop_i"):
        getattr(dut, port).value = 0
    dut.queue_room_i.value = 1
    dut.rst_net_ni.value = 0
    for _ in range(4):
        await FallingEdge(dut.clk_net_i)
    dut.rst_net_ni.value = 1


async def begin(dut, length, chunk):
    """The firmware begins an image."""
    dut.base_i.value = BASE
    dut.length_i.value = length
    dut.chunk_i.value = chunk
    dut.chunks_i.value = -(-length // chunk)
    dut.start_i.value = 1
    await FallingEdge(dut.clk_net_i)
    dut.start_i.value = 0
    while dut.busy_o.value:
        await FallingEdge(dut.clk_net_i)
    dut.receiving_i.value = 1


async def bitmap(dut, chunks):
    """All of it, as the firmware reads it."""
    have = set()
    for word in range(-(-chunks // 32)):
        dut.bitmap_re_i.value = 1
        dut.bitmap_addr_i.value = word
        await FallingEdge(dut.clk_net_i)
        bits = int(dut.bitmap_o.value)
        have |= {32 * word + i for i in range(32) if bits >> i & 1}
    dut.bitmap_re_i.value = 0
    return have


def chunk_frame(image, chunk, n, **more):
    return LaneFrame("image", image[n * chunk : (n + 1) * chunk], fields={"addr": n * chunk}, **more)


async def run_image(dut, rng, length, chunk, pause):
    """One image: shuffled chunks, some twice, some spoilt; checks everything that shows."""
    lane = Lane(dut.clk_net_i, dut.lane_i, dut.room_o)
    queue, events = Queue(dut), Events(dut)
    image = rng.randbytes(length)
    chunks = -(-length // chunk)
    order = list(range(chunks))
    if rng.random() < 0.7:
        rng.shuffle(order)
    frames, new, repeated, bad, aborted = [], [], 0, 0, 0
    for n in order:
        if rng.random() < 0.1:
            frames.append(chunk_frame(image, chunk, n, abort=True))
            aborted += 1
        if rng.random() < 0.15:
            kind = rng.randrange(5)
            at = n * chunk
            size = min(chunk, length - at)
            addr, data = [
                (at + rng.choice([1, 8, 63]), image[at : at + size]),
                (at, image[at : at + size - 1]),
                (at, image[at : at + size] + b"x"),
                (length + rng.randrange(4) * chunk, b"y" * chunk),
                (at + (1 << rng.randrange(29, 64)), image[at : at + size]),
            ][kind]
            # With one chunk to the image, an offset within it may still be a multiple of nothing else.
            frames.append(LaneFrame("image", data, fields={"addr": addr}))
            bad += 1
        frames.append(chunk_frame(image, chunk, n))
        new.append(n)
        if rng.random() < 0.2:
            frames.append(chunk_frame(image, chunk, rng.choice(new)))
            repeated += 1
        if rng.random() < 0.1:
            frames.append(LaneFrame("write", b"not an image", fields={"addr": 0}))
    await lane.send(frames, pause)
    await lane.idle(80)
    assert queue.frames == [(BASE * 64 + n * chunk, image[n * chunk : (n + 1) * chunk]) for n in new]
    assert (events.chunk, events.duplicate, events.malformed) == (chunks, repeated, bad)
    assert dut.missing_o.value == 0
    assert await bitmap(dut, chunks) == set(range(chunks))
    queue.task.cancel()
    events.task.cancel()
    return chunks


@cocotb.test()
async def any_order(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    await start(dut)
    written = 0
    for length, chunk, pause in [
        (1, 64, "never"), (6400, 64, "ragged"), (6401, 64, "never"), (150_000, 1472, "never"), (131_072, 8960, "ragged"),
        (66_000, 512, "bursts"),
    ]:
        dut.receiving_i.value = 0
        await begin(dut, length, chunk)
        assert dut.missing_o.value == -(-length // chunk)
        assert await bitmap(dut, -(-length // chunk)) == set()
        chunks = await run_image(dut, rng, length, chunk, PAUSES[pause]())
        written += chunks
        dut.written_i.value = written % 256
        seen = set()
        while len(seen) < -(-length // BLOCK):
            await FallingEdge(dut.clk_net_i)
            if dut.block_valid_o.value:
                block = int(dut.block_o.value)
                assert block not in seen
                seen.add(block)
                dut.block_pop_i.value = 1
                await FallingEdge(dut.clk_net_i)
                dut.block_pop_i.value = 0
        assert seen == set(range(-(-length // BLOCK)))
        for _ in range(10):
            await FallingEdge(dut.clk_net_i)
            assert not dut.block_valid_o.value


@cocotb.test()
async def when_nothing_is_wanted_all_was_there(dut):
    await start(dut)
    await begin(dut, 1000, 64)
    dut.receiving_i.value = 0
    lane, queue, events = Lane(dut.clk_net_i, dut.lane_i, dut.room_o), Queue(dut), Events(dut)
    await lane.send([chunk_frame(bytes(1000), 64, n) for n in range(5)] + [LaneFrame("image", b"")])
    await lane.idle(20)
    assert (queue.frames, events.duplicate, events.malformed) == ([], 6, 0)
    assert await bitmap(dut, 16) == set()


@cocotb.test()
async def chunks_in_order_wait_for_nothing(dut):
    await start(dut)
    for chunk in (64, 1472):
        dut.receiving_i.value = 0
        image = bytes(200 * chunk)
        await begin(dut, len(image), chunk)
        lane = Lane(dut.clk_net_i, dut.lane_i, dut.room_o)
        await lane.send([chunk_frame(image, chunk, n) for n in range(200)])
        dut._log.info("chunks of %d: %d cycles a frame, %d waits", chunk, lane.cycles // 200, lane.waits)
        assert lane.waits == 0
        await lane.idle(20)
        assert dut.missing_o.value == 0


@pytest.mark.parametrize("chunks", [262144])
def test_rl_stage(chunks):
    bench("rl_stage", [*rtl("common"), "shell/rl_stage.sv"], __name__, {"ChunksMax": chunks})
