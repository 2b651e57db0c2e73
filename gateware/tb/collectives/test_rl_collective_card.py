"""Programs on a card of gateware, whose links are joined two by two, beside the same programs on the model's card: how
each ends, and what is in memory afterwards. And in cycles, what a program takes to begin.

`CARD_SEEDS` says how many random runs of each kind there are, 5 by default; `CARD_LINKS` and `CARD_WIDTHS` how many
links the card has, 2 by default or 4, and how many bits words have, 64.
"""

import os
import random
from dataclasses import replace
from pathlib import Path

import cocotb
import golden_link
import pytest
from card_bench import DATA_AT, SLOTS, WINDOW, Card, Model, Program, neighbour
from golden_link import Datatype, Op, Report
from random_programs import FAULTS, Draw
from runner import bench, rtl

HERE = Path(__file__).parent
SEEDS = int(os.environ.get("CARD_SEEDS", "5"))
LINKS = [int(links) for links in os.environ.get("CARD_LINKS", "2").split()]
WIDTHS = [int(width) for width in os.environ.get("CARD_WIDTHS", "64").split()]
DATA, FAILED = 1, 8  # Kinds of frames.
TIMEOUT, LINK_DEAD, RESTARTED, PEER_FAILED, BAD_COMMAND, BAD_ADDRESS, MEMORY_FAILED, MISMATCH = range(1, 9)
USED = 224 << 10  # Bytes of memory behind the programs that a run uses and compares.


def links_of(dut):
    return len(dut.rests_o)


async def both(dut, **how):
    """The gateware and the model, with the same random bytes in memory."""
    card, data = Card(dut), random.randbytes(USED)
    await card.start(**how)
    await card.write(DATA_AT, data)
    return card, Model(links_of(dut), data)


def survey(to):
    """A command that writes who is at the other ends."""
    return bytes([6]) + bytes(15) + to.to_bytes(8, "big") + bytes(8)


def differences(got, wanted, spared=()):
    """Where memory is not as the model's, but for these."""
    spared = {at - DATA_AT + n for at, length in spared for n in range(length)}
    return [n + DATA_AT for n in range(USED) if got[n] != wanted[n] and n not in spared]


@cocotb.test()
@cocotb.parametrize(seed=list(range(SEEDS)))
async def programs_end_as_the_models_do(dut, seed):
    """Up to four pairs of programs at once, over all links, while cables damage frames and memory pauses."""
    random.seed(seed)
    card, model = await both(dut, errors=random.choice([0, 2000]), pause=random.choice([0, 60]),
                             latency=random.choice([1, 20, 50]), delay=random.choice([1, 40]))
    draw = Draw(DATA_AT, DATA_AT + USED)
    for turn in range(2):
        pairs = []
        for n in range(random.randrange(1, 5)):
            # The first rank's ports are on either side of their cables.
            ports = [random.choice([port, port + 1]) for port in range(1, links_of(dut), 2)]
            ports = random.sample(ports, random.randrange(1, len(ports) + 1))
            pairs.append(draw.pair(ports, 8 * turn + n, long=20000 if seed == 0 and turn == n == 0 else 0))
            if seed == 0 and turn == 0:
                break
        programs = [program for pair in pairs for program in pair.programs]
        wanted = model.run(programs)
        got = await card.run(programs)
        assert got == wanted, [(a, b) for a, b in zip(got, wanted) if a != b]
        assert any(report.cause == 0 for report in got)
    assert not (found := differences(await card.read(DATA_AT, USED), model.memory())), f"{len(found)}: {found[:4]}"
    assert card.dut.strays_o.value == 0
    await card.healthy()


@cocotb.test()
@cocotb.parametrize(seed=list(range(SEEDS)))
async def programs_at_fault_fail_as_the_models_do(dut, seed):
    """Beside one that is not; and the programs that they work with hear of it."""
    random.seed(1000 + seed)
    card, model = await both(dut)
    draw, spared = Draw(DATA_AT, DATA_AT + USED), []
    for turn in range(3):
        good = draw.pair([1], 2 * turn)
        # All kinds within five seeds.
        bad = draw.spoilt([random.choice([1, 2])], 2 * turn + 1, FAULTS[(3 * seed + turn) % len(FAULTS)])
        spared += bad.areas
        programs = [*bad.programs, *good.programs]
        wanted = model.run(programs)
        got = await card.run(programs)
        # When one hears of the other's failure is not the same where frames take their time.
        heard = [[(r.cause, r.port) if r.cause == PEER_FAILED else r for r in some] for some in (got, wanted)]
        assert heard[0] == heard[1], (bad.fault, got, wanted)
        assert [report.cause != 0 for report in got] == [True, got[1].cause != 0, False, False]
    assert not (found := differences(await card.read(DATA_AT, USED), model.memory(), spared)), found[:4]
    await card.healthy()


