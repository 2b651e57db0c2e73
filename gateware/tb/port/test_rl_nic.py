"""rl_nic: what passes between the wire and the host behind the card, and what does not, as in the model."""

import random
from types import SimpleNamespace

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from golden import NIC_COUNTS, Nic, Side
from packets import OURS, Packet, drive_mac, receive
from reserved import MAC_CONTROL, bridge_like, number
from runner import bench, rtl
from streams import PAUSES, always, never
from switch import REASONS, Switch

CARD = bytes([2, 0, 0, 0, 0, 1])
HOST = bytes([6, 0, 0, 0, 0, 1])
PEER = bytes([6, 0, 0, 0, 0, 7])
GROUP = bytes([0x33, 0x33, 0, 0, 0, 1])
NEXT_STATION = bytes([1, 0x80, 0xC2, 0, 0, 1])
COUNT_BITS = 48
MODEL_LONGEST = 9014


def frame_of(length, dst, src, ether_type=0x0800):
    frame = dst + src + ether_type.to_bytes(2, "big")
    return (frame + random.randbytes(max(length - 14, 0)))[:length]


def random_packet(at, longest):
    """A frame that may meet any rule of a side."""
    some = [CARD, HOST, HOST, PEER, GROUP, b"\xff" * 6, NEXT_STATION, bytes(6)]
    # A neighbour by one bit of an address that matters.
    near = bytearray(random.choice([CARD, HOST]))
    near[random.randrange(6)] ^= 1 << random.randrange(8)
    dst, src = (HOST, PEER) if at == Side.WIRE else (PEER, HOST)
    if random.random() < 0.4:
        dst = random.choice([*some, bytes(near)])
    if random.random() < 0.3:
        src = random.choice([*some, bytes(near)])
    if random.random() < 0.25:
        return bridge_like(dst, src)
    # What is too long for this gateware and not for the model is not compared.
    above = 70 if longest == MODEL_LONGEST else 0
    # A frame of the longest takes as many cycles as a hundred of the shortest.
    lengths = [random.randint(1, 80), random.randint(14, 700), longest + random.randint(-1, above)]
    length = random.choices(lengths, [4, 4, 1])[0]
    ether_types = [0x0800, 0x0800, 0x0800, 0x0806, 0x86DD, 0x88B5, MAC_CONTROL, MAC_CONTROL ^ 1, random.choice(OURS)]
    ether_type = random.choice(ether_types)
    return Packet(frame_of(length, dst, src, ether_type), random.random() < 0.05)


def allowed_frame(at, length):
    return frame_of(length, *((HOST, PEER) if at == Side.WIRE else (PEER, HOST)))


