"""rl_bridge_owner: which place each node has, against a reference, and that no window or route is ever another node's."""

import random
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from runner import bench, rtl
from structs import LAYOUTS, fields, pack

OWN = 0x02524C000007
PLACES = 8
ROUTES = range(16, 32)  # A route has the number of its stream, and this more.
DRAIN = 5  # A power of two, in cycles: how long a place waits for its next node.
GROUP = 1 << 40
OPERATIONS = 1500


@dataclass
class Reference:
    """The nodes by place, and windows and routes: each what it says and whose it is."""

    nodes: list = field(default_factory=lambda: [None] * PLACES)
    windows: dict = field(default_factory=dict)
    full: bool = False
    given: int = -1  # The place that was given away last.

    def set(self, index, window, node):
        """Returns the places of which connections end."""
        self.full = False
        if not window["valid"] or node & GROUP or node == OWN:
            self.windows.pop(index, None)
            return []
        ends = []
        if node not in self.nodes:
            named = {owner for other, (_, owner) in self.windows.items() if other != index}
            turn = [(self.given + 1 + i) % PLACES for i in range(PLACES)]
            able = [place for place in turn if self.nodes[place] not in named]
            able.sort(key=lambda place: self.nodes[place] is not None)
            if not able:
                self.full = True
                return []
            self.given = able[0]
            # Once for the node that was there, and once for this one.
            ends = able[:1] * (1 if self.nodes[able[0]] is None else 2)
            self.nodes[able[0]] = node
        place = self.nodes.index(node)
        route = {"valid": 1, "node": place, "there": window["base"] & 15}
        self.windows[index] = (route if index in ROUTES else window | {"peer": place}, node)
        return ends

    def end(self):
        """Likewise."""
        self.nodes, self.windows, self.full = [None] * PLACES, {}, False
        return list(range(PLACES))


class Bench:
    """The gateware, and the node's tables as it writes them."""

    def __init__(self, dut):
        self.dut, self.edge = dut, dut.clk_i.rising_edge
        self.nodes, self.windows, self.ends = [None] * PLACES, {}, []
        self.regions = {}  # The nodes to whose memory streams lead.
        self.cycle, self.parted = 0, {}  # When a place was last taken from a node.
        self.wants = {}  # Whose each window is to be once it is open.

    async def start(self):
        dut = self.dut
        dut.rst_ni.value = dut.set_i.value = dut.end_i.value = 0
        dut.mac_i.value = OWN
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 3)
        dut.rst_ni.value = 1
        cocotb.start_soon(self.watch())

    async def watch(self):
        dut = self.dut
        while True:
            await self.edge
            self.cycle += 1
            if dut.window_valid_o.value:
                window = fields(dut.window_o, "window_t")
                index = dut.window_index_o.value.to_unsigned()
                self.windows.pop(index, None)
                if window["valid"]:
                    self.opens(index, window, window["peer"])
            if dut.route_valid_o.value:
                route = fields(dut.route_o, "route_t")
                index = ROUTES[dut.set_index_i.value.to_unsigned()]
                self.windows.pop(index, None)
                if route["valid"]:
                    self.opens(index, route, route["node"])
            if dut.region_valid_o.value:
                region, stream = fields(dut.region_o, "region_t"), dut.region_index_o.value.to_unsigned()
                self.regions.pop(stream, None)
                if region["valid"]:
                    assert (region["base"], region["size"], region["remote"]) == (stream << 44, 1 << 44, 0)
                    self.regions[stream] = region["node"]
            if dut.ends_o.value:
                for index in ROUTES:
                    self.windows.pop(index, None)
            if dut.peer_valid_o.value:
                place = dut.peer_node_o.value.to_unsigned()
                if self.nodes[place] is not None:
                    assert not dut.peer_known_o.value, "a node takes the place of one that is heard"
                    self.parted[place] = self.cycle
                self.nodes[place] = dut.peer_mac_o.value.to_unsigned() if dut.peer_known_o.value else None
                self.ends.append(place)
            for index, (window, node) in self.windows.items():
                place = window["node" if index in ROUTES else "peer"]
                assert self.nodes[place] in (node, None), f"{index} is another's"

    def opens(self, index, what, place):
        assert self.cycle - self.parted.get(place, -100) > 1 << DRAIN, "it is not drained"
        self.windows[index] = (what, self.wants[index])

    async def settle(self, port):
        """An operation from its begin to its end."""
        port.value = 1
        await self.edge
        port.value = 0
        await ClockCycles(self.dut.clk_i, 2)
        while self.dut.busy_o.value:
            await self.edge
        if port is self.dut.end_i:
            self.parted.clear()  # After the end of all it is the firmware that waits.
        await ClockCycles(self.dut.clk_i, random.randrange(3))

    async def set(self, index, window, node):
        self.wants[index] = node
        self.dut.set_index_i.value = index % 16
        self.dut.set_route_i.value = index in ROUTES
        self.dut.set_window_i.value = pack("window_t", **window)
        self.dut.set_peer_i.value = node
        await self.settle(self.dut.set_i)

    def compare(self, reference, ends):
        assert self.ends == ends
        self.ends.clear()
        assert self.windows == reference.windows
        routes = {index - 16: what["node"] for index, (what, _) in self.windows.items() if index in ROUTES}
        assert self.regions == routes, "a stream's messages and its memory are another node's"
        # A place that nobody has had is not written.
        assert self.nodes == reference.nodes
        assert bool(self.dut.full_o.value) == reference.full


