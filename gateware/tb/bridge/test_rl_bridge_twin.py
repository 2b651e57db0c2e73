"""rl_bridge against its twin, `Endpoint` of crates/core/bridge: the same requests get the same answers, of the same order,
count the same, and leave the same memory. `BRIDGE_SEEDS` says how many seeds run, 6 by default."""

import os
import random
from pathlib import Path

import cocotb
import golden
import pytest
from bridge_bench import (
    ANY, ATOMIC, ATOMIC_REQUEST, BATCH, READ, READ_REQUEST, STREAM, WRITE, WRITE_REQUEST, Bench, Head, record,
)
from runner import bench

HERE = Path(__file__).parent
SEEDS = int(os.environ.get("BRIDGE_SEEDS", "6"))
FIRST = int(os.environ.get("COCOTB_RANDOM_SEED", "1"))
NUMBERED = {1, 2, 3, 4, 5, 9, 10}
ASKS, UNACK = 1, 8


def mac(node):
    return 0x02_52_4C_00_00_00 + node if node != ANY else 0


class Peer:
    """Node 2, as the twin sees it over a network that loses nothing."""

    def __init__(self, endpoint, here):
        self.endpoint, self.here, self.epoch, self.theirs = endpoint, here, 0x3000, 0
        self.next_out, self.next_in, self.answers = 1, 1, []
        self._say(golden.BridgeHead(mac(here), mac(2), UNACK, flags=ASKS, src_epoch=self.epoch))
        assert self.theirs, "it does not speak to us"

    def _say(self, head, payload=b""):
        for said in self.endpoint.exchange(head.frame(payload)):
            head, payload = golden.bridge_parse(said)
            self.theirs = head.src_epoch
            if head.kind in NUMBERED:
                assert head.seq == self.next_in
                self.next_in += 1
                self.answers.append((Head(head.kind, head.id, head.addr, head.count, head.tag), payload))

    def ask(self, head, payload):
        number, self.next_out = self.next_out, self.next_out + 1
        self._say(golden.BridgeHead(
            mac(self.here), mac(2), head.kind, id=head.id, seq=number, src_epoch=self.epoch, dst_epoch=self.theirs,
            ack=self.next_in, limit=self.next_in + 256, addr=head.addr, count=head.count, tag=head.tag), payload)


