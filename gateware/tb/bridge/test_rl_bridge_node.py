"""rl_bridge_node: whole nodes talk in frames, with each other and with the Rust `Endpoint`, and how long that takes them.

`BRIDGE_SEEDS` makes more of the turns with the twin: 6 by default."""

import os
from pathlib import Path

import cocotb
import pytest
from bridge_bench import READ, STREAM, WRITE, frame
from cocotb.triggers import RisingEdge
from network import MACS, TWIN, Network
from runner import bench

HERE = Path(__file__).parent
TURNS = int(os.environ.get("BRIDGE_SEEDS", "6"))
OF_1, OF_TWIN = 0x10_0000, 0x20_0000  # Where node 0 sees others' memory.
PASSED, DAMAGED = 0, 1
CYCLES = 25  # From the port to the wire, and from the wire to a port, at 512 bits.


async def opened(dut, **how):
    """Each node opens its memory and its streams to node 0 and the twin; both memories are random."""
    n = Network(dut, how.pop("seed", 1))
    await n.start(**how)
    for end in (0, 1):
        await n.window(end, 1, length=n.memory, rights=READ | WRITE)
        await n.window(end, 2, base=1, length=4, rights=STREAM)
    await n.region(0, 0, base=OF_1, size=n.memory, node=1, remote=0)
    await n.region(0, 1, base=OF_TWIN, size=n.memory, node=TWIN, remote=0)
    return n


async def use(n, base, mirror, turns):
    """Random writes and reads of node 0 at another node; what comes of each is looked at."""
    for _ in range(turns):
        length = n.draw.choice([1, 7, n.bytes, n.draw.randrange(1, 1500)])
        at = n.draw.randrange(n.memory - length + 1)
        data = n.draw.randbytes(length)
        assert (await n.port.write(base + at, data)).resp == 0
        mirror[at : at + length] = data
        length = n.draw.choice([1, 8, 64, 700])
        at = n.draw.randrange(n.memory - length + 1)
        got = await n.port.read(base + at, length)
        assert got.resp == 0 and got.data == mirror[at : at + length], (hex(at), length)


@cocotb.test()
async def two_nodes_talk_in_frames(dut):
    n = await opened(dut, pause=20)
    n.stall = 0.1
    mirror = await n.fill(1, 5)
    await use(n, OF_1, mirror, 10)
    lengths = [n.draw.choice([1, n.bytes, n.longest + 1, n.draw.randrange(1, 2 * n.longest)]) for _ in range(8)]
    messages = [n.draw.randbytes(length) for length in lengths]
    for data in messages:
        await n.out.send(frame(1, 2, data))
    for data in messages:
        got = await n.into.recv()
        assert (got.node, got.stream, got.data) == (1, 1, data)
    assert await n.peek(1, 0, n.memory) == mirror
    passed = await n.verdicts()
    assert passed == [{PASSED: n.frames[1]}, {PASSED: n.frames[0]}], (passed, n.frames)
    assert {head.kind for head in n.heads} >= {1, 2, 3, 4, 5}
    n.check()


@cocotb.test()
async def frames_that_are_lost_or_damaged_cost_time_only(dut):
    n = await opened(dut, seed=2)
    mirror = await n.fill(1, 6)
    n.loss, n.damage = 0.05, 0.05
    await use(n, OF_1, mirror, 12)
    data = n.draw.randbytes(3 * n.longest)
    await n.out.send(frame(1, 3, data))
    assert (await n.into.recv()).data == data
    n.loss = n.damage = 0.0
    assert await n.peek(1, 0, n.memory) == mirror
    assert sum(found.get(DAMAGED, 0) for found in await n.verdicts()) > 0
    n.check()


@cocotb.test()
async def the_twin_and_gateware_use_each_others_memory(dut):
    """Many requests at once both ways, more than there is credit for before a limit was heard, with loss too."""
    n = await opened(dut, rto=250)
    here, there = await n.fill(0, 7), bytearray(n.draw.randbytes(n.memory))
    twin = n.opened_twin(bytes(there))
    for turn in range(TURNS):
        n.loss = 0.0 if turn % 3 else 0.02
        task = cocotb.start_soon(use(n, OF_TWIN, there, 3))
        asked = {}
        for _ in range(n.draw.randrange(1, 40)):
            length = n.draw.choice([1, 8, 64, n.draw.randrange(1, n.longest + 1)])
            at = n.draw.randrange(n.memory - length + 1)
            if n.draw.random() < 0.5:
                data = n.draw.randbytes(length)
                here[at : at + length] = data
                asked[twin.write(MACS[0], at, data)] = b""
            else:
                asked[twin.read(MACS[0], at, length)] = bytes(here[at : at + length])
        n.hear_twin()
        while asked:
            for request, data in (await n.until(twin.done)).items():
                assert asked.pop(request) == data, f"turn {turn}: request {request}"
        await task
    assert await n.peek(0, 0, n.memory) == here
    assert twin.memory() == there
    assert twin.counters()["malformed"] == twin.counters()["denied"] == 0
    assert n.events(0)["malformed"] == n.events(0)["denied"] == 0
    n.check()


