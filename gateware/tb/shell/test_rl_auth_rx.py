"""The receive side of a card with keys: each frame's verdict, route and words, held against the card model's guard."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import RisingEdge, with_timeout
from frames import CARD, MINE, good, hostile
from golden import Judgement, Route
from golden_guard import Guard, Session
from receive import PERIOD_NS, Expected, Receive
from runner import bench, rtl
from streams import PAUSES
from wire import COUNTER, FLAG, KINDS, mac

HOST = 0x0102
OWNER = mac("06:01:02:00:08:08")
OTHER = mac("06:01:02:00:09:09")  # Another program of the same host.
STRANGER = mac("06:01:03:00:08:08")
TRAILER = 28
EVENTS = ("untagged", "unknown", "wrong", "replay")
CLAIMS = [(KINDS[name].number >> 16 & 0xFF, KINDS[name].number & 15) for name in ("Session.Claim", "Session.Release")]


FOR_CARDS = [name for name, kind in KINDS.items() if kind.to != "host"]


class Guarded(Receive):
    """The bench of the receive side with keys in it, and the model beside it."""

    renews = (Route.WRITE, Route.READ, Route.LAUNCH)

    def __init__(self, dut, **how):
        self.guard = Guard(random.randbytes(16), HOST, random.getrandbits(32))
        self.card = replace(CARD, owner=OWNER)
        super().__init__(dut, [], [self.card] * 5000, **how)
        self.all: list[Expected] = []
        self.slots: list[Session | None] = [None, None]
        self.newer = 0
        self.counts = dict.fromkeys(EVENTS, 0)

    async def begin_all(self):
        dut = self.dut
        for name in ("sessions_valid", "sessions_owner", "sessions_epoch", "sessions_newer", "key_valid", "key_forget"):
            getattr(dut, f"{name}_i").value = 0
        dut.boot_i.value = self.guard.boot
        await self.start(listens_first=True)
        cocotb.start_soon(self.watch_events())

    async def firmware(self):
        """Begins with each run."""

    async def watch_events(self):
        pins = {name: getattr(self.dut, f"{name}_o") for name in EVENTS}
        while True:
            await RisingEdge(self.dut.clk_net_i)
            for name, pin in pins.items():
                self.counts[name] += int(pin.value)

    async def claim(self, owner: int, epoch: int) -> Session:
        """A session begins, as the firmware tells: in the place of the older one."""
        session = self.guard.begin(MINE, owner, epoch, random.getrandbits(64), random.getrandbits(64))
        slot = 1 - self.newer
        self.slots[slot] = None
        self.tell_sessions()
        await self.put_key(slot, session.key)
        self.slots[slot], self.newer = session, slot
        self.tell_sessions()
        return session

    async def end(self):
        """The claim ends: of two sessions the older one is forgotten."""
        self.guard.end()
        self.slots[1 - self.newer] = None
        self.tell_sessions()
        await self.put_key(1 - self.newer, None)

    async def put_key(self, slot: int, key: bytes | None):
        dut = self.dut
        dut.key_slot_i.value, dut.key_forget_i.value = slot, key is None
        dut.key_i.value = int.from_bytes(key or bytes(16), "little")
        dut.key_valid_i.value = 1
        await RisingEdge(dut.clk_net_i)
        while not dut.key_ready_o.value:
            await RisingEdge(dut.clk_net_i)
        dut.key_valid_i.value = 0

    def tell_sessions(self):
        dut = self.dut
        dut.sessions_valid_i.value = sum((s is not None) << n for n, s in enumerate(self.slots))
        dut.sessions_owner_i.value = sum((s.owner if s else OWNER) << 48 * n for n, s in enumerate(self.slots))
        dut.sessions_epoch_i.value = sum((s.epoch if s else 5) << 16 * n for n, s in enumerate(self.slots))
        dut.sessions_newer_i.value = self.newer

    async def run(self, frames, pause="never") -> list[Expected]:
        """Sends the frames; what must become of them the model says, one after the other."""
        self.expected, self.ended, self.finished = [], 0, set()
        barriers = self.barriers_finished
        for data in frames:
            data, bad = data if isinstance(data, tuple) else (data, False)
            judgement, proven = (Judgement("drop_check"), False) if bad else self.guard.judge(self.card, data)
            one = Tagged(seen(data, proven), bad, judgement, barriers, wire=data)
            if judgement.drop is None:
                one.to_ring = judgement.route in (Route.CONTROL, Route.LAUNCH) or one.diverted
                one.barrier = judgement.barrier or (judgement.route == Route.LAUNCH and one.diverted)
            barriers += one.barrier
            self.expected.append(one)
        self.all += self.expected
        firmware = cocotb.start_soon(super().firmware())
        await self.send(PAUSES[pause]())
        wanted = sum(one.to_ring for one in self.expected)
        for _ in range(100_000):
            if len(self.finished) == wanted and not self.dut.control_busy_o.value:
                break
            await RisingEdge(self.dut.clk_net_i)
        assert len(self.finished) == wanted, "control frames are missing in the ring"
        assert not self.dut.busy_o.value
        firmware.cancel()
        return self.expected

    async def check(self):
        """All counters."""
        for _ in range(150):
            await RisingEdge(self.dut.clk_net_i)
        drops = Counter(one.judgement.drop for one in self.all)
        for name in EVENTS:
            assert self.counts[name] == drops[f"auth_{name}"], name
        for name in COUNTER:
            if name.startswith("drop_"):
                assert await self.count(name) == drops[name], name
        assert await self.count("rx_frames") == len(self.all)
        assert await self.count("rx_bytes") == sum(len(one.wire) for one in self.all)
        assert await self.count("rx_words") == sum(-(-len(one.wire) // 8) for one in self.all)


class Tagged(Expected):
    """A frame as a card with keys sees it."""

    def shows(self, word: int, got: bytes) -> bool:
        # Of what is dropped anyway nobody asks whether its tag was right.
        if word == 1 and self.judgement.drop and len(self.data) > 14:
            got = got[:6] + bytes([got[6] ^ (got[6] ^ self.data[14]) & FLAG.AUTH]) + got[7:]
        return super().shows(word, got)


def seen(data: bytes, proven: bool) -> bytes:
    """The frame as the card sees it: flag AUTH says what its tag has shown, and of a claim the trailer is payload."""
    if len(data) < 16:
        return data
    out = bytearray(data)
    has_trailer = bool(data[14] & FLAG.AUTH)
    if has_trailer and (data[13], data[15] & 15) in CLAIMS:
        proven = True
        length = int.from_bytes(data[16:18], "big") + TRAILER & 0xFFFF
        out[16:18] = length.to_bytes(2, "big")[: len(data[16:18])]
    out[14] = data[14] & ~FLAG.AUTH | FLAG.AUTH * proven
    return bytes(out)


def seq(number: int) -> int:
    """A number whose parity, which diverts reads and launches, is random."""
    return 2 * number + random.getrandbits(1)


def plain(number: int, session: Session) -> bytes:
    """A frame that the session's owner could send, or one that is wrong in some way."""
    if random.random() < 0.15:
        data = bytearray(hostile(seq(number)))
        if random.random() < 0.7:
            data[6:12] = session.owner.to_bytes(6, "big")
        return bytes(data)
    fast = ["Input.Write"] * 4 + ["Input.Read", "Image.Data", "Exec.Launch", "Session.Ping", "Exec.Go"]
    kind = random.choice(fast * 2 + FOR_CARDS + list(KINDS))
    epoch = {} if kind.startswith(("Image", "Exec.Go")) else {"epoch": random.choice([5, 6, session.epoch, session.epoch])}
    if kind in ("Image.Poll", "Exec.Go") and random.random() < 0.3:
        epoch = {"epoch": session.epoch}
    return good(kind, seq(number), src=session.owner, **epoch)


