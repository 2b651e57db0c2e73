"""A card of gateware with keys as a whole, firmware and all, beside the model's guard: each frame that it sends is byte for
byte what the model sends, and forged and repeated frames of each kind have no effect."""

import random
import struct
from dataclasses import replace

import cocotb
import golden
from cocotb.triggers import RisingEdge, Timer
from frames import MINE, build, good
from golden import Card
from golden_guard import TRAILER, Guard, Session
from runner import bench
from whole_card import PERIOD_NS, WholeCard
from wire import CONST, CONTROL, ENUM, FLAG, KINDS, NAMES, Frame, mac, number

HOST = 0x0102
OWNER = mac("06:01:02:00:08:08")
GROUP = 0x2222
CHUNK = 1408
VADD = 1
BOUND = 100_000  # Cycles: 0.64 ms.
HOSTS = [(HOST, 0, None), *((n, 1, 0) for n in range(0x2000, 0x203F))]  # As many as there is room for.


def plain(raw: bytes) -> bytes:
    """The frame without its tag."""
    if raw[14] & FLAG.AUTH:
        raw = raw[:14] + bytes([raw[14] & ~FLAG.AUTH]) + raw[15 : -TRAILER.size]
    return raw.ljust(CONST.FRAME_MIN, b"\0")


class Rack:
    """The card, the model beside it, and the host."""

    def __init__(self, dut):
        self.key, self.boot = random.randbytes(16), random.getrandbits(32)
        self.guard = Guard(self.key, HOST, self.boot)
        self.card = WholeCard(dut, MINE, self.boot, [(self.key, 0)], HOSTS)
        pair = golden.mac(self.key, struct.pack("<BQI", 2, HOST, 0), derive=True)
        self.claims = golden.mac(pair, b"\3", derive=True)
        self.counter = 1 << 40
        self.session: Session | None = None
        self.judged = Card(mac=MINE, owner=OWNER, memory=8 << 20, epoch=0, claim_group=0x1111, load_group=0,
                           claimed=False, loading=False)
        self.dropped: list[str | None] = []  # What the model drops of the last frames.
        self.drops = dict.fromkeys(("auth_untagged", "auth_unknown", "auth_wrong", "auth_replay"), 0)

    def by_claims(self, kind: str, payload: bytes, epoch: int = 0, *, key: bytes | None = None) -> bytes:
        self.counter += 1
        frame = build(kind, 1, payload, dst=MINE, src=OWNER, epoch=epoch, flags=FLAG.AUTH, addr=0)
        frame = frame[: CONST.HEADER_END + len(payload)]
        made = golden.tag(key or self.claims, frame, boot=self.boot, to_host=False, counter=self.counter)
        return frame + TRAILER.pack(0, self.counter, made)

    async def exchange(self, *frames: bytes) -> list[Frame]:
        """What the card says to these, announcements aside. All is compared with what the model's guard makes of it."""
        self.card.said_at.clear()
        self.dropped = [self.guard.judge(self.judged, frame)[0].drop for frame in frames]
        for frame, drop in zip(frames, self.dropped, strict=True):
            self.card.send(frame)
            if drop in self.drops:
                self.drops[drop] += 1
        await self.card.settle()
        said = []
        while self.card.sent:
            raw = self.card.sent.popleft()
            frame = Frame.parse(plain(raw))
            if frame.kind == KINDS["Session.Grant"].number:
                theirs, ours = number(frame.payload[:8]), number(frame.payload[16:24])
                self.session = self.guard.begin(MINE, OWNER, frame.epoch, theirs, ours)
                self.judged = replace(self.judged, claimed=True, epoch=frame.epoch)
            assert raw == self.guard.seal(plain(raw)), f"{NAMES[frame.kind]}: {raw.hex()}"
            if frame.kind != KINDS["Discovery.Announce"].number:
                said.append(frame)
        return said

    async def until_sent(self, kind: str, limit: int) -> Frame:
        """The next frame of this kind, within so many cycles."""
        return Frame.parse(plain(await self.until_raw(kind, limit)))

    async def until_raw(self, kind: str, limit: int) -> bytes:
        """The same as it came, with its tag."""
        for _ in range(limit):
            await RisingEdge(self.card.dut.clk_net_i)
            while self.card.sent:
                raw = self.card.sent.popleft()
                if Frame.parse(plain(raw)).kind == KINDS[kind].number:
                    return raw
        raise AssertionError(f"no {kind} within {limit} cycles")

    async def forged(self, data: bytes) -> None:
        """This frame without a tag, by another key, changed in a bit, and after it was sent."""
        session = self.session
        right = session.tagged(data)
        bent = bytes(byte ^ (n == 23) for n, byte in enumerate(right))  # Its number is another one.
        for wrong in (data, session.tagged(data, key=random.randbytes(16)), bent):
            assert not await self.exchange(wrong) and self.dropped[0] in self.drops
        session.counter -= 1  # That of `right` is still good.


