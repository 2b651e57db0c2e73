"""rl_bridge_inbox: whole messages, in order; what a sink does not take holds up those who send to it."""

import random
from collections import deque
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from runner import bench, rtl

NODES, SINKS, WORDS, FRAME = 4, 2, 64, 4
NOWHERE = SINKS


@dataclass
class Node:
    """What is under way from a node: words of the message at hand, whole messages, and pieces of its present life."""

    words: list = field(default_factory=list)
    whole: deque = field(default_factory=deque)
    stream: int = 0
    void: bool = False
    life: int = 0


class Bench:
    """The gateware, and beside it what each node has sent."""

    def __init__(self, dut):
        self.dut, self.edge = dut, dut.clk_i.rising_edge
        self.nodes = [Node() for _ in range(NODES)]
        self.open, self.room = [True] * SINKS, [True] * SINKS
        self.reading = {}  # By sink: the words left of the message that it is getting, and whose it is.
        self.got = [0] * (SINKS + 1)
        self.credit, self.wanted_credit, self.lost, self.wanted_lost = 0, 0, 0, 0

    async def start(self):
        dut = self.dut
        for port in (dut.rst_ni, dut.clear_i, dut.renew_i, dut.push_i, dut.void_i, dut.undo_i, dut.open_i, dut.room_i):
            port.value = 0
        dut.node_i.value = dut.undo_node_i.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 3)
        dut.rst_ni.value = 1
        self.sinks()
        await self.edge
        cocotb.start_soon(self.watch())

    def sinks(self):
        self.dut.open_i.value = sum(one << at for at, one in enumerate(self.open))
        self.dut.room_i.value = sum(one << at for at, one in enumerate(self.room))

    async def watch(self):
        """What comes out is the next word of the message that its sink is getting, or the first of a whole one."""
        dut = self.dut
        while True:
            await self.edge
            self.credit += bool(dut.consumed_o.value)
            self.lost += bool(dut.lost_o.value)
            if not dut.valid_o.value:
                continue
            sink = dut.sink_o.value.to_unsigned()
            if sink not in self.reading:
                node = dut.node_o.value.to_unsigned()
                assert self.nodes[node].whole, "it is not whole"
                stream, words = self.nodes[node].whole.popleft()
                assert stream == sink, "it is another stream's"
                self.reading[sink] = deque(words)
            data, count, last = self.reading[sink].popleft()
            assert (dut.data_o.value, dut.bytes_o.value, bool(dut.last_o.value)) == (data, count, last)
            if last:
                del self.reading[sink]
                self.got[sink] += 1

    async def push(self, node, stream, last_piece, words, void=False):
        """A piece, when there is room for a longest one."""
        dut, of = self.dut, self.nodes[node]
        dut.node_i.value = node
        for _ in range(5000):
            await self.edge
            if dut.room_o.value:
                break
        else:
            raise AssertionError("there is never room")
        for at in range(words):
            ends = at == words - 1
            data, count = random.getrandbits(64), 8 if not ends else random.randint(1, 8)
            dut.data_i.value, dut.bytes_i.value, dut.stream_i.value = data, count, stream
            dut.last_i.value, dut.ends_i.value = ends and last_piece, ends
            dut.push_i.value = 1
            of.words.append((data, count, ends and last_piece))
            if ends and last_piece:
                self.commit(of, stream)
            await self.edge
            dut.push_i.value = 0
            if random.random() < 0.3:
                await self.edge

    def commit(self, of, stream):
        if of.void or stream >= SINKS:
            self.wanted_lost += 1
        else:
            of.whole.append((stream, of.words))
        of.words, of.void = [], False

    async def void(self, node, stream, ends):
        """The message at hand is too long: for nobody. Its end is a word of its own."""
        dut, of = self.dut, self.nodes[node]
        dut.node_i.value, dut.void_i.value, dut.stream_i.value = node, 1, stream
        dut.push_i.value, dut.last_i.value, dut.ends_i.value = ends, ends, 0
        of.void = True
        if ends:
            self.commit(of, stream)
        await self.edge
        dut.push_i.value = dut.void_i.value = 0

    async def undo(self, node):
        self.dut.undo_node_i.value, self.dut.undo_i.value = node, 1
        self.nodes[node].words, self.nodes[node].void = [], False
        await self.edge
        self.dut.undo_i.value = 0

    async def drain(self):
        for _ in range(4000):
            await self.edge
            if not self.reading and not any(node.whole for node in self.nodes):
                break
        await ClockCycles(self.dut.clk_i, 3 * WORDS)
        assert not self.reading and not any(node.whole for node in self.nodes), "something is left"
        assert self.lost == self.wanted_lost


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def messages_are_whole_and_in_order(dut):
    tb = Bench(dut)
    await tb.start()
    pieces = 0

    async def rooms():
        while True:
            tb.room = [random.random() < 0.7 for _ in range(SINKS)]
            tb.sinks()
            await ClockCycles(dut.clk_i, random.randint(1, 12))

    changes = cocotb.start_soon(rooms())
    at_hand = [0] * NODES
    undone = 0
    for _ in range(1200):
        node = random.randrange(NODES)
        of = tb.nodes[node]
        if not of.words:
            of.stream, at_hand[node] = random.choice([0, 0, 1, 1, 2, 9]), 0
        kind = random.random()
        # A message has three pieces at most, so that there is always room for its end.
        if of.void or (of.words and kind < 0.05):
            await tb.void(node, of.stream, ends=of.void and random.random() < 0.5)
        elif of.words and kind < 0.1:
            undone += at_hand[node]
            await tb.undo(node)
        else:
            at_hand[node] += 1
            pieces += 1
            last = at_hand[node] == 3 or random.random() < 0.5
            await tb.push(node, of.stream, last, random.randint(1, FRAME))
    for node, of in enumerate(tb.nodes):
        if of.words or of.void:
            undone += at_hand[node]
            await tb.undo(node)
    changes.cancel()
    tb.room = [True] * SINKS
    tb.sinks()
    await tb.drain()
    assert min(tb.got[:SINKS]) > 50 and tb.lost > 50
    assert tb.credit == pieces - undone, "each piece that was read gives credit back once"


