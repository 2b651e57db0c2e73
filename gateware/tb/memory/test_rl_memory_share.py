"""rl_memory_share: to each its share of the memory, all of it to one that is alone, and nobody waits for another."""

import random

import cocotb
import pytest
from managers import Manager, Memory, Share, lengths
from runner import bench, rtl
from streams import PAUSES, always

LONGEST = 16
FLOODS = {"ones": (1,), "long": (16,), "odd": (1, 16, 3, 7, 2, 11)}
PAIRS = [("long", "long"), ("ones", "long"), ("odd", "ones"), ("odd", "odd")]


def flood(name):
    return lengths(*FLOODS[name])


def mixed(busy):
    while True:
        yield random.randint(1, LONGEST) if random.random() < busy else 0


@cocotb.test()
@cocotb.parametrize(shares=[(1, 1), (3, 1), (1, 7)], pair=PAIRS)
async def who_always_asks_has_its_share_of_the_beats(dut, shares, pair):
    share = Share(dut, [Manager(n, flood(name), flood(name)) for n, name in enumerate(pair)], shares=shares)
    await share.start()
    cycles = 2000
    for beats in await share.beats(cycles):
        assert sum(beats) >= 0.99 * cycles, f"no cycle is lost: {beats}"
        assert abs(beats[0] / sum(beats) - shares[0] / sum(shares)) < 0.02, f"{beats} of {shares}"


@cocotb.test()
@cocotb.parametrize(number=[0, 1], name=["ones", "long", "odd"])
async def one_alone_has_every_cycle_both_ways(dut, number, name):
    managers = [Manager(0), Manager(1)]
    managers[number] = Manager(number, flood(name), flood(name))
    share = Share(dut, managers, shares=(7, 7))
    await share.start()
    read, written = await share.beats(2000)
    assert read[number] >= 1980 and written[number] >= 1980


@cocotb.test()
@cocotb.parametrize(number=[0, 1])
async def what_one_leaves_the_other_has(dut, number):
    """One asks for a beat each eight cycles, less than its share: it has it, and the other has the rest."""
    managers = [Manager(0, flood("long"), flood("long")), Manager(1, flood("long"), flood("long"))]
    managers[number] = Manager(number, lengths(1, *[0] * 7), lengths(1, *[0] * 7))
    share = Share(dut, managers)
    await share.start()
    read, written = await share.beats(4000)
    for beats in (read, written):
        assert abs(beats[number] - 500) <= 20 and sum(beats) >= 3960, beats


@cocotb.test()
@cocotb.parametrize(number=[0, 1])
async def one_that_sends_no_data_holds_up_itself(dut, number):
    managers = [Manager(n, None, flood("long")) for n in range(2)]
    # Some of a burst, and then no more.
    managers[number].sends = (i > 40 for i in range(10**9))
    share = Share(dut, managers)
    await share.start()
    _, written = await share.beats(1500, warm=600)
    assert written[number] == 0 and written[1 - number] >= 1485, written
    await share.finish()


@cocotb.test()
@cocotb.parametrize(number=[0, 1])
async def one_that_takes_no_answers_holds_up_itself(dut, number):
    managers = [Manager(n, flood("odd"), flood("odd")) for n in range(2)]
    managers[number].takes, managers[number].answers = always(), always()
    share = Share(dut, managers)
    await share.start()
    read, written = await share.beats(1500, warm=1500)
    assert read[number] == 0 and read[1 - number] >= 1485, read
    assert written[number] == 0 and written[1 - number] >= 1485, written
    await share.finish()


@cocotb.test()
@cocotb.parametrize(shares=[(1, 1), (3, 1), (1, 7)], number=[0, 1])
async def one_that_asks_waits_for_so_many_beats_at_most(dut, shares, number):
    managers = [Manager(0, flood("long")), Manager(1, flood("long"))]
    share = Share(dut, managers, Memory(5), shares)
    asked, other = share.memory.asked, 1 - number
    begun, waits = None, []

    def one_by_one():
        """A burst at a time, some cycles apart, and what the other was given meanwhile."""
        nonlocal begun
        while True:
            yield from [0] * random.randint(1, 40)
            begun = list(asked)
            yield random.choice([1, LONGEST])
            while asked[number] == begun[number]:
                yield 0
            waits.append(asked[other] - begun[other])

    managers[number] = Manager(number, one_by_one())
    share.managers = managers
    await share.start()
    await share.run(3000)
    # A burst is in the register to the memory when the asking begins, and one more may go before it is seen.
    bound = LONGEST * shares[other] / shares[number] + 3 * LONGEST
    assert LONGEST <= max(waits) <= bound, f"{max(waits)} of {bound}"


@cocotb.test()
@cocotb.parametrize(pauses=["ragged", "bursts", "rare"], latency=[1, 30])
async def everything_arrives_whatever_anybody_does(dut, pauses, latency):
    managers = [
        Manager(n, mixed(0.3), mixed(0.3), PAUSES[pauses](), PAUSES["ragged"](), PAUSES[pauses]()) for n in range(2)
    ]
    share = Share(dut, managers, Memory(latency, PAUSES["ragged"]()))
    await share.start()
    await share.run(3000)
    await share.finish()
    assert min(m.read_beats for m in managers) > 100 and min(share.memory.written) > 100


@cocotb.test()
async def as_in_the_card(dut):
    """A shell of single beats that takes what it asks for at once, beside a role that floods."""
    managers = [Manager(0, lengths(1, 0, 0), lengths(1, *[0] * 7)), Manager(1, flood("long"), flood("long"))]
    share = Share(dut, managers)
    await share.start()
    read, written = await share.beats(3000)
    assert abs(read[0] - 1000) <= 20 and sum(read) >= 2970, read
    assert abs(written[0] - 375) <= 20 and sum(written) >= 2970, written
    managers[1].takes, managers[1].answers = always(), always()
    read, written = await share.beats(1500, warm=1000)
    assert abs(read[0] - 500) <= 20 and abs(written[0] - 187) <= 20, (read, written)
    await share.finish()


CARD = "as_in_the_card"


@pytest.mark.parametrize("kind", ["even", "card"])
def test_rl_memory_share(kind):
    sizes = {"AddrW": 32, "DataW": 64, "IdW": 2}
    if kind == "card":
        parameters = {**sizes, "Longest": 16 << 8 | 1, "Buffer": 64 << 16}
        bench("rl_memory_share", rtl("memory"), __name__, parameters, testcase=CARD)
    else:
        bench("rl_memory_share", rtl("memory"), __name__, {**sizes, "Answers": 64, "Buffer": 128 << 16 | 128})
