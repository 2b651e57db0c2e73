"""rl_sign_store: signers are read as the board writes them and change no more; versions are kept as the firmware does."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from runner import bench, rtl

ROLES, WORDS, COUNT = 512, 2048, 2048


class Store:
    """The block, the board that writes it, and the firmware."""

    def __init__(self, dut):
        self.dut = dut
        self.kept: list[tuple[int, int]] = []

    async def start(self):
        dut = self.dut
        dut.write_i.value = dut.ask_i.value = dut.rst_power_ni.value = 0
        dut.look_i.value = dut.keeps_i.value = dut.fails_i.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await self.wait(3)
        dut.rst_power_ni.value = 1
        await self.wait(1)
        cocotb.start_soon(self.keep())

    async def wait(self, cycles: int):
        for _ in range(cycles):
            await RisingEdge(self.dut.clk_i)

    async def keep(self):
        while True:
            await RisingEdge(self.dut.clk_i)
            kept = int(self.dut.kept_o.value)
            if kept >> 44:
                self.kept.append((kept >> 32 & 0xFFF, kept & 0xFFFFFFFF))

    async def write(self, at: int, word: int):
        self.dut.write_i.value = (1 << 12 | at) << 32 | word
        await self.wait(1)
        while not self.dut.write_ready_o.value:
            await self.wait(1)
        self.dut.write_i.value = 0

    async def set(self, at: int, word: int):
        """The firmware writes."""
        self.dut.ask_i.value = (1 << 11 | at) << 32 | word
        await self.wait(1)
        self.dut.ask_i.value = at << 32
        await self.wait(1)

    async def read(self, at: int) -> int:
        self.dut.ask_i.value = at << 32
        await self.wait(3)
        return int(self.dut.sign_o.value) & 0xFFFFFFFF

    @property
    def count(self) -> int:
        return int(self.dut.sign_o.value) >> 32


@cocotb.test()
async def the_firmware_reads_what_the_board_has_written(dut):
    store = Store(dut)
    await store.start()
    assert store.count == 0
    words = {at: random.getrandbits(32) for at in (0, 1, 15, 16, ROLES - 1, ROLES, WORDS - 1)}
    for at, word in words.items():
        await store.write(at, word)
    await store.write(COUNT, 32)
    for at, word in words.items():
        assert await store.read(at) == word
    assert store.count == 32 and not store.kept


@cocotb.test()
async def versions_are_kept_and_no_signer_is_changed(dut):
    store = Store(dut)
    await store.start()
    for at in (0, 15, ROLES - 1, ROLES, WORDS - 1):
        await store.write(at, at)
    for at in (0, 15, ROLES - 1):
        await store.set(at, 0xDEAD)
        assert await store.read(at) == at
    assert not store.kept
    for at in (ROLES, WORDS - 1):
        await store.set(at, at + 7)
        assert await store.read(at) == at + 7
    assert store.kept == [(ROLES, ROLES + 7), (WORDS - 1, WORDS + 6)]


@cocotb.test()
async def both_may_write_at_once_and_nothing_is_lost(dut):
    store = Store(dut)
    await store.start()
    mine = {ROLES + 2 * n: random.getrandbits(32) for n in range(200)}
    theirs = {n: random.getrandbits(32) for n in range(200)}

    async def board():
        for at, word in theirs.items():
            await store.write(at, word)

    task = cocotb.start_soon(board())
    for at, word in mine.items():
        dut.ask_i.value = (1 << 11 | at) << 32 | word
        await store.wait(1)
        dut.ask_i.value = at << 32
        await store.wait(random.randrange(2))
    await task
    for at, word in (mine | theirs).items():
        assert await store.read(at) == word, at
    assert store.kept == list(mine.items())


@cocotb.test()
async def whoever_keeps_them_reads_beside_the_firmware(dut):
    """Neither gets another word than the one that it has asked for, whenever; and the firmware waits for nothing."""
    store = Store(dut)
    await store.start()
    words = {at: random.getrandbits(32) for at in range(ROLES, ROLES + 64)}
    for at, word in words.items():
        await store.write(at, word)
    looked = 0

    async def look():
        nonlocal looked
        while True:
            at = random.choice(list(words))
            dut.look_i.value = 1 << 11 | at
            before = words[at]
            await store.wait(1)
            while not int(dut.looked_o.value) >> 32:
                await store.wait(1)
            # It may have changed meanwhile.
            assert int(dut.looked_o.value) & 0xFFFFFFFF in (before, words[at])
            dut.look_i.value = 0
            looked += 1
            await store.wait(random.randrange(1, 4))

    task = cocotb.start_soon(look())
    for _ in range(600):
        at = random.choice(list(words))
        if random.randrange(3) == 0:
            dut.ask_i.value = (1 << 11 | at) << 32 | (word := random.getrandbits(32))
            await store.wait(1)
            words[at] = word
        dut.ask_i.value = at << 32
        # A cycle after it has asked, as without anybody beside it; and as long as it asks.
        await store.wait(2)
        for _ in range(random.randrange(1, 6)):
            assert int(dut.sign_o.value) & 0xFFFFFFFF == words[at]
            await store.wait(1)
    assert looked > 300
    task.cancel()


@cocotb.test()
async def what_has_become_of_the_words_is_shown(dut):
    store = Store(dut)
    await store.start()
    await store.write(COUNT, 5)
    for keeps, fails in ((1, 0), (0, 1), (0, 0)):
        dut.keeps_i.value, dut.fails_i.value = keeps, fails
        await store.wait(2)
        assert int(dut.sign_o.value) >> 32 == keeps << 7 | fails << 6 | 5


@cocotb.test()
async def without_power_nobody_is_asked(dut):
    store = Store(dut)
    await store.start()
    await store.write(COUNT, 3)
    await store.wait(1)
    assert store.count == 3
    dut.rst_power_ni.value = 0
    await store.wait(2)
    assert store.count == 0 and not dut.write_ready_o.value


def test_rl_sign_store():
    bench("rl_sign_store", rtl("auth", "common", "control", "shell"), __name__)
