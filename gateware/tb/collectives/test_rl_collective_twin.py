"""A link of gateware beside the model's sequencer (crates/core/collective): its programs put and take, the gateware's
contexts take and put, over a cable that loses frames either way. And a neighbour that keeps to no rule.

`LINK_TWIN_SEEDS` says how many random runs there are, 3 by default.
"""

import os
import random
from pathlib import Path

import cocotb
import golden_link
from golden_link import Head, Sequencer
from link_bench import DATA_AT, DONE, EAGER, EARLY_AT, MACS, MISMATCH, PROTOCOL, SLOTS, Area, Cable, Ends, Key
from runner import bench, rtl

HERE = Path(__file__).parent
SEEDS = int(os.environ.get("LINK_TWIN_SEEDS", "3"))
CYCLE_NS = 8
DATA, READY, DONE_WORD, BEAT, FAILED, ACK, UNACK = 1, 2, 3, 4, 8, 5, 7
ASKS = 1
TWIN_MEMORY = 1 << 19


class Twins:
    """The gateware and the model at the two ends of a cable."""

    def __init__(self, dut, loss=0.0):
        self.ends, self.loss = Ends(dut), loss
        self.twin = Sequencer(MACS[1], random.randrange(1, 1 << 30), 1408, TWIN_MEMORY)
        self.programs = {}

    async def start(self, **how):
        # A tick of 1.28 us; the model sends again after 50 us or more, and the gateware after 77.
        await self.ends.start(twin=True, tick=160, rto=60, patience=4000, **how)
        self.cable = Cable(self.ends, self.goes_on)

    async def run(self, cycles):
        """Both go on."""
        await self.ends.cycles(cycles)

    def goes_on(self):
        """A cycle has passed."""
        cable, twin = self.cable, self.twin
        if cable.cycle % 400 == 0:
            twin.time(cable.cycle * CYCLE_NS)
            self.sends()
        for frame in cable.came:
            if random.random() >= self.loss:
                twin.handle(frame)
            self.sends()
        cable.came.clear()

    def sends(self):
        for _, frame in self.twin.says():
            if random.random() >= self.loss:
                self.cable.send(frame, bad=random.random() < self.loss / 2)

    async def until(self, what, limit=400000):
        for _ in range(0, limit, 200):
            self.programs |= self.twin.ended()
            if what():
                return
            await self.run(200)
        raise AssertionError("it does not end")


@cocotb.test()
@cocotb.parametrize(seed=list(range(SEEDS)))
async def gateware_and_model_move_each_others_messages(dut, seed):
    random.seed(seed)
    both = Twins(dut, loss=random.choice([0.0, 0.03, 0.1]))
    await both.start()
    ends, twin, area, twin_at = both.ends, both.twin, Area(), 1 << 16
    for n in range(4):
        moves, programs, wanted = [], [], []
        for slot in random.sample(range(SLOTS), 3):
            key = Key(random.getrandbits(16), n * 8 + slot, random.getrandbits(64))
            length = random.choice([0, 1, 64, random.randrange(3000), random.choice([64, EAGER, EAGER + 9])])
            data, at, to_twin = random.randbytes(length), area.place(length), random.random() < 0.5
            kind = "put" if to_twin else "take"
            command = (golden_link.take if to_twin else golden_link.put)(key.tag, twin_at, length)
            if to_twin:
                await ends.write(0, at, data)
            else:
                twin.write(twin_at, data)

            def begins(command=command, key=key):
                number = twin.start([command, golden_link.wait()], key.group, key.number, 1_000_000_000)
                programs.append(number)
                both.sends()

            early = random.random() < 0.4
            if early and not to_twin:
                begins()
                await both.run(random.choice([100, 600, 3000]))
            await ends.begin(kind, 0, slot, key, at, length)
            if not early or to_twin:
                await both.run(random.choice([0, 100, 2000]) if early else 0)
                begins()
            moves.append((kind, 0, slot))
            wanted.append((to_twin, at, twin_at, data))
            twin_at += length + 64
        await both.until(lambda: all(ends.ended(*m) is not None for m in moves) and set(programs) <= set(both.programs))
        assert [ends.ended(*move) for move in moves] == [DONE] * len(moves)
        assert [both.programs[number].cause for number in programs] == [0] * len(programs)
        for to_twin, at, there, data in wanted:
            got = twin.read(there, len(data)) if to_twin else await ends.read(0, at, len(data))
            wrong = [n for n in range(len(data)) if got[n] != data[n]]
            assert not wrong, f"of {len(data)} bytes to {'model' if to_twin else 'gateware'} {wrong[0]} to {wrong[-1]}"
    counts = twin.counts()
    assert counts["malformed"] == counts["stray"] == counts["dead"] == 0, counts
    assert ends.field("strays_o", 0) == ends.field("overs_o", 0) == 0
    await ends.healthy()


