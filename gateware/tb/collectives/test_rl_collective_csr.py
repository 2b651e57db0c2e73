"""rl_collective_csr: what the firmware orders begins once and in order, and each end is shown once, whoever writes what
and when: orders that mean nothing, other registers, reads in every cycle. Beside it runs what its registers say."""

import random
import tomllib
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge
from runner import ROOT, bench, rtl
from structs import pack

MAP = tomllib.loads((ROOT / "protocol/registers.toml").read_text())
REGISTERS = {register["name"]: register for register in MAP["register"]}
STATUS, WHAT, ORDER = (REGISTERS[f"LNK_{name}"]["offset"] // 4 & 31 for name in ("STATUS", "WHAT", "ORDER"))
SLOTS = NUMBERS = 8
LINKS = 4
WHAT_WORDS = 9
COMMANDS = (1 << 13) - 1  # What more commands than this count as: too many.
UNIT_US = 6  # A tick has so many microseconds, as a power of 2, shifted.
# Fields from the last one on, and their bits.
PROGRAM = {"number": 32, "group": 64, "ticks": 32, "commands": 13, "program_at": 40, "held": 1,
           "anew": LINKS}
REPORT = {"puts": 64, "takes": 64, "command": 13, "port": 8, "cause": 4, "slot": 3}


def bit(register, name):
    return 1 << int(next(one["bits"] for one in REGISTERS[register]["fields"] if one["name"] == name))


START, POP, RESET, CANCEL, EXPECT = (bit("LNK_ORDER", name) for name in ("START", "POP", "RESET", "CANCEL", "EXPECT"))
ORDERS = START | POP | RESET | CANCEL | EXPECT
THERE, ENDED, RESETS, REFUSED = (bit("LNK_STATUS", name) for name in ("THERE", "ENDED", "RESETS", "REFUSED"))


def unpacked(value, layout):
    found = {}
    for name, width in layout.items():
        found[name], value = value & (1 << width) - 1, value >> width
    return found


def packed(layout, **values):
    number, low = 0, 0
    for name, width in layout.items():
        number |= values.get(name, 0) << low
        low += width
    return number


@dataclass
class Asked:
    """A program as the firmware asks for it."""

    number: int
    words: list[int]

    def begins_as(self, shift, anew):
        """What the sequencer has to get."""
        program_hi, program_lo, commands, limit, group_hi, group_lo, sequence = self.words[:7]
        return {
            "anew": anew,
            "held": 0,
            "program_at": (program_hi & 0xFF) << 32 | program_lo,
            "commands": min(commands, COMMANDS),
            "ticks": (limit >> UNIT_US + shift) + 1,
            "group": group_hi << 32 | group_lo,
            "number": sequence,
        }

    @property
    def report_at(self):
        return (self.words[7] & 0xFF) << 32 | self.words[8]


class Registers:
    """What they are by their description, and the sequencer and memory around them."""

    def __init__(self, dut, rng, shift):
        self.dut, self.rng, self.shift = dut, rng, shift
        self.what = [0] * WHAT_WORDS
        self.starts, self.ended = deque(), deque()
        self.running: dict[int, Asked] = {}  # By the context.
        self.called_off: set[int] = set()
        self.anew = [0] * NUMBERS  # Links whose neighbours have begun a new life since a number was expected.
        self.ending = None  # The context whose end is offered, and its cause.
        self.begun = self.refused = self.cancelled = self.shown = self.late = 0

    def taken(self):
        """Numbers that a program has, which the firmware gives to no other."""
        asked = [*self.starts, *self.running.values()]
        return {one.number for one in asked} | {number for _, number, _ in self.ended}

    def word(self):
        """What is written: sense and nonsense."""
        rng = self.rng
        at = rng.choice([WHAT] * 9 + [ORDER] * 4 + [STATUS, rng.randrange(32)])
        if at != ORDER:
            edges = [0, 63, 64, 4096, COMMANDS, COMMANDS + 1, (1 << 32) - 1]
            return at, rng.choice([rng.getrandbits(32), rng.choice(edges)])
        number = rng.randrange(NUMBERS)
        word = rng.getrandbits(32) & ~(ORDERS | 7 << 4) | number << 4
        if number not in self.taken() and rng.random() < 0.7:
            word |= START
        if rng.random() < 0.4:
            word |= POP
        if rng.random() < 0.2:
            word |= CANCEL
        if rng.random() < 0.4:
            word |= EXPECT
        return at, word

    def drive(self):
        """A cycle's inputs, and what has to be seen."""
        rng, dut = self.rng, self.dut
        self.write = self.word() if rng.random() < 0.5 else None
        at, word = self.write or (rng.choice([WHAT, ORDER]), rng.getrandbits(32))
        self.read_at = rng.choice([STATUS, STATUS, rng.randrange(32)])
        dut.ctl_i.value = pack("bridge_ctl_t", write=self.write is not None, at=at, word=word, read_at=self.read_at)
        self.there, self.resets = rng.getrandbits(1), rng.getrandbits(1)
        dut.there_i.value, dut.resets_i.value = self.there, self.resets
        self.renewed = rng.getrandbits(LINKS) & rng.getrandbits(LINKS) if rng.random() < 0.03 else 0
        dut.renewed_i.value = self.renewed
        free = [slot for slot in range(SLOTS) if slot not in self.running]
        self.ready = bool(free) and rng.random() < 0.5
        self.slot, self.invalid = rng.choice(free or [0]), rng.random() < 0.3
        dut.start_ready_i.value, dut.start_slot_i.value = self.ready, self.slot
        dut.start_invalid_i.value = self.invalid
        if self.ending is None and self.running and rng.random() < 0.2:
            self.ending = rng.choice(list(self.running)), rng.randrange(10)
        noise = {name: rng.getrandbits(width) for name, width in REPORT.items()}
        slot, cause = self.ending or (noise["slot"], noise["cause"])
        dut.ended_valid_i.value = self.ending is not None
        dut.ended_i.value = packed(REPORT, **noise | {"slot": slot, "cause": cause})
        # Memory answers after some cycles.
        self.reported = self.ending is not None and rng.random() < 0.3
        dut.report_ready_i.value = self.reported

    def check(self):
        dut = self.dut
        status = 0
        if self.ended:
            refused, number, cause = self.ended[0]
            status = ENDED | (REFUSED if refused else 0) | number << 4 | cause << 8
        status |= (THERE if self.there else 0) | (RESETS if self.resets else 0)
        seen = dut.data_o.value.to_unsigned()
        if self.read_at != STATUS:
            assert seen == 0, f"register {self.read_at} has no content"
        elif self.ended:
            assert seen == status
        else:
            # Without an end, which one it was means nothing.
            assert seen & (THERE | ENDED | RESETS) == status
        assert dut.ended_o.value == bool(self.ended)
        assert dut.active_o.value == bool(self.starts or self.running)
        # One begins only while no report is being taken: it would have the same place among those that have ended.
        assert dut.start_valid_o.value == (bool(self.starts) and not self.reported)
        if self.starts:
            assert unpacked(dut.start_o.value.to_unsigned(), PROGRAM) == self.starts[0].begins_as(
                self.shift, self.anew[self.starts[0].number])
        expire = sum(1 << slot for slot, asked in self.running.items() if asked.number in self.called_off)
        assert dut.expire_o.value == expire
        assert dut.report_valid_o.value == (self.ending is not None)
        assert dut.ended_ready_o.value == self.reported
        if self.ending:
            assert dut.report_to_o.value == self.running[self.ending[0]].report_at
        orders = self.write is not None and self.write[0] == ORDER
        assert dut.reset_o.value == (orders and bool(self.write[1] & RESET))

    def step(self):
        """What the cycle changes."""
        begins = self.starts and self.ready and not self.reported
        pops = False
        if self.write is not None:
            at, word = self.write
            number = word >> 4 & 7
            if at == WHAT:
                self.what = [*self.what[1:], word]
            if at == ORDER:
                pops = bool(word & POP) and bool(self.ended)
                if word & CANCEL:
                    self.called_off.add(number)
                    self.cancelled += 1
                if word & START:
                    self.called_off.discard(number)
                if word & EXPECT:
                    self.anew[number] = 0
        self.anew = [anew | self.renewed for anew in self.anew]
        if pops:
            self.ended.popleft()
            self.shown += 1
        if self.reported:
            slot, cause = self.ending
            self.ended.append((False, self.running.pop(slot).number, cause))
            self.ending = None
        if begins:
            asked = self.starts.popleft()
            anew = self.anew[asked.number]
            if self.invalid:
                self.ended.append((True, asked.number, 0))
                self.refused += 1
            else:
                self.running[self.slot] = asked
                self.late += 0 < anew < (1 << LINKS) - 1
                self.begun += 1
        if self.write is not None and self.write[0] == ORDER and self.write[1] & START:
            self.starts.append(Asked(self.write[1] >> 4 & 7, list(self.what)))


async def begin(dut, shift):
    Clock(dut.clk_i, 10, "ns").start()
    inputs = ("rst_n", "ctl_", "there_", "resets_", "start_ready_", "start_slot_", "start_invalid_", "ended_valid_",
              "renewed_")
    for name in (*inputs, "ended_", "report_ready_"):
        getattr(dut, f"{name}i").value = 0
    dut.shift_i.value = shift
    await ClockCycles(dut.clk_i, 3)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


@cocotb.test()
@cocotb.parametrize(shift=[0, 4, 15])
async def whatever_is_written_and_read_programs_begin_and_end_once(dut, shift):
    rng = random.Random(cocotb.RANDOM_SEED + shift)
    await begin(dut, shift)
    registers = Registers(dut, rng, shift)
    for _ in range(WHAT_WORDS):
        dut.ctl_i.value = pack("bridge_ctl_t", write=1, at=WHAT, word=0)
        await FallingEdge(dut.clk_i)
    for _ in range(8000):
        registers.drive()
        await ReadOnly()
        registers.check()
        await RisingEdge(dut.clk_i)
        registers.step()
        await FallingEdge(dut.clk_i)
    assert min(registers.begun, registers.refused, registers.cancelled, registers.shown) > 100
    assert registers.late > 40, "neighbours have begun anew before programs began"


@cocotb.test()
async def a_reset_is_ordered_for_one_cycle_and_forgets_all(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    await begin(dut, 0)
    for _ in range(40):
        for _ in range(WHAT_WORDS):
            dut.ctl_i.value = pack("bridge_ctl_t", write=1, at=WHAT, word=rng.getrandbits(32))
            await FallingEdge(dut.clk_i)
        dut.start_ready_i.value = rng.getrandbits(1)
        for number in range(rng.randint(1, NUMBERS)):
            dut.start_slot_i.value, dut.start_invalid_i.value = number, rng.random() < 0.3
            word = START | rng.choice([0, CANCEL]) | number << 4
            dut.ctl_i.value = pack("bridge_ctl_t", write=1, at=ORDER, word=word)
            await FallingEdge(dut.clk_i)
        assert dut.active_o.value or dut.ended_o.value
        dut.ctl_i.value = pack("bridge_ctl_t", write=1, at=ORDER, word=RESET)
        await ReadOnly()
        assert dut.reset_o.value
        await FallingEdge(dut.clk_i)
        dut.ctl_i.value = pack("bridge_ctl_t", at=ORDER, word=RESET, read_at=STATUS)
        # Who was asked resets this one as well, in its own time.
        dut.rst_ni.value, dut.resets_i.value = 0, 1
        await FallingEdge(dut.clk_i)
        assert not dut.reset_o.value
        assert dut.data_o.value.to_unsigned() & (ENDED | RESETS) == RESETS
        dut.rst_ni.value, dut.resets_i.value = 1, 0
        await FallingEdge(dut.clk_i)
        assert not dut.active_o.value and not dut.ended_o.value and not dut.start_valid_o.value
        assert not dut.expire_o.value, "nobody is called off"


def test_rl_collective_csr():
    bench("rl_collective_csr", rtl("common", "collectives"), __name__)
