"""rl_memory_hub: the shell has its share however many ports a role has, and ids come back as they went."""

import random
from pathlib import Path

import cocotb
import pytest
from managers import Manager, Memory, Share, lengths
from runner import bench, common, rtl
from streams import always, bursts, sometimes

SIZES = {"AddrW": 40, "IdW": 6, "DataW": 512}
# The bits above a port's own, by the number of ports: where it is in the tree.
PLACES = {1: ["1"], 2: ["10", "11"], 3: ["11-", "100", "101"], 4: ["100", "101", "110", "111"]}


def ports(dut):
    return dut.Memories.value.to_unsigned()


def owner(count):
    """Whose an id is: 0 the shell, then the role's ports."""
    width = SIZES["IdW"] + max(len(place) for place in PLACES[count])
    above = [place.rstrip("-") for place in PLACES[count]]

    def of(ident):
        bits = f"{ident:0{width}b}"
        return 0 if bits[0] == "0" else 1 + next(n for n, place in enumerate(above) if bits.startswith(place))

    return of


def hub(dut, managers, latency=8, pause=None, shares=(1, 1), weights=None, mixes=False):
    count = ports(dut)
    weights = weights or [1] * count
    dut.weight_i.value = sum(weight << n * dut.ShareW.value.to_unsigned() for n, weight in enumerate(weights))
    memory = Memory(latency, pause, owner(count), count + 1, mixes)
    return Share(dut, managers, memory, shares, SIZES)


def shell(reads=(1,), writes=(1,)):
    """Single beats, and it takes what it asks for."""
    return Manager(0, lengths(*reads), lengths(*writes))


def role(dut, reads=(16,), writes=(16,), **more):
    return [Manager(n + 1, lengths(*reads), lengths(*writes), **more) for n in range(ports(dut))]


@cocotb.test()
@cocotb.parametrize(shares=[(1, 1), (3, 1), (1, 3)])
async def the_shell_has_its_share_of_the_beats(dut, shares):
    both = hub(dut, [shell(), *role(dut)], shares=shares)
    await both.start()
    cycles = 1000
    for beats in await both.beats(cycles):
        assert sum(beats) >= 0.98 * cycles, f"no cycle is lost: {beats}"
        assert abs(beats[0] / sum(beats) - shares[0] / sum(shares)) < 0.03, f"{beats} of {shares}"
    await both.finish()


@cocotb.test()
async def ports_have_theirs_of_what_the_role_has(dut):
    weights = [1, 3, 2, 2][: ports(dut)]
    both = hub(dut, [shell(), *role(dut)], weights=weights)
    await both.start()
    for beats in await both.beats(2000):
        own = beats[1:]
        for weight, had in zip(weights, own, strict=True):
            assert abs(had / sum(own) - weight / sum(weights)) < 0.03, f"{beats} of {weights}"
    await both.finish()


@cocotb.test()
async def a_port_that_takes_nothing_holds_up_itself(dut):
    managers = [shell(), *role(dut)]
    managers[1] = Manager(1, lengths(16), lengths(1), always(), always())
    both = hub(dut, managers)
    await both.start()
    for beats in await both.beats(1000, warm=1500):
        assert beats[1] == 0 and beats[0] >= 480, beats
        assert ports(dut) == 1 or sum(beats) >= 980, beats
    await both.finish()


@cocotb.test()
async def one_port_alone_has_every_cycle(dut):
    managers = [shell([0], [0]), *role(dut, [0], [0])]
    number = random.randint(1, ports(dut))
    managers[number] = Manager(number, lengths(16), lengths(16))
    both = hub(dut, managers)
    await both.start()
    for beats in await both.beats(1000):
        assert beats[number] >= 980, beats


@cocotb.test()
@cocotb.parametrize(mixes=[False, True])
async def everything_arrives_whatever_anybody_does(dut, mixes):
    def some(longest):
        while True:
            yield random.randint(1, longest) if random.random() < 0.25 else 0

    managers = [Manager(0, some(1), some(1))]
    for n in range(ports(dut)):
        managers.append(Manager(n + 1, some(16), some(16), bursts(40, 40), sometimes(0.4), sometimes(0.2), ids=64))
    both = hub(dut, managers, random.choice([1, 30]), sometimes(0.2), mixes=mixes)
    managers[0].ids = 1 if mixes else None
    await both.start()
    await both.run(1500)
    await both.finish()
    assert min(manager.read_beats for manager in managers) > 50 and min(both.memory.written) > 50


@pytest.mark.parametrize("memories", [1, 2, 3, 4])
def test_rl_memory_hub(memories):
    sources = [*common(), *rtl("memory"), Path(__file__).with_name("rl_memory_hub_tb.sv")]
    bench("rl_memory_hub_tb", sources, __name__, {"Memories": memories})
