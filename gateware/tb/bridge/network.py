"""A network of whole nodes of the bridge: two of gateware (rl_bridge_node_tb), and the twin, `Endpoint` of crates/core/bridge,
as a third. Every frame that gateware sends has to be one that the Rust parser takes, between nodes that there are."""

import logging
from collections import deque

import cocotb
import golden
from bridge_bench import PERIOD, Bench, Sink
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiStreamBus, AxiStreamSource

MACS = [0x02524C000011, 0x0A0B0C0D0E0F, 0x10E2D5000002]  # Gateware, gateware, the twin.
TWIN = 2


class Network(Bench):
    """The nodes, and what their frames meet with on their way."""

    def __init__(self, dut, seed=1):
        super().__init__(dut, seed)
        self.loss = self.damage = self.stall = 0.0
        self.frames = {0: 0, 1: 0, TWIN: 0}  # Sent, by node.
        self.heads = []  # Of all frames.
        self.rest = [deque(), deque()]  # Words on their way to a node.
        self.part = [b"", b""]
        self.twin, self.cycle = None, 0

    async def start(self, latency=10, pause=0, rto=30, tick=50):
        """All know each other, and nothing is open."""
        dut = self.dut
        Clock(dut.clk_i, PERIOD, "ns").start()
        for name in dir(dut):
            if name.endswith("_i") and name != "clk_i":
                getattr(dut, name).value = 0
        dut.rst_ni.value = 0
        dut.seed_i.value = self.seed * 7919 & 0xFFFF_FFFF
        dut.rto_i.value, dut.tick_cycles_i.value = rto, tick
        dut.epoch_i.value = 0x1000 | 0x2000 << 32
        dut.mac_i.value = MACS[0] | MACS[1] << 48
        dut.latency_i.value, dut.pause_i.value = latency | latency << 16, pause | pause << 8
        dut.tx_ready_i.value = 3
        self.port = AxiMaster(AxiBus.from_prefix(dut, "a"), dut.clk_i, dut.rst_ni, reset_active_level=False,
                              max_burst_len=min(256, 4096 // self.bytes))
        self.port.write_if.log.setLevel(logging.WARNING)
        self.out = AxiStreamSource(AxiStreamBus.from_prefix(dut, "a_out"), dut.clk_i, dut.rst_ni, False)
        self.out.log.setLevel(logging.WARNING)
        self.into = Sink(dut, "a", self.bytes, self.seed)
        await ClockCycles(dut.clk_i, 4)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        cocotb.start_soon(self._carry())
        await ClockCycles(dut.clk_i, 1100)
        for end in (0, 1):
            for node, mac in enumerate(MACS):
                await self.peer(end, node, mac)

    async def peer(self, end, node, mac):
        """Writes an entry of a node's table of peers."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.peer_node_i.value, dut.peer_known_i.value, dut.peer_mac_i.value = node, 1, mac
        dut.peer_valid_i.value = 1 << end
        await FallingEdge(dut.clk_i)
        dut.peer_valid_i.value = 0

    async def verdicts(self):
        """How many frames became what at both nodes, by number."""
        dut, found = self.dut, [{}, {}]
        for verdict in range(16):
            await FallingEdge(dut.clk_i)
            dut.verdict_count_of_i.value = verdict
            await ClockCycles(dut.clk_i, 2)
            value = dut.verdict_count_o.value.to_unsigned()
            for end in (0, 1):
                if count := value >> 32 * end & 0xFFFF_FFFF:
                    found[end][verdict] = count
        return found

    # -- the network
    async def _carry(self):
        """Frames go whole to whom they are for, unless they are lost or damaged."""
        dut = self.dut
        clear = True
        while True:
            await FallingEdge(dut.clk_i)
            if any(self.rest) or not clear:
                clear = not any(self.rest)
                self._drive()
            if self.stall:
                ready = sum((self.draw.random() >= self.stall) << end for end in (0, 1))
                dut.tx_ready_i.value = ready
            else:
                ready = 3
            await RisingEdge(dut.clk_i)
            self.cycle += 1
            if valid := dut.tx_valid_o.value.to_unsigned() & ready:
                self._collect(valid)
            if self.twin and self.cycle % 64 == 0:
                self.twin.time(self.cycle * PERIOD)
                self.hear_twin()

    def _drive(self):
        dut, width = self.dut, 8 * self.bytes
        valid = data = keep = last = bad = 0
        for end in (0, 1):
            if not self.rest[end]:
                continue
            word, is_last, is_bad = self.rest[end].popleft()
            valid |= 1 << end
            data |= int.from_bytes(word, "little") << end * width
            keep |= (1 << len(word)) - 1 << end * self.bytes
            last |= is_last << end
            bad |= is_bad << end
        dut.rx_valid_i.value = valid
        if valid:
            dut.rx_data_i.value, dut.rx_keep_i.value = data, keep
            dut.rx_last_i.value, dut.rx_bad_i.value = last, bad

    def _collect(self, valid):
        dut, width = self.dut, 8 * self.bytes
        data, keep = dut.tx_data_o.value.to_unsigned(), dut.tx_keep_o.value.to_unsigned()
        last = dut.tx_last_o.value.to_unsigned()
        for end in (0, 1):
            if not valid >> end & 1:
                continue
            size = (keep >> end * self.bytes & (1 << self.bytes) - 1).bit_length()
            word = (data >> end * width & (1 << width) - 1).to_bytes(self.bytes, "little")
            self.part[end] += word[:size]
            if last >> end & 1:
                frame, self.part[end] = self.part[end], b""
                self.send(end, frame)

    def send(self, source, frame):
        """A node sends a frame."""
        parsed = golden.bridge_parse(frame)
        assert not isinstance(parsed, golden.BridgeFault), f"node {source} sends what the parser refuses: {parsed!r}"
        head = parsed[0]
        assert head.src == MACS[source] and head.dst in MACS, head
        self.frames[source] += 1
        self.heads.append(head)
        if self.draw.random() < self.loss:
            return
        bad = self.draw.random() < self.damage
        to = MACS.index(head.dst)
        if to == TWIN:
            if self.twin and not bad:
                for said in self.twin.exchange(frame):
                    self.send(TWIN, said)
            return
        if bad:
            at = self.draw.randrange(len(frame))
            frame = frame[:at] + bytes([frame[at] ^ 1 << self.draw.randrange(8)]) + frame[at + 1 :]
        words = [frame[at : at + self.bytes] for at in range(0, len(frame), self.bytes)]
        self.rest[to].extend((word, int(i == len(words) - 1), int(bad)) for i, word in enumerate(words))

    def hear_twin(self):
        """What the twin has to say goes out."""
        for said in self.twin.says():
            self.send(TWIN, said)

    def opened_twin(self, memory):
        """The twin with this memory, all of it open to node 0, and all of its streams."""
        self.twin = golden.Endpoint(MACS[TWIN], self.longest, 0x77, memory)
        self.twin.window(0, 0, len(memory), MACS[0], 3)
        self.twin.window(1, 0, 16, MACS[0], 8)
        return self.twin

    async def until(self, what, timeout=200_000):
        """Waits for that to be true."""
        for _ in range(timeout):
            if found := what():
                return found
            await RisingEdge(self.dut.clk_i)
        raise AssertionError("it does not come")
