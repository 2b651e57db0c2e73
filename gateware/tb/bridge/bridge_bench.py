"""What the bridge's benches share: two bridges with memories, a bare transport, and the cable (rl_bridge_tb)."""

import logging
import random
from dataclasses import dataclass, replace

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiStreamBus, AxiStreamFrame, AxiStreamSource

PERIOD = 4  # ns: 250 MHz.
TICK = 50  # Cycles, of what nodes count time by.
READ, WRITE, ATOMIC, STREAM = 1, 2, 4, 8
ANY = 0xFF  # Of a window: every node.
READ_REQUEST, WRITE_REQUEST, READ_RESPONSE, WRITE_RESPONSE, STREAM_PIECE, ATOMIC_REQUEST, BATCH = 1, 2, 3, 4, 5, 9, 10
OK, NO_WINDOW, DENIED, MALFORMED, MEMORY_FAILED, BUSY = range(6)


def pack(*fields):
    """A packed struct, its first field highest: pairs of value and width."""
    word = 0
    for value, width in fields:
        assert 0 <= value < 1 << width, (value, width)
        word = word << width | value
    return word


@dataclass(frozen=True)
class Head:
    """`head_t`."""

    kind: int
    id: int = 0
    addr: int = 0
    count: int = 0
    tag: int = 0
    last: bool = False
    length: int = 0

    def packed(self):
        return pack((self.kind, 4), (int(self.last), 1), (self.length, 16), (self.id, 16), (self.addr, 64),
                    (self.count, 32), (self.tag, 16))

    @staticmethod
    def unpacked(word):
        values = []
        for width in (16, 32, 64, 16, 16, 1, 4):
            values.append(word & (1 << width) - 1)
            word >>= width
        tag, count, addr, ident, length, last, kind = values
        return Head(kind, ident, addr, count, tag, bool(last), length)


@dataclass(frozen=True)
class Message:
    """What has come to a stream, and from whom."""

    node: int
    stream: int
    data: bytes
    cut: bool


class Sink:
    """A bridge's streams: messages of different nodes may come word by word in turn."""

    def __init__(self, dut, end, width, seed):
        self.dut, self.width, self.draw = dut, width, random.Random(seed)
        self.pause, self.lazy, self.messages, self.parts = False, 0.0, [], {}
        self.signals = {name: getattr(dut, f"{end}_in_t{name}") for name in ("valid", "ready", "data", "keep", "last", "user")}
        self.signals["ready"].value = 0
        cocotb.start_soon(self._run())

    async def _run(self):
        wires = self.signals
        while True:
            await FallingEdge(self.dut.clk_i)
            ready = not self.pause and self.draw.random() >= self.lazy
            wires["ready"].value = int(ready)
            await RisingEdge(self.dut.clk_i)
            if not (ready and self.dut.rst_ni.value and wires["valid"].value == 1):
                continue
            user, keep = wires["user"].value.to_unsigned(), wires["keep"].value.to_unsigned()
            count = keep.bit_length()
            assert keep == (1 << count) - 1
            node, stream, cut = user >> 16 & 0xFF, user & 0xFFFF, bool(user >> 24)
            part = self.parts.setdefault(node, [])
            assert not part or part[0][0] == stream, "two messages of a node at once"
            part.append((stream, wires["data"].value.to_unsigned().to_bytes(self.width, "little")[:count]))
            if wires["last"].value:
                self.messages.append(Message(node, stream, b"".join(data for _, data in self.parts.pop(node)), cut))

    async def recv(self, timeout=400_000):
        """The next message."""
        for _ in range(timeout):
            if self.messages:
                return self.messages.pop(0)
            await RisingEdge(self.dut.clk_i)
        raise AssertionError("no message")


