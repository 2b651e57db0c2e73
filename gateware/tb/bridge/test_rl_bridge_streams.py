"""rl_bridge_streams: whole messages between role, ports and bridge, whoever is reset, cut off or routed meanwhile."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly
from runner import bench, rtl
from structs import fields, pack

STREAMS = 2
NOBODY = 255
BITS = 74  # Of message_t: valid, data, keep, last.


def split(value, width):
    """The elements of a packed array, the first one first."""
    number = value.to_unsigned()
    return [number >> at * width & (1 << width) - 1 for at in range(STREAMS)]


def word(data=0, keep=255, last=0, valid=1):
    return valid << 73 | data << 9 | keep << 1 | last


def parts(number):
    """Valid, data and last."""
    return number >> 73 & 1, number >> 9 & (1 << 64) - 1, number & 1


class Bench:
    """The gateware; whole messages are lists of numbers, and so is what has come out."""

    def __init__(self, dut):
        self.dut = dut
        self.from_role, self.from_port = [[], []], [[], []]  # Words that are offered.
        self.role_ready = self.port_ready = 0.8
        self.out, self.ports, self.role = [], [[], []], [[], []]
        self.partial = {}

    async def start(self):
        dut = self.dut
        for port in (dut.rst_role_ni, dut.role_rst_ni, dut.rst_net_ni, dut.clear_i, dut.route_valid_i, dut.port_i,
                     dut.role_i, dut.in_i, dut.in_stream_i, dut.out_ready_i, dut.role_ready_i, dut.port_ready_i):
            port.value = 0
        dut.listens_i.value = 1
        Clock(dut.clk_net_i, 10, "ns").start()
        Clock(dut.clk_role_i, 7, "ns").start()
        await ClockCycles(dut.clk_net_i, 5)
        dut.rst_role_ni.value = dut.rst_net_ni.value = dut.role_rst_ni.value = 1
        await ClockCycles(dut.clk_net_i, 5)
        cocotb.start_soon(self.run_role())
        cocotb.start_soon(self.run_net())

    def put(self, key, into, number):
        """A word has come; the message is whole with its last one."""
        _, data, last = parts(number)
        self.partial.setdefault(key, []).append(data)
        if last:
            into.append(self.partial.pop(key))

    async def run_role(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_role_i)
            offered = []
            for queues, port in ((self.from_role, dut.role_i), (self.from_port, dut.port_i)):
                heads = [queue[0] if queue else 0 for queue in queues]
                offered.append(heads)
                port.value = heads[1] << BITS | heads[0]
            ready = [sum((random.random() < odds) << s for s in range(STREAMS))
                     for odds in (self.role_ready, self.port_ready)]
            dut.role_ready_i.value, dut.port_ready_i.value = ready
            await ReadOnly()
            if dut.role_rst_ni.value:
                for s in range(STREAMS):
                    for into, value, taken, key in ((self.role, dut.role_o, ready[0], "role"),
                                                    (self.ports, dut.port_o, ready[1], "port")):
                        number = split(value.value, BITS)[s]
                        if parts(number)[0] and taken >> s & 1:
                            self.put((key, s), into[s], number)
            takes = (dut.role_ready_o.value.to_unsigned(), dut.port_ready_o.value.to_unsigned())
            await dut.clk_role_i.rising_edge
            for queues, ready_o, heads in zip((self.from_role, self.from_port), takes, offered, strict=True):
                for s in range(STREAMS):
                    if heads[s] and ready_o >> s & 1 and queues[s]:
                        queues[s].pop(0)

    async def run_net(self):
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_net_i)
            dut.out_ready_i.value = random.random() < 0.8
            await ReadOnly()
            number = dut.out_o.value.to_unsigned()
            if parts(number)[0] and dut.out_ready_i.value:
                if "out" not in self.partial:
                    self.user = dut.out_user_o.value.to_unsigned()
                whole = len(self.out)
                self.put("out", self.out, number)
                if len(self.out) > whole:
                    self.out[-1] = (self.user >> 16, self.user & 0xFFFF, self.out[-1])

    async def route(self, stream, node=None, there=0):
        dut = self.dut
        await dut.clk_net_i.rising_edge
        dut.route_index_i.value, dut.route_valid_i.value = stream, 1
        dut.route_i.value = pack("route_t", valid=node is not None, node=node or 0, there=there)
        await dut.clk_net_i.rising_edge
        dut.route_valid_i.value = 0
        await ClockCycles(dut.clk_net_i, 8)

    async def bridge(self, stream, data, ends=True):
        """Words of a message from another node, each when there is room."""
        dut = self.dut
        for at, one in enumerate(data):
            while True:
                await dut.clk_net_i.rising_edge
                if fields(dut.in_sinks_o, "sinks_t")["room"] >> stream & 1:
                    break
            dut.in_i.value, dut.in_stream_i.value = word(one, last=ends and at + 1 == len(data)), stream
            await dut.clk_net_i.rising_edge
            dut.in_i.value = 0

    async def reset_role(self):
        dut = self.dut
        await FallingEdge(dut.clk_role_i)
        dut.role_rst_ni.value = 0
        self.from_role = [[], []]
        for key in [key for key in self.partial if key[0] == "role" or key[0] == "port"]:
            del self.partial[key]
        await ClockCycles(dut.clk_role_i, 24)
        await FallingEdge(dut.clk_role_i)
        dut.role_rst_ni.value = 1
        await ClockCycles(dut.clk_net_i, 12)

    async def settle(self):
        await ClockCycles(self.dut.clk_net_i, 200)


def a_message(tag, words=None):
    return [tag << 32 | random.getrandbits(16) << 8 | at for at in range(words or random.randint(1, 20))]


def as_words(data):
    return [word(one, last=at + 1 == len(data)) for at, one in enumerate(data)]


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def the_role_sends_to_where_the_route_leads(dut):
    tb = Bench(dut)
    await tb.start()
    for tag in range(60):
        stream, node, there = random.randrange(2), random.choice([None, 3, 7]), random.randrange(16)
        await tb.route(stream, node, there)
        sent = [a_message(tag) for _ in range(3)]
        for data in sent:
            tb.from_role[stream] += as_words(data)
        await tb.settle()
        if node is None:
            assert (tb.out, tb.ports[stream]) == ([], sent)
        else:
            assert (tb.out, tb.ports[stream]) == ([(node, there, data) for data in sent], [])
        tb.out, tb.ports = [], [[], []]


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def half_a_message_of_the_role_is_none(dut):
    tb = Bench(dut)
    await tb.start()
    await tb.route(0, 4, 9)
    for tag in range(30):
        tb.from_role[0] += as_words(a_message(tag, 12))[: random.randint(1, 11)]
        await tb.settle()
        assert tb.out == []
        await tb.reset_role()
        data = a_message(tag)
        tb.from_role[0] += as_words(data)
        await tb.settle()
        assert tb.out == [(4, 9, data)], "nothing of before is before it"
        tb.out = []
    # A route that ends in the middle does not divide it.
    data = a_message(99, 8)
    tb.from_role[0] += as_words(data)[:4]
    await tb.settle()
    await tb.route(0)
    tb.from_role[0] += as_words(data)[4:]
    await tb.settle()
    assert tb.ports == [[], []] and tb.out == [(NOBODY, 0, data)]


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def the_role_gets_whole_messages_from_both_sides(dut):
    tb = Bench(dut)
    await tb.start()
    from_port, from_bridge = [[], []], [[], []]
    for tag in range(120):
        stream, data = random.randrange(2), a_message(tag)
        if random.random() < 0.5:
            tb.from_port[stream] += as_words(data)
            from_port[stream].append(data)
        else:
            from_bridge[stream].append(data)
            await tb.bridge(stream, data)
    await tb.settle()
    await tb.settle()
    for stream in range(STREAMS):
        got = tb.role[stream]
        assert [data for data in got if data in from_port[stream]] == from_port[stream]
        assert [data for data in got if data in from_bridge[stream]] == from_bridge[stream]
        assert len(got) == len(from_port[stream]) + len(from_bridge[stream])


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def a_role_that_is_reset_gets_no_rest(dut):
    tb = Bench(dut)
    await tb.start()
    for tag in range(30):
        data = a_message(tag, 12)
        half = random.randint(1, 11)
        await tb.bridge(0, data[:half], ends=False)
        await tb.settle()
        await tb.reset_role()
        await tb.bridge(0, data[half:])
        await tb.settle()
        assert tb.role[0] == []
        data = a_message(tag)
        await tb.bridge(0, data)
        await tb.settle()
        assert tb.role[0] == [data]
        tb.role[0].clear()


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def the_end_of_a_claim_cuts_messages_off(dut):
    tb = Bench(dut)
    await tb.start()
    for tag in range(20):
        await tb.route(1, 5, 2)
        tb.role_ready = random.choice([0, 0.8])
        await tb.bridge(0, a_message(tag, 9)[: random.randint(1, 8)], ends=False)
        dut.clear_i.value = 1
        await ClockCycles(dut.clk_net_i, 16)
        dut.clear_i.value = 0
        # The role is still there for a time, and sees no end of the message.
        await tb.settle()
        assert tb.role[0] == [] and not fields(dut.in_sinks_o, "sinks_t")["room"] & 1
        tb.from_role[1] += as_words(a_message(tag, 4))
        await tb.settle()
        assert tb.out == [] and len(tb.ports[1]) == 1, "the route is gone"
        await tb.reset_role()
        tb.role_ready = 0.8
        await tb.settle()
        data = a_message(tag)
        await tb.bridge(0, data)
        await tb.settle()
        assert tb.role[0] == [data], "of the next claim all arrives"
        tb.role[0].clear()
        tb.ports[1].clear()


def test_rl_bridge_streams():
    bench("rl_bridge_streams", rtl("bridge"), __name__)
