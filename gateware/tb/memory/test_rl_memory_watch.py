"""rl_memory_watch: a memory that does not answer is found out, and what it owes comes to nobody after a restart."""

import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from runner import bench, rtl

INPUTS = ("s_awvalid", "s_awlen", "s_wvalid", "s_wlast", "s_bready", "s_arvalid", "s_rready",
          "m_awready", "m_wready", "m_bvalid", "m_arready", "m_rvalid", "m_rlast")  # fmt: skip


class Door:
    """Manager and memory on both sides, seen a cycle at a time."""

    def __init__(self, dut, busy=0.5, stalls=0.3):
        self.dut, self.busy, self.stalls = dut, busy, stalls
        self.takes = self.answers = True  # What the memory does: requests, and answers.
        self.asks = {"write", "read"}  # What the manager does.
        self.reset_manager()
        self.addresses = deque()  # Bursts at the memory: beats that each is to have,
        self.beats = 0  # beats that it has of the one it is at,
        self.written = 0  # bursts that it has, and
        self.reads = deque()  # beats of reads.
        self.filled = 0

    def reset_manager(self):
        self.left = self.sent = 0  # Beats of the burst that is being written.
        self.aw = self.ar = None
        self.owed_writes = self.owed_reads = 0

    def value(self, name):
        return int(getattr(self.dut, name).value)

    def drive(self, **values):
        for name, value in values.items():
            getattr(self.dut, f"{name}_i").value = value

    async def start(self):
        self.drive(**dict.fromkeys(INPUTS, 0))
        self.dut.rst_por_ni.value = self.dut.rst_ni.value = 0
        Clock(self.dut.clk_i, 2, "ns").start()
        await self.idle(3)
        self.dut.rst_por_ni.value = self.dut.rst_ni.value = 1
        await self.idle(1)

    async def idle(self, cycles):
        for _ in range(cycles):
            await FallingEdge(self.dut.clk_i)

    async def restart(self):
        """The shell's reset: what the manager offered is gone."""
        self.dut.rst_ni.value = 0
        self.reset_manager()
        for _ in range(8):
            await self.cycle(manager=False)
        self.dut.rst_ni.value = 1

    async def cycle(self, manager=True):
        """A cycle; drives both sides and follows what is taken."""
        chance = lambda share: random.random() < share  # noqa: E731
        if manager:
            if self.aw is None and self.left == 0 and "write" in self.asks and chance(self.busy):
                self.aw = self.left = random.randint(1, 16)
            if self.ar is None and "read" in self.asks and chance(self.busy):
                self.ar = random.randint(1, 16)
        # Data comes behind its address, as of managers that rl_memory_share gathers.
        w = manager and self.left and self.aw is None and chance(0.8)
        self.drive(
            s_awvalid=self.aw is not None and self.owed_writes < 20,
            s_awlen=(self.aw or 1) - 1,
            s_wvalid=w,
            s_wlast=self.left == 1,
            s_arvalid=self.ar is not None and self.owed_reads < 20,
            s_bready=chance(0.8),
            s_rready=chance(0.8),
            m_awready=self.takes and not chance(self.stalls),
            m_wready=self.takes and not chance(self.stalls),
            m_arready=self.takes and not chance(self.stalls),
            m_bvalid=self.answers and self.written > 0,
            m_rvalid=self.answers and bool(self.reads),
            m_rlast=bool(self.reads) and self.reads[0] == 1,
        )
        await ReadOnly()  # All is settled; the edge comes.
        self.follow()
        await FallingEdge(self.dut.clk_i)

    def follow(self):
        value = self.value
        if value("m_awvalid_o") and value("m_awready_i"):
            self.addresses.append(value("s_awlen_i") + 1)
            assert value("s_awready_o")
            self.aw, self.owed_writes = None, self.owed_writes + 1
        if value("m_wvalid_o") and value("m_wready_i"):
            self.beats += 1
            self.filled += value("fills_o")
            assert bool(value("m_wlast_o")) == (self.addresses and self.beats == self.addresses[0]), "a burst's end"
            if value("m_wlast_o"):
                self.addresses.popleft()
                self.beats, self.written = 0, self.written + 1
            if not value("fills_o"):
                self.left -= 1
        if value("m_bvalid_i") and value("m_bready_o"):
            self.written -= 1
        if value("m_arvalid_o") and value("m_arready_i"):
            self.reads.append(self.ar)
            self.ar, self.owed_reads = None, self.owed_reads + 1
        if value("m_rvalid_i") and value("m_rready_o"):
            self.reads[0] -= 1
            if not self.reads[0]:
                self.reads.popleft()
        if value("s_bvalid_o") and value("s_bready_i"):
            assert self.owed_writes, "an answer of the life before"
            self.owed_writes -= 1
        if value("s_rvalid_o") and value("s_rready_i") and value("m_rlast_i"):
            assert self.owed_reads, "an answer of the life before"
            self.owed_reads -= 1

    def patience(self):
        return 1 << self.dut.PatienceW.value.to_unsigned()

    async def until_late(self):
        for count in range(self.patience() + 600):
            await self.cycle()
            if self.value("late_o"):
                return count
        raise AssertionError("it does not notice")


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.7], busy=[0.05, 1.0])
async def a_memory_that_answers_is_never_late(dut, stalls, busy):
    door = Door(dut, busy, stalls)
    await door.start()
    served = 0
    for n in range(6000):
        # Silence that ends in time.
        door.answers = n % 200 > door.patience() - 40
        await door.cycle()
        served += door.value("s_bvalid_o") + door.value("s_rvalid_o")
        assert not door.value("late_o") and not door.value("owes_o")
    assert served > 500


