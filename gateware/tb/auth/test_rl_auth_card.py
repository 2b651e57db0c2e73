"""rl_auth_card: its registers reach the vault, sessions and counters, and a session's key reaches both who need it."""

import random
import struct

import cocotb
import golden
from card_keys import AT, BEGIN, CARD, CAUSES, CLAIMS, DERIVES, END, FORGET, FORGET_SESSION, FORMER, MAP, PAIR
from card_keys import SESSION, SHOW, TAGS, Registers, place
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from golden_guard import Guard
from runner import bench, rtl
from wire import CONTROL, KINDS, Frame, mac

HOST = 0x0102
MINE = mac("02:00:00:00:00:07")
OWNER = mac("06:01:02:00:08:08")
OTHER = mac("06:01:02:00:09:09")


class Card(Registers):
    """The block with a key store, and whoever takes sessions' keys, each in its time."""

    def __init__(self, dut):
        super().__init__(dut.ctl_i, dut.data_o, dut.clk_i)
        self.dut = dut
        self.keys: dict[str, list[tuple[int, bytes | None]]] = {"rx": [], "tx": []}
        self.patience = {"rx": 3, "tx": 3}  # Of ten cycles, in which it is ready.

    async def start(self):
        dut = self.dut
        for name in ("ctl", "store", "rx_ready", "tx_ready", "event"):
            getattr(dut, f"{name}_i").value = 0
        dut.rst_ni.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await self.wait(3)
        dut.rst_ni.value = 1
        await self.wait(1)
        for side in self.keys:
            cocotb.start_soon(self.take(side))

    async def take(self, side: str):
        ready_i, key_o = getattr(self.dut, f"{side}_ready_i"), getattr(self.dut, f"{side}_key_o")
        while True:
            ready = random.randrange(10) < self.patience[side]
            ready_i.value = ready
            await RisingEdge(self.dut.clk_i)
            told = int(key_o.value)
            if ready and told >> 131:
                key = (told & (1 << 128) - 1).to_bytes(16, "little")
                self.keys[side].append((told >> 129 & 3, None if told >> 128 & 1 else key))

    async def store(self, slot: int, key: bytes | None, generation: int = 0, over: int = 0):
        word = (((over << 1 | 1) << 1 | slot) << 1 | (key is None)) << 32 | generation
        self.dut.store_i.value = word << 128 | int.from_bytes(key or bytes(16), "little")
        await self.wait(1)
        while not self.dut.store_ready_o.value:
            await self.wait(1)
        self.dut.store_i.value = over << 163

    def sessions(self) -> list[tuple[bool, int, int]]:
        """Whether it is valid, whose and in which epoch, of each."""
        told = int(self.dut.sessions_o.value)
        owners, epochs, valid = told >> 65, told >> 33, told >> 161
        low = lambda word, bits, n: word >> bits * n & (1 << bits) - 1
        return [(bool(low(valid, 1, n)), low(owners, 48, n), low(epochs, 16, n)) for n in range(2)]


