"""rl_guard: a good role does not notice it, and DDR does not notice a bad one."""

import random
from collections import deque
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiRam
from guard import ADDRESS, BEAT, Bench, CHANNELS, Channel, MEMORY, PAGE, PROTOCOL, RESPONSE, STALLS, legal, place
from runner import bench
from streams import bursts, sometimes


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(stall=list(STALLS))
async def a_good_role_does_not_notice(dut, stall):
    tb = Bench(dut)
    await tb.begin(stall)
    dut.role_rst_ni.value = 1
    await ClockCycles(dut.clk_i, 2)
    shadow = bytearray(random.randbytes(MEMORY))
    tb.ram.write(0, bytes(shadow))
    share = MEMORY // 4

    async def part(number):
        for _ in range(6):
            length = random.choice([1, 64, 1024, random.randint(1, 4000)])
            first, last = number * share, (number + 1) * share - length
            addr = random.choice([first, last, random.randint(first, last), random.randint(first, last) // BEAT * BEAT])
            if random.random() < 0.6:
                shadow[addr : addr + length] = data = random.randbytes(length)
                await tb.master.write(addr, data)
            else:
                assert (await tb.master.read(addr, length)).data == shadow[addr : addr + length]

    parts = [cocotb.start_soon(part(number)) for number in range(4)]
    for task in parts:
        await task
    assert tb.ram.read(0, MEMORY) == bytes(shadow)
    assert tb.watch.faults == [] and tb.watch.filled == 0
    await ClockCycles(dut.clk_i, 4)
    await tb.drain()


class Fast:
    """DDR that is always ready, answers some cycles later, and sometimes with an error."""

    def __init__(self, dut, latency):
        self.dut, self.latency = dut, latency
        self.b, self.r = deque(), deque()
        self.cycle = 0
        cocotb.start_soon(self.run())

    async def run(self):
        dut = self.dut
        channels = {name: Channel(dut, "m_axi", name) for name in CHANNELS}
        dut.m_axi_awready.value = dut.m_axi_wready.value = dut.m_axi_arready.value = 1
        ids = deque()
        lasts = 0
        while True:
            await RisingEdge(dut.clk_i)
            self.cycle += 1
            for channel in channels.values():
                channel.sample()
            if channels["aw"].taken:
                ids.append(channels["aw"].payload[0])
            if channels["w"].taken and channels["w"].payload[2]:
                lasts += 1
            while lasts and ids:
                lasts -= 1
                self.b.append((self.cycle + self.latency, (ids.popleft(), random.choice([0, 0, 0, 2]))))
            if channels["ar"].taken:
                axid, _, axlen = channels["ar"].payload
                for n in range(axlen + 1):
                    beat = (axid, random.getrandbits(512), random.choice([0, 0, 0, 2, 3]), n == axlen)
                    self.r.append((self.cycle + self.latency, beat))
            for name, queue in (("b", self.b), ("r", self.r)):
                if channels[name].taken:
                    queue.popleft()
                valid = bool(queue) and queue[0][0] <= self.cycle
                channels[name].valid_pin.value = valid
                for pin, value in zip(channels[name].pins, queue[0][1] if valid else (), strict=False):
                    pin.value = value


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(axlen=[0, 1, 15, None])
async def a_beat_goes_through_in_every_cycle(dut, axlen):
    """Each way at once, with bursts of any length; answers are passed on as they are."""
    tb = Bench(dut)
    await tb.begin(ram=False)
    Fast(dut, latency=8)
    count = 400
    lengths = []
    while sum(lengths) < count:
        lengths.append((random.randrange(16) if axlen is None else axlen) + 1)
    dut.s_axi_bready.value = dut.s_axi_rready.value = 1
    done = []

    async def send(name, payloads):
        """Without a gap. The cycles from the first to the last."""
        channel = tb.role[name]
        cycles = None
        for payload in payloads:
            for pin, value in zip(channel.pins, payload, strict=True):
                pin.value = value
            channel.valid_pin.value = 1
            while True:
                await RisingEdge(dut.clk_i)
                cycles = None if cycles is None else cycles + 1
                if channel.ready_pin.value:
                    break
            cycles = cycles or 0
        channel.valid_pin.value = 0
        done.append(name)
        return cycles + 1

    async def listen(name, lasts):
        channel = tb.role[name]
        cycles = None
        while lasts:
            await RisingEdge(dut.clk_i)
            channel.sample()
            if channel.taken and cycles is None:
                cycles = 0
            cycles = None if cycles is None else cycles + 1
            lasts -= channel.taken and (name == "b" or channel.payload[-1])
        return cycles

    lasts = [n == length - 1 for length in lengths for n in range(length)]
    data = [(random.getrandbits(512), random.getrandbits(64), last) for last in lasts]
    sent = cocotb.start_soon(send("w", data))
    tasks = [cocotb.start_soon(send(name, [(1, place(n - 1), n - 1) for n in lengths])) for name in ("aw", "ar")]
    answers = [cocotb.start_soon(listen(name, len(lengths))) for name in ("b", "r")]
    for task in tasks:
        await task
    write_cycles, read_cycles = await sent, await answers[1]
    await answers[0]
    # Fewer under way than DDR needs cycles for an answer: then short bursts wait for it.
    if tb.watch.outstanding >= 16 or axlen == 15:
        assert write_cycles == read_cycles == sum(lengths)
    assert tb.watch.faults == []
    await tb.drain()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def bursts_that_may_not_be(dut):
    """At all edges, reads and writes: what is legal passes, all else is a fault of the address."""
    tb = Bench(dut)
    await tb.begin()
    cases = [(addr, 0) for addr in (0, MEMORY - 1, MEMORY, MEMORY + 63, 1 << 32, (1 << 40) - 64, MEMORY | 1 << 39)]
    cases += [(MEMORY - BEAT * n, axlen) for n, axlen in [(1, 1), (16, 15), (16, 16), (15, 15)]]
    cases += [(PAGE - BEAT * n, axlen) for n, axlen in [(1, 1), (2, 1), (16, 15), (15, 15), (3, 2), (2, 2)]]
    cases += [(0, axlen) for axlen in (15, 16, 17, 31, 63, 64, 128, 240, 255)]
    cases += [(1 << bit, 0) for bit in range(16, 40)]
    for addr, axlen in cases:
        for way in (tb.write, tb.read):
            many = len(tb.watch.faults)
            assert await way(addr, axlen) == legal(addr, axlen), (hex(addr), axlen)
            await ClockCycles(dut.clk_i, 2)
            assert tb.watch.faults[many:] == ([] if legal(addr, axlen) else [ADDRESS])
            if not legal(addr, axlen):
                await tb.drain()
                await tb.let_go()
    await tb.good()


async def last_early(tb):
    await tb.offer("aw", 0, place(3), 3)
    await tb.beats([0, 1])
    return PROTOCOL


async def last_missing(tb):
    await tb.offer("aw", 0, place(3), 3)
    await tb.beats([0] * 5)
    return PROTOCOL


async def last_missing_of_one(tb):
    await tb.offer("aw", 0, place(0), 0)
    await tb.beats([0])
    return PROTOCOL


async def data_never_begins(tb):
    await tb.offer("aw", 0, place(15), 15)
    return RESPONSE


async def data_ends(tb):
    await tb.offer("aw", 0, place(9), 9)
    await tb.beats([0] * 4)
    return RESPONSE


async def write_answer_not_taken(tb):
    await tb.offer("aw", 0, place(0), 0)
    await tb.beats([1])
    return RESPONSE


async def read_data_not_taken(tb):
    await tb.offer("ar", 0, place(15), 15)
    return RESPONSE


async def read_data_not_all_taken(tb):
    await tb.offer("ar", 0, place(15), 15)
    for _ in range(random.randint(1, 15)):
        await tb.answer("r")
    return RESPONSE


async def address_taken_back(tb):
    """It is not taken as long as data of the one before it is missing."""
    await tb.offer("aw", 0, place(3), 3)
    tb.dut.s_axi_awaddr.value, tb.dut.s_axi_awlen.value = 0, 0
    await tb.flicker("aw")
    return PROTOCOL


async def data_taken_back(tb):
    await tb.flicker("w")
    return PROTOCOL


async def read_taken_back(tb):
    """None is taken when as many are under way as may be."""
    for _ in range(tb.watch.outstanding):
        await tb.offer("ar", 0, place(0), 0)
    await tb.flicker("ar")
    return PROTOCOL


async def too_many_writes(tb):
    """Their answers are not taken, and so no more of them are."""
    for _ in range(tb.watch.outstanding + 1):
        if not await tb.offer("aw", 0, place(0), 0):
            break
        await tb.beats([1])
    return RESPONSE


async def too_many_reads(tb):
    for _ in range(tb.watch.outstanding + 1):
        if not await tb.offer("ar", 0, place(0), 0):
            break
    return RESPONSE


async def write_outside_among_good_ones(tb):
    for _ in range(tb.watch.outstanding - 1):
        await tb.offer("aw", 0, place(2), 2)
        await tb.beats([0, 0, 1])
    await tb.offer("aw", 0, MEMORY, 2)
    return ADDRESS


async def read_outside_among_good_ones(tb):
    for _ in range(tb.watch.outstanding - 1):
        await tb.offer("ar", 0, place(15), 15)
    await tb.offer("ar", 0, place(15) | MEMORY << 1, 15)
    return ADDRESS


ROGUES = [
    last_early, last_missing, last_missing_of_one, data_never_begins, data_ends, write_answer_not_taken,
    read_data_not_taken, read_data_not_all_taken, address_taken_back, data_taken_back, read_taken_back, too_many_writes,
    too_many_reads, write_outside_among_good_ones, read_outside_among_good_ones,
]  # fmt: skip


@cocotb.test(timeout_time=400, timeout_unit="us")
@cocotb.parametrize(stall=list(STALLS))
async def each_wrong_is_reported_and_stays_here(dut, stall):
    """The right bit, nothing wrong at DDR; it drains whatever the role goes on to do; the next one works."""
    tb = Bench(dut)
    await tb.begin(stall)
    patience = tb.watch.patience
    for number, rogue in enumerate(random.sample(ROGUES, len(ROGUES))):
        # Good bursts are under way, as long as they do not change what happens.
        if patience >= 512 and "read" not in rogue.__name__ and number % 2:
            for _ in range(random.randint(1, tb.watch.outstanding)):
                await tb.offer("ar", random.randrange(4), place(15), 15)
        want = await rogue(tb)
        assert await tb.until_fault(2 * patience + 20 * tb.factor) == want, rogue.__name__
        noise = cocotb.start_soon(tb.noise())
        await ClockCycles(dut.clk_i, random.choice([0, 1, 2, 60]))
        await tb.drain()
        noise.cancel()
        await tb.let_go()
        if number % 3 == 0:
            await tb.good()
    assert tb.watch.filled > 0
    if stall == "never":
        assert tb.watch.most_writes == tb.watch.most_reads == tb.watch.outstanding


@cocotb.test(timeout_time=400, timeout_unit="us")
async def a_role_has_its_time(dut):
    """Up to the contract's cycles for each answer and each beat, and then no more than half as many again."""
    tb = Bench(dut)
    await tb.begin()
    patience = tb.watch.patience
    for phase in range(0, patience // 2, patience // 8):
        await ClockCycles(dut.clk_i, phase)
        # AxiRam's answers come some cycles after what they answer: it is valid that counts.
        await tb.offer("aw", 0, place(1), 1)
        await ClockCycles(dut.clk_i, patience - 2)
        await tb.beats([0])
        await ClockCycles(dut.clk_i, patience - 2)
        await tb.beats([1])
        while not dut.s_axi_bvalid.value:
            await RisingEdge(dut.clk_i)
        await ClockCycles(dut.clk_i, patience - 2)
        await tb.answer("b")
        await tb.offer("ar", 0, place(1), 1)
        for _ in range(2):
            while not dut.s_axi_rvalid.value:
                await RisingEdge(dut.clk_i)
            await ClockCycles(dut.clk_i, patience - 2)
            await tb.answer("r")
    assert tb.watch.faults == []


@cocotb.test(timeout_time=400, timeout_unit="us")
@cocotb.parametrize(stall=list(STALLS))
async def a_role_may_be_cut_off_at_any_time(dut, stall):
    """Whatever a good role had under way: what it wrote is there or is not, nothing else has changed."""
    tb = Bench(dut)
    await tb.begin(stall)
    share = MEMORY // 4
    for number in range(20):
        old = random.randbytes(MEMORY)
        tb.ram.write(0, old)
        dut.role_rst_ni.value = 1
        await ClockCycles(dut.clk_i, 2)
        new, ranges = bytearray(old), []
        for at in range(4):
            if random.random() < 0.5:
                addr, data = at * share + random.randrange(share - 4000), random.randbytes(random.randint(1, 4000))
                new[addr : addr + len(data)] = data
                ranges.append((addr, len(data)))
                cocotb.start_soon(tb.master.write(addr, data))
            else:
                cocotb.start_soon(tb.master.read(at * share, random.randint(1, 4000)))
        await ClockCycles(dut.clk_i, random.randint(1, 60 if number % 2 else 200))
        await tb.drain()
        await tb.let_go()
        now = tb.ram.read(0, MEMORY)
        for addr, length in ranges:
            assert all(now[at] in (old[at], new[at]) for at in range(addr, addr + length))
            new[addr : addr + length] = now[addr : addr + length]
        assert now == bytes(new)
        if number % 4 == 0:
            await tb.good()
    assert tb.watch.faults == []


@cocotb.test(timeout_time=800, timeout_unit="us")
@cocotb.parametrize(stall=list(STALLS))
async def anything_at_all(dut, stall):
    """Roles that are nearly good, and noise, until they are cut off, before and while they drain."""
    tb = Bench(dut)
    await tb.begin(stall)
    patience = tb.watch.patience
    for number in range(30):
        # Every third of them stops to answer some time, where that takes no long run.
        mute = 0.05 if number % 3 == 1 and patience < 100 else 0
        role = cocotb.start_soon(tb.nearly(mute) if number % 3 else tb.noise())
        for _ in range(6 * patience if mute else random.choice([20, 150, 300])):
            await RisingEdge(dut.clk_i)
            if tb.cut():
                await ClockCycles(dut.clk_i, random.choice([0, 1, 10, 60]))
                break
        await tb.drain()
        role.cancel()
        await tb.let_go()
        if number % 10 == 0:
            await tb.good()
    # All three kinds, or else this shows nothing.
    kinds = 0
    for fault in tb.watch.faults:
        kinds |= fault
    assert kinds | RESPONSE == ADDRESS | PROTOCOL | RESPONSE
    assert kinds & RESPONSE or patience >= 100
    assert tb.watch.filled > 0
    await tb.good()


# The card's, and one that is at its limits often.
@pytest.mark.parametrize(("outstanding", "patience"), [(16, 9), (2, 6)])
def test_rl_guard(outstanding, patience):
    tb = Path(__file__).parent
    sources = [tb / "rl_guard_tb.sv"]
    bench("rl_guard_tb", sources, __name__, {"Outstanding": outstanding, "PatienceW": patience})