@cocotb.test()
@cocotb.parametrize(what=["takes", "answers"], asks=["write", "read"])
async def one_that_does_not_is_late(dut, what, asks):
    """Also when it serves the other way."""
    door = Door(dut, 1.0)
    door.asks = {asks}
    await door.start()
    for _ in range(200):
        await door.cycle()
    setattr(door, what, False)
    count = await door.until_late()
    assert count >= door.patience() - 2
    for _ in range(20):
        await door.cycle()
        assert door.value("late_o"), "until the shell begins anew"
    await door.restart()
    assert not door.value("late_o")


@cocotb.test()
async def reads_that_wait_are_found_while_writes_go_on(dut):
    door = Door(dut, 1.0)
    await door.start()
    plain = door.drive

    def no_reads(**values):
        plain(**values | {"m_rvalid": 0})

    door.drive = no_reads
    await door.until_late()


@cocotb.test()
@cocotb.parametrize(when=range(12))
async def what_is_owed_comes_to_nobody(dut, when):
    door = Door(dut, 1.0)
    await door.start()
    for _ in range(60 + when):
        await door.cycle()
    door.answers = False
    for _ in range(when):
        await door.cycle()
    await door.restart()
    owed = bool(door.addresses or door.written or door.reads)
    await door.cycle(manager=False)
    assert door.value("owes_o") == owed
    for _ in range(3 * door.patience()):
        asked = (len(door.addresses), len(door.reads))
        await door.cycle()
        if door.value("owes_o"):
            assert len(door.addresses) <= asked[0] and len(door.reads) <= asked[1], "something new is asked"
            assert not door.value("late_o")
    assert door.value("owes_o") == owed
    door.answers = True
    for _ in range(2000):
        await door.cycle()
        if not door.value("owes_o"):
            break
    else:
        raise AssertionError("the door stays closed")
    # The card serves on.
    before = door.filled
    served = 0
    for _ in range(500):
        await door.cycle()
        served += door.value("s_bvalid_o") + door.value("s_rvalid_o")
    assert served > 50 and door.filled == before and not door.value("late_o")


@cocotb.test()
@cocotb.parametrize(asks=["write", "read"])
async def a_memory_that_has_taken_nothing_owes_nothing(dut, asks):
    door = Door(dut, 1.0)
    door.takes, door.asks = False, {asks}
    await door.start()
    await door.until_late()
    await door.restart()
    await door.cycle(manager=False)
    assert not door.value("owes_o")


def test_rl_memory_watch():
    bench("rl_memory_watch", rtl("memory"), __name__, {"PatienceW": 7})
