"""The generated MAC and the PHY's side of `rl_ecpix5_ethernet`, at all speeds, against Ethernet as Python writes it.

`build.py` runs this.
"""

import random
import zlib
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer, with_timeout

from line import GAP, PREAMBLE, give, halves, listen, put, wire
from runner import ROOT, bench
from streams import keep, unwords, words

CORE = ROOT / "out/boards/ecpix5/ethernet_core.v"
HERE = Path(__file__).parent
PHY = ROOT / "gateware/tb/phy/phy_model.sv"


def frame(length: int) -> bytes:
    """Bytes from the destination address on, without the check sequence."""
    return random.randbytes(length)


SPEEDS = [1000, 100, 10]
# What the partner offers, what the card then says of the link, and a quarter of the line's clock, ps.
OFFER = {1000: 0b111, 100: 0b011, 10: 0b001}
SAYS = {1000: 2, 100: 1, 10: 0}
QUARTER = {1000: 2000, 100: 10_000, 10: 100_000}
LINK_US = 400  # What everything of the link takes here, at most.


class Line:
    """A cable with a partner; the PHY's clock is as fast as the link."""

    def __init__(self, dut):
        self.dut = dut
        self.clock = None
        self.mbps = 0

    async def unplug(self):
        """The link goes."""
        self.dut.cable_i.value = 0
        await self.until(lambda: not self.dut.up_o.value)

    def plug(self, mbps):
        """There is a partner of this speed."""
        if self.clock:
            self.clock.stop()
        self.clock = Clock(self.dut.clk_line_i, QUARTER[mbps], "ps")
        self.clock.start()
        self.mbps = mbps
        self.dut.partner_i.value = OFFER[mbps]
        self.dut.cable_i.value = 1

    async def up(self, mbps):
        """There is a link of this speed."""
        self.plug(mbps)
        await self.until(lambda: self.dut.up_o.value)
        assert self.dut.speed_o.value == SAYS[mbps]
        # The MAC leaves its reset.
        await Timer(5, "us")
        await ClockCycles(self.dut.line_clk_o, 20)

    async def until(self, holds):
        for _ in range(LINK_US):
            if holds():
                return
            await Timer(1, "us")
        raise AssertionError("the link does not come to that")


async def start(dut, mbps=1000, mute=0) -> Line:
    """Clocks, of which neither is a multiple of the other, the PHY's reset, and a link, unless nobody can ask the PHY."""
    dut.open_i.value = 1
    dut.rst_i.value = 1
    dut.tx_valid_i.value = 0
    dut.line_rx_i.value = 0
    dut.line_rx_byte_i.value = 0
    dut.mute_i.value = mute
    dut.cable_i.value = 0
    dut.partner_i.value = 0
    line = Line(dut)
    Clock(dut.clk_i, 13334, "ps").start()
    await ClockCycles(dut.clk_i, 10)
    dut.rst_i.value = 0
    if mute:
        line.plug(mbps)
        await ClockCycles(dut.clk_i, 1000)
    else:
        await line.up(mbps)
    return line


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
            assert bits == (1 << count) - 1 != 0, (got.hex(), word.hex(), bits, bool(dut.rx_bad_o.value))
            into.append((got + word[:count], bool(dut.rx_bad_o.value)))
            got = b""
        else:
            got += word


async def send(dut, frames) -> None:
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


def lengths(mbps: int) -> list[int]:
    """Of frames: all that differ by a byte, as far as time allows."""
    return [*range(60, 80), *range(1500, 1515), 60, 60, 1514, 61] if mbps == 1000 else [*range(60, 70), 700 - mbps, 61]


@cocotb.test()
@cocotb.parametrize(mbps=SPEEDS)
async def good_frames_come_whole(dut, mbps):
    await start(dut, mbps)
    got = []
    cocotb.start_soon(collect(dut, got))
    frames = [frame(length) for length in lengths(mbps)]
    await give(dut, map(wire, frames), mbps=mbps)
    assert got == [(body, False) for body in frames]


@cocotb.test()
@cocotb.parametrize(mbps=[1000, 100])
async def frames_with_a_wrong_bit_are_called_bad(dut, mbps):
    await start(dut, mbps)
    got = []
    cocotb.start_soon(collect(dut, got))
    want, sent = [], []
    for length in [*range(60, 76), 200]:
        for bad in (True, False):
            body = frame(length)
            sent.append(wire(body, random.randrange(8 * (length + 4)) if bad else None))
            want.append((length, bad))
    await give(dut, sent, mbps=mbps)
    assert [(len(body), bad) for body, bad in got] == want


