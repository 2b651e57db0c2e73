"""rl_auth: which frames have the right tag, at the wire's rate, beside the model's answer."""

import random
from dataclasses import dataclass, replace

import cocotb
import golden
import pytest
from cocotb.triggers import ClockCycles, RisingEdge
from runner import bench, rtl
from streams import PAUSE_PAIRS, PAUSES, words
from tags import blocks, put_key, receive, send, start

SLOTS = 16
# On the wire a frame has 52 bytes more than reach this block: trailer, check sequence, preamble and gap.
BEHIND = 28 + 4 + 20
HEAD = 32


@dataclass(frozen=True)
class Frame:
    """A frame with all that its tag binds, and the tag that it comes with."""

    data: bytes
    slot: int
    boot: int
    to_host: bool
    counter: int
    tag: bytes = bytes(16)

    def right(self, key: bytes) -> bytes:
        return golden.tag(key, self.data, boot=self.boot, to_host=self.to_host, counter=self.counter)

    def ports(self) -> dict[str, int]:
        return {
            "slot_i": self.slot,
            "boot_i": self.boot,
            "to_host_i": self.to_host,
        }


def some_frame(length: int, slot: int) -> Frame:
    return Frame(
        random.randbytes(length), slot, random.getrandbits(32), random.random() < 0.5, random.getrandbits(64)
    )


def spoilt(frame: Frame, other_slots: list[int]) -> Frame:
    """The frame with one thing changed, and its tag as it was."""
    flipped = 1 << random.randrange(8 * len(frame.data))
    return random.choice([
        lambda: replace(frame, tag=(int.from_bytes(frame.tag) ^ 1 << random.randrange(128)).to_bytes(16)),
        lambda: replace(frame, data=(int.from_bytes(frame.data) ^ flipped).to_bytes(len(frame.data))),
        lambda: replace(frame, data=frame.data + b"\0"),
        lambda: replace(frame, data=frame.data[:-1] if len(frame.data) > 1 else b"xx"),
        lambda: replace(frame, boot=frame.boot ^ 1 << random.randrange(32)),
        lambda: replace(frame, counter=frame.counter ^ 1 << random.randrange(64)),
        lambda: replace(frame, to_host=not frame.to_host),
        lambda: replace(frame, slot=random.choice(other_slots)),
    ])()


async def give_counters(dut, frames, pause):
    """Offers the counter of each frame, some before its first word and some after its last."""
    for frame in frames:
        dut.counter_valid_i.value = 0
        dut.counter_i.value = frame.counter ^ 1
        while next(pause):
            await RisingEdge(dut.clk_i)
        dut.counter_valid_i.value = 1
        dut.counter_i.value = frame.counter
        await RisingEdge(dut.clk_i)
        while not dut.counter_ready_o.value:
            await RisingEdge(dut.clk_i)
    dut.counter_valid_i.value = 0


async def give_tags(dut, frames, pause):
    """Gives the tag that each frame comes with, behind its last word."""
    edge, due, left = RisingEdge(dut.clk_i), 0, list(frames)
    while left:
        await edge
        due += bool(dut.valid_i.value and dut.ready_o.value and dut.last_i.value)
        gives = due > 0 and not next(pause)
        dut.tag_valid_i.value = gives
        dut.tag_i.value = int.from_bytes(left[0].tag, "little") ^ (not gives)
        if gives:
            due -= 1
            left.pop(0)
    await edge
    dut.tag_valid_i.value = 0


def bring(dut, frames, pause="never"):
    """Sends frames, with their counters and tags."""
    given = [(frame.data, frame.ports()) for frame in frames]
    cocotb.start_soon(send(dut, given, PAUSES[pause]()))
    cocotb.start_soon(give_counters(dut, frames, PAUSES[pause]()))
    cocotb.start_soon(give_tags(dut, frames, PAUSES[pause]()))


async def verdicts(dut, frames, pauses=("never", "never")):
    """What becomes of these frames, as (ok, tag, known)."""
    bring(dut, frames, pauses[0])
    results = await receive(dut, len(frames), PAUSES[pauses[1]](), ("ok_o", "tag_o", "known_o"))
    return [(bool(ok), tag.to_bytes(16, "little"), bool(known)) for ok, tag, known in results]


async def begin(dut):
    dut.counter_valid_i.value = dut.tag_valid_i.value = 0
    await start(dut)


async def some_keys(dut, count):
    keys = {slot: random.randbytes(16) for slot in random.sample(range(SLOTS), count)}
    for slot, key in keys.items():
        await put_key(dut, slot, key)
    return keys


@cocotb.test()
@cocotb.parametrize(pauses=PAUSE_PAIRS)
async def right_tags_pass_and_no_others(dut, pauses):
    await begin(dut)
    keys = await some_keys(dut, 4)
    lengths = [*range(1, 50), *(HEAD + random.randint(0, 200) for _ in range(80)), random.randint(1000, 9000)]
    random.shuffle(lengths)
    frames, good = [], []
    for length in lengths:
        frame = some_frame(length, random.choice(list(keys)))
        frame = replace(frame, tag=frame.right(keys[frame.slot]))
        good.append(random.random() < 0.5)
        others = [slot for slot in range(SLOTS) if slot != frame.slot]
        frames.append(frame if good[-1] else spoilt(frame, others))
    for frame, wanted, (ok, tag, known) in zip(frames, good, await verdicts(dut, frames, pauses), strict=True):
        assert ok == wanted, frame
        assert known == (frame.slot in keys)
        if known:
            assert tag == frame.right(keys[frame.slot]), f"{len(frame.data)} bytes"


