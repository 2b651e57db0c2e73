"""rl_port_layer: the switch with a role behind it in a clock domain of its own, which comes and goes."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from packets import OURS, Packet, words
from reserved import MAC_CONTROL
from rules import GROUP, OTHER, OWN, REST, Rule
from runner import bench, rtl
from streams import PAUSES, never, sometimes
from switch import Switch, frame_of

PEER = bytes([2, 0, 0, 0, 0, 9])
FAR = bytes([2, 0, 0, 0, 0, 8])
ROLE, LOCAL = 1, 2  # Services, as masks: stream 0 and the local one.
PERIODS = [2, 6, 1.5]  # Of the role's clock, in ns; the network's is 2.
RULES = [
    Rule(1, whom=OWN, what=REST, consume=ROLE),
    Rule(3, whom=OWN, consume=LOCAL),
    Rule(3, whom=GROUP, consume=ROLE | LOCAL, passes=3),
    Rule(3, whom=OTHER, passes=3),
]


class Layer(Switch):
    """Two ports, a stream of the role at port 0 and a local service."""

    SIDE = "local_"

    def __init__(self, dut, rules=RULES, forwards=False):
        super().__init__(dut, rules)
        self.forwards = forwards
        self.received = []
        self.total = {name: 0 for name in self.counts[0]}
        self.left = [0, 0]  # Frames and bytes.
        self.event_pause = never()

    async def start(self, period=2, pause=None):
        dut = self.dut
        dut.stream_i.value = 1 << 4 | self.forwards  # It sends at port 0.
        for port in (dut.rst_role_ni, dut.role_rst_ni, dut.role_listens_i, dut.role_valid_i, dut.role_ready_i):
            port.value = 0
        dut.rx_event_ready_i.value = dut.tx_event_ready_i.value = 1
        Clock(dut.clk_role_i, int(period * 1000), "ps").start()
        cocotb.start_soon(self.release())
        await super().start()
        await ClockCycles(dut.clk_role_i, 8)
        cocotb.start_soon(self.hear(pause or never()))

    async def release(self):
        await ClockCycles(self.dut.clk_role_i, 8)
        self.dut.rst_role_ni.value = 1

    async def role(self, there: bool):
        """The role comes out of its reset and listens, or goes."""
        self.dut.role_rst_ni.value = self.dut.role_listens_i.value = there
        await ClockCycles(self.dut.clk_role_i, 8)
        await ClockCycles(self.clock, 8)

    async def hear(self, pause):
        """What the role receives; what it had of a frame when it was reset is forgotten."""
        dut, size = self.dut, self.width // 8
        frame = b""
        while True:
            ready = not next(pause)
            dut.role_ready_i.value = ready
            await RisingEdge(dut.clk_role_i)
            if not dut.role_rst_ni.value:
                assert not dut.role_valid_o.value
                frame = b""
            elif ready and dut.role_valid_o.value:
                length = dut.role_keep_o.value.to_unsigned().bit_length()
                frame += dut.role_data_o.value.to_unsigned().to_bytes(size, "little")[:length]
                if dut.role_last_o.value:
                    self.received.append(frame)
                    frame = b""

    async def say(self, frames, pause):
        """What the role sends."""
        dut, middle, rise = self.dut, FallingEdge(self.dut.clk_role_i), RisingEdge(self.dut.clk_role_i)
        for frame in frames:
            for data, keep, last in words(frame, self.width):
                await middle
                while next(pause):
                    dut.role_valid_i.value = 0
                    await middle
                dut.role_valid_i.value = 1
                dut.role_data_i.value, dut.role_keep_i.value, dut.role_last_i.value = data, keep, last
                await rise
                while not dut.role_ready_o.value:
                    await rise
        await middle
        dut.role_valid_i.value = 0

    def count(self):
        dut = self.dut
        event = dut.rx_event_o.value.to_unsigned()
        if event >> 18 and dut.rx_event_ready_i.value:
            self.count_event(self.total, event)
        if dut.tx_event_valid_o.value and dut.tx_event_ready_i.value:
            self.left[0] += 1
            self.left[1] += dut.tx_event_bytes_o.value.to_unsigned()
        # They wait while one of port 0's shell is counted.
        dut.rx_event_ready_i.value, dut.tx_event_ready_i.value = not next(self.event_pause), not next(self.event_pause)

    async def settle(self, cycles=None):
        await super().settle(cycles)
        await ClockCycles(self.dut.clk_role_i, 2 * self.frame_words + 40)


def mixed(layer, number, count):
    """Frames for the role, for the local service, for a group, and for others, each with where it goes."""
    for _ in range(count):
        own = layer.config[number].mac
        dst = random.choice([own, FAR, FAR, bytes([3, 0, 0, 0, 0, 1])])
        yield frame_of(random.choice([60, 65, random.randint(14, 1514)]), dst, PEER, random.choice([0x88B5, OURS[0]]))


@cocotb.test()
@cocotb.parametrize(period=PERIODS)
async def each_gets_its_frames_and_all_are_counted(dut, period):
    layer = Layer(dut)
    await layer.start(period, PAUSES["ragged"]() if period < 2 else None)
    layer.event_pause = sometimes(0.3)
    await layer.role(True)
    role, local, passed, sent = [], [], [], []
    for frame in mixed(layer, 0, 40):
        group, own = frame[0] & 1, frame[:6] == layer.config[0].mac
        ours = frame[12:14] == OURS[0].to_bytes(2, "big")
        role += [frame] * (group or (own and not ours))
        local += [frame] * (group or (own and ours))
        passed += [frame] * (not own)
        sent.append(frame)
        layer.send(0, Packet(frame))
        await layer.settle(3 * layer.frame_words * 2)
    assert layer.received == role and layer.service_out[0].frames == local and layer.tx[1].frames == passed
    assert layer.total["frame"] == 40 and layer.total["bytes"] == sum(map(len, sent))
    assert layer.left == [len(passed), sum(map(len, passed))]
    assert not any(layer.total[name] for name in ("full", "foreign", "truncated", "check"))


@cocotb.test()
@cocotb.parametrize(period=PERIODS)
async def passing_goes_on_whatever_the_role_does(dut, period):
    """A role that is reset again and again in the middle of frames, both ways: nothing that passes is lost."""
    layer = Layer(dut)
    await layer.start(period, sometimes(0.2))
    passing, for_role, own = [], [], []
    for _ in range(60):
        passing.append(frame_of(random.randint(60, 1514), FAR, PEER))
        for_role.append(frame_of(random.randint(60, 1514), layer.config[0].mac, PEER))
        layer.send(0, Packet(passing[-1]), Packet(for_role[-1]))
    while layer.busy():
        await layer.role(True)
        frame = frame_of(random.randint(60, 1514), PEER, layer.config[0].mac)
        own.append(frame)
        task = cocotb.start_soon(layer.say([frame] * 3, never()))
        await ClockCycles(layer.clock, random.randint(1, 6 * layer.frame_words))
        task.cancel()
        await layer.role(False)
        dut.role_valid_i.value = 0
    await layer.role(True)
    await layer.settle()
    assert layer.tx[1].frames == passing
    assert set(layer.received) <= set(for_role) and layer.received, "what comes after a reset begins with a frame"
    assert set(layer.tx[0].frames) <= set(own) and layer.tx[0].frames, "half a frame of the role never leaves"
    assert layer.total["full"] + layer.total["foreign"] > 0 and layer.total["frame"] == 120


@cocotb.test()
async def a_role_hears_nothing_that_came_for_the_one_before(dut):
    """Frames that wait for a role are gone with it, also those that it has not begun to take."""
    layer = Layer(dut)
    taking = []
    await layer.start(pause=(not taking for _ in iter(int, 1)))
    await layer.role(True)
    own = layer.config[0].mac
    layer.send(0, *(Packet(frame_of(200, own, PEER)) for _ in range(5)))
    await layer.settle()
    await layer.role(False)
    await layer.settle()
    taking.append(True)
    await layer.role(True)
    last = frame_of(100, own, PEER)
    layer.send(0, Packet(last))
    await layer.settle()
    assert layer.received == [last]


@cocotb.test()
@cocotb.parametrize(forwards=[False, True])
async def only_who_forwards_sends_under_other_addresses(dut, forwards):
    """A role that inspects what passes sends on what it lets through; never what is reserved."""
    hook = [Rule(3, what=REST, passes=3, consume=ROLE, hook=True), Rule(3, passes=3)]
    layer = Layer(dut, hook, forwards)
    await layer.start()
    frames = [frame_of(random.randint(60, 300), PEER, FAR) for _ in range(12)]
    layer.send(1, *map(Packet, frames[:4]))
    await layer.settle()
    assert layer.tx[0].frames == frames[:4], "without a role all passes"
    await layer.role(True)
    layer.send(1, *map(Packet, frames[4:]))
    await layer.settle()
    assert layer.received == frames[4:] and layer.tx[0].frames == frames[:4]
    let_through = layer.received[::2]
    reserved = [frame_of(100, PEER, FAR, ether_type) for ether_type in (OURS[1], MAC_CONTROL)]
    await layer.say([*let_through, *reserved], never())
    await layer.settle()
    assert layer.tx[0].frames == frames[:4] + (let_through if forwards else [])
    assert dut.refused_o.value.to_unsigned() == 2 + (0 if forwards else len(let_through))


@cocotb.test()
async def a_role_that_floods_leaves_the_others_their_share(dut):
    """The role, the local service and another port send all they can at port 0."""
    layer = Layer(dut)
    await layer.start(1.5)
    await layer.role(True)
    tags = iter(range(1 << 30))
    layer.rx[1].more = lambda: (0, Packet(frame_of(1514, FAR, PEER, tag=next(tags))))
    layer.service_in[0].more = lambda: (0, Packet(frame_of(60, PEER, FAR, tag=next(tags))))
    flood = [frame_of(1514, PEER, layer.config[0].mac, tag=tag) for tag in range(200)]
    task = cocotb.start_soon(layer.say(flood, never()))
    await ClockCycles(layer.clock, 8 * layer.frame_words)
    size = layer.width // 8

    def so_far():
        """Words that have left, of each source."""
        return [
            sum(-(-len(f) // size) for f in layer.tx[0].frames if f[6:12] == src)
            for src in (layer.config[0].mac, FAR, PEER)
        ]

    before = so_far()
    rounds = 12
    await ClockCycles(layer.clock, 3 * rounds * layer.frame_words)
    task.cancel()
    for now, then in zip(so_far(), before, strict=True):
        assert abs(now - then - rounds * layer.frame_words) <= 2 * layer.frame_words
    layer.rx[1].more = layer.service_in[0].more = None


@cocotb.test()
async def what_is_lost_or_spoilt_has_counters_by_port(dut):
    layer = Layer(dut, [Rule(1, passes=2, early=True), Rule(2, passes=1)])
    layer.tx[0].pause, layer.tx[1].pause = sometimes(0.7), sometimes(0.5)
    await layer.start()
    for _ in range(3):
        layer.send(0, Packet(frame_of(1514, FAR, PEER), bad=True), Packet(frame_of(60, FAR, PEER)))
    layer.send(1, *(Packet(frame_of(1514, PEER, FAR)) for _ in range(20)))
    await layer.settle(4 * layer.words)
    assert len(layer.tx[1].frames) == len(layer.tx[1].bad) == layer.total["check"] == 3
    # Port 1 has the upper half.
    assert dut.spoilt_o.value.to_unsigned() == 3 << 32
    assert dut.dropped_o.value.to_unsigned() == layer.total["full"] << 32 and layer.total["full"] > 0
    assert layer.left[0] == 3 + len(layer.tx[0].frames), "what was spoilt is not counted as sent"


@pytest.mark.parametrize("width,words", [(64, 256), (512, 64)])
def test_rl_port_layer(width, words):
    parameters = {"DataW": width, "Ports": 2, "Streams": 1, "Locals": 1, "Rules": 4, "Words": words}
    bench("rl_port_layer", rtl("port"), __name__, parameters)
