"""The wire side of a link. Out: each segment becomes the frame that the Rust writer makes, and no cycle is lost. In:
what the Rust parser and the model refuse goes nowhere and is counted under its name; all else comes out with the
fields and bytes that the parser finds.

`LINK_FRAMES` says how many frames there are in each run of the comparison, `LINK_WIDTHS` at which widths it runs.
"""

import os
import random
from collections import Counter

import cocotb
import pytest
from link_frames import (
    LENGTH_MAX,
    MESSAGE,
    NUMBERED,
    OWN,
    SEGMENT,
    Arrival,
    Verdict,
    a_head,
    a_sent,
    any_arrival,
    hostile,
    taken_of,
)
from runner import bench, rtl
from streams import PAUSES, never
from wire_side import WireSide, pack, unpack

FRAMES = int(os.environ.get("LINK_FRAMES", "400"))
WIDTHS = [int(width) for width in os.environ.get("LINK_WIDTHS", "64 512").split()]


class Wire(WireSide):
    """The gateware."""

    HEAD, VERDICT = ("rx_head_segment_o", "rx_head_message_o"), Verdict

    async def start(self):
        await super().start(OWN)

    def begins(self, sent):
        self.dut.tx_segment_i.value = pack(SEGMENT, sent.segment)
        self.dut.tx_message_i.value = pack(MESSAGE, sent.message)

    def check(self, arrivals, lossy=False):
        """All became what they had to; but some that had to pass may have found no room."""
        for (head, payload), (segment, message), words in self.passed(arrivals, lossy=lossy):
            wanted_segment, wanted_message = taken_of(head, payload)
            assert unpack(SEGMENT, segment) == wanted_segment, head
            if wanted_message is None:
                assert len(words) == 1
                continue
            assert unpack(MESSAGE, message) == wanted_message, head
            self.compare(words, payload)

    async def verdict_counts(self):
        return await self.counts(self.dut.count_of_i, self.dut.count_o, len(Verdict))


@cocotb.test()
@cocotb.parametrize(pauses=[("never", "never"), ("ragged", "bursts"), ("bursts", "ragged")])
async def each_segment_is_the_writers_frame(dut, pauses):
    wire = Wire(dut)
    await wire.start()
    sents = [a_sent() for _ in range(FRAMES // 4)]
    await wire.send(sents, PAUSES[pauses[0]](), PAUSES[pauses[1]]())
    assert wire.frames == [sent.frame() for sent in sents]


@cocotb.test()
@cocotb.parametrize(length=[0, 1, 64, 1408])
async def no_cycle_is_lost_on_the_way_out(dut, length):
    """One word a cycle, also from frame to frame, and the first word a cycle after its segment."""
    wire = Wire(dut)
    await wire.start()
    sents = [a_sent(length) for _ in range(20)]
    await wire.send(sents, never(), never())
    assert wire.frames == [sent.frame() for sent in sents]
    words = -(-(64 + length) // wire.size)
    cycles, latency = wire.ended[-1] - wire.begun[0] + 1, wire.begun[0] - wire.offered[0]
    print(f"{8 * wire.size} bits, {length} bytes out: {cycles / 20:.2f} cycles a frame of {words} words, "
          f"first word {latency} cycles after its segment")
    assert cycles == 20 * words and latency == 1


@cocotb.test()
@cocotb.parametrize(pauses=[("never", "never"), ("ragged", "bursts"), ("bursts", "ragged")])
async def what_the_model_takes_passes_and_nothing_else(dut, pauses):
    wire = Wire(dut)
    await wire.start()
    arrivals = [any_arrival() for _ in range(FRAMES)]
    stalls = (PAUSES[pauses[1]](), PAUSES[pauses[1]]())
    await wire.receive(arrivals, PAUSES[pauses[0]](), *stalls)
    wire.check(arrivals, lossy=pauses[1] != "never")
    count = Counter(wire.verdicts)
    dut._log.info(", ".join(f"{verdict.name} {count[verdict]}" for verdict in Verdict))
    assert await wire.verdict_counts() == [count[verdict] for verdict in Verdict]
    assert all(count[verdict] for verdict in Verdict if verdict != Verdict.NO_ROOM), "a refusal is missing"
    assert count[Verdict.PASSED] > FRAMES // 8


@cocotb.test()
async def what_finds_no_room_is_lost_as_a_whole(dut):
    """Nobody takes what comes, long or short, and then somebody does: what is there are whole frames."""
    wire = Wire(dut)
    await wire.start()
    arrivals = []
    for _ in range(8):
        # Now words fill the room, and now heads.
        lengths = random.choice([[0, 1, 8], [LENGTH_MAX, 700], [LENGTH_MAX, 0, 64]])
        some = []
        for _ in range(40):
            some.append(Arrival(a_head(kind=random.choice(NUMBERED)).frame(random.randbytes(random.choice(lengths)))))
            if random.random() < 0.3:
                some.append(hostile())
        slow = PAUSES["rare"]
        quick = random.choice([slow, never])
        await wire.receive(some, never(), *random.choice([(quick(), slow()), (slow(), quick())]))
        arrivals += some
    wire.check(arrivals, lossy=True)
    count = Counter(wire.verdicts)
    assert min(count[Verdict.NO_ROOM], count[Verdict.PASSED]) > 20, count


@cocotb.test()
@cocotb.parametrize(length=[0, 1, 64, 1408])
async def a_word_a_cycle_comes_in(dut, length):
    """Frames back to back, and the last word of one at most four cycles before its head and first word are offered."""
    wire = Wire(dut)
    await wire.start()
    one = Arrival(a_head(kind=random.choice(NUMBERED)).frame(random.randbytes(length)))
    await wire.receive([one])
    latency = [at[0] - wire.ends[0] for at in (wire.head_at, wire.word_at)]
    arrivals = [Arrival(a_head(kind=random.choice(NUMBERED)).frame(random.randbytes(length))) for _ in range(20)]
    await wire.receive(arrivals)
    wire.check([one, *arrivals])
    print(f"{8 * wire.size} bits, {length} bytes in: head {latency[0]}, first word {latency[1]} cycles after the last "
          "word came")
    assert max(latency) <= 4


@pytest.mark.parametrize("width", WIDTHS)
def test_rl_link_wire(width):
    bench("rl_link_wire", rtl("link"), __name__, {"DataW": width})
