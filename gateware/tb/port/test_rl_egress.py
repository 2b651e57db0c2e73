"""rl_egress: whole frames, no cycle lost while anybody has something to send, and to each its share."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from runner import bench, rtl
from streams import PAUSES, never

SHARES = [200, 600, 400]


class Egress:
    """The arbiter with its sources; each has frames of as many words as `lengths` says."""

    def __init__(self, dut, shares):
        self.dut = dut
        self.sources = dut.Sources.value.to_unsigned()
        self.width = dut.DataW.value.to_unsigned()
        self.shares = shares
        self.waiting = [[] for _ in range(self.sources)]
        self.words = [0] * self.sources
        self.idle = 0

    async def start(self):
        dut = self.dut
        share_w = dut.ShareW.value.to_unsigned()
        dut.share_i.value = sum(share << i * share_w for i, share in enumerate(self.shares))
        dut.rst_ni.value = dut.valid_i.value = dut.bad_i.value = dut.ready_i.value = 0
        Clock(dut.clk_i, 2, "ns").start()
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1

    async def feed(self, source_frames, cycles):
        """Sources that have a frame as soon as the one before has left. Frames are numbered by their source and turn."""
        dut, keep_all = self.dut, (1 << self.width // 8) - 1
        now = [None] * self.sources  # (words left, tag) of the frame in front.
        turn = [0] * self.sources
        for _ in range(cycles):
            await FallingEdge(dut.clk_i)
            valid = last = data = keep = 0
            for i in range(self.sources):
                if now[i] is None and (length := next(source_frames[i])):
                    turn[i] += 1
                    now[i] = [length, i << 24 | turn[i]]
                    self.waiting[i].append((length, now[i][1]))
                if now[i]:
                    valid |= 1 << i
                    last |= (now[i][0] == 1) << i
                    data |= (now[i][1] << 16 | now[i][0]) << i * self.width
                    keep |= keep_all << i * self.width // 8
            dut.valid_i.value, dut.last_i.value, dut.data_i.value, dut.keep_i.value = valid, last, data, keep
            await RisingEdge(dut.clk_i)
            taken = dut.ready_o.value.to_unsigned() & valid
            assert taken.bit_count() <= 1
            self.idle += valid != 0 and taken == 0
            for i in range(self.sources):
                if taken >> i & 1:
                    self.words[i] += 1
                    now[i][0] -= 1
                    if now[i][0] == 0:
                        now[i] = None

    async def check(self, pause):
        """What comes out: whole frames, each source's in their order."""
        dut, left = self.dut, None
        while True:
            ready = not next(pause)
            dut.ready_i.value = ready
            await RisingEdge(dut.clk_i)
            if not (ready and dut.valid_o.value):
                continue
            value = dut.data_o.value.to_unsigned()
            tag, count = value >> 16, value & 0xFFFF
            if left is None:
                length, expected = self.waiting[tag >> 24].pop(0)
                assert tag == expected, "each source's frames in their order"
                left = (length, tag)
            assert (count, tag) == left, "nothing comes between the words of a frame"
            assert bool(dut.last_o.value) == (count == 1)
            left = (count - 1, tag) if count > 1 else None


def constant(length):
    while True:
        yield length


def mixed(longest, busy):
    while True:
        yield random.randint(1, longest) if random.random() < busy else 0


@cocotb.test()
@cocotb.parametrize(lengths=[(190, 190, 190), (190, 8, 1), (1, 1, 1), (3, 190, 60)])
async def who_always_has_frames_gets_its_share_of_the_words(dut, lengths):
    egress = Egress(dut, SHARES)
    await egress.start()
    cocotb.start_soon(egress.check(never()))
    await egress.feed([constant(n) for n in lengths], 40_000)
    total = sum(egress.words)
    for share, words in zip(SHARES, egress.words, strict=True):
        assert abs(words / total - share / sum(SHARES)) < 0.01, egress.words
    # The first cycle fills the output.
    assert egress.idle <= 1, "no cycle is lost"


@cocotb.test()
async def what_one_does_not_use_goes_to_the_others(dut):
    egress = Egress(dut, SHARES)
    await egress.start()
    cocotb.start_soon(egress.check(never()))
    await egress.feed([constant(190), constant(0), constant(50)], 20_000)
    assert abs(egress.words[0] / sum(egress.words) - 200 / 600) < 0.02 and egress.idle <= 1


@cocotb.test()
async def a_source_alone_has_the_whole_port(dut):
    egress = Egress(dut, SHARES)
    await egress.start()
    cocotb.start_soon(egress.check(never()))
    await egress.feed([constant(1), constant(0), constant(0)], 5_000)
    assert egress.words[0] >= 4_998


@cocotb.test()
async def an_idle_source_saves_no_more_than_its_share(dut):
    egress = Egress(dut, SHARES)
    await egress.start()
    cocotb.start_soon(egress.check(never()))
    await egress.feed([constant(20), constant(0), constant(0)], 20_000)
    before = list(egress.words)
    await egress.feed([constant(20), constant(20), constant(0)], 700)
    # One round of the one that was idle, and then they take turns.
    assert egress.words[0] - before[0] >= 50, egress.words


@cocotb.test()
@cocotb.parametrize(pauses=["ragged", "bursts", "rare"])
async def frames_stay_whole_whatever_the_port_does(dut, pauses):
    egress = Egress(dut, SHARES)
    await egress.start()
    cocotb.start_soon(egress.check(PAUSES[pauses]()))
    await egress.feed([mixed(190, 0.3), mixed(5, 0.2), mixed(60, 0.05)], 10_000)
    assert min(egress.words) > 0


def test_rl_egress():
    bench("rl_egress", rtl("port"), __name__, {"DataW": 512, "Sources": 3})
