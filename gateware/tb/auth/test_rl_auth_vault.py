"""rl_auth_vault: keys and tags of a claim as the firmware has them made, and that it sees no key."""

import random
import struct

import cocotb
import golden
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from golden_guard import Guard
from runner import bench, rtl
from wire import KINDS, Frame, mac

BEGIN, END, FORGET, FORGET_SESSION = range(4)
SHOW, TAGS, DERIVES, SESSION = range(4)
CARD, FORMER, PAIR, CLAIMS = range(4)
HOST = 0x0102
MINE = mac("02:00:00:00:00:07")
OWNER = mac("06:01:02:00:08:08")


class Vault:
    """The block, as its registers are for the firmware, which writes one in four cycles."""

    def __init__(self, dut):
        self.dut = dut
        self.sessions: list[tuple[int, bytes | None]] = []  # Keys of sessions, as they come out.
        self.cycles = 0

    async def start(self):
        dut = self.dut
        for name in ("store_valid", "data_we", "order_we", "session_ready"):
            getattr(dut, f"{name}_i").value = 0
        dut.rst_ni.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await self.wait(3)
        dut.rst_ni.value = 1
        await self.wait(1)
        cocotb.start_soon(self.take_sessions())

    async def wait(self, cycles: int):
        for _ in range(cycles):
            await RisingEdge(self.dut.clk_i)
        self.cycles += cycles

    async def take_sessions(self):
        while True:
            self.dut.session_ready_i.value = ready = random.random() < 0.3
            await RisingEdge(self.dut.clk_i)
            told = int(self.dut.session_o.value)
            if ready and told >> 131:
                key = (told & (1 << 128) - 1).to_bytes(16, "little")
                self.sessions.append((told >> 129 & 3, None if told >> 128 & 1 else key))

    async def store(self, slot: int, key: bytes | None):
        """The key store has a key for the card, or takes it back."""
        dut = self.dut
        dut.store_slot_i.value, dut.store_forget_i.value = slot, key is None
        dut.store_key_i.value = int.from_bytes(key or bytes(16), "little")
        dut.store_valid_i.value = 1
        await self.wait(1)
        while not dut.store_ready_o.value:
            await self.wait(1)
        dut.store_valid_i.value = 0

    async def order(self, op: int, slot: int = 0, count: int = 0, to: int = SHOW, target: int = 0) -> bool:
        """Whether it was done."""
        dut = self.dut
        dut.order_i.value = (((op << 2 | slot) << 3 | count) << 2 | to) << 2 | target
        dut.order_we_i.value = 1
        await self.wait(1)
        dut.order_we_i.value = 0
        await self.wait(1)
        while dut.busy_o.value:
            await self.wait(1)
        return bool(dut.done_o.value)

    async def write(self, message: bytes):
        dut = self.dut
        for at in range(0, len(message), 4):
            word = message[at : at + 4]
            dut.data_i.value = int.from_bytes(word.ljust(4, b"\xa5"), "little")
            dut.data_we_i.value = 1
            await self.wait(1)
            dut.data_we_i.value = 0
            dut.data_i.value = random.getrandbits(32)
            await self.wait(3)

    async def tag(self, slot: int, message: bytes, to: int = SHOW, target: int = 0) -> bytes | None:
        """What is shown; None if it was not done."""
        await self.order(BEGIN, slot)
        await self.write(message)
        count = (len(message) - 1) % 4 + 1 if message else 0
        done = await self.order(END, count=count, to=to, target=target)
        shown = int(self.dut.tag_o.value).to_bytes(16, "little")
        assert done or shown == bytes(16), "something is shown that was not done"
        assert to == SHOW or shown == bytes(16), "a key is shown"
        return shown if done else None


def bound(frame: bytes, boot: int, to_host: bool, counter: int) -> bytes:
    """What the tag of a frame is made of, as the firmware writes it."""
    return frame + bytes(-len(frame) % 8) + struct.pack("<IBxHQ", boot, to_host, len(frame), counter)