def changed(data: bytes) -> bytes:
    """One bit is another one, or bytes are missing or too many."""
    match random.randrange(4):
        case 0:
            return data[: random.randint(1, len(data) - 1)]
        case 1:
            return data + random.randbytes(random.randint(1, 40))
        case _:
            flipped = int.from_bytes(data, "big") ^ 1 << random.randrange(8 * len(data))
            return flipped.to_bytes(len(data), "big")


class Sender:
    """Makes frames of sessions, right and wrong ones."""

    def __init__(self):
        self.sent: list[bytes] = []

    def frame(self, number: int, sessions: list[Session]):
        session = random.choice(sessions)
        data = plain(number, session)
        whole = len(data) >= 18 and len(data) >= 32 + int.from_bytes(data[16:18], "big")
        if not whole:
            return data
        how = random.choice(["right"] * 8 + ["untagged", "key", "boot", "to_host", "changed", "again", "ahead", "behind",
                                             "zero", "other", "bad", "trailed"])
        match how:
            case "untagged":
                return data
            case "key":
                return session.tagged(data, key=random.randbytes(16))
            case "boot":
                return session.tagged(data, boot=session.boot ^ 1 << random.randrange(32))
            case "to_host":
                return session.tagged(data, to_host=True)
            case "changed":
                return changed(session.tagged(data))
            case "again" if self.sent:
                return random.choice(self.sent[-300:])
            case "ahead":
                session.counter += random.choice([1, 2, 60, 63, 64, 65, 900, 1000, 1023, 1024, 1025, 5000, 1 << 40])
            case "behind":
                back = random.choice([0, 1, 2, 63, 64, 65, 500, 1000, 1022, 1023, 1024, 1025, 3000])
                return session.tagged(data, max(0, session.counter - back))
            case "zero":
                return session.tagged(data, 0)
            case "other":
                return session.tagged(data, key=random.choice(sessions).key)
            case "bad":
                return session.tagged(data), True
            case "trailed":
                return session.tagged(data) + random.randbytes(random.randint(1, 20))
        self.sent.append(session.tagged(data))
        return self.sent[-1]


