"""Managers and a memory around rl_memory_share or rl_memory_hub, a cycle at a time; each checks what comes to it."""

import itertools
import random
from collections import defaultdict, deque
from collections.abc import Iterator

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from streams import never

FIELDS = {"araddr": "AddrW", "arlen": 8, "arid": "IdW", "awaddr": "AddrW", "awlen": 8, "awid": "IdW", "wdata": "DataW",
          "wstrb": "StrbW", "wlast": 1, "arvalid": 1, "awvalid": 1, "wvalid": 1, "rready": 1, "bready": 1}

UPPER = ("arready", "awready", "wready", "rvalid", "rlast", "bvalid")
LOWER = ("arvalid", "araddr", "arlen", "arid", "awvalid", "awaddr", "awlen", "awid", "wvalid", "wdata", "wstrb", "wlast",
         "rready", "bready")  # fmt: skip


def lengths(*choices: int) -> Iterator[int]:
    """Bursts of these lengths, in turn; 0: none in this cycle."""
    return itertools.cycle(choices)


class Manager:
    """Asks as often as its lengths say. A beat's data is its address, whose upper bits are the manager. With more than
    one id what comes to it may be out of order, but not that of one id."""

    def __init__(self, number, reads=None, writes=None, takes=None, answers=None, sends=None, ids=None):
        self.number, self.ids = number, ids
        self.reads, self.writes = reads or lengths(0), writes or lengths(0)
        self.takes, self.answers, self.sends = takes or never(), answers or never(), sends or never()
        self.ar = self.aw = self.w = None
        self.data = deque()
        self.reading, self.writing = defaultdict(deque), defaultdict(deque)  # By ordered ids.
        self.next_read = self.next_write = 0
        self.read_beats = self.written_beats = 0

    def burst(self, at, beats, area):
        addr = self.number << 31 | area << 30 | (at & 0xFFFFF) << 6
        return addr, beats - 1, random.randrange(self.ids) if self.ids else at & 3

    def order(self, queues, ident):
        """What is to come of this id, or of all of them."""
        return queues[ident if self.ids else None]

    def drive(self):
        """What it offers in this cycle."""
        if self.ar is None and (beats := next(self.reads)):
            self.ar = self.burst(self.next_read, beats, 0)
            self.next_read += beats
        if self.aw is None and (beats := next(self.writes)):
            self.aw = self.burst(self.next_write, beats, 1)
            self.next_write += beats
            addr, length, ident = self.aw
            self.data.extend((addr + 64 * i, i == length) for i in range(beats))
            self.order(self.writing, ident).append(ident)
        if self.w is None and self.data and not next(self.sends):
            self.w = self.data.popleft()
        (ar, aw, w) = (self.ar or (0, 0, 0)), (self.aw or (0, 0, 0)), (self.w or (0, 0))
        return {
            "arvalid": self.ar is not None, "araddr": ar[0], "arlen": ar[1], "arid": ar[2],
            "awvalid": self.aw is not None, "awaddr": aw[0], "awlen": aw[1], "awid": aw[2],
            "wvalid": self.w is not None, "wdata": w[0], "wlast": w[1], "wstrb": (w[0] >> 6) & 0xFF,
            "rready": not next(self.takes), "bready": not next(self.answers),
        }  # fmt: skip

    def see(self, driven, saw):
        """What was taken from it, and what it took."""
        if driven["arvalid"] and saw["arready"]:
            addr, length, ident = self.ar
            self.order(self.reading, ident).extend((addr + 64 * i, ident, i == length) for i in range(length + 1))
            self.ar = None
        if driven["awvalid"] and saw["awready"]:
            self.aw = None
        if driven["wvalid"] and saw["wready"]:
            self.w = None
            self.written_beats += 1
        if saw["rvalid"] and driven["rready"]:
            got = (saw["rdata"], saw["rid"], bool(saw["rlast"]))
            reading = self.order(self.reading, got[1])
            assert reading and got == reading.popleft(), "each has its own data, in order"
            assert saw["rresp"] == (got[0] >> 6) % 3
            self.read_beats += 1
        if saw["bvalid"] and driven["bready"]:
            writing = self.order(self.writing, saw["bid"])
            assert writing and saw["bid"] == writing.popleft(), "each has its own answers, in order"

    def is_done(self):
        """Nothing is to come."""
        return not any(self.reading.values()) and not any(self.writing.values()) and not self.data


