"""rl_bridge and a node that keeps to no rule: it is refused or cut off, memory stays as it was, and others are served."""

from pathlib import Path

import cocotb
import pytest
from bridge_bench import (
    ANY, BATCH, BUSY, DENIED, MALFORMED, NO_WINDOW, OK, READ, READ_REQUEST, READ_RESPONSE, STREAM, STREAM_PIECE, WRITE,
    WRITE_REQUEST, WRITE_RESPONSE, Bench, Head, frame, record,
)
from runner import bench

HERE = Path(__file__).parent
VICTIM = 1


async def opened(dut, **how):
    """Bridge 1 opens a window to node 2, one to bridge 0, and some streams to each."""
    b = Bench(dut, 9)
    await b.start(**how)
    mirror = await b.fill(VICTIM, 5)
    await b.window(VICTIM, 0, base=0x1000, length=0x800, rights=READ | WRITE, peer=2)
    await b.window(VICTIM, 1, base=0x2000, length=0x1000, rights=READ | WRITE, peer=0)
    await b.window(VICTIM, 2, base=0x3000, length=0x100, rights=READ, peer=2)
    await b.window(VICTIM, 3, base=4, length=2, rights=STREAM, peer=2)
    await b.window(VICTIM, 4, base=0, length=16, rights=STREAM, peer=0)
    await b.region(0, 0, base=0, size=b.memory, node=VICTIM, remote=0)
    return b, mirror


async def anew(b):
    """Node 2 learns with the next word that its connections have ended; what that was is lost, or answered."""
    restarts = b.dut.raw_restarts_o.value.to_unsigned()
    for channel, head in ((0, Head(READ_REQUEST, 77, 0x1000, 1)), (1, Head(STREAM_PIECE, 0, 0, tag=4, last=True))):
        await b.tell(VICTIM, head, b"" if channel == 0 else b"lost?", channel)
    await b.cycles(6000)
    b.got.clear()
    b.into[VICTIM].messages.clear()
    return b.dut.raw_restarts_o.value.to_unsigned() - restarts


async def neighbour(b, mirror):
    """Bridge 0 is served."""
    data = b.draw.randbytes(300)
    assert (await b.ports[0].write(0x2000, data)).resp == 0
    mirror[0x2000 : 0x2000 + 300] = data
    assert (await b.ports[0].read(0x2000, 300)).data == data