@cocotb.test()
@cocotb.parametrize(pause=["never", "ragged"])
async def frames_of_any_kind_are_taken_as_the_model_takes_them(dut, pause):
    """Sessions come and go; frames are right, forged, changed, repeated, late and of another session."""
    bench_ = Guarded(dut, ragged_rooms=True, firmware_delay=20)
    await bench_.begin_all()
    sender, number = Sender(), 0
    sessions = [Session(OWNER, 5, bench_.guard.boot, random.randbytes(16))]
    steps = [None, (OWNER, 5), (OTHER, 6), (OWNER, 5), (OWNER, 6), "end", (OTHER, 7), (STRANGER, 8), (OWNER, 5)]
    for step in steps:
        if step == "end":
            await bench_.end()
        elif step and step[0] != STRANGER:
            sessions = [*sessions[-2:], await bench_.claim(*step)]
        frames = []
        for _ in range(250):
            number += 1
            one = sender.frame(number, sessions)
            frames.append(one)
            if isinstance(one, tuple) and random.random() < 0.5:
                frames.append(one[0])  # Its check sequence was wrong: it is as new as before.
        await bench_.run(frames, pause)
    drops = [one.judgement.drop for one in bench_.all]
    for cause in EVENTS:
        assert drops.count(f"auth_{cause}") > 20, f"{cause}: too few to tell"
    assert drops.count(None) > len(drops) / 5
    await bench_.check()


@cocotb.test()
async def no_bit_of_a_frame_can_be_changed(dut):
    """Each bit of a write with a right tag, from the first address to the tag; the frame itself is taken afterwards."""
    bench_ = Guarded(dut)
    await bench_.begin_all()
    session = await bench_.claim(OWNER, 5)
    right = session.tagged(good("Input.Write", 2, random.randbytes(13), src=OWNER))
    # The trailer's first four bytes say under which generation a claim is; of other frames nobody reads them.
    bits = [bit for bit in range(8 * len(right)) if not 192 <= bit < 224]
    changes = [(int.from_bytes(right, "big") ^ 1 << bit).to_bytes(len(right), "big") for bit in bits]
    ended = await bench_.run([*changes, right, right])
    assert all(one.judgement.drop or one.name != "Input.Write" for one in ended[:-2])
    assert ended[-2].judgement.route == Route.WRITE and ended[-1].judgement.drop == "auth_replay"
    await bench_.check()


@cocotb.test()
async def counters_are_good_once_in_a_window_of_1024(dut):
    bench_ = Guarded(dut)
    await bench_.begin_all()
    session = await bench_.claim(OWNER, 5)
    counters, newest = [], 0
    for _ in range(400):
        step = random.choice([1, 1, 1, 2, 30, 64, 65, 200, 961, 1000, 1022, 1023, 1024, 1025, 1088, 4000])
        newest += step
        counters += [newest, *(max(0, newest - random.choice([0, 1, 5, 63, 64, 960, 1000, 1022, 1023, 1024, 1025]))
                               for _ in range(2))]
    frame = good("Session.Ping", 2, src=OWNER)
    ended = await bench_.run([session.tagged(frame, counter) for counter in counters])
    taken = sum(one.judgement.drop is None for one in ended)
    assert 400 <= taken < len(counters) - 100
    await bench_.check()