@cocotb.test()
async def a_claim_is_checked_and_its_session_begins(dut):
    vault = Vault(dut)
    await vault.start()
    key, boot = random.randbytes(16), random.getrandbits(32)
    await vault.store(CARD, key)
    guard = Guard(key, HOST, boot)
    for epoch in range(1, 6):
        begins = vault.cycles
        assert await vault.tag(CARD, struct.pack("<BQI", 2, HOST, 0), DERIVES, PAIR) is not None
        assert await vault.tag(PAIR, b"\3", TAGS, CLAIMS) is not None
        frame = Frame(dst=MINE, src=OWNER, kind=KINDS["Session.Claim"].number, flags=4, epoch=0, seq=epoch).raw(
            random.randbytes(32))
        pair = golden.mac(key, struct.pack("<BQI", 2, HOST, 0), derive=True)
        claims = golden.mac(pair, b"\3", derive=True)
        for to_host in (False, True):
            wanted = golden.tag(claims, frame, boot=boot, to_host=to_host, counter=epoch)
            assert await vault.tag(CLAIMS, bound(frame, boot, to_host, epoch)) == wanted
        theirs, ours = random.getrandbits(64), random.getrandbits(64)
        session = guard.begin(MINE, OWNER, epoch, theirs, ours)
        agreed = struct.pack("<BQQIH", 4, theirs, ours, boot, epoch)
        assert await vault.tag(PAIR, agreed, SESSION, epoch & 1) is not None
        assert vault.sessions[-1] == (epoch & 1, session.key)
        dut._log.info("a claim, its answer and its session: %d cycles", vault.cycles - begins)
    assert await vault.order(FORGET_SESSION, target=1)
    assert vault.sessions[-1] == (1, None)


@cocotb.test()
async def messages_of_any_length_have_the_library_s_tags(dut):
    vault = Vault(dut)
    await vault.start()
    card, pair = random.randbytes(16), golden.mac
    await vault.store(FORMER, card)
    await vault.tag(FORMER, b"pair", DERIVES, PAIR)
    await vault.tag(PAIR, b"claims", TAGS, CLAIMS)
    claims = pair(pair(card, b"pair", derive=True), b"claims", derive=True)
    for length in [*range(0, 75), 200, 1500]:
        message = random.randbytes(length)
        assert await vault.tag(CLAIMS, message) == golden.mac(claims, message), f"{length} bytes"


@cocotb.test()
async def no_key_is_shown_and_none_goes_where_it_must_not(dut):
    vault = Vault(dut)
    await vault.start()
    key = random.randbytes(16)
    await vault.store(CARD, key)
    assert await vault.tag(FORMER, b"x", TAGS, CLAIMS) is None, "there is no such key"
    assert await vault.tag(CARD, b"pair", DERIVES, PAIR) is not None
    assert await vault.tag(PAIR, b"claims", TAGS, CLAIMS) is not None
    pair = golden.mac(key, b"pair", derive=True)
    claims = golden.mac(pair, b"claims", derive=True)
    for slot in (CARD, PAIR):
        assert await vault.tag(slot, b"what are you?") is None, "a derived key would be shown"
    for to in (TAGS, DERIVES):
        assert await vault.tag(CLAIMS, b"a tag", to, PAIR) is None, "a tag, which was shown, would be a key"
        for target in (CARD, FORMER):
            assert await vault.tag(PAIR, b"mine", to, target) is None, "the card's own key would be another"
    assert await vault.tag(CLAIMS, b"a tag", SESSION, 0) is None and not vault.sessions
    for slot in (CARD, FORMER):
        assert not await vault.order(FORGET, slot)
    # All are as they were.
    assert await vault.tag(CLAIMS, b"still") == golden.mac(claims, b"still")
    assert await vault.tag(CARD, b"pair", DERIVES, PAIR) is not None
    assert await vault.tag(PAIR, b"other", TAGS, CLAIMS) is not None
    other = golden.mac(pair, b"other", derive=True)
    assert await vault.tag(CLAIMS, b"now") == golden.mac(other, b"now")
    for slot in (PAIR, CLAIMS):
        assert await vault.order(FORGET, slot)
        assert await vault.tag(slot, b"gone", SHOW if slot == CLAIMS else DERIVES, PAIR) is None


@cocotb.test()
async def the_key_store_waits_for_a_message(dut):
    """A card's new key comes while a message is written for the old one, which has its tag still."""
    vault = Vault(dut)
    await vault.start()
    old, new = random.randbytes(16), random.randbytes(16)
    await vault.store(CARD, old)
    await vault.order(BEGIN, CARD)
    await vault.write(b"a long message, of more ")
    task = cocotb.start_soon(vault.store(CARD, new))
    await vault.write(b"than a block of 32 bytes")
    assert await vault.order(END, count=4, to=DERIVES, target=PAIR)
    await task
    message = b"a long message, of more than a block of 32 bytes"
    for key in (old, new):
        if key == new:
            assert await vault.tag(CARD, message, DERIVES, PAIR) is not None
        assert await vault.tag(PAIR, b"claims", TAGS, CLAIMS) is not None
        claims = golden.mac(golden.mac(key, message, derive=True), b"claims", derive=True)
        assert await vault.tag(CLAIMS, b"tag") == golden.mac(claims, b"tag")
    await vault.store(CARD, None)
    assert await vault.tag(CARD, message, DERIVES, PAIR) is None


@pytest.mark.parametrize("per_cycle", [1, 3])
def test_rl_auth_vault(per_cycle):
    bench("rl_auth_vault", rtl("auth", "common", "shell"), __name__, {"PerCycle": per_cycle})
