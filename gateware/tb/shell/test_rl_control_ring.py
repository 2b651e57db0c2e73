"""rl_control_ring behind the analyzer: what control gets, kept in order while the firmware is slow."""

import random
from dataclasses import replace
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from frames import CARD, good
from receive import Receive, plan, some_sessions
from runner import bench, rtl
from streams import PAUSES

CONTROL = ["Session.Ping", "Session.CountersGet", "Exec.Query", "Exec.Cancel", "Image.Poll", "ImageConfirm.Missing"]


async def run(dut, frames, delay) -> tuple[Receive, bool]:
    """The bench, and whether the ring has been full."""
    sessions = [some_sessions(0)[0]] * (len(frames) + 1)
    receive = Receive(dut, plan([(one, False) for one in frames], sessions), sessions, firmware_delay=delay)
    await receive.start()
    full = False

    async def watch():
        nonlocal full
        while True:
            await RisingEdge(dut.clk_net_i)
            full |= not dut.room_control.value

    cocotb.start_soon(watch())
    await receive.send(PAUSES["never"]())
    await receive.finish()
    return receive, full


@cocotb.test()
async def many_frames_wait(dut):
    """More of them than it has room for, with others that are for blocks of their own between them."""
    frames = []
    for n in range(150):
        frames.append(good(random.choice(CONTROL), 2 * n, random.randbytes(random.choice([0, 8, 28, 60]))))
        frames += [good("Input.Write", 2 * n, random.randbytes(100)) for _ in range(random.randint(0, 2))]
    receive, full = await run(dut, frames, 150)
    assert full
    assert len(receive.finished) == 150


@cocotb.test()
async def long_frames_fill_it(dut):
    """The longest that it keeps whole, longer ones, and the diverted."""
    frames = []
    for n in range(40):
        kind = random.choice(["ImageConfirm.Missing", "Session.Ping", "Input.Read", "Exec.Launch"])
        frames.append(good(kind, random.getrandbits(20), random.randbytes(random.choice([1472, 1504, 1505, 3000, 8]))))
    _, full = await run(dut, frames, 1500)
    assert full


@cocotb.test()
async def diverted_launches_are_barriers(dut):
    """What comes behind one is judged when the firmware is done with it, by the session it then is."""
    frames, sessions = [], [replace(CARD, epoch=5 + n) for n in range(41)]
    for n in range(40):
        frames.append(good("Exec.Launch", 2 * n + 1, random.randbytes(40), epoch=5 + n))
        frames.append(good("Input.Write", 2 * n, random.randbytes(64), epoch=random.choice([5 + n, 6 + n])))
    expected = plan([(one, False) for one in frames], sessions)
    receive = Receive(dut, expected, sessions, firmware_delay=60)
    await receive.start()
    await receive.send(PAUSES["bursts"]())
    await receive.finish()
    assert receive.barriers_finished == 40


@pytest.mark.parametrize("ring,entries", [(1024, 32), (512, 64), (512, 4)])
def test_rl_control_ring(ring, entries):
    sources = [*rtl("common", "shell"), Path(__file__).with_name("receive_bench.sv")]
    bench("receive_bench", sources, __name__, {"RingWords": ring, "RingFrames": entries})