@cocotb.test()
async def each_bit_of_a_tag_counts(dut):
    await begin(dut)
    await put_key(dut, 0, key := random.randbytes(16))
    frame = some_frame(HEAD, 0)
    tag = int.from_bytes(frame.right(key))
    frames = [replace(frame, tag=(tag ^ 1 << bit).to_bytes(16)) for bit in range(128)]
    frames.append(replace(frame, tag=tag.to_bytes(16)))
    assert [ok for ok, _, _ in await verdicts(dut, frames)] == [False] * 128 + [True]


@cocotb.test()
async def without_a_key_no_tag_is_right(dut):
    """Not even the one that comes out, nor one that was right when there was the key."""
    await begin(dut)
    await put_key(dut, 2, key := random.randbytes(16))
    frame = some_frame(HEAD, 2)
    frame = replace(frame, tag=frame.right(key))
    assert [ok for ok, _, _ in await verdicts(dut, [frame])] == [True]
    await put_key(dut, 2, None)
    [(ok, tag, known)] = await verdicts(dut, [frame])
    assert not ok and not known
    [(ok, _, _)] = await verdicts(dut, [replace(frame, tag=tag)])
    assert not ok


@cocotb.test()
async def frames_of_every_length_come_at_the_wire_s_rate(dut):
    """With three rounds a cycle; with fewer the rate is as much lower, whatever the frames say."""
    await begin(dut)
    await put_key(dut, 0, random.randbytes(16))
    rounds = 12 // dut.PerCycle.value.to_unsigned()
    await ClockCycles(dut.clk_i, rounds + 2)
    dut.ready_i.value = 1
    lengths = [HEAD + 8 * n for n in range(24)] * 6 + [HEAD + 1472] * 3 + [HEAD + 33] * 40
    edge = RisingEdge(dut.clk_i)
    wire = cycle = lag = worst = 0
    dut.keep_i.value = 0xFF
    for name in ("boot_i", "to_host_i", "slot_i"):
        getattr(dut, name).value = 0
    none = [Frame(b"", 0, 0, False, 0)] * len(lengths)
    cocotb.start_soon(give_counters(dut, none, PAUSES["never"]()))
    cocotb.start_soon(give_tags(dut, none, PAUSES["never"]()))
    for length in lengths:
        beats = words(bytes(length))
        for number in range(len(beats)):
            # A word cannot be there before it has come from the wire.
            due = wire + 8 * (number + 1)
            while 8 * cycle < due:
                dut.valid_i.value = 0
                await edge
                cycle += 1
            dut.valid_i.value = 1
            dut.last_i.value = number == len(beats) - 1
            dut.keep_i.value = (1 << ((length - 1) % 8 + 1)) - 1 if number == len(beats) - 1 else 0xFF
            await edge
            cycle += 1
            while not dut.ready_o.value:
                await edge
                cycle += 1
            lag = cycle - due // 8
            worst = max(worst, lag)
        wire += length + BEHIND
    dut.valid_i.value = 0
    work = sum(rounds * blocks(-(-length // 8) * 8 + 16) for length in lengths)
    told = (len(lengths), work, wire // 8, worst)
    dut._log.info("%d frames: %d cycles of permutations, %d of the wire, at most %d behind", *told)
    if rounds <= 4:
        assert work <= wire / 8 and worst <= 2 * rounds + 4, "the wire is faster"
    assert lag <= max(0, work - wire // 8) + 3 * rounds + 4, "cycles are lost between frames"


@cocotb.test()
async def a_verdict_comes_when_it_is_said_to(dut):
    """One frame, at the wire's rate: from its last word to its verdict, to the cycle."""
    await begin(dut)
    await put_key(dut, 0, random.randbytes(16))
    rounds = 12 // dut.PerCycle.value.to_unsigned()
    for length in (64, 1500):
        await ClockCycles(dut.clk_i, rounds + 2)
        bring(dut, [replace(some_frame(length, 0), data=bytes(length))])
        await RisingEdge(dut.valid_i)
        cycles = 0
        while not dut.valid_o.value:
            await RisingEdge(dut.clk_i)
            cycles += 1
        await receive(dut, 1, PAUSES["never"](), ("ok_o",))
        data = -(-length // 8)
        # A block waits from the cycle after its last word, and is absorbed when the one before is through.
        through = 0
        for last in [*range(4, data + 3, 4), data + 2 + ((data + 2) % 4 == 0)]:
            through = max(through, last + 1) + rounds
        dut._log.info("%d bytes: %d cycles after the last word", length, through + 1 - data)
        assert cycles == through + 1, f"{cycles} cycles, {through + 1} said"


@pytest.mark.parametrize("per_cycle", [1, 3])
def test_rl_auth(per_cycle):
    bench("rl_auth", rtl("auth", "common"), __name__, {"PerCycle": per_cycle})