class Path:
    """The device under test beside the model."""

    def __init__(self, dut):
        self.dut, self.clock = dut, dut.clk_i
        self.longest, self.words = dut.FrameMax.value.to_unsigned(), dut.Words.value.to_unsigned()
        self.size = dut.DataW.value.to_unsigned() // 8
        self.model = Nic(number(CARD), number(HOST))
        self.out = {Side.WIRE: [], Side.HOST: []}
        self.events = {side: {name: 0 for name in ("frame", "bytes", *REASONS)} for side in Side}

    def side(self, side):
        """The signals of a side by the names that drivers know."""
        name, signals = side.name.lower(), ("valid", "data", "keep", "last")
        rx = {f"rx_{s}_i": getattr(self.dut, f"{name}_{s}_i") for s in (*signals, "bad")}
        tx = {f"{s}_o": getattr(self.dut, f"{name}_{s}_o") for s in signals}
        return SimpleNamespace(**rx, **tx, ready_i=getattr(self.dut, f"{name}_ready_i"))

    async def start(self, to_wire=never, to_host=never, opened=True):
        """`to_wire` and `to_host` say when frames that leave there have to wait."""
        dut = self.dut
        dut.config_i.value = opened << 96 | number(CARD) << 48 | number(HOST)
        dut.time_us_i.value = dut.rst_ni.value = 0
        for side in map(self.side, Side):
            side.rx_valid_i.value = side.rx_bad_i.value = side.ready_i.value = 0
        Clock(self.clock, 2, "ns").start()
        await ClockCycles(self.clock, 4)
        dut.rst_ni.value = 1
        await ClockCycles(self.clock, 2)
        self.sinks = {}
        for side, pause in ((Side.WIRE, to_wire), (Side.HOST, to_host)):
            self.take(side, pause())
        cocotb.start_soon(self.count())

    def take(self, side, pause):
        """From now on what leaves at a side waits like this."""
        if side in self.sinks:
            self.sinks[side].cancel()
        # A frame that has begun goes on, so its bytes are with the list.
        self.sinks[side] = cocotb.start_soon(receive(self.side(side), self.clock, self.out[side], pause))

    async def send(self, side, packets, pause=never):
        await drive_mac(self.side(side), self.clock, packets, pause())

    async def count(self):
        wire, host = self.dut.wire_event_o, self.dut.host_event_o
        while True:
            await RisingEdge(self.clock)
            for side, event in ((Side.WIRE, wire), (Side.HOST, host)):
                if value := event.value.to_unsigned():
                    Switch.count_event(self.events[side], value)

    def counts(self):
        value, names = self.dut.counts_o.value.to_unsigned(), reversed(NIC_COUNTS)
        return {name: value >> COUNT_BITS * at & (1 << COUNT_BITS) - 1 for at, name in enumerate(names)}

    async def settle(self):
        """Until nothing is on its way."""
        await ClockCycles(self.clock, 8)
        for _ in range(5 * self.words):
            if not self.dut.busy_o.value:
                return
            await ClockCycles(self.clock, 8)
        assert False, "it never rests"

    def time(self, us):
        self.dut.time_us_i.value = us & 0xFFFF

    def orders(self):
        """Those that the host was given, in their order."""
        return [frame for frame in self.out[Side.HOST] if frame[12:14] == MAC_CONTROL.to_bytes(2, "big")]


def model_orders():
    """The model's two orders, to be silent and to go on."""
    model = Nic(number(CARD), number(HOST))
    for _ in range(300):
        model.handle(Side.HOST, allowed_frame(Side.HOST, 60))
    orders = [model.poll(0, Side.HOST)]
    while model.poll(0, Side.WIRE):
        pass
    return [*orders, model.poll(0, Side.HOST)]


@cocotb.test()
@cocotb.parametrize(seed=[1, 2, 3], pauses=list(PAUSES))
async def what_passes_in_the_model_passes_and_nothing_else(dut, seed, pauses):
    """One by one, so there is room for each."""
    random.seed(seed)
    path = Path(dut)
    await path.start(PAUSES[pauses], PAUSES[pauses])
    expected = {side: [] for side in Side}
    frames = {side: 0 for side in Side}
    for _ in range(250 if pauses == "never" else 40):
        at = random.choice(list(Side))
        packet = random_packet(at, path.longest)
        judged = not packet.bad and path.model.handle(at, packet.frame)
        frames[at] += judged or at == Side.HOST
        for side in Side:
            while frame := path.model.poll(0, side):
                expected[side].append(frame)
        await path.send(at, [packet], PAUSES[pauses])
        await path.settle()
        assert path.out == expected, packet
        assert path.counts() == path.model.counts(), packet
    counts = path.counts()
    if pauses == "never":
        wanted = ("forged", "reserved", "astray", "to_host_frames", "to_wire_frames")
        assert all(counts[name] for name in wanted), counts
        assert counts["overflow"] or path.longest < MODEL_LONGEST
    assert {side: event["frame"] for side, event in path.events.items()} == frames
    foreign, full = (sum(event[name] for event in path.events.values()) for name in ("foreign", "full"))
    assert foreign == counts["forged"] + counts["reserved"] + counts["astray"] and full == counts["overflow"]


@cocotb.test()
async def without_a_host_nothing_passes(dut):
    path = Path(dut)
    await path.start(opened=False)
    for at in Side:
        await path.send(at, [Packet(allowed_frame(at, 100)), random_packet(at, path.longest)])
    await path.settle()
    assert path.out == {Side.WIRE: [], Side.HOST: []}
    assert set(path.counts().values()) == {0} and path.events[Side.HOST]["frame"] == 0


