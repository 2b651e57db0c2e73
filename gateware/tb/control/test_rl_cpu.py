"""rl_cpu does what the RV32I manual says: all that a program changes, in order, is what the interpreter says."""

import random
import sys
import zlib
from array import array
from pathlib import Path

import assembler as asm
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from runner import ROOT, bench
from rv32i import RAM_BYTES, Machine

sys.path.insert(0, str(ROOT / "gateware/firmware"))
import build as firmware  # noqa: E402

HERE = Path(__file__).resolve().parent
IO = 0x3000_0000
EDGES = [0, 1, 2, 0x7FF, 0x800, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x12345678]
DATA = 0x3000  # Above all generated code.
WHAT = ["reg", "ram", "write", "read"]


async def compare(dut, image: bytes, waits: int = 128, limit: int = 200_000) -> Machine:
    """Runs the image on both; returns the interpreter when they agree."""
    io = {IO + 4 * i: random.getrandbits(32) for i in range(64)}
    regs = fill_registers(dut)
    machine = Machine(image, io, regs)
    machine.run(limit)

    dut.rst_ni.value = 0
    dut.wait_i.value = waits
    await ClockCycles(dut.clk_i, 2)
    Path("ram.hex").write_text("".join(f"{word:08x}\n" for word in array("I", image.ljust(RAM_BYTES, b"\0"))))
    dut.load_i.value = 1
    for address, value in io.items():
        dut.io[(address - IO) // 4].value = value
    await RisingEdge(dut.clk_i)
    dut.load_i.value = 0
    dut.rst_ni.value = 1
    for _ in range(limit // 100):
        await ClockCycles(dut.clk_i, 500)
        if dut.fault_o.value:
            break
    else:
        raise AssertionError("the processor does not stop")

    got = [event(int(dut.trace[i].value)) for i in range(dut.traced.value.to_unsigned())]
    for i, (mine, theirs) in enumerate(zip(got, machine.events)):
        assert mine == theirs, f"event {i}: {mine}, and not {theirs}, after {machine.events[max(0, i - 4) : i]}"
    assert len(got) == len(machine.events)
    return machine


def fill_registers(dut) -> list[int]:
    """Puts something into all registers but x0, which the processor has to clear by itself."""
    regs = [0] + [random.getrandbits(32) for _ in range(31)]
    for memory in (dut.u_cpu.u_rs1.mem, dut.u_cpu.u_rs2.mem):
        for i, value in enumerate(regs):
            memory[i].value = value or 0xBAD
    return regs


def event(trace: int) -> tuple:
    what, rd = WHAT[trace >> 69], trace >> 64 & 31
    addr, data = trace >> 32 & 0xFFFFFFFF, trace & 0xFFFFFFFF
    return {"reg": (what, rd, data), "ram": (what, addr, rd, data)}.get(what, (what, addr, data))


def start(dut) -> None:
    dut.load_i.value = 0
    Clock(dut.clk_i, 10, "ns").start()


def with_operands(instructions: list[int], a: int, b: int) -> list[int]:
    """x1 = a, x2 = b, then these."""
    return [*asm.li(1, a), *asm.li(2, b), *instructions]


@cocotb.test()
async def arithmetic_at_its_edges(dut):
    start(dut)
    for name in asm.REG_OPS:
        words = []
        for a in EDGES:
            for b in EDGES:
                words += with_operands([asm.reg(name, 3, 1, 2), asm.reg(name, 2, 2, 1)], a, b)
        await compare(dut, asm.image([*words, asm.EBREAK]))
    words = []
    for a in EDGES:
        words += asm.li(1, a)
        for value in (0, 1, -1, 2047, -2048):
            words += [asm.imm(name, 3, 1, value) for name in asm.IMM_OPS]
        for amount in range(32):
            words += [asm.shift(name, 4, 1, amount) for name in asm.SHIFT_OPS]
        words += [asm.lui(5, a), asm.auipc(6, a), asm.imm("addi", 0, 1, 1), asm.reg("add", 7, 0, 0), asm.FENCE]
    await compare(dut, asm.image([*words, asm.EBREAK]))


@cocotb.test()
async def branches_at_their_edges(dut):
    start(dut)
    for name in asm.BRANCHES:
        words = []
        for a in EDGES:
            for b in EDGES:
                # Taken forward to the third, taken back from there, and the way on.
                words += with_operands([asm.branch(name, 1, 2, 12)], a, b)
                words += [asm.imm("addi", 3, 0, 1), asm.jal(4, 12), asm.imm("addi", 3, 0, 2), asm.jal(5, -8)]
                words += [asm.imm("addi", 3, 3, 4)]
        await compare(dut, asm.image([*words, asm.EBREAK]))
    # As far as a branch reaches, both ways, and a jump across all RAM.
    words = [asm.EBREAK] * (RAM_BYTES // 4)
    words[0] = asm.jal(1, 8192)
    words[2048] = asm.branch("beq", 0, 0, 4092)
    words[2048 + 1023] = asm.branch("beq", 0, 0, -4096)
    words[2047] = asm.jal(2, 8192)
    words[4095] = asm.jal(3, -16376)
    words[1] = asm.EBREAK
    machine = await compare(dut, asm.image(words))
    assert machine.steps == 5


@cocotb.test()
async def memory_of_all_sizes(dut):
    start(dut)
    data = [random.getrandbits(32) for _ in range(16)]
    words = [*asm.li(8, DATA), *asm.li(9, IO)]
    for i, value in enumerate(data):
        words += [*asm.li(1, value), asm.store("sw", 1, 8, 4 * i), asm.store("sw", 1, 9, 4 * i)]
    for name, (_, size) in asm.LOADS.items():
        words += [asm.load(name, 3, 8, offset) for offset in range(0, 32, size)]
        # The next instruction needs it, as the first operand, as the second, and as neither.
        words += [asm.load(name, 4, 8, 4), asm.reg("add", 5, 4, 1), asm.load(name, 4, 8, 8), asm.reg("sub", 5, 1, 4)]
        words += [asm.load(name, 4, 8, 8), asm.reg("sub", 5, 1, 2), asm.load(name, 0, 8, 8), asm.reg("sub", 5, 0, 0)]
    for name, (_, size) in asm.STORES.items():
        for offset in range(0, 16, size):
            # A load right after the store sees it.
            words += [asm.store(name, offset % 8, 8, offset - 64), asm.load("lw", 3, 8, offset - 64 & ~3)]
    words += [asm.load("lw", 3, 9, 4 * i) for i in range(16)]
    words += [asm.store("sw", 3, 9, 8), asm.store("sw", 4, 9, 12), asm.load("lw", 5, 9, 8), asm.store("sw", 5, 8, 0)]
    for waits in (0, 128, 250):
        await compare(dut, asm.image([*words, asm.EBREAK]), waits)


def random_program(length: int) -> list[int]:
    """Instructions of all sorts, with branches and jumps a few instructions ahead, and short loops. x31 points to
    data, x30 to IO, x29 is for jumps and x28 counts loops."""
    words = [*asm.li(31, DATA), *asm.li(30, IO), *asm.li(28, 0)]
    for rd in range(1, 28):
        words += asm.li(rd, random.choice([*EDGES, random.getrandbits(32), random.getrandbits(5)]))
    loop = None  # Where it begins.
    targets = set()  # Of branches and jumps.
    while len(words) < length:
        rd, a, b = random.randint(0, 27), random.randint(0, 28), random.randint(0, 28)
        if loop and random.random() < 0.1:
            words += [asm.imm("addi", 28, 28, -1), asm.branch("blt", 0, 28, 4 * (loop - len(words) - 1))]
            loop = None
            continue
        match random.choice(["reg", "reg", "imm", "shift", "upper", "load", "load", "store", "io", "branch", "jump", "loop"]):
            case "reg":
                words.append(asm.reg(random.choice([*asm.REG_OPS]), rd, a, b))
            case "imm":
                words.append(asm.imm(random.choice([*asm.IMM_OPS]), rd, a, random.randint(-2048, 2047)))
            case "shift":
                words.append(asm.shift(random.choice([*asm.SHIFT_OPS]), rd, a, random.randint(0, 31)))
            case "upper":
                words.append(random.choice([asm.lui, asm.auipc])(rd, random.getrandbits(20)))
            case "load":
                name, (_, size) = random.choice([*asm.LOADS.items()])
                words.append(asm.load(name, rd, 31, random.randint(-2048 // size, 2047 // size) * size))
            case "store":
                name, (_, size) = random.choice([*asm.STORES.items()])
                words.append(asm.store(name, b, 31, random.randint(-2048 // size, 2047 // size) * size))
            case "io":
                offset = 4 * random.randint(0, 63)
                words.append(random.choice([asm.load("lw", rd, 30, offset), asm.store("sw", b, 30, offset)]))
            case "branch" if not loop:
                ahead = random.randint(1, 4)
                targets.add(len(words) + ahead)
                words.append(asm.branch(random.choice([*asm.BRANCHES]), a, b, 4 * ahead))
            case "jump" if not loop:
                ahead = random.randint(1, 4)
                if random.random() < 0.5:
                    targets.add(len(words) + ahead)
                    words.append(asm.jal(rd, 4 * ahead))
                else:
                    # Nothing leads between the two. The target's lowest bit is ignored.
                    while len(words) + 1 in targets:
                        words.append(asm.FENCE)
                    targets.add(len(words) + 1 + ahead)
                    words += [asm.auipc(29, 0), asm.jalr(rd, 29, 4 + 4 * ahead + random.randint(0, 1))]
            case "loop" if not loop:
                words.append(asm.imm("addi", 28, 0, random.randint(1, 5)))
                loop = len(words)
    # Jumps may lead beyond the last one.
    return words + [asm.EBREAK] * 5


@cocotb.test()
async def random_programs(dut):
    start(dut)
    for waits in (0, 0, 64, 128, 240, 128):
        await compare(dut, asm.image(random_program(2400)), waits)


@cocotb.test()
async def what_is_wrong_stops_it(dut):
    start(dut)
    setup = [*asm.li(8, DATA), *asm.li(9, IO), *asm.li(10, RAM_BYTES), *asm.li(11, 0x0FFFFFFC), *asm.li(12, 0x80000000)]
    illegal = [0, 0xFFFFFFFF, 0x00000073, asm.EBREAK, 0x30200073, 0x0000100F, 0x00000012, 0x00000011]
    illegal += [asm.i_type(0x67, f, 3, 0, 0) for f in range(1, 8)]
    illegal += [asm.branch("beq", 0, 0, 8) | f << 12 for f in (2, 3)]
    illegal += [asm.i_type(0x03, f, 3, 0, 0) for f in (3, 6, 7)]
    illegal += [asm.store("sb", 3, 0, 0) | f << 12 for f in range(3, 8)]
    illegal += [asm.reg("add", 3, 1, 2) | f << 25 for f in (1, 2, 4, 8, 16, 64)]
    illegal += [asm.reg(name, 3, 1, 2) | 0x20 << 25 for name in ("sll", "slt", "sltu", "xor", "or", "and")]
    illegal += [asm.shift(name, 3, 1, 1) | f << 25 for name in asm.SHIFT_OPS for f in (1, 2, 64)]
    illegal += [asm.shift("slli", 3, 1, 1) | 0x20 << 25]
    illegal += [opcode << 2 | 3 | 3 << 7 for opcode in range(32) if opcode not in (0, 3, 4, 5, 8, 12, 13, 24, 25, 27)]
    misaligned = [asm.load(name, 3, 8, offset) for name, offset in (("lh", 1), ("lhu", 3), ("lw", 1), ("lw", 2))]
    misaligned += [asm.store(name, 3, 8, offset) for name, offset in (("sh", 1), ("sw", 2), ("sw", 3))]
    # To what follows, were it not for the bit.
    misaligned += [asm.jalr(3, 0, 4 * len(setup) + 6), asm.jal(3, 6), asm.branch("beq", 0, 0, 6)]
    outside = [access for base in (10, 11, 12) for access in (asm.load("lw", 3, base, 0), asm.store("sw", 3, base, 0))]
    outside += [asm.jalr(3, base, 0) for base in (9, 10, 11, 12)]
    outside += [access for name in ("lb", "lh", "lbu", "lhu") for access in [asm.load(name, 3, 9, 0)]]
    outside += [asm.store("sb", 3, 9, 0), asm.store("sh", 3, 9, 0), asm.jal(3, -64)]
    for wrong in [*illegal, *misaligned, *outside]:
        # What follows must not happen.
        after = [asm.imm("addi", 5, 0, 1), asm.store("sw", 5, 8, 0), asm.store("sw", 5, 9, 0)]
        machine = await short(dut, [*setup, wrong, *after])
        assert machine.steps == len(setup), hex(wrong)


async def short(dut, words: list[int]) -> Machine:
    """As `compare`, for programs so short that loading all of RAM would take longest."""
    machine = Machine(asm.image(words))
    machine.run(1000)
    dut.rst_ni.value = 0
    dut.wait_i.value = 0
    await ClockCycles(dut.clk_i, 2)
    for i, word in enumerate(words):
        dut.ram[i].value = word
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 100)
    assert dut.fault_o.value, f"{words[-4]:08x} does not stop it"
    got = [event(int(dut.trace[i].value)) for i in range(dut.traced.value.to_unsigned())]
    assert got == machine.events, f"{words[-4]:08x}"
    return machine


@cocotb.test()
async def compiled_programs(dut):
    """Results are at the start of IO; a program says 0 last."""
    start(dut)
    for name, wanted in PROGRAMS.items():
        files = [firmware.HERE / "start.S", firmware.HERE / "libcalls.c", HERE / "c/divide.c", HERE / f"c/{name}.c"]
        built = firmware.build(files, ROOT / f"out/tb/programs/{name}")
        machine = await compare(dut, built.image)
        results = [value for what, _, value in (e for e in machine.events if e[0] == "write")]
        assert results == [*wanted(), 0], name
        cpi = dut.cycles.value.to_unsigned() / machine.steps
        dut._log.info(f"{name}: {machine.steps} instructions, {cpi:.2f} cycles each")
        assert cpi < 4


def bytes_of(count: int) -> bytes:
    """The same pseudo-random bytes as `next_byte` in the programs."""
    state, out = 1, bytearray()
    for _ in range(count):
        state = (state * 1103515245 + 12345) & 0xFFFFFFFF
        out.append(state >> 24)
    return bytes(out)


def words_of(count: int) -> list[int]:
    data = bytes_of(4 * count)
    return [int.from_bytes(data[4 * i : 4 * i + 4], "big") for i in range(count)]


def divisions() -> list[int]:
    pairs = list(zip(words_of(24)[::2], words_of(24)[1::2]))
    out = []
    for a, b in pairs:
        b >>= a & 31
        b = b or 1
        x, y = (a ^ 1 << 31) - (1 << 31), (b ^ 1 << 31) - (1 << 31)
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        out += [a // b, a % b, quotient & 0xFFFFFFFF, (x - quotient * y) & 0xFFFFFFFF, a * b & 0xFFFFFFFF]
    return out


PROGRAMS = {
    "crc": lambda: [zlib.crc32(bytes_of(256))],
    "sort": lambda: sorted(words_of(64)),
    "divisions": divisions,
    "text": lambda: list(b"rackloom 4294967295 -2147483648 0x00c0ffee"),
}


def test_rl_cpu():
    bench("rl_cpu_bench", ["common/rl_lutram.sv", "control/rl_cpu.sv", HERE / "rl_cpu_bench.sv"], __name__,
          visible=["rl_lutram.mem"])
