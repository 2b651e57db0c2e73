"""The bench of rl_bridge_slave: a manager at its port and the nodes that it asks. Every byte that is asked for or
written, and every answer, is compared with what was said at the port."""

import random
from collections import deque
from dataclasses import dataclass, field

import cocotb
from bridge_bench import DENIED, NO_WINDOW, OK, READ_REQUEST, READ_RESPONSE, WRITE_REQUEST, WRITE_RESPONSE, Head, pack
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

PAGE = 4096
# What becomes of a beat or a burst, as remote_e has it, beside OK.
GONE, NOWHERE, REFUSED = 2, 3, 6
EITHER = "either"  # It was under way when something ended.


@dataclass(frozen=True)
class Region:
    base: int
    size: int
    node: int
    remote: int


@dataclass(eq=False)
class Request:
    """One that a node has, and what became of it."""

    node: int
    head: Head
    bursts: list
    resp: object = None  # OK, GONE, REFUSED or EITHER; None: it has not been answered.


@dataclass(eq=False)
class Burst:
    id: int
    addr: int
    beats: int
    size: int
    kind: int = 1  # INCR.
    data: list = field(default_factory=list)   # Of a write: words, and
    masks: list = field(default_factory=list)  # their strobes.
    requests: list = field(default_factory=list)


