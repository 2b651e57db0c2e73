"""rl_transport does what its twin does: the same events, one at a time, give the same segments, payloads and losses.

The twin is `Connection` of crates/core/transport in go-back-N mode. The other end of each link is another one, behind a
network that loses, repeats and reorders; now and then a segment is a forgery. `TRANSPORT_SEEDS` says how many seeds
run.
"""

import dataclasses
import os
import random
from pathlib import Path

import cocotb
import golden
from cocotb.clock import Clock
from cocotb.triggers import Timer
from runner import bench

HERE = Path(__file__).parent
SEEDS = int(os.environ.get("TRANSPORT_SEEDS", "50"))
FIRST_SEED = int(os.environ.get("COCOTB_RANDOM_SEED", "1"))
STEPS = 400
TICK_NS = 1000
PEERS = 2
# The fields of segment_t from the lowest bit on, with their widths.
FIELDS = [("limit", 32), ("ack", 32), ("dst", 32), ("src", 32), ("seq", 32), ("asks", 1), ("kind", 2)]
SEGMENT_W = sum(width for _, width in FIELDS)
DATA, ACK, NACK, UNACK = range(4)


def packed(segment):
    """A segment of the twin as segment_t."""
    kind = DATA if segment.has_payload else NACK if segment.is_nack else UNACK if segment.asks else ACK
    values = dataclasses.asdict(segment) | {"kind": kind}
    bits = at = 0
    for name, width in FIELDS:
        bits |= int(values[name]) << at
        at += width
    return bits


def unpacked(bits, payload):
    """A segment of the gateware as one of the twin."""
    values = {}
    for name, width in FIELDS:
        values[name] = bits & (1 << width) - 1
        bits >>= width
    kind = values.pop("kind")
    assert (kind == UNACK) == (kind != DATA and values["asks"] == 1)
    if values["dst"] == 0:
        values["ack"] = values["limit"] = 0
    data = kind == DATA
    return golden.Segment(
        **values | {"asks": bool(values["asks"]), "is_nack": kind == NACK, "has_payload": data},
        payload=payload if data else 0,
    )


class Link:
    """The twin of one of the gateware's connections, the other end, and what is on its way between."""

    def __init__(self, draw, values, epoch):
        self.draw, self.values = draw, values
        self.other_epoch = draw.randrange(1, 1 << 30)
        self.renew(0, epoch)
        self.other = self.end(0, self.other_epoch)
        self.to_other, self.to_twin = [], []
        self.owed = self.other_owed = 0

    def end(self, now, epoch):
        return golden.Connection(now, golden.ConnectionConfig(**self.values, queue_max=1000, epoch=epoch))

    def renew(self, now, epoch):
        """Our end begins anew."""
        self.twin, self.owed = self.end(now, epoch), 0

    def run_other(self, now):
        """The other end: it gets some of what is on its way, and says what it has to."""
        draw, other = self.draw, self.other
        if draw.random() < 0.01:
            self.other_epoch += 1
            self.other, self.other_owed = self.end(now, self.other_epoch), 0
            other = self.other
        if draw.random() < 0.3:
            other.push(draw.getrandbits(64))
        if self.other_owed and draw.random() < 0.5:
            other.consume(now, self.other_owed)
            self.other_owed = 0
        while self.to_other and draw.random() < 0.8:
            segment = self.to_other.pop(draw.randrange(min(3, len(self.to_other))))
            if draw.random() < 0.1:
                self.to_other.append(segment)
            if draw.random() < 0.85:
                other.handle(now, segment)
        for kind, _ in other.events():
            if kind == golden.EventKind.DELIVERED:
                self.other_owed += 1
            elif kind == golden.EventKind.RESTARTED:
                self.other_owed = 0
        other.timeout(now)
        while segment := other.poll(now):
            self.to_twin.append(segment)

    def arrival(self):
        """A segment that comes to our end now, if there is one."""
        draw = self.draw
        if not self.to_twin:
            return None
        segment = self.to_twin.pop(draw.randrange(min(3, len(self.to_twin))))
        if draw.random() < 0.1:
            self.to_twin.append(segment)
        if draw.random() < 0.15:
            return None
        if draw.random() < 0.05:
            name = draw.choice(["src", "dst", "seq", "ack", "limit"])
            value = draw.choice([0, getattr(segment, name) + draw.randrange(-9, 10), draw.getrandbits(32)])
            segment = dataclasses.replace(segment, **{name: value % (1 << 32)})
        return segment


