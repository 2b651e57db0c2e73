"""The roles vadd and ptrans behind their guard, against numpy: all alignments and extents, DDR with and without stalls."""

import random
from pathlib import Path

import cocotb
import numpy as np
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam

from runner import bench, rtl
from streams import bursts, sometimes

LOWEST = 0x10_0000
MEMORY = 0x40_0000
STATUS, VALUE, ARGS = 0x008, 0x010, 0x100
DONE, TRAP = 2, 4


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, reset_active_level=False, size=MEMORY)
        self.axil = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk_i, dut.rst_ni, reset_active_level=False)
        for part in (self.ram, self.axil):
            part.write_if.log.setLevel("WARNING")
            part.read_if.log.setLevel("WARNING")
        self.read, self.write = self.ram.read_if, self.ram.write_if

    async def begin(self, stall=None):
        dut = self.dut
        dut.rst_ni.value = 0
        dut.isolate_i.value = 0
        dut.memory_i.value = MEMORY
        Clock(dut.clk_i, 4, "ns").start()
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1
        channels = [self.write.aw_channel, self.write.w_channel, self.write.b_channel, self.read.ar_channel,
                    self.read.r_channel]  # fmt: skip
        for channel in channels if stall else []:
            channel.set_pause_generator(stall())

    async def run(self, args, kernel=0, timeout_us=2000):
        """Runs a kernel. Its status register, value and cycles."""
        dut = self.dut
        for k, arg in enumerate(args):
            await self.axil.write_qword(ARGS + 8 * k, arg)
        await self.axil.write_qword(0, kernel << 8 | 1)
        cycles = 0
        while not dut.interrupt_o.value:
            await RisingEdge(dut.clk_i)
            cycles += 1
            assert cycles < timeout_us * 250, "it hangs"
        status = await self.axil.read_qword(STATUS)
        value = await self.axil.read_qword(VALUE)
        await self.axil.write_qword(STATUS, DONE)
        assert not dut.interrupt_o.value
        return status, value, cycles

    def put(self, addr, array):
        self.ram.write(addr, array.tobytes())

    def get(self, addr, shape):
        return np.frombuffer(self.ram.read(addr, 4 * int(np.prod(shape))), np.uint32).reshape(shape)


def floats(*shape):
    """Bits of ordinary numbers, and some of the others."""
    values = np.random.default_rng(random.getrandbits(32)).standard_normal(shape).astype(np.float32)
    flat = values.reshape(-1)
    for at in range(0, flat.size, 37):
        flat[at] = random.choice([0.0, -0.0, np.inf, -np.inf, 1e-45, 3e38, np.nan])
    return values


def bits(values):
    """As the role gives them: one NaN."""
    return np.where(np.isnan(values), np.uint32(0x7FC00000), values.view(np.uint32))


def place(tb, sizes):
    """Addresses of arrays, anywhere and not overlapping, with canaries around."""
    addrs, at = [], LOWEST
    for size in sizes:
        at += 4 * random.randrange(32) + 64
        addrs.append(at)
        at += 4 * size + 64
    tb.ram.write(LOWEST, random.randbytes(at + 64 - LOWEST))
    return addrs, at + 64


async def check_sum(tb, shape, transpose):
    """One launch: the result, and nothing around it touched."""
    size = int(np.prod(shape))
    (a_at, b_at, c_at), end = place(tb, [size] * 3)
    a = floats(*(shape[::-1] if transpose else shape))
    b = floats(*shape)
    tb.put(a_at, a)
    tb.put(b_at, b)
    before = bytearray(tb.ram.read(0, MEMORY))
    status, value, cycles = await tb.run([a_at, b_at, c_at, *shape])
    assert (status, value) == (DONE, 0), f"{shape} at {a_at:#x} {b_at:#x} {c_at:#x}: {status} {tb.dut.fault_o.value}"
    with np.errstate(all="ignore"):
        want = bits(b + (a.T if transpose else a))
    got = tb.get(c_at, shape)
    assert np.array_equal(got, want), f"{shape} at {a_at:#x} {b_at:#x} {c_at:#x}: {np.argwhere(got != want)[:5]}"
    before[c_at : c_at + 4 * size] = want.tobytes()
    assert tb.ram.read(0, MEMORY) == bytes(before)
    return cycles


