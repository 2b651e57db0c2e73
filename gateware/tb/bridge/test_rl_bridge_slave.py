"""rl_bridge_slave: bursts that share requests, and those that may not.

`BRIDGE_SEEDS` says how many rounds run, 2 by default."""

import os

import cocotb
import pytest
from bridge_bench import OK
from cocotb.triggers import ClockCycles, RisingEdge
from runner import bench
from slave_bench import EITHER, PAGE, Burst, Region, SlaveBench

SEEDS = int(os.environ.get("BRIDGE_SEEDS", "2"))
FIRST = int(os.environ.get("COCOTB_RANDOM_SEED", "1"))
# Pages beside each other that lead to different places, one to a node that there is not, and one nowhere.
REGIONS = [Region(0x10_0000, 2 * PAGE, 1, 0x7000_0000), Region(0x10_2000, PAGE, 2, 0x1000),
           Region(0x10_3000, PAGE, 1, 0), Region(0x10_4000, PAGE, 9, 0)]
BASE, PAGES = 0x10_0000, 6


async def opened(dut, seed=1):
    s = SlaveBench(dut, seed)
    await s.start()
    for index, region in enumerate(REGIONS):
        await s.set(index, region)
    return s


def bursts(s, count):
    """Random bursts. Many continue the one before them, or nearly do."""
    draw, page = s.draw, PAGE // s.bytes
    size = s.bytes.bit_length() - 1
    said, last = [], Burst(0, BASE, 1, size)
    for _ in range(count):
        beats = min(draw.choice([1, 1, 2, draw.randrange(1, 9), draw.randrange(1, 257), 256]), 256)
        next_addr = (last.addr // s.bytes + last.beats) * s.bytes
        kind = draw.random()
        if kind < 0.65:
            # As long as a page has room, mostly; from its end on it goes on elsewhere.
            room = page - next_addr // s.bytes % page
            beats = min(beats, room) if draw.random() < 0.9 else beats
            burst = Burst(last.id, next_addr, beats, size)
            if draw.random() < 0.15:
                wrong = draw.choice(["id", "page", "gap", "again", "fine", "narrow", "fixed", "wraps"])
                if wrong == "id":
                    burst.id ^= 1 << draw.randrange(6)
                elif wrong == "page":
                    burst.addr ^= PAGE
                elif wrong == "gap":
                    burst.addr += s.bytes
                elif wrong == "again":
                    burst.addr = last.addr // s.bytes * s.bytes
                elif wrong == "fine":
                    burst.addr += draw.randrange(1, s.bytes)
                elif wrong == "narrow":
                    burst.beats, burst.size = 1, draw.randrange(size)
                elif wrong == "fixed":
                    burst.kind = 0
                else:
                    # To the page's end, and on from its beginning.
                    burst.beats = min(256, room)
                    said.append(burst)
                    burst = Burst(last.id, next_addr // PAGE * PAGE, draw.randrange(1, 5), size)
        else:
            addr = BASE + draw.randrange(PAGES * PAGE // s.bytes) * s.bytes
            if draw.random() < 0.5:
                addr = addr // PAGE * PAGE
            room = page - addr // s.bytes % page
            burst = Burst(draw.randrange(64), addr, min(beats, room) if draw.random() < 0.95 else beats, size)
            if draw.random() < 0.1:
                burst.addr += draw.randrange(s.bytes)
        if not BASE <= burst.addr < BASE + PAGES * PAGE:
            burst.addr = BASE
        said.append(burst)
        last = said[-1]
    return said


def row(s, count, beats, at=BASE, ident=5):
    """Bursts that continue each other."""
    return [Burst(ident, at + i * beats * s.bytes, beats, s.bytes.bit_length() - 1) for i in range(count)]


async def read(s, said, pause=0.0):
    for burst in said:
        await s.address("ar", burst, pause)


async def write(s, said, pause=0.0, holes=0.0):
    """Addresses up to three bursts ahead of their words."""
    said = [s.filled(burst, holes) for burst in said]

    async def addresses():
        for burst in said:
            await s.address("aw", burst, pause)

    task = cocotb.start_soon(addresses())
    for burst in said:
        # The words are not looked at before their address is.
        await s.words(burst, pause if s.draw.random() < 0.5 else 0.0)
    await task


def count_joined(s, kind):
    joined, most = s.joined(kind)
    print(f"{8 * s.bytes} bits, longest {s.longest}: {len(s.requests[kind])} {('reads', 'writes')[kind]}, {joined} of "
          f"several bursts, of {most} at most; {s.answered[kind]} bursts answered, {s.failed} errors")
    return joined, most


@cocotb.test()
async def each_burst_is_answered_with_what_is_its(dut):
    """Whatever its neighbours are, with pauses anywhere and nodes that refuse."""
    s = await opened(dut, FIRST)
    for turn in range(SEEDS):
        for pause, holes, denies in ((0.0, 0.0, 0.0), (0.3, 0.05, 0.1), (0.6, 0.2, 0.3), (0.1, 0.0, 0.1)):
            s.pause, s.denies = pause, denies
            tasks = [cocotb.start_soon(read(s, bursts(s, 60), pause / 2)),
                     cocotb.start_soon(write(s, bursts(s, 60), pause / 2, holes))]
            for task in tasks:
                await task
            await s.settled()
    for kind in (0, 1):
        joined, most = count_joined(s, kind)
        assert (joined >= 20 and most > 2) if s.joins else joined == 0


@cocotb.test()
async def lives_that_end_and_answers_that_are_lost_end_all_of_their_bursts(dut):
    s = await opened(dut, FIRST + 1)
    for turn in range(SEEDS):
        s.pause, s.denies, s.loses = 0.1, 0.05, 0.02
        tasks = [cocotb.start_soon(read(s, bursts(s, 50), 0.0)), cocotb.start_soon(write(s, bursts(s, 50), 0.0, 0.05))]
        while not all(task.done() for task in tasks):
            await ClockCycles(dut.clk_i, s.draw.randrange(50, 1500))
            await s.forget(s.draw.choice([1, 2]))
        await s.settled()
    # None is answered; the end of a life ends all of it at once.
    s.pause, s.denies, s.loses = 0.0, 0.0, 1.0
    failed = s.failed
    tasks = [cocotb.start_soon(read(s, row(s, 4, 16))), cocotb.start_soon(write(s, row(s, 4, 16)))]
    for task in tasks:
        await task
    await ClockCycles(dut.clk_i, 200)
    assert len(s.reads) == 64 and len(s.bursts) == 4
    await s.forget(1)
    await s.settled(200)
    assert s.failed - failed == 64 + 4
    # Nor is it wrong for those that come later.
    s.loses, failed = 0.0, s.failed
    await read(s, row(s, 4, 16))
    await write(s, row(s, 4, 16))
    await s.settled()
    assert s.failed == failed


@cocotb.test()
async def what_finds_no_room_ends_all_of_its_bursts(dut):
    s = await opened(dut)
    for deaf in (True, False):
        s.deaf = s.refuses = deaf
        await read(s, row(s, 6, 8))
        await write(s, row(s, 6, 8))
        await s.settled()
        assert s.failed == 6 * 8 + 6
        assert bool(s.requests[0]) != deaf and bool(s.requests[1]) != deaf


async def until(s, condition, timeout):
    """Cycles until it is so."""
    for cycle in range(timeout):
        if condition():
            return cycle
        await RisingEdge(s.dut.clk_i)
    raise AssertionError(f"not within {timeout} cycles")


@cocotb.test()
async def no_burst_waits_for_another_that_may_not_come(dut):
    """A manager may say a burst's address, and some of its words, and then wait for the answer to the one before it."""
    s = await opened(dut)
    for turn, (ahead, some) in enumerate(((False, 0), (True, 0), (True, 1), (True, 5))):
        one, two = [s.filled(burst) for burst in row(s, 2, 8, BASE + turn * 16 * s.bytes)]
        await s.address("aw", one)
        task = cocotb.start_soon(s.address("aw", two)) if ahead else None
        await s.words(one)
        # Nothing else is under way, so it leaves at once.
        count = len(s.requests[1])
        if not some:
            assert await until(s, lambda: len(s.requests[1]) > count, 12) <= 8
        else:
            await s.words(two, some=slice(0, some))
        await until(s, lambda: s.answered[1] == 2 * turn + 1, 300)
        if not ahead:
            await s.address("aw", two)
        await s.words(two, some=slice(some, None))
        await until(s, lambda: s.answered[1] == 2 * turn + 2, 300)
    await s.address("ar", *row(s, 1, 8))
    assert await until(s, lambda: s.requests[0], 30) <= 14
    await s.settled()
    assert s.failed == 0


@cocotb.test()
async def what_waits_for_the_sender_takes_more_with_it(dut):
    """While nothing is taken, bursts that continue each other gather, but only as long as regions are as they were."""
    s = await opened(dut)
    if not s.joins:
        return
    for moved in (False, True):
        await s.set(0, REGIONS[0])
        s.deaf, before = True, [len(requests) for requests in s.requests]
        # A write that is offered meanwhile: of the reads, the first one is.
        await write(s, row(s, 1, 1, BASE + PAGE))
        await ClockCycles(dut.clk_i, 40)
        reads, writes = row(s, 4, 8), row(s, 4, 8)
        await read(s, reads[:1])
        await write(s, writes[:1])
        await ClockCycles(dut.clk_i, 40)
        if moved:
            await s.set(0, Region(BASE, 2 * PAGE, 2, 0x5000_0000))
        tasks = [cocotb.start_soon(read(s, reads[1:])), cocotb.start_soon(write(s, writes[1:]))]
        await ClockCycles(dut.clk_i, 100)
        s.deaf = False
        for task in tasks:
            await task
        await s.settled()
        found = [[(r.node, len(r.bursts)) for r in requests[count:]] for requests, count in zip(s.requests, before)]
        if moved:
            assert found[0][0] == (1, 1) and {node for node, _ in found[0][1:]} == {2}, found
            assert found[1] == [(1, 1), (1, 1), (2, 3)], found
        else:
            assert found == [[(1, 1), (1, 3)], [(1, 1), (1, 4)]], found
    assert s.failed == 0


@cocotb.test()
async def a_request_holds_only_so_many_bursts(dut):
    """Of single beats: more than answers are counted for, and than there is room for while nothing is taken."""
    s = await opened(dut)
    s.deaf = True
    tasks = [cocotb.start_soon(use(s, row(s, 100, 1))) for use in (read, write)]
    await ClockCycles(dut.clk_i, 1000)
    s.deaf = False
    for task in tasks:
        await task
    await s.settled()
    assert s.failed == 0 and s.answered == [100, 100]
    if s.joins:
        assert s.joined(0)[1] >= 20 and s.joined(1)[1] == 15


@pytest.mark.parametrize("width,longest,joins", [(64, 4096, 1), (64, 1024, 1), (64, 2048, 0), (512, 4096, 0)])
def test_rl_bridge_slave(width, longest, joins):
    parameters = {"DataW": width, "Longest": longest, "Joins": joins, "TickW": 10, "Nodes": 4, "Regions": 4,
                  "ReadWords": max(512, 2 * longest * 8 // width), "WriteWords": max(64, 2 * longest * 8 // width)}
    bench("rl_bridge_slave", [], __name__, parameters)
