"""rl_bridge: what it takes, in cycles, and how much goes through. The wire side is not in this bench: its cycle out and 4
in, and the 96 bytes of a frame's head, are added."""

from pathlib import Path

import cocotb
import cocotb.utils
import pytest
from bridge_bench import PERIOD, READ, STREAM, WRITE, Bench, frame
from cocotb.triggers import RisingEdge
from runner import bench

HERE = Path(__file__).parent
OURS = 0x10_0000
WIRE_OUT, WIRE_IN = 1, 4
HEAD, GAP = 96, 24  # Bytes of a frame's head; of check sequence, preamble and gap.
MEMORY = 60
# Width: bits a second of the line, cycles of 4 ns or 6.4 ns.
LINES = {64: (10e9, 156.25e6), 512: (100e9, 250e6)}


async def opened(dut, **how):
    b = Bench(dut)
    await b.start(**{"rto": 200} | how)
    for end in (0, 1):
        await b.window(end, 5, length=b.memory, rights=READ | WRITE)
        await b.window(end, 6, length=16, rights=STREAM)
        await b.region(end, 3, base=OURS, size=b.memory, node=1 - end, remote=0)
    return b


def first(dut, name, end=None):
    value = getattr(dut, name).value
    return bool(value.to_unsigned() >> (end or 0) & 1) if end is not None else value == 1


async def times(dut, marks):
    """Cycles between marks, each a signal that goes up after the one before."""
    found, cycle = [], 0
    for name, end in marks:
        while True:
            await RisingEdge(dut.clk_i)
            cycle += 1
            if first(dut, name, end) and (name != "tx_valid_o" or first(dut, "tx_data_o", end)):
                found.append(cycle)
                break
    return [later - sooner for sooner, later in zip(found, found[1:])]


@cocotb.test()
async def a_fetch_of_64_bytes(dut):
    b = await opened(dut, latency=MEMORY)
    port = b.ports[0]
    await port.read(OURS, 64)
    await b.cycles(2000)
    marks = [("a_arvalid", None), ("tx_valid_o", 0), ("rx_valid_o", 1), ("m_arvalid_o", 1), ("m_rvalid_o", 1),
             ("tx_valid_o", 1), ("rx_valid_o", 0), ("a_rvalid", None)]
    timed = cocotb.start_soon(times(dut, marks))
    await port.read(OURS + 128, 64)
    out, _, in_, memory, back, _, home = await timed
    out, in_, back, home = out + WIRE_OUT, in_ + WIRE_IN, back + WIRE_OUT, home + WIRE_IN
    total = out + in_ + MEMORY + back + home
    rate = LINES[8 * b.bytes][1]
    print(f"{8 * b.bytes} bits: fetch of 64 bytes: port to wire {out}, wire to memory {in_}, memory {memory}, memory to wire "
          f"{back}, wire to port {home}: {total} cycles, {total / rate * 1e6:.3f} us")
    if b.bytes == 64:
        assert max(out, in_, back, home) <= 25 and total <= 162


@cocotb.test()
async def a_write_of_a_beat(dut):
    b = await opened(dut, latency=MEMORY)
    await b.ports[0].write(OURS, bytes(64))
    found = []
    for wait in (2000, *range(500, 560, 4)):
        await b.cycles(wait)
        marks = [("a_awvalid", None), ("tx_valid_o", 0), ("rx_valid_o", 1), ("m_awvalid_o", 1)]
        timed = cocotb.start_soon(times(dut, marks))
        await b.ports[0].write(OURS + 128, bytes(b.bytes))
        found.append(await timed)
    # Another event of the peer, a timer or an acknowledgement, may be under way.
    out, _, in_ = map(min, zip(*found))
    most_out, _, most_in = map(max, zip(*found))
    print(f"{8 * b.bytes} bits: write of a beat: port to wire {out + WIRE_OUT} to {most_out + WIRE_OUT}, wire to memory "
          f"{in_ + WIRE_IN} to {most_in + WIRE_IN} cycles")
    assert most_out + WIRE_OUT <= 25 and most_in + WIRE_IN <= 25


