"""rl_bridge_exit: frames leave whole, none begins while it is stopped, and each reports its length."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge
from runner import bench, rtl

FRAMES = 400


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def frames_leave_whole_and_are_told_by_length(dut):
    for port in (dut.rst_ni, dut.stop_i, dut.valid_i, dut.last_i, dut.keep_i, dut.ready_i, dut.event_ready_i):
        port.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 1
    lengths = [random.randint(1, 200) for _ in range(FRAMES)]
    told, sent, began, inside, stopped = [], 0, 0, False, False
    number, left, events = 0, lengths[0], 0
    while len(told) < FRAMES:
        await FallingEdge(dut.clk_i)
        if random.random() < 0.1:
            stopped = random.random() < 0.5
        here = number < FRAMES
        dut.stop_i.value = stopped
        dut.valid_i.value = here
        dut.last_i.value = left <= 8
        dut.keep_i.value = (1 << min(left, 8)) - 1
        dut.ready_i.value = random.random() < 0.8
        # Its four places are never all full: who counts takes faster than frames leave.
        dut.event_ready_i.value = random.random() < 0.5 or events > 1
        await ReadOnly()
        if here and not inside and stopped:
            assert not dut.valid_o.value and not dut.ready_o.value, "a frame begins while it is stopped"
        if here and (inside or not stopped):
            assert dut.valid_o.value and dut.ready_o.value == dut.ready_i.value, "a frame that may leave waits"
        takes = here and bool(dut.ready_o.value)
        assert bool(dut.sent_o.value) == (takes and left <= 8)
        sent += int(dut.sent_o.value)
        if dut.event_valid_o.value and dut.event_ready_i.value:
            told.append(dut.event_bytes_o.value.to_unsigned())
        await RisingEdge(dut.clk_i)
        if takes:
            began += not inside
            inside, left = left > 8, left - 8
            if not inside:
                number += 1
                left = lengths[number] if number < FRAMES else 0
        events = number - len(told)
    assert told == lengths and sent == began == FRAMES


def test_rl_bridge_exit():
    bench("rl_bridge_exit", rtl("bridge"), __name__)