@cocotb.test()
@cocotb.parametrize(pauses=[("never", "bursts"), ("ragged", "ragged"), ("rare", "rare")])
async def each_frame_passes_or_is_counted(dut, pauses):
    """Both sides send as fast as a MAC can, and leave where the other is slow: whole frames in their order."""
    path = Path(dut)
    slow = PAUSES[pauses[1]]
    await path.start(slow, slow)
    sent = {at: [random_packet(at, path.longest) for _ in range(60)] for at in Side}
    for at in Side:
        sent[at] += [Packet(allowed_frame(at, random.randint(60, path.longest))) for _ in range(60)]
        random.shuffle(sent[at])
    tasks = [cocotb.start_soon(path.send(at, sent[at], PAUSES[pauses[0]])) for at in Side]
    for task in tasks:
        await task
    await path.settle()
    passed = {side: [] for side in Side}
    for at in Side:
        for packet in sent[at]:
            if not packet.bad:
                path.model.handle(at, packet.frame)
            for side in Side:
                while frame := path.model.poll(0, side):
                    passed[side].append(frame)
    counts, model = path.counts(), path.model.counts()
    for name in ("forged", "reserved", "astray"):
        assert counts[name] == model[name]
    lost = counts["overflow"] - model["overflow"]
    to_host = [frame for frame in path.out[Side.HOST] if frame not in path.orders()]
    for out, side, name in ((path.out[Side.WIRE], Side.WIRE, "to_wire"), (to_host, Side.HOST, "to_host")):
        left = iter(passed[side])
        assert all(frame in left for frame in out), "whole frames, in their order"
        assert (counts[f"{name}_frames"], counts[f"{name}_bytes"]) == (len(out), sum(map(len, out)))
        lost -= len(passed[side]) - len(out)
    assert lost == 0, "each that is missing is counted"
    assert counts["paused"] == path.orders().count(model_orders()[0])