@cocotb.test()
async def the_models_failures_and_restarts_are_told(dut):
    both = Twins(dut)
    await both.start()
    ends, twin = both.ends, both.twin
    # Its program takes too long, and says that it has failed.
    await ends.begin("put", 0, 2, Key(1, 5, 6), DATA_AT, 40)
    number = twin.start([golden_link.take(9, 1 << 16, 40), golden_link.wait()], 6, 5, 200_000)
    both.sends()
    await both.until(lambda: number in both.programs)
    assert both.programs[number].cause == 1
    await both.run(2000)
    assert ends.field("failed_o", 0) == 1 and ends.ended("put", 0, 2) is None
    # It begins a new life.
    both.twin = Sequencer(MACS[1], (1 << 30) + 5, 1408, TWIN_MEMORY)
    both.twin.time(both.cable.cycle * CYCLE_NS)
    both.programs = {}
    number = both.twin.start([golden_link.take(7, 1 << 16, 40), golden_link.wait()], 6, 6, 10_000_000)
    both.sends()
    await both.until(lambda: ends.ended("put", 0, 2) is not None)
    assert ends.ended("put", 0, 2) == 3
    await ends.write(0, DATA_AT, bytes(range(40)))
    await ends.begin("put", 0, 2, Key(7, 6, 6), DATA_AT, 40)
    await both.until(lambda: number in both.programs and ends.ended("put", 0, 2) is not None)
    assert (both.programs[number].cause, ends.ended("put", 0, 2)) == (0, DONE)
    assert both.twin.read(1 << 16, 40) == bytes(range(40))


class Forger:
    """A neighbour that numbers its frames, and keeps to no other rule."""

    def __init__(self, ends):
        self.ends, self.life, self.theirs, self.seq = ends, 77, 0, 1
        self.cable = Cable(ends, self.hears)

    def hears(self):
        for frame in self.cable.came:
            head, _ = golden_link.parse(frame)
            self.theirs = head.src_epoch
        self.cable.came.clear()

    async def run(self, cycles):
        await self.ends.cycles(cycles)

    async def opens(self):
        self.cable.send(Head(MACS[1], UNACK, src_epoch=self.life, flags=ASKS).frame())
        await self.run(200)
        assert self.theirs

    async def says(self, kind, payload=b"", cycles=None, **fields):
        head = Head(MACS[1], kind, ASKS, src_epoch=self.life, dst_epoch=self.theirs, seq=self.seq, ack=1, limit=1000,
                    **fields)
        self.seq += 1
        self.cable.send(head.frame(payload))
        await self.run(cycles or 100 + len(payload) // 4)


@cocotb.test()
async def a_hostile_neighbour_writes_nothing_but_what_is_taken_and_its_own_places(dut):
    ends = Ends(dut)
    await ends.start(twin=True)
    before = {}
    for at in range(DATA_AT, DATA_AT + 4096, 8):
        before[at] = random.randbytes(8)
    await ends.write(0, DATA_AT, b"".join(before.values()))
    forger = Forger(ends)
    await forger.opens()
    key = {"tag": 3, "number": 4, "group": 5}
    strays, bits = 0, random.getrandbits
    for _ in range(60):
        slot = random.choice([0, 3, 7, 8, 255, 0xFFFF, 0x8000])
        offset = random.choice([0, 0, 8, EAGER - 8, EAGER, EAGER + 8, bits(32), 1 << 31])
        total = random.choice([0, 64, EAGER, EAGER + 1, bits(32), 1 << 17])
        payload = random.randbytes(random.choice([0, 8, 64, 1408]))
        await forger.says(DATA, payload, slot=slot, offset=offset, total=total, **key | {"number": bits(2)})
        await forger.says(random.choice([READY, DONE_WORD, FAILED]), slot=slot, total=total, **key)
    strays = ends.field("strays_o", 0)
    assert strays > 20
    # Of a message that begins well, a piece that is too long, and one with a gap before it; and a context too many.
    await forger.says(DATA, random.randbytes(1408), slot=1, offset=0, total=2000, **key)
    await forger.says(DATA, random.randbytes(1408), slot=1, offset=1408, total=2000, **key)
    await forger.says(DATA, random.randbytes(8), slot=1, offset=1416, total=2000, **key)
    await forger.says(DATA, random.randbytes(8), slot=9, offset=0, total=8, **key)
    assert ends.field("strays_o", 0) == strays + 3
    # What a take wants, but not so.
    for cause, fields in ((MISMATCH, {"total": 101}), (PROTOCOL, {"total": 100, "offset": 8})):
        await ends.begin("take", 0, 2, Key(**key | {"number": 9}), DATA_AT + 1024, 100)
        await forger.says(DATA, bytes(64), slot=0, **key | {"number": 9}, **fields)
        assert ends.ended("take", 0, 2) == cause
    await ends.begin("take", 0, 2, Key(**key | {"number": 9}), DATA_AT + 1024, 100)
    await forger.says(DATA, bytes(64), slot=0, total=100, **key | {"number": 9})
    await forger.says(DATA, bytes(64), slot=0, total=100, offset=64, **key | {"number": 9})
    assert ends.ended("take", 0, 2) == PROTOCOL
    # Only the take's first 64 bytes have changed.
    got = await ends.read(0, DATA_AT, 4096)
    wanted = bytearray(b"".join(before.values()))
    wanted[1024:1088] = bytes(64)
    assert got == bytes(wanted)
    assert ends.field("peek_data_o", 0, 64) is not None and EARLY_AT == 0
    assert ends.dut.wrong_o.value.to_unsigned() == 0


def test_rl_collective_twin():
    sources = [*rtl("collectives"), *sorted(HERE.glob("*.sv")), HERE.parent / "bridge" / "bridge_memory.sv"]
    bench("rl_collective_link_tb", sources, __name__, {"DataW": 64})
