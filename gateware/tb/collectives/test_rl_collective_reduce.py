"""Elements reduced by the gateware and by the model, bit by bit: all types and operations.

`REDUCE_OPERANDS` says how many pairs of each type and operation there are, 100,000 by default, and `REDUCE_WIDTHS` how
many bits words have, 64. All pairs of numbers that stand at an edge of a type are among them.
"""

import os
from pathlib import Path

import cocotb
import golden_link
import numpy as np
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer, with_timeout
from golden_link import REDUCTIONS, Datatype, Op
from runner import bench, rtl

HERE = Path(__file__).parent
OPERANDS = int(os.environ.get("REDUCE_OPERANDS", "100000"))
WIDTHS = [int(width) for width in os.environ.get("REDUCE_WIDTHS", "64").split()]
RUN = 40_000  # Words of a run at most.
# Bits of the fraction and of the exponent.
FORMATS = {Datatype.F16: (10, 5), Datatype.BF16: (7, 8), Datatype.F32: (23, 8), Datatype.F64: (52, 11)}


def edges(datatype):
    """Numbers at which something changes, with both signs."""
    bits = 8 * datatype.size
    if datatype not in FORMATS:
        some = {0, 1, 2, 3, (1 << bits - 1) - 1, (1 << bits - 1) - 2, 1 << bits // 2, (1 << bits // 2) - 1, 0x55}
        return [value & (1 << bits) - 1 for one in some for value in (one, -one, ~one)] + [1 << bits - 1]
    fraction, exponent = FORMATS[datatype]
    top, bias = (1 << exponent) - 1, (1 << exponent - 1) - 1
    fractions = [0, 1, 2, (1 << fraction) - 1, 1 << fraction - 1, (1 << fraction - 1) + 1, (1 << fraction) - 2]
    # Around 0 and 1, where places are lost, where products leave what there is room for, and infinity.
    exponents = [0, 1, 2, bias - fraction - 1, bias - fraction, bias // 2, bias // 2 + 1, bias - 1, bias, bias + 1,
                 bias + fraction, bias + fraction + 1, bias * 3 // 2, bias * 3 // 2 + 1, top - 1, top]
    sizes = sorted({e << fraction | f for e in exponents for f in fractions})
    return [sign << bits - 1 | size for sign in (0, 1) for size in sizes]


def random_floats(draw, count, datatype):
    """Of all exponents alike, many near the edges, with fractions that make ties and long carries."""
    fraction, exponent = FORMATS[datatype]
    size, top = 8 * datatype.size, (1 << exponent) - 1
    whole = np.frombuffer(draw.bytes(8 * count), np.uint64)
    places = whole & np.uint64((1 << fraction) - 1)
    at = draw.integers(0, fraction + 1, count, dtype=np.uint64)
    one = np.uint64(1) << at
    places = np.select([draw.integers(0, 4, count) == n for n in range(3)],
                       [one, one - np.uint64(1), places & ~(one - np.uint64(1))], places)
    places &= np.uint64((1 << fraction) - 1)
    exponents = draw.integers(0, top + 1, count, dtype=np.uint64)
    few = draw.choice(np.array([0, 1, 2, top - 1, top, top // 2], np.uint64), count)
    exponents = np.where(draw.integers(0, 4, count) == 0, few, exponents)
    signs = draw.integers(0, 2, count, dtype=np.uint64) << np.uint64(size - 1)
    return signs | exponents << np.uint64(fraction) | places


def near(draw, values, datatype):
    """Numbers of nearly the same size: bits cancel, or are just lost; of a product nearly 1, or nearly too small."""
    fraction, exponent = FORMATS[datatype]
    size, top = 8 * datatype.size, (1 << exponent) - 1
    exponents = (values >> np.uint64(fraction)).astype(np.int64) & top
    by = draw.integers(-fraction - 4, fraction + 5, len(values))
    bias = top // 2
    mirrored = np.where(draw.integers(0, 2, len(values)) == 0, bias + 1 - exponents, exponents)
    exponents = np.clip(mirrored + by, 0, top).astype(np.uint64)
    others = random_floats(draw, len(values), datatype) & np.uint64((1 << fraction) - 1)
    places = np.where(draw.integers(0, 2, len(values)) == 0, values & np.uint64((1 << fraction) - 1), others)
    signs = draw.integers(0, 2, len(values), dtype=np.uint64) << np.uint64(size - 1)
    return signs | exponents << np.uint64(fraction) | places


def operands(draw, datatype, count):
    """Pairs: left ones and right ones, as bytes."""
    numbers = np.array(edges(datatype), np.uint64)
    left, right = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
    more = max(count - len(left), 0)
    if datatype in FORMATS:
        drawn = random_floats(draw, more, datatype)
        half = more // 2
        others = np.concatenate([random_floats(draw, half, datatype), near(draw, drawn[half:], datatype)])
    else:
        drawn, others = (np.frombuffer(draw.bytes(8 * more), np.uint64) for _ in range(2))
        # Of two that are alike neither is less, and beside them the other one is.
        others = np.where(draw.integers(0, 8, more) == 0, drawn + draw.integers(0, 3, more, dtype=np.uint64), others)
    kind = f"<u{datatype.size}"
    return [np.concatenate(both).astype(kind).tobytes() for both in ((left, drawn), (right, others))]


@cocotb.test()
async def each_type_and_operation_is_as_the_models(dut):
    draw, size = np.random.default_rng(1), int(os.environ["REDUCE_WIDTH"]) // 8
    runs, pieces = [], []
    for datatype in Datatype:
        pair = operands(draw, datatype, OPERANDS)
        length = -(-len(pair[0]) // size) * size
        left, right = (side.ljust(length, b"\0") for side in pair)
        for op in (op for op, kind in REDUCTIONS if kind is datatype):
            for at in range(0, length, RUN * size):
                some, others = left[at : at + RUN * size], right[at : at + RUN * size]
                pauses = int(op is Op.SUM)
                head = np.array([op, datatype, len(some) // size, pauses], "<u2").tobytes()
                both = np.stack([np.frombuffer(part, np.uint8).reshape(-1, size) for part in (some, others)], 1)
                pieces += [head.ljust(size, b"\0"), both.tobytes()]
                runs.append((op, datatype, some, others))
    Path("operands.bin").write_bytes(b"".join(pieces) + bytes(size))
    Clock(dut.clk_i, 2, "ns").start()
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1
    # Runs that pause take less than three cycles a word.
    words = sum(len(left) for _, _, left, _ in runs) // size
    await with_timeout(RisingEdge(dut.done_o), 2 * (3 * words + 50 * len(runs)), "ns")
    await Timer(10, "ns")
    # A word comes a cycle as long as nothing pauses.
    assert dut.stalls_o.value == 0
    results, at = Path("results.bin").read_bytes(), 0
    for op, datatype, left, right in runs:
        got, wanted = results[at : at + len(left)], golden_link.reduced(op, datatype, left, right)
        at += len(left)
        if got != wanted:
            elements = [np.frombuffer(part, f"<u{datatype.size}") for part in (left, right, got, wanted)]
            wrong = np.flatnonzero(elements[2] != elements[3])
            some = [[f"{part[n]:x}" for part in elements] for n in wrong[:5]]
            raise AssertionError(f"{op.name} of {datatype.name}: {len(wrong)} differ; left, right, got, wanted: {some}")
    assert at == len(results)


@pytest.mark.parametrize("width", WIDTHS)
def test_rl_collective_reduce(width, monkeypatch):
    monkeypatch.setenv("REDUCE_WIDTH", str(width))
    sources = [*rtl("collectives"), HERE / "rl_collective_reduce_tb.sv"]
    bench("rl_collective_reduce_tb", sources, __name__, {"DataW": width})