class SlaveBench:
    def __init__(self, dut, seed=1):
        self.dut, self.draw = dut, random.Random(seed)
        self.bytes = dut.DataW.value.to_unsigned() // 8
        self.longest = dut.Longest.value.to_unsigned()
        self.joins = bool(dut.Joins.value.to_unsigned())
        self.regions = []
        self.requests = ([], [])      # Reads and writes, as they came.
        self.under_way = deque()      # Not answered yet.
        self.reads = deque()          # Beats that are to come: burst, address or None, request.
        self.unasked = deque()        # Those of them that no request has asked for.
        self.written = deque()        # Bytes that no request has brought: burst, node, address, byte.
        self.bursts = deque()         # Writes without an answer.
        self.pause, self.denies, self.loses = 0.0, 0.0, 0.0
        self.deaf = self.refuses = False  # Nothing is taken; and it is said that nothing will be.
        self.cycle, self.forgot = 0, {}   # When the last life of a node has ended.
        self.speaks = None                # The request whose answer is on its way.
        self.answered = [0, 0]        # Bursts.
        self.failed = 0

    async def start(self):
        dut = self.dut
        Clock(dut.clk_i, 4, "ns").start()
        for name in dir(dut):
            if name.endswith("_i") and name != "clk_i":
                getattr(dut, name).value = int(name == "tick_i")
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 3)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 20)
        for task in (self._requests(), self._answers(), self._read_beats(), self._write_answers()):
            cocotb.start_soon(task)

    async def set(self, index, region):
        """Sets a region, at once and for all that comes later."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.set_index_i.value, dut.set_valid_i.value = index, 1
        dut.set_region_i.value = pack((1, 1), (region.base, 64), (region.size, 64), (region.node, 8),
                                      (region.remote, 64))
        await FallingEdge(dut.clk_i)
        dut.set_valid_i.value = 0
        self.regions = self.regions[:index] + [region] + self.regions[index + 1:]

    async def forget(self, node):
        """A life of a node ends: what it was asked for is lost."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.forget_i.value, dut.forget_node_i.value = 1, node
        self.forgot[node] = self.cycle + 1
        for request in self.requests[0] + self.requests[1]:
            if request.node == node and (request.resp is None or request is self.speaks):
                request.resp = EITHER
        self.under_way = deque(request for request in self.under_way if request.resp is None)
        await FallingEdge(dut.clk_i)
        dut.forget_i.value = 0

    # -- what a burst means
    def leads(self, addr):
        """Node and address there."""
        for region in self.regions:
            if region.base <= addr < region.base + region.size:
                return (region.node, addr - region.base + region.remote) if region.node < 4 else None
        return None

    def beats(self, burst):
        """Where each beat of it leads, or None for each."""
        whole = burst.size == self.bytes.bit_length() - 1
        first = burst.addr // self.bytes
        bad = (burst.beats > 1 and (burst.kind != 1 or not whole)) or (
            first % (PAGE // self.bytes) + burst.beats > PAGE // self.bytes) or burst.size > self.bytes.bit_length() - 1
        if bad:
            return [None] * burst.beats
        return [self.leads(burst.addr if i == 0 else (first + i) * self.bytes) for i in range(burst.beats)]

    @staticmethod
    def content(node, addr):
        """The byte that is in a node's memory."""
        return (addr * 167 + (addr >> 8) * 13 + (addr >> 16) * 5 + node * 61 + 7) & 0xFF

    # -- the manager
    async def _pauses(self, pause):
        while self.draw.random() < pause:
            await FallingEdge(self.dut.clk_i)

    async def _handshake(self, valid, ready):
        dut = self.dut
        getattr(dut, valid).value = 1
        await RisingEdge(dut.clk_i)
        while not getattr(dut, ready).value:
            await RisingEdge(dut.clk_i)

    async def address(self, channel, burst, pause=0.0):
        """Says a burst on `ar` or `aw`; it counts from when it is taken."""
        dut = self.dut
        await self._pauses(pause)
        for name, value in (("id", burst.id), ("addr", burst.addr), ("len", burst.beats - 1), ("size", burst.size),
                            ("burst", burst.kind)):
            getattr(dut, f"{channel}{name}_i").value = value
        await self._handshake(f"{channel}valid_i", f"{channel}ready_o")
        places = self.beats(burst)
        if channel == "ar":
            for i, place in enumerate(places):
                beat = [burst, i, place, None]
                self.reads.append(beat)
                if place:
                    self.unasked.append(beat)
        else:
            self.bursts.append(burst)
            for place, word, mask in zip(places, burst.data, burst.masks):
                for lane in range(self.bytes) if place else ():
                    if mask >> lane & 1:
                        at = place[1] // self.bytes * self.bytes + lane
                        self.written.append((burst, place[0], at, word >> 8 * lane & 0xFF))
        await FallingEdge(dut.clk_i)
        getattr(dut, f"{channel}valid_i").value = 0

    async def words(self, burst, pause=0.0, some=slice(None)):
        dut = self.dut
        last = burst.beats - 1
        for i in range(burst.beats)[some]:
            await self._pauses(pause)
            dut.wdata_i.value, dut.wstrb_i.value, dut.wlast_i.value = burst.data[i], burst.masks[i], int(i == last)
            await self._handshake("wvalid_i", "wready_o")
            await FallingEdge(dut.clk_i)
            dut.wvalid_i.value = 0

    def filled(self, burst, holes=0.0):
        """The burst with random words."""
        lanes = (1 << self.bytes) - 1
        for i in range(burst.beats):
            mask = lanes
            if burst.size < self.bytes.bit_length() - 1 and burst.beats == 1:
                low = burst.addr % self.bytes
                mask &= (1 << (low >> burst.size << burst.size) + (1 << burst.size)) - (1 << low)
            elif i == 0:
                mask &= lanes << burst.addr % self.bytes
            if self.draw.random() < holes:
                mask &= self.draw.choice([0, lanes >> 3, lanes << 2, self.draw.getrandbits(self.bytes)])
            burst.data.append(self.draw.getrandbits(8 * self.bytes))
            burst.masks.append(mask)
        return burst

    # -- the nodes
    async def _requests(self):
        """Takes requests, and looks at what they are of."""
        dut, words, offered = self.dut, deque(), {}
        head_w = len(dut.x_head_i)
        while True:
            await FallingEdge(dut.clk_i)
            ready = 0 if self.deaf else self.draw.choice([1, 2]) if self.draw.random() >= self.pause else 0
            takes = bool(words) and self.draw.random() >= self.pause
            dut.q_ready_i.value, dut.w_ready_i.value = ready, int(takes)
            dut.q_refused_i.value = 3 * self.refuses
            await RisingEdge(dut.clk_i)
            self.cycle += 1
            valid = dut.q_valid_o.value.to_unsigned()
            for kind in (0, 1):
                if valid & 1 << kind:
                    offered.setdefault(kind, self.cycle)
                if ready & valid & 1 << kind:
                    node = dut.q_node_o.value.to_unsigned() >> 8 * kind & 0xFF
                    head = Head.unpacked(dut.q_head_o.value.to_unsigned() >> head_w * kind & (1 << head_w) - 1)
                    request = self._asked(kind, node, head)
                    # It has begun a cycle before it was offered, maybe in a life that has ended since.
                    if offered.pop(kind) <= self.forgot.get(node, -1) + 1:
                        request.resp = EITHER
                    self.requests[kind].append(request)
                    if kind:
                        words.append([request, b""])
                    elif request.resp is None:
                        self.under_way.append(request)
            if takes and dut.w_valid_o.value:
                words[0][1] += dut.w_data_o.value.to_unsigned().to_bytes(self.bytes, "little")
                if dut.w_last_o.value:
                    request, data = words.popleft()
                    self._brought(request, data)
                    if request.resp is None:
                        self.under_way.append(request)

    def _asked(self, kind, node, head):
        assert head.kind == (WRITE_REQUEST if kind else READ_REQUEST) and head.id >> 5 & 1 == kind
        length = head.length if kind else head.count
        assert 0 < length <= self.longest and head.addr % PAGE + length <= PAGE, head
        request = Request(node, head, [])
        if kind == 0:
            end = head.addr
            while end < head.addr + length:
                beat = self.unasked.popleft()
                burst, _, place, _ = beat
                assert place == (node, end), (head, place, hex(end))
                end = (end // self.bytes + 1) * self.bytes
                if burst.size < self.bytes.bit_length() - 1:
                    end = (place[1] >> burst.size << burst.size) + (1 << burst.size)
                beat[3] = request
                if burst not in request.bursts:
                    request.bursts.append(burst)
            assert end == head.addr + length
        return request

    def _brought(self, request, data):
        head = request.head
        offset = head.addr % self.bytes
        assert len(data) == -(-(offset + head.length) // self.bytes) * self.bytes
        for i in range(head.length):
            burst, node, addr, byte = self.written.popleft()
            assert (node, addr, byte) == (request.node, head.addr + i, data[offset + i])
            if burst not in request.bursts:
                request.bursts.append(burst)
                burst.requests.append(request)

    async def _answers(self):
        """Answers requests, in any order; some with an error, some never."""
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            if not self.under_way or self.deaf or self.draw.random() < self.pause:
                continue
            request = self.draw.choice(list(self.under_way)[:3])
            self.under_way.remove(request)
            assert len({burst.id for burst in request.bursts}) == 1, "an error of one id is another's"
            if self.draw.random() < self.loses:
                request.resp = GONE
                continue
            head, denied = request.head, self.draw.random() < self.denies
            reads = head.kind == READ_REQUEST
            length = head.count if reads else head.length
            request.resp, self.speaks = REFUSED if denied else OK, request
            offset = head.addr % self.bytes
            data = bytes(offset) + bytes(self.content(request.node, head.addr + i) for i in range(length))
            count = -(-len(data) // self.bytes) if reads and not denied else 1
            kind = READ_RESPONSE if reads else WRITE_RESPONSE
            if denied:
                answer = Head(kind, head.id, head.addr, tag=self.draw.choice([DENIED, NO_WINDOW]))
            else:
                answer = Head(kind, head.id, head.addr, length, OK, length=length if reads else 0)
            dut.x_node_i.value, dut.x_head_i.value = request.node, answer.packed()
            for i in range(count):
                word = data[i * self.bytes: (i + 1) * self.bytes].ljust(self.bytes, b"\xee")
                dut.x_data_i.value, dut.x_last_i.value = int.from_bytes(word, "little"), int(i == count - 1)
                await self._handshake("x_valid_i", "x_ready_o")
                await FallingEdge(dut.clk_i)
                dut.x_valid_i.value = 0
                # A frame may have gaps.
                await self._pauses(self.pause / 8)
            self.speaks = None

    # -- what comes back to the manager
    async def _read_beats(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            ready = self.draw.random() >= self.pause
            dut.rready_i.value = int(ready)
            await RisingEdge(dut.clk_i)
            if not (ready and dut.rvalid_o.value):
                continue
            burst, i, place, request = self.reads.popleft()
            last = i == burst.beats - 1
            assert dut.rid_o.value.to_unsigned() == burst.id and bool(dut.rlast_o.value) == last, (burst, i)
            resp = dut.rresp_o.value.to_unsigned()
            expected = request.resp if request else GONE if place else NOWHERE
            assert place is None or request or self.refuses, "a beat that nobody was asked for"
            assert expected is not None and expected in (resp, EITHER), (burst, i, resp, expected)
            if resp == OK:
                data = dut.rdata_o.value.to_unsigned().to_bytes(self.bytes, "little")
                base = place[1] // self.bytes * self.bytes
                end = request.head.addr + request.head.count
                for at in range(place[1], min(base + self.bytes, end)):
                    assert data[at - base] == self.content(place[0], at), (burst, i)
            self.failed += resp != OK
            self.answered[0] += last

    async def _write_answers(self):
        dut, before = self.dut, OK
        while True:
            await FallingEdge(dut.clk_i)
            ready = self.draw.random() >= self.pause
            dut.bready_i.value = int(ready)
            await RisingEdge(dut.clk_i)
            if not (ready and dut.bvalid_o.value):
                continue
            burst = self.bursts.popleft()
            assert dut.bid_o.value.to_unsigned() == burst.id
            brought = not any(waits[0] is burst for waits in self.written)
            # When a life ends, so does a request whose words are still on their way.
            assert brought or self.refuses or self.forgot, "bytes of it have gone nowhere"
            resp, found = dut.bresp_o.value.to_unsigned(), [request.resp for request in burst.requests]
            assert None not in found, "it is answered before its node has"
            if None in self.beats(burst):
                expected = {NOWHERE}
            elif not found and brought:
                # A burst without a byte may end with the piece before it.
                expected = {OK, before}
            else:
                expected = self.first_error(found if brought else [*found, GONE])
            assert resp in expected, (burst.addr, resp, found)
            before = resp
            self.failed += resp != OK
            self.answered[1] += 1

    @staticmethod
    def first_error(found):
        """What a burst may be answered with of whose requests this has become."""
        expected = set()
        for resp in found:
            if resp not in (OK, EITHER):
                return expected | {resp}
            if resp == EITHER:
                expected |= {GONE, REFUSED}
        return expected | {OK}

    async def settled(self, timeout=60_000):
        for _ in range(timeout):
            if not (self.reads or self.bursts or ((self.unasked or self.written) and not self.refuses)):
                break
            await RisingEdge(self.dut.clk_i)
        assert not (self.reads or self.bursts), "not all is answered"
        if self.refuses:
            self.unasked.clear()
            self.written.clear()
        assert not (self.unasked or self.written), "not all has been asked for"

    def joined(self, kind):
        """Requests of more than one burst, and bursts that they are of at most."""
        bursts = [len(request.bursts) for request in self.requests[kind]]
        return sum(count > 1 for count in bursts), max(bursts, default=0)