@cocotb.test()
async def a_claim_becomes_a_session_of_both_sides(dut):
    card = Card(dut)
    await card.start()
    key, boot = random.randbytes(16), random.getrandbits(32)
    await card.store(CARD, key)
    await card.write("KEY_BOOT", boot)
    guard = Guard(key, HOST, boot)
    pair = golden.mac(key, struct.pack("<BQI", 2, HOST, 0), derive=True)
    claims = golden.mac(pair, b"\3", derive=True)
    kept = [(False, 0, 0)] * 2
    for epoch, owner in enumerate([OWNER, OTHER, OWNER, OWNER, OTHER], 5):
        # One of them may be much later than the other.
        card.patience = random.choice([{"rx": 10, "tx": 1}, {"rx": 1, "tx": 10}, {"rx": 3, "tx": 3}])
        assert await card.pair(CARD, HOST)
        length = random.randrange(40)
        frame = Frame(dst=MINE, src=owner, kind=KINDS["Session.Claim"].number, flags=4, epoch=0, seq=epoch).raw(
            random.randbytes(length))[: 32 + length]
        for to_host in (False, True):
            wanted = golden.tag(claims, frame, boot=boot, to_host=to_host, counter=epoch)
            assert await card.frame_tag(frame, boot, to_host, epoch) == wanted, f"{length} bytes of payload"
        theirs, ours = random.getrandbits(64), random.getrandbits(64)
        session = guard.begin(MINE, owner, epoch, theirs, ours)
        await card.begin(owner, epoch, boot, theirs, ours)
        assert card.keys == {side: [(card.newer, session.key)] for side in card.keys}, "each has it once"
        kept[card.newer] = (True, owner, epoch)
        assert [now if now[0] else was for now, was in zip(card.sessions(), kept, strict=True)] == kept
        assert all(now[0] for now in card.sessions()) == (epoch > 5)
        told = int(dut.sessions_o.value)
        assert told & 0xFFFFFFFF == boot and told >> 32 & 1 == card.newer
        for side in card.keys:
            card.keys[side].clear()
    await card.end()
    assert card.keys == {side: [(1 - card.newer, None)] for side in card.keys}
    assert [one[0] for one in card.sessions()] == [n == card.newer for n in range(2)]


@cocotb.test()
async def a_hosts_key_of_claims_goes_to_the_receiver_alone(dut):
    card = Card(dut)
    await card.start()
    key = random.randbytes(16)
    await card.store(CARD, key)
    for at, host in ((1, HOST), (0, 0xFFFF), (1, 0x8001)):
        card.patience = {"rx": 1, "tx": 0}
        await card.write("KEY_HOST", place("KEY_HOST", slot=at))
        assert await card.pair(CARD, host)
        assert await card.make(PAIR, b"\3", SESSION, 2 + at)
        pair = golden.mac(key, struct.pack("<BQI", 2, host, 0), derive=True)
        assert card.keys == {"rx": [(2 + at, golden.mac(pair, b"\3", derive=True))], "tx": []}
        told = int(dut.sessions_o.value) >> 163
        assert not told >> 32 + at & 1, "until the firmware says so"
        await card.write("KEY_HOST", place("KEY_HOST", slot=at, valid=1, number=host))
        told = int(dut.sessions_o.value) >> 163
        assert told >> 32 + at & 1 and told >> 16 * at & 0xFFFF == host
        card.keys["rx"].clear()
    assert not any(valid for valid, *_ in card.sessions())


@cocotb.test()
async def it_is_busy_until_both_have_the_key(dut):
    card = Card(dut)
    await card.start()
    await card.store(CARD, random.randbytes(16))
    assert await card.pair(CARD, HOST)
    for slow, quick in (("rx", "tx"), ("tx", "rx")):
        card.patience = {slow: 0, quick: 10}
        await card.write("KEY_ORDER", place("KEY_ORDER", op=BEGIN, slot=PAIR))
        await card.write("KEY_ORDER", place("KEY_ORDER", op=END, to=SESSION))
        await card.wait(200)
        assert len(card.keys[quick]) == 1 and not card.keys[slow]
        assert await card.has("KEY_ORDER", "BUSY") and not await card.has("KEY_ORDER", "DONE")
        card.patience[slow] = 10
        await card.wait(5)
        assert not await card.has("KEY_ORDER", "BUSY") and await card.has("KEY_ORDER", "DONE")
        assert card.keys[slow] == card.keys[quick] and len(card.keys[quick]) == 1
        for side in card.keys:
            card.keys[side].clear()