@cocotb.test()
@cocotb.parametrize(stuck=list(Side))
async def a_side_that_takes_nothing_costs_only_its_own_frames(dut, stuck):
    path = Path(dut)
    other = Side.HOST if stuck == Side.WIRE else Side.WIRE
    await path.start(**{f"to_{stuck.name.lower()}": always})
    lengths = [random.randint(60, path.longest) for _ in range(4 * path.words * path.size // path.longest)]
    lost, kept = ([allowed_frame(at, length) for length in lengths] for at in (other, stuck))
    tasks = [cocotb.start_soon(path.send(other, map(Packet, lost)))]
    tasks.append(cocotb.start_soon(path.send(stuck, map(Packet, kept))))
    for task in tasks:
        await task
    await ClockCycles(path.clock, path.words + 100)
    assert [frame for frame in path.out[other] if frame not in path.orders()] == kept
    assert path.out[stuck] == []
    overflow = path.counts()["overflow"]
    assert 0 < overflow < len(lost)
    # It gets well: what waits leaves.
    path.take(stuck, never())
    await path.settle()
    left = iter(lost)
    out = [frame for frame in path.out[stuck] if frame not in path.orders()]
    assert all(frame in left for frame in out) and len(out) == len(lost) - overflow


@cocotb.test()
async def a_host_is_ordered_to_be_silent_as_by_the_model(dut):
    """Silence when the queue is three sixteenths full, again before it is over, and the end of it below one."""
    path = Path(dut)
    await path.start(to_wire=always)
    silence, go_on = model_orders()
    longest_us, renew_us = dut.SilenceUs.value.to_unsigned(), dut.RenewUs.value.to_unsigned()
    now = 65000
    path.time(now)
    # Frames of as many words as a sixteenth has: none of them is longer than 60 bytes at most widths.
    per_frame = -(-60 // path.size)
    frames = 3 * path.words // 16 // per_frame

    async def fill(count):
        await path.send(Side.HOST, [Packet(allowed_frame(Side.HOST, 60)) for _ in range(count)])
        await ClockCycles(path.clock, 40)

    await fill(frames - 1)
    assert path.orders() == []
    await fill(1)
    assert path.orders() == [silence]
    await fill(1)
    # Time goes round.
    for later, expected in ((longest_us - renew_us - 1, 1), (1, 2), (longest_us - renew_us, 3), (65536, 4)):
        for _ in range(8):
            now += later // 8
            path.time(now)
            await ClockCycles(path.clock, 5)
        now += later % 8
        path.time(now)
        await ClockCycles(path.clock, 40)
        assert path.orders() == [silence] * expected or later == 65536
    repeated = len(path.orders())
    path.take(Side.WIRE, never())
    for _ in range(path.words):
        if len(path.orders()) > repeated:
            break
        await RisingEdge(path.clock)
    assert frames + 1 - len(path.out[Side.WIRE]) <= path.words // 16 // per_frame, "no sooner than so few wait"
    await path.settle()
    assert path.orders() == [silence] * repeated + [go_on]
    assert path.counts()["paused"] == repeated and path.counts()["overflow"] == 0
    assert len(path.out[Side.WIRE]) == frames + 1


@cocotb.test()
@cocotb.parametrize(length=[60, 61, 65, 1518])
async def a_host_that_keeps_its_orders_loses_nothing(dut, length):
    """It goes on for as long as cable and standard say, as rl_nic_pause reckons it, while the wire takes nothing."""
    path = Path(dut)
    await path.start(to_wire=always)
    late = 8174 if path.size == 8 else 34_550  # Bytes on the cable.
    sent = 0
    while not path.orders():
        await path.send(Side.HOST, [Packet(allowed_frame(Side.HOST, length))])
        sent += 1
        assert sent < path.words, "no order"
    for _ in range(-(-late // (length + 24))):
        await path.send(Side.HOST, [Packet(allowed_frame(Side.HOST, length))])
        sent += 1
    path.take(Side.WIRE, never())
    await path.settle()
    assert path.counts()["overflow"] == 0 and len(path.out[Side.WIRE]) == sent
    dut._log.info(f"{8 * path.size} bits: {sent} frames of {length} bytes")


@cocotb.test()
async def an_order_waits_for_one_frame_at_most(dut):
    """While the wire floods the host, that floods the wire, which takes nothing."""
    path = Path(dut)
    await path.start(to_wire=always)
    flood = cocotb.start_soon(path.send(Side.WIRE, [Packet(allowed_frame(Side.WIRE, path.longest)) for _ in range(40)]))
    await path.send(Side.HOST, [Packet(allowed_frame(Side.HOST, 60)) for _ in range(40)])
    for _ in range(path.words):
        if path.counts()["paused"]:
            break
        await path.send(Side.HOST, [Packet(allowed_frame(Side.HOST, 60))])
    before = len(path.out[Side.HOST])
    while not path.orders():
        await RisingEdge(path.clock)
        assert not flood.done(), "no order"
    # One is on its way and one may be in the arbiter's register.
    assert path.out[Side.HOST].index(path.orders()[0]) - before <= 2


@cocotb.test()
@cocotb.parametrize(length=[60, 65, 1518])
async def frames_back_to_back_pass_both_ways(dut, length):
    path = Path(dut)
    await path.start()
    frames = {side: [allowed_frame(side, length) for _ in range(60)] for side in Side}
    tasks = [cocotb.start_soon(path.send(at, map(Packet, frames[at]))) for at in Side]
    for task in tasks:
        await task
    await path.settle()
    assert path.out == {Side.HOST: frames[Side.WIRE], Side.WIRE: frames[Side.HOST]}
    assert path.counts()["overflow"] == 0


@cocotb.test()
async def frames_dropped_at_once_are_all_counted(dut):
    """In step, from the wire under the card's address and from the host under another's."""
    path = Path(dut)
    await path.start()
    frames = {Side.WIRE: frame_of(60, HOST, CARD, 0x0800), Side.HOST: frame_of(60, PEER, PEER, 0x0800)}
    tasks = [cocotb.start_soon(path.send(at, [Packet(frames[at])] * 20)) for at in Side]
    for task in tasks:
        await task
    await path.settle()
    assert path.counts()["forged"] == 40 and path.out == {Side.WIRE: [], Side.HOST: []}


@pytest.mark.parametrize(
    "width,words,frame_max",
    [(64, 2048, 1518), (64, 8192, MODEL_LONGEST), (128, 4096, MODEL_LONGEST), (512, 1024, 1518)],
)
def test_rl_nic(width, words, frame_max):
    bench("rl_nic", rtl("port"), __name__, {"DataW": width, "Words": words, "FrameMax": frame_max})