class Twins:
    """The gateware beside its twins."""

    def __init__(self, dut, seed):
        self.dut, self.draw = dut, random.Random(seed)
        draw = self.draw
        self.rto, self.ack_delay = draw.choice([4, 8, 20]), draw.choice([0, 1, 3])
        slots = dut.Slots.value.to_unsigned()
        self.values = {
            "first": draw.choice([1, 0, (1 << 32) - draw.randrange(1, 20), 1 << 31]),
            "window": draw.choice([1, 2, 5, slots]),
            "credit": draw.choice([1, 3, 8, 1000]),
            "ack_every": draw.choice([1, 2, 4]),
            "rto_ns": self.rto * TICK_NS,
            "ack_delay_ns": self.ack_delay * TICK_NS,
            "asks_seldom": seed % 2,
        }
        self.epoch = draw.choice([1, (1 << 32) - 2, draw.randrange(1, 1 << 30)])
        self.ticks = 0
        self.links = [Link(draw, self.values, self.epoch) for _ in range(PEERS)]
        self.compared = 0

    @property
    def now(self):
        return self.ticks * TICK_NS

    async def start(self):
        dut = self.dut
        for name in ("rst_ni", "push_i", "rx_i", "consume_i", "reset_i", "tick_i", "peer_i", "clear_i"):
            getattr(dut, name).value = 0
        for name in ("first", "window", "credit", "ack_every", "asks_seldom"):
            getattr(dut, f"{name}_i").value = self.values[name]
        dut.epoch_i.value, dut.rto_i.value, dut.ack_delay_i.value = self.epoch, self.rto, self.ack_delay
        await Timer(8, "ns")
        dut.rst_ni.value = 1
        # All blocks have to be free, and all connections set up.
        await Timer(100, "ns")

    async def give(self, event, peer, **values):
        """An event, and all that comes of it."""
        dut = self.dut
        dut.peer_i.value = peer
        for name, value in values.items():
            getattr(dut, f"{name}_i").value = value
        for name in (event, "clear"):
            port = getattr(dut, f"{name}_i")
            port.value = 1 - int(port.value)
        before = None
        while before != (before := dut.sent_count_o.value.to_unsigned()) or dut.busy_o.value:
            await Timer(200, "ns")

    def check(self, peer, what):
        """What came of an event for a peer, of the gateware and of the twin; None: of a tick, for all."""
        dut = self.dut
        kept = dut.sent_o.value.to_unsigned()
        width = 1 + SEGMENT_W + 64
        sent = [[] for _ in range(PEERS)]
        for i in range(dut.sent_count_o.value.to_unsigned()):
            word = kept >> i * width & (1 << width) - 1
            segment = unpacked(word >> 64 & (1 << SEGMENT_W) - 1, word & (1 << 64) - 1)
            sent[word >> 64 + SEGMENT_W].append(segment)
        for number, link in enumerate(self.links):
            expected = []
            while segment := link.twin.poll(self.now):
                expected.append(segment)
            assert sent[number] == expected, f"{what}, peer {number}"
            link.to_other += expected
            self.compared += len(expected)
        if peer is None:
            return
        link, given, lost, restarted = self.links[peer], [], 0, 0
        for kind, payload in link.twin.events():
            if kind == golden.EventKind.DELIVERED:
                given.append(payload)
            restarted += kind == golden.EventKind.RESTARTED
            lost += kind == golden.EventKind.LOST
        values = dut.given_o.value.to_unsigned()
        assert dut.foreign_o.value == 0
        count = dut.given_count_o.value.to_unsigned()
        assert [values >> 64 * i & (1 << 64) - 1 for i in range(count)] == given, what
        if what != "reset":
            assert dut.restarted_o.value.to_unsigned() == restarted, what
            assert dut.lost_o.value.to_unsigned() == lost, what
        link.owed = len(given) + (0 if restarted else link.owed)

    async def step(self):
        """One event."""
        draw, dut = self.draw, self.dut
        peer = draw.randrange(PEERS)
        link = self.links[peer]
        link.run_other(self.now)
        what = draw.choices(["push", "rx", "consume", "tick", "reset"], [30, 40, 10, 20, 0.5])[0]
        if what == "push":
            dut.peer_i.value = peer
            await Timer(4, "ns")
            if not dut.room_o.value:
                return
            payload = draw.getrandbits(64)
            assert link.twin.push(payload)
            await self.give("push", peer, payload=payload)
        elif what == "rx":
            segment = link.arrival()
            if segment is None:
                return
            taken = link.twin.handle(self.now, segment)
            await self.give("rx", peer, segment=packed(segment), payload=segment.payload)
            assert dut.broken_o.value.to_unsigned() == (not taken), segment
        elif what == "consume":
            # Of a life that has ended it may come too late: the twin's owner knows better, and the gateware ignores it.
            if link.owed:
                link.twin.consume(self.now, link.owed)
            count, link.owed = link.owed or draw.randrange(1, 9), 0
            await self.give("consume", peer, count=count)
        elif what == "reset":
            self.epoch = (self.epoch + 1) % (1 << 32) or 1
            link.renew(self.now, self.epoch)
            await self.give("reset", peer, reset_epoch=self.epoch)
        else:
            self.ticks += 1
            for link in self.links:
                link.twin.timeout(self.now)
            await self.give("tick", peer)
        self.check(None if what == "tick" else peer, what)


