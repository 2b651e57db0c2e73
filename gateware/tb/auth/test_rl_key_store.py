"""rl_key_store: what is written is handed over whole or not at all, also after a restart, and hosts are read as written."""

import random

import cocotb
from card_keys import store_words
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from runner import bench, rtl

ROOM = 64


class Store:
    """The block, whoever writes it, and firmware and vault, which take what it has."""

    def __init__(self, dut):
        self.dut = dut
        self.handed: list[tuple[int, bool, int, bytes]] = []  # Slot, whether there is a key, its generation, the key.

    async def start(self):
        dut = self.dut
        for name in ("write", "ask", "ready"):
            getattr(dut, f"{name}_i").value = 0
        dut.rst_power_ni.value = dut.rst_ni.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await self.wait(3)
        dut.rst_power_ni.value = 1
        await self.wait(2)
        dut.rst_ni.value = 1
        await self.wait(1)
        cocotb.start_soon(self.vault())

    async def wait(self, cycles: int):
        for _ in range(cycles):
            await RisingEdge(self.dut.clk_i)

    async def vault(self):
        while True:
            ready = random.random() < 0.3
            self.dut.ready_i.value = ready
            await RisingEdge(self.dut.clk_i)
            told = int(self.dut.store_o.value)
            if ready and told >> 162 & 1:
                key = (told & (1 << 128) - 1).to_bytes(16, "little")
                self.handed.append((told >> 161 & 1, not told >> 160 & 1, told >> 128 & 0xFFFFFFFF, key))

    async def write(self, at: int, word: int):
        self.dut.write_i.value = (1 << 9 | at) << 32 | word
        await self.wait(1)
        while not self.dut.write_ready_o.value:
            await self.wait(1)
        self.dut.write_i.value = 0

    def told(self, at: int, bits: int = 1) -> int:
        return int(self.dut.store_o.value) >> at & (1 << bits) - 1

    @property
    def news(self) -> int:
        return self.told(203)

    @property
    def over(self) -> int:
        return self.told(163)

    async def ask(self, take: int, free: int, at: int = 0):
        self.dut.ask_i.value = (take << 1 | free) << 8 | at
        await self.wait(1)
        self.dut.ask_i.value = at

    async def take(self):
        """The keys that it hands over, and the words of its hosts."""
        await self.wait(1)
        assert self.news
        await self.ask(1, 0)
        for _ in range(100):
            await self.wait(1)
            if self.over:
                break
        assert self.over and not self.news
        words = []
        for at in range(4 * self.told(196, 7)):
            self.dut.ask_i.value = at
            await self.wait(3)
            words.append(self.told(164, 32))
        keys, self.handed = self.handed, []
        return keys, [tuple(words[at : at + 3]) for at in range(0, len(words), 4)]


def draw(keys: int, hosts: int):
    """So many keys with their generations, and hosts."""
    generation = random.getrandbits(32) | 1
    own = [(random.randbytes(16), generation - n) for n in range(keys)]
    one = lambda: random.choice([None, 0, random.getrandbits(32)])
    return own, [(random.getrandbits(16), one(), one()) for _ in range(hosts)]


def expected(keys, hosts):
    both = [*keys, *[None] * (2 - len(keys))]
    words = dict(store_words(keys, hosts))
    rows = [tuple(words[4 * n + i] for i in range(3)) for n in range(len(hosts))]
    return [(slot, one is not None, *((one[1], one[0]) if one else ())) for slot, one in enumerate(both)], rows


def same(taken, wanted) -> bool:
    """Of a key that there is not nothing else counts."""
    keys = [one if one[1] else one[:2] for one in taken[0]]
    return (keys, taken[1]) == (wanted[0], wanted[1])


@cocotb.test()
async def what_is_written_is_handed_over_each_time_it_is_whole(dut):
    store = Store(dut)
    await store.start()
    for keys, hosts in ((1, 1), (2, 5), (1, ROOM), (2, 0), (0, 3), (2, ROOM)):
        own, named = draw(keys, hosts)
        words = list(store_words(own, named))
        for at, word in words:
            await store.write(at, word)
            if (at, word) != words[-1]:
                await store.wait(1)
                assert not store.news, "it is not whole"
                await store.ask(1, 0)
                await store.wait(2)
                assert not store.handed, "nor is it handed over"
        assert same(await store.take(), expected(own, named))
        await store.ask(0, 1)
        await store.wait(2)
        assert not store.news and store.over, "it was handed over"
        await store.ask(1, 0)
        await store.wait(50)
        assert not store.handed, "once"


@cocotb.test()
async def nobody_writes_while_it_is_handed_over(dut):
    store = Store(dut)
    await store.start()
    first, second = draw(2, 7), draw(1, 9)
    for at, word in store_words(*first):
        await store.write(at, word)
    await store.wait(1)
    await store.ask(1, 0)

    async def others():
        for at, word in store_words(*second):
            await store.write(at, word)

    task = cocotb.start_soon(others())
    for _ in range(200):
        await store.wait(1)
    words = []
    for at in range(4 * 7):
        dut.ask_i.value = at
        await store.wait(3)
        words.append(store.told(164, 32))
    assert same((store.handed, [tuple(words[at : at + 3]) for at in range(0, len(words), 4)]), expected(*first))
    assert not task.done()
    store.handed = []
    await store.ask(0, 1)
    await task
    assert same(await store.take(), expected(*second))


@cocotb.test()
async def after_a_restart_it_hands_over_what_it_held_and_without_power_nothing(dut):
    store = Store(dut)
    await store.start()
    kept = draw(2, 3)
    for at, word in store_words(*kept):
        await store.write(at, word)
    for held in (False, True):
        assert same(await store.take(), expected(*kept))
        if not held:
            await store.ask(0, 1)
        dut.rst_ni.value = 0
        await store.wait(3)
        dut.rst_ni.value = 1
        await store.wait(2)
        assert store.news and not store.over
    dut.rst_power_ni.value = dut.rst_ni.value = 0
    await store.wait(3)
    assert not dut.write_ready_o.value
    dut.rst_power_ni.value = dut.rst_ni.value = 1
    await store.wait(2)
    assert not store.news and not store.over


@cocotb.test()
async def more_hosts_than_fit_are_handed_over_to_nobody(dut):
    store = Store(dut)
    await store.start()
    words = list(store_words(*draw(1, ROOM)))
    for many in (ROOM + 1, 127, 128, 1 << 31):
        for at, word in words[:-1]:
            await store.write(at, word)
        await store.write(words[-1][0], many)
        await store.wait(3)
        assert not store.news
    for at in (*range(274, 300), 511, 288):
        await store.write(at, 1)
        assert not store.news, "no such word ends anything"
    await store.write(*words[-1])
    await store.wait(1)
    assert store.news


def test_rl_key_store():
    bench("rl_key_store", rtl("auth", "common", "control", "shell"), __name__)
