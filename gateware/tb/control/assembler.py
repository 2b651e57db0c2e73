"""Encodings of RV32I instructions, as numbers, for benches that make programs."""

REG_OPS = {  # name: (funct3, funct7)
    "add": (0, 0),
    "sub": (0, 0x20),
    "sll": (1, 0),
    "slt": (2, 0),
    "sltu": (3, 0),
    "xor": (4, 0),
    "srl": (5, 0),
    "sra": (5, 0x20),
    "or": (6, 0),
    "and": (7, 0),
}
IMM_OPS = {"addi": 0, "slti": 2, "sltiu": 3, "xori": 4, "ori": 6, "andi": 7}
SHIFT_OPS = {"slli": (1, 0), "srli": (5, 0), "srai": (5, 0x20)}
BRANCHES = {"beq": 0, "bne": 1, "blt": 4, "bge": 5, "bltu": 6, "bgeu": 7}
LOADS = {"lb": (0, 1), "lh": (1, 2), "lw": (2, 4), "lbu": (4, 1), "lhu": (5, 2)}  # funct3, bytes
STORES = {"sb": (0, 1), "sh": (1, 2), "sw": (2, 4)}
EBREAK = 0x00100073
FENCE = 0x0FF0000F


def reg(name: str, rd: int, rs1: int, rs2: int) -> int:
    funct3, funct7 = REG_OPS[name]
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33


def i_type(opcode: int, funct3: int, rd: int, rs1: int, imm: int) -> int:
    return (imm & 0xFFF) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode


def imm(name: str, rd: int, rs1: int, value: int) -> int:
    return i_type(0x13, IMM_OPS[name], rd, rs1, value)


def shift(name: str, rd: int, rs1: int, amount: int) -> int:
    funct3, funct7 = SHIFT_OPS[name]
    return i_type(0x13, funct3, rd, rs1, funct7 << 5 | amount)


def load(name: str, rd: int, rs1: int, offset: int) -> int:
    return i_type(0x03, LOADS[name][0], rd, rs1, offset)


def store(name: str, rs2: int, rs1: int, offset: int) -> int:
    low, high = offset & 31, offset >> 5 & 0x7F
    return high << 25 | rs2 << 20 | rs1 << 15 | STORES[name][0] << 12 | low << 7 | 0x23


def branch(name: str, rs1: int, rs2: int, offset: int) -> int:
    high = (offset >> 12 & 1) << 6 | offset >> 5 & 0x3F
    low = offset & 0x1E | offset >> 11 & 1
    return high << 25 | rs2 << 20 | rs1 << 15 | BRANCHES[name] << 12 | low << 7 | 0x63


def lui(rd: int, upper: int) -> int:
    return (upper & 0xFFFFF) << 12 | rd << 7 | 0x37


def auipc(rd: int, upper: int) -> int:
    return (upper & 0xFFFFF) << 12 | rd << 7 | 0x17


def jal(rd: int, offset: int) -> int:
    upper = (offset >> 20 & 1) << 19 | (offset >> 1 & 0x3FF) << 9 | (offset >> 11 & 1) << 8 | offset >> 12 & 0xFF
    return upper << 12 | rd << 7 | 0x6F


def jalr(rd: int, rs1: int, offset: int) -> int:
    return i_type(0x67, 0, rd, rs1, offset)


def li(rd: int, value: int) -> list[int]:
    """Any constant, two instructions."""
    low = value & 0xFFF
    return [lui(rd, (value + 0x800) >> 12), imm("addi", rd, rd, low)]


def image(words: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in words)
