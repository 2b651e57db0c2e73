"""rl_link_gate: frames pass whole, in both directions, while a link comes and goes at random, and nobody waits for it."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from runner import bench, common

CYCLES = 6000


async def start(dut):
    rx = (dut.rx_valid_i, dut.rx_last_i, dut.rx_bad_i)
    for signal in (dut.rst_ni, dut.link_i, *rx, dut.tx_valid_i, dut.tx_last_i, dut.tx_ready_i):
        signal.value = 0
    dut.open_i.value = 1
    dut.rx_keep_i.value = 0xFF
    Clock(dut.clk_i, 10, "ns").start()
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1


@cocotb.test()
async def frames_in_are_whole_or_bad(dut):
    """The MAC begins anew with each link. What the shell gets is a frame that was sent, or a part of one that ends as bad."""
    await start(dut)
    sent, part, got, ends = set(), [], [], []
    number = left = 0
    link = False
    for _ in range(CYCLES):
        await FallingEdge(dut.clk_i)
        if dut.rx_valid_o.value:
            got.append(dut.rx_data_o.value.to_unsigned())
            if dut.rx_last_o.value:
                ends.append((tuple(got), bool(dut.rx_bad_o.value)))
                got = []
        if random.random() < 0.03:
            link = not link
            left, part = 0, []
        dut.link_i.value = link
        valid = link and random.random() < 0.6
        dut.rx_valid_i.value = valid
        if valid:
            left = left or random.randrange(1, 12)
            number, left = number + 1, left - 1
            part.append(number)
            dut.rx_data_i.value = number
            dut.rx_last_i.value = left == 0
            if left == 0:
                sent.add(tuple(part))
                part = []
    good = [frame for frame, bad in ends if not bad]
    assert len(good) > 100 and len(good) < len(ends)
    assert all(frame in sent for frame in good) and good == sorted(good)


@cocotb.test()
async def frames_out_are_whole_and_never_wait_for_a_link(dut):
    """The MAC forgets what it has with each link. What it has of one link is whole frames, and the last perhaps in part."""
    await start(dut)
    link, refused = False, 0
    number = left = 0
    sizes, taken = {}, []
    current, word, offered = 0, 0, False
    for _ in range(CYCLES):
        await FallingEdge(dut.clk_i)
        if random.random() < 0.03:
            link = not link
            taken.append("link")
        if not offered and random.random() < 0.7:
            if left == 0:
                current, left, word = current + 1, random.randrange(1, 12), 0
                sizes[current] = left
            offered = True
        dut.link_i.value = link
        dut.tx_valid_i.value = offered
        dut.tx_last_i.value = left == 1
        dut.tx_ready_i.value = link and random.random() < 0.6
        await RisingEdge(dut.clk_i)
        if offered and dut.tx_ready_o.value:
            if dut.tx_valid_o.value:
                assert link
                taken.append((current, word))
            word, left, offered, refused = word + 1, left - 1, False, 0
        else:
            refused += offered
            assert link or not offered
    whole = 0
    for event, after in zip(taken, taken[1:]):
        if event != "link" and after != "link":
            frame, at = event
            ended = at == sizes[frame] - 1
            assert after == ((after[0], 0) if ended else (frame, at + 1))
            whole += ended
        elif event == "link" and after != "link":
            assert after[1] == 0
    assert whole > 100


def test_rl_link_gate():
    bench("rl_link_gate", common(), __name__)
