"""rl_port_rx: from the MAC to the role, whole frames that are for this port and of no family of ours; the rest is counted."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from packets import OURS, Packet, drive_mac, receive
from runner import bench, rtl
from streams import CLOCK_PAIRS, PAUSES, never

MAC = bytes([6, 0, 0, 0, 0, 1])
PEER = bytes([6, 0, 0, 0, 0, 2])
GROUP = bytes([3, 1, 2, 3, 4, 5])
EVENTS = ("full", "foreign", "truncated", "check")


class Port:
    """The port with its role, and what it has counted."""

    def __init__(self, dut):
        self.dut = dut
        self.frame_max = dut.FrameMax.value.to_unsigned()
        self.counts = {name: 0 for name in ("frame", "bytes", *EVENTS)}
        self.received = []

    async def start(self, periods, pause):
        dut = self.dut
        dut.mac_i.value = int.from_bytes(MAC, "big")
        for port in (dut.rst_net_ni, dut.rst_role_ni, dut.rx_valid_i, dut.rx_bad_i, dut.cut_i, dut.ready_i):
            port.value = 0
        dut.open_i.value = 1
        Clock(dut.clk_net_i, periods[0], "ps").start()
        Clock(dut.clk_role_i, periods[1], "ps").start()
        await ClockCycles(dut.clk_net_i, 8)
        await ClockCycles(dut.clk_role_i, 8)
        dut.rst_net_ni.value = 1
        dut.rst_role_ni.value = 1
        await ClockCycles(dut.clk_net_i, 8)
        cocotb.start_soon(self.count())
        cocotb.start_soon(receive(dut, dut.clk_role_i, self.received, pause))

    async def count(self):
        """The events: a frame, its 14 bits of bytes, and why it was dropped."""
        while True:
            await RisingEdge(self.dut.clk_net_i)
            event = self.dut.event_o.value.to_unsigned()
            if not event >> 18:
                assert event & 0xF == 0, "a reason without a frame"
                continue
            self.counts["frame"] += 1
            self.counts["bytes"] += event >> 4 & 0x3FFF
            reasons = [name for at, name in enumerate(EVENTS) if event >> at & 1]
            assert len(reasons) <= 1
            for name in reasons:
                self.counts[name] += 1

    async def settle(self):
        """Until all that is in the queue can be with the role."""
        await ClockCycles(self.dut.clk_role_i, 4 * self.dut.Words.value.to_unsigned())
        await ClockCycles(self.dut.clk_net_i, 40)

    def judge(self, packet):
        """Why a frame is dropped, if it is: the rule of the card model's front door."""
        frame = packet.frame
        if packet.bad:
            return "check"
        if len(frame) < 14:
            return "truncated"
        dst, src, ethertype = frame[:6], frame[6:12], int.from_bytes(frame[12:14], "big")
        if not (dst == MAC or dst[0] & 1) or src == MAC or src[0] & 1 or ethertype in OURS:
            return "foreign"
        return "full" if len(frame) > self.frame_max else None


def frame_of(length, dst=MAC, src=PEER, ethertype=0x88B5):
    return (dst + src + ethertype.to_bytes(2, "big") + random.randbytes(max(length, 14)))[:length]


def random_packet(frame_max):
    length = random.choice(
        [random.randint(1, 80), random.randint(14, frame_max), frame_max, frame_max + random.randint(1, 200)]
    )
    dst = random.choice([MAC, MAC, MAC, GROUP, PEER, MAC[:5] + b"\2"])
    src = random.choice([PEER, PEER, PEER, MAC, GROUP])
    ethertype = random.choice([0x88B5, 0x0800, 0x80EA, 0x80AC, random.choice(OURS), random.getrandbits(16)])
    return Packet(frame_of(length, dst, src, ethertype), random.random() < 0.1)