@cocotb.test()
async def the_same_events_give_the_same_segments(dut):
    Clock(dut.clk_i, 2, "ns").start()
    compared = 0
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
        twins = Twins(dut, seed)
        await twins.start()
        for step in range(STEPS):
            try:
                await twins.step()
            except AssertionError as wrong:
                raise AssertionError(f"seed {seed}, step {step}: {wrong}") from wrong
        compared += twins.compared
    dut._log.info(f"{SEEDS} seeds: {compared} segments as the twin's")
    assert compared > 10 * SEEDS


@cocotb.test()
async def ends_at_odds_are_not_answered_for_ever(dut):
    """Segments of other lives, of each kind: four answers at once, then one in each timeout, and again four later."""
    Clock(dut.clk_i, 2, "ns").start()
    for dst, src in ((0, 3), (0, 9), (1, 2)):  # Of an earlier life of the peer's; or to none, or another of ours.
        twins = Twins(dut, seed=1)
        await twins.start()
        link, values = twins.links[0], {"ack": 0, "limit": 0}

        async def answers(src, dst, twins=twins, link=link, values=values):
            segment = golden.Segment(src=src, dst=dst, **values)
            link.twin.handle(twins.now, segment)
            await twins.give("rx", 0, segment=packed(segment), payload=0)
            count = dut.sent_count_o.value.to_unsigned()
            twins.check(0, "rx")
            return count

        # The peer's life is 7 from now on, and ours the present one.
        assert await answers(7, twins.epoch) == 1
        foreign = (src, twins.epoch if src == 3 else dst)
        for _ in range(2):
            assert [await answers(*foreign) for _ in range(7)] == [1] * 4 + [0] * 3
            for _ in range(3):
                for _ in range(twins.rto):
                    twins.ticks += 1
                    for each in twins.links:
                        each.twin.timeout(twins.now)
                    await twins.give("tick", 0)
                    twins.check(None, "tick")
                assert [await answers(*foreign) for _ in range(3)] == [1, 0, 0]
            # A segment of the present lives.
            assert await answers(7, twins.epoch) == 0


def test_rl_transport_twin():
    bench("transport_twin_tb", [HERE / "transport_twin_tb.sv"], __name__)
