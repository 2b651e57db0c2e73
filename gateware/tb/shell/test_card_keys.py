"""What a card with keys has of gateware for them, put together: claims come in by the ring and become sessions by the
registers, as a firmware does it; what follows is taken, dropped, counted and sent as the card model does."""

import random
import struct
from pathlib import Path

import cocotb
import golden
from card_keys import CARD as NEWEST
from card_keys import CAUSES, FIELDS_OF, FORMER, Registers, store_words
from cocotb.triggers import RisingEdge
from frames import MINE, build, good
from golden import Route
from golden_guard import TRAILER, Guard, Session
from runner import bench, rtl
from streams import PAUSES
from test_rl_auth_rx import HOST, OTHER, OWNER, STRANGER, Guarded, Sender, seen
from wire import CONST, FLAG

GENERATION = 0x1234567
HOSTS = [(HOST, 0, None)]


class Whole(Guarded):
    """The bench, with this in the firmware's place. It judges claims as crates/core/card/src/pairs.rs does."""

    def __init__(self, dut, former: bytes | None = None, **how):
        super().__init__(dut, **how)
        self.key, self.former = random.randbytes(16), former
        self.guard = Guard(self.key, HOST, random.getrandbits(32))
        self.registers = Registers(dut.ctl_i, dut.keys_data_o, dut.clk_net_i)
        self.claims = self.answers = 0  # The counters of both sides.
        self.taken: set[int] = set()
        self.left: list[bytes] = []
        self.slot = 0
        self.pause = PAUSES["ragged"]()

    async def begin_all(self):
        dut = self.dut
        for name in ("ctl", "tx_write", "send", "tx_ready"):
            getattr(dut, f"{name}_i").value = 0
        dut.store_write_i.value = 0
        await super().begin_all()
        cocotb.start_soon(self.leave())
        former = (self.former, GENERATION - 1) if self.former else None
        for at, word in store_words([(self.key, GENERATION), former], HOSTS):
            dut.store_write_i.value = (1 << 9 | at) << 32 | word
            await RisingEdge(dut.clk_net_i)
            while not dut.store_write_ready_o.value:
                await RisingEdge(dut.clk_net_i)
        dut.store_write_i.value = 0
        await self.registers.take_keys()
        assert await self.registers.hosts() == [(HOST | FIELDS_OF["COUNTS"], 0, 0)]
        await self.registers.write("KEY_STORE", 0)
        assert await self.registers.has("KEY_STORE", "CARD")
        assert await self.registers.has("KEY_STORE", "FORMER") == (self.former is not None)
        assert await self.registers.read("KEY_GENERATION") == GENERATION
        await self.registers.write("KEY_BOOT", self.guard.boot)

    # -- frames out
    async def leave(self):
        dut, frame = self.dut, b""
        while True:
            ready = not next(self.pause)
            dut.tx_ready_i.value = ready
            await RisingEdge(dut.clk_net_i)
            if not (ready and dut.tx_valid_o.value):
                continue
            count = int(dut.tx_keep_o.value).bit_count() if dut.tx_last_o.value else 8
            frame += int(dut.tx_data_o.value).to_bytes(8, "little")[:count]
            if dut.tx_last_o.value:
                self.left.append(frame)
                frame = b""

    async def say(self, frame: bytes):
        """The frame goes into a slot, padded, and is sent."""
        dut, clock = self.dut, self.dut.clk_net_i
        frame = frame.ljust(CONST.FRAME_MIN, b"\0")
        self.slot ^= 1
        while int(dut.slot_busy_o.value) >> self.slot & 1:
            await RisingEdge(clock)
        for at in range(0, len(frame), 4):
            dut.tx_write_i.value, dut.tx_addr_i.value = 1, 512 * self.slot + at // 4
            dut.tx_wdata_i.value = int.from_bytes(frame[at : at + 4].ljust(4, b"\0"), "big")
            await RisingEdge(clock)
            dut.tx_write_i.value = 0
        dut.send_i.value, dut.send_slot_i.value, dut.send_bytes_i.value = 1, self.slot, len(frame)
        await RisingEdge(clock)
        dut.send_i.value = 0

    async def said(self, frames: list[bytes], expected: list[bytes]):
        """Sends these, of which each must leave as expected."""
        self.left.clear()
        for frame in frames:
            await self.say(frame)
        for _ in range(2000):
            if len(self.left) >= len(frames) and not self.dut.tx_busy_o.value:
                break
            await RisingEdge(self.dut.clk_net_i)
        assert self.left == expected

    # -- claims
    def host_claims(self, key: bytes) -> bytes:
        """The pair's key of claims, as the host has it."""
        pair = golden.mac(key, struct.pack("<BQI", 2, HOST, 0), derive=True)
        return golden.mac(pair, b"\3", derive=True)

    def claim_frame(self, owner: int, nonce: int, *, key: bytes | None = None, counter: int | None = None,
                    boot: int | None = None, to_host: bool = False, generation: int = GENERATION) -> bytes:
        if counter is None:
            self.claims += 1
            counter = self.claims
        frame = bytearray(build("Session.Claim", 2 * counter & 0xFFFFFFFF, struct.pack(">QIHBB", nonce, 1000, 0, 0, 22),
                                dst=MINE, src=owner, epoch=0, flags=0, addr=0)[: CONST.HEADER_END + 16])
        frame[14] |= FLAG.AUTH
        boot = self.guard.boot if boot is None else boot
        made = golden.tag(self.host_claims(key or self.key), bytes(frame), boot=boot, to_host=to_host, counter=counter)
        return bytes(frame) + TRAILER.pack(generation, counter, made)

    async def judge_claim(self, data: bytes) -> bool:
        """What a firmware makes of a claim in its ring: whether it is the host's, and new."""
        got = seen(data, False)  # As the ring has shown it.
        length = int.from_bytes(got[16:18], "big") - TRAILER.size
        assert got[14] & FLAG.AUTH
        frame = got[:16] + length.to_bytes(2, "big") + got[18 : CONST.HEADER_END + length]
        generation, counter, tag = TRAILER.unpack(got[CONST.HEADER_END + length :][: TRAILER.size])
        if counter in self.taken:
            return False
        slots = [slot for slot in (NEWEST, FORMER) if await self.registers.read("KEY_GENERATION", slot) == generation]
        if not slots or not await self.registers.pair(slots[0], int.from_bytes(frame[7:9], "big")):
            return False
        if await self.registers.frame_tag(frame, self.guard.boot, False, counter) != tag:
            return False
        self.taken.add(counter)
        return True

    async def claim(self, owner: int, epoch: int) -> Session:
        """The whole exchange: claim, session, grant with both nonces."""
        theirs, ours = random.getrandbits(64), random.getrandbits(64)
        data = self.claim_frame(owner, theirs)
        await self.run([data])
        assert await self.judge_claim(data)
        session = self.guard.begin(MINE, owner, epoch, theirs, ours)
        await self.registers.begin(owner, epoch, self.guard.boot, theirs, ours)
        self.slots[self.registers.newer] = session
        self.answers += 1
        grant = bytearray(build("Session.Grant", 1, struct.pack(">QQI", theirs, ours, 1000), dst=owner, src=MINE,
                                epoch=epoch, flags=0, addr=0)[: CONST.HEADER_END + 20])
        grant[14] |= FLAG.AUTH
        made = await self.registers.frame_tag(bytes(grant), self.guard.boot, True, self.answers)
        assert made == golden.tag(self.host_claims(self.key), bytes(grant), boot=self.guard.boot, to_host=True,
                                  counter=self.answers)
        answer = bytes(grant) + TRAILER.pack(GENERATION, self.answers, made)
        await self.said([answer], [answer])
        return session

    async def end(self):
        self.guard.end()
        await self.registers.end()

    async def check(self):
        """The counters, as the firmware reads them."""
        await super().check()
        for cause in CAUSES:
            assert await self.registers.count(cause) == self.counts[cause], cause