@cocotb.test()
async def what_is_refused_touches_no_memory(dut):
    b, mirror = await opened(dut)
    beats = dut.beats_o.value.to_unsigned() >> 32
    top = 1 << 64
    for head, payload, status in [
        (Head(WRITE_REQUEST, 1, 0xFFF), b"ab", NO_WINDOW),
        (Head(WRITE_REQUEST, 2, 0x17FF), b"ab", NO_WINDOW),
        (Head(WRITE_REQUEST, 3, 0x2000), b"ab", NO_WINDOW),
        (Head(WRITE_REQUEST, 3, 0x3000), b"ab", DENIED),
        (Head(WRITE_REQUEST, 4, top - 1), b"ab", NO_WINDOW),
        (Head(WRITE_REQUEST, 5, 0x1000 + (1 << 48)), b"ab", NO_WINDOW),
        (Head(WRITE_REQUEST, 6, 0x1000), bytes(0x801), NO_WINDOW),
        (Head(WRITE_REQUEST, 6, 0x1000), b"", MALFORMED),
        (Head(READ_REQUEST, 7, 0x1000, b.longest + 1), b"", MALFORMED),
        (Head(READ_REQUEST, 7, 0x1000, 1 << 16 | 8), b"", MALFORMED),
        (Head(READ_REQUEST, 8, top - 8, 16), b"", NO_WINDOW),
        (Head(READ_REQUEST, 9, 4, 1), b"", NO_WINDOW),
        # Each record is longer than all of the batch, and whoever went on behind it would find the next one.
        (Head(BATCH, 10), record(0x1000, bytes(2 * b.longest))[:16] * (b.longest // 16), MALFORMED),
    ]:
        answer, data = await b.ask(VICTIM, head, payload)
        assert (answer.tag, answer.count, data) == (status, 0, b""), (head, answer)
    assert dut.beats_o.value.to_unsigned() >> 32 == beats, "memory was asked"
    answer, data = await b.ask(VICTIM, Head(READ_REQUEST, 9, 0x3000, 64))
    assert (answer.tag, data) == (OK, bytes(mirror[0x3000:0x3040]))
    await b.window(VICTIM, 0, valid=False)
    assert (await b.ask(VICTIM, Head(WRITE_REQUEST, 1, 0x1000), b"x"))[0].tag == NO_WINDOW
    await neighbour(b, mirror)
    assert await b.peek(VICTIM, 0, b.memory) == mirror
    assert b.events(VICTIM)["denied"] == 10 and b.events(VICTIM)["malformed"] == 4


@cocotb.test()
async def windows_move_addresses(dut):
    """A window at the end of addresses, whose bytes lie elsewhere in the memory."""
    b, mirror = await opened(dut)
    base = (1 << 64) - 0x200
    await b.window(VICTIM, 7, base=base, length=0x200, rights=READ | WRITE, peer=2, at=0x4000)
    data = b.draw.randbytes(0x1F3)
    assert (await b.ask(VICTIM, Head(WRITE_REQUEST, 1, base + 13), data))[0].tag == OK
    mirror[0x400D : 0x4000 + 0x200] = data
    answer, got = await b.ask(VICTIM, Head(READ_REQUEST, 1, base, 0x200))
    assert (answer.tag, got) == (OK, bytes(mirror[0x4000:0x4200]))
    assert (await b.ask(VICTIM, Head(READ_REQUEST, 1, base + 1, 0x200)))[0].tag == NO_WINDOW
    assert await b.peek(VICTIM, 0, b.memory) == mirror


@cocotb.test()
async def one_request_too_many_ends_the_connection(dut):
    b, mirror = await opened(dut)
    dut.latency_i.value = 60000 << 16
    for i in range(64):
        await b.tell(VICTIM, Head(READ_REQUEST, i, 0x1000, 8))
    await b.cycles(1000)
    assert b.events(VICTIM)["denied"] == 0
    await b.tell(VICTIM, Head(WRITE_REQUEST, 99, 0x1000), b"too many")
    await b.cycles(3000)
    assert b.events(VICTIM)["denied"] == 1
    assert await anew(b) >= 1
    # What memory was asked for comes at last, and is for nobody: but for what the new life has asked for.
    dut.latency_i.value = 10 << 16
    await b.cycles(3000)
    assert {answer.id for _, answer, _ in b.got} <= {77}
    b.got.clear()
    await neighbour(b, mirror)
    answer, data = await b.ask(VICTIM, Head(READ_REQUEST, 5, 0x1000, 16))
    assert (answer.tag, data) == (OK, bytes(mirror[0x1000:0x1010]))
    assert await b.peek(VICTIM, 0, b.memory) == mirror


@cocotb.test()
async def a_write_waits_for_reads_before_it_and_reads_see_writes(dut):
    """Of one node, in its order; however slow memory is."""
    b, mirror = await opened(dut, latency=200)
    for turn in range(6):
        await b.tell(VICTIM, Head(READ_REQUEST, 4 * turn, 0x1100, 64))
        await b.tell(VICTIM, Head(WRITE_REQUEST, 4 * turn + 1, 0x1108), bytes([turn]) * 8)
        await b.tell(VICTIM, Head(READ_REQUEST, 4 * turn + 2, 0x1100, 64))
    for turn in range(6):
        for i in range(3):
            _, head, data = await b.answer()
            assert (head.id, head.tag) == (4 * turn + i, OK)
            if i == 1:
                mirror[0x1108:0x1110] = bytes([turn]) * 8
            else:
                assert data == bytes(mirror[0x1100:0x1140])


@cocotb.test()
async def who_takes_no_answers_is_passed_over(dut):
    """Its answers wait, a write behind its reads is refused as busy, and others are served meanwhile."""
    b, mirror = await opened(dut, rto=2000)
    await b.tell(VICTIM, Head(READ_REQUEST, 0, 0x1000, 8))
    await b.answer()
    # It hears nothing any more, and what it says is heard. No answer of B's is acknowledged.
    dut.got_ready_i.value = 0
    sent = 0
    for i in range(40):
        await b.tell(VICTIM, Head(READ_REQUEST, i, 0x1000, min(b.longest, 0x800)))
        sent += 1
        if not dut.raw_head_ready_o.value:
            break
    await b.cycles(2000)
    await neighbour(b, mirror)
    await neighbour(b, mirror)
    dut.got_ready_i.value = 1
    for i in range(sent):
        _, head, data = await b.answer(200000)
        assert (head.id, head.tag) == (i, OK) and data == bytes(mirror[0x1000 : 0x1000 + len(data)])
    await neighbour(b, mirror)


@cocotb.test()
async def kinds_that_do_not_belong_end_the_connection(dut):
    b, mirror = await opened(dut)
    for head, payload, channel in [
        (Head(STREAM_PIECE, 0, 0, tag=4, last=True), b"on the memory's channel", 0),
        (Head(6), b"", 0),
        (Head(15), b"??", 0),
        (Head(WRITE_REQUEST, 0, 0x1000), b"on the streams' channel", 1),
        (Head(STREAM_PIECE, 0, 0, tag=3, last=True), b"not permitted", 1),
        (Head(STREAM_PIECE, 0, 0, tag=20, last=True), b"there is none", 1),
        (Head(STREAM_PIECE, 0, 8, tag=4, last=True), b"not its beginning", 1),
        (Head(STREAM_PIECE, 0, 0, tag=4), b"", 1),
        (Head(STREAM_PIECE, 0, 1 << 40, tag=4), b"far behind", 1),
    ]:
        restarts, before = dut.raw_restarts_o.value.to_unsigned(), b.events(VICTIM)
        await b.tell(VICTIM, head, payload, channel)
        await b.cycles(1000)
        after = b.events(VICTIM)
        assert after["denied"] + after["malformed"] == before["denied"] + before["malformed"] + 1, head
        assert not b.got and not b.into[VICTIM].messages
        await anew(b)
        assert dut.raw_restarts_o.value.to_unsigned() > restarts, head
        try:
            await b.ask(VICTIM, Head(READ_REQUEST, 5, 0x1000, 16))
        except AssertionError as wrong:
            raise AssertionError(f"after {head}: {wrong}") from wrong
    await neighbour(b, mirror)
    await b.out[0].send(frame(VICTIM, 9, b"others' streams go on"))
    assert (await b.into[VICTIM].recv()).data == b"others' streams go on"
    assert await b.peek(VICTIM, 0, b.memory) == mirror


@cocotb.test()
async def a_message_that_breaks_off_is_said_to_be_cut(dut):
    b, _ = await opened(dut)
    await b.tell(VICTIM, Head(STREAM_PIECE, 0, 0, tag=4), bytes(b.bytes), 1)
    await b.tell(VICTIM, Head(STREAM_PIECE, 0, 3, tag=4, last=True), b"elsewhere", 1)
    got = await b.into[VICTIM].recv()
    assert (got.node, got.stream, got.cut, got.data) == (2, 4, True, bytes(b.bytes))
    await anew(b)
    await b.tell(VICTIM, Head(STREAM_PIECE, 0, 0, tag=5, last=True), b"anew", 1)
    assert (await b.into[VICTIM].recv()).data == b"anew"


@cocotb.test()
async def answers_that_nobody_asked_for_are_no_answers(dut):
    """Bridge 1 has asked bridge 0; node 2 knows the id, and answers first."""
    b, _ = await opened(dut)
    secret = await b.fill(0, 1)
    await b.window(0, 0, length=b.memory, rights=READ | WRITE, peer=ANY)
    await b.region(VICTIM, 0, base=0, size=b.memory, node=0, remote=0)
    dut.latency_i.value = 3000
    serial = b.epochs[VICTIM] & 0x3FF
    read = cocotb.start_soon(b.ports[VICTIM].read(0x40, 64))
    write = cocotb.start_soon(b.ports[VICTIM].write(0x80, b"A" * 64))
    await b.cycles(200)
    await b.tell(VICTIM, Head(READ_RESPONSE, serial << 6, 0x40, 64), b"x" * 64)
    await b.tell(VICTIM, Head(WRITE_RESPONSE, serial << 6 | 32, 0x80, 64))
    await b.tell(VICTIM, Head(READ_RESPONSE, 0xFFFF, 0x40, 64), b"x" * 64)
    await b.cycles(1000)
    assert not read.done() and not write.done()
    assert (await read).data == bytes(secret[0x40:0x80])
    assert (await write).resp == 0
    assert b.events(VICTIM)["malformed"] == 3


@cocotb.test()
async def wrong_answers_are_errors(dut):
    """Node 2 was asked, and answers with what was not asked for."""
    b, _ = await opened(dut)
    await b.region(VICTIM, 0, base=0, size=b.memory, node=2, remote=0)
    port = b.ports[VICTIM]
    right = {"tag": OK, "count": 64}
    for change, resp in [({}, 0), ({"tag": DENIED, "count": 0}, 2), ({"tag": BUSY, "count": 0}, 2), ({"tag": 999}, 2),
                         ({"addr": 8}, 2), ({"count": 63}, 2), ({"kind": WRITE_RESPONSE}, 2), ({"short": 1}, 2), ({"long": 1}, 2)]:
        task = cocotb.start_soon(port.read(0x100, 64))
        _, asked, _ = await b.answer()
        assert (asked.kind, asked.addr, asked.count) == (READ_REQUEST, 0x100, 64)
        fields = {"kind": READ_RESPONSE, "id": asked.id, "addr": asked.addr} | right | change
        length = 64 - fields.pop("short", 0) + (2000 if fields.pop("long", 0) else 0)
        payload = bytes(range(64)) * 40
        await b.tell(VICTIM, Head(**fields), payload[:length] if fields["tag"] == OK else b"")
        got = await task
        assert got.resp == resp, change
        if resp == 0:
            assert got.data == bytes(range(64))
    task = cocotb.start_soon(port.write(0x100, bytes(64)))
    _, asked, data = await b.answer()
    assert (asked.kind, asked.addr, data) == (WRITE_REQUEST, 0x100, bytes(64))
    await b.tell(VICTIM, Head(WRITE_RESPONSE, asked.id, asked.addr, 63))
    assert (await task).resp == 2


@pytest.mark.parametrize("width,longest", [(64, 1024), (512, 4096)])
def test_rl_bridge_hostile(width, longest):
    parameters = {"DataW": width, "Longest": longest, "MemoryWords": (32 << 10) * 8 // width, "TickW": 6}
    bench("rl_bridge_tb", HERE.glob("*.sv"), __name__, parameters | {"TakeWords": 64 * longest * 8 // width})
