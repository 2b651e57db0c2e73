"""rl_bridge_port: whole bursts across, each answered to the role that has asked and to no other, whoever is reset."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge
from runner import bench, rtl
from structs import fields, pack

OKAY, GONE, NOWHERE, REFUSED = 0, 2, 3, 6
MOST = 8  # Bursts under way, each way.
NO_SIZE = 7


def there(addr, beat):
    """What is read there."""
    return addr * 1_000_003 + beat * 77 & (1 << 64) - 1


def fate(addr, beat=0):
    """What becomes of it."""
    return (OKAY, OKAY, OKAY, GONE, NOWHERE, REFUSED)[((addr >> 3) + beat // 3) % 6]


class Bench:
    """The gateware between a role and a bridge, both played here."""

    def __init__(self, dut):
        self.dut = dut
        self.asks, self.says, self.words = deque(), deque(), deque()  # Of the role: AR, AW, and beats.
        self.role_ready = self.net_ready = self.answers = 0.8
        self.got, self.told = [], []  # What the role has got: beats, and answers to writes.
        self.reads, self.writes = [], []  # What the bridge has: {address, beats, size} and, written, words.
        self.owed, self.owed_writes = deque(), deque()
        self.taken = [0, 0]  # Reads and writes of the role that have been taken.
        self.burst = None

    async def start(self):
        dut = self.dut
        for port in (dut.rst_role_ni, dut.role_rst_ni, dut.rst_net_ni, dut.role_i, dut.port_i):
            port.value = 0
        Clock(dut.clk_net_i, random.choice([6, 10, 24]), "ns").start()
        Clock(dut.clk_role_i, random.choice([4, 7, 22]), "ns").start()
        await ClockCycles(dut.clk_net_i, 8)
        await ClockCycles(dut.clk_role_i, 8)
        for reset in (dut.rst_role_ni, dut.rst_net_ni, dut.role_rst_ni):
            reset.value = 1
        await ClockCycles(dut.clk_net_i, 8)
        cocotb.start_soon(self.run_role())
        cocotb.start_soon(self.run_net())

    async def run_role(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_role_i)
            values = {"bready": int(random.random() < self.role_ready), "rready": int(random.random() < self.role_ready)}
            if self.asks:
                addr, beats = self.asks[0]
                values |= {"arvalid": 1, "araddr": addr, "arlen": beats - 1, "arsize": 3}
            if self.says:
                addr, beats = self.says[0]
                values |= {"awvalid": 1, "awaddr": addr, "awlen": beats - 1, "awsize": 3}
            if self.words and random.random() < 0.8:
                values |= {"wvalid": 1, "wdata": self.words[0], "wstrb": self.words[0] & 255}
            dut.role_i.value = pack("remote_req_t", **values)
            await ReadOnly()
            rsp, live = fields(dut.role_o, "remote_rsp_t"), dut.role_rst_ni.value
            assert live or not any(rsp[name] for name in ("awready", "wready", "arready", "bvalid", "rvalid"))
            await RisingEdge(dut.clk_role_i)
            if not live:
                continue
            if rsp["arready"] and "arvalid" in values:
                self.asks.popleft()
                self.taken[0] += 1
            if rsp["awready"] and "awvalid" in values:
                self.says.popleft()
                self.taken[1] += 1
            if rsp["wready"] and "wvalid" in values:
                self.words.popleft()
            if rsp["rvalid"] and values["rready"]:
                self.got.append((rsp["rdata"], rsp["rresp"], rsp["rlast"]))
            if rsp["bvalid"] and values["bready"]:
                self.told.append(rsp["bresp"])

    async def run_net(self):
        dut, beat = self.dut, 0
        while True:
            await FallingEdge(dut.clk_net_i)
            takes = [random.random() < self.net_ready for _ in range(3)]
            values = {"arready": int(takes[0] and len(self.owed) < 32), "awready": int(takes[1] and not self.burst),
                      "wready": int(takes[2] and self.burst is not None)}
            if self.owed and random.random() < self.answers:
                addr, beats = self.owed[0]
                values |= {"rvalid": 1, "rdata": there(addr, beat), "rresp": fate(addr, beat),
                           "rlast": int(beat + 1 == beats)}
            if self.owed_writes and random.random() < self.answers:
                values |= {"bvalid": 1, "bresp": fate(self.owed_writes[0])}
            dut.port_i.value = pack("remote_rsp_t", **values)
            await ReadOnly()
            req = fields(dut.port_o, "remote_req_t")
            await RisingEdge(dut.clk_net_i)
            if req["arvalid"] and values["arready"]:
                self.reads.append((req["araddr"], req["arlen"] + 1, req["arsize"]))
                self.owed.append((req["araddr"], req["arlen"] + 1))
            if req["rready"] and "rvalid" in values:
                beat = 0 if values["rlast"] else beat + 1
                if values["rlast"]:
                    self.owed.popleft()
            if "bvalid" in values:
                assert req["bready"], "an answer to a write waits for the role"
                self.owed_writes.popleft()
            if self.burst:
                # All of it was there when its address was.
                self.burst["idle"] = 0 if req["wvalid"] else self.burst["idle"] + 1
                assert self.burst["idle"] < 4, "it waits for the role"
                if req["wvalid"] and values["wready"]:
                    self.burst["words"].append(req["wdata"])
                    assert req["wstrb"] == req["wdata"] & 255
                    assert req["wlast"] == (len(self.burst["words"]) == self.burst["beats"])
                    if req["wlast"]:
                        self.owed_writes.append(self.burst["addr"])
                        self.writes.append((self.burst["addr"], self.burst["size"], self.burst["words"]))
                        self.burst = None
            elif req["awvalid"] and values["awready"]:
                self.burst = {"addr": req["awaddr"], "beats": req["awlen"] + 1, "size": req["awsize"], "words": [],
                              "idle": 0}

    def read(self, beats=None):
        self.asks.append((random.getrandbits(48) & ~7, beats or random.choice([1, 1, 2, 5, 256])))
        return self.asks[-1]

    def write(self, beats=None):
        addr, beats = random.getrandbits(48) & ~7, beats or random.choice([1, 1, 2, 5, 256])
        words = [random.getrandbits(64) for _ in range(beats)]
        self.says.append((addr, beats))
        self.words.extend(words)
        return addr, words

    async def settle(self, cycles=6000):
        rests = 0
        for _ in range(cycles):
            await ClockCycles(self.dut.clk_net_i, 10)
            busy = self.asks or self.says or self.words or self.dut.asks_o.value
            rests = 0 if busy else rests + 1
            if rests == 3:
                return
        raise AssertionError("not all is over")

    async def reset_role(self):
        """What the role was about to say it says no more."""
        dut = self.dut
        await FallingEdge(dut.clk_role_i)
        dut.role_rst_ni.value = 0
        for queue in (self.asks, self.says, self.words):
            queue.clear()
        await ClockCycles(dut.clk_role_i, 20)
        await FallingEdge(dut.clk_role_i)
        dut.role_rst_ni.value = 1
        self.got, self.told, self.taken = [], [], [0, 0]


def beats_of(reads):
    return [(there(addr, i), fate(addr, i), int(i + 1 == beats)) for addr, beats in reads for i in range(beats)]


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def bursts_and_answers_cross_whole_and_in_their_order(dut):
    tb = Bench(dut)
    await tb.start()
    for _ in range(6):
        tb.role_ready, tb.net_ready, tb.answers = (random.choice([0.2, 0.9, 1.0]) for _ in range(3))
        reads = [tb.read() for _ in range(25)]
        writes = [tb.write() for _ in range(25)]
        await tb.settle()
        assert tb.reads == [(addr, beats, 3) for addr, beats in reads]
        assert tb.got == beats_of(reads)
        assert tb.writes == [(addr, 3, words) for addr, words in writes]
        assert tb.told == [fate(addr) for addr, _ in writes]
        tb.reads, tb.got, tb.writes, tb.told = [], [], [], []


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def no_more_is_under_way_than_may_be(dut):
    """Whether the bridge takes nothing, or the role does not take what comes."""
    tb = Bench(dut)
    await tb.start()
    for deaf in (True, False):
        if deaf:
            tb.net_ready = 0
        else:
            tb.role_ready = 0
        reads, writes = [tb.read(2) for _ in range(20)], [tb.write(2) for _ in range(20)]
        await ClockCycles(dut.clk_net_i, 3000)
        assert tb.taken == [MOST, MOST]
        tb.net_ready = tb.role_ready = 0.8
        await tb.settle()
        assert tb.got == beats_of(reads) and tb.told == [fate(addr) for addr, _ in writes]
        tb.got, tb.told, tb.taken = [], [], [0, 0]


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def half_a_burst_of_a_role_that_ends_is_none(dut):
    tb = Bench(dut)
    await tb.start()
    for _ in range(30):
        whole = tb.write(3)
        tb.write(random.choice([4, 200]))
        for _ in range(random.randint(1, 3)):
            tb.words.pop()
        # The rest does not come.
        await ClockCycles(dut.clk_net_i, 1200)
        assert tb.told == [fate(whole[0])] and not tb.words
        await tb.reset_role()
        after = tb.write(5)
        await tb.settle()
        assert [(addr, words) for addr, _, words in tb.writes] == [whole, after], "nothing of it is written"
        assert tb.told == [fate(after[0])]
        tb.writes.clear()
        tb.told.clear()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def what_a_role_has_asked_for_is_not_told_the_next(dut):
    tb = Bench(dut)
    await tb.start()
    for turn in range(40):
        tb.reads, tb.writes, tb.answers = [], [], 0.8
        # The bridge has looked at some of it, or at none, and answers later.
        tb.net_ready, tb.answers = random.choice([(0, 0), (0.8, 0), (0.3, 0.05)])
        for _ in range(random.randint(1, 6)):
            tb.read()
            tb.write(random.choice([1, 2, 9]))
        await ClockCycles(dut.clk_net_i, random.choice([10, 100, 400]))
        before = [len(tb.reads), len(tb.writes) + (tb.burst is not None)]
        await tb.reset_role()
        assert before == [len(tb.reads), len(tb.writes) + (tb.burst is not None)] or tb.net_ready
        new_read, new_write = tb.read(2), tb.write(2)
        await ClockCycles(dut.clk_net_i, random.choice([0, 50]))
        tb.net_ready, tb.answers = 0.8, random.choice([0.2, 0.9])
        await tb.settle()
        assert tb.got == beats_of([new_read]) and tb.told == [fate(new_write[0])], "it gets its own answers only"
        assert tb.reads[-1] == (*new_read, 3) and tb.writes[-1] == (new_write[0], 3, new_write[1])
        if not any(before):
            assert all(size == NO_SIZE for _, _, size in tb.reads[:-1]), "what nobody has looked at leads nowhere"
            assert all(size == NO_SIZE for _, size, _ in tb.writes[:-1])
        tb.got, tb.told = [], []


@pytest.mark.parametrize("late", [0, 1])
def test_rl_bridge_port(late):
    bench("rl_bridge_port", rtl("bridge"), __name__, late=late)
