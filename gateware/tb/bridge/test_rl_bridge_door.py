"""rl_bridge_door: packets of IPv6 go in whole and at once, other frames not at all, and none in parts after a reset."""

import random
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from runner import bench, rtl
from streams import PAUSES, keep, never, words

IPV6 = 0x86DD
# Others, some of which are nearly it: a bit away, the bytes turned, only a part.
OTHERS = [0x88B5, 0x0800, 0x86DC, 0x06DD, 0xDD86, 0x86FF, 0x00DD]
FRAMES = 300


@dataclass(frozen=True)
class Frame:
    """A frame on the wire, and whether it was damaged."""

    data: bytes
    bad: bool

    @property
    def is_ours(self):
        return int.from_bytes(self.data[12:14], "big") == IPV6


def a_frame(kind=None):
    """A frame from the shortest that has a type on. What stands elsewhere is often the type too."""
    kind = kind or random.choice([IPV6] * 4 + OTHERS)
    length = random.choice([14, 16, 17, 24, 60, random.randint(14, 200)])
    data = bytearray(random.choice([random.randbytes(length), (IPV6.to_bytes(2, "big") * length)[:length]]))
    data[12:14] = kind.to_bytes(2, "big")
    return Frame(bytes(data), random.random() < 0.2)


class Bench:
    """The gateware, cycle by cycle."""

    def __init__(self, dut):
        self.dut, self.edge = dut, dut.clk_i.rising_edge
        self.halted = self.in_reset = False
        self.passed, self.open = [], []  # Frames that have passed, and the words of one that passes.

    async def start(self):
        dut = self.dut
        for port in (dut.rst_power_ni, dut.rst_ni, dut.halt_i, dut.valid_i):
            port.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 3)
        dut.rst_power_ni.value = dut.rst_ni.value = 1
        await self.edge

    async def cycle(self, word=None):
        """A cycle with a word of the network's or without. What the bridge sees in a reset it does not keep."""
        dut = self.dut
        dut.rst_ni.value = not self.in_reset
        dut.halt_i.value = self.halted
        dut.valid_i.value = word is not None
        if word is None:
            word = (random.getrandbits(64), random.getrandbits(8), random.getrandbits(1), random.getrandbits(1))
        dut.data_i.value, dut.keep_i.value, dut.last_i.value, dut.bad_i.value = word
        await self.edge
        if self.in_reset:
            self.open = []
        elif dut.valid_o.value:
            self.open.append((dut.data_o.value.to_unsigned(), dut.keep_o.value.to_unsigned()))
            if dut.last_o.value:
                size = sum(mask.bit_count() for _, mask in self.open)
                data = b"".join(data.to_bytes(8, "little") for data, _ in self.open)[:size]
                self.passed.append(Frame(data, bool(dut.bad_o.value)))
                self.open = []

    async def send(self, frame, pause, during=lambda index, last: None):
        """Sends this; `during` is called before each word, with its number."""
        data, masks = words(frame.data), keep(frame.data)
        for index, word in enumerate(zip(data, masks, strict=True)):
            last = index == len(data) - 1
            while next(pause):
                await self.cycle()
            during(index, last)
            await self.cycle((*word, last, last and frame.bad))

    async def idle(self, cycles=3):
        for _ in range(cycles):
            await self.cycle()


@cocotb.test()
@cocotb.parametrize(pause=["never", "ragged", "bursts"])
async def packets_of_ipv6_go_through(dut, pause):
    tb = Bench(dut)
    await tb.start()
    frames = [a_frame() for _ in range(FRAMES)]
    for frame in frames:
        await tb.send(frame, PAUSES[pause]())
    # The last word leaves in the cycle behind it, and does not wait for another frame.
    await tb.idle(1)
    assert tb.passed == [frame for frame in frames if frame.is_ours] and not tb.open


@cocotb.test()
async def what_ends_before_its_type_is_nobody_s(dut):
    tb = Bench(dut)
    await tb.start()
    for size in range(1, 9):
        await tb.send(a_frame(IPV6), never())
        await tb.send(Frame((IPV6.to_bytes(2, "big") * 4)[:size], False), never())
        await tb.send(frame := a_frame(IPV6), never())
        await tb.idle()
        assert len(tb.passed) == 2 and tb.passed[1] == frame
        tb.passed.clear()


@cocotb.test()
async def nothing_begins_while_it_is_halted(dut):
    """What goes through already ends; what has no type yet does not begin, also if the halt ends meanwhile."""
    tb = Bench(dut)
    await tb.start()
    wanted = []
    for _ in range(2 * FRAMES):
        frame = a_frame()
        at_type = []

        def turn(index, last):
            if random.random() < 0.2:
                tb.halted = not tb.halted
            if index == 1:
                at_type.append(tb.halted)

        await tb.send(frame, PAUSES["ragged"](), turn)
        if frame.is_ours and not at_type[0]:
            wanted.append(frame)
    await tb.idle()
    assert tb.passed == wanted and len(wanted) > 20


@cocotb.test()
@cocotb.parametrize(pause=["never", "ragged"])
async def a_reset_ends_the_frame_that_is_under_way(dut, pause):
    """Of that none of the rest is seen; the next one is whole."""
    tb = Bench(dut)
    await tb.start()
    for _ in range(2 * FRAMES):
        frame = a_frame(IPV6)
        count = len(words(frame.data))
        begins = random.randrange(count)
        ends = random.randrange(begins, count)
        seen = []

        def reset(index, last):
            tb.in_reset = begins <= index <= ends
            seen.append(tb.in_reset)

        await tb.send(frame, PAUSES[pause](), reset)
        tb.in_reset = False
        await tb.idle(random.randrange(3))
        # Its type has to come when there is a bridge. A reset after that ends it.
        whole = not any(seen[1:])
        await tb.send(after := a_frame(), PAUSES[pause]())
        await tb.idle()
        assert tb.passed == [one for one, goes in ((frame, whole), (after, after.is_ours)) if goes]
        assert not tb.open
        tb.passed.clear()


def test_rl_bridge_door():
    bench("rl_bridge_door", rtl("bridge"), __name__)
