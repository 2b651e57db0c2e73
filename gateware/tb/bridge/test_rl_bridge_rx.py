"""The wire side's way in: what the Rust parser refuses, and what is not a peer's for this node, goes nowhere and is
counted under its name; all else comes out with the fields and bytes that the parser finds.

`BRIDGE_FRAMES` says how many frames there are in each run of the comparison.
"""

import os
import random
from collections import Counter

import cocotb
import pytest
from arrivals import Arrival, Verdict, a_head, any_arrival, hostile, segment_of
from node import DESC, LENGTH_MAX, NODES, NUMBERED, SEGMENT, WIDTHS, Node
from runner import bench, rtl
from streams import PAUSES, never
from wire_side import unpack

FRAMES = int(os.environ.get("BRIDGE_FRAMES", "600"))


class Receiver(Node):
    """Frames in, heads and words out."""

    HEAD, VERDICT = ("rx_head_peer_o", "rx_head_segment_o", "rx_head_desc_o"), Verdict

    def check(self, arrivals, nodes=NODES, lossy=False):
        """All became what they had to; but some that had to pass may have found no room."""
        for (head, payload), (peer, segment, desc), words in self.passed(arrivals, nodes, lossy=lossy):
            wanted_peer, wanted_segment, wanted_desc = segment_of(head, nodes)
            assert (peer, unpack(SEGMENT, segment)) == (wanted_peer, wanted_segment), head
            if wanted_desc is None:
                assert len(words) == 1
                continue
            assert unpack(DESC, desc) == wanted_desc | {"length": len(payload)}, head
            self.compare(words, payload)

    async def verdict_counts(self):
        dut = self.dut
        return await self.counts(dut.verdict_count_of_i, dut.verdict_count_o, len(Verdict))


@cocotb.test()
@cocotb.parametrize(pauses=[("never", "never"), ("ragged", "bursts"), ("bursts", "ragged")])
async def what_the_parser_accepts_passes_and_nothing_else(dut, pauses):
    receiver = Receiver(dut)
    await receiver.start()
    arrivals = [any_arrival() for _ in range(FRAMES)]
    stalls = (PAUSES[pauses[1]](), PAUSES[pauses[1]]())
    await receiver.receive(arrivals, PAUSES[pauses[0]](), *stalls)
    receiver.check(arrivals, lossy=pauses[1] != "never")
    count = Counter(receiver.verdicts)
    dut._log.info(", ".join(f"{verdict.name} {count[verdict]}" for verdict in Verdict))
    assert await receiver.verdict_counts() == [count[verdict] for verdict in Verdict]
    assert all(count[verdict] for verdict in Verdict if verdict != Verdict.NO_ROOM), "a refusal is missing"
    assert count[Verdict.PASSED] > FRAMES // 8


@cocotb.test()
async def what_finds_no_room_is_lost_as_a_whole(dut):
    """Nobody takes what comes, long or short, and then somebody does: what is there are whole frames."""
    receiver = Receiver(dut)
    await receiver.start()
    arrivals = []
    for _ in range(12):
        # Now words fill the room, and now heads.
        lengths = random.choice([[0, 1, 8], [LENGTH_MAX, 700], [LENGTH_MAX, 0, 64]])
        some = []
        for _ in range(40):
            head = a_head(kind=random.choice(NUMBERED))
            some.append(Arrival(head.frame(random.randbytes(random.choice(lengths)))))
            if random.random() < 0.3:
                some.append(hostile())
        slow = PAUSES["rare"]
        quick = random.choice([slow, never])
        await receiver.receive(some, never(), *random.choice([(quick(), slow()), (slow(), quick())]))
        arrivals += some
    receiver.check(arrivals, lossy=True)
    count = Counter(receiver.verdicts)
    assert min(count[Verdict.NO_ROOM], count[Verdict.PASSED]) > 50, count
    assert await receiver.verdict_counts() == [count[verdict] for verdict in Verdict]


@cocotb.test()
async def the_table_says_who_is_a_peer(dut):
    receiver = Receiver(dut)
    await receiver.start()
    nodes = list(NODES)
    for _ in range(40):
        node = random.randrange(len(nodes))
        nodes[node] = random.choice([None, NODES[node], random.getrandbits(40) | 0x02 << 40])
        await receiver.set_peer(node, nodes[node])
        sources = [mac for mac in nodes + NODES if mac is not None]
        arrivals = []
        for _ in range(10):
            head = a_head(src=random.choice(sources), kind=random.choice(NUMBERED))
            arrivals.append(Arrival(head.frame(random.randbytes(9))))
        receiver.verdicts, receiver.heads, receiver.payloads = [], [], []
        await receiver.receive(arrivals)
        receiver.check(arrivals, nodes)


@cocotb.test()
async def of_two_entries_with_one_address_the_first_is_found(dut):
    receiver = Receiver(dut)
    await receiver.start()
    await receiver.set_peer(5, NODES[2])
    arrivals = [Arrival(a_head(src=NODES[2]).frame()) for _ in range(4)]
    await receiver.receive(arrivals)
    assert {peer >> 1 for peer, _, _ in receiver.heads} == {2}


@cocotb.test()
@cocotb.parametrize(length=[0, 1, 32, 33, 64, 1408])
async def a_word_a_cycle_comes_in(dut, length):
    """Frames back to back, and the last word of one at most six cycles before its head and first word are offered."""
    receiver = Receiver(dut)
    await receiver.start()
    one = Arrival(a_head(kind=random.choice(NUMBERED)).frame(random.randbytes(length)))
    await receiver.receive([one])
    latency = [at[0] - receiver.ends[0] for at in (receiver.head_at, receiver.word_at)]
    arrivals = [Arrival(a_head(kind=random.choice(NUMBERED)).frame(random.randbytes(length))) for _ in range(200)]
    begin = receiver.cycle
    receiver.ends.clear()
    await receiver.receive(arrivals)
    receiver.check([one, *arrivals])
    words = -(-(96 + length) // receiver.size)
    each = (receiver.ends[-1] - begin) / len(arrivals)
    dut._log.info(
        f"{8 * receiver.size} bits, {length} bytes: {each:.2f} cycles a frame of {words} words; "
        f"its head {latency[0]} and its first word {latency[1]} cycles after its last word"
    )
    assert each == words and max(latency) <= 6


@pytest.mark.parametrize("width", WIDTHS)
def test_rl_bridge_rx(width):
    bench("rl_bridge_wire", rtl("bridge"), __name__, {"DataW": width, "Words": max(64, 32768 // width)})
