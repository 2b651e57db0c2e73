"""The role copy behind its guards: arrays arrive wherever they lie, and its worker goes on while no kernel runs."""

import random
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiRam

from runner import bench, rtl
from streams import bursts, sometimes
from test_rl_role import DONE, LOWEST, MEMORY, STALLS, TRAP, Bench

COPY, WORK, ROUNDS, STOP = range(4)
BEAT = 64


class Copy(Bench):
    """Both memory ports lead to one memory."""

    def __init__(self, dut):
        super().__init__(dut)
        self.second = AxiRam(AxiBus.from_prefix(dut, "n_axi"), dut.clk_i, dut.rst_ni, reset_active_level=False,
                             size=MEMORY, mem=self.ram.mem)  # fmt: skip
        self.second.write_if.log.setLevel("WARNING")
        self.second.read_if.log.setLevel("WARNING")
        self.events = []
        self.owed = {"m": 0, "n": 0}  # Bursts that each port has under way.

    async def begin(self, stall=None, hears=True):
        self.dut.event_ready_i.value = hears
        await super().begin(stall)
        for channel in (self.second.write_if.b_channel, self.second.write_if.w_channel) if stall else ():
            channel.set_pause_generator(stall())
        cocotb.start_soon(self.hear())

    async def hear(self):
        dut = self.dut
        waits = None

        def taken(port, name):
            return getattr(dut, f"{port}_axi_{name}valid").value & getattr(dut, f"{port}_axi_{name}ready").value

        while True:
            await RisingEdge(dut.clk_i)
            for port in self.owed if dut.rst_ni.value == 1 else ():
                last = getattr(dut, f"{port}_axi_rlast").value
                self.owed[port] += int(taken(port, "aw")) + int(taken(port, "ar"))
                self.owed[port] -= int(taken(port, "b")) + int(taken(port, "r") & last)
            if dut.event_valid_o.value == 1:
                word = int(dut.event_word_o.value)
                assert waits in (None, word), "an event that waits stays"
                waits = word
                if dut.event_ready_i.value:
                    self.events.append(word)
                    waits = None

    def place(self, beats):
        """Two arrays that do not overlap, the first full of something."""
        start, to = LOWEST, LOWEST + (MEMORY - LOWEST) // 2
        room = (MEMORY - LOWEST) // 2 // BEAT - beats
        start, to = start + BEAT * random.randint(0, min(room, 200)), to + BEAT * random.randint(0, min(room, 200))
        data = random.randbytes(BEAT * beats)
        self.ram.write(start, data)
        return start, to, data