@cocotb.test()
@cocotb.parametrize(seed=list(range(SEEDS)))
async def programs_whose_ranges_lie_anyhow_end_as_the_models_do(dut, seed):
    """Of any alignment, and near each other: who reads ahead would read what is written if they overlapped in part."""
    random.seed(2000 + seed)
    card, model = await both(dut, latency=random.choice([1, 20, 50]), pause=random.choice([0, 60]))
    draw, causes = Draw(DATA_AT, DATA_AT + USED), set()
    for turn in range(6):
        pairs = [draw.apart(SLOTS * turn + n) for n in range(SLOTS)]
        programs = [program for pair in pairs for program in pair.programs]
        got, wanted = await card.run(programs), model.run(programs)
        due = [Report(BAD_ADDRESS, 0, 0, 0, 0) if pair.fault else Report(0, 0, 1, 0, 0) for pair in pairs]
        assert got == wanted == due, [some for some in zip(got, wanted, due, programs) if len(set(some[:3])) > 1]
        causes |= {report.cause for report in got}
    assert causes == {0, BAD_ADDRESS}
    assert not (found := differences(await card.read(DATA_AT, USED), model.memory())), f"{len(found)}: {found[:4]}"
    await card.healthy()


@cocotb.test()
async def a_copy_to_where_some_of_its_own_bytes_are_is_refused_by_both(dut):
    """It was done, from what gateware had read ahead, but by the model from pieces of 64 KiB: so bytes differed. Ranges
    that share a byte are refused, and those that touch or are the same are not."""
    card, model = await both(dut)
    at, length = DATA_AT + 3000, 40
    for number, by in enumerate((0, 1, 7, 8, 39, 40, -1, -8, -39, -40)):
        cause = 0 if by in (-length, 0, length) else BAD_ADDRESS
        copy = golden_link.copy(at, at + by, length)
        for command in (copy, golden_link.reduce(Op.SUM, Datatype.I8, at, at + by, length)):
            program = Program([command, golden_link.wait()], 3, number)
            due = [Report(cause, 0, 0 if cause else 2, 0, 0)]
            assert (await card.run([program]), model.run([program])) == (due, due), by
    # A range of no bytes shares none.
    program = Program([golden_link.copy(at, at + 1, 0)], 3, 99)
    assert await card.run([program]) == model.run([program]) == [Report(0, 0, 1, 0, 0)]
    assert not differences(await card.read(DATA_AT, USED), model.memory())
    await card.healthy()


