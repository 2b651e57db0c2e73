"""rl_port_switch: frames pass, are consumed, or both, as the rules say; each queue costs only what would have used it."""

import random

import cocotb
import pytest
from cocotb.triggers import ClockCycles
from packets import OURS, Packet
from rules import FAMILY, GROUP, OTHER, OWN, REST, SUBNET, Rule, judge
from runner import bench, rtl
from streams import PAUSES, bursts, never, sometimes
from switch import REASONS, Switch, frame_of

PEER = bytes([2, 0, 0, 0, 0, 9])
FAR = bytes([2, 0, 0, 0, 0, 8])
ALL = 0xFF
PASS = Rule(ALL, passes=ALL)


def stuck():
    while True:
        yield True


def random_rule(switch_ports, services):
    return Rule(
        ports=random.getrandbits(switch_ports),
        whom=random.randint(1, 7),
        what=random.randint(1, 7),
        ether_type=random.choice([None, None, None, 0x88B5, 0x0800]),
        passes=random.getrandbits(switch_ports),
        consume=random.getrandbits(services),
        hook=random.random() < 0.3,
        early=random.random() < 0.3,
        level=random.getrandbits(1),
    )


def random_packet(switch, number, tag):
    """A frame that may meet any rule, its tag in the source's address."""
    config = switch.config[number]
    length = random.choice([random.randint(1, 80), random.randint(14, 400), switch.frame_max + random.randint(-2, 70)])
    dst = random.choice([config.mac, FAR, bytes([3, 0, 0, 0, 0, 1])])
    src = PEER[:2] + tag.to_bytes(4, "big")
    if random.random() < 0.1:
        src = random.choice([config.mac, bytes([1, 0, 0, 0, 0, 1])])
    frame = bytearray(frame_of(length, dst, src, random.choice([0x88B5, 0x0800, 0x86DD, 0x86DD, random.choice(OURS)])))
    if random.random() < 0.7:
        subnet = bytearray(config.subnet)
        subnet[random.randrange(8)] ^= random.random() < 0.2
        frame[38 : min(46, len(frame))] = subnet[: max(min(46, len(frame)) - 38, 0)]
    return Packet(bytes(frame), random.random() < 0.1)