class Bench:
    """The bridges (0, 1), the bare transport (2), and what goes on between them."""

    def __init__(self, dut, seed=1):
        self.dut, self.draw = dut, random.Random(seed)
        self.bytes = dut.DataW.value.to_unsigned() // 8
        self.longest = dut.Longest.value.to_unsigned()
        self.memory = dut.MemoryWords.value.to_unsigned() * self.bytes
        self.seed = seed
        logging.getLogger("cocotb.rl_bridge_tb").setLevel(logging.WARNING)

    async def start(self, delay=0, loss=0, latency=10, pause=0, rto=30, tick=TICK, ports="ab"):
        dut = self.dut
        Clock(dut.clk_i, PERIOD, "ns").start()
        for name in dir(dut):
            if name.endswith("_i") and name != "clk_i":
                getattr(dut, name).value = 0
        dut.rst_ni.value, dut.live_i.value = 0, 7
        dut.seed_i.value = self.seed * 7919 & 0xFFFF_FFFF
        dut.delay_i.value, dut.loss_i.value, dut.rto_i.value, dut.tick_cycles_i.value = delay, loss, rto, tick
        self.epochs = [0x1000, 0x2000, 0x3000]
        self.set_epochs()
        dut.latency_i.value = latency | latency << 16
        dut.pause_i.value = pause | pause << 8
        dut.got_ready_i.value = 1
        self.ports = [AxiMaster(AxiBus.from_prefix(dut, end), dut.clk_i, dut.rst_ni, reset_active_level=False,
                                max_burst_len=min(256, 4096 // self.bytes)) for end in ports]
        self.out = [AxiStreamSource(AxiStreamBus.from_prefix(dut, f"{end}_out"), dut.clk_i, dut.rst_ni, False) for end in "ab"]
        self.into = [Sink(dut, end, self.bytes, self.seed) for end in "ab"]
        for log in (p.write_if.log for p in self.ports):
            log.setLevel(logging.WARNING)
        await ClockCycles(dut.clk_i, 4)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        self.got = []
        cocotb.start_soon(self._collect())
        await ClockCycles(dut.clk_i, 1100)

    def set_epochs(self):
        self.dut.epoch_i.value = sum(e << 32 * i for i, e in enumerate(self.epochs))

    async def cycles(self, count):
        await ClockCycles(self.dut.clk_i, count)

    async def window(self, end, index, base=0, length=1, rights=0, peer=ANY, at=None, valid=True):
        """Sets a window of a bridge."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        at = base if at is None else at
        dut.window_index_i.value = index
        dut.window_i.value = pack((int(valid), 1), (base, 64), (length, 64), (at, 64), (peer, 8), (rights, 4))
        dut.window_valid_i.value = 1 << end
        await FallingEdge(dut.clk_i)
        dut.window_valid_i.value = 0

    async def region(self, end, index, base, size, node, remote, valid=True):
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.region_index_i.value = index
        dut.region_i.value = pack((int(valid), 1), (base, 64), (size, 64), (node, 8), (remote, 64))
        dut.region_valid_i.value = 1 << end
        await FallingEdge(dut.clk_i)
        dut.region_valid_i.value = 0

    # -- memories from the side
    async def poke(self, end, addr, data):
        assert addr % self.bytes == 0 and len(data) % self.bytes == 0
        dut = self.dut
        for at in range(0, len(data), self.bytes):
            await FallingEdge(dut.clk_i)
            dut.at_i.value = (addr + at) // self.bytes
            dut.poke_data_i.value = int.from_bytes(data[at : at + self.bytes], "little")
            dut.poke_i.value = 1 << end
        await FallingEdge(dut.clk_i)
        dut.poke_i.value = 0

    async def peek(self, end, addr, length):
        dut, got, width = self.dut, [], 8 * self.bytes
        first, last = addr // self.bytes, (addr + length - 1) // self.bytes
        await FallingEdge(dut.clk_i)
        for word in range(first, last + 1):
            dut.at_i.value = word
            await FallingEdge(dut.clk_i)
            value = dut.peek_data_o.value.to_unsigned() >> end * width & (1 << width) - 1
            got.append(value.to_bytes(self.bytes, "little"))
        return b"".join(got)[addr - first * self.bytes :][:length]

    async def fill(self, end, seed=0):
        """Random bytes in all of a memory; returns them."""
        data = random.Random(seed).randbytes(self.memory)
        await self.poke(end, 0, data)
        return bytearray(data)

    def events(self, end):
        """What a bridge has counted."""
        value = getattr(self.dut, f"events_of_{end}_o").value.to_unsigned()
        return {name: value >> 32 * i & 0xFFFF_FFFF for i, name in enumerate(("denied", "malformed", "served"))}

    def check(self):
        assert self.dut.wrong_o.value.to_unsigned() == 0, "a memory was asked for what it has not"

    # -- the bare transport
    async def say(self, node, head, payload=b"", channel=0):
        """Sends a message that may be anything; returns when the transport has it."""
        dut = self.dut
        words = [payload[at : at + self.bytes] for at in range(0, len(payload), self.bytes)] or [b""]
        await FallingEdge(dut.clk_i)
        dut.raw_head_peer_i.value, dut.raw_head_desc_i.value = node << 1 | channel, head.packed()
        dut.raw_head_valid_i.value = 1
        while True:
            await RisingEdge(dut.clk_i)
            if dut.raw_head_ready_o.value:
                break
        await FallingEdge(dut.clk_i)
        dut.raw_head_valid_i.value = 0
        for i, word in enumerate(words):
            dut.raw_valid_i.value = 1
            dut.raw_data_i.value = int.from_bytes(word, "little")
            dut.raw_last_i.value = int(i == len(words) - 1)
            while True:
                await RisingEdge(dut.clk_i)
                if dut.raw_ready_o.value:
                    break
            await FallingEdge(dut.clk_i)
        dut.raw_valid_i.value = 0

    async def _collect(self):
        dut, payload = self.dut, b""
        while True:
            await RisingEdge(dut.clk_i)
            if dut.got_valid_o.value and dut.got_ready_i.value:
                payload += dut.got_data_o.value.to_unsigned().to_bytes(self.bytes, "little")
                if dut.got_last_o.value:
                    head = Head.unpacked(dut.got_desc_o.value.to_unsigned())
                    self.got.append((dut.got_peer_o.value.to_unsigned(), head, payload[: head.length]))
                    payload = b""

    async def answer(self, timeout=20000):
        """The next message that has come to the bare transport: peer, head, payload."""
        for _ in range(timeout):
            if self.got:
                return self.got.pop(0)
            await RisingEdge(self.dut.clk_i)
        raise AssertionError("no answer")

    async def tell(self, node, head, payload=b"", channel=0):
        """A message whose length is that of its payload."""
        await self.say(node, replace(head, length=len(payload)), payload, channel)

    async def ask(self, node, head, payload=b""):
        """A request and its answer."""
        await self.tell(node, head, payload)
        peer, answer, data = await self.answer()
        assert peer == node << 1 and answer.id == head.id and answer.addr == head.addr, (head, answer)
        return answer, data


def record(addr, data):
    """A write of a batch."""
    return addr.to_bytes(8, "big") + len(data).to_bytes(2, "big") + bytes(6) + data + bytes(-len(data) % 8)


def frame(node, stream, data):
    """A message for a stream of a node."""
    return AxiStreamFrame(data, tuser=node << 16 | stream)