@cocotb.test()
@cocotb.parametrize(periods=CLOCK_PAIRS)
async def frames_for_this_port_reach_the_role_and_others_are_counted(dut, periods):
    port = Port(dut)
    await port.start(periods, never())
    packets = [random_packet(port.frame_max) for _ in range(40)]
    expected = {name: 0 for name in EVENTS}
    for packet in packets:
        # One by one: there is always room.
        await drive_mac(dut, dut.clk_net_i, [packet], PAUSES["ragged"]())
        await ClockCycles(dut.clk_role_i, 2 * len(packet.frame) * 8 // len(dut.data_o) + 40)
        if reason := port.judge(packet):
            expected[reason] += 1
    await port.settle()
    assert port.received == [p.frame for p in packets if port.judge(p) is None]
    assert {name: port.counts[name] for name in EVENTS} == expected
    assert port.counts["frame"] == len(packets)
    assert port.counts["bytes"] == sum(len(p.frame) for p in packets)


@cocotb.test()
async def every_length_of_a_frame_passes(dut):
    port = Port(dut)
    await port.start((6400, 3200), never())
    frames = [frame_of(length) for length in range(14, 160)]
    for frame in frames:
        await drive_mac(dut, dut.clk_net_i, [Packet(frame)], never())
        await ClockCycles(dut.clk_net_i, 40)
    await port.settle()
    assert port.received == frames


@cocotb.test()
@cocotb.parametrize(length=[60, 61, 64, 65, 124, 1514])
async def frames_back_to_back_are_all_taken(dut, length):
    """Words in each cycle, or at one frame in two cycles where a frame is one word: what the queue's writer can take."""
    port = Port(dut)
    await port.start((3200, 3000), never())
    frames = [frame_of(length) for _ in range(100)]
    size = len(dut.data_o) // 8

    def gaps():
        while True:
            yield False
            if length <= size:
                yield True

    begin = cocotb.utils.get_sim_time("ps")
    await drive_mac(dut, dut.clk_net_i, [Packet(frame) for frame in frames], gaps())
    cycles = (cocotb.utils.get_sim_time("ps") - begin) / 3200
    await port.settle()
    assert port.received == frames and port.counts["full"] == 0
    need = 8 * (length + 24) / 100e9 * 322.265625e6  # Cycles that 100 Gb/s leave for such a frame, gap and preamble in.
    dut._log.info(f"{size * 8} bits, {length} bytes: {cycles / 100:.2f} cycles a frame, 100 Gb/s leave {need:.2f}")
    assert size < 64 or cycles / 100 <= need


@cocotb.test()
async def a_role_that_takes_nothing_costs_only_its_own_frames(dut):
    port = Port(dut)
    await port.start((6400, 6402), PAUSES["rare"]())
    packets = [Packet(frame_of(random.randint(14, port.frame_max))) for _ in range(200)]
    await drive_mac(dut, dut.clk_net_i, packets, never())
    for _ in range(20):
        await port.settle()
    assert port.counts["full"] > 0 and port.counts["frame"] == 200
    assert len(port.received) + port.counts["full"] == 200
    left = iter(p.frame for p in packets)
    assert all(frame in left for frame in port.received), "whole frames in their order"


@cocotb.test()
async def without_a_role_all_is_foreign(dut):
    port = Port(dut)
    await port.start((6400, 6402), never())
    dut.open_i.value = 0
    await ClockCycles(dut.clk_net_i, 4)
    await drive_mac(dut, dut.clk_net_i, [Packet(frame_of(100)) for _ in range(5)], never())
    await port.settle()
    assert port.received == [] and port.counts["foreign"] == 5


@cocotb.test()
async def a_role_that_was_cut_off_never_sees_the_rest_of_a_frame(dut):
    port = Port(dut)
    await port.start((6400, 3200), PAUSES["ragged"]())
    sent = [frame_of(random.randint(14, port.frame_max)) for _ in range(120)]
    task = cocotb.start_soon(drive_mac(dut, dut.clk_net_i, [Packet(f) for f in sent], PAUSES["ragged"]()))
    cuts = 0
    while not task.done():
        await ClockCycles(dut.clk_role_i, random.randint(50, 600))
        dut.cut_i.value = 1
        await ClockCycles(dut.clk_role_i, random.randint(1, 60))
        # What had come of a frame is lost with the role.
        dut.cut_i.value = 0
        cuts += 1
    await port.settle()
    assert cuts > 5 and len(port.received) > 5
    # A frame that was cut in the role's hands runs into the next one: the bench's receiver joins them.
    whole = set(sent)
    joined = [f for f in port.received if f not in whole]
    assert len(joined) <= cuts
    assert all(any(f.endswith(g) for g in whole) for f in joined), "what follows a cut is a frame from its first byte"


@pytest.mark.parametrize("width,words", [(64, 512), (128, 256), (512, 128)])
def test_rl_port_rx(width, words):
    bench("rl_port_rx", rtl("port"), __name__, {"DataW": width, "Words": words})
