"""rl_auth_tx: what a card with keys says has the tags that the card model gives it, and leaves without a pause."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from frames import BROADCAST, MINE, build, group
from golden_guard import Guard, Session
from runner import bench, rtl
from streams import PAUSE_PAIRS, PAUSES, keep, words
from wire import ADDRESS, FLAG, KINDS, mac

HOST = 0x0102
OWNER = mac("06:01:02:00:08:08")
OTHER = mac("06:01:02:00:09:09")
STRANGER = mac("06:01:03:00:08:08")
ANSWERS = ("Session.Grant", "Session.Refuse", "Session.Released")  # The firmware's.
SAID = [name for name, kind in KINDS.items() if kind.to != "card" and name not in ANSWERS]


class Sealed:
    """The block, and the model beside it."""

    def __init__(self, dut):
        self.dut = dut
        self.guard = Guard(random.randbytes(16), HOST, random.getrandbits(32))
        self.slots: list[Session | None] = [None, None]
        self.newer = 0
        self.left: list[bytes] = []
        self.counted: list[int] = []
        self.pause = PAUSES["never"]()

    async def start(self):
        dut = self.dut
        for name in ("valid", "ready", "key", "sessions"):
            getattr(dut, f"{name}_i").value = 0
        dut.rst_net_ni.value = 0
        Clock(dut.clk_net_i, 10, "ns").start()
        for _ in range(3):
            await RisingEdge(dut.clk_net_i)
        dut.rst_net_ni.value = 1
        self.tell()
        cocotb.start_soon(self.receive())

    def tell(self):
        owners = sum((s.owner if s else OWNER) << 48 * n for n, s in enumerate(self.slots))
        epochs = sum((s.epoch if s else 0) << 16 * n for n, s in enumerate(self.slots))
        valid = sum((s is not None) << n for n, s in enumerate(self.slots))
        self.dut.sessions_i.value = (((valid << 96 | owners) << 32 | epochs) << 1 | self.newer) << 32 | self.guard.boot

    async def key(self, slot: int, key: bytes | None):
        dut = self.dut
        valid = 1
        dut.key_i.value = ((valid << 2 | slot) << 1 | (key is None)) << 128 | int.from_bytes(key or bytes(16), "little")
        await RisingEdge(dut.clk_net_i)
        while not dut.key_ready_o.value:
            await RisingEdge(dut.clk_net_i)
        dut.key_i.value = 0

    async def claim(self, owner: int, epoch: int):
        """As the firmware does: the older session goes, and the new one comes when its key is there."""
        session = self.guard.begin(MINE, owner, epoch, random.getrandbits(64), random.getrandbits(64))
        slot = 1 - self.newer
        self.slots[slot] = None
        self.tell()
        await self.key(slot, session.key)
        self.slots[slot], self.newer = session, slot
        self.tell()

    async def end(self):
        self.guard.end()
        self.slots[1 - self.newer] = None
        self.tell()
        await self.key(1 - self.newer, None)

    async def receive(self):
        dut, edge, frame, inside = self.dut, RisingEdge(self.dut.clk_net_i), b"", False
        while True:
            ready = not next(self.pause)
            dut.ready_i.value = ready
            await edge
            if dut.frame_o.value:
                self.counted.append(int(dut.frame_bytes_o.value))
            valid = bool(dut.valid_o.value)
            assert valid or not inside, "a frame pauses"
            assert dut.busy_o.value or not valid
            if not (ready and valid):
                continue
            last, mask = bool(dut.last_o.value), int(dut.keep_o.value)
            count = mask.bit_count() if last else 8
            assert mask == (1 << count) - 1 and count, f"keep {mask:#x}"
            frame += int(dut.data_o.value).to_bytes(8, "little")[:count]
            inside = not last
            if last:
                self.left.append(frame)
                frame = b""

    async def send(self, frames: list[bytes], pause):
        dut, edge = self.dut, RisingEdge(self.dut.clk_net_i)
        for frame in frames:
            beats = list(zip(words(frame), keep(frame), strict=True))
            for n, (data, mask) in enumerate(beats):
                while next(pause):
                    dut.valid_i.value = 0
                    await edge
                dut.valid_i.value, dut.last_i.value = 1, n == len(beats) - 1
                dut.data_i.value = data | random.getrandbits(64) << 8 * mask.bit_count() & (1 << 64) - 1
                dut.keep_i.value = mask if n == len(beats) - 1 else random.getrandbits(8)
                await edge
                while not dut.ready_o.value:
                    await edge
            dut.valid_i.value = 0

    async def run(self, frames: list[bytes], pauses=("never", "never")):
        """Sends the frames, and compares what leaves with what the model says. Answers to claims stay as they are."""
        answers = {(KINDS[name].number >> 16, KINDS[name].number & 0xFF) for name in ANSWERS}
        kind = lambda frame: (int.from_bytes(frame[12:14], "big"), frame[15])
        expected = [frame if kind(frame) in answers else self.guard.seal(frame) for frame in frames]
        self.left.clear()
        self.counted.clear()
        self.pause = PAUSES[pauses[1]]()
        await self.send(frames, PAUSES[pauses[0]]())
        for _ in range(20_000):
            if len(self.left) == len(frames) and len(self.counted) == len(frames):
                break
            await RisingEdge(self.dut.clk_net_i)
        for n, (got, wanted) in enumerate(zip(self.left, expected, strict=True)):
            assert got == wanted, f"frame {n}, {len(frames[n])} bytes: {frames[n].hex()}"
        assert self.counted == [len(frame) for frame in expected]
        for _ in range(4):  # Padding may still be on its way to nowhere.
            await RisingEdge(self.dut.clk_net_i)
        assert not self.dut.busy_o.value
        return expected


def said(n: int) -> bytes:
    """Something that a card says, to anybody."""
    length = random.choice([*range(0, 40), 64, 100, 200])
    to = [OWNER] * 4 + [OTHER] * 2 + [STRANGER, group(0x2222), group(0xFFFF), ADDRESS.HOSTS, ADDRESS.CARDS, BROADCAST]
    name = random.choice(SAID * 4 + list(ANSWERS))
    frame = build(name, n, random.randbytes(length), dst=random.choice(to), src=MINE, epoch=random.getrandbits(16),
                  flags=random.choice([0, FLAG.RESEND]))
    if random.random() < 0.05:
        frame = frame[:12] + random.choice([b"\x08\x00", b"\x86\xdd", b"\x80\xed"]) + frame[14:]
    if random.random() < (0.5 if name in ANSWERS else 0.05):
        frame = frame[:14] + bytes([frame[14] | FLAG.AUTH]) + frame[15:]
    return frame


@cocotb.test()
@cocotb.parametrize(pauses=PAUSE_PAIRS)
async def frames_have_the_models_tags(dut, pauses):
    """Sessions come and go in between: each frame by the newest that its receiver has, and each counter once."""
    sealed = Sealed(dut)
    await sealed.start()
    expected, plain = [], []
    for step in (None, (OWNER, 5), (OTHER, 6), (OTHER, 7), "end", (OWNER, 8), (OWNER, 9)):
        if step == "end":
            await sealed.end()
        elif step:
            await sealed.claim(*step)
        frames = [said(n) for n in range(80)]
        expected += await sealed.run(frames, pauses)
        plain += frames
    changed = sum(one != frame for one, frame in zip(expected, plain, strict=True))
    assert 100 < changed < len(plain) - 100


@cocotb.test()
async def the_longest_and_the_shortest_frames(dut):
    sealed = Sealed(dut)
    await sealed.start()
    await sealed.claim(OWNER, 5)
    lengths = [*range(0, 70), 1407, 1408, 8895, 8896, 0]
    await sealed.run([build("Result.Data", n, random.randbytes(length), dst=OWNER, src=MINE)
                      for n, length in enumerate(lengths)])


@cocotb.test()
async def a_new_key_waits_for_frames_under_way(dut):
    """A key comes while frames by the one in its place leave: they keep their tags, and its counter begins with 1."""
    sealed = Sealed(dut)
    await sealed.start()
    for epoch in range(1, 60):
        await sealed.claim(OWNER, epoch)
        await sealed.claim(OTHER, epoch + 100)
        # By now OWNER's session is the older one: its slot is the next claim's.
        frames = [build("Session.Pong", n, random.randbytes(random.randint(0, 20)), dst=OWNER, src=MINE) for n in range(3)]
        expected = [sealed.guard.seal(frame) for frame in frames]
        sealed.left.clear()
        await sealed.send(frames, PAUSES["never"]())
        for _ in range(random.randint(0, 30)):
            await RisingEdge(dut.clk_net_i)
        await sealed.claim(OWNER, epoch + 200)
        after = [build("Session.Pong", 9, b"", dst=OWNER, src=MINE)]
        expected += [sealed.guard.seal(frame) for frame in after]
        await sealed.send(after, PAUSES["never"]())
        for _ in range(200):
            await RisingEdge(dut.clk_net_i)
        assert sealed.left == expected


@cocotb.test()
async def what_has_no_key_is_dropped_whole(dut):
    """A session counts still whose key is forgotten: what is for its owner does not leave, and all else does."""
    sealed = Sealed(dut)
    await sealed.start()
    for epoch in range(1, 20):
        await sealed.claim(OWNER, epoch)
        await sealed.key(sealed.newer, None)
        pause = PAUSES[random.choice([*PAUSES])]
        sealed.pause = pause()
        sealed.left.clear()
        sealed.counted.clear()
        lost = [build("Result.Data", n, random.randbytes(random.randint(0, 60)), dst=OWNER, src=MINE) for n in range(3)]
        kept = [build("Session.Pong", n, random.randbytes(random.randint(0, 20)), dst=STRANGER, src=MINE)
                for n in range(3)]
        await sealed.send([frame for pair in zip(lost, kept, strict=True) for frame in pair], pause())
        for _ in range(400):
            await RisingEdge(dut.clk_net_i)
        assert sealed.left == kept
        assert sealed.counted == [len(frame) for frame in kept]
        assert not dut.busy_o.value
        # Nothing of it is left to the next session.
        sealed.guard.end()
        await sealed.claim(OWNER, epoch + 100)
        await sealed.run([build("Session.Pong", n, b"", dst=OWNER, src=MINE) for n in range(3)])


@cocotb.test()
async def how_long_a_frame_waits(dut):
    """From a frame's last word to its first word on the wire, with nothing before it; and how often frames can come."""
    sealed = Sealed(dut)
    await sealed.start()
    await sealed.claim(OWNER, 5)
    is_quick = dut.PerCycle.value.to_unsigned() == 3
    cycle, begins, inside = 0, [], False

    async def watch():
        nonlocal cycle, inside
        while True:
            await RisingEdge(dut.clk_net_i)
            cycle += 1
            if dut.valid_o.value and dut.ready_i.value:
                if not inside:
                    begins.append(cycle)
                inside = not dut.last_o.value

    cocotb.start_soon(watch())
    for length in (8, 64, 1408):
        frames = [build("Result.Data", n, random.randbytes(length), dst=OWNER, src=MINE) for n in range(30)]
        begins.clear()
        start = cycle
        await sealed.run(frames[:1])
        waited = begins[0] - start - -(-len(frames[0]) // 8)
        begins.clear()
        left = await sealed.run(frames[1:])
        step = (begins[-1] - begins[3]) / (len(begins) - 4)
        wire = (len(left[0]) + 24) / 8
        told = (length, waited, step, wire)
        dut._log.info("%d bytes: its first word %d cycles after its last came; one in %.1f, the wire takes %.1f", *told)
        assert not is_quick or (waited <= 17 and step <= wire + 1)


@pytest.mark.parametrize("per_cycle", [3, 1])
def test_rl_auth_tx(per_cycle):
    bench("rl_auth_tx", rtl("common", "auth", "shell"), __name__, {"PerCycle": per_cycle})
