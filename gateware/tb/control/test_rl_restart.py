"""rl_restart: nothing new comes in, what is under way ends, and only then all begins anew."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from runner import bench, rtl

INPUTS = ("failed", "memory_failed", "rx_valid", "rx_last", "moves")


async def start(dut):
    for name in INPUTS:
        getattr(dut, f"{name}_i").value = 0
    dut.drained_i.value = 1
    dut.rst_por_ni.value = 0
    Clock(dut.clk_net_i, 2, "ns").start()
    await cycles(dut, 4)
    assert not dut.rst_shell_no.value and not dut.restarts_o.value
    dut.rst_por_ni.value = 1
    await cycles(dut, 2)
    assert dut.rst_shell_no.value and not dut.halt_o.value


async def cycles(dut, number):
    for _ in range(number):
        await FallingEdge(dut.clk_net_i)


async def until(dut, signal, value, most):
    """Cycles until it is so."""
    for count in range(most + 1):
        if getattr(dut, signal).value == value:
            return count
        await cycles(dut, 1)
    raise AssertionError(f"{signal} is not {value} after {most} cycles")


def sizes(dut):
    return (1 << dut.RestW.value.to_unsigned(), 1 << dut.PatienceW.value.to_unsigned(),
            dut.ResetCycles.value.to_unsigned())  # fmt: skip


async def restart(dut, reason="failed"):
    """All of one in which nothing is under way."""
    rest, _, reset = sizes(dut)
    getattr(dut, f"{reason}_i").value = 1
    await until(dut, "rst_shell_no", 0, rest + 4)
    getattr(dut, f"{reason}_i").value = 0
    await until(dut, "rst_shell_no", 1, reset + 4)


@cocotb.test()
async def it_runs_as_long_as_nothing_fails(dut):
    await start(dut)
    rest, patience, _ = sizes(dut)
    for _ in range(2 * patience):
        dut.rx_valid_i.value, dut.rx_last_i.value = random.getrandbits(1), random.getrandbits(1)
        dut.moves_i.value, dut.drained_i.value = random.getrandbits(1), random.getrandbits(1)
        await cycles(dut, 1)
        assert dut.rst_shell_no.value and not dut.halt_o.value


@cocotb.test()
@cocotb.parametrize(reason=["failed", "memory_failed"])
async def a_failure_halts_at_once_and_resets_after_a_rest(dut, reason):
    await start(dut)
    rest, _, reset = sizes(dut)
    getattr(dut, f"{reason}_i").value = 1
    await cycles(dut, 1)
    assert dut.halt_o.value and dut.rst_shell_no.value
    assert await until(dut, "rst_shell_no", 0, rest + 4) == rest + 1
    getattr(dut, f"{reason}_i").value = 0
    assert dut.halt_o.value and dut.restarts_o.value == 1
    assert dut.for_memory_o.value == (reason == "memory_failed")
    assert await until(dut, "rst_shell_no", 1, reset + 4) == reset + 2
    await cycles(dut, 2)
    assert not dut.halt_o.value


@cocotb.test()
@cocotb.parametrize(busy=["moves", "drained"])
async def what_is_under_way_begins_the_rest_again(dut, busy):
    await start(dut)
    rest, patience, _ = sizes(dut)
    signal, quiet = getattr(dut, f"{busy}_i"), int(busy == "drained")
    dut.failed_i.value = 1
    await cycles(dut, 1)
    # Each time as late as it may be.
    for _ in range(patience // rest - 2):
        signal.value = quiet
        await cycles(dut, rest - 1)
        signal.value = 1 - quiet
        await cycles(dut, 1)
        assert dut.rst_shell_no.value
    signal.value = quiet
    assert await until(dut, "rst_shell_no", 0, rest + 4) == rest + 1


@cocotb.test()
@cocotb.parametrize(busy=["moves", "drained"])
async def what_does_not_end_is_not_waited_for(dut, busy):
    await start(dut)
    rest, patience, _ = sizes(dut)
    getattr(dut, f"{busy}_i").value = int(busy == "moves")
    dut.failed_i.value = 1
    await cycles(dut, 1)
    assert await until(dut, "rst_shell_no", 0, patience + 4) == patience + 1


@cocotb.test()
async def a_rest_of_a_frame_is_not_a_frame(dut):
    """A frame that comes in while the shell begins anew is not for it, the next one is."""
    await start(dut)
    for cuts in range(1, 4):
        dut.rx_valid_i.value, dut.rx_last_i.value = 1, 0
        await cycles(dut, 1)
        dut.rx_valid_i.value = 0
        await restart(dut)
        await cycles(dut, 20)
        assert dut.halt_o.value, "it is still the old frame"
        dut.rx_valid_i.value = 1
        await cycles(dut, cuts)
        assert dut.halt_o.value
        dut.rx_last_i.value = 1
        await cycles(dut, 1)
        dut.rx_valid_i.value = 0
        await cycles(dut, 1)
        assert not dut.halt_o.value
        assert dut.restarts_o.value == cuts


@cocotb.test()
async def each_life_has_another_number_than_the_one_before(dut):
    await start(dut)
    for life in range(1, 260):
        reason = random.choice(["failed", "memory_failed"])
        await restart(dut, reason)
        assert dut.restarts_o.value == (life if life < 256 else life - 255)
        assert dut.for_memory_o.value == (reason == "memory_failed")


def test_rl_restart():
    bench("rl_restart", rtl("control"), __name__, {"RestW": 4, "PatienceW": 8, "ResetCycles": 8})