def answers(owner: int, number: int) -> list[bytes]:
    """What a card says to a session's owner, and what has no tag."""
    heads = {"dst": owner, "src": MINE, "epoch": 5, "flags": 0, "addr": 0}
    said = [build("Result.Data", number, random.randbytes(random.randrange(0, 600)), **heads)]
    said += [build("Session.Counters", number + 1, random.randbytes(40), **heads)]
    said += [build("Discovery.Announce", number + 2, random.randbytes(64), **heads | {"dst": random.choice([owner, STRANGER])})]
    return said


@cocotb.test()
async def claims_become_sessions_and_frames_are_the_models(dut):
    """Sessions come and go by claims on the wire; frames of all kinds, right and wrong ones, in and out."""
    whole = Whole(dut, ragged_rooms=True, firmware_delay=20)
    await whole.begin_all()
    sender, number = Sender(), 0
    sessions = [Session(OWNER, 5, whole.guard.boot, random.randbytes(16))]
    for step in [None, (OWNER, 5), (OTHER, 6), (OWNER, 5), "end", (OTHER, 7), (OWNER, 6)]:
        if step == "end":
            await whole.end()
        elif step:
            sessions = [*sessions[-2:], await whole.claim(*step)]
        for _ in range(2):
            frames = []
            for _ in range(60):
                number += 1
                frames.append(sender.frame(number, sessions))
            await whole.run(frames, random.choice(["never", "ragged"]))
            said = answers(random.choice(sessions).owner, number)
            padded = [frame.ljust(CONST.FRAME_MIN, b"\0") for frame in said]
            await whole.said(said, [whole.guard.seal(frame) for frame in padded])
    drops = [one.judgement.drop for one in whole.all]
    for cause in CAUSES:
        assert drops.count(f"auth_{cause}") > 5, f"{cause}: too few to tell"
    assert drops.count(None) > len(drops) / 5
    await whole.check()


