"""rl_tag: the published vectors, messages of any length by several keys, and how long they take."""

import random

import cocotb
import golden
import pytest
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time
from runner import bench, rtl
from streams import PAUSE_PAIRS, PAUSES
from tags import VECTOR_KEY, blocks, put_key, receive, send, start, vectors

SLOTS = 16


def rounds(dut):
    """Cycles of a permutation."""
    return 12 // dut.PerCycle.value.to_unsigned()


async def tags_of(dut, messages, pauses=("never", "never")):
    """What comes out for these messages, as (tag, known)."""
    given = [(message, {"slot_i": slot}) for message, slot in messages]
    cocotb.start_soon(send(dut, given, PAUSES[pauses[0]]()))
    results = await receive(dut, len(given), PAUSES[pauses[1]](), ("tag_o", "known_o"))
    return [(tag.to_bytes(16, "little"), bool(known)) for tag, known in results]


@cocotb.test()
async def tags_and_keys_are_those_of_the_published_vectors(dut):
    await start(dut)
    await put_key(dut, 3, VECTOR_KEY)
    await put_key(dut, 5, VECTOR_KEY, derive=True)
    # Both in turn, so that each begins where another has ended.
    wanted = [
        (message, slot, result)
        for both in zip(vectors("ascon_mac"), vectors("ascon_prf"), strict=True)
        for slot, (message, result) in zip((3, 5), both, strict=True)
    ]
    got = await tags_of(dut, [(message, slot) for message, slot, _ in wanted])
    for (message, slot, result), (tag, known) in zip(wanted, got, strict=True):
        assert known and tag == result, f"{len(message)} bytes by key {slot}"


@cocotb.test()
@cocotb.parametrize(pauses=PAUSE_PAIRS)
async def messages_have_the_library_s_tags(dut, pauses):
    await start(dut)
    keys = {}
    for slot in random.sample(range(SLOTS), 6):
        keys[slot] = (random.randbytes(16), random.random() < 0.3)
        await put_key(dut, slot, *keys[slot])
    lengths = [*range(0, 70), 255, 256, 257, random.randint(1000, 2000), *(random.randint(0, 400) for _ in range(30))]
    random.shuffle(lengths)
    messages = [(random.randbytes(length), random.randrange(SLOTS)) for length in lengths]
    got = await tags_of(dut, messages, pauses)
    for (message, slot), (tag, known) in zip(messages, got, strict=True):
        assert known == (slot in keys), f"slot {slot}"
        if known:
            key, derive = keys[slot]
            assert tag == golden.mac(key, message, derive), f"{len(message)} bytes by key {slot}"


@cocotb.test()
async def the_longest_frame_has_the_library_s_tag(dut):
    await start(dut)
    key = random.randbytes(16)
    await put_key(dut, 0, key)
    messages = [(random.randbytes(length), 0) for length in (9000, 8999, 1)]
    for (message, _), (tag, _) in zip(messages, await tags_of(dut, messages), strict=True):
        assert tag == golden.mac(key, message)


@cocotb.test()
async def keys_change_between_messages(dut):
    """Other slots do under traffic; what was forgotten is not known, and comes back with a key."""
    await start(dut)
    steady, changing = random.randbytes(16), [random.randbytes(16) for _ in range(12)]
    await put_key(dut, 1, steady)
    messages = [(random.randbytes(random.randint(0, 100)), 1) for _ in range(60)]

    async def change():
        for key in changing:
            await put_key(dut, 2, key)
            await put_key(dut, 4, None)
            await ClockCycles(dut.clk_i, random.randint(1, 40))

    task = cocotb.start_soon(change())
    for (message, _), (tag, known) in zip(messages, await tags_of(dut, messages), strict=True):
        assert known and tag == golden.mac(steady, message)
    await task
    [(tag, known)] = await tags_of(dut, [(b"after it", 2)])
    assert known and tag == golden.mac(changing[-1], b"after it")
    await put_key(dut, 2, None)
    [(forgotten, known)] = await tags_of(dut, [(b"after it", 2)])
    assert not known and forgotten != tag
    assert [known for _, known in await tags_of(dut, [(b"", 4), (b"", 1)])] == [False, True]
    # A message that follows a key at once has it.
    for key in changing[:3]:
        await put_key(dut, 2, key)
        [(tag, known)] = await tags_of(dut, [(b"at once", 2)])
        assert known and tag == golden.mac(key, b"at once")


@cocotb.test()
async def messages_follow_each_other_without_a_gap(dut):
    """A permutation for each block and nothing between, whatever is in it; the verdict two cycles after the last."""
    await start(dut)
    await put_key(dut, 0, random.randbytes(16))
    await ClockCycles(dut.clk_i, rounds(dut) + 2)
    lengths = [random.randint(160, 320) for _ in range(20)]
    took = []
    for _ in range(2):  # By other bytes and, below, another key: the same number of cycles.
        began = get_sim_time("step")
        await tags_of(dut, [(random.randbytes(length), 0) for length in lengths])
        took.append((get_sim_time("step") - began) // 10000)
        await put_key(dut, 0, random.randbytes(16))
        await ClockCycles(dut.clk_i, rounds(dut) + 2)
    dut._log.info("%d messages took %s cycles", len(lengths), took)
    assert took[0] == took[1]
    # Of a block four words must have come; and a message's last block takes as many cycles as it has words, at least.
    work = sum(rounds(dut) * blocks(length) for length in lengths)
    words = sum(-(-length // 8) for length in lengths)
    assert took[0] <= max(work, words) + 4 + rounds(dut) + 2 + (len(lengths) * 3 if rounds(dut) <= 4 else 0)


@cocotb.test()
async def a_verdict_that_is_not_taken_stays(dut):
    await start(dut)
    key = random.randbytes(16)
    await put_key(dut, 0, key)
    messages = [(bytes([n]) * 40, {"slot_i": 0}) for n in range(3)]
    cocotb.start_soon(send(dut, messages, PAUSES["never"]()))
    await RisingEdge(dut.valid_o)
    await ClockCycles(dut.clk_i, 6 * rounds(dut))
    results = await receive(dut, 3, PAUSES["never"](), ("tag_o",))
    for (message, _), (tag,) in zip(messages, results, strict=True):
        assert tag.to_bytes(16, "little") == golden.mac(key, message)


@pytest.mark.parametrize("per_cycle", [1, 3, 12])
def test_rl_tag(per_cycle):
    bench("rl_tag", rtl("auth", "common"), __name__, {"PerCycle": per_cycle})
