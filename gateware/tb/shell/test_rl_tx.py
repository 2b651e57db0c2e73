"""rl_tx: frames of the firmware, announcements, fetched frames; none late in its middle, none starved."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from lane import FETCH, packed
from runner import bench, rtl
from streams import PAUSES

MAC = bytes.fromhex("020000000001")
ANNOUNCEMENT = [("dst", 48), ("seq", 32), ("reason", 8)]
SLOT_WORDS = 512
TEMPLATE = bytes((7 * i + 3) % 256 for i in range(136))


class Wire:
    """Takes frames as a MAC does: once one has started, all of it must be there."""

    def __init__(self, dut, pause):
        self.dut, self.frames, self.cycles = dut, [], 0
        self.task = cocotb.start_soon(self.watch(pause))

    async def watch(self, pause):
        dut, frame = self.dut, bytearray()
        while True:
            await FallingEdge(dut.clk_net_i)
            dut.tx_ready_i.value = bool(frame) or not next(pause)
            # What is seen now happens at the edge that follows.
            await ReadOnly()
            if dut.tx_ready_i.value and dut.tx_valid_o.value:
                self.cycles += 1
                keep = int(dut.tx_keep_o.value)
                size = keep.bit_length()
                assert keep == (1 << size) - 1 and size > 0
                assert size == 8 or dut.tx_last_o.value
                frame += int(dut.tx_data_o.value).to_bytes(8, "little")[:size]
                if dut.tx_last_o.value:
                    self.frames.append(bytes(frame))
                    frame.clear()
            else:
                assert not frame, "a word was late"


async def start(dut):
    """Reset, with nothing to do."""
    Clock(dut.clk_net_i, 10, "ns").start()
    for port in dut:
        if port._name.endswith("_i") and not port._name.startswith("clk"):
            port.value = 0
    dut.mac_i.value = int.from_bytes(MAC, "big")
    dut.rst_net_ni.value = 0
    for _ in range(4):
        await FallingEdge(dut.clk_net_i)
    dut.rst_net_ni.value = 1
    await write(dut, 2, TEMPLATE)


async def write(dut, slot, data):
    """The firmware writes a slot."""
    for k in range(-(-len(data) // 4)):
        dut.cpu_we_i.value = 1
        dut.cpu_addr_i.value = slot * SLOT_WORDS + k
        dut.cpu_wdata_i.value = int.from_bytes(data[4 * k : 4 * k + 4].ljust(4, b"\x55"), "big")
        await FallingEdge(dut.clk_net_i)
    dut.cpu_we_i.value = 0


async def read(dut, slot, at, length):
    """The firmware reads a slot."""
    out = b""
    await FallingEdge(dut.clk_net_i)
    for k in range(at // 4, (at + length + 3) // 4):
        dut.cpu_addr_i.value = slot * SLOT_WORDS + k
        await FallingEdge(dut.clk_net_i)
        out += int(dut.cpu_rdata_o.value).to_bytes(4, "big")
    return out[:length]


async def firmware(dut, frames):
    """Sends frames from whichever slot is free."""
    slot = 0
    for data in frames:
        while int(dut.slot_busy_o.value) >> slot & 1:
            await FallingEdge(dut.clk_net_i)
        await write(dut, slot, data)
        dut.send_i.value, dut.send_slot_i.value, dut.send_bytes_i.value = 1, slot, len(data)
        await FallingEdge(dut.clk_net_i)
        dut.send_i.value = 0
        slot ^= 1


async def announcer(dut, side, items, rng):
    """Asks for announcements on one of the two ports."""
    valid, ready, port = (getattr(dut, f"{side}_{end}") for end in ("valid_i", "ready_o", "i"))
    for dst, seq, reason in items:
        for _ in range(rng.randrange(40)):
            await FallingEdge(dut.clk_net_i)
        valid.value, port.value = 1, packed(ANNOUNCEMENT, dst=dst, seq=seq, reason=reason)
        taken = False
        while not taken:
            await ReadOnly()
            taken = ready.value
            await FallingEdge(dut.clk_net_i)
        valid.value = 0


async def fetches(dut, items, gaps):
    """Plays rl_fetch and the queue of payloads."""
    for fields, payload in items:
        words = [payload[i : i + 8].ljust(8, b"\xaa") for i in range(0, len(payload), 8)]
        while next(gaps):
            await FallingEdge(dut.clk_net_i)
        dut.head_valid_i.value, dut.head_i.value = 1, packed(FETCH, length=len(payload), **fields)
        dut.fetched_valid_i.value = 1
        await FallingEdge(dut.clk_net_i)
        dut.fetched_ready_i.value = 1
        done = False
        while not done:
            dut.fetched_data_i.value = int.from_bytes(words[0], "little") if words else 0x5555
            await FallingEdge(dut.clk_net_i)
            await ReadOnly()
            taken, done = dut.fetched_take_o.value, dut.fetched_done_o.value
            await RisingEdge(dut.clk_net_i)
            if taken:
                words.pop(0)
        assert not words
        dut.head_valid_i.value = dut.fetched_valid_i.value = dut.fetched_ready_i.value = 0


def announcement(dst, seq, reason):
    frame = bytearray(TEMPLATE)
    frame[0:6] = dst.to_bytes(6, "big")
    frame[20:24] = seq.to_bytes(4, "big")
    frame[52] = reason
    return bytes(frame)


def fetched(fields, payload):
    head = fields["dst"].to_bytes(6, "big") + MAC + fields["ether_type"].to_bytes(2, "big")
    head += bytes([0x10 | fields["flags"], fields["kind"]]) + len(payload).to_bytes(2, "big")
    head += fields["epoch"].to_bytes(2, "big") + fields["seq"].to_bytes(4, "big") + fields["head_addr"].to_bytes(8, "big")
    return (head + payload).ljust(60, b"\0")


def draw_fetch(rng, length, to_cpu=0):
    fields = {name: rng.getrandbits(width) for name, width in FETCH if name not in ("to_cpu", "length")}
    return {**fields, "to_cpu": to_cpu}, rng.randbytes(length)


@cocotb.test()
@cocotb.parametrize(pause=["never", "ragged", "bursts"])
async def all_frames_come_whole(dut, pause):
    rng = random.Random(cocotb.RANDOM_SEED)
    await start(dut)
    wire = Wire(dut, PAUSES[pause]())
    frames = [rng.randbytes(rng.choice([32, 59, 60, 61, 64, 72, 100, 1504])) for _ in range(40)]
    answers = [(rng.getrandbits(48), rng.getrandbits(32), 2) for _ in range(20)]
    others = [(rng.getrandbits(48), rng.getrandbits(32), 3) for _ in range(20)]
    pulled = [draw_fetch(rng, rng.choice([1, 8, 27, 28, 29, 64, 1472, 8960])) for _ in range(30)]
    tasks = [
        cocotb.start_soon(firmware(dut, frames)),
        cocotb.start_soon(announcer(dut, "answer", answers, rng)),
        cocotb.start_soon(announcer(dut, "announce", others, rng)),
        cocotb.start_soon(fetches(dut, pulled, PAUSES["ragged"]())),
    ]
    for task in tasks:
        await task
    while not dut.idle_o.value:
        await FallingEdge(dut.clk_net_i)
    groups = {
        "firmware": [f.ljust(60, b"\0") for f in frames],
        "answers": [announcement(*a) for a in answers],
        "others": [announcement(*a) for a in others],
        "fetched": [fetched(*f) for f in pulled],
    }
    assert sorted(wire.frames) == sorted(sum(groups.values(), []))
    # Each source's in its own order, and none ends before the others have had their turns.
    for name, group in groups.items():
        assert [f for f in wire.frames if f in group] == group, name


@cocotb.test()
async def the_firmware_reads_what_it_fetches(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    await start(dut)
    wire = Wire(dut, PAUSES["never"]())
    for length in (1, 64, 100, 1472):
        fields, payload = draw_fetch(rng, length, to_cpu=1)
        await fetches(dut, [(fields, payload)], PAUSES["never"]())
        assert await read(dut, fields["flags"] & 1, 32, length) == payload
    for _ in range(20):
        await FallingEdge(dut.clk_net_i)
    assert wire.frames == [] and dut.idle_o.value


@cocotb.test()
async def fetched_frames_keep_the_line_busy(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    await start(dut)
    wire = Wire(dut, PAUSES["never"]())
    items = [draw_fetch(rng, 1472) for _ in range(20)]
    begin = cocotb.utils.get_sim_time("ns")
    await fetches(dut, items, PAUSES["never"]())
    cycles = (cocotb.utils.get_sim_time("ns") - begin) / 10
    dut._log.info("%.3f words a cycle", 20 * 188 / cycles)
    assert 20 * 188 / cycles > 0.95
    while not dut.idle_o.value:
        await FallingEdge(dut.clk_net_i)
    assert wire.frames == [fetched(*i) for i in items]


def test_rl_tx():
    bench("rl_tx", [*rtl("common"), "shell/rl_tx.sv"], __name__)