@cocotb.test(timeout_time=50, timeout_unit="us")
@cocotb.parametrize(stall=list(STALLS))
async def arrays_arrive(dut, stall):
    tb = Copy(dut)
    await tb.begin(STALLS[stall])
    for beats in [0, 1, 2, 15, 16, 17, 64, random.randint(1, 200), random.randint(1, 200)]:
        start, to, data = tb.place(beats)
        before = bytearray(tb.ram.read(0, MEMORY))
        status, value, _ = await tb.run([start, to, beats * BEAT // 8])
        assert (status, value) == (DONE, 0), f"{beats} beats from {start:#x} to {to:#x}"
        before[to : to + len(data)] = data
        assert tb.ram.read(0, MEMORY) == bytes(before), f"{beats} beats from {start:#x} to {to:#x}"
    assert dut.busy_o.value == 0 and tb.events == []


@cocotb.test(timeout_time=50, timeout_unit="us")
async def bad_arguments_trap(dut):
    tb = Copy(dut)
    await tb.begin()
    before = tb.ram.read(0, MEMORY)
    good = [LOWEST, LOWEST + 0x1000]
    for at in range(2):
        for addr in (0, LOWEST - BEAT, LOWEST + 8, 2**32 - BEAT, 2**32, 2**32 + LOWEST, 2**63):
            args = [*good, 16]
            args[at] = addr
            assert (await tb.run(args))[0] == DONE | TRAP, args
            assert (await tb.run([*args, 1], kernel=WORK))[0] == DONE | TRAP, args
    for words in (1, 7, 9, 2**29 + 8, 2**30, 2**61, 2**63):
        assert (await tb.run([*good, words]))[0] == DONE | TRAP, words
    assert (await tb.run([*good, 16], kernel=4))[0] == DONE | TRAP
    assert tb.ram.read(0, MEMORY) == before and tb.events == []
    assert (await tb.run([*good, 16]))[0] == DONE


@cocotb.test(timeout_time=50, timeout_unit="us")
async def the_worker_goes_on_without_a_kernel(dut):
    tb = Copy(dut)
    await tb.begin(lambda: sometimes(0.3))
    start, to, data = tb.place(20)
    assert (await tb.run([start, to, 160, 3], kernel=WORK))[:2] == (DONE, 1)
    assert dut.busy_o.value == 1
    assert (await tb.run([start, to, 160, 3], kernel=WORK))[:2] == (DONE, 0), "it works already"
    # Kernels run meanwhile, those that want memory as well.
    first, second, other = tb.place(9)
    assert (await tb.run([first, second + 0x4_0000, 72]))[:2] == (DONE, 0)
    assert tb.ram.read(second + 0x4_0000, len(other)) == other
    while dut.busy_o.value == 1:
        await RisingEdge(dut.clk_i)
    assert tb.events == [1, 2, 3]
    assert tb.ram.read(to, len(data)) == data
    assert (await tb.run([], kernel=ROUNDS))[:2] == (DONE, 3)


@cocotb.test(timeout_time=50, timeout_unit="us")
async def a_worker_without_end_is_stopped(dut):
    tb = Copy(dut)
    await tb.begin()
    start, to, _ = tb.place(4)
    assert (await tb.run([start, to, 32, 0], kernel=WORK))[:2] == (DONE, 1)
    await ClockCycles(dut.clk_i, 2000)
    assert dut.busy_o.value == 1 and len(tb.events) > 10
    status, rounds, _ = await tb.run([], kernel=STOP)
    await ClockCycles(dut.clk_i, 300)
    assert (status, dut.busy_o.value) == (DONE, 0)
    assert tb.events == list(range(1, len(tb.events) + 1)) and len(tb.events) in (rounds, rounds + 1)


@cocotb.test(timeout_time=50, timeout_unit="us")
async def an_event_waits_until_it_is_taken(dut):
    tb = Copy(dut)
    await tb.begin(hears=False)
    start, to, _ = tb.place(4)
    await tb.run([start, to, 32, 2], kernel=WORK)
    await ClockCycles(dut.clk_i, 500)
    assert tb.events == [] and dut.busy_o.value == 1
    assert (await tb.run([], kernel=ROUNDS))[:2] == (DONE, 1), "the next round waits with it"
    dut.event_ready_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.event_ready_i.value = 0
    await ClockCycles(dut.clk_i, 500)
    assert tb.events == [1] and dut.busy_o.value == 1, "the last waits as well"
    dut.event_ready_i.value = 1
    await ClockCycles(dut.clk_i, 500)
    assert tb.events == [1, 2] and dut.busy_o.value == 0


@cocotb.test(timeout_time=50, timeout_unit="us")
async def a_worker_is_cut_off_and_drained(dut):
    """As by a load: in the middle of what it does, and it is as good as new after its reset."""
    tb = Copy(dut)
    await tb.begin(lambda: sometimes(0.3))
    start, to, data = tb.place(40)
    for _ in range(5):
        await tb.run([start, to, 320, 0], kernel=WORK)
        await ClockCycles(dut.clk_i, random.randint(1, 300))
        dut.isolate_i.value = 1
        for _ in range(400):
            await RisingEdge(dut.clk_i)
            if dut.drained_o.value == 1:
                break
        assert dut.drained_o.value == 1 and dut.fault_o.value == 0
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1
        dut.isolate_i.value = 0
        await ClockCycles(dut.clk_i, 4)
        assert dut.busy_o.value == 0
        tb.events.clear()
        assert (await tb.run([], kernel=ROUNDS))[:2] == (DONE, 0)
        assert (await tb.run([start, to, 320]))[:2] == (DONE, 0)
        assert tb.ram.read(to, len(data)) == data


@cocotb.test(timeout_time=50, timeout_unit="us")
@cocotb.parametrize(reads=[False, True])
async def a_fault_at_either_port_cuts_off_both(dut, reads):
    """The port that is good has bursts under way, which are drained as well."""
    tb = Copy(dut)
    await tb.begin(lambda: sometimes(0.5))
    # Answers to writes come late.
    tb.second.write_if.b_channel.set_pause_generator(bursts(10, 300))
    for _ in range(5):
        beats = random.randint(20, 120)
        good, bad = LOWEST, MEMORY - 64 * random.randint(1, 16)
        before = tb.ram.read(0, MEMORY)
        await tb.run([bad, good, 8 * beats, 0] if reads else [good, bad, 8 * beats, 0], kernel=WORK)
        while dut.fault_o.value == 0:
            await RisingEdge(dut.clk_i)
        assert dut.fault_o.value == 1
        dut.isolate_i.value = 1
        await RisingEdge(dut.clk_i)
        for _ in range(2000):
            await RisingEdge(dut.clk_i)
            if dut.drained_o.value == 1:
                break
        else:
            raise AssertionError("it is not drained")
        quiet = [getattr(dut, f"{port}_axi_{name}valid") for port in "mn" for name in ("aw", "w", "ar")]
        await RisingEdge(dut.clk_i)
        for _ in range(100):
            await RisingEdge(dut.clk_i)
            assert tb.owed == {"m": 0, "n": 0} and not any(pin.value for pin in quiet)
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1
        dut.isolate_i.value = 0
        await ClockCycles(dut.clk_i, 4)
        assert dut.busy_o.value == 0
        assert tb.ram.read(0, LOWEST) == before[:LOWEST]
        assert (await tb.run([LOWEST, LOWEST + 0x1000, 64]))[:2] == (DONE, 0)
        tb.events.clear()


@cocotb.test(timeout_time=50, timeout_unit="us")
async def keeps_both_ports_busy(dut):
    """Nearly a beat each cycle on both ways."""
    tb = Copy(dut)
    await tb.begin()
    beats = 1024
    tb.ram.write(LOWEST, random.randbytes(beats * BEAT))
    _, _, cycles = await tb.run([LOWEST, LOWEST + beats * BEAT, beats * BEAT // 8])
    dut._log.info("%d beats in %d cycles", beats, cycles)
    assert cycles < 1.35 * beats + 200


@pytest.mark.parametrize("role", [3, 4], ids=["two", "one"])
def test_rl_role_copy(role):
    tb = Path(__file__).parent
    bench("rl_role_tb", [*rtl("common", "roles"), tb / "rl_role_tb.sv"], __name__, {"Role": role})
