"""The board of the store's benches: a flash with keys and versions, the firmware that raises them, and power."""

import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, First, RisingEdge, Timer

import golden
from flash_contents import layout
from runner import bench

import store

SIZE = store.Size(signers=2, hosts=2, roles=2)
PLACES = 64  # Of a log: rl_flash_store_tb's PlacesW.
MAC = bytes.fromhex("02524cec0501")
CODES = layout.CODES
KEYS = store.Keys(
    MAC,
    ((bytes(range(16)), 7), (bytes(range(100, 116)), 6)),
    (store.Host(1, 3, 2), store.Host(0x1234, None, 5)),
    (store.Signer(bytes(range(32)), "lab"), store.Signer(bytes(range(50, 82)), "other", may=False)),
)
START = {(0, "vadd"): 5}
ROLES = [(0, "vadd"), (1, "ptrans")]


class Board:
    """The chip, the block with the stores that it fills, and the firmware."""

    def __init__(self, dut, size: store.Size = SIZE):
        self.dut = dut
        self.mem = dut.u_chip.mem
        self.size = size
        # Of a log; no more than a test fills, for each byte takes its time.
        self.places = min(1 << int(dut.PlacesW.value), size.base + 64)

    async def begin(self, keys: store.Keys | None = KEYS, versions: store.Versions = START):
        """Power is off, and the store as the tool makes it, or blank."""
        dut = self.dut
        for pin in dut:
            if pin._name.endswith("_i") and pin._name != "clk_i":
                pin.value = 0
        dut.mac_i.value = int.from_bytes(MAC, "big")
        dut.golden_i.value = 1
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 3)
        data = store.region(keys, versions, 1, self.size) if keys else b"\xff" * store.REGION
        for at in (*store.COPIES, *store.LOGS):
            self.write(layout.KEYS + at, data[at : at + self.places * store.PAIR])
        for where in (layout.POINTER, *layout.SLOTS, layout.RECORDS, layout.RECORDS + layout.UNIT):
            self.write(where, b"\xff" * 1024)
        await ClockCycles(dut.clk_i, 1)

    def write(self, where: int, data: bytes):
        """Puts bytes into the flash, past all of its rules."""
        for at, byte in enumerate(data, where):
            self.mem[at].value = byte

    def read(self, where: int, count: int) -> bytes:
        """What is in the flash."""
        return bytes(int(self.mem[where + at].value) for at in range(count))

    def flip(self, bit: int):
        """Turns a bit of the flash over."""
        self.write(bit // 8, bytes([self.read(bit // 8, 1)[0] ^ 1 << bit % 8]))

    def log(self) -> store.Log | None:
        """The log that counts, by the tool's reader."""
        units = [self.read(layout.KEYS + at, self.places * store.PAIR) for at in store.LOGS]
        return store.newest(units, self.size)

    # -- power
    async def power_up(self) -> bool:
        """Until keys were handed over, or will not be: whether they were."""
        dut = self.dut
        dut.power_i.value = 1
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 2)
        if not dut.open_o.value and not dut.fails_o.value:
            await First(RisingEdge(dut.open_o), RisingEdge(dut.fails_o))
        return bool(dut.open_o.value)

    async def power_down(self):
        self.dut.power_i.value = 0
        self.dut.rst_ni.value = 0
        self.dut.valid_i.value = self.dut.start_i.value = 0
        self.dut.sign_ask_i.value = self.dut.store_ask_i.value = 0
        await ClockCycles(self.dut.clk_i, 4)

    async def again(self) -> bool:
        """Power goes and comes."""
        await self.power_down()
        return await self.power_up()

    async def settled(self) -> bool:
        """What was to be kept is, or the block has said that it will not be: whether it is."""
        if self.dut.works_o.value:
            await FallingEdge(self.dut.works_o)
        return not self.dut.fails_o.value

    # -- the firmware
    @property
    def news(self) -> bool:
        """There are keys to take."""
        return bool(int(self.dut.store_o.value) >> 203)

    async def take_keys(self) -> tuple[list[tuple[bytes, int] | None], list[list[int]]]:
        """The card's keys and the words of hosts."""
        dut = self.dut
        assert self.news
        count = int(dut.store_o.value) >> 196 & 0x7F
        dut.store_ask_i.value = 1 << 9
        await RisingEdge(dut.clk_i)
        dut.store_ask_i.value = 0
        keys, words = [None, None], []
        for _ in range(8):
            await Timer(1, "ns")
            said = int(dut.store_o.value)
            if said >> 162 & 1 and not said >> 160 & 1:
                generation, key = said >> 128 & 0xFFFFFFFF, said & (1 << 128) - 1
                keys[said >> 161 & 1] = key.to_bytes(16, "little"), generation
            await RisingEdge(dut.clk_i)
        for at in range(4 * count):
            dut.store_ask_i.value = at
            await ClockCycles(dut.clk_i, 3)
            words.append(int(dut.store_o.value) >> 164 & 0xFFFFFFFF)
        dut.store_ask_i.value = 1 << 8
        await RisingEdge(dut.clk_i)
        dut.store_ask_i.value = 0
        return keys, [words[4 * n : 4 * n + 4] for n in range(count)]

    async def word(self, at: int) -> int:
        """A word of the table of signers and versions."""
        self.dut.sign_ask_i.value = at << 32
        await ClockCycles(self.dut.clk_i, 3)
        return int(self.dut.sign_o.value) & 0xFFFFFFFF

    async def table(self) -> list[int]:
        """The words of roles."""
        return [await self.word(store.ROLES_AT + n) for n in range(store.PLACE * self.size.roles)]

    async def versions(self) -> store.Versions:
        """The versions that the firmware reads."""
        return store.versions_of(await self.table())

    async def set(self, at: int, word: int):
        """The firmware writes a word."""
        self.dut.sign_ask_i.value = (1 << 11 | at) << 32 | word
        await RisingEdge(self.dut.clk_i)
        self.dut.sign_ask_i.value = at << 32
        await ClockCycles(self.dut.clk_i, random.randrange(1, 12))

    async def begin_raise(self, signer: int, role: str, version: int):
        """What versions.c writes for this, in its order."""
        table = await self.table()
        known = [*store.versions_of(table)]
        words = [version >> 32, version & 0xFFFFFFFF]
        if (signer, role) in known:
            at = next(n for n in range(0, len(table), store.PLACE) if table[n] and known.pop(0) == (signer, role))
            other = table[at + 15] != store.OTHER
            writes = [*enumerate(words, at + (11 if other else 1)), (at + 15, 2 if other else 1)]
        else:
            at = table[:: store.PLACE].index(0) * store.PLACE
            name = store.words_of(role.encode().ljust(32, b"\0"))
            writes = [*enumerate(words, at + 1), *enumerate(name, at + 3), (at + 15, 1), (at, signer + 1)]
        for place, word in writes:
            await self.set(store.ROLES_AT + place, word)

    async def raised(self, signer: int, role: str, version: int) -> bool:
        """The version has run: whether it is kept."""
        await self.begin_raise(signer, role, version)
        return await self.settled()

    # -- the loader
    async def loads(self):
        """The golden image serves."""
        if not self.dut.ready_o.value:
            await RisingEdge(self.dut.ready_o)

    async def send(self, data: bytes) -> int:
        """Gives a part to the configuration port. 0, or the code of the error."""
        dut = self.dut
        digest = golden.digest(data)
        for at in range(0, 32, 4):
            dut.name_i.value = 1
            dut.name_at_i.value = at // 4
            dut.name_word_i.value = int.from_bytes(digest[at : at + 4], "big")
            await RisingEdge(dut.clk_i)
        dut.name_i.value = 0
        dut.start_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.start_i.value = 0
        await RisingEdge(dut.clk_i)
        for at in range(0, len(data), 4):
            dut.config_data_i.value = int.from_bytes(data[at : at + 4], "big")
            dut.valid_i.value = 1
            await Timer(1, "ns")
            while not dut.config_ready_o.value and not dut.error_o.value:
                await First(RisingEdge(dut.config_ready_o), RisingEdge(dut.error_o))
            if dut.error_o.value:
                break
            await RisingEdge(dut.clk_i)
            dut.valid_i.value = 0
            await Timer(1, "ns")
        dut.valid_i.value = 0
        if not dut.done_o.value and not dut.error_o.value:
            await First(RisingEdge(dut.done_o), RisingEdge(dut.error_o))
        return int(dut.error_code_o.value) if dut.error_o.value else 0


def store_bench(module, tests=None, **parameters):
    """Builds chip, loader and store, with sizes and times that fit a bench."""
    tb = Path(__file__).parent
    sources = [tb / "rl_flash_store_tb.sv", tb / "flash_chip.sv"]
    bench("rl_flash_store_tb", sources, module, parameters, tests, visible=["flash_chip.mem"])
