"""Messages between two cards over a link: two ends of gateware, over a cable that damages frames, is cut, and takes its
time; memories that pause and fail; and in cycles, what a message takes.

`LINK_SEEDS` says how many random runs there are, 4 by default, and `LINK_WIDTHS` how many bits words have, 64 by
default.
"""

import os
import random
from pathlib import Path

import cocotb
import pytest
from link_bench import (
    DATA_AT,
    DONE,
    EAGER,
    LINK_DEAD,
    MEMORY_FAILED,
    MISMATCH,
    RESTARTED,
    SLOTS,
    Area,
    Ends,
    Key,
)
from runner import bench, rtl

HERE = Path(__file__).parent
SEEDS = int(os.environ.get("LINK_SEEDS", "4"))
WIDTHS = [int(width) for width in os.environ.get("LINK_WIDTHS", "64").split()]
PUT, TAKE = "put", "take"


async def message(ends, area, length, slot=0, key=None, source=0, early=False, other_slot=None, wait=None):
    """Begins to move random bytes: what is to be compared afterwards."""
    key = key or Key(random.getrandbits(16), random.getrandbits(32), random.getrandbits(64))
    other_slot = slot if other_slot is None else other_slot
    data, frm, to = random.randbytes(length), area.place(length), area.place(length)
    await ends.write(source, frm, data)
    fence = random.randbytes(length + 16)
    await ends.write(1 - source, to - 8, fence)
    steps = [(PUT, source, slot, frm), (TAKE, 1 - source, other_slot, to)]
    for at, (kind, end, own, addr) in enumerate(steps if early else steps[::-1]):
        await ends.begin(kind, end, own, key, addr, length)
        if at == 0:
            # All of it comes before its take, or only some; or the neighbour waits for it before it is begun.
            some = [300 + length // 6, 300 + length // 12] if length > 3000 else [300, random.randrange(1, 200)]
            await ends.cycles(random.choice(some if early else [1, 300]) if wait is None else wait)
    return [(PUT, source, slot), (TAKE, 1 - source, other_slot)], (1 - source, to, data, fence)


async def compare(ends, moved):
    end, to, data, fence = moved
    got = await ends.read(end, to - 8, len(fence))
    assert got == fence[:8] + data + fence[-8:], f"{len(data)} bytes at {to:#x}"


SIZES = [0, 1, 7, 8, 63, 64, 65, 1407, 1408, 1409, EAGER - 1, EAGER, EAGER + 1, 40000]


@cocotb.test()
@cocotb.parametrize(early=[False, True])
async def each_size_comes_as_it_was(dut, early):
    ends, area = Ends(dut), Area()
    await ends.start()
    for length in SIZES:
        moves, moved = await message(ends, area, length, random.randrange(SLOTS), source=random.getrandbits(1),
                                     early=early, other_slot=random.randrange(SLOTS))
        assert await ends.settled(moves) == [DONE, DONE], length
        await compare(ends, moved)
    assert ends.field("overs_o", 0) == ends.field("strays_o", 0) == ends.field("strays_o", 1) == 0
    await ends.healthy()


@cocotb.test()
async def a_take_goes_on_where_an_early_message_is(dut):
    ends, area = Ends(dut), Area()
    await ends.start()
    for wait in range(300, 2700, 400):
        moves, moved = await message(ends, area, EAGER, early=True, wait=wait)
        assert await ends.settled(moves) == [DONE, DONE], wait
        await compare(ends, moved)
    await ends.healthy()


@cocotb.test()
async def contexts_do_not_wait_for_each_other(dut):
    """One that has not been taken, of each kind, holds up nobody; taken at last, it comes."""
    ends, area = Ends(dut), Area()
    await ends.start()
    held = []
    for slot, length in ((0, 20000), (1, 300)):
        data, frm = random.randbytes(length), area.place(length)
        await ends.write(0, frm, data)
        await ends.begin(PUT, 0, slot, Key(slot, 5), frm, length)
        held.append((slot, length, data))
    for _ in range(3):
        moves, moved = await message(ends, area, 2000, slot=2)
        assert await ends.settled(moves) == [DONE, DONE]
        await compare(ends, moved)
    assert [ends.ended(PUT, 0, slot) for slot in (0, 1)] == [None, None]
    for slot, length, data in held:
        to = area.place(length)
        await ends.begin(TAKE, 1, 7 - slot, Key(slot, 5), to, length)
        assert await ends.settled([(PUT, 0, slot), (TAKE, 1, 7 - slot)]) == [DONE, DONE]
        assert await ends.read(1, to, length) == data
    await ends.healthy()


@cocotb.test()
@cocotb.parametrize(seed=list(range(SEEDS)))
async def whatever_the_cable_does_all_bytes_are_right(dut, seed):
    """Damaged frames, a cable and memories that pause, several contexts at once and both directions."""
    random.seed(seed)
    ends, area = Ends(dut), Area()
    await ends.start(
        errors=random.choice([0, 2000, 8000]), stall=random.choice([0, 100]), pause=random.choice([0, 60, 128]),
        latency=random.choice([1, 20, 60]), delay=random.choice([1, 40]), patience=2000,
        epochs=(random.getrandbits(30) or 1, (1 << 32) - 1), seed=random.getrandbits(31) + 1,
    )
    for _ in range(5):
        moves, moved = [], []
        for slot in random.sample(range(SLOTS), 4):
            # A context's put and its take are apart, as the two directions are.
            length = random.choice([0, 8, 100, 1500, random.randrange(6000), random.choice([0, EAGER + 77])])
            some, one = await message(ends, area, length, slot, source=random.getrandbits(1),
                                      early=random.random() < 0.4)
            moves += some
            moved.append(one)
        assert set(await ends.settled(moves, 400000)) == {DONE}
        for one in moved:
            await compare(ends, one)
    assert ends.field("overs_o", 0) == ends.field("overs_o", 1) == 0
    await ends.healthy()


@cocotb.test()
async def a_dead_link_is_noticed_in_time_and_comes_back(dut):
    ends, area = Ends(dut), Area()
    await ends.start(patience=400, rto=30)
    # It comes up as soon as somebody waits.
    await ends.begin(TAKE, 1, 7, Key(8), DATA_AT, 10)
    await ends.cycles(300)
    assert dut.up_o.value.to_unsigned() == 3
    dut.cancel_i.value = 1 << 15
    await ends.cycles(2)
    dut.cancel_i.value = 0
    moves, moved = await message(ends, area, 500)
    assert await ends.settled(moves) == [DONE, DONE]
    assert [ends.field("neighbour_mac_o", e, 48) for e in (0, 1)] == [0x02524C000209, 0x02524C000107]
    assert dut.neighbour_valid_o.value.to_unsigned() == dut.up_o.value.to_unsigned() == 3
    dut.cut_i.value = 3
    await ends.cycles(200)  # What is under way has come.
    begun = []
    for end in (0, 1):
        await ends.begin(PUT, end, 3, Key(1, 2), area.at, 100)
        begun.append(ends.field("put_at_o", end))
    bound = (ends.patience + 1) * ends.tick
    await ends.cycles(bound - 2 * ends.tick)
    assert [ends.ended(PUT, end, 3) for end in (0, 1)] == [None, None], "too early"
    assert await ends.settled([(PUT, 0, 3), (PUT, 1, 3)], 4 * bound) == [LINK_DEAD, LINK_DEAD]
    for end in (0, 1):
        took = ends.field("over_at_o", end) - begun[end]
        print(f"end {end}: a dead link is noticed {took} cycles after it was needed, the patience {bound - ends.tick}")
        assert bound - 2 * ends.tick <= took <= bound + 4
    assert dut.neighbour_valid_o.value.to_unsigned() == dut.up_o.value.to_unsigned() == 0
    dut.cut_i.value = 0
    for length in (70, 20000):
        moves, moved = await message(ends, area, length, early=length < EAGER)
        assert await ends.settled(moves) == [DONE, DONE]
        await compare(ends, moved)
    assert [ends.field("overs_o", end) for end in (0, 1)] == [1, 1]
    await ends.healthy()


@cocotb.test()
async def a_neighbour_that_restarts_ends_what_was_begun_with_it(dut):
    ends, area = Ends(dut), Area()
    await ends.start()
    moves, moved = await message(ends, area, 500)
    assert await ends.settled(moves) == [DONE, DONE]
    # One waits to be taken; and of one that came early nothing is kept.
    await ends.begin(PUT, 0, 1, Key(1, 2), area.at, 30000)
    await ends.begin(PUT, 0, 2, Key(9, 9), area.at, 64)
    await ends.begin(TAKE, 1, 3, Key(4, 4), area.at, 30000)
    await ends.cycles(600)
    await ends.reset(1, epoch=10)
    await ends.begin(PUT, 1, 4, Key(3, 4), area.at, 40000)
    assert await ends.settled([(PUT, 0, 1), (PUT, 0, 2)]) == [RESTARTED, RESTARTED]
    await ends.begin(TAKE, 1, 5, Key(9, 9), area.at, 64)
    await ends.begin(PUT, 0, 3, Key(4, 4), area.at, 30000)
    await ends.cycles(1000)
    assert ends.ended(TAKE, 1, 5) is None and ends.field("strays_o", 1) == 0
    moves, moved = await message(ends, area, 3000, slot=6)
    assert await ends.settled(moves) == [DONE, DONE]
    await compare(ends, moved)


@cocotb.test()
async def what_does_not_fit_together_fails_with_its_cause(dut):
    ends, area = Ends(dut), Area()
    await ends.start()
    at = area.place(5000)
    for early in (False, True):
        steps = [(PUT, 0, 0, 100), (TAKE, 1, 0, 101)]
        for kind, end, slot, length in steps if early else steps[::-1]:
            await ends.begin(kind, end, slot, Key(1, 10 + early), at, length)
            await ends.cycles(400)
        assert await ends.settled([(TAKE, 1, 0)]) == [MISMATCH]
        dut.cancel_i.value = 1
        await ends.cycles(2)
        dut.cancel_i.value = 0
        assert dut.puts_open_o.value.to_unsigned() == dut.takes_open_o.value.to_unsigned() == 0
    # A put that was cancelled leaves its context free for another, whatever is said of it later.
    await ends.begin(PUT, 0, 0, Key(5, 20), at, 30000)
    dut.cancel_i.value = 1
    await ends.cycles(2)
    dut.cancel_i.value = 0
    await ends.begin(TAKE, 1, 0, Key(5, 20), at, 30000)
    moves, moved = await message(ends, area, 4000, slot=0, other_slot=1)
    assert await ends.settled(moves) == [DONE, DONE]
    await compare(ends, moved)


@cocotb.test()
async def memory_that_fails_is_named(dut):
    ends, area = Ends(dut), Area()
    await ends.start()
    at = area.place(9000)
    dut.fails_i.value = 1
    await ends.begin(PUT, 0, 0, Key(1, 1), at, 5000)
    assert await ends.settled([(PUT, 0, 0)]) == [MEMORY_FAILED]
    dut.fails_i.value = 2
    await ends.begin(TAKE, 1, 1, Key(2, 1), at, 5000)
    dut.fails_i.value = 2
    await ends.begin(PUT, 0, 1, Key(2, 1), at, 5000)
    assert await ends.settled([(TAKE, 1, 1)]) == [MEMORY_FAILED]
    dut.fails_i.value = 0
    moves, moved = await message(ends, area, 4000, slot=2)
    assert await ends.settled(moves) == [DONE, DONE]
    await compare(ends, moved)


@cocotb.test()
async def what_it_takes(dut):
    """From a put's begin to the first word on the lane; from a frame's last word to the take's end; and how much of
    what frames leave a long message gets, one way and both ways."""
    ends, area = Ends(dut), Area()
    await ends.start(delay=20, latency=40, patience=2000, rto=60)
    await ends.settled((await message(ends, area, 64))[0])
    found = {}
    for length in (0, 64):
        out, asked, in_ = [], [], []
        for wait in range(400, 430):
            await ends.cycles(wait)
            moves, moved = await message(ends, area, length, slot=random.randrange(SLOTS))
            assert await ends.settled(moves) == [DONE, DONE]
            out.append(ends.field("first_at_o", 0) - ends.field("put_at_o", 0))
            asked.append(ends.field("asked_at_o", 0) - ends.field("put_at_o", 0))
            in_.append(ends.field("took_at_o", 1) - ends.field("come_at_o", 1))
        found[length] = max(out)
        memory = f", {min(asked)} until memory is asked and 40 of its own" if length else ""
        print(f"{8 * ends.bytes} bits, {length} bytes: put to first word on the lane {min(out)} to {max(out)} cycles"
              f"{memory}; the last word of the frame to the take's end {min(in_)} to {max(in_)} cycles")
    assert found[0] <= 20 and found[64] <= 40 + 40
    frames = 12 * ends.bytes
    length = frames * 1408  # More than all that waits on the way.
    words = frames * 64 // ends.bytes + length // ends.bytes
    for both in (False, True):
        begun = []
        for source in (0, 1) if both else (0,):
            frm, to = DATA_AT, DATA_AT + length
            for kind, end, addr in ((TAKE, 1 - source, to), (PUT, source, frm)):
                await ends.begin(kind, end, 3, Key(source, 99 + both), addr, length)
            begun.append((source, ends.field("put_at_o", source)))
        moves = [(kind, end, 3) for source, _ in begun for kind, end in ((PUT, source), (TAKE, 1 - source))]
        assert set(await ends.settled(moves, 200000)) == {DONE}
        for source, at in begun:
            first, last = (ends.field(name, source) for name in ("first_at_o", "last_at_o"))
            whole, share = ends.field("took_at_o", 1 - source) - at, words / (last - first + 1)
            way, again = "both ways" if both else "one way", ends.field("resent_o", source)
            print(f"{8 * ends.bytes} bits, {length} bytes {way}: {words} words of frames in {last - first + 1} cycles, "
                  f"{100 * share:.2f} %; {whole} from the put to the take's end; {again} frames again")
            if ends.bytes == 8:
                # Both ways, some acknowledgements go between frames. One way, nothing does.
                assert share >= (0.99 if both else 0.9999)
    await ends.healthy()


@pytest.mark.parametrize("width", WIDTHS)
def test_rl_collective_link(width):
    sources = [*rtl("collectives"), *sorted(HERE.glob("*.sv")), HERE.parent / "bridge" / "bridge_memory.sv"]
    bench("rl_collective_link_tb", sources, __name__, {"DataW": width})