@cocotb.test()
async def a_claim_write_launch_and_result_and_a_forged_one_of_each(dut):
    """What a stranger makes of each frame has no effect, nor has what he repeats."""
    whole = Whole(dut)
    await whole.begin_all()
    right = whole.claim_frame(OWNER, 7)
    forged = [
        whole.claim_frame(OWNER, 7, key=random.randbytes(16)),
        whole.claim_frame(OWNER, 7, boot=whole.guard.boot ^ 1),
        whole.claim_frame(OWNER, 7, to_host=True),
        whole.claim_frame(OWNER, 7, generation=GENERATION + 1),
        whole.claim_frame(STRANGER, 7),  # By another host's key: its number is in the address.
    ]
    for at in (6, 18, 32, 47, -1, -17, -24):  # The sender, the epoch, the nonce, the last byte, tag and counter.
        forged.append(bytes(byte ^ (n == at % len(right)) for n, byte in enumerate(right)))
    for data in forged:
        await whole.run([data])
        assert not await whole.judge_claim(data)
    await whole.run([right])
    assert await whole.judge_claim(right) and not await whole.judge_claim(right), "it counts once"
    session = await whole.claim(OWNER, 5)
    write, launch = good("Input.Write", 2, random.randbytes(100), src=OWNER), good("Exec.Launch", 4, src=OWNER)
    for data, route in ((write, Route.WRITE), (launch, Route.LAUNCH)):
        tagged = session.tagged(data)
        bent = bytes(byte ^ (n == 40) for n, byte in enumerate(tagged))
        ended = await whole.run([data, session.tagged(data, key=random.randbytes(16)), bent, tagged, tagged])
        assert [one.judgement.drop for one in ended] == ["auth_untagged", "auth_wrong", "auth_wrong", None, "auth_replay"]
        assert ended[3].judgement.route == route
    result = build("Result.Data", 9, random.randbytes(80), dst=OWNER, src=MINE, epoch=5, flags=0, addr=0)
    sealed = whole.guard.seal(result)
    assert sealed == session.tagged(result, 1, to_host=True)
    await whole.said([result], [sealed])
    await whole.check()


@cocotb.test()
@cocotb.parametrize(has=[True, False])
async def the_former_key_counts_where_there_is_one(dut, has):
    former = random.randbytes(16)
    whole = Whole(dut, former if has else None)
    await whole.begin_all()
    data = whole.claim_frame(OWNER, 1, key=former, generation=GENERATION - 1)
    await whole.run([data])
    assert await whole.judge_claim(data) == has
    wrong = whole.claim_frame(OWNER, 2, key=former)
    await whole.run([wrong])
    assert not await whole.judge_claim(wrong), "another generation's key"


def test_card_keys():
    sources = [*rtl("common", "shell", "auth", "control"), Path(__file__).with_name("receive_bench.sv")]
    bench("receive_bench", sources, __name__, {"Keys": 1, "Registers": 1})
