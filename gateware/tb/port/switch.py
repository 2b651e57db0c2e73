"""rl_port_switch, or rl_port_layer, with MACs and services around it, all driven from one loop."""

import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from packets import Packet, words
from rules import PORT_BITS, RULE_BITS, Port, Rule
from streams import never

REASONS = ("full", "foreign", "truncated", "check")


@dataclass
class Source:
    """Frames on their way in: at a port's MAC, which never waits, or of a service. `more` gives the next ones."""

    waiting: deque = field(default_factory=deque)  # (port where it leaves, packet)
    more: Callable | None = None
    pause: Iterator[bool] = field(default_factory=never)
    gaps: bool = False  # Pauses come within frames as well.
    now: list = field(default_factory=list)
    port: int = 0
    bad: bool = False
    sent: int = 0  # Words.


@dataclass
class Sink:
    """Frames that came out, whole, and those that were said to be bad."""

    width: int
    pause: Iterator[bool] = field(default_factory=never)
    frames: list[bytes] = field(default_factory=list)
    bad: list[bytes] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # The cycles in which they ended.
    begins: list[int] = field(default_factory=list)
    words: int = 0
    frame: bytes = b""
    ready: bool = False


class Switch:
    """The device under test."""

    # What the ports are called of the services in the clock domain of the MACs.
    SIDE = ""

    def __init__(self, dut, rules: list[Rule]):
        def number(name):
            return getattr(dut, name).value.to_unsigned()

        self.dut = dut
        self.width, self.ports = number("DataW"), number("Ports")
        self.services = number("Locals" if self.SIDE else "Services")
        self.clock, self.reset = (dut.clk_net_i, dut.rst_net_ni) if self.SIDE else (dut.clk_i, dut.rst_ni)
        self.levels, self.frame_max, self.share_w = number("Levels"), number("FrameMax"), number("ShareW")
        self.words = number("Words")
        self.frame_words = -(-self.frame_max * 8 // self.width)
        self.rules = rules
        assert len(rules) <= number("Rules")
        self.config = [Port(bytes([6, 0, 0, 0, 0, p]), bytes([0xFD, *bytes(6), p])) for p in range(self.ports)]
        self.shares = [self.frame_words] * (self.levels + 1)
        self.rx = [Source() for _ in range(self.ports)]
        self.service_in = [Source() for _ in range(self.services)]
        self.tx = [Sink(self.width) for _ in range(self.ports)]
        self.service_out = [Sink(self.width) for _ in range(self.services)]
        self.counts = [{name: 0 for name in ("frame", "bytes", *REASONS)} for _ in range(self.ports)]
        self.dropped = [[0] * self.levels for _ in range(self.ports)]
        self.cycle = 0
        self.listens = (1 << self.services) - 1

    async def start(self):
        dut = self.dut
        dut.config_i.value = sum(port.pack() << i * PORT_BITS for i, port in enumerate(self.config))
        dut.rules_i.value = sum(rule.pack() << i * RULE_BITS for i, rule in enumerate(self.rules))
        share = sum(share << i * self.share_w for i, share in enumerate(self.shares))
        dut.share_i.value = sum(share << p * self.share_w * (self.levels + 1) for p in range(self.ports))
        self.side("listens_i").value = self.listens
        quiet = [self.side("ready_i"), self.side("valid_i")]
        for port in (self.reset, dut.rx_valid_i, dut.rx_bad_i, dut.tx_ready_i, *quiet):
            port.value = 0
        Clock(self.clock, 2, "ns").start()
        await ClockCycles(self.clock, 8)
        self.reset.value = 1
        await ClockCycles(self.clock, 2)
        cocotb.start_soon(self.run())

    def side(self, name):
        """A port of the services."""
        return getattr(self.dut, self.SIDE + name)

    def send(self, number: int, *packets: Packet):
        """From the network, at a port."""
        self.rx[number].waiting.extend((0, packet) for packet in packets)

    def busy(self) -> bool:
        return any(source.waiting or source.now for source in self.rx + self.service_in)

    async def settle(self, cycles: int | None = None):
        """Until all is sent, and what is inside has had time to leave."""
        while self.busy():
            await ClockCycles(self.clock, 16)
        await ClockCycles(self.clock, cycles or 2 * self.words + 40)

    async def run(self):
        """A cycle after the other."""
        dut = self.dut
        fall, rise = FallingEdge(self.clock), RisingEdge(self.clock)
        out = [self.side(name) for name in ("valid_o", "data_o", "keep_o", "last_o")]
        while True:
            await fall
            self.drive("rx_", self.rx)
            self.drive(self.SIDE, self.service_in)
            dut.tx_ready_i.value = self.readies(self.tx)
            self.side("ready_i").value = self.readies(self.service_out)
            self.side("listens_i").value = self.listens
            await rise
            self.cycle += 1
            self.take(self.tx, dut.tx_valid_o, dut.tx_data_o, dut.tx_keep_o, dut.tx_last_o, dut.tx_bad_o)
            self.take(self.service_out, *out, None)
            ready = self.side("ready_o").value.to_unsigned()
            self.advance(self.rx, (1 << self.ports) - 1)
            self.advance(self.service_in, ready)
            self.count()

    def drive(self, name, sources):
        dut, size = self.dut, self.width // 8
        valid = data = keep = last = bad = port = 0
        for i, source in enumerate(sources):
            if not source.now:
                if not source.waiting and source.more and (packet := source.more()):
                    source.waiting.append(packet)
                if source.waiting and not next(source.pause):
                    source.port, packet = source.waiting.popleft()
                    source.now, source.bad = words(packet.frame, self.width), packet.bad
            elif source.gaps and next(source.pause):
                continue
            if source.now:
                d, k, end = source.now[0]
                valid |= 1 << i
                data |= d << i * self.width
                keep |= k << i * size
                last |= end << i
                bad |= (end and source.bad) << i
            port |= source.port << 3 * i
        getattr(dut, f"{name}valid_i").value = valid
        getattr(dut, f"{name}data_i").value = data
        getattr(dut, f"{name}keep_i").value = keep
        getattr(dut, f"{name}last_i").value = last
        if sources is self.rx:
            dut.rx_bad_i.value = bad
        else:
            self.side("port_i").value = port
        self.offered = {**getattr(self, "offered", {}), id(sources): valid}

    def advance(self, sources, ready):
        for i, source in enumerate(sources):
            if ready >> i & self.offered[id(sources)] >> i & 1:
                source.now.pop(0)
                source.sent += 1

    @staticmethod
    def readies(sinks) -> int:
        value = 0
        for i, sink in enumerate(sinks):
            sink.ready = not next(sink.pause)
            value |= sink.ready << i
        return value

    def take(self, sinks, valid, data, keep, last, bad):
        valid, size = valid.value.to_unsigned(), self.width // 8
        for i, sink in enumerate(sinks):
            assert valid >> i & 1 or not sink.frame, "words of a frame follow each other without a gap"
        if not valid:
            return
        data, keep, last = (signal.value.to_unsigned() for signal in (data, keep, last))
        bad = bad.value.to_unsigned() if bad is not None else 0
        for i, sink in enumerate(sinks):
            if not (valid >> i & 1 and sink.ready):
                continue
            ones = keep >> i * size & (1 << size) - 1
            assert ones and ones & ones + 1 == 0, f"keep {ones:b}"
            if not sink.frame:
                sink.begins.append(self.cycle)
            word = data >> i * self.width & (1 << self.width) - 1
            sink.frame += word.to_bytes(size, "little")[: ones.bit_length()]
            sink.words += 1
            if last >> i & 1:
                (sink.bad if bad >> i & 1 else sink.frames).append(sink.frame)
                sink.ends.append(self.cycle)
                sink.frame = b""
            else:
                assert ones.bit_length() == size, "a word in the middle has all its bytes"

    def count(self):
        """The events of this cycle."""
        events, dropped = self.dut.event_o.value.to_unsigned(), self.dut.dropped_o.value.to_unsigned()
        for p in range(self.ports):
            self.count_event(self.counts[p], events >> 19 * p & (1 << 19) - 1)
            for level in range(self.levels):
                self.dropped[p][level] += dropped >> p * self.levels + level & 1

    @staticmethod
    def count_event(counts, event):
        """A frame, its 14 bits of bytes, and why it was dropped."""
        if event >> 18:
            counts["frame"] += 1
            counts["bytes"] += event >> 4 & 0x3FFF
            reasons = [name for at, name in enumerate(REASONS) if event >> at & 1]
            assert len(reasons) <= 1
            for name in reasons:
                counts[name] += 1


def frame_of(length, dst, src, ether_type=0x88B5, tag=None):
    """A frame of random bytes, with the tag at its end."""
    body = (tag or 0).to_bytes(4, "big") if tag is not None else b""
    frame = dst + src + ether_type.to_bytes(2, "big")
    return (frame + random.randbytes(max(length - 14 - len(body), 0)) + body)[: max(length, 1)]
