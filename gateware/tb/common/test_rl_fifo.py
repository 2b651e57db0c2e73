"""rl_fifo, rl_fifo_deep: words in order, none lost, none twice, for both kinds of memory and any pauses."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from runner import bench, common
from streams import PAUSE_PAIRS, PAUSES, receive, send

WORDS = 400


async def start(dut):
    dut.wvalid_i.value = 0
    dut.rready_i.value = 0
    dut.rst_ni.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)


def some_words(dut, count):
    return [random.getrandbits(dut.Width.value.to_unsigned()) for _ in range(count)]


@cocotb.test()
@cocotb.parametrize(pauses=PAUSE_PAIRS)
async def words_keep_their_order(dut, pauses):
    await start(dut)
    sent = some_words(dut, WORDS)
    cocotb.start_soon(send(dut.clk_i, dut.wvalid_i, dut.wready_o, dut.wdata_i, sent, PAUSES[pauses[0]]()))
    got = await receive(dut.clk_i, dut.rvalid_o, dut.rready_i, dut.rdata_o, WORDS, PAUSES[pauses[1]]())
    assert got == sent
    await RisingEdge(dut.clk_i)
    assert not dut.rvalid_o.value
    assert dut.count_o.value == 0


@cocotb.test()
async def it_fills_to_its_depth_and_counts(dut):
    await start(dut)
    depth = dut.Depth.value.to_unsigned()
    sent = some_words(dut, 2 * depth + 4)
    cocotb.start_soon(send(dut.clk_i, dut.wvalid_i, dut.wready_o, dut.wdata_i, sent, PAUSES["never"]()))
    for _ in range(2 * depth + 8):
        await RisingEdge(dut.clk_i)
    await ReadOnly()
    assert not dut.wready_o.value
    # The output register of block RAM holds one more, which is not counted.
    assert dut.count_o.value == depth
    await RisingEdge(dut.clk_i)
    assert await receive(dut.clk_i, dut.rvalid_o, dut.rready_i, dut.rdata_o, len(sent), PAUSES["never"]()) == sent


@cocotb.test()
async def it_passes_a_word_each_cycle(dut):
    await start(dut)
    sent = some_words(dut, WORDS)
    cocotb.start_soon(send(dut.clk_i, dut.wvalid_i, dut.wready_o, dut.wdata_i, sent, PAUSES["never"]()))
    dut.rready_i.value = 1
    while not dut.rvalid_o.value:
        await RisingEdge(dut.clk_i)
    for word in sent:
        assert dut.rvalid_o.value, "a bubble"
        assert dut.rdata_o.value == word
        await RisingEdge(dut.clk_i)


@pytest.mark.parametrize("width,depth,block", [(8, 2, 0), (64, 16, 0), (33, 128, 1), (64, 4, 1)])
def test_rl_fifo(width, depth, block):
    bench("rl_fifo", common(), __name__, {"Width": width, "Depth": depth, "Block": block})


@pytest.mark.parametrize("width,depth,slice_width", [(33, 128, 4), (8, 16, 8)])
def test_rl_fifo_deep(width, depth, slice_width):
    bench("rl_fifo_deep", common(), __name__, {"Width": width, "Depth": depth, "SliceW": slice_width})
