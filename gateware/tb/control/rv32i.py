"""An interpreter of RV32I, written from the ISA manual and not from the processor, to compare the processor with.

It keeps to the address map of `rl_cpu`: RAM from address 0 on, words of IO from 2^28 on, and a stop at whatever the
manual calls an exception. What an instruction changes or reads outside is an event, in the order of the program:
    ("reg", rd, value)  ("ram", word address, byte strobes, data of those bytes)
    ("write", address, value)  ("read", address, value)
"""

RAM_BYTES = 16384
MASK = 0xFFFFFFFF


class Fault(Exception):
    """The processor stops."""


def signed(value: int, bits: int = 32) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


class Machine:
    def __init__(self, image: bytes, io: dict[int, int] = {}, regs: list[int] = [0] * 32):
        self.ram = bytearray(image.ljust(RAM_BYTES, b"\0"))
        self.io: dict[int, int] = dict(io)
        self.regs = list(regs)
        self.pc = 0
        self.steps = 0
        self.events: list[tuple] = []

    def run(self, limit: int) -> None:
        """Runs until the fault that every program ends with."""
        try:
            while self.steps < limit:
                self.step()
                self.steps += 1
        except Fault:
            return
        raise AssertionError(f"the program still runs after {limit} instructions")

    def set(self, rd: int, value: int) -> None:
        if rd:
            self.regs[rd] = value & MASK
            self.events.append(("reg", rd, value & MASK))

    def jump(self, target: int) -> None:
        if target % 4 or not 0 <= target < RAM_BYTES:
            raise Fault("jump")
        self.pc = target

    def locate(self, address: int, size: int) -> bool:
        """True for RAM, False for IO."""
        if address % size:
            raise Fault("misaligned")
        if address < RAM_BYTES:
            return True
        if 1 << 28 <= address < 1 << 31 and size == 4:
            return False
        raise Fault("outside")

    def load(self, address: int, size: int) -> int:
        if self.locate(address, size):
            return int.from_bytes(self.ram[address : address + size], "little")
        value = self.io.get(address, 0)
        self.events.append(("read", address, value))
        return value

    def store(self, address: int, size: int, value: int) -> None:
        value &= (1 << 8 * size) - 1
        if self.locate(address, size):
            self.ram[address : address + size] = value.to_bytes(size, "little")
            lane = address % 4
            strobes = ((1 << size) - 1) << lane
            self.events.append(("ram", address - lane, strobes, value << 8 * lane))
        else:
            self.io[address] = value
            self.events.append(("write", address, value))

    def step(self) -> None:
        word = int.from_bytes(self.ram[self.pc : self.pc + 4], "little")
        opcode, rd, funct3 = word & 0x7F, word >> 7 & 31, word >> 12 & 7
        rs1, rs2, funct7 = word >> 15 & 31, word >> 20 & 31, word >> 25
        a, b = self.regs[rs1], self.regs[rs2]
        imm_i = signed(word >> 20, 12)
        imm_s = signed(funct7 << 5 | rd, 12)
        imm_b = signed((word >> 31) << 12 | (rd & 1) << 11 | (funct7 & 0x3F) << 5 | rd & 0x1E, 13)
        imm_u = word & 0xFFFFF000
        imm_j = signed((word >> 31) << 20 | (word & 0xFF000) | (word >> 20 & 1) << 11 | (word >> 20 & 0x7FE), 21)
        next_pc = (self.pc + 4) % RAM_BYTES
        match opcode:
            case 0x37:
                self.set(rd, imm_u)
            case 0x17:
                self.set(rd, self.pc + imm_u)
            case 0x6F:
                if imm_j % 4:
                    raise Fault("no word")
                target = self.pc + imm_j
                self.set(rd, next_pc)
                self.jump(target)
                return
            case 0x67 if funct3 == 0:
                target = (a + imm_i & MASK) & ~1
                self.set(rd, next_pc)
                self.jump(target)
                return
            case 0x63 if funct3 not in (2, 3):
                if imm_b % 4:
                    raise Fault("no word")
                x, y = (a, b) if funct3 & 2 else (signed(a), signed(b))
                if (x < y if funct3 & 4 else x == y) != bool(funct3 & 1):
                    next_pc = (self.pc + imm_b) % RAM_BYTES
            case 0x03 if funct3 in (0, 1, 2, 4, 5):
                size = 1 << (funct3 & 3)
                value = self.load(a + imm_i & MASK, size)
                self.set(rd, value if funct3 & 4 else signed(value, 8 * size))
            case 0x23 if funct3 < 3:
                self.store(a + imm_s & MASK, 1 << funct3, b)
            case 0x13:
                if funct3 in (1, 5):
                    if funct7 != 0 and not (funct7 == 0x20 and funct3 == 5):
                        raise Fault("illegal")
                    self.set(rd, alu(funct3, funct7 == 0x20, a, rs2))
                else:
                    self.set(rd, alu(funct3, False, a, imm_i & MASK))
            case 0x33 if funct7 == 0 or (funct7 == 0x20 and funct3 in (0, 5)):
                self.set(rd, alu(funct3, funct7 == 0x20, a, b))
            case 0x0F if funct3 == 0:
                pass
            case _:
                raise Fault("illegal")
        self.pc = next_pc


def alu(funct3: int, alternative: bool, a: int, b: int) -> int:
    match funct3:
        case 0:
            return a - b if alternative else a + b
        case 1:
            return a << (b & 31)
        case 2:
            return int(signed(a) < signed(b))
        case 3:
            return int(a < b)
        case 4:
            return a ^ b
        case 5:
            return (signed(a) if alternative else a) >> (b & 31)
        case 6:
            return a | b
        case _:
            return a & b
