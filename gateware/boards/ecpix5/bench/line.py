"""The line of a bench that has a `phy_line`: frames as bytes, with preamble, check sequence and gap.

At 1000 Mb/s a byte is on the line at a time; at 100 and 10 Mb/s half of one, the lower first, at both edges.
"""

import zlib
from collections.abc import Iterable

from cocotb.triggers import ClockCycles, RisingEdge, Timer

PREAMBLE = bytes([0x55] * 7 + [0xD5])
GAP = 12


def wire(body: bytes, flip: int | None = None) -> bytes:
    """A frame as it is on the line; with one bit turned over, if one is named."""
    sent = bytearray(body + zlib.crc32(body).to_bytes(4, "little"))
    if flip is not None:
        sent[flip // 8] ^= 1 << flip % 8
    return PREAMBLE + bytes(sent)


def halves(sent: Iterable[int]) -> list[int]:
    """Half bytes, as bytes that have them twice."""
    return [half * 0x11 for byte in sent for half in (byte & 15, byte >> 4)]


async def put(dut, values: Iterable[int], gap: int) -> None:
    """Puts these on the line, one a cycle of its clock."""
    for value in values:
        dut.line_rx_i.value = 1
        dut.line_rx_byte_i.value = value
        await RisingEdge(dut.line_clk_o)
    dut.line_rx_i.value = 0
    dut.line_rx_byte_i.value = 0
    await ClockCycles(dut.line_clk_o, gap)


async def give(dut, frames, gap=GAP, mbps=1000, cut=0) -> None:
    """Puts frames on the line, each without so many of its first bytes, or half bytes where these are sent."""
    for sent in frames:
        values = sent if mbps == 1000 else halves(sent)
        await put(dut, values[cut:], gap if mbps == 1000 else 2 * gap)
    await Timer(2000 * 1000 // mbps, "ns")


async def listen(dut, into, mbps=1000) -> None:
    """Gathers what is on the line: the frame's bytes, and the gap before it, in bytes."""
    got, gap = [], 0
    while True:
        await RisingEdge(dut.line_clk_o)
        if dut.line_tx_o.value:
            got.append(int(dut.line_tx_byte_o.value))
        elif got:
            if mbps != 1000:
                assert len(got) % 2 == 0 and all(value % 0x11 == 0 for value in got)
                got = [low & 15 | high & 240 for low, high in zip(got[::2], got[1::2])]
                gap //= 2
            into.append((bytes(got), gap))
            got, gap = [], 1
        else:
            gap += 1
