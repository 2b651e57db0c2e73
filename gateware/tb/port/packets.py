"""Frames on streams of any width: words with keep and last, sent and received with pauses."""

from collections.abc import Iterator
from dataclasses import dataclass

from cocotb.triggers import FallingEdge, RisingEdge
from protocol import CONTROL

# EtherTypes of our families.
OURS = sorted({kind.number >> 16 for kind in CONTROL.kinds.values()})


@dataclass
class Packet:
    """A frame on a stream, and what the MAC says of its check sequence."""

    frame: bytes
    bad: bool = False
    rest: bytes = b""  # What stands on the wires of the last word behind its end.


def words(frame: bytes, width: int) -> list[tuple[int, int, bool]]:
    """Data, keep and last of a frame's words of `width` bits; byte 0 is bits 7:0 of the first."""
    size = width // 8
    pieces = [frame[at : at + size] for at in range(0, len(frame), size)]
    return [(int.from_bytes(p, "little"), (1 << len(p)) - 1, p is pieces[-1]) for p in pieces]


async def drive_mac(dut, clock, packets: list[Packet], pause: Iterator[bool]) -> None:
    """Sends frames as a MAC does, which never waits: `rx_*` of `dut`."""
    width = len(dut.rx_data_i)
    for packet in packets:
        for data, keep, last in words(packet.frame, width):
            while next(pause):
                dut.rx_valid_i.value = 0
                await RisingEdge(clock)
            dut.rx_valid_i.value = 1
            rest = packet.rest[: width // 8 - keep.bit_count()]
            dut.rx_data_i.value = data | int.from_bytes(rest, "little") << 8 * keep.bit_count()
            dut.rx_keep_i.value = keep
            dut.rx_last_i.value = last
            dut.rx_bad_i.value = last and packet.bad
            await RisingEdge(clock)
    dut.rx_valid_i.value = 0


async def drive_role(dut, clock, frames: list[bytes], pause: Iterator[bool]) -> None:
    """Sends frames on a stream with valid and ready: `valid_i` to `last_i` of `dut`."""
    middle = FallingEdge(clock)
    for frame in frames:
        for data, keep, last in words(frame, len(dut.data_i)):
            await middle
            while next(pause):
                dut.valid_i.value = 0
                await middle
            dut.valid_i.value = 1
            dut.data_i.value = data
            dut.keep_i.value = keep
            dut.last_i.value = last
            await RisingEdge(clock)
            while not dut.ready_o.value:
                await RisingEdge(clock)
    await middle
    dut.valid_i.value = 0


async def receive(dut, clock, frames: list[bytes], pause: Iterator[bool]) -> None:
    """Takes frames from `valid_o` to `last_o` of `dut` into `frames`, for ever."""
    frame = b""
    while True:
        ready = not next(pause)
        dut.ready_i.value = ready
        await RisingEdge(clock)
        if ready and dut.valid_o.value:
            keep = dut.keep_o.value.to_unsigned()
            size = keep.bit_length()
            assert keep == (1 << size) - 1 and size, f"keep {keep:b}"
            assert dut.last_o.value or size == len(dut.keep_o), "a word in the middle has all its bytes"
            frame += dut.data_o.value.to_unsigned().to_bytes(len(dut.data_o) // 8, "little")[:size]
            if dut.last_o.value:
                frames.append(frame)
                frame = b""
