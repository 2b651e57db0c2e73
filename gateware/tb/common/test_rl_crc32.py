"""rl_crc32 gives what zlib does, for frames of any length and with pauses."""

import random
import zlib

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from runner import bench, common
from streams import keep, words

ETHERNET = 0xEDB88320


@cocotb.test()
async def each_frame_has_its_own(dut):
    size = len(dut.keep_i)
    dut.rst_ni.value = dut.valid_i.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1
    lengths = [*range(1, 3 * size + 1), *(random.randrange(1, 200) for _ in range(100)), 1472]
    found, frames = [], [b"123456789", *(random.randbytes(length) for length in lengths)]
    for pauses in (0.0, 0.4):
        for frame in frames:
            pieces = list(zip(words(frame, size), keep(frame, size), strict=True))
            while pieces:
                dut.valid_i.value = valid = random.random() >= pauses
                if valid:
                    data, kept = pieces.pop(0)
                    # What is behind a frame's end does not count.
                    noise = random.getrandbits(8 * size) & ~sum(0xFF << 8 * b for b in range(size) if kept >> b & 1)
                    dut.data_i.value, dut.last_i.value = data | noise, not pieces
                    dut.keep_i.value = random.getrandbits(size) if pieces else kept
                await dut.clk_i.rising_edge
                if dut.valid_o.value:
                    found.append(dut.crc_o.value.to_unsigned())
        dut.valid_i.value = 0
        for _ in range(20):
            await dut.clk_i.rising_edge
            if dut.valid_o.value:
                found.append(dut.crc_o.value.to_unsigned())
    assert found == [zlib.crc32(frame) for frame in frames] * 2


def test_rl_crc32():
    bench("rl_crc32", common(), __name__, {"DataW": 64, "Polynomial": ETHERNET})
