"""rl_rx_fifo: frames come out whole and in order, or not at all, or cut and marked so; each loss is reported once."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from runner import bench, rtl
from streams import PAUSES, keep, words


async def start(dut):
    for name in ("rx_valid", "rx_data", "rx_keep", "rx_last", "rx_bad", "word_ready"):
        getattr(dut, f"{name}_i").value = 0
    dut.rst_net_ni.value = 0
    Clock(dut.clk_net_i, 10, "ns").start()
    for _ in range(3):
        await RisingEdge(dut.clk_net_i)
    dut.rst_net_ni.value = 1
    await RisingEdge(dut.clk_net_i)


async def send(dut, frames, pause):
    for data, bad in frames:
        pairs = list(zip(words(data), keep(data), strict=True))
        for i, (word, valid) in enumerate(pairs):
            while next(pause):
                dut.rx_valid_i.value = 0
                await RisingEdge(dut.clk_net_i)
            last = i == len(pairs) - 1
            dut.rx_valid_i.value = 1
            dut.rx_data_i.value = word
            dut.rx_keep_i.value = valid if last else random.getrandbits(8)
            dut.rx_last_i.value = int(last)
            dut.rx_bad_i.value = int(bad) if last else random.getrandbits(1)
            await RisingEdge(dut.clk_net_i)
    dut.rx_valid_i.value = 0


class Sink:
    """What has come out: frames as (bytes, bad, cut), and how many losses were reported."""

    def __init__(self, dut, pause):
        self.frames, self.losses, self.open = [], 0, b""
        self.dut, self.pause = dut, pause
        cocotb.start_soon(self.watch())

    async def watch(self):
        dut = self.dut
        while True:
            ready = not next(self.pause)
            dut.word_ready_i.value = int(ready)
            await RisingEdge(dut.clk_net_i)
            self.losses += int(dut.overflow_o.value)
            if ready and dut.word_valid_o.value:
                word = int(dut.word_o.value)
                cut, bad, last, extra = word >> 69 & 1, word >> 68 & 1, word >> 67 & 1, word >> 64 & 7
                assert last or (extra == 7 and not bad and not cut)
                self.open += (word & (1 << 64) - 1).to_bytes(8, "little")[: extra + 1]
                if last:
                    self.frames.append((self.open, bool(bad), bool(cut)))
                    self.open = b""


def some_frames(count, longest):
    return [(random.randbytes(random.randint(1, longest)), random.random() < 0.1) for _ in range(count)]


@cocotb.test()
@cocotb.parametrize(pause=["never", "ragged", "bursts"])
async def frames_come_out_whole(dut, pause):
    """While the reader is as fast as the sender, nothing is lost."""
    await start(dut)
    sink = Sink(dut, PAUSES["never"]())
    frames = some_frames(150, 100)
    await send(dut, frames, PAUSES[pause]())
    for _ in range(10):
        await RisingEdge(dut.clk_net_i)
    assert sink.frames == [(data, bad, False) for data, bad in frames]
    assert sink.losses == 0


@cocotb.test()
async def a_word_takes_two_cycles(dut):
    await start(dut)
    dut.word_ready_i.value = 1
    cocotb.start_soon(send(dut, [(b"x" * 400, False)], PAUSES["never"]()))
    seen = []
    for _ in range(60):
        await RisingEdge(dut.clk_net_i)
        seen.append((bool(dut.rx_valid_i.value), bool(dut.word_valid_o.value)))
    first = [next(n for n, row in enumerate(seen) if row[side]) for side in (0, 1)]
    assert first[1] - first[0] == 2
    assert all(row[1] for row in seen[first[1] : first[1] + 50]), "a bubble"


@cocotb.test()
@cocotb.parametrize(pause=["ragged", "rare"], longest=[9, 100, 700])
async def losses_are_told_once(dut, pause, longest):
    """A reader that is too slow: each frame comes whole, or as a marked beginning, or not at all, in order."""
    await start(dut)
    sink = Sink(dut, PAUSES[pause]())
    frames = some_frames(200, longest)
    await send(dut, frames, PAUSES["bursts"]())
    idle = 0
    while idle < 5:
        await RisingEdge(dut.clk_net_i)
        idle = 0 if dut.word_valid_o.value else idle + 1
    coming = iter(frames)
    lost = 0
    for data, bad, cut in sink.frames:
        for sent, sent_bad in coming:
            begins = sent.startswith(data) and len(sent) > len(data) and not bad
            if begins if cut else (sent, sent_bad) == (data, bad):
                lost += cut
                break
            lost += 1
        else:
            raise AssertionError("a frame that was not sent, or not in this order")
    lost += sum(1 for _ in coming)
    assert lost == sink.losses
    assert sink.open == b""


@cocotb.test()
async def all_its_room_is_used(dut):
    await start(dut)
    size = dut.Words.value.to_unsigned()
    dut.word_ready_i.value = 0
    frames = [(bytes(8), False)] * (size - 4)
    await send(dut, frames, PAUSES["never"]())
    sink = Sink(dut, PAUSES["never"]())
    for _ in range(size + 10):
        await RisingEdge(dut.clk_net_i)
    assert len(sink.frames) == size - 4
    assert sink.losses == 0


@pytest.mark.parametrize("size", [8, 512])
def test_rl_rx_fifo(size):
    bench("rl_rx_fifo", rtl("common", "shell"), __name__, {"Words": size})
