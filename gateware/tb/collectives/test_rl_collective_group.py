"""Reductions of groups of two to four cards of gateware in a line, by the planner's programs: beside the models of the
same cards, every byte of memory, and beside a fold of what the ranks give. Cards pass on what is for others; rank by
rank, a group's cards stand in any order.

`GROUP_RUNS` says how many operations of a group there are, of all types, operations and kinds in turn: 132 by default,
one of each. `GROUP_WIDTHS` says how many bits words have, 64.
"""

import os
import random
from functools import reduce
from pathlib import Path

import cocotb
import numpy as np
import pytest
from card_bench import DATA_AT, WINDOW, Program
from cocotb.triggers import ClockCycles
from golden_link import REDUCTIONS, Datatype, Kind, Op, Operation, reduced
from group_bench import Cards, Models, port
from runner import bench, rtl

HERE = Path(__file__).parent
RUNS = int(os.environ.get("GROUP_RUNS", "132"))
WIDTHS = [int(width) for width in os.environ.get("GROUP_WIDTHS", "64").split()]
CARDS, AT_ONCE = 4, 6
AHEAD = 2048  # Bytes that are read ahead, of 64-bit words.
# Bits of a fraction, and the exponent of 1.
FORMATS = {Datatype.F16: (10, 15), Datatype.BF16: (7, 127), Datatype.F32: (23, 127), Datatype.F64: (52, 1023)}
LINK_DEAD, RESTARTED, PEER_FAILED, MEMORY_FAILED = 2, 3, 4, 7


def elements(count, datatype):
    """Some of whose sums and products are NaNs, or depend on the order; zeros have both signs."""
    bits = 8 * datatype.size
    if datatype <= Datatype.I64:
        return random.randbytes(count * datatype.size)
    fraction, bias = FORMATS[datatype]
    values = []
    for _ in range(count):
        exponent = random.choice([bias, bias, bias + random.randrange(-12, 13), random.randrange(2 * bias + 2)])
        size = random.choice([exponent << fraction | random.getrandbits(fraction)] * 5 + [0])
        values.append(random.getrandbits(1) << bits - 1 | size)
    return np.array(values, np.uint64).astype(f"<u{datatype.size}").tobytes()