@cocotb.test()
async def neither_goes_beyond_the_others_credit(dut):
    """Who takes no messages holds up streams, both ways, and nothing breaks; requests go on meanwhile."""
    n = await opened(dut, rto=250)
    there = bytearray(n.draw.randbytes(n.memory))
    twin = n.opened_twin(bytes(there))
    n.into.pause = True
    ours = [n.draw.randbytes(n.draw.randrange(1, 2 * n.longest)) for _ in range(120)]
    theirs = [n.draw.randbytes(n.draw.choice([1, n.longest, 3 * n.longest])) for _ in range(30)]
    for data in ours:
        n.out.send_nowait(frame(TWIN, 3, data))
    sent = 0
    while sent < len(theirs) and twin.send(MACS[0], 2, theirs[sent]):
        sent += 1
    n.hear_twin()
    pieces = sum(-(-len(data) // n.longest) for data in ours)
    await n.cycles(pieces * n.longest // n.bytes // 2 + 8000)
    streams = [head for head in n.heads if head.channel == 1 and head.kind == 5]
    told = [max(head.seq for head in streams if head.src == MACS[node]) for node in (0, TWIN)]
    # The twin has room for 96 pieces, gateware for 16; both have begun with 16.
    assert told[0] == 96 and told[1] == 16, told
    await use(n, OF_TWIN, there, 2)
    n.into.pause = False
    for data in ours:
        node, stream, got = await n.until(twin.take)
        n.hear_twin()
        assert (node, stream, got) == (MACS[0], 3, data)
    for i, data in enumerate(theirs):
        while sent < len(theirs) and twin.send(MACS[0], 2, theirs[sent]):
            sent += 1
        n.hear_twin()
        got = await n.into.recv()
        assert (got.node, got.stream, got.data) == (TWIN, 2, data), i
    assert twin.counters()["malformed"] == twin.counters()["denied"] == 0


async def times(dut, marks):
    """Cycles between marks: each a signal, and which of its bits, that is up after the one before."""
    found, cycle = [], 0
    for name, bit in marks:
        while True:
            await RisingEdge(dut.clk_i)
            cycle += 1
            if int(getattr(dut, name).value) >> bit & 1:
                found.append(cycle)
                break
    return [later - sooner for sooner, later in zip(found, found[1:])]


@cocotb.test()
async def how_long_it_takes_from_port_to_wire_and_from_wire_to_memory(dut):
    memory = 60
    n = await opened(dut, latency=memory)
    await n.port.read(OF_1, 64)
    await n.cycles(2000)
    marks = [("a_arvalid", 0), ("tx_valid_o", 0), ("rx_valid_i", 1), ("m_arvalid_o", 1), ("m_rvalid_o", 1), ("tx_valid_o", 1),
             ("rx_valid_i", 0), ("a_rvalid", 0)]
    timed = cocotb.start_soon(times(dut, marks))
    await n.port.read(OF_1 + 128, 64)
    out, _, in_, waits, back, _, home = await timed
    total = out + in_ + waits + back + home
    # Frames are passed on whole here; on a wire their words follow each other.
    print(f"{8 * n.bytes} bits: fetch of 64 bytes, first words of frames: port to wire {out}, wire to memory {in_}, memory {waits}, "
          f"memory to wire {back}, wire to port {home}: {total} cycles")
    found = []
    for wait in (2000, 503, 509, 521):
        await n.cycles(wait)
        timed = cocotb.start_soon(times(dut, [("a_awvalid", 0), ("tx_valid_o", 0), ("rx_valid_i", 1), ("m_awvalid_o", 1)]))
        await n.port.write(OF_1 + 128, bytes(n.bytes))
        found.append(await timed)
    # The least: another event of the peer, a timer or an acknowledgement, may be under way.
    write_out, _, write_in = map(min, zip(*found))
    most_out, _, most_in = map(max, zip(*found))
    print(f"{8 * n.bytes} bits: write of a beat: port to wire {write_out} to {most_out}, wire to memory {write_in} to {most_in}")
    if n.bytes == 64:
        assert max(out, in_, back, home, write_out, write_in) <= CYCLES and total <= 162


@pytest.mark.parametrize("width,longest", [(64, 1024), (512, 4096)])
def test_rl_bridge_node(width, longest):
    parameters = {"DataW": width, "Longest": longest, "MemoryWords": (16 << 10) * 8 // width, "TickW": 8}
    bench("rl_bridge_node_tb", HERE.glob("*.sv"), __name__, parameters | {"TakeWords": 64 * longest * 8 // width})