@cocotb.test()
async def what_is_written_while_it_is_busy_is_lost(dut):
    card = Card(dut)
    await card.start()
    key = random.randbytes(16)
    await card.store(CARD, key)
    assert await card.pair(CARD, HOST)
    claims = golden.mac(golden.mac(key, struct.pack("<BQI", 2, HOST, 0), derive=True), b"\3", derive=True)
    await card.order(BEGIN, slot=CLAIMS)
    await card.put("KEY_DATA", b"what the tag is of")
    card.drive(1, AT["KEY_ORDER"], place("KEY_ORDER", op=END, bytes=2, to=SHOW), 0)
    await card.wait(1)
    for name, word in (("KEY_DATA", 0), ("KEY_ORDER", place("KEY_ORDER", op=FORGET, slot=CLAIMS)), ("KEY_FRAME", 0),
                       ("KEY_ORDER", place("KEY_ORDER", op=FORGET_SESSION))):
        card.drive(1, AT[name], word, 0)
        await card.wait(1)
    card.drive(0, 0, 0, 0)
    while await card.has("KEY_ORDER", "BUSY"):
        pass
    assert await card.tag() == golden.mac(claims, b"what the tag is of")
    assert await card.make(CLAIMS, b"still there", SHOW)
    assert not card.keys["rx"] and not card.keys["tx"]


@cocotb.test()
async def the_firmware_knows_which_keys_there_are_and_sees_none(dut):
    card = Card(dut)
    await card.start()
    assert await card.has("KEY_STORE", "THERE") and not await card.has("KEY_STORE", "READ")
    assert not await card.pair(CARD, HOST) and not await card.pair(FORMER, HOST)
    keys = [random.randbytes(16) for _ in range(2)]
    await card.store(CARD, keys[0], 0x89ABCDEF)
    assert await card.has("KEY_STORE", "CARD") and not await card.has("KEY_STORE", "FORMER")
    await card.store(FORMER, keys[1], 0x89ABCDEE, over=1)
    assert await card.has("KEY_STORE", "FORMER") and await card.has("KEY_STORE", "READ")
    assert [await card.read("KEY_GENERATION", i) for i in range(2)] == [0x89ABCDEF, 0x89ABCDEE]
    # Whatever it orders: of what is read nothing is a key, or a part of one.
    pairs = [golden.mac(key, struct.pack("<BQI", 2, HOST, 0), derive=True) for key in keys]
    secrets = [*keys, *pairs, *(golden.mac(pair, b"\3", derive=True) for pair in pairs)]
    parts = {int.from_bytes(key[at : at + 4], order) for key in secrets for at in range(0, 16, 4)
             for order in ("big", "little")}
    for slot in (CARD, FORMER):
        assert await card.pair(slot, HOST)
        for to in (SHOW, TAGS, DERIVES, SESSION):
            for source, message in ((slot, struct.pack("<BQI", 2, HOST, 0)), (PAIR, b"\3"), (CLAIMS, b"\3")):
                await card.make(source, message, to, random.choice([PAIR, CLAIMS]))
                read = [await card.read("KEY_OWNER_HI", at) for at in range(32)]
                assert not parts & set(read)
                await card.pair(slot, HOST)
    await card.store(CARD, None, 0x89ABCDEF, over=1)
    assert not await card.has("KEY_STORE", "CARD") and await card.read("KEY_GENERATION") == 0
    assert not await card.pair(CARD, HOST) and await card.pair(FORMER, HOST)


@cocotb.test()
async def the_key_store_hears_what_the_firmware_asks_and_that_sees_its_hosts(dut):
    card = Card(dut)
    await card.start()
    asked = []

    async def hear():
        while True:
            await RisingEdge(dut.clk_i)
            if told := int(dut.store_ask_o.value) >> 8:
                asked.append(told)

    cocotb.start_soon(hear())
    assert not await card.has("KEY_STORE", "NEWS")
    for take in (1, 0, 1):
        await card.write("KEY_STORE", place("KEY_STORE", take=take))
    assert asked == [2, 1, 2]
    for _ in range(20):
        at, word, hosts, news = (random.getrandbits(bits) for bits in (8, 32, 7, 1))
        await card.write("KEY_HOSTS_AT", at)
        assert int(dut.store_ask_o.value) == at
        dut.store_i.value = ((news << 7 | hosts) << 32 | word) << 164
        assert await card.read("KEY_HOSTS") == word
        assert await card.read("KEY_STORE") == place("KEY_STORE", there=1, news=news, hosts=hosts)
    assert asked == [2, 1, 2]


