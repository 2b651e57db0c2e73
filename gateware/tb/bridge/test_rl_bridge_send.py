"""rl_bridge_send: messages in pieces, to whom they are for; and none to whoever has a node's place next."""

import random
from collections import deque

import cocotb
from bridge_bench import STREAM_PIECE, Head
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge
from runner import bench, rtl

NODES, LONGEST, WORDS, STREAMS = 4, 64, 32, 16
MOST = 64 << 10


class Bench:
    def __init__(self, dut):
        self.dut, self.words = dut, deque()
        self.takes, self.refuses, self.pause = True, False, 0.3
        self.pieces, self.counted = [], 0  # What has left: node, head and bytes. Messages that went nowhere.

    async def start(self):
        dut = self.dut
        for port in (dut.rst_ni, dut.s_valid_i, dut.drop_i, dut.drop_node_i, dut.q_ready_i, dut.q_refused_i,
                     dut.w_ready_i):
            port.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 3)
        dut.rst_ni.value = 1
        cocotb.start_soon(self.give())
        cocotb.start_soon(self.take())

    def send(self, node, stream, data, ends=True):
        count = max(1, -(-len(data) // 8))
        if ends and data and len(data) % 8 == 0:
            count += random.randrange(2)  # The last word may be empty.
        for i in range(count):
            word = data[8 * i : 8 * i + 8]
            self.words.append((node, stream, word, ends and i + 1 == count))
            node, stream = random.randrange(256), random.randrange(1 << 16)  # Looked at with the first word only.

    async def give(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            gives = bool(self.words) and random.random() >= self.pause
            dut.s_valid_i.value = gives
            if gives:
                node, stream, word, last = self.words[0]
                dut.s_node_i.value, dut.s_stream_i.value, dut.s_last_i.value = node, stream, last
                dut.s_data_i.value = int.from_bytes(word, "little")
                dut.s_keep_i.value = (1 << len(word)) - 1
            await ReadOnly()
            took = gives and dut.s_ready_o.value
            await RisingEdge(dut.clk_i)
            if took:
                self.words.popleft()

    async def take(self):
        dut, left = self.dut, None
        while True:
            await FallingEdge(dut.clk_i)
            ready = self.takes and left is None and random.random() >= self.pause
            dut.q_ready_i.value, dut.q_refused_i.value = ready, self.refuses
            dut.w_ready_i.value = random.random() >= self.pause
            await ReadOnly()
            begins = ready and dut.q_valid_o.value
            word = None
            if left is not None and dut.w_valid_o.value and dut.w_ready_i.value:
                word = dut.w_data_o.value.to_unsigned().to_bytes(8, "little"), bool(dut.w_last_o.value)
            node, head = dut.q_node_o.value.to_unsigned(), dut.q_head_o.value.to_unsigned()
            self.counted += int(dut.refused_o.value)
            await RisingEdge(dut.clk_i)
            if begins:
                head = Head.unpacked(head)
                assert head.kind == STREAM_PIECE and 0 <= head.length <= LONGEST
                self.pieces.append((node, head, b""))
                left = head.length
            if word:
                node, head, data = self.pieces[-1]
                self.pieces[-1] = (node, head, data + word[0][: min(8, left)])
                assert word[1] == (left <= 8), "as many words as its bytes need"
                left = None if word[1] else left - 8

    async def settle(self):
        while self.words:
            await RisingEdge(self.dut.clk_i)
        await ClockCycles(self.dut.clk_i, 400)

    def messages(self):
        """What has left, put together: node, stream, bytes. Pieces of messages are one behind the other."""
        found, at = [], 0
        for node, head, data in self.pieces:
            if at == 0:
                found.append((node, head.tag, b""))
            assert (node, head.tag, head.addr) == (*found[-1][:2], at)
            found[-1] = (node, head.tag, found[-1][2] + data)
            at = 0 if head.last else at + len(data)
        self.pieces = []
        return found

    async def drop(self, node):
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.drop_i.value, dut.drop_node_i.value = 1, node
        await FallingEdge(dut.clk_i)
        dut.drop_i.value = 0


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def messages_go_in_pieces_to_whom_they_are_for(dut):
    tb = Bench(dut)
    await tb.start()
    sent, nowhere = [], 0
    for _ in range(300):
        node, stream = random.choice([0, 1, 2, 3, 3, NODES, 255]), random.choice([0, 3, 15, 15, STREAMS, 999])
        lengths = [0, 1, 7, 8, 9, LONGEST - 1, LONGEST, LONGEST + 1, random.randrange(400)]
        data = random.randbytes(random.choice(lengths))
        tb.send(node, stream, data)
        if node < NODES and stream < STREAMS:
            sent.append((node, stream, data))
        else:
            nowhere += 1
        tb.pause = random.choice([0, 0.3, 0.7])
    await tb.settle()
    assert tb.messages() == sent and tb.counted == nowhere


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def of_a_message_that_is_too_long_the_first_part_goes(dut):
    tb = Bench(dut)
    await tb.start()
    tb.pause = 0
    long, exact, after = random.randbytes(MOST + 100), random.randbytes(MOST), b"after it"
    for data in (long, after, exact, after):
        tb.send(1, 2, data)
    await tb.settle()
    assert tb.messages() == [(1, 2, data[:MOST]) for data in (long, after, exact, after)] and tb.counted == 1


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def what_is_for_a_node_that_has_ended_goes_nowhere(dut):
    tb = Bench(dut)
    await tb.start()
    for turn in range(60):
        tb.takes, tb.refuses = False, False
        other = random.randbytes(random.randint(1, 40))
        tb.send(2, 5, other)
        # Some of it is here, maybe not its end.
        data = random.randbytes(random.choice([8, 40, 80]))
        tb.send(1, 7, data, ends=turn % 2 == 0)
        await ClockCycles(dut.clk_i, 120)
        await tb.drop(1)
        if turn % 2:
            tb.send(1, 7, b"the rest")
        tb.takes = True
        again = random.randbytes(20)
        tb.send(1, 7, again)
        await tb.settle()
        assert tb.messages() == [(2, 5, other), (1, 7, again)], "only what is of its new life"


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_piece_that_is_offered_stays_until_it_is_taken_or_refused(dut):
    tb = Bench(dut)
    await tb.start()
    for refuses in (False, True) * 10:
        tb.takes = tb.refuses = False
        data = random.randbytes(30)
        tb.send(1, 7, data)
        await ClockCycles(dut.clk_i, 60)
        assert dut.q_valid_o.value
        await tb.drop(1)
        if refuses:
            tb.refuses = True
            await ClockCycles(dut.clk_i, 4)
            assert not dut.q_valid_o.value, "then it goes nowhere"
        await ClockCycles(dut.clk_i, 8)
        assert bool(dut.q_valid_o.value) != refuses
        tb.takes, tb.refuses = True, False
        await tb.settle()
        assert tb.messages() == ([] if refuses else [(1, 7, data)])


def test_rl_bridge_send():
    parameters = {"Nodes": NODES, "DataW": 64, "Longest": LONGEST, "Words": WORDS}
    bench("rl_bridge_send", rtl("bridge"), __name__, parameters)