class Requests:
    """Requests of all kinds, many of them at the edges of windows, and some that make no sense."""

    def __init__(self, draw, memory, longest):
        self.draw, self.memory, self.longest, self.id = draw, memory, longest, draw.randrange(1 << 16)
        self.windows = []
        for _ in range(6):
            base = draw.randrange(memory - 1)
            length = draw.randrange(1, min(draw.choice([8, 100, memory]), memory - base) + 1)
            every = READ | WRITE | ATOMIC
            rights = draw.choice([READ, WRITE, ATOMIC, READ | WRITE, every, every, STREAM, 0])
            self.windows.append((base, length, rights, draw.choice([ANY, 2, 2, 2, 0])))
        # It has to be let in.
        self.windows.append((draw.randrange(memory // 2), memory // 2, READ | WRITE | ATOMIC, 2))

    def place(self, length):
        """An address for so many bytes."""
        draw = self.draw
        base, size, _, _ = draw.choice(self.windows)
        at = draw.choice([base, base + max(size - length, 0), base + draw.randrange(size)])
        at += draw.choice([0, 0, 0, 0, 1, -1, draw.randrange(-3, 4)])
        if draw.random() < 0.03:
            at = draw.choice([(1 << 64) - 1, (1 << 64) - length, 1 << 63, at + (1 << 41)])
        return at % (1 << 64)

    def length(self, most):
        return min(self.draw.choice([1, 2, 8, 9, 64, 65, self.draw.randrange(1, most + 1), most]), most)

    def batch(self):
        draw, payload = self.draw, b""
        # Half of them are wholly permitted, so that nothing but what is wrong with them is in their way.
        base, room, _, _ = self.windows[-1]
        permitted = draw.random() < 0.5
        for _ in range(draw.randrange(1, 7)):
            size = self.length(60)
            at = base + draw.randrange(room - size) if permitted else self.place(size)
            payload += record(at, draw.randbytes(size))
        if draw.random() < 0.3:
            payload = draw.choice([payload[:-1], payload[:-8], payload[:16], payload + bytes(8), bytes(16), b"", payload + bytes(16)])
        return payload[: self.longest]

    def next(self):
        draw = self.draw
        self.id = (self.id + draw.choice([1, 1, 0, 77])) % (1 << 16)
        kind = draw.choice([READ_REQUEST] * 3 + [WRITE_REQUEST] * 4 + [ATOMIC_REQUEST, ATOMIC_REQUEST, BATCH])
        odd = draw.random() < 0.06
        if kind == READ_REQUEST:
            count = self.length(self.longest)
            if odd:
                count = draw.choice([0, self.longest + 1, 1 << 16 | 1, (1 << 32) - 1])
            return Head(kind, self.id, self.place(count), count), b"x" if odd and draw.random() < 0.3 else b""
        if kind == WRITE_REQUEST:
            count = 0 if odd else self.length(draw.choice([64, self.longest, 2 * self.longest]))
            return Head(kind, self.id, self.place(count)), draw.randbytes(count)
        if kind == ATOMIC_REQUEST:
            at = self.place(8) & ~(0 if draw.random() < 0.1 else 7)
            operand = draw.choice([draw.getrandbits(64), 0, 1, (1 << 64) - 1])
            payload = operand.to_bytes(8, "big") + draw.choice([bytes(8), b"\xff" * 8, draw.randbytes(8)])
            tag = draw.choice([0, 3, 257]) if odd else draw.choice([1, 2])
            return Head(kind, self.id, at, tag=tag), payload[: draw.choice([16] * 9 + [8])]
        return Head(kind, self.id, draw.getrandbits(64)), self.batch()


@cocotb.test()
async def the_same_requests_get_the_same_answers(dut):
    b = Bench(dut)
    await b.start(latency=7, pause=30)
    statuses = {}
    for seed in range(FIRST, FIRST + SEEDS):
        draw = random.Random(seed)
        requests = Requests(draw, b.memory, b.longest)
        here, before = seed % 2, b.events(seed % 2)
        mirror = bytes(await b.fill(here, seed))
        twin = golden.Endpoint(mac(here), b.longest, 0x77, mirror)
        for index, (base, length, rights, peer) in enumerate(requests.windows):
            await b.window(here, index, base, length, rights, peer)
            twin.window(index, base, length, mac(peer), rights)
        peer, asked = Peer(twin, here), []
        for _ in range(12):
            fails = draw.random() < 0.1
            dut.fails_i.value = fails << here
            twin.fails(fails)
            for _ in range(draw.randrange(1, 12)):
                head, payload = requests.next()
                asked.append((head, len(payload)))
                peer.ask(head, payload)
                await b.tell(here, head, payload)
            for head, payload in peer.answers:
                _, got, data = await b.answer()
                got = Head(got.kind, got.id, got.addr, got.count, got.tag)
                assert (got, data) == (head, payload), f"seed {seed}: {got} {data[:16].hex()}, and the twin {head} {payload[:16].hex()}"
                statuses[head.kind, head.tag] = statuses.get((head.kind, head.tag), 0) + 1
            peer.answers.clear()
        assert await b.peek(here, 0, b.memory) == twin.memory(), f"seed {seed}: memories differ"
        counted = {name: value - before[name] for name, value in b.events(here).items()}
        assert counted == twin.counters(), f"seed {seed}: {counted}, and the twin {twin.counters()}"
        b.check()
    dut._log.info(f"{SEEDS} seeds: {statuses}")
    print(f"answers by kind and status: {dict(sorted(statuses.items()))}")
    if SEEDS >= 6:
        assert len(statuses) >= 10, statuses


@pytest.mark.parametrize("width,longest", [(64, 1024), (512, 4096)])
def test_rl_bridge_twin(width, longest):
    parameters = {"DataW": width, "Longest": longest, "MemoryWords": (32 << 10) * 8 // width, "TickW": 6}
    bench("rl_bridge_tb", HERE.glob("*.sv"), __name__, parameters | {"TakeWords": 64 * longest * 8 // width})