def a_window(valid=True):
    layout = LAYOUTS["window_t"]
    return {name: random.getrandbits(width) for name, (_, width) in layout.items()} | {"valid": int(valid)}


def a_mac():
    return random.getrandbits(48) & ~GROUP


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(nodes=[3, 9, 16])
async def each_node_has_the_place_of_the_reference(dut, nodes):
    """With few nodes, with one too many, and with many."""
    tb, reference = Bench(dut), Reference()
    await tb.start()
    # Addresses that differ in one bit only are two nodes'.
    macs = [a_mac() for _ in range(nodes - 2)]
    macs += [macs[0] ^ 1, macs[0] ^ 1 << 47]
    seen = {"full": 0, "met": 0, "again": 0}
    for _ in range(OPERATIONS):
        if random.random() < 0.01:
            ends = reference.end()
            await tb.settle(dut.end_i)
        else:
            node = random.choice([*macs, *macs, OWN, random.choice(macs) | GROUP])
            index, window = random.randrange(ROUTES.stop), a_window(random.random() < 0.8)
            again = node in reference.nodes
            ends = reference.set(index, window, node)
            await tb.set(index, window, node)
            seen["full"] += reference.full
            seen["met"] += bool(ends)
            seen["again"] += again and index in reference.windows
        tb.compare(reference, ends)
    assert seen["met"] > 10 and seen["again"] > 100
    assert (seen["full"] > 0) == (nodes > PLACES)


@cocotb.test()
async def a_ninth_node_waits_for_a_place(dut):
    """It is refused while eight are named, and what it asked for stays as it was; its own window's place is free."""
    tb, reference = Bench(dut), Reference()
    await tb.start()
    macs = [a_mac() for _ in range(PLACES + 1)]

    async def opens(index, node, valid=True):
        window = a_window(valid)
        ends = reference.set(index, window, node)
        await tb.set(index, window, node)
        tb.compare(reference, ends)
        return ends

    for index, node in enumerate(macs[:PLACES]):
        assert await opens(index, node) == [index]
    # The first node in a second window has one place.
    assert await opens(8, macs[0]) == []
    assert await opens(9, macs[8]) == [] and dut.full_o.value
    # Of its two windows one is not enough to go.
    assert await opens(0, macs[8]) == [] and dut.full_o.value and 0 in tb.windows
    assert await opens(0, macs[0], valid=False) == [] and not dut.full_o.value
    assert await opens(9, macs[8]) == [] and dut.full_o.value
    # In the place of the last one there is room.
    assert await opens(8, macs[8]) == [0, 0] and not dut.full_o.value
    assert await opens(9, macs[0]) == [] and dut.full_o.value
    ends = reference.end()
    await tb.settle(dut.end_i)
    tb.compare(reference, ends)
    assert await opens(9, macs[0]) == [1]


def test_rl_bridge_owner():
    bench("rl_bridge_owner", rtl("bridge"), __name__, {"DrainW": DRAIN})