@cocotb.test()
async def the_table_of_signers_is_read_and_written_where_the_firmware_says(dut):
    card = Card(dut)
    await card.start()
    written = []

    async def hear():
        while True:
            await RisingEdge(dut.clk_i)
            if (told := int(dut.sign_ask_o.value)) >> 43:
                written.append((told >> 32 & 0x7FF, told & 0xFFFFFFFF))

    cocotb.start_soon(hear())
    expected = []
    for _ in range(20):
        at, word, count, new = (random.getrandbits(bits) for bits in (11, 32, 6, 32))
        await card.write("SIGN_AT", at)
        assert int(dut.sign_ask_o.value) >> 32 == at
        dut.sign_i.value = count << 32 | word
        assert await card.read("SIGN_WORD") == word
        assert await card.read("SIGN_COUNT") == count
        await card.write("SIGN_WORD", new)
        expected.append((at, new))
    await card.wait(2)
    assert written == expected


@cocotb.test()
async def drops_are_counted_where_the_bridge_s_counters_would_go_on(dut):
    card = Card(dut)
    await card.start()
    bridge = next(r for r in MAP["register"] if r["name"] == "BRG_COUNT")
    first = bridge["offset"] + 8 * (CONTROL.counters["auth_untagged"] - CONTROL.counters["bridge_rx"])
    assert first == next(r["offset"] for r in MAP["register"] if r["name"] == "KEY_COUNT")
    assert [await card.count(cause) for cause in CAUSES] == [0] * 4
    counts = dict.fromkeys(CAUSES, 0)
    for _ in range(2):
        for n in range(400):
            cause = random.choice(CAUSES)
            counts[cause] += 1
            dut.event_i.value = 8 >> CAUSES.index(cause)
            await card.wait(1)
            dut.event_i.value = 0
            if n % 40 == 0:
                assert await card.count(cause) == counts[cause]
            await card.wait(random.randrange(4, 8))
        assert {cause: await card.count(cause) for cause in CAUSES} == counts
    # passed_frames, which stands between them, is no counter of this card.
    assert await card.read("KEY_OWNER_HI") == await card.read("KEY_OWNER_LO") == 0
    dut.rst_ni.value = 0
    await card.wait(2)
    dut.rst_ni.value = 1
    assert [await card.count(cause) for cause in CAUSES] == [0] * 4
    dut.event_i.value = 1
    await card.wait(1)
    dut.event_i.value = 0
    assert [await card.count(cause) for cause in CAUSES] == [0, 0, 0, 1]


@cocotb.test()
async def after_a_reset_nothing_is_valid(dut):
    card = Card(dut)
    await card.start()
    await card.store(CARD, random.randbytes(16), 7, over=1)
    assert await card.pair(CARD, HOST)
    await card.begin(OWNER, 5, 1, 2, 3)
    dut.rst_ni.value = 0
    dut.store_i.value = 0
    await card.wait(2)
    dut.rst_ni.value = 1
    await card.wait(1)
    assert not any(one[0] for one in card.sessions())
    assert not await card.has("KEY_STORE", "CARD") and not await card.has("KEY_STORE", "READ")
    assert not await card.pair(CARD, HOST)
    assert not await card.make(PAIR, b"x", SESSION) and not await card.make(CLAIMS, b"x", SHOW)


def test_rl_auth_card():
    bench("rl_auth_card", rtl("auth", "common", "control", "shell"), __name__)
