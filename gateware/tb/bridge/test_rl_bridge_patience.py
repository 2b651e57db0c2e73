"""rl_bridge_patience: who does not answer for so long is dropped, once; who is heard is not."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from runner import bench, rtl
from structs import pack

# What has nothing to do with patience.
NOISE = ["stale", "expired", "resent", "missed", "repeated", "broken"]


class Bench:
    """The gateware, and whom it drops: node and channel, in this order."""

    def __init__(self, dut):
        self.dut, self.edge = dut, dut.clk_i.rising_edge
        self.peers, self.asks = 2 * int(dut.Nodes.value), int(dut.Asks.value)
        self.dropped = []

    async def start(self):
        dut = self.dut
        dut.rst_ni.value = dut.event_i.value = dut.peer_i.value = dut.drop_i.value = dut.drop_node_i.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 3)
        dut.rst_ni.value = 1
        await self.edge

    async def cycle(self, peer=0, owner=None, **event):
        """An event of a peer's, or none; and an end that the owner wants with a node."""
        dut = self.dut
        dut.peer_i.value = peer
        dut.event_i.value = pack("transport_event_t", **event)
        dut.drop_i.value = owner is not None
        dut.drop_node_i.value = random.getrandbits(8) if owner is None else owner
        await self.edge
        dut.event_i.value = dut.drop_i.value = 0
        channels, node = dut.drop_o.value.to_unsigned(), dut.drop_node_o.value.to_unsigned()
        ends = [node << 1 | channel for channel in range(2) if channels >> channel & 1]
        if owner is not None:
            assert ends == [owner << 1, owner << 1 | 1], "the owner's is at once, on both channels"
        else:
            self.dropped += ends


@cocotb.test()
async def who_does_not_answer_is_dropped(dut):
    tb = Bench(dut)
    await tb.start()
    for peer in range(tb.peers):
        for _ in range(tb.asks):
            await tb.cycle(peer, unanswered=1)
        await ClockCycles(dut.clk_i, 3)
        assert not tb.dropped, "it had time"
        # Of the other channel, and of another node, is another patience.
        await tb.cycle(peer ^ 1, heard=1)
        await tb.cycle(peer ^ 2, heard=1)
        await tb.cycle(peer, unanswered=1)
        for _ in range(3):
            await tb.cycle()
        assert tb.dropped == [peer]
        tb.dropped.clear()
        await tb.cycle(peer, restarted=1)


@cocotb.test()
@cocotb.parametrize(word=["heard", "restarted"])
async def who_is_heard_is_not(dut, word):
    tb = Bench(dut)
    await tb.start()
    for _ in range(20):
        for _ in range(tb.asks):
            await tb.cycle(1, unanswered=1)
        await tb.cycle(1, **{word: 1})
    # Neither is who does something else.
    for name in NOISE:
        for _ in range(3 * tb.asks):
            await tb.cycle(1, **{name: 1})
    await tb.cycle()
    assert not tb.dropped


@cocotb.test()
async def two_at_once_are_both_dropped(dut):
    """One after the other, and also when the owner's ends are in the way."""
    tb = Bench(dut)
    await tb.start()
    for busy in range(3):
        for peer in (0, 3):
            for _ in range(tb.asks):
                await tb.cycle(peer, unanswered=1)
        await tb.cycle(0, unanswered=1)
        for _ in range(busy):
            await tb.cycle(owner=1)
        await tb.cycle(3, unanswered=1)
        for _ in range(3):
            await tb.cycle()
        assert tb.dropped == [0, 3]
        tb.dropped.clear()
        for peer in (0, 3):
            await tb.cycle(peer, restarted=1)


@cocotb.test()
async def it_is_the_reference(dut):
    """Random events and ends: each time-out beyond the bound drops its peer, unless another one waits for its turn."""
    tb = Bench(dut)
    await tb.start()
    asked, waits, drops = [0] * tb.peers, None, 0
    for _ in range(4000):
        name = random.choice(["unanswered"] * 20 + ["heard", "restarted", "none", *NOISE])
        peer = random.randrange(tb.peers)
        owner = random.randrange(tb.peers // 2) if random.random() < 0.3 else None
        event = {} if name == "none" else {name: 1}
        await tb.cycle(peer, owner, **event)
        # What it drops in a cycle is of events before.
        if owner is None:
            assert tb.dropped == ([] if waits is None else [waits])
            drops += len(tb.dropped)
            tb.dropped.clear()
            waits = None
        if name in ("heard", "restarted"):
            asked[peer] = 0
        elif name == "unanswered" and asked[peer] < tb.asks:
            asked[peer] += 1
        elif name == "unanswered" and waits is None:
            waits = peer
    assert drops > 100


@pytest.mark.parametrize("nodes,asks", [(8, 5), (2, 8)])
def test_rl_bridge_patience(nodes, asks):
    bench("rl_bridge_patience", rtl("bridge", "transport"), __name__, {"Nodes": nodes, "Asks": asks})