class Run:
    """An operation of a group, with its buffers at the same addresses on all cards."""

    def __init__(self, number, operation, ranks, at):
        self.number, self.operation, self.ranks = number, operation, ranks
        size, bytes_ = len(ranks), operation.count * operation.datatype.size
        given = bytes_ * (size if operation.kind is Kind.REDUCE_SCATTER else 1)
        # At any alignment, and a beat at least between two.
        place = lambda before, length: (before + length + 8) // 8 * 8 + 8 + random.randrange(8)
        self.source = at + random.randrange(8)
        self.to = place(self.source, given)
        self.scratch = place(self.to, bytes_) // 64 * 64 + 64
        links = [[port(a, b) for b in ranks] for a in ranks]
        self.programs, room = operation.plan(links, self.source, self.to, self.scratch)
        self.end = self.scratch + room + 8
        self.given = [elements(given // operation.datatype.size, operation.datatype) for _ in ranks]

    def placed(self):
        """What each card runs."""
        group = 0x1234_5678_0000_0000 + self.number
        return [(card, Program(some, group, 3, 8000)) for card, some in zip(self.ranks, self.programs)]

    def results(self):
        """What each rank must have: nothing, if it gets nothing."""
        it = self.operation
        whole = reduce(lambda left, right: reduced(it.op, it.datatype, left, right), self.given)
        length = it.count * it.datatype.size
        match it.kind:
            case Kind.REDUCE:
                return [whole if rank == it.root else b"" for rank in range(len(self.ranks))]
            case Kind.ALLREDUCE:
                return [whole] * len(self.ranks)
            case _:
                return [whole[length * rank : length * (rank + 1)] for rank in range(len(self.ranks))]


def drawn(number, at):
    """The operation of this number: all kinds of all types come in turn, and in 54 of them all kinds with each size and
    each number of ranks."""
    turn, kind = number // len(Kind), list(Kind)[number % len(Kind)]
    op, datatype = REDUCTIONS[turn % len(REDUCTIONS)]
    # The last is one more than is read ahead.
    count = [0, 1, 63, 64, 65, AHEAD // datatype.size + 1][(turn + kind) % 6]
    size = 2 + (turn // 6 + kind) % 3
    first = random.randrange(CARDS - size + 1)
    ranks = random.sample(range(first, first + size), size)
    operation = Operation(kind, op, datatype, count, random.randrange(size) if kind is Kind.REDUCE else 0)
    return Run(number, operation, ranks, at)


def some(numbers):
    """Operations, and memories with what their ranks give."""
    memories = [bytearray(random.randbytes(WINDOW)) for _ in range(CARDS)]
    runs, at = [], DATA_AT
    for number in numbers:
        runs.append(drawn(number, at))
        at = runs[-1].end // 64 * 64 + 64
        assert at <= WINDOW, "a run needs more memory"
        for card, given in zip(runs[-1].ranks, runs[-1].given):
            memories[card][runs[-1].source : runs[-1].source + len(given)] = given
    return runs, memories


@cocotb.test()
async def groups_reduce_as_the_models_and_as_a_fold(dut):
    """Several groups at once, over links that lose frames, and memories that pause."""
    random.seed(5)
    cards = Cards(dut)
    await cards.start([bytes(WINDOW)] * CARDS, errors=500, pause=20)
    for first in range(0, RUNS, AT_ONCE):
        runs, memories = some(range(first, min(first + AT_ONCE, RUNS)))
        programs = [it for run in runs for it in run.placed()]
        models = Models(CARDS, memories)
        cards.memories = memories
        assert {report.cause for report in models.run(programs)} == {0}
        reports = await cards.run(programs)
        assert [report.cause for report in reports] == [0] * len(programs), reports
        got = await cards.read()
        for run in runs:
            for rank, (card, wanted) in enumerate(zip(run.ranks, run.results())):
                found = got[card][run.to - DATA_AT :][: len(wanted)]
                assert found == wanted, (run.operation, run.ranks, rank, found.hex(), wanted.hex())
        for card, (memory, wanted) in enumerate(zip(got, models.memories())):
            wrong = [at + DATA_AT for at in range(0, len(memory), 64) if memory[at : at + 64] != wanted[at : at + 64]]
            assert not wrong, (card, wrong[:5], [(vars(run.operation), run.source, run.to) for run in runs])


@cocotb.test()
@cocotb.parametrize(fault=["cut", "memory"])
async def a_group_that_loses_a_member_ends_with_a_cause(dut, fault):
    """Its cable, or its memory: all ranks end in bounded time, and beside their buffers nothing is written."""
    random.seed(6)
    cards = Cards(dut)
    await cards.start([bytes(WINDOW)] * CARDS, patience=100)
    operation = Operation(Kind.ALLREDUCE, Op.SUM, Datatype.F64, 4000)
    run = Run(1, operation, list(range(CARDS)), DATA_AT)
    memories = [bytearray(random.randbytes(WINDOW)) for _ in range(CARDS)]
    for card, given in zip(run.ranks, run.given):
        memories[card][run.source : run.source + len(given)] = given
    cards.memories, before = memories, [bytes(memory) for memory in memories]

    async def meanwhile():
        await ClockCycles(dut.clk_i, 3000)
        (dut.cut_i if fault == "cut" else dut.fails_i).value = 1 << 2

    reports = await cards.run(run.placed(), meanwhile, limit=100_000)
    causes = [report.cause for report in reports]
    # Who is cut off hears nobody's words, and nobody its own.
    wanted = {LINK_DEAD, PEER_FAILED} if fault == "cut" else {MEMORY_FAILED, PEER_FAILED, LINK_DEAD}
    assert set(causes) <= wanted and (LINK_DEAD in causes if fault == "cut" else causes[2] == MEMORY_FAILED), reports
    dut.fails_i.value = 0
    for memory, old in zip(await cards.read(), before):
        assert memory[: run.to - DATA_AT] == old[DATA_AT : run.to]
        assert memory[run.end - DATA_AT :] == old[run.end :]
    # Afterwards the same group works: at once, or when those who had not waited for a link have heard of its new life.
    dut.cut_i.value = 0
    for number in (2, 3):
        again = Run(number, Operation(Kind.ALLREDUCE, Op.MAX, Datatype.F16, 65), list(range(CARDS)), DATA_AT)
        for card, given in zip(again.ranks, again.given):
            cards.memories[card][again.source : again.source + len(given)] = given
        causes = {report.cause for report in await cards.run(again.placed())}
        if causes == {0} or fault == "memory":
            break
        assert causes <= {0, RESTARTED, PEER_FAILED}
    assert causes == {0}
    got = await cards.read()
    for card, wanted in zip(again.ranks, again.results()):
        assert got[card][again.to - DATA_AT :][: len(wanted)] == wanted


@pytest.mark.parametrize("width", WIDTHS)
def test_rl_collective_group(width):
    sources = [*rtl("collectives"), *sorted(HERE.glob("*.sv"))]
    bench("rl_collective_group_tb", sources, __name__, {"DataW": width, "Cards": CARDS})
