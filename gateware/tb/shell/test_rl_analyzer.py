"""rl_analyzer with its neighbours of the receive side: each frame's verdict, route and words, in any mixture and at
any rate, held against the card model."""

import random
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from frames import MINE, OWNER, good, mixed
from golden import Route
from receive import Receive, plan, some_sessions
from runner import bench, rtl
from streams import PAUSES, keep, words
from wire import CONST, KINDS

HEADER = CONST.HEADER_END  # Bytes before the payload.


def seq(number: int) -> int:
    """A number whose parity, which diverts reads and launches, is random."""
    return 2 * number + random.getrandbits(1)


async def run(dut, frames, *, pause="never", sessions=None, solicit_fast=False, listens_first=False, **how) -> Receive:
    frames = [one if isinstance(one, tuple) else (one, False) for one in frames]
    sessions = sessions or some_sessions(len(frames))
    receive = Receive(dut, plan(frames, sessions), sessions, **how)
    await receive.start(solicit_fast, listens_first)
    await receive.send(PAUSES[pause]())
    await receive.finish()
    return receive


@cocotb.test()
async def each_kind_has_its_route(dut):
    """Every kind that exists, from the owner, to the address where it belongs."""
    frames = [good(kind, seq(n)) for n, kind in enumerate(KINDS)]
    receive = await run(dut, frames, sessions=[some_sessions(0)[0]] * 100)
    routes = {one.name: one.judgement.route for one in receive.expected}
    assert {name for name, route in routes.items() if route != Route.DROP} == {
        name for name, kind in KINDS.items() if kind.to != "host"
    }
    assert {routes[name] for name in ("Input.Write", "Input.Read", "Image.Data", "Exec.Launch")} == set(Route) - {
        Route.DROP,
        Route.CONTROL,
    }


@cocotb.test()
@cocotb.parametrize(pause=["never", "ragged"])
async def any_mixture(dut, pause):
    frames = [(mixed(seq(number)), random.random() < 0.03) for number in range(1500)]
    await run(dut, frames, pause=pause, ragged_rooms=True, firmware_delay=40, solicit_fast=True)


@cocotb.test()
async def truncated_at_every_length(dut):
    frames = []
    for kind in ("Input.Write", "Session.Claim", "Exec.Launch", "Image.Data", "Discovery.Announce"):
        whole = good(kind, 2, random.randbytes(45))
        frames += [whole[:length] for length in range(1, len(whole) + 1)]
    mine, owner = MINE.to_bytes(6, "big"), OWNER.to_bytes(6, "big")
    for prefix in (bytes(40), mine + mine, mine + owner + b"\x08\x00" + bytes(40), mine + owner + b"\x80\xdd" + bytes(40)):
        frames += [prefix[:length] for length in range(1, len(prefix) + 1)]
    await run(dut, frames, sessions=[some_sessions(0)[0]] * (len(frames) + 1))


@cocotb.test()
@cocotb.parametrize(pause=["never", "ragged"])
async def every_length_with_a_good_and_a_wrong_check_sequence(dut, pause):
    """Frames of 1 to 80 bytes that are whole at that length, where they can be, in each place of the pipeline in which a
    frame can end. With a wrong check sequence none of them is more than counted."""
    frames = []
    for length in range(1, 81):
        for kind in ("Input.Write", "Image.Data", "Exec.Launch", "Session.Ping"):
            # Shorter than Ethernet's shortest: build pads.
            one = good(kind, 2 * length, random.randbytes(max(0, length - HEADER)))[:length]
            # Next to one another: nothing of the one may stay for the other.
            frames += [(one, bad) for bad in (True, False, True)]
    receive = await run(dut, frames, pause=pause, sessions=[some_sessions(0)[0]] * (len(frames) + 1))
    short = [one for one in receive.expected if HEADER <= len(one.data) < HEADER + 8 and not one.bad]
    assert any(one.judgement.route == Route.WRITE for one in short), "none that a wrong sequence could spoil"
    assert await receive.count("drop_check") == len(frames) * 2 // 3