@cocotb.test()
@cocotb.parametrize(mbps=[1000, 100])
async def scraps_do_no_harm_to_later_frames(dut, mbps):
    """Frames that are too short by far, noise without a preamble: what comes after the next frame is whole."""
    await start(dut, mbps)
    got = []
    cocotb.start_soon(collect(dut, got))
    for scrap in [b"\x55", PREAMBLE, PREAMBLE + b"\1", *(PREAMBLE + frame(n) for n in range(2, 20)), frame(30)]:
        got.clear()
        bodies = [frame(64), frame(73), frame(66)]
        await give(dut, [scrap, *map(wire, bodies)], mbps=mbps)
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
async def half_bytes_of_a_preamble_may_be_missing(dut):
    """Below 1000 Mb/s it may be cut anywhere, and frames may end with half a byte too much."""
    await start(dut, 100)
    got = []
    cocotb.start_soon(collect(dut, got))
    frames = [frame(60 + n) for n in range(15)]
    for n, body in enumerate(frames):
        await give(dut, [wire(body)], mbps=100, cut=n)
        await put(dut, [*halves(wire(body))[n:], 0x77], 24)
    await Timer(20, "us")
    assert got == [(body, False) for body in frames for _ in range(2)]


@cocotb.test()
@cocotb.parametrize(mbps=SPEEDS)
async def frames_go_out_as_ethernet_wants(dut, mbps):
    await start(dut, mbps)
    heard = []
    cocotb.start_soon(listen(dut, heard, mbps))
    frames = [frame(length) for length in [*lengths(mbps), 14, 32, 48, 59]]
    await send(dut, frames)
    for _ in range(1000):
        if len(heard) == len(frames):
            break
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


@cocotb.test()
async def links_go_and_come_back_with_another_speed(dut):
    """Frames are on their way in both directions when the link goes: what comes through is whole, and nothing waits."""
    line = await start(dut)
    got, known = [], set()
    cocotb.start_soon(collect(dut, got))
    now = 1000
    for mbps in (100, 1000, 10, 100, 1000, 1000):
        inward = [frame(300) for _ in range(20)]
        outward = [frame(300) for _ in range(20)]
        known |= {*inward}
        giving = cocotb.start_soon(give(dut, map(wire, inward), mbps=now))
        sending = cocotb.start_soon(send(dut, outward))
        await ClockCycles(dut.line_clk_o, random.randrange(100, 4000))
        await line.unplug()
        giving.cancel()
        dut.line_rx_i.value = 0
        # The shell's frames go nowhere, but they go.
        await with_timeout(sending.complete, 100, "us")
        await line.up(mbps)
        now = mbps
        got.clear()
        heard = []
        listening = cocotb.start_soon(listen(dut, heard, mbps))
        bodies = [frame(70 + n) for n in range(3)]
        sending = cocotb.start_soon(send(dut, bodies))
        await give(dut, map(wire, bodies), mbps=mbps)
        await Timer(300 if mbps == 10 else 50, "us")
        assert got == [(body, False) for body in bodies]
        assert [sent for sent, _ in heard] == [wire(body) for body in bodies]
        listening.cancel()
        assert sending.done()


@cocotb.test()
async def a_frame_that_the_link_cuts_ends_as_a_bad_one(dut):
    line = await start(dut, 100)
    for _ in range(4):
        got = []
        collecting = cocotb.start_soon(collect(dut, got))
        giving = cocotb.start_soon(give(dut, [wire(frame(1500))], mbps=100))
        await Timer(random.randrange(20, 60), "us")
        await line.unplug()
        giving.cancel()
        dut.line_rx_i.value = 0
        await Timer(5, "us")
        assert [bad for _, bad in got] == [True]
        collecting.cancel()
        await line.up(100)


@cocotb.test()
async def a_phy_that_nobody_can_ask_counts_as_a_gigabit_link(dut):
    await start(dut, mute=1)
    got, heard = [], []
    cocotb.start_soon(collect(dut, got))
    cocotb.start_soon(listen(dut, heard))
    assert not dut.answers_o.value and not dut.up_o.value
    bodies = [frame(80) for _ in range(3)]
    await send(dut, bodies)
    await give(dut, map(wire, bodies))
    assert got == [(body, False) for body in bodies]
    assert [sent for sent, _ in heard] == [wire(body) for body in bodies]


def test_ethernet():
    bench("rl_ecpix5_ethernet_bench", [*HERE.glob("*.sv"), PHY, CORE], __name__)
