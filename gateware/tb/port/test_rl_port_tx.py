"""rl_port_tx: from the role to the port, whole frames under the port's own address that are not reserved."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from packets import OURS, drive_role, receive
from reserved import MAC_CONTROL, bridge_like, may_send
from runner import bench, rtl
from streams import CLOCK_PAIRS, PAUSES, never

MAC = bytes([6, 0, 0, 0, 0, 1])
PEER = bytes([6, 0, 0, 0, 0, 2])


class Port:
    """The port, its role and its network."""

    def __init__(self, dut):
        self.dut = dut
        self.frame_max = dut.FrameMax.value.to_unsigned()
        self.refused = 0
        self.received = []

    async def start(self, periods, pause):
        dut = self.dut
        dut.mac_i.value = int.from_bytes(MAC, "big")
        dut.forwards_i.value = 0
        for port in (dut.rst_net_ni, dut.rst_role_ni, dut.valid_i, dut.cut_i, dut.ready_i):
            port.value = 0
        Clock(dut.clk_role_i, periods[0], "ps").start()
        Clock(dut.clk_net_i, periods[1], "ps").start()
        await ClockCycles(dut.clk_net_i, 8)
        await ClockCycles(dut.clk_role_i, 8)
        dut.rst_net_ni.value = 1
        dut.rst_role_ni.value = 1
        await ClockCycles(dut.clk_role_i, 8)
        cocotb.start_soon(self.count())
        cocotb.start_soon(receive(dut, dut.clk_net_i, self.received, pause))

    async def count(self):
        while True:
            await RisingEdge(self.dut.clk_role_i)
            self.refused += int(self.dut.refused_o.value)

    def allowed(self, frame):
        return len(frame) <= self.frame_max and may_send(MAC, frame)

    async def settle(self):
        await ClockCycles(self.dut.clk_net_i, 12 * self.dut.Words.value.to_unsigned())
        await ClockCycles(self.dut.clk_role_i, 40)


def frame_of(length, src=MAC, ethertype=0x88B5):
    return (PEER + src + ethertype.to_bytes(2, "big") + random.randbytes(max(length, 14)))[:length]


def random_frame(frame_max):
    length = random.choice([random.randint(1, 80), random.randint(14, frame_max), frame_max, frame_max + 1, 2000])
    src = random.choice([MAC, MAC, MAC, PEER, MAC[:5] + b"\0", bytes(6)])
    ethertype = random.choice([0x88B5, 0x0800, 0x80CA, random.choice(OURS), MAC_CONTROL, MAC_CONTROL ^ 1, 0x86DD])
    if random.random() < 0.3:
        return bridge_like(PEER, src).frame
    return frame_of(length, src, ethertype)


@cocotb.test()
@cocotb.parametrize(periods=CLOCK_PAIRS, pauses=[("never", "never"), ("ragged", "bursts")])
async def a_role_speaks_under_its_own_address_only(dut, periods, pauses):
    port = Port(dut)
    await port.start(periods, PAUSES[pauses[1]]())
    frames = [random_frame(port.frame_max) for _ in range(60)]
    await drive_role(dut, dut.clk_role_i, frames, PAUSES[pauses[0]]())
    await port.settle()
    assert port.received == [f for f in frames if port.allowed(f)]
    assert port.refused == sum(not port.allowed(f) for f in frames)


@cocotb.test()
async def a_frame_that_was_cut_off_never_leaves(dut):
    port = Port(dut)
    await port.start((3200, 6400), never())
    whole = []
    for _ in range(20):
        kept = [frame_of(random.randint(14, port.frame_max)) for _ in range(random.randint(0, 3))]
        await drive_role(dut, dut.clk_role_i, kept, never())
        await ClockCycles(dut.clk_role_i, 6)
        whole += kept
        task = cocotb.start_soon(drive_role(dut, dut.clk_role_i, [frame_of(port.frame_max)], never()))
        await ClockCycles(dut.clk_role_i, random.randint(1, 20))
        task.cancel()
        dut.cut_i.value = 1
        await ClockCycles(dut.clk_role_i, random.randint(1, 5))
        dut.valid_i.value = 0
        await ClockCycles(dut.clk_role_i, 1)
        dut.cut_i.value = 0
        await port.settle()
    assert port.received == whole and port.refused == 0


@cocotb.test()
@cocotb.parametrize(length=[60, 65, 1514])
async def frames_leave_back_to_back(dut, length):
    """A frame of one word in two cycles, and longer ones without a gap."""
    port = Port(dut)
    await port.start((3200, 3200), never())
    frames = [frame_of(length) for _ in range(100)]
    begin = cocotb.utils.get_sim_time("ps")
    await drive_role(dut, dut.clk_role_i, frames, never())
    cycles = (cocotb.utils.get_sim_time("ps") - begin) / 3200
    await port.settle()
    assert port.received == frames
    words = -(-length * 8 // len(dut.data_o))
    dut._log.info(f"{len(dut.data_o)} bits, {length} bytes: {cycles / 100:.2f} cycles a frame of {words} words")
    assert cycles <= 100 * max(words, 2) + 20


@pytest.mark.parametrize("width,words", [(64, 512), (128, 256), (512, 128)])
def test_rl_port_tx(width, words):
    bench("rl_port_tx", rtl("port"), __name__, {"DataW": width, "Words": words})
