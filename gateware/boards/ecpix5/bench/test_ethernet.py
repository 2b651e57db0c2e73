"""The generated MAC and PHY behind `rl_ecpix5_ethernet`, against Ethernet as Python writes it: `build.py` runs this.
"""

import random
import zlib
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer

from line import GAP, PREAMBLE, give, listen, wire
from runner import ROOT, bench
from streams import keep, unwords, words

CORE = ROOT / "out/boards/ecpix5/ethernet_core.v"
HERE = Path(__file__).parent


def frame(length: int) -> bytes:
    """Bytes from the destination address on, without the check sequence."""
    return random.randbytes(length)


async def start(dut) -> None:
    """Clocks, of which neither is a multiple of the other, and the PHY's reset."""
    dut.open_i.value = 1
    dut.rst_i.value = 1
    dut.tx_valid_i.value = 0
    dut.line_rx_i.value = 0
    dut.line_rx_byte_i.value = 0
    Clock(dut.clk_line_i, 2000, "ps").start()
    Clock(dut.clk_i, 13334, "ps").start()
    await ClockCycles(dut.clk_i, 10)
    dut.rst_i.value = 0
    await ClockCycles(dut.clk_i, 400)


async def collect(dut, into) -> None:
    """Gathers what comes to the shell: bytes, and whether they were called bad."""
    got = b""
    while True:
        await RisingEdge(dut.clk_i)
        if not dut.rx_valid_o.value:
            continue
        word = int(dut.rx_data_o.value).to_bytes(8, "little")
        if dut.rx_last_o.value:
            bits = int(dut.rx_keep_o.value)
            count = bits.bit_count()
            assert bits == (1 << count) - 1 != 0
            into.append((got + word[:count], bool(dut.rx_bad_o.value)))
            got = b""
        else:
            got += word


async def put(dut, frames) -> None:
    """Sends frames as the shell does: without a pause inside of one."""
    for body in frames:
        values, enables = words(body), keep(body)
        for at, (value, enable) in enumerate(zip(values, enables, strict=True)):
            dut.tx_valid_i.value = 1
            dut.tx_data_i.value = value
            dut.tx_keep_i.value = enable
            dut.tx_last_i.value = at == len(values) - 1
            await RisingEdge(dut.clk_i)
            while not dut.tx_ready_o.value:
                await RisingEdge(dut.clk_i)
        dut.tx_valid_i.value = 0


@cocotb.test()
async def good_frames_come_whole(dut):
    await start(dut)
    got = []
    cocotb.start_soon(collect(dut, got))
    frames = [frame(length) for length in [*range(60, 80), 1497, *range(1500, 1515), 60, 1514, 61]]
    await give(dut, map(wire, frames))
    assert got == [(body, False) for body in frames]


@cocotb.test()
async def frames_with_a_wrong_bit_are_called_bad(dut):
    await start(dut)
    got = []
    cocotb.start_soon(collect(dut, got))
    want, sent = [], []
    for length in [*range(60, 76), 200]:
        for bad in (True, False):
            body = frame(length)
            sent.append(wire(body, random.randrange(8 * (length + 4)) if bad else None))
            want.append((length, bad))
    await give(dut, sent)
    assert [(len(body), bad) for body, bad in got] == want


@cocotb.test()
async def scraps_do_no_harm_to_later_frames(dut):
    """Frames that are too short by far, noise without a preamble: what comes after the next frame is whole."""
    await start(dut)
    got = []
    cocotb.start_soon(collect(dut, got))
    for scrap in [b"\x55", PREAMBLE, PREAMBLE + b"\1", *(PREAMBLE + frame(n) for n in range(2, 20)), frame(30)]:
        got.clear()
        bodies = [frame(64), frame(73), frame(66)]
        await give(dut, [scrap, *map(wire, bodies)])
        assert got[-2:] == [(body, False) for body in bodies[-2:]], len(scrap)
        # And nothing that was never sent is called good.
        assert all(bad or body in bodies for body, bad in got), len(scrap)


@cocotb.test()
async def preambles_may_be_cut_short(dut):
    """Some PHYs and switches swallow the beginning of one."""
    await start(dut)
    got = []
    cocotb.start_soon(collect(dut, got))
    frames = [frame(60 + n) for n in range(8)]
    await give(dut, [wire(body)[n:] for n, body in enumerate(frames)])
    assert got == [(body, False) for body in frames]


@cocotb.test()
async def frames_go_out_as_ethernet_wants(dut):
    await start(dut)
    heard = []
    cocotb.start_soon(listen(dut, heard))
    frames = [frame(length) for length in [*range(60, 80), *range(1500, 1515), 60, 60, 1514, 61]]
    frames += [frame(length) for length in (14, 32, 48, 59)]
    await put(dut, frames)
    await Timer(20, "us")
    for body, (sent, _) in zip(frames, heard, strict=True):
        want = body.ljust(60, b"\0")
        assert sent[:8] == PREAMBLE
        got, check = sent[8:-4], sent[-4:]
        # What fills up a short frame is of no interest.
        assert got[: len(body)] == body and len(got) == len(want)
        assert check == zlib.crc32(got).to_bytes(4, "little")
    assert all(gap >= GAP for _, gap in heard[1:])


@cocotb.test()
async def a_frame_under_way_is_not_let_in(dut):
    """The shell comes out of reset in the middle of one."""
    await start(dut)
    got = []
    cocotb.start_soon(collect(dut, got))
    for at in (10, 40, 80, 200):
        got.clear()
        dut.open_i.value = 0
        giving = cocotb.start_soon(give(dut, [wire(frame(200)), wire(b"x" * 64)]))
        await ClockCycles(dut.line_clk_o, at)
        dut.open_i.value = 1
        await giving
        assert got[-1] == (b"x" * 64, False)
        assert all(len(body) in (64, 200) for body, _ in got)


def test_ethernet():
    bench("rl_ecpix5_ethernet_bench", [*HERE.glob("*.sv"), CORE], __name__)
