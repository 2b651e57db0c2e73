"""rl_bridge: nodes read and write each other's memory, and send each other streams, over a cable that may lose.
`BRIDGE_SEEDS` says how many requests each node makes, 12 by default."""

import os
from pathlib import Path

import cocotb
import pytest
from bridge_bench import READ, STREAM, TICK, WRITE, Bench, frame
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from runner import bench

HERE = Path(__file__).parent
TURNS = int(os.environ.get("BRIDGE_SEEDS", "12"))
OURS = 0x10_0000  # Where the other node's memory is for each of them.
SLVERR, DECERR = 2, 3


async def opened(dut, **how):
    """Both bridges with all of their memory open to the other, and random bytes in it."""
    b = Bench(dut, how.pop("seed", 1))
    await b.start(**how)
    for end in (0, 1):
        await b.window(end, 5, length=b.memory, rights=READ | WRITE, peer=1 - end)
        await b.region(end, 3, base=OURS, size=b.memory, node=1 - end, remote=0)
    return b, [await b.fill(0, 7), await b.fill(1, 8)]


async def use(b, end, mirror, turns, lock=None):
    """Random writes and reads of a node at the other; what comes of each is looked at."""
    port, other = b.ports[end], 1 - end
    for _ in range(turns):
        length = min(b.draw.choice([1, 7, b.bytes, b.draw.randrange(1, 3000)]), b.memory)
        at = b.draw.randrange(b.memory - length + 1)
        data = b.draw.randbytes(length)
        assert (await port.write(OURS + at, data)).resp == 0
        mirror[other][at : at + length] = data
        length = min(b.draw.choice([1, 8, 64, 700, 2500]), b.memory)
        at = b.draw.randrange(b.memory - length + 1)
        got = await port.read(OURS + at, length)
        assert got.resp == 0 and got.data == mirror[other][at : at + length], (hex(at), length)


async def settled(b, mirror):
    for end in (0, 1):
        assert await b.peek(end, 0, b.memory) == mirror[end]
        assert b.events(end)["malformed"] == b.events(end)["denied"] == 0, b.events(end)
    b.check()


@cocotb.test()
async def two_nodes_use_each_others_memory(dut):
    b, mirror = await opened(dut, pause=40)
    tasks = [cocotb.start_soon(use(b, end, mirror, TURNS)) for end in (0, 1)]
    for task in tasks:
        await task
    await settled(b, mirror)


@cocotb.test()
async def a_cable_that_loses_costs_time_only(dut):
    b, mirror = await opened(dut, loss=20, delay=40, seed=3)
    tasks = [cocotb.start_soon(use(b, end, mirror, 8)) for end in (0, 1)]
    for task in tasks:
        await task
    assert dut.lost_o.value.to_unsigned() > 5
    await settled(b, mirror)


@cocotb.test()
async def many_at_once_are_answered_in_order(dut):
    """Several bursts under way, reads and writes; each finds its own bytes."""
    b, mirror = await opened(dut, latency=60, delay=100)
    size = b.memory // 16
    writes = [cocotb.start_soon(b.ports[0].write(OURS + i * size, bytes([i]) * size, awid=i % 3)) for i in range(16)]
    for task in writes:
        assert (await task).resp == 0
    reads = [cocotb.start_soon(b.ports[0].read(OURS + i * size, size, arid=i % 5)) for i in range(16)]
    for i, task in enumerate(reads):
        got = await task
        assert got.resp == 0 and got.data == bytes([i]) * size
    b.check()


async def write_burst(dut, addr, beats, size):
    """At port b, by hand: beats are pairs of bytes and strobes. Returns the response."""
    await FallingEdge(dut.clk_i)
    dut.b_awaddr.value, dut.b_awlen.value, dut.b_awsize.value, dut.b_awburst.value = addr, len(beats) - 1, size, 1
    dut.b_awid.value, dut.b_awvalid.value, dut.b_bready.value = 9, 1, 1
    await RisingEdge(dut.clk_i)
    while not dut.b_awready.value:
        await RisingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.b_awvalid.value = 0
    for i, (data, strobes) in enumerate(beats):
        dut.b_wdata.value, dut.b_wstrb.value = int.from_bytes(data, "little"), strobes
        dut.b_wlast.value, dut.b_wvalid.value = int(i == len(beats) - 1), 1
        await RisingEdge(dut.clk_i)
        while not dut.b_wready.value:
            await RisingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
    dut.b_wvalid.value = 0
    while not dut.b_bvalid.value:
        await RisingEdge(dut.clk_i)
    assert dut.b_bid.value.to_unsigned() == 9
    resp = dut.b_bresp.value.to_unsigned()
    await FallingEdge(dut.clk_i)
    return resp