def extents():
    return random.choice([1, 2, 15, 16, 17, 63, 64, 65, random.randint(1, 150)])


STALLS = {"never": None, "ragged": lambda: sometimes(0.4), "bursts": lambda: bursts(60, 60)}


@cocotb.test()
@cocotb.parametrize(stall=list(STALLS))
async def same_as_numpy(dut, stall):
    tb = Bench(dut)
    await tb.begin(STALLS[stall])
    transpose = dut.Role.value == 1
    for _ in range(14 if stall == "never" else 6):
        if transpose:
            await check_sum(tb, (extents(), extents()), True)
        else:
            await check_sum(tb, (random.choice([1, 15, 16, 17, 4095, 4097, 8192, random.randint(1, 6000)]),), False)


@cocotb.test()
async def nothing_to_do(dut):
    tb = Bench(dut)
    await tb.begin()
    many = [0, 5] if dut.Role.value == 1 else [0]
    assert (await tb.run([LOWEST] * 3 + many))[0] == DONE


@cocotb.test()
async def bad_arguments_trap(dut):
    """Whatever the model's rl_array would trap at; and what is not a multiple of 4."""
    tb = Bench(dut)
    await tb.begin()
    two = dut.Role.value == 1
    before = tb.ram.read(0, MEMORY)
    good = [LOWEST, LOWEST + 0x1000, LOWEST + 0x2000]
    one = [4, 4] if two else [16]
    for at in range(3):
        for addr in (0, LOWEST - 4, LOWEST + 1, LOWEST + 2, 2**32 - 60, 2**32, 2**32 + 4, 2**63, 2**32 + LOWEST):
            args = [*good, *one]
            args[at] = addr
            assert (await tb.run(args))[0] == DONE | TRAP, args
    big = [[2**31 + 1, 0], [0, 2**31 + 1], [2**16, 2**16], [2**31, 2**31], [2**31, 1], [2**32, 1]]
    big += [[2**29 + 1, 2], [2**63, 1]]
    for many in big if two else [[2**31 + 1], [2**31], [2**30], [2**32], [2**32 + 4], [2**63]]:
        assert (await tb.run([*good, *many]))[0] == DONE | TRAP, many
    assert (await tb.run([*good, *one], kernel=1))[0] == DONE | TRAP
    assert tb.ram.read(0, MEMORY) == before
    assert (await tb.run([*good, *one]))[0] == DONE


@cocotb.test()
async def keeps_ddr_busy(dut):
    """Aligned arrays: a beat a cycle is read, but for the start and the end."""
    tb = Bench(dut)
    await tb.begin()
    shape, transpose = ((256, 192), True) if dut.Role.value == 1 else ((49152,), False)
    a_at, b_at, c_at = LOWEST, LOWEST + 0x8_0000, LOWEST + 0x10_0000
    size = int(np.prod(shape))
    a, b = floats(*(shape[::-1] if transpose else shape)), floats(*shape)
    tb.put(a_at, a)
    tb.put(b_at, b)
    beats = 0

    async def count():
        nonlocal beats
        while True:
            await RisingEdge(dut.clk_i)
            beats += int(dut.m_axi_rvalid.value) & int(dut.m_axi_rready.value)

    cocotb.start_soon(count())
    status, _, cycles = await tb.run([a_at, b_at, c_at, *shape])
    assert status == DONE
    with np.errstate(all="ignore"):
        assert np.array_equal(tb.get(c_at, shape), bits(b + (a.T if transpose else a)))
    reads = 2 * size // 16
    dut._log.info("%s: %d cycles, %d beats read, the model's cost is %d", shape, cycles, reads, -(-size * 12 // 64))
    assert beats == reads
    assert cycles < 1.2 * reads + 600


@pytest.mark.parametrize("role", [0, 1], ids=["vadd", "ptrans"])
def test_rl_role(role):
    tb = Path(__file__).parent
    bench("rl_role_tb", [*rtl("common", "roles"), tb / "rl_role_tb.sv"], __name__, {"Role": role})
