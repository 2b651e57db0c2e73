"""rl_discovery behind the analyzer: which solicitations it answers by itself, and how soon."""

import random
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from frames import MINE, OWNER, RIVAL, good
from receive import Receive, plan, some_sessions
from runner import bench, rtl
from streams import PAUSES
from wire import ADDRESS, pack


def solicit(seq, window=0, reserved=0, src=OWNER, dst=ADDRESS.CARDS, tail=b"") -> bytes:
    return good("Discovery.Solicit", seq, pack("Solicit", window_us=window, reserved=reserved) + tail, src=src, dst=dst)


async def run(dut, frames, *, fast=True, delay=0, least=0) -> Receive:
    sessions = [some_sessions(0)[0]] * (len(frames) + 1)
    receive = Receive(dut, plan([(one, False) for one in frames], sessions), sessions, firmware_delay=delay)
    receive.firmware_least = least
    await receive.start(fast)
    await receive.send(PAUSES["rare"]())
    await receive.finish()
    return receive


@cocotb.test()
async def it_answers_whoever_asks_at_once(dut):
    asked = [(random.choice([OWNER, RIVAL]), n) for n in range(50)]
    frames = [
        solicit(n, src=src, dst=random.choice([ADDRESS.CARDS, MINE, (1 << 48) - 1]), reserved=random.getrandbits(32))
        for src, n in asked
    ]
    receive = await run(dut, frames)
    assert receive.announced == asked


@cocotb.test()
async def it_leaves_the_rest_to_the_firmware(dut):
    """Those with a window, of another length, and of other kinds."""
    frames = [solicit(n, window=1 << n % 32) for n in range(64)]
    frames += [solicit(1, tail=b"x"), good("Discovery.Solicit", 2, bytes(7)), good("Discovery.Solicit", 3, b"")]
    frames += [good("Session.Ping", 4, bytes(8)), good("Image.Poll", 5, bytes(8))]
    receive = await run(dut, frames)
    assert receive.announced == []
    assert len(receive.finished) == len(frames)


@cocotb.test()
async def it_waits_when_it_is_told(dut):
    frames = [solicit(n) for n in range(20)]
    receive = await run(dut, frames, fast=False)
    assert receive.announced == []
    assert len(receive.finished) == len(frames)


@cocotb.test()
async def a_slow_firmware_keeps_the_order(dut):
    """An announcement tells what the frames before have changed: behind one that is unfinished it is control's."""
    frames = [one for n in range(20) for one in (good("Session.Claim", 2 * n), solicit(2 * n + 1))]
    # Slower than any frame comes: the claim is unfinished when the solicitation behind it ends.
    receive = await run(dut, frames, delay=400, least=200)
    assert receive.announced == []
    assert len(receive.finished) == len(frames)


@cocotb.test()
async def four_fit(dut):
    """With nobody to send them it takes four, and the firmware gets the others."""
    frames = [solicit(n) for n in range(12)]
    sessions = [some_sessions(0)[0]]
    receive = Receive(dut, plan([(one, False) for one in frames], sessions), sessions)
    receive.announcing = False
    await receive.start(True)
    await receive.send(PAUSES["never"]())
    for _ in range(400):
        await RisingEdge(dut.clk_net_i)
    assert await receive.count("announces") == 4
    receive.announcing = True
    await receive.finish()
    assert receive.announced == [(OWNER, n) for n in range(4)]
    assert receive.finished >= set(range(4, 12))


@cocotb.test()
async def it_is_quick(dut):
    """From the last word of the solicitation to the request: few of the 64 cycles that the reply may take."""
    frames = [solicit(1)]
    sessions = [some_sessions(0)[0]]
    receive = Receive(dut, plan([(frames[0], False)], sessions), sessions)
    await receive.start(True, listens_first=True)
    cocotb.start_soon(receive.send(PAUSES["never"]()))
    last_at = valid_at = None
    for cycle in range(60):
        await RisingEdge(dut.clk_net_i)
        if dut.rx_valid_i.value and dut.rx_last_i.value:
            last_at = cycle
        if valid_at is None and dut.announce_valid_o.value:
            valid_at = cycle
    # Wider words take the way through rl_rx_narrow.
    assert valid_at - last_at <= (5 if receive.size == 8 else 20), valid_at - last_at


@pytest.mark.parametrize("width", [64, 128])
def test_rl_discovery(width):
    sources = [*rtl("common", "shell"), Path(__file__).with_name("receive_bench.sv")]
    bench("receive_bench", sources, __name__, {"DataW": width, "FifoWords": 2048 * 64 // width})
