"""rl_bridge_take with sinks: of what nodes send only whole messages that a window permits arrive, in order, and every
piece that was let in gives its credit back once."""

import random
from collections import defaultdict, deque

import cocotb
from bridge_bench import READ_REQUEST, STREAM, STREAM_PIECE, Head
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge
from runner import bench, rtl
from structs import pack

NODES, FRAME, WORDS, SINKS, MOST = 4, 4, 256, 2, 200
CREDIT = WORDS // NODES // FRAME
PIECE = 8 * FRAME  # Bytes of a longest piece.


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.room, self.clears = 3, 0
        self.got, self.partial = defaultdict(list), {}  # Whole messages by sink: node and bytes.
        self.credit, self.faults, self.lost = [0] * NODES, [], 0
        self.held = [0] * NODES  # Pieces of a node that have not given their credit back.

    async def start(self):
        dut = self.dut
        for port in (dut.rst_ni, dut.set_valid_i, dut.x_valid_i, dut.sinks_i, dut.m_ready_i, dut.forget_i,
                     dut.forget_node_i, dut.drop_i, dut.drop_node_i):
            port.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 3)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 40)
        cocotb.start_soon(self.watch())
        for node in range(NODES):
            # Both streams, and one that the role does not have.
            await self.window(node, node, 0, 3)

    async def window(self, index, node, base, length):
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.set_valid_i.value, dut.set_index_i.value = 1, index
        dut.set_window_i.value = pack("window_t", valid=1, base=base, length=length, peer=node, rights=STREAM)
        await FallingEdge(dut.clk_i)
        dut.set_valid_i.value = 0

    async def watch(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            dut.sinks_i.value = pack("sinks_t", open=3, room=self.room, clear=self.clears)
            await ReadOnly()
            if dut.consumed_o.value:
                node = dut.consumed_node_o.value.to_unsigned()
                self.credit[node] += 1
                self.held[node] -= 1
            if dut.fault_o.value:
                self.faults.append(dut.fault_node_o.value.to_unsigned())
            self.lost += int(dut.m_lost_o.value)
            if dut.m_valid_o.value:
                sink, node = dut.m_stream_o.value.to_unsigned(), dut.m_node_o.value.to_unsigned()
                kept = dut.m_keep_o.value.to_unsigned().bit_length()
                data = dut.m_data_o.value.to_unsigned().to_bytes(8, "little")[:kept]
                before = self.partial.setdefault(sink, (node, b""))
                assert before[0] == node, "between words of a message come those of another"
                self.partial[sink] = (node, before[1] + data)
                if dut.m_last_o.value:
                    self.got[sink].append(self.partial.pop(sink))

    async def piece(self, node, data, **head):
        """One, with gaps; waits for credit."""
        dut = self.dut
        while self.held[node] >= CREDIT:
            await RisingEdge(dut.clk_i)
        self.held[node] += 1
        head = Head(**{"kind": STREAM_PIECE, "length": len(data)} | head)
        count = max(1, -(-len(data) // 8))
        for i in range(count):
            await FallingEdge(dut.clk_i)
            while random.random() < 0.2:
                dut.x_valid_i.value = 0
                await FallingEdge(dut.clk_i)
            dut.x_valid_i.value, dut.x_node_i.value, dut.x_head_i.value = 1, node, head.packed()
            word = data[8 * i : 8 * i + 8].ljust(8, b"\xee")
            dut.x_data_i.value, dut.x_last_i.value = int.from_bytes(word, "little"), int(i + 1 == count)
            await RisingEdge(dut.clk_i)
            while not dut.x_ready_o.value:
                await RisingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        dut.x_valid_i.value = 0

    def pieces(self, stream, data, cuts=None):
        """A message in pieces: the arguments of each."""
        rest, at, found = data, 0, []
        while rest or not found:
            size = random.randint(1, PIECE // 8) * 8 if cuts is None else cuts
            piece, rest = rest[:size], rest[size:]
            found.append((piece, {"addr": at, "tag": stream, "last": not rest}))
            at += len(piece)
        return found

    async def send(self, node, stream, data):
        for piece, head in self.pieces(stream, data):
            await self.piece(node, piece, **head)

    async def strobe(self, name, node):
        dut = self.dut
        await FallingEdge(dut.clk_i)
        getattr(dut, f"{name}_i").value, getattr(dut, f"{name}_node_i").value = 1, node
        await FallingEdge(dut.clk_i)
        getattr(dut, f"{name}_i").value = 0

    async def settle(self, cycles=300):
        self.room = 3
        await ClockCycles(self.dut.clk_i, cycles)


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def whole_messages_arrive_in_order_and_credit_comes_back(dut):
    tb = Bench(dut)
    await tb.start()
    waiting, sent, lost = [deque() for _ in range(NODES)], defaultdict(list), 0
    for number in range(200):
        node, stream = random.randrange(NODES), random.choice([0, 0, 1, 1, 2])
        data = random.randbytes(random.choice([0, 1, 8, 31, 64, MOST, MOST + 1, MOST + 50]))
        waiting[node].extend(tb.pieces(stream, data))
        if stream < SINKS and len(data) <= MOST:
            sent[node, stream].append((node, data))
        else:
            lost += 1
    total = [len(pieces) for pieces in waiting]
    while any(waiting):
        node = random.choice([node for node in range(NODES) if waiting[node]])
        if tb.held[node] >= CREDIT:
            tb.room = 3
        elif random.random() < 0.2:
            tb.room = random.randrange(4)
        piece, head = waiting[node].popleft()
        await tb.piece(node, piece, **head)
    await tb.settle(2000)
    for sink in range(SINKS):
        for node in range(NODES):
            assert [one for one in tb.got[sink] if one[0] == node] == sent[node, sink], (sink, node)
    assert tb.credit == total and tb.held == [0] * NODES, "each piece gives its credit once"
    assert (tb.lost, tb.faults) == (lost, [])


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def what_breaks_the_rules_is_a_fault_and_goes_nowhere(dut):
    tb = Bench(dut)
    await tb.start()
    first = {"addr": 0, "tag": 1, "last": False}
    cases = [
        ([], {"addr": 0, "tag": 3, "last": True}),  # No window.
        ([], {"addr": 0, "tag": 1, "last": True, "kind": READ_REQUEST}),
        ([], {"addr": 8, "tag": 1, "last": True}),  # It has no beginning.
        ([first], {"addr": 0, "tag": 1, "last": True}),  # Or another one.
        ([first], {"addr": 16, "tag": 1, "last": True}),  # Something is missing.
        ([first], {"addr": 8, "tag": 0, "last": True}),  # It goes on elsewhere.
        ([first], {"addr": 8, "tag": 1, "last": False, "length": 0}),  # Nothing of it.
    ]
    for before, wrong in cases * 4:
        node = random.randrange(NODES)
        for head in before:
            await tb.piece(node, b"the begin"[:8], **head)
        await tb.piece(node, b"" if "length" in wrong else b"and end", **wrong)
        await ClockCycles(dut.clk_i, 40)
        assert tb.faults == [node], wrong
        # Its life ends of it; others, and its next life, go on.
        await tb.strobe("forget", node)
        tb.held[node] = 0
        for sender in (node, (node + 1) % NODES):
            await tb.send(sender, 1, b"sound %d" % sender)
        await tb.settle(120)
        assert [data for _, data in sorted(tb.got[1])] == sorted(b"sound %d" % n for n in (node, (node + 1) % NODES))
        tb.got.clear()
        tb.faults.clear()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_life_that_ends_takes_half_a_message_with_it_and_whole_ones_arrive(dut):
    tb = Bench(dut)
    await tb.start()
    for turn in range(60):
        node, other = random.sample(range(NODES), 2)
        tb.room = 0
        whole, half = random.randbytes(40), random.randbytes(60)
        await tb.send(node, 0, whole)
        await tb.send(other, 0, b"other")
        for piece, head in tb.pieces(0, half, 16)[: random.randint(1, 3)]:
            await tb.piece(node, piece, **head)
        await tb.strobe("forget", node)
        await ClockCycles(dut.clk_i, 10)
        await tb.send(node, 0, b"anew %d" % turn)
        before = list(tb.credit)
        await tb.settle(200)
        mine = [data for who, data in tb.got[0] if who == node]
        assert mine == [whole, b"anew %d" % turn], "half a message is none"
        assert [data for who, data in tb.got[0] if who == other] == [b"other"]
        # What the life before has sent gives no credit to this one.
        assert tb.credit[node] - before[node] == 1
        tb.held = [0] * NODES
        tb.got.clear()
    assert not tb.faults


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def at_the_end_of_a_claim_nothing_of_it_is_left(dut):
    tb = Bench(dut)
    await tb.start()
    for turn in range(40):
        tb.room = 0
        node = random.randrange(NODES)
        for sender in range(NODES):
            await tb.send(sender, turn % 2, random.randbytes(40))
        for piece, head in tb.pieces(turn % 2, random.randbytes(70), 24)[: random.randint(1, 2)]:
            await tb.piece(node, piece, **head)
        tb.clears = 1
        await ClockCycles(dut.clk_i, 16)
        tb.clears = 0
        tb.held, tb.partial = [0] * NODES, {}
        await tb.settle(60)
        assert not tb.got, "it is the next claim's"
        await tb.send(node, turn % 2, b"next %d" % turn)
        await tb.settle(100)
        assert tb.got[turn % 2] == [(node, b"next %d" % turn)]
        tb.got.clear()
    assert not tb.faults


def test_rl_bridge_take():
    parameters = {"Nodes": NODES, "DataW": 64, "FrameWords": FRAME, "Words": WORDS, "Sinks": SINKS, "MessageMost": MOST}
    bench("rl_bridge_take", rtl("bridge"), __name__, parameters)