async def frames(b, end, count, ahead=4):
    """Of so many frames with a payload, by the words on the link: cycles for each, and bytes of the payload. What is
    ahead of them is not counted."""
    dut, cycle, begins, words, seen = b.dut, 0, 0, 0, 0
    while seen < ahead + count:
        await RisingEdge(dut.clk_i)
        cycle += 1
        if first(dut, "tx_valid_o", end) and first(dut, "tx_ready_o", end) and first(dut, "tx_data_o", end):
            words += 1
            if first(dut, "tx_last_o", end):
                seen += 1
                if seen == ahead:
                    begins, words = cycle, 0
    return (cycle - begins) / count, words * b.bytes / count


def share(width, payload, cycles):
    """Of the line's rate, at most what it can carry itself: payload bytes a frame, which takes so many cycles."""
    line, clock = LINES[width]
    on_line = (payload + HEAD + GAP) * 8 / line
    return payload * 8 / max(cycles / clock, on_line) / line, payload / (payload + HEAD + GAP)


@cocotb.test()
async def what_memory_goes_at(dut):
    """In bursts as long as can be: at 64 bits two of them share a frame, of 4 KiB."""
    b = await opened(dut, latency=MEMORY, delay=20)
    width, port, size = 8 * b.bytes, b.ports[0], b.memory // 2
    burst = min(4096, 256 * b.bytes)
    count = 46 * 4096 // size + 1
    uses = (("writes", 0, lambda: port.write(OURS, bytes(size))), ("reads", 1, lambda: port.read(OURS, size)))
    for name, end, use in uses:
        measured = cocotb.start_soon(frames(b, end, 40))
        tasks = [cocotb.start_soon(use()) for _ in range(count)]
        cycles, payload = await measured
        got, most = share(width, payload, cycles)
        print(f"{width} bits: {name} in bursts of {burst} bytes: frames of {payload:.0f} bytes, {cycles:.1f} cycles each, "
              f"{100 * got:.2f} % of the line; such frames allow {100 * most:.2f} %")
        for task in tasks:
            assert (await task).resp == 0
        await b.cycles(3000)
        assert got >= 0.97


@cocotb.test()
async def what_streams_go_at(dut):
    b = await opened(dut, delay=20)
    width = 8 * b.bytes
    task = cocotb.start_soon(frames(b, 0, 40))
    for _ in range(13):
        b.out[0].send_nowait(frame(1, 2, bytes(4 * 4096)))
    cycles, payload = await task
    got, most = share(width, payload, cycles)
    print(f"{width} bits: streams in pieces of {payload:.0f} bytes: {cycles:.1f} cycles each, {100 * got:.2f} % of the "
          f"line; such frames allow {100 * most:.2f} %")
    assert got >= 0.995 * most and got >= 0.97


@cocotb.test()
async def messages_of_8_kib_over_a_long_way(dut):
    """1.8 us there and back: from where the first one has been received, or answered, to where the last one has."""
    width = dut.DataW.value.to_unsigned()
    line, clock = LINES[width]
    b = await opened(dut, delay=int(0.9e-6 * clock))
    count = 24
    for name in ("streams", "writes"):
        if name == "streams":
            for _ in range(count):
                b.out[0].send_nowait(frame(1, 2, bytes(8192)))
            ends = [b.into[1].recv() for _ in range(count)]
        else:
            port, data = b.ports[0], bytes(8192)
            ends = [cocotb.start_soon(port.write(OURS + 8192 * (i % 2), data)) for i in range(count)]
        await ends[0]
        start = cocotb.utils.get_sim_time("ns")
        for end in ends[1:]:
            await end
        cycles = (cocotb.utils.get_sim_time("ns") - start) / PERIOD
        rate = min((count - 1) * 8192 * 8 / (cycles / clock) / line, 8192 / (8192 + 2 * (HEAD + GAP)))
        print(f"{width} bits: messages of 8 KiB by {name}, 1.8 us there and back: {100 * rate:.1f} % of the line")
        assert rate >= 0.95


@pytest.mark.parametrize("width", [64, 512])
def test_rl_bridge_rates(width):
    parameters = {"DataW": width, "Longest": 4096, "MemoryWords": (32 << 10) * 8 // width, "TickW": 6}
    bench("rl_bridge_tb", HERE.glob("*.sv"), __name__, parameters | {"TakeWords": 64 * 4096 * 8 // width})