@cocotb.test()
async def what_a_program_waits_for_is_in_its_report(dut):
    card, model = await both(dut)
    at, last = DATA_AT, links_of(dut)
    wait, group = golden_link.wait(), 77
    # Nobody takes at the other ends; all but the last wait is reached.
    commands = [golden_link.put(1, at, 64, 1), golden_link.take(2, at + 64, 20000, last), wait, wait]
    program = Program(commands, group, 1, 200)
    got, wanted = await card.run([program]), model.run([program])
    assert got == wanted == [Report(TIMEOUT, 0, 2, 1 << last, 1 << 1)]
    # A message of another length than its take: named with its port; the other side hears of the failure.
    pair = [Program([golden_link.put(3, at, 64, 1), wait], group, 2),
            Program([golden_link.take(3, at + 64, 65, 2), wait], group, 2)]
    got, wanted = await card.run(pair), model.run(pair)
    assert [(r.cause, r.port) for r in got] == [(r.cause, r.port) for r in wanted] == [(PEER_FAILED, 1), (MISMATCH, 2)]
    # One that begins after the other has failed hears of it, and one of another operation does not.
    early = Program([golden_link.take(4, at + 64, 64, 2), bytes([9]) + bytes(31)], group, 3)
    late = Program([wait, golden_link.put(4, at, 64, 1), wait], group, 3)
    slot, wanted = await card.begin(early, held=True), model.run([early])
    dut.go_i.value = 1 << slot
    await card.cycles(1)
    dut.go_i.value = 0
    said = await card.frames(2, 400)
    assert await card.ended([slot]) == wanted == [Report(BAD_COMMAND, 0, 1, 1 << 2, 0)]
    # What it says of that is what the model says.
    words = [[(h.kind, h.tag, h.number, h.group, h.offset, h.total, payload)
              for h, payload in map(golden_link.parse, frames) if h.kind == FAILED and h.number == 3]
             for frames in (said, [frame for port, frame in model.said if port == 2])]
    assert words[0] == words[1] and len(words[0]) == 1, words
    assert (await card.run([late]), model.run([late])) == ([Report(PEER_FAILED, 1, 1, 0, 0)],) * 2
    other = replace(late, number=4, limit_us=200)
    assert (await card.run([other]), model.run([other])) == ([Report(TIMEOUT, 0, 2, 0, 1 << 1)],) * 2
    # A table that does not begin at a multiple of its length, or is not the host's, is refused.
    for to in (at + 8, WINDOW - 512):
        assert await card.run([Program([survey(to)], group, 5)]) == [Report(BAD_ADDRESS, 0, 0, 0, 0)]
    assert (await card.run([Program([survey(at)[:9] + b"\1" + survey(at)[10:]], group, 5)]))[0].cause == BAD_COMMAND
    # So are operations and elements that there are not, and bits of floating-point numbers: by the model, too.
    good = golden_link.reduce(Op.SUM, Datatype.I32, at, at, 8)
    pairs = [(0, 3), (8, 3), (129, 3), (1, 0), (1, 9), (1, 16 + 3), (1, 256 + 3), (5, 5), (6, 6), (7, 7), (7, 8)]
    spoilt = [Program([good[:1] + bytes([op]) + kind.to_bytes(2, "big") + good[4:]], group, 6) for op, kind in pairs]
    for program in spoilt:
        assert await card.run([program]) == model.run([program]) == [Report(BAD_COMMAND, 0, 0, 0, 0)], program
    await card.healthy()


@cocotb.test()
async def a_wait_for_takes_alone_goes_on_while_it_sends(dut):
    card, model = await both(dut)
    at, group, last = DATA_AT, 78, links_of(dut)
    # Nobody takes at the other end.
    for number, (wait, command) in enumerate([(golden_link.wait(), 1), (golden_link.wait_takes(), 3)]):
        commands = [golden_link.put(1, at, 64, 1), wait, golden_link.copy(at, at + 256, 64)]
        program = Program(commands, group, number, 200)
        assert await card.run([program]) == model.run([program]) == [Report(TIMEOUT, 0, command, 0, 1 << 1)]
    assert not differences(await card.read(DATA_AT, USED), model.memory())
    # It waits for all that it takes.
    commands = [golden_link.take(1, at + 512, 64, last), golden_link.wait_takes(), golden_link.wait()]
    take = Program(commands, group, 9, 200)
    assert await card.run([take]) == model.run([take]) == [Report(TIMEOUT, 0, 1, 1 << last, 0)]
    await card.healthy()


@cocotb.test()
async def two_signals_are_under_way_and_come_in_their_order(dut):
    """Nobody takes them yet: both are kept, a third one waits, and so does a message of bytes."""
    card, model = await both(dut)
    signal, take, wait = golden_link.put, golden_link.take, golden_link.wait()
    third = [signal(tag, 0, 0, 1) for tag in (1, 2, 3)]
    bytes_behind = [signal(1, 0, 0, 1), golden_link.put(2, DATA_AT, 8, 1)]
    signal_behind = [golden_link.put(1, DATA_AT, 8, 1), signal(2, 0, 0, 1)]
    for number, (commands, stops) in enumerate([(third, 2), (bytes_behind, 1), (signal_behind, 1)]):
        program = Program(commands, 70, number, 200)
        assert await card.run([program]) == model.run([program]) == [Report(TIMEOUT, 0, stops, 0, 1 << 1)]
    # Those that nobody took are out of the way. The receiver takes them in any order, early ones and others.
    for number, tags in enumerate([(1, 2, 3, 4), (2, 1, 3, 4), (2, 1, 4, 3)]):
        sends = Program([signal(tag, 0, 0, 1) for tag in (1, 2, 3, 4)] + [wait], 71, number)
        takes = Program([golden_link.copy(DATA_AT, DATA_AT + 8192, 3000)] * (number != 0)
                        + [take(tag, 0, 0, 2) for tag in tags] + [wait], 71, number)
        got = await card.run([sends, takes])
        assert got == model.run([sends, takes]) == [Report(0, 0, len(p.commands), 0, 0) for p in (sends, takes)]
    # Both wait behind another program's frames, and the first signal is the first to leave.
    puts = [[golden_link.put(7, DATA_AT, 16000, 1)], [signal(8, 0, 0, 1), signal(9, 0, 0, 1)]]
    slots = [await card.begin(Program(some, 72, number, 200), held=True) for number, some in enumerate(puts)]
    for slot in slots:
        dut.go_i.value = 1 << slot
        await card.cycles(1)
        dut.go_i.value = 0
        await card.cycles(20)
    heads = [head for head, _ in map(golden_link.parse, await card.frames(1, 3000)) if head.kind == DATA]
    assert [head.tag for head in heads if head.number == 1] == [8, 9] and len(heads) > 5
    await card.ended(slots)
    await card.healthy()