class Memory:
    """Takes all there is, but where it pauses, and answers after a while, a beat in each cycle and way. `owner` says
    of an id whose it is. With `mixes` what has different ids comes in any order, bursts that are read even by turns."""

    def __init__(self, latency=30, pause=None, owner=lambda ident: ident >> 2, managers=2, mixes=False):
        self.latency, self.pause, self.owner, self.mixes = latency, pause or never(), owner, mixes
        self.cycle = 0
        self.beats, self.answers = deque(), deque()
        self.bursts, self.data = deque(), deque()
        self.asked = [0] * managers  # Beats to be read, of each manager.
        self.written = [0] * managers

    def drive(self):
        self.cycle += 1
        r = self.beats[0] if self.beats and self.beats[0][0] <= self.cycle else None
        b = self.answers[0] if self.answers and self.answers[0][0] <= self.cycle else None
        return {
            "arready": not next(self.pause), "awready": not next(self.pause), "wready": not next(self.pause),
            "rvalid": r is not None, "rdata": r[1] if r else 0, "rid": r[2] if r else 0, "rlast": r[3] if r else 0,
            "rresp": (r[1] >> 6) % 3 if r else 0,
            "bvalid": b is not None, "bid": b[1] if b else 0, "bresp": 0,
        }  # fmt: skip

    def queue(self, queue, entries, ident_of):
        """Puts these behind what has their id, or behind all."""
        if not self.mixes:
            return queue.extend(entries)
        # The first may be on the wires.
        at = max([1, *(i + 1 for i, entry in enumerate(queue) if ident_of(entry) == ident_of(entries[0]))])
        for entry in entries:
            at = random.randint(min(at, len(queue)), len(queue))
            queue.insert(at, (max(entry[0], queue[at - 1][0] if at else 0), *entry[1:]))
            at += 1

    def see(self, driven, saw):
        if driven["rvalid"]:
            assert saw["rready"], "what was asked for is taken"
            self.beats.popleft()
        if driven["bvalid"]:
            assert saw["bready"], "answers are taken"
            self.answers.popleft()
        if saw["arvalid"] and driven["arready"]:
            addr, length, ident = saw["araddr"], saw["arlen"], saw["arid"]
            assert addr >> 31 == self.owner(ident), "who asks is in the id's upper bits"
            due = self.cycle + self.latency
            beats = [(due, addr + 64 * i, ident, i == length) for i in range(length + 1)]
            self.queue(self.beats, beats, lambda beat: beat[2])
            self.asked[addr >> 31] += length + 1
        if saw["awvalid"] and driven["awready"]:
            assert saw["awaddr"] >> 31 == self.owner(saw["awid"])
            self.bursts.append((saw["awaddr"], saw["awlen"], saw["awid"]))
        if saw["wvalid"] and driven["wready"]:
            self.data.append((saw["wdata"], bool(saw["wlast"]), saw["wstrb"]))
        while self.bursts and self.data:
            addr, length, ident = self.bursts[0]
            data, last, strb = self.data.popleft()
            assert (data, last, strb) == (addr, length == 0, (addr >> 6) & 0xFF), "data goes with its address"
            self.written[self.owner(ident)] += 1
            self.bursts[0] = (addr + 64, length - 1, ident)
            if last:
                self.bursts.popleft()
                self.queue(self.answers, [(self.cycle + self.latency, ident)], lambda answer: answer[1])


class Share:
    """All of it together."""

    def __init__(self, dut, managers, memory=None, shares=(1, 1), sizes=None):
        self.dut, self.managers, self.memory, self.shares = dut, managers, memory or Memory(), shares
        sizes = sizes or {name: getattr(dut, name).value.to_unsigned() for name in ("AddrW", "IdW", "DataW")}
        sizes["StrbW"] = sizes["DataW"] // 8
        self.widths = {name: sizes.get(width, width) for name, width in FIELDS.items()}
        self.given = {"rdata": sizes["DataW"], "rresp": 2, "rid": sizes["IdW"], "bid": sizes["IdW"], "bresp": 2}
        # To look a port up by its name, or to drive one with the value that it has, takes longer than the simulation.
        self.pins = {f"s_{name}_i": getattr(dut, f"s_{name}_i") for name in FIELDS}
        self.pins |= {f"m_{name}_i": getattr(dut, f"m_{name}_i") for name in self.memory.drive()}
        self.upper = {name: getattr(dut, f"s_{name}_o") for name in (*UPPER, *self.given)}
        self.lower = {name: getattr(dut, f"m_{name}_o") for name in LOWER}
        self.held = dict.fromkeys(self.pins, 0)

    def put(self, pin, value):
        if self.held[pin] != value:
            self.held[pin] = self.pins[pin].value = value

    async def start(self):
        dut = self.dut
        dut.rst_ni.value = 0
        dut.share_i.value = self.shares[0] | self.shares[1] << dut.ShareW.value.to_unsigned()
        for pin in self.pins.values():
            pin.value = 0
        Clock(dut.clk_i, 2, "ns").start()
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1

    async def run(self, cycles):
        dut = self.dut
        for _ in range(cycles):
            await FallingEdge(dut.clk_i)
            driven = [manager.drive() for manager in self.managers]
            for name, width in self.widths.items():
                self.put(f"s_{name}_i", sum(int(own[name]) << n * width for n, own in enumerate(driven)))
            answer = self.memory.drive()
            for name, value in answer.items():
                self.put(f"m_{name}_i", int(value))
            await RisingEdge(dut.clk_i)
            saw = {name: int(pin.value) for name, pin in self.upper.items()}
            for n, manager in enumerate(self.managers):
                own = {name: saw[name] >> n & 1 for name in UPPER}
                own |= {name: saw[name] >> n * width & (1 << width) - 1 for name, width in self.given.items()}
                manager.see(driven[n], own)
            self.memory.see(answer, {name: int(pin.value) for name, pin in self.lower.items()})

    async def beats(self, cycles, warm=300):
        """Beats that the memory has given and taken for each manager in so many cycles."""
        await self.run(warm)
        reads, writes = [m.read_beats for m in self.managers], list(self.memory.written)
        await self.run(cycles)
        return (
            [m.read_beats - before for m, before in zip(self.managers, reads, strict=True)],
            [now - before for now, before in zip(self.memory.written, writes, strict=True)],
        )

    async def finish(self):
        """Nothing new: all that was asked for comes to its end, and nothing is under way."""
        for manager in self.managers:
            manager.reads = manager.writes = lengths(0)
            manager.takes = manager.answers = manager.sends = never()
        await self.run(2000)
        for manager in self.managers:
            assert manager.is_done()
        assert not self.dut.busy_o.value