@cocotb.test()
async def claims_writes_launches_and_results_and_forged_ones(dut):
    rack = Rack(dut)
    card = rack.card
    await card.start()
    while not card.sent:  # Until it says that it is there.
        await RisingEdge(dut.clk_net_i)
    await rack.exchange()
    kind = lambda name: KINDS[name].number  # noqa: E731

    # -- a claim
    claim = struct.pack(">QIHBB", 77, 60_000, 0x1111, 0, 22)
    untagged = build("Session.Claim", 1, claim, dst=MINE, src=OWNER, epoch=0, flags=0, addr=0)
    [no] = await rack.exchange(untagged)
    assert (no.kind, no.code) == (kind("Session.Refuse"), ENUM["ErrorCode"]["KeyNeeded"])
    began = card.cycle
    [no] = await rack.exchange(rack.by_claims("Session.Claim", claim, key=random.randbytes(16)))
    dut._log.info("a forged claim is refused after %d cycles", card.said_at[0] - began)
    assert (no.code, no.detail) == (ENUM["ErrorCode"]["StaleBoot"], rack.boot)
    right = rack.by_claims("Session.Claim", claim)
    began = card.cycle
    [grant] = await rack.exchange(right)
    dut._log.info("a claim is granted after %d cycles", card.said_at[0] - began)
    assert grant.kind == kind("Session.Grant") and grant.dst == OWNER
    assert not await rack.exchange(right), "a replay"
    rack.drops |= {"auth_untagged": 1, "auth_wrong": 1, "auth_replay": 1}  # Those of claims are the firmware's.
    session, epoch = rack.session, {"src": OWNER, "epoch": grant.epoch}

    # -- writes
    a, b, c = (CONST.ROLE_PRIVATE + 0x1000 * n for n in range(3))
    left, right_side = ([float(random.randrange(1000)) for _ in range(16)] for _ in range(2))
    for seq, (at, values) in enumerate(((a, left), (b, right_side)), 1):
        data = struct.pack("<16f", *values)
        write = good("Input.Write", seq, data, **epoch, addr=at, flags=FLAG.ACK_NOW)
        await rack.forged(write)
        assert card.read_bytes(at, 64) == bytes(64), "nothing of a forged write is in memory"
        tagged = session.tagged(write)
        [ack] = await rack.exchange(tagged)
        assert (ack.kind, ack.seq) == (kind("InputConfirm.WriteAck"), seq + 1)
        assert card.read_bytes(at, 64) == data
        assert not await rack.exchange(tagged) and rack.dropped == ["auth_replay"]

    # -- an image
    part = golden.rtl_part(VADD, [4], 100_000, 112)
    image = golden.image({"rtl": part}, b'{"name":"vadd"}')
    begin = struct.pack(">QHHI", len(image), CHUNK, GROUP, 1) + golden.digest(image)
    load = good("Image.Begin", 3, begin, **epoch)
    await rack.forged(load)
    [ready] = await rack.exchange(session.tagged(load))
    assert ready.kind == kind("ImageConfirm.Ready")
    chunks = [good("Image.Data", 0, image[at : at + CHUNK], dst=MINE, src=OWNER, epoch=GROUP, addr=at)
              for at in range(0, len(image), CHUNK)]
    staged = await rack.exchange(*chunks)
    assert [one.kind for one in staged] == [kind("ImageConfirm.Staged")]
    commit = good("Image.Commit", 4, b"", dst=MINE, src=OWNER, epoch=GROUP)
    rack.judged = replace(rack.judged, loading=True, load_group=GROUP)
    await rack.forged(commit)
    active = await rack.exchange(session.tagged(commit))
    assert active[-1].kind == kind("ImageConfirm.Active")
    rack.judged = replace(rack.judged, loading=False)

    # -- a launch and its result
    args = b"".join(value.to_bytes(8, "big") for value in (a, b, c, 16))
    body = struct.pack(">QQQIHH", 0, c, 64, 0, 16, 4) + args
    launch = good("Exec.Launch", 1, body, **epoch, addr=0)
    await rack.forged(launch)
    assert card.starts == 0, "nothing of a forged launch begins"
    tagged = session.tagged(launch)
    began = card.cycle
    said = await rack.exchange(tagged)
    assert card.starts > 0
    waited = card.started_at - began - -(-len(tagged) // 8)
    dut._log.info("a kernel starts %d cycles after its launch's last word of %d bytes", waited, len(tagged))
    assert waited <= 24
    results = [one for one in said if one.kind == kind("Result.Data")]
    assert b"".join(one.payload for one in results) == struct.pack("<16f", *(x + y for x, y in zip(left, right_side)))
    assert kind("Result.Done") in [one.kind for one in said]
    starts = card.starts
    await rack.exchange(tagged)
    assert card.starts == starts and rack.dropped == ["auth_replay"]

    # -- a release
    for _ in range(2):
        assert not await rack.exchange(rack.by_claims("Session.Release", bytes(8), grant.epoch, key=random.randbytes(16)))
        rack.drops["auth_wrong"] += 1
    [released] = await rack.exchange(rack.by_claims("Session.Release", bytes(8), grant.epoch))
    assert released.kind == kind("Session.Released")

    # -- what it has counted
    first = CONTROL.counters["auth_untagged"]
    ask = build("Session.CountersGet", 9, b"", dst=MINE, src=OWNER, epoch=0, flags=0, addr=first)
    [told] = await rack.exchange(ask)
    assert [number(told.payload[at : at + 8]) for at in range(0, 32, 8)] == list(rack.drops.values())
    assert rack.drops["auth_wrong"] > 10


async def flood(rack: Rack, frames: list[bytes], apart: int) -> None:
    """One of these every so many cycles."""
    while True:
        rack.card.send(random.choice(frames))
        await Timer(apart * PERIOD_NS, "ns")


@cocotb.test()
async def a_flood_of_forged_claims_keeps_no_host_out(dut):
    """Claims and releases with wrong tags, under the host's address and others, 8 million a second at 156.25 MHz: 400
    times as many as keep a firmware busy that judges each. A host that has claimed before gets the card within BOUND,
    and rid of it."""
    rack = Rack(dut)
    card = rack.card
    await card.start()
    while not card.sent:
        await RisingEdge(dut.clk_net_i)
    await rack.exchange()

    def claim(nonce: int) -> bytes:
        return rack.by_claims("Session.Claim", struct.pack(">QIHBB", nonce, 60_000, 0x1111, 0, 22))

    [grant] = await rack.exchange(claim(1))
    [released] = await rack.exchange(rack.by_claims("Session.Release", bytes(8), grant.epoch))
    assert released.kind == KINDS["Session.Released"].number

    forged = []
    bodies = {"Session.Claim": struct.pack(">QIHBB", 5, 60_000, 0, 0, 22), "Session.Release": bytes(8)}
    for _ in range(40):
        for kind, body in bodies.items():
            frame = rack.by_claims(kind, body, grant.epoch, key=random.randbytes(16))
            # Hosts that it knows, each of whose keys it tries, and others.
            for number_of in (random.choice(HOSTS[1:])[0], random.getrandbits(16)):
                other = b"\6" + number_of.to_bytes(2, "big") + random.randbytes(3)
                forged += [frame, frame[:6] + other + frame[12:]]
    storm = cocotb.start_soon(flood(rack, forged, 20))
    for _ in range(10_000):
        await RisingEdge(dut.clk_net_i)
    waited = []
    for nonce in range(2, 5):
        card.sent.clear()
        began = card.cycle
        card.send(claim(nonce))
        grant = await rack.until_sent("Session.Grant", BOUND)
        waited.append(card.cycle - began)
        assert number(grant.payload[:8]) == nonce and grant.dst == OWNER
        card.send(rack.by_claims("Session.Release", bytes(8), grant.epoch))
        await rack.until_sent("Session.Released", BOUND)
    dut._log.info("in a flood of forged claims one is granted after %s cycles", waited)
    storm.cancel()
    await card.settle()
    card.sent.clear()  # Refusals of claims under other addresses.
    crowded = CONTROL.counters["drop_queue"]
    ask = build("Session.CountersGet", 9, b"", dst=MINE, src=OWNER, epoch=0, flags=0, addr=crowded)
    [told] = await rack.exchange(ask)
    assert number(told.payload[:8]) > 1000, "the flood came in, and counts"


@cocotb.test()
async def a_host_that_is_revoked_while_it_has_the_card_loses_it_and_hears_why(dut):
    rack = Rack(dut)
    card = rack.card
    await card.start()
    while not card.sent:
        await RisingEdge(dut.clk_net_i)
    await rack.exchange()
    claim = struct.pack(">QIHBB", 77, 60_000, 0x1111, 0, 22)
    [grant] = await rack.exchange(rack.by_claims("Session.Claim", claim))
    assert rack.session
    began = card.cycle
    await card.give([(rack.key, 0)], [(HOST, None, 0), *HOSTS[1:]])
    await card.until_keys_taken(BOUND)
    dut._log.info("its claim ends %d cycles after its key was revoked", card.cycle - began)
    # What it writes now has no effect, and is answered under its session's tag.
    at = CONST.ROLE_PRIVATE
    write = good("Input.Write", 1, bytes([7]) * 64, src=OWNER, epoch=grant.epoch, addr=at, flags=FLAG.ACK_NOW)
    card.send(rack.session.tagged(write))
    nak = await rack.until_sent("InputConfirm.Nak", BOUND)
    assert nak.code == ENUM["ErrorCode"]["StaleEpoch"] and card.read_bytes(at, 64) == bytes(64)
    card.send(rack.by_claims("Session.Claim", claim[:7] + b"\1" + claim[8:]))
    raw = await rack.until_raw("Session.Refuse", BOUND)
    _, counter, tag = TRAILER.unpack(raw[-TRAILER.size :])
    assert Frame.parse(plain(raw)).code == ENUM["ErrorCode"]["KeyRevoked"]
    assert tag == golden.tag(rack.claims, raw[: -TRAILER.size], boot=rack.boot, to_host=True, counter=counter)
    # The same key counts again if the store says so.
    await card.give([(rack.key, 0)], HOSTS)
    await card.until_keys_taken(BOUND)
    card.send(rack.by_claims("Session.Claim", claim[:7] + b"\2" + claim[8:]))
    assert (await rack.until_sent("Session.Grant", BOUND)).dst == OWNER


def test_whole_card():
    bench("rl_card_sim", [], __name__, {"Keys": 1})