@cocotb.test()
async def a_sink_without_room_holds_up_its_senders_alone(dut):
    tb = Bench(dut)
    await tb.start()
    tb.room[0] = False
    tb.sinks()
    # More than one message of two nodes: neither is read, and both are full in the end.
    for node in (0, 1):
        for _ in range(WORDS // FRAME - 1):
            await tb.push(node, 0, True, FRAME)
    for _ in range(50):
        await tb.push(2, 1, True, FRAME)
        await tb.push(3, 7, True, 1)
    await ClockCycles(dut.clk_i, 100 * FRAME)
    assert tb.got[:SINKS] == [0, 50] and tb.lost == 50
    # It has begun to take one, and stops within it; another one is not begun.
    tb.room[0] = True
    tb.sinks()
    while not tb.reading:
        await tb.edge
    tb.room[0] = False
    tb.sinks()
    await ClockCycles(dut.clk_i, 50)
    assert tb.got[0] == 0 and 0 in tb.reading
    tb.room[0] = True
    tb.sinks()
    await tb.drain()
    assert tb.got[0] == 2 * (WORDS // FRAME - 1)


@cocotb.test()
async def a_sink_that_is_closed_loses_what_it_does_not_take(dut):
    tb = Bench(dut)
    await tb.start()
    tb.room[0] = False
    tb.sinks()
    await tb.push(0, 0, True, 3)
    await ClockCycles(dut.clk_i, 10)
    # The first is under way to the sink; those behind are for nobody.
    tb.open[0] = False
    tb.sinks()
    for node in (1, 1, 2):
        await tb.push(node, 0, True, 2)
        tb.nodes[node].whole.clear()
        tb.wanted_lost += 1
    await ClockCycles(dut.clk_i, 40)
    assert tb.lost == 3
    tb.room[0] = True
    tb.sinks()
    await tb.drain()
    assert tb.got[0] == 1


@cocotb.test()
async def a_life_that_has_ended_has_no_credit(dut):
    tb = Bench(dut)
    await tb.start()
    tb.room[1] = False
    tb.sinks()
    for _ in range(3):
        await tb.push(1, 1, True, 2)
        await tb.push(2, 1, True, 2)
    dut.renew_i.value = 1 << 1
    await tb.edge
    dut.renew_i.value = 0
    await tb.push(1, 1, True, 2)
    tb.room[1] = True
    tb.sinks()
    await tb.drain()
    assert (tb.got[1], tb.credit) == (7, 4)


@cocotb.test()
async def nothing_is_left_after_the_end(dut):
    tb = Bench(dut)
    await tb.start()
    for halt in range(12):
        for node in range(NODES):
            await tb.push(node, node % 2, True, 4)
            await tb.push(node, node % 2, False, 2)
        await ClockCycles(dut.clk_i, halt)
        dut.clear_i.value = 1
        for _ in range(4):
            await tb.edge
            assert not dut.valid_o.value
        dut.clear_i.value = 0
        tb.reading.clear()
        tb.nodes = [Node() for _ in range(NODES)]
        await ClockCycles(dut.clk_i, 30)
        assert not dut.valid_o.value and not tb.reading
        for node in range(NODES):
            await tb.push(node, node % 2, True, 3)
        await tb.drain()


def test_rl_bridge_inbox():
    parameters = {"Nodes": NODES, "Sinks": SINKS, "Words": WORDS, "FrameWords": FRAME}
    bench("rl_bridge_inbox", rtl("bridge"), __name__, parameters)