@cocotb.test()
async def frames_of_every_length_are_taken(dut):
    """Up to the longest of any network; a longer one is cut off, and those behind it are whole."""
    bench_ = Guarded(dut)
    await bench_.begin_all()
    session = await bench_.claim(OWNER, 5)
    lengths = [*range(0, 80), 1407, 1408, 1409, 1472, *(random.randint(1480, 8896) for _ in range(3)), 8896]
    frames = [session.tagged(good("Input.Write", 2 * n, random.randbytes(length), src=OWNER))
              for n, length in enumerate(lengths)]
    ended = await bench_.run(frames)
    assert all(one.judgement.drop is None for one in ended)
    await bench_.check()


@cocotb.test()
@cocotb.parametrize(length=[64, 1408, 8896])
async def a_key_is_taken_while_frames_wait_for_the_firmware(dut, length):
    """More frames with tags than have room, behind a claim at which the firmware works: it waits for its key meanwhile, and
    they for it."""
    bench_ = Guarded(dut)
    bench_.firmware_least = bench_.firmware_delay = 6000
    await bench_.begin_all()
    session = await bench_.claim(OWNER, 5)
    frames = {64: 24, 1408: 14, 8896: 4}[length]
    writes = [good("Input.Write", 2 * n, random.randbytes(length), src=OWNER) for n in range(frames)]
    tagged = [session.tagged(one, key=random.choice([session.key, random.randbytes(16)])) for one in writes]

    async def put():
        for _ in range(3500):
            await RisingEdge(dut.clk_net_i)
        assert bench_.ended == 1 and not bench_.finished, "the firmware is at the claim, and frames wait"
        await with_timeout(bench_.put_key(1 - bench_.newer, random.randbytes(16)), 500 * PERIOD_NS, "ns")

    putting = cocotb.start_soon(put())
    await bench_.run([good("Session.Claim", 1, src=OWNER), *tagged])
    assert putting.done()
    await bench_.check()


@cocotb.test()
async def how_long_a_frame_waits(dut):
    """From a frame's last word on the wire to its first word of payload and to its end on the receive stream, with nothing
    before it; and how often frames of one length can come."""
    bench_ = Guarded(dut)
    await bench_.begin_all()
    session = await bench_.claim(OWNER, 5)
    begins: list[int] = []
    payloads: list[int] = []
    ends: list[int] = []
    cycle = 0

    async def watch():
        nonlocal cycle
        while True:
            await RisingEdge(dut.clk_net_i)
            cycle += 1
            if dut.first_o.value and dut.word_o.value:
                begins.append(cycle)
            if dut.payload_o.value:
                payloads.append(cycle)
            if dut.done_o.value:
                ends.append(cycle)

    async def watch_busy():
        idle = 0
        while True:
            await RisingEdge(dut.clk_net_i)
            inside = bench_.ended < sum(bool(one.sent_at) for one in bench_.expected)
            idle = 0 if dut.busy_o.value or not inside else idle + 1
            # In the receive FIFO a word does not show for two cycles.
            assert idle < 3, "a frame is inside"

    cocotb.start_soon(watch())
    cocotb.start_soon(watch_busy())
    is_quick = dut.PerCycle.value.to_unsigned() == 3
    for kind, length, waits in (("Exec.Launch", 64, 10), ("Input.Write", 64, 11), ("Input.Write", 1408, 11)):
        frames = [session.tagged(good(kind, 2 * n, random.randbytes(length), src=OWNER)) for n in range(1, 40)]
        payloads.clear()
        ends.clear()
        start = cycle
        await bench_.run(frames[:1])
        last = start + -(-len(frames[0]) // 8)
        waited, ended = payloads[0] - last, ends[0] - last
        told = (kind, len(frames[0]), waited, ended)
        dut._log.info("%s, %d bytes: its payload begins %d cycles after its last word came, its end is %d after it", *told)
        assert ended == waited + length // 8 - 1
        assert not is_quick or waited <= waits
        if kind == "Exec.Launch":
            continue  # Each waits for the firmware.
        begins.clear()
        await bench_.run(frames[1:12])
        step = (begins[-1] - begins[3]) / (len(begins) - 4)
        # Check sequence, preamble and gap take time as well.
        wire = (len(frames[0]) + 24) / 8
        dut._log.info("%s, %d bytes: one in %.1f cycles, the wire brings one in %.1f", kind, len(frames[0]), step, wire)
        assert not is_quick or step <= wire
    await bench_.check()


@pytest.mark.parametrize("per_cycle", [3, 1])
def test_rl_auth_rx(per_cycle):
    sources = [*rtl("common", "shell", "auth"), Path(__file__).with_name("receive_bench.sv")]
    bench("receive_bench", sources, __name__, {"Keys": 1, "PerCycle": per_cycle})
