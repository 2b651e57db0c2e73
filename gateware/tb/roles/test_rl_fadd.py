"""The adder of single precision against numpy, bit by bit."""

import random

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from runner import bench

LATENCY = 6
EDGES = [
    0x00000000, 0x00000001, 0x00000002, 0x00400000, 0x007FFFFE, 0x007FFFFF, 0x00800000, 0x00800001, 0x00FFFFFF,
    0x01000000, 0x33800000, 0x33800001, 0x34000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x4B000000, 0x4B7FFFFF,
    0x4B800000, 0x4B800001, 0x7E800000, 0x7EFFFFFF, 0x7F000000, 0x7F7FFFFE, 0x7F7FFFFF, 0x7F800000, 0x7F800001,
    0x7FC00000, 0x7FFFFFFF, 0x73000000, 0x72FFFFFF, 0x73000001,
]  # fmt: skip


def operand():
    """Of all exponents alike, with mantissas that make ties and long runs."""
    mantissa = random.choice(
        [random.getrandbits(23), 0, 2**23 - 1, 1 << random.randrange(23), (1 << random.randrange(24)) - 1]
    )
    return random.getrandbits(1) << 31 | random.choice([random.getrandbits(8), 0, 1, 254, 127]) << 23 | mantissa


def near(value):
    """Of nearly the same size: bits cancel, carry, or are just lost."""
    exponent = min(max((value >> 23 & 255) + random.randint(-27, 27), 0), 254)
    mantissa = random.choice([value & (2**23 - 1), random.getrandbits(23), value + 1 & (2**23 - 1)])
    return random.getrandbits(1) << 31 | exponent << 23 | mantissa


@cocotb.test()
async def same_bits_as_numpy(dut):
    pairs = [(a | sa << 31, b | sb << 31) for a in EDGES for b in EDGES for sa in (0, 1) for sb in (0, 1)]
    pairs += [(operand(), operand()) for _ in range(6000)]
    pairs += [(a, near(a)) for a in (operand() for _ in range(14000))]
    both = np.array(pairs, dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        sums = both[:, 0] + both[:, 1]
    want = np.where(np.isnan(sums), np.uint32(0x7FC00000), sums.view(np.uint32))
    Clock(dut.clk_i, 2, "ns").start()
    for cycle in range(len(pairs) + LATENCY + 1):
        if cycle < len(pairs):
            dut.a_i.value, dut.b_i.value = pairs[cycle]
        await RisingEdge(dut.clk_i)
        if cycle >= LATENCY:
            at = cycle - LATENCY
            if at < len(pairs):
                got = int(dut.sum_o.value)
                assert got == want[at], f"{pairs[at][0]:08x} + {pairs[at][1]:08x}: {got:08x}, not {want[at]:08x}"


def test_rl_fadd():
    bench("rl_fadd", ["roles/rl_fadd.sv"], __name__)
