"""The line of a bench that has a `phy_line`: frames as bytes, with preamble, check sequence and gap."""

import zlib

from cocotb.triggers import ClockCycles, RisingEdge, Timer

PREAMBLE = bytes([0x55] * 7 + [0xD5])
GAP = 12


def wire(body: bytes, flip: int | None = None) -> bytes:
    """A frame as it is on the line; with one bit turned over, if one is named."""
    sent = bytearray(body + zlib.crc32(body).to_bytes(4, "little"))
    if flip is not None:
        sent[flip // 8] ^= 1 << flip % 8
    return PREAMBLE + bytes(sent)


async def give(dut, frames, gap=GAP) -> None:
    """Puts frames on the line."""
    for sent in frames:
        for byte in sent:
            dut.line_rx_i.value = 1
            dut.line_rx_byte_i.value = byte
            await RisingEdge(dut.line_clk_o)
        dut.line_rx_i.value = 0
        dut.line_rx_byte_i.value = 0
        await ClockCycles(dut.line_clk_o, gap)
    await Timer(2, "us")


async def listen(dut, into) -> None:
    """Gathers what is on the line: the frame's bytes, and the gap before it."""
    got, gap = b"", 0
    while True:
        await RisingEdge(dut.line_clk_o)
        if dut.line_tx_o.value:
            got += bytes([int(dut.line_tx_byte_o.value)])
        elif got:
            into.append((got, gap))
            got, gap = b"", 1
        else:
            gap += 1
