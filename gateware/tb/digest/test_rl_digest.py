"""rl_digest: values and whole trees of BLAKE3 over a DDR that answers as it likes, and how fast."""

import random
from collections import deque
from itertools import chain, repeat

import cocotb
import golden
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from golden import CHUNK, VALUE
from runner import bench, rtl
from streams import PAUSES

NET_PS, DDR_PS = 6400, 5000
BLOCK = 64
# Of the model's tree: 64 KiB, the blocks whose values the firmware makes as they arrive.
SPAN = 64 << 10
SPAN_CYCLES_MAX = 7168
# The values begin here, far beyond the data.
VALUES_AT = 1 << 20


class Card:
    """The engine beside a DDR: reads answered in order after a while, writes answered later."""

    def __init__(self, dut, pause="never", latency=(8, 8)):
        self.dut = dut
        self.pause = self.pause_of_writes = PAUSES[pause]
        self.latency = latency
        self.ddr = {}
        self.written = 0
        self.reads = 0

    async def start(self):
        dut = self.dut
        for port in (dut.job_valid_i, dut.req_ready_i, dut.data_valid_i, dut.put_ready_i):
            port.value = 0
        dut.put_written_i.value = 0
        dut.rst_net_ni.value = 0
        dut.rst_ddr_ni.value = 0
        Clock(dut.clk_net_i, NET_PS, "ps").start()
        Clock(dut.clk_ddr_i, DDR_PS, "ps").start()
        await ClockCycles(dut.clk_net_i, 5)
        dut.rst_net_ni.value = 1
        dut.rst_ddr_ni.value = 1
        await ClockCycles(dut.clk_net_i, 5)
        cocotb.start_soon(self.read())
        cocotb.start_soon(self.write())

    def fill(self, at, data):
        """Puts bytes at a beat's address; those of the last beat beyond them are not zero."""
        assert at % BLOCK == 0
        data += random.randbytes(-len(data) % BLOCK)
        for offset in range(0, len(data), BLOCK):
            self.ddr[(at + offset) // BLOCK] = data[offset : offset + BLOCK]

    def values(self, at, count):
        data = b"".join(self.ddr[beat] for beat in range(at // BLOCK, (at + count * VALUE + BLOCK - 1) // BLOCK))
        return [data[n * VALUE : (n + 1) * VALUE] for n in range(count)]

    async def read(self):
        dut, edge, pause = self.dut, RisingEdge(self.dut.clk_ddr_i), self.pause()
        due = deque()
        cycle = 0
        while True:
            dut.req_ready_i.value = ready = not next(pause)
            dut.data_valid_i.value = 0
            if due and due[0][0] <= cycle:
                dut.data_valid_i.value = 1
                dut.data_i.value = int.from_bytes(self.ddr[due.popleft()[1]], "little")
            await edge
            cycle += 1
            if ready and dut.req_valid_o.value:
                due.append((cycle + random.randint(*self.latency), dut.req_beat_o.value.to_unsigned()))
                self.reads += 1

    async def write(self):
        dut, edge, pause = self.dut, RisingEdge(self.dut.clk_ddr_i), self.pause_of_writes()
        words, run, flying, cycle = [], [], deque(), 0
        while True:
            dut.put_ready_i.value = ready = not next(pause)
            await edge
            cycle += 1
            if ready and dut.put_valid_o.value:
                words.append((dut.put_addr_o.value.to_unsigned(), dut.put_data_o.value.to_unsigned()))
                if len(words) == 4:
                    assert len({addr for addr, _ in words}) == 1, "the address holds for a value"
                    assert not run or words[0][0] == run[-1][0] + VALUE, "a run is one behind the other"
                    run.append((words[0][0], b"".join(word.to_bytes(8, "little") for _, word in words)))
                    words = []
                    if not dut.put_more_o.value:
                        flying.append((cycle + random.randint(*self.latency), run))
                        run = []
            else:
                assert dut.put_valid_o.value or not run or words, "the next value of a run comes at once"
            done = bool(flying) and flying[0][0] <= cycle
            if done:
                for at, value in flying.popleft()[1]:
                    beat = bytearray(self.ddr.get(at // BLOCK, bytes(BLOCK)))
                    beat[at % BLOCK : at % BLOCK + VALUE] = value
                    self.ddr[at // BLOCK] = bytes(beat)
                    self.written += 1
            dut.put_written_i.value = done

    async def give(self, *, parents, root, source, target, length, chunk=0):
        """Queues a job. The fields are those of digest_job_t in their order."""
        dut = self.dut
        fields = ((parents, 1), (root, 1), (source // BLOCK, 34), (target // BLOCK, 34), (length, 29), (chunk, 32))
        job = 0
        for value, width in fields:
            assert value < 1 << width
            job = job << width | value
        dut.job_i.value = job
        dut.job_valid_i.value = 1
        await RisingEdge(dut.clk_net_i)
        while not dut.job_ready_o.value:
            await RisingEdge(dut.clk_net_i)
        dut.job_valid_i.value = 0

    async def leaves(self, source, target, length, chunk=0, root=False):
        await self.give(parents=0, root=root, source=source, target=target, length=length, chunk=chunk)

    async def parents(self, source, target, count, root=False):
        await self.give(parents=1, root=root, source=source, target=target, length=count * VALUE)

    async def idle(self):
        await RisingEdge(self.dut.clk_net_i)
        while True:
            await ReadOnly()
            if self.dut.idle_o.value:
                break
            await RisingEdge(self.dut.clk_net_i)
        value = self.dut.value_o.value.to_unsigned().to_bytes(VALUE, "little")
        await RisingEdge(self.dut.clk_net_i)
        return value

    async def digest(self, data, at=0):
        """A whole tree as the firmware builds it: all jobs are queued at once."""
        self.fill(at, data)
        if len(data) <= CHUNK:
            await self.leaves(at, VALUES_AT, len(data), root=True)
            return await self.idle()
        for span in range(0, len(data), SPAN):
            here = min(SPAN, len(data) - span)
            await self.leaves(at + span, VALUES_AT + span // CHUNK * VALUE, here, chunk=span // CHUNK)
        count, level = -(-len(data) // CHUNK), VALUES_AT
        while count > 1:
            above = level + -(-count * VALUE // BLOCK) * BLOCK
            await self.parents(level, above, count, root=count == 2)
            count, level = -(-count // 2), above
        return await self.idle()


def split(values):
    """Values one by one."""
    return [values[at : at + VALUE] for at in range(0, len(values), VALUE)]


@cocotb.test()
async def whole_trees_have_the_right_digest(dut):
    card = Card(dut)
    await card.start()
    for length in [1, 63, 64, 65, 1023, 1024, 1025, 2048, 3072, 31744, 102400]:
        data = random.randbytes(length)
        assert await card.digest(data) == golden.digest(data), length


@cocotb.test()
async def no_byte_beyond_the_end_counts(dut):
    card = Card(dut)
    await card.start()
    for length in [*range(1, 2 * BLOCK + 2), CHUNK - 1, CHUNK]:
        data = random.randbytes(length)
        card.fill(0, data)
        await card.leaves(0, VALUES_AT, length, root=True)
        assert await card.idle() == golden.digest(data), length


@cocotb.test()
@cocotb.parametrize(pause=list(PAUSES), latency=[(1, 3), (20, 90)])
async def values_are_exact_for_any_length_and_stall(dut, pause, latency):
    card = Card(dut, pause, latency)
    await card.start()
    edges = [1, 3, 4, 63, 64, 65, 1023, 1025, 8 * CHUNK, 8 * CHUNK + 1, 9 * CHUNK - 64]
    lengths = random.sample(edges, 3) + [random.randint(1, 12 * CHUNK) for _ in range(2)]
    at, target, jobs = 0, VALUES_AT, []
    for length in lengths:
        data, chunk = random.randbytes(length), 8 * random.randrange(1 << 29)
        card.fill(at, data)
        await card.leaves(at, target, length, chunk)
        jobs.append((length, target, split(golden.chunk_values(data, chunk))))
        at += -(-length // BLOCK) * BLOCK
        target += (length // CHUNK + 2) * VALUE // BLOCK * BLOCK
    last = await card.idle()
    for length, target, expected in jobs:
        assert card.values(target, len(expected)) == expected, length
    assert last == expected[-1]
    assert card.reads == sum(-(-length // BLOCK) for length in lengths)
    assert card.written == sum(len(expected) for _, _, expected in jobs)


@cocotb.test()
@cocotb.parametrize(pause=["never", "ragged"])
async def parents_pair_up_and_carry_the_odd_one(dut, pause):
    card = Card(dut, pause, (5, 40))
    await card.start()
    for count in [1, 2, 3, 8, 15, 16, 17, 18, 19, 33]:
        values = random.randbytes(count * VALUE)
        card.fill(0, values)
        await card.parents(0, VALUES_AT, count)
        expected = split(golden.parent_values(values))
        assert await card.idle() == expected[-1]
        assert card.values(VALUES_AT, len(expected)) == expected, count


@cocotb.test()
async def parents_wait_for_the_values_they_read(dut):
    """Jobs of one tree, given without waiting, to a DDR that takes long to write."""
    card = Card(dut, "never", (200, 300))
    await card.start()
    data = random.randbytes(9 * CHUNK + 5)
    assert await card.digest(data) == golden.digest(data)


@cocotb.test()
async def values_of_two_jobs_are_no_run(dut):
    """They wait together for the port: those of one job go on as a run, those of the next one belong elsewhere."""
    card = Card(dut)
    card.pause_of_writes = lambda: chain(repeat(True, 3000), repeat(False))
    await card.start()
    jobs = []
    for number in range(3):
        data = random.randbytes(2 * CHUNK)
        card.fill(number * len(data), data)
        jobs.append((VALUES_AT + number * 3 * BLOCK, split(golden.chunk_values(data))))
        await card.leaves(number * len(data), jobs[-1][0], len(data))
    await card.idle()
    assert card.written == 6
    for target, expected in jobs:
        assert card.values(target, 2) == expected


@cocotb.test()
async def values_wait_while_memory_takes_none(dut):
    """For longer than there is room for values: reads stop, and nothing is lost."""
    card = Card(dut)
    card.pause_of_writes = lambda: chain(repeat(True, 9000), repeat(False))
    await card.start()
    data = random.randbytes(48 * CHUNK)
    card.fill(0, data)
    await card.leaves(0, VALUES_AT, len(data))
    expected = split(golden.chunk_values(data))
    assert await card.idle() == expected[-1]
    assert card.values(VALUES_AT, len(expected)) == expected


@cocotb.test()
async def spans_follow_one_another_without_a_gap(dut):
    card = Card(dut, "never", (40, 40))
    await card.start()
    spans = 3
    card.fill(0, random.randbytes(SPAN) * spans)

    async def give():
        for span in range(spans):
            await card.leaves(span * SPAN, VALUES_AT + span * SPAN // CHUNK * VALUE, SPAN, span * SPAN // CHUNK)

    cocotb.start_soon(give())
    ends, cycle = [], 0
    while len(ends) < spans:
        await RisingEdge(dut.clk_ddr_i)
        cycle += 1
        if card.written == (len(ends) + 1) * SPAN // CHUNK:
            ends.append(cycle)
    for before, after in zip(ends, ends[1:]):
        dut._log.info("%d cycles per 64 KiB", after - before)
        assert after - before <= SPAN_CYCLES_MAX
    # And alone, from the job's start to its last value in DDR.
    dut._log.info("%d cycles for the first", ends[0])
    assert ends[0] <= SPAN_CYCLES_MAX + 200


def test_rl_digest():
    bench("rl_digest", rtl("common", "digest"), __name__)