@cocotb.test()
async def a_survey_says_who_is_at_the_other_ends(dut):
    """Also again, of links that are up; and within half of the patience of one that is cut."""
    card, _ = await both(dut, patience=400)
    to, links = -(-DATA_AT // 1024) * 1024, links_of(dut)
    for cut in (0, 0, 1):
        dut.cut_i.value = cut
        await card.write(to - 64, bytes([0xEE]) * (1024 + 128))
        assert await card.run([Program([survey(to), bytes([3]) + bytes(31)], 9, 1)]) == [Report(0, 0, 2, 0, 0)]
        table = bytearray(1024)
        for port in range(1, links + 1):
            # The words of the first link are cut: it is heard no more, and hears nobody that answers it.
            if not cut or port > 2:
                table[16 * port : 16 * port + 8] = bytes.fromhex("02524c000107") + bytes([neighbour(port), 1])
        got = await card.read(to - 64, 1024 + 128)
        assert got[:64] == got[-64:] == bytes([0xEE]) * 64, "no byte beside it"
        told = [row for row in range(64) if got[64 + 16 * row : 80 + 16 * row] != table[16 * row : 16 * row + 16]]
        assert not told or (cut and set(told) <= {1, 2}), (cut, told, got[64:128].hex())
        if cut:
            assert got[64 + 16 * 2 + 7] == 0, "whose neighbour's words are cut has heard nobody"
    dut.cut_i.value = 0
    await card.healthy()


@cocotb.test()
async def who_relied_on_a_life_that_is_over_before_it_begins_fails_when_it_comes_to_that_link(dut):
    """And only then, and only for that link."""
    card, _ = await both(dut)
    at, wait, last = DATA_AT, golden_link.wait(), links_of(dut)
    put, take = golden_link.put(1, at, 8, 1), golden_link.take(1, at + 64, 8, 2)
    for link in range(last):
        for held in (False, True):
            copy, other = golden_link.copy(at, at + 128, 8), golden_link.take(1, at + 64, 8, link + 1)
            slot = await card.begin(Program([copy, other, wait], 5, 2 * link + held), held=held, anew=1 << link)
            await card.cycles(50)
            dut.go_i.value = held << slot
            await card.cycles(1)
            dut.go_i.value = 0
            assert await card.ended([slot]) == [Report(RESTARTED, link + 1, 1, 0, 0)]
    # Who has its place next relies on nothing of that, and others' lives are no matter.
    others = (1 << last) - 1
    slots = [await card.begin(Program([put, wait], 6, 1), anew=others & ~1),
             await card.begin(Program([take, wait], 6, 1), anew=others & ~2)]
    assert await card.ended(slots) == [Report(0, 0, 2, 0, 0)] * 2
    await card.healthy()


@cocotb.test()
async def contexts_that_want_one_link_at_once_have_their_turns(dut):
    card, model = await both(dut)
    at, wait = DATA_AT, golden_link.wait()
    takes = [Program([golden_link.take(n, at + 4096 + 128 * n, 64, 1), wait], 7, n) for n in range(4)]
    puts = [Program([golden_link.put(n, at + 128 * n, 64, 2), wait], 7, n) for n in range(4)]
    assert await card.run(takes + puts) == model.run(takes + puts) == [Report(0, 0, 2, 0, 0)] * 8
    # What is fetched while a program is held stays until it has run.
    long = Program([golden_link.copy(at + 8 * n, at + 8192 + 8 * n, 8) for n in range(20)], 7, 9)
    slot, wanted = await card.begin(long, held=True), model.run([long])
    await card.cycles(500)
    dut.go_i.value = 1 << slot
    await card.cycles(1)
    dut.go_i.value = 0
    assert await card.ended([slot]) == wanted == [Report(0, 0, 20, 0, 0)]
    assert not differences(await card.read(DATA_AT, USED), model.memory())


@cocotb.test()
async def memory_that_fails_and_a_link_that_is_dead_are_named(dut):
    card, _ = await both(dut, patience=100)
    wait, at, last = golden_link.wait(), DATA_AT, links_of(dut)
    dut.fails_i.value = 1 << last
    assert await card.run([Program([wait], 1, 1)]) == [Report(MEMORY_FAILED, 0, 0, 0, 0)]
    dut.fails_i.value = 0
    slot = await card.begin(Program([golden_link.copy(at, at + 4096, 4000)], 1, 2), held=True)
    await card.cycles(200)
    dut.fails_i.value, dut.go_i.value = 1 << last, 1 << slot
    await card.cycles(1)
    dut.go_i.value = 0
    assert await card.ended([slot]) == [Report(MEMORY_FAILED, 0, 0, 0, 0)]
    dut.fails_i.value = 0
    failed = set()
    # The next copy is not spoilt by what is left of that one.
    wanted = (await card.read(at, 2048))[3:1003]
    assert await card.run([Program([golden_link.copy(at + 3, at + 8192, 1000)], 1, 3)]) == [Report(0, 0, 1, 0, 0)]
    assert await card.read(at + 8192, 1000) == wanted
    # A reduction fails with either of what it reads, and leaves nothing to the next one.
    elements = [random.randbytes(64), random.randbytes(64)]
    for turn, cycles in enumerate([*range(0, 200, 20), *range(30, 66, 4)]):
        await card.write(at, elements[0])
        await card.write(at + 64, elements[1])
        program = Program([golden_link.reduce(Op.PROD, Datatype.F32, at, at + 64, 16)], 1, 10 + turn)
        slot = await card.begin(program, held=True)
        await card.cycles(200)
        dut.go_i.value = 1 << slot
        await card.cycles(1)
        dut.go_i.value = 0
        await card.cycles(cycles)
        dut.fails_i.value = 1 << last
        await card.cycles(4)
        dut.fails_i.value = 0
        (report,) = await card.ended([slot])
        result = golden_link.reduced(Op.PROD, Datatype.F32, elements[1], elements[0])
        failed.add(report.cause)
        assert report in (Report(0, 0, 1, 0, 0), Report(MEMORY_FAILED, 0, 0, 0, 0))
        after = await card.read(at + 64, 64)
        assert after == result if report.cause == 0 else set(zip(range(64), after)) <= {
            *enumerate(result), *enumerate(elements[1])}, f"after {cycles} cycles"
    assert failed == {0, MEMORY_FAILED}
    await copies_that_fail_write_nothing_else(card, last)
    dut.cut_i.value = (1 << last) - 1
    programs = [Program([golden_link.put(1, at, 8, 1), wait], 1, 4), Program([golden_link.copy(at, at + 512, 9)], 1, 5)]
    assert await card.run(programs) == [Report(LINK_DEAD, 1, 1, 0, 1 << 1), Report(0, 0, 1, 0, 0)]
    dut.cut_i.value = 0
    programs = [Program([golden_link.put(1, at, 8, 1), wait], 1, 6), Program([golden_link.take(1, at, 8, 2)], 1, 6)]
    assert [report.cause for report in await card.run(programs)] == [0, 0]
    await card.healthy()


async def copies_that_fail_write_nothing_else(card, port):
    """Memory fails for some cycles while a copy runs: what it has written is the copy's, and behind that nothing is."""
    dut, some, length = card.dut, set(), 4000
    for turn in range(12):
        off, to = random.randrange(16), random.randrange(64)
        data, before = random.randbytes(length + 16), random.randbytes(length + 96)
        await card.write(DATA_AT, data)
        await card.write(DATA_AT + 8192, before)
        copy = golden_link.copy(DATA_AT + off, DATA_AT + 8192 + to, length)
        slot = await card.begin(Program([copy], 1, 1000 + turn), held=True)
        await card.cycles(200)
        dut.go_i.value = 1 << slot
        await card.cycles(1)
        dut.go_i.value = 0
        # The reads alone come first; later ones come beside writes.
        await card.cycles(random.randrange(8, 40) if turn % 2 else random.randrange(40, 400))
        dut.fails_i.value = 1 << port
        await card.cycles(random.randrange(1, 5))
        dut.fails_i.value = 0
        (report,) = await card.ended([slot])
        after = await card.read(DATA_AT + 8192, len(before))
        wanted = before[:to] + data[off : off + length] + before[to + length :]
        wrong = [n for n, byte in enumerate(after) if byte not in (wanted[n], before[n])]
        assert not wrong, f"{turn}: {len(wrong)} bytes are neither the copy's nor what was there, from {wrong[0]} on"
        assert report.cause == MEMORY_FAILED or after == wanted, turn
        some.add((report.cause, after != before))
    assert {(MEMORY_FAILED, False), (MEMORY_FAILED, True)} <= some, some


@cocotb.test()
async def no_more_than_there_is_room_for_and_none_that_is_none(dut):
    card, _ = await both(dut)
    held = Program([golden_link.wait()], 5, 1)
    slots = [await card.begin(held, held=True) for _ in range(SLOTS)]
    assert sorted(slots) == list(range(SLOTS))
    await card.cycles(20)
    assert dut.start_ready_o.value == 0 and dut.ends_o.value == 0
    # Their Go comes in whatever order; each ends once.
    for slot in random.sample(slots, SLOTS):
        dut.go_i.value = 1 << slot
        await card.cycles(1)
    dut.go_i.value = 0
    assert set(await card.ended(slots)) == {Report(0, 0, 1, 0, 0)}
    await card.cycles(50)
    assert dut.ends_o.value == SLOTS
    for at in (64, WINDOW, (1 << 39) + 128):
        assert await card.begin(held, at=at) is None
    assert await card.begin(Program([golden_link.wait()] * 4097, 5, 1), at=0) is None
    # One that waits for a Go which never comes ends, too.
    assert await card.ended([await card.begin(replace(held, limit_us=50), held=True)]) == [Report(TIMEOUT, 0, 0, 0, 0)]
    # And one that waits for none begins at once.
    for commands in ([], [golden_link.wait()] * 21):
        assert await card.ended([await card.begin(Program(commands, 5, 2))]) == [Report(0, 0, len(commands), 0, 0)]


@cocotb.test()
async def what_it_takes(dut):
    """From a Go to the put's begin at its link, and to the first word on the lane."""
    latency = 30
    card, _ = await both(dut, latency=latency)
    wait, at = golden_link.wait(), DATA_AT
    lasts, ports = {}, range(1, links_of(dut) + 1, 2)
    for name, length in (("barrier", 0), ("eager", 64)):
        begins, lanes, spans = [], [], []
        for turn in range(30):
            ranks = [[golden_link.put(port, at, length, port) for port in ports],
                     [golden_link.take(port, at + 4096 * port, length, port + 1) for port in ports]]
            ranks = [Program([*some, wait], 9, 100 * len(begins) + length + n // 2) for n, some in enumerate(ranks)]
            slots = [await card.begin(rank, held=True) for rank in ranks]
            await card.cycles(400 + turn)
            dut.go_i.value = 1 << slots[1]
            await card.cycles(60)
            dut.go_i.value = 1 << slots[0]
            await card.cycles(1)
            dut.go_i.value = 0
            assert [report.cause for report in await card.ended(slots)] == [0, 0]
            go, first, last, out = (getattr(dut, f"{what}_at_o").value.to_unsigned()
                                    for what in ("go", "first_put", "last_put", "out"))
            assert dut.puts_o.value == len(ports)
            begins.append(first - go)
            lanes.append(out - go)
            spans.append(last - go)
        lasts[name] = max(begins), max(spans), max(lanes)
        memory = f", memory's {latency} included" if length else ""
        # The first message of all waits until the link is up.
        lanes = lanes[1:] if name == "barrier" else lanes
        print(f"{8 * card.size} bits, {len(dut.rests_o)} links, {name} of {length} bytes: Go to the put's begin "
              f"{min(begins)} to {max(begins)} cycles, to the last put's {max(spans)}; to the first word on the lane "
              f"{min(lanes)} to {max(lanes)}{memory}")
    assert lasts["barrier"][0] <= 4 and lasts["barrier"][1] <= 4
    assert lasts["eager"][2] <= 60


@pytest.mark.parametrize("links", LINKS)
@pytest.mark.parametrize("width", WIDTHS)
def test_rl_collective_card(links, width):
    sources = [*rtl("collectives"), *sorted(HERE.glob("*.sv"))]
    bench("rl_collective_card_tb", sources, __name__, {"DataW": width, "Links": links})