@cocotb.test()
async def holes_stay_as_they_were(dut):
    b = Bench(dut)
    await b.start(ports="a")
    await b.window(0, 0, length=b.memory, rights=WRITE)
    await b.region(1, 0, base=0, size=b.memory, node=0, remote=0)
    mirror = await b.fill(0, 3)
    size = (b.bytes - 1).bit_length()
    full = (1 << b.bytes) - 1
    for turn in range(40):
        at = b.draw.randrange(b.memory // b.bytes - 8) * b.bytes
        count = b.draw.randrange(1, min(8, (4096 - at % 4096) // b.bytes) + 1)
        beats = []
        for i in range(count):
            random_mask = b.draw.getrandbits(b.bytes)
            run = full >> b.draw.randrange(b.bytes) << b.draw.randrange(b.bytes) & full
            mask = b.draw.choice([full, full, random_mask, run, 0, full >> 1, full & ~1])
            data = b.draw.randbytes(b.bytes)
            beats.append((data, mask))
            for j in range(b.bytes):
                if mask >> j & 1:
                    mirror[at + i * b.bytes + j] = data[j]
        assert await write_burst(dut, at, beats, size) == 0, turn
    assert await b.peek(0, 0, b.memory) == mirror
    # Bursts that there cannot be, and an address that leads nowhere.
    ok = (bytes(b.bytes), full)
    assert await write_burst(dut, 4096 - b.bytes, [ok, ok], size) == DECERR
    assert await write_burst(dut, 0, [ok, ok], size - 1) == DECERR
    assert await write_burst(dut, b.memory, [ok], size) == DECERR
    assert await b.peek(0, 0, b.memory) == mirror
    b.check()


@cocotb.test()
async def messages_of_streams_arrive_whole(dut):
    b = Bench(dut, 4)
    await b.start(delay=30, loss=6)
    expected = {0: [], 1: []}
    for end in (0, 1):
        await b.window(end, 0, base=2, length=3, rights=STREAM)
        b.into[end].lazy = 0.4
    for turn in range(24):
        for end in (0, 1):
            length = b.draw.choice([0, 1, b.bytes, b.longest, b.longest + 1, b.draw.randrange(1, 3 * b.longest)])
            data = b.draw.randbytes(length)
            stream = b.draw.randrange(2, 5)
            expected[1 - end].append((stream, data))
            if length:
                await b.out[end].send(frame(1 - end, stream, data))
            else:
                message = frame(1 - end, stream, bytes(1))
                message.tkeep = [0]
                await b.out[end].send(message)
    for end in (0, 1):
        for stream, data in expected[end]:
            got = await b.into[end].recv()
            assert (got.node, got.stream, got.cut) == (1 - end, stream, False)
            assert got.data == data, (len(got.data), len(data))
    b.check()


@cocotb.test()
async def a_sink_that_takes_nothing_holds_its_streams_up_and_nothing_else(dut):
    b, mirror = await opened(dut)
    await b.window(1, 0, base=0, length=16, rights=STREAM)
    b.into[1].pause = True
    data = [b.draw.randbytes(b.longest) for _ in range(80)]
    for message in data:
        b.out[0].send_nowait(frame(1, 3, message))
    await b.cycles(80 * b.longest // b.bytes + 4000)
    # Its credit, and what the sender holds: of 80 messages it cannot have taken all.
    assert not b.out[0].empty()
    await use(b, 0, mirror, 4)
    assert not b.out[0].empty()
    b.into[1].pause = False
    for message in data:
        assert (await b.into[1].recv()).data == message
    await settled(b, mirror)


@cocotb.test()
async def messages_for_nobody_go_nowhere(dut):
    b = Bench(dut)
    await b.start()
    await b.window(1, 0, base=0, length=16, rights=STREAM)
    for node, stream in ((9, 1), (1, 16), (1, 5)):
        await b.out[0].send(frame(node, stream, bytes(3 * b.bytes)))
    got = await b.into[1].recv()
    assert len(got.data) == 3 * b.bytes and b.events(0)["denied"] == 2


@cocotb.test()
async def a_message_that_is_too_long_is_cut(dut):
    b = Bench(dut)
    await b.start()
    await b.window(1, 0, base=0, length=16, rights=STREAM)
    data = b.draw.randbytes((64 << 10) + 3 * b.bytes)
    await b.out[0].send(frame(1, 1, data))
    await b.out[0].send(frame(1, 1, b"next"))
    assert (await b.into[1].recv()).data == data[: 64 << 10]
    assert (await b.into[1].recv()).data == b"next"
    assert b.events(0)["denied"] == 1


async def bound(dut, task, cycles):
    """The task's result, which must be there by then."""
    for _ in range(cycles // 100):
        if task.done():
            return task.result()
        await ClockCycles(dut.clk_i, 100)
    raise AssertionError(f"not within {cycles} cycles")


@cocotb.test()
async def who_is_dead_is_found_out_within_a_bound(dut):
    """And what others ask for meanwhile is served."""
    b, mirror = await opened(dut)
    await use(b, 0, mirror, 2)
    patience = 5 * TICK << dut.TickW.value.to_unsigned()
    await b.region(0, 4, base=0x40_0000, size=4096, node=2, remote=0)  # The bare transport answers nobody.
    port = b.ports[0]
    dead = [cocotb.start_soon(port.read(0x40_0000, 64)), cocotb.start_soon(port.write(0x40_0000, bytes(64)))]
    await b.cycles(100)
    await use(b, 1, mirror, 4)
    for task in dead:
        assert (await bound(dut, task, patience)).resp == SLVERR
    dut.cut_i.value = 2
    dead = cocotb.start_soon(b.ports[0].write(OURS, bytes(2000)))
    assert (await bound(dut, dead, patience)).resp == SLVERR
    dut.cut_i.value = 0
    b.check()


@cocotb.test()
async def a_life_that_ends_ends_what_was_asked_of_it(dut):
    b, mirror = await opened(dut, delay=20, latency=3000)
    patience = 4 * TICK << dut.TickW.value.to_unsigned()
    await use(b, 0, mirror, 1)
    await b.window(1, 0, base=0, length=16, rights=STREAM)
    waits = cocotb.start_soon(b.ports[0].read(OURS, 64))
    await b.cycles(300)
    dut.live_i.value = 5
    b.epochs[1] += 1
    b.set_epochs()
    await b.cycles(20)
    dut.live_i.value = 7
    await b.cycles(40)
    await b.window(1, 5, length=b.memory, rights=READ | WRITE, peer=0)
    # Its new life says something; then it is known that what was asked is lost.
    await b.region(1, 3, base=OURS, size=b.memory, node=0, remote=0)
    assert (await b.ports[1].read(OURS, 64)).data == mirror[0][:64]
    assert (await bound(dut, waits, patience // 2)).resp == SLVERR
    dut.latency_i.value = 10 | 10 << 16
    await use(b, 0, mirror, 3)
    await use(b, 1, mirror, 3)


@cocotb.test()
async def an_owner_ends_a_connection(dut):
    """What was asked ends, the rest of a message is cut off, and both go on."""
    b, mirror = await opened(dut, latency=2500, delay=20)
    await b.window(0, 0, base=0, length=16, rights=STREAM)
    patience = 4 * TICK << dut.TickW.value.to_unsigned()
    await use(b, 0, mirror, 1)
    await b.out[1].send(frame(0, 2, b"whole"))
    assert (await b.into[0].recv()).data == b"whole"
    waits = cocotb.start_soon(b.ports[0].read(OURS, 64))
    await b.out[1].send(frame(0, 2, bytes(16 * b.longest)))
    while not b.into[0].parts:
        await b.cycles(1)
    b.out[1].pause = True
    await b.cycles(200)
    await FallingEdge(dut.clk_i)
    dut.drop_i.value, dut.drop_node_i.value = 3, 1
    await FallingEdge(dut.clk_i)
    dut.drop_i.value = 0
    assert (await bound(dut, waits, patience // 2)).resp == SLVERR
    dut.latency_i.value = 10 | 10 << 16
    await use(b, 0, mirror, 3)
    cut = await b.into[0].recv()
    assert cut.cut and len(cut.data) < 16 * b.longest, "the message was cut off"
    b.out[1].pause = False


@pytest.mark.parametrize("width,longest", [(64, 1024), (512, 4096)])
def test_rl_bridge(width, longest):
    parameters = {"DataW": width, "Longest": longest, "MemoryWords": (32 << 10) * 8 // width, "TickW": 6}
    bench("rl_bridge_tb", HERE.glob("*.sv"), __name__, parameters | {"TakeWords": 64 * longest * 8 // width})
