"""rl_axi_narrow: what is written comes back through a narrower memory, byte for byte, with any pauses on either side."""

import itertools
import random
from pathlib import Path

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiRam, AxiResp
from runner import bench, common
from streams import PAUSE_PAIRS, PAUSES

MEMORY = 1 << 16
PAGE = 4096
BURST_MAX = 16


class Bench:
    """The card's master, the controller's memory, and what comes out counted."""

    def __init__(self, dut):
        self.dut = dut
        self.wide, self.narrow = int(dut.WideW.value) // 8, int(dut.NarrowW.value) // 8
        self.master = AxiMaster(AxiBus.from_prefix(dut, "s_axi"), dut.clk_i, dut.rst_ni, reset_active_level=False,
                                max_burst_len=BURST_MAX)
        self.ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, reset_active_level=False, size=MEMORY)

    async def begin(self, pauses=("never", "never")):
        Clock(self.dut.clk_i, 10, "ns").start()
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 3)
        self.dut.rst_ni.value = 1
        await ClockCycles(self.dut.clk_i, 2)
        card, memory = (PAUSES[name] for name in pauses)
        for channels, pause in ((self.master, card), (self.ram, memory)):
            writes, reads = channels.write_if, channels.read_if
            for channel in (writes.aw_channel, writes.w_channel, writes.b_channel, reads.ar_channel, reads.r_channel):
                channel.set_pause_generator(pause())


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(pauses=PAUSE_PAIRS)
async def what_is_written_comes_back(dut, pauses):
    tb = Bench(dut)
    await tb.begin(pauses)
    shadow = bytearray(random.randbytes(MEMORY))
    tb.ram.write(0, bytes(shadow))
    share = MEMORY // 4

    async def part(number):
        for _ in range(6):
            length = random.choice([1, tb.narrow, tb.wide, random.randint(1, 3000)])
            first, last = number * share, (number + 1) * share - length
            addr = random.choice([first, last, random.randint(first, last)])
            if random.random() < 0.6:
                shadow[addr : addr + length] = data = random.randbytes(length)
                await tb.master.write(addr, data, awid=number)
            else:
                assert (await tb.master.read(addr, length, arid=number)).data == shadow[addr : addr + length]

    for task in [cocotb.start_soon(part(number)) for number in range(4)]:
        await task
    assert tb.ram.read(0, MEMORY) == bytes(shadow)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_narrow_beat_goes_through_in_every_cycle(dut):
    """Writes and reads of whole pages: the narrower side is never idle within a burst."""
    tb = Bench(dut)
    await tb.begin()
    beats = {"w": [], "r": []}

    async def watch():
        for cycle in itertools.count():
            await RisingEdge(dut.clk_i)
            for name, times in beats.items():
                valid, ready = getattr(dut, f"m_axi_{name}valid"), getattr(dut, f"m_axi_{name}ready")
                if valid.value and ready.value:
                    times.append(cycle)

    cocotb.start_soon(watch())
    data = random.randbytes(PAGE)
    await tb.master.write(0, data)
    assert (await tb.master.read(0, PAGE)).data == data
    for times in beats.values():
        assert len(times) == PAGE // tb.narrow
    # A burst is of as many wide beats as the card may ask for; between bursts the master has its pauses.
    burst = BURST_MAX * tb.wide // tb.narrow
    for name, times in beats.items():
        for first in range(0, len(times), burst):
            whole = times[first : first + burst]
            assert whole[-1] - whole[0] == len(whole) - 1, name


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def an_error_of_any_part_is_the_beats(dut):
    tb = Bench(dut)
    await tb.begin()
    ratio = tb.wide // tb.narrow
    for bad in range(ratio):
        # The memory answers; the bench puts an error into one part on its way.
        served = 0
        channel = tb.ram.read_if.r_channel
        plain = channel.send

        async def send(response, plain=plain, bad=bad):
            nonlocal served
            response.rresp = AxiResp.SLVERR if served == bad else AxiResp.OKAY
            served += 1
            await plain(response)

        channel.send = send
        answer = await tb.master.read(0, 2 * tb.wide)
        channel.send = plain
        assert answer.resp == AxiResp.SLVERR
        assert served == 2 * ratio


@pytest.mark.parametrize("wide,narrow", [(512, 128), (512, 256), (64, 32)])
def test_rl_axi_narrow(wide, narrow):
    here = Path(__file__).parent
    bench("rl_axi_narrow_tb", [*common(), here / "rl_axi_narrow_tb.sv"], __name__, {"WideW": wide, "NarrowW": narrow})