@cocotb.test()
@cocotb.parametrize(seed=[1, 2], pauses=["never", "ragged"])
async def the_first_rule_that_holds_says_what_becomes_of_a_frame(dut, seed, pauses):
    random.seed(seed)
    count = dut.Rules.value.to_unsigned()
    ports, services = dut.Ports.value.to_unsigned(), dut.Services.value.to_unsigned()
    rules = [random_rule(ports, services) for _ in range(count)]
    for rule in rules:
        # In this test frames leave whole: their source is slower than the port.
        rule.early = rule.early and pauses == "never"
    switch = Switch(dut, rules)
    switch.listens = random.choice([0, 1, (1 << services) - 1])
    await switch.start()
    expected_tx = [[] for _ in range(ports)]
    expected_services = [[] for _ in range(services)]
    counts = [{name: 0 for name in ("frame", "bytes", *REASONS)} for _ in range(ports)]
    poisoned = set()
    for tag in range(40):
        number = random.randrange(ports)
        packet = random_packet(switch, number, tag)
        verdict = judge(rules, number, switch.config[number], packet, switch.listens, switch.frame_max)
        counts[number]["frame"] += 1
        counts[number]["bytes"] += len(packet.frame)
        if verdict.reason:
            counts[number][verdict.reason] += 1
            poisoned.add(packet.frame[:14])
        else:
            for p in range(ports):
                expected_tx[p] += [packet.frame] * (verdict.passes >> p & 1)
            for s in range(services):
                expected_services[s] += [packet.frame] * (verdict.consume >> s & 1)
        switch.rx[number].pause, switch.rx[number].gaps = PAUSES[pauses](), True
        switch.send(number, packet)
        # One by one: there is always room, and the order is known.
        while switch.busy():
            await ClockCycles(dut.clk_i, 4)
        await ClockCycles(dut.clk_i, 3 * len(packet.frame) * 8 // switch.width + 24)
    assert [sink.frames for sink in switch.tx] == expected_tx
    assert [sink.frames for sink in switch.service_out] == expected_services
    assert switch.counts == counts
    # What left early and was not whole is said to be bad, and begins like a frame that was dropped.
    assert all(frame[:14] in poisoned for sink in switch.tx for frame in sink.bad)


@cocotb.test()
@cocotb.parametrize(length=[14, 60, 64, 65, 1514])
async def frames_back_to_back_all_pass(dut, length):
    """Words in each cycle, in at one port and out at the other, both ways at once."""
    switch = Switch(dut, [Rule(1, passes=2), Rule(2, passes=1)])
    await switch.start()
    count = 150 if length < 1000 else 40
    frames = [[frame_of(length, FAR, PEER) for _ in range(count)] for _ in range(2)]
    for number in range(2):
        switch.rx[number].pause = never()
        switch.send(number, *map(Packet, frames[number]))
    await switch.settle()
    for number in range(2):
        sink = switch.tx[1 - number]
        assert sink.frames == frames[number], "nothing is lost"
        cycles = (sink.ends[-1] - sink.ends[0]) / (count - 1)
        need = 8 * (length + 24) / 100e9 * 322.265625e6  # Cycles that 100 Gb/s leave for such a frame.
        words = -(-length * 8 // switch.width)
        dut._log.info(f"{switch.width} bits, {length} bytes: {cycles:.3f} cycles a frame; 100 Gb/s leave {need:.2f}")
        assert cycles == words, "a word each cycle"
    assert switch.counts[0]["full"] == 0


@cocotb.test()
@cocotb.parametrize(shares=[(1, 1), (3, 1), (1, 2)], lengths=[(1514, 1514), (60, 1514), (1514, 60)])
async def a_flood_costs_its_neighbour_at_most_its_share(dut, shares, lengths):
    """A service floods a port to which frames pass at line rate: each has its share of the words, exactly."""
    switch = Switch(dut, [PASS])
    of_each = [shares[0]] * switch.levels + [shares[1]]
    switch.shares = [share * switch.frame_words for share in of_each]
    await switch.start()
    tags = iter(range(1 << 30))
    switch.rx[0].more = lambda: (0, Packet(frame_of(lengths[0], FAR, PEER, tag=next(tags))))
    switch.service_in[0].more = lambda: (1, Packet(frame_of(lengths[1], PEER, FAR, tag=next(tags))))
    await ClockCycles(dut.clk_i, 12 * switch.frame_words)
    start = [0, 0]
    tx = switch.tx[1]

    def so_far():
        size = switch.width // 8
        return [sum(-(-len(f) // size) for f in tx.frames if f[6:12] == src) for src in (PEER, FAR)]

    start = so_far()
    cycles = 120 * switch.frame_words // (1 if switch.width > 64 else 8)
    await ClockCycles(dut.clk_i, cycles)
    passed, own = (now - then for now, then in zip(so_far(), start, strict=True))
    assert passed + own > cycles - 2 * switch.frame_words, "no cycle is lost"
    share = shares[0] / sum(shares)
    # Give or take a round at the ends of the measurement.
    assert abs(passed - share * cycles) <= 2 * max(shares) * switch.frame_words, (passed, own)
    assert switch.dropped[0][0] > 0, "the queue overflows, and that is counted"


@cocotb.test()
async def a_port_that_is_stuck_costs_only_what_would_leave_there(dut):
    """Nothing leaves at port 1; frames pass from it, and services send and are served."""
    if dut.Ports.value.to_unsigned() < 3:
        rules = [Rule(1, whom=OWN, consume=1), Rule(1, whom=OTHER, passes=2), Rule(2, passes=1)]
    else:
        rules = [Rule(1, whom=OWN, consume=1, passes=4), Rule(1, whom=OTHER, passes=2), Rule(2, passes=1)]
    switch = Switch(dut, rules)
    switch.tx[1].pause = stuck()
    await switch.start()
    to_stuck, to_service, back, own = [], [], [], []
    for _ in range(60):
        to_stuck.append(frame_of(random.randint(60, 1514), FAR, PEER))
        to_service.append(frame_of(random.randint(60, 300), switch.config[0].mac, PEER))
        back.append(frame_of(random.randint(60, 1514), PEER, FAR))
        own.append(frame_of(random.randint(60, 300), PEER, switch.config[0].mac))
        switch.send(0, Packet(to_stuck[-1]), Packet(to_service[-1]))
        switch.send(1, Packet(back[-1]))
        switch.service_in[0].waiting.append((0, Packet(own[-1])))
    # The two that leave at port 0 together have more than it takes, if both never pause.
    switch.rx[1].pause, switch.rx[1].gaps = sometimes(0.5), True
    await switch.settle()
    at_port = switch.tx[0].frames
    assert [f for f in at_port if f[6:12] == FAR] == back
    assert [f for f in at_port if f[6:12] != FAR] == own
    assert switch.service_out[0].frames == to_service
    if switch.ports > 2:
        assert switch.tx[2].frames == to_service
    assert switch.tx[1].frames == [] and switch.counts[0]["full"] == switch.dropped[0][0] > 0
    # It gets well: what waits leaves, whole.
    switch.tx[1].pause = never()
    await switch.settle()
    assert len(switch.tx[1].frames) == 60 - switch.counts[0]["full"]
    left = iter(to_stuck)
    assert all(frame in left for frame in switch.tx[1].frames), "whole frames, in their order"


@cocotb.test()
async def a_class_that_overflows_costs_no_other(dut):
    """Class 0 floods a port that is too slow for it; each frame of class 1 leaves."""
    if dut.Levels.value.to_unsigned() < 2:
        return
    rules = [Rule(1, what=FAMILY, passes=2, level=1), Rule(1, passes=2, level=0)]
    switch = Switch(dut, rules)
    await switch.start()
    switch.tx[1].pause = sometimes(0.6)
    control = []
    for _ in range(20):
        switch.send(0, *(Packet(frame_of(1514, FAR, PEER)) for _ in range(3)))
        control.append(frame_of(random.randint(60, 200), FAR, PEER, OURS[0]))
        switch.send(0, Packet(control[-1]))
    await switch.settle(8 * switch.words)
    assert [f for f in switch.tx[1].frames if f[12:14] == OURS[0].to_bytes(2, "big")] == control
    assert switch.dropped[0][0] > 0 and switch.dropped[0][1] == 0


@cocotb.test()
async def a_service_that_is_stuck_costs_only_its_own_frames(dut):
    rules = [Rule(1, whom=OWN, consume=1), Rule(1, whom=GROUP, consume=1, passes=2), Rule(1, passes=2)]
    switch = Switch(dut, rules)
    switch.service_out[0].pause = stuck()
    await switch.start()
    expected = []
    for _ in range(60):
        dst = random.choice([switch.config[0].mac, FAR, bytes([3, 0, 0, 0, 0, 1])])
        switch.send(0, Packet(frame_of(random.randint(60, 1514), dst, PEER)))
        if dst != switch.config[0].mac:
            expected.append(switch.rx[0].waiting[-1][1].frame)
    await switch.settle()
    assert switch.tx[1].frames == expected
    assert switch.counts[0]["full"] > 0 and switch.dropped[0][0] == 0


@cocotb.test()
async def what_a_hook_takes_passes_only_while_nobody_is_there(dut):
    """A service that inspects, changes and drops what passes; without it all passes."""
    rules = [Rule(3, what=SUBNET | REST, passes=3, consume=1, hook=True), Rule(3, passes=3)]
    switch = Switch(dut, rules)
    switch.listens = 0
    await switch.start()
    frames = [frame_of(200, FAR, PEER) for _ in range(20)]
    switch.send(0, *map(Packet, frames[:10]))
    await switch.settle()
    assert switch.tx[1].frames == frames[:10]
    switch.listens = 1
    await ClockCycles(dut.clk_i, 4)
    family = frame_of(100, FAR, PEER, OURS[0])
    switch.send(0, *map(Packet, [*frames[10:], family]))
    await switch.settle()
    assert switch.tx[1].frames == [*frames[:10], family] and switch.service_out[0].frames == frames[10:]
    changed = [frame[:14] + bytes(reversed(frame[14:])) for frame in frames[10::2]]
    switch.service_in[0].waiting.extend((1, Packet(frame)) for frame in changed)
    await switch.settle()
    assert switch.tx[1].frames[11:] == changed


@cocotb.test()
async def a_subnet_is_all_of_its_bytes(dut):
    switch = Switch(dut, [Rule(1, what=SUBNET, passes=2)])
    await switch.start()
    inside = bytearray(frame_of(100, FAR, PEER, 0x86DD))
    inside[38:46] = switch.config[0].subnet
    # Its neighbours by one bit in one byte, with the words before and after as they are inside.
    outside = [bytearray(inside) for _ in range(8)]
    for at, frame in enumerate(outside):
        frame[38 + at] ^= 1
    switch.send(0, *(Packet(bytes(frame)) for frame in [inside, *outside, inside]))
    await switch.settle()
    assert switch.tx[1].frames == [bytes(inside)] * 2


EARLY = Rule(1, passes=2, early=True)


@cocotb.test()
@cocotb.parametrize(early=[False, True])
async def a_frame_may_leave_before_its_end(dut, early):
    """From the first word in to the first word out: a few cycles, or the frame's own length more."""
    switch = Switch(dut, [EARLY if early else PASS])
    await switch.start()
    waited = []
    for _ in range(10):
        frame = frame_of(1514, FAR, PEER)
        began = switch.cycle
        switch.send(0, Packet(frame))
        await switch.settle(2 * switch.frame_words + 40)
        assert switch.tx[1].frames[-1] == frame
        waited.append(switch.tx[1].begins[-1] - began)
    dut._log.info(f"{switch.width} bits, early {early}: {min(waited)} to {max(waited)} cycles")
    assert max(waited) <= 12 if early else min(waited) >= switch.frame_words


@cocotb.test()
@cocotb.parametrize(pauses=["never", "slow port", "slow source", "both"])
async def what_left_early_and_is_not_whole_is_said_to_be_bad(dut, pauses):
    """Bad check sequences, frames without end, sources that pause: no part of them ever looks like a frame."""
    switch = Switch(dut, [EARLY])
    await switch.start()
    if pauses in ("slow port", "both"):
        switch.tx[1].pause = bursts(100, 100)
    if pauses in ("slow source", "both"):
        switch.rx[0].pause, switch.rx[0].gaps = bursts(300, 4), True
    good, sent, bad = [], {}, 0
    for tag in range(50):
        length = random.choice([random.randint(14, 200), random.randint(1000, 1514), 1600, 4000])
        frame = frame_of(length, FAR, PEER[:2] + tag.to_bytes(4, "big"))
        packet = Packet(frame, random.random() < 0.3)
        sent[frame[6:12]] = frame
        bad += packet.bad
        if not packet.bad and length <= switch.frame_max:
            good.append(frame)
        switch.send(0, packet)
    await switch.settle(8 * switch.words)
    tx = switch.tx[1]
    if pauses == "never":
        assert tx.frames == good and switch.counts[0]["check"] == bad
    left = iter(good)
    assert all(frame in left for frame in tx.frames), "whole frames, in their order"
    assert tx.bad and len(tx.frames) > 5
    for frame in tx.bad:
        whole, size = sent[frame[6:12]], switch.width // 8
        # The last word is no part of it.
        assert len(frame) % size == 0 and whole.startswith(frame[:-size])
    assert switch.counts[0]["frame"] == 50
    assert len(tx.frames) + switch.counts[0]["full"] + switch.counts[0]["check"] == 50
    assert len(tx.bad) <= switch.counts[0]["full"] + switch.counts[0]["check"]


@cocotb.test()
async def all_at_once_every_frame_stays_whole(dut):
    """Every port and service sends to every other with pauses; what leaves is a part of what was sent, in its order."""
    switch = Switch(dut, [Rule(ALL, whom=OWN, consume=ALL, passes=ALL, level=1), Rule(ALL, passes=ALL, early=True)])
    await switch.start()
    random_pause = [lambda: sometimes(0.3), lambda: bursts(50, 20), lambda: bursts(20, 50)]
    for sink in switch.tx + switch.service_out:
        sink.pause = random.choice(random_pause)()
    sent = {}
    for number, source in enumerate(switch.rx):
        source.pause, source.gaps = random.choice(random_pause)(), number == 1
        src = PEER[:5] + bytes([number])
        sent[src] = []
        for _ in range(60):
            dst = random.choice([FAR, switch.config[number].mac])
            sent[src].append(frame_of(random.choice([60, 64, random.randint(14, 1514)]), dst, src))
            source.waiting.append((0, Packet(sent[src][-1])))
    for number, source in enumerate(switch.service_in):
        for p in range(switch.ports):
            sent[FAR[:3] + bytes([7, p, number])] = []
        for _ in range(60):
            p = random.randrange(switch.ports)
            key = FAR[:3] + bytes([7, p, number])
            sent[key].append(frame_of(random.choice([60, 64, random.randint(14, 1514)]), FAR, key))
            source.waiting.append((p, Packet(sent[key][-1])))
    await switch.settle(12 * switch.words)
    for sink in switch.tx + switch.service_out:
        kinds = {}
        for frame in sink.frames:
            # Classes have queues of their own, and so have services.
            level = any(frame[:6] == config.mac for config in switch.config)
            kinds.setdefault((frame[6:12], level), []).append(frame)
        for (src, _), frames in kinds.items():
            left = iter(sent[src])
            assert all(frame in left for frame in frames), "whole frames, in their order"
    for number in range(switch.services):
        for p in range(switch.ports):
            key = FAR[:3] + bytes([7, p, number])
            assert [f for f in switch.tx[p].frames if f[6:12] == key] == sent[key], "a service waits, and loses nothing"


@pytest.mark.parametrize(
    "parameters",
    [
        {"DataW": 512, "Ports": 3, "Services": 2, "Levels": 2, "Words": 64, "Rules": 6},
        {"DataW": 128, "Ports": 3, "Services": 1, "Levels": 1, "Words": 256, "Rules": 4},
        {"DataW": 64, "Ports": 2, "Services": 2, "Levels": 2, "Words": 512, "Rules": 6},
    ],
    ids=lambda p: f"{p['DataW']}",
)
def test_rl_port_switch(parameters):
    bench("rl_port_switch", rtl("port"), __name__, parameters)