@cocotb.test()
async def long_frames(dut):
    """Up to the longest that any network carries, whatever the kind."""
    frames = []
    for kind in ("Input.Write", "Session.Ping", "Image.Data", "Session.Grant", "Exec.Launch"):
        for length in (1472, 1473, 1504, 1505, random.randint(1480, 8960), 8986):
            frames.append(good(kind, 2 * length, random.randbytes(length)))
    frames += [frames[0][:-1], frames[5] + b"\0" * 9, (frames[0], True), frames[1]]
    await run(dut, frames, sessions=[some_sessions(0)[0]] * (len(frames) + 1), pause="never")


@cocotb.test()
@cocotb.parametrize(payload=[28, 1472])
async def a_word_each_cycle(dut, payload):
    """Frames back to back go through without a gap, four cycles after they came."""
    frames = [
        good(kind, 2 * n, random.randbytes(payload))
        for n in range(60 if payload < 100 else 4)
        for kind in ("Input.Write", "Image.Data", "Input.Write", "Input.Read")
    ]
    receive = await run(dut, frames, listens_first=True)
    assert all(one.judgement.drop is None for one in receive.expected)
    if receive.size > 8:
        return  # How fast it is there, test_wide.py measures.
    assert receive.max_latency <= 4, receive.max_latency
    assert receive.rx_busy == list(range(receive.rx_busy[0], receive.rx_busy[0] + len(receive.rx_busy)))
    assert len(receive.rx_busy) == sum(len(one) // 8 + (len(one) % 8 > 0) for one in frames)


@cocotb.test()
async def what_does_not_fit_is_counted_once(dut):
    """While a unit has no room for long the receive FIFO runs over: what then comes out is whole, or aborted."""
    frames = [good("Input.Write", 2 * n, random.randbytes(random.choice([28, 1472]))) for n in range(60)]
    receive = Receive(dut, plan([(one, False) for one in frames], some_sessions(0) * 61), some_sessions(0))
    receive.watch_rx_beat = receive.watch_wide = receive.ignore_rx_beat
    await receive.start()
    dut.room_write_i.value = 0
    done, aborted = [], 0

    async def watch():
        nonlocal aborted
        while True:
            await RisingEdge(dut.clk_net_i)
            aborted += int(dut.bulk_abort_o.value)
            if dut.bulk_done_o.value:
                done.append(int(dut.bulk_seq_o.value) // 2)

    cocotb.start_soon(watch())
    for n, one in enumerate(frames):
        data, valids = words(one, receive.size), keep(one, receive.size)
        for left, word, valid in zip(reversed(range(len(data))), data, valids, strict=True):
            dut.rx_valid_i.value = 1
            dut.rx_data_i.value = word
            dut.rx_keep_i.value = valid
            dut.rx_last_i.value = int(left == 0)
            await RisingEdge(dut.clk_net_i)
        dut.rx_valid_i.value = 0
        if n == 40:
            dut.room_write_i.value = 1
    for _ in range(6000):
        await RisingEdge(dut.clk_net_i)
    assert done == sorted(set(done))
    assert aborted and len(frames) - len(done) > 1
    lost = len(frames) - len(done)
    assert await receive.count("drop_queue") == lost
    assert await receive.count("rx_frames") == len(done) + aborted
    assert await receive.count("drop_check") == await receive.count("drop_truncated") == 0


@pytest.mark.parametrize("width,ring,entries", [(64, 1024, 32), (64, 512, 4), (128, 1024, 32), (256, 512, 4), (512, 1024, 32)])
def test_rl_analyzer(width, ring, entries):
    sources = [*rtl("common", "shell"), Path(__file__).with_name("receive_bench.sv")]
    sizes = {"DataW": width, "FifoWords": 2048 * 64 // width, "RingWords": ring, "RingFrames": entries}
    bench("receive_bench", sources, __name__, sizes)
