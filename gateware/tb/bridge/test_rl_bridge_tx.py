"""The wire side's way out: each segment becomes the frame that the Rust writer makes, and no cycle is lost."""

import random

import cocotb
import pytest
from node import NODES, OWN, WIDTHS, Node, a_message
from runner import bench, rtl
from streams import PAUSES, PAUSE_PAIRS, never

FRAMES = 150


class Sender(Node):
    """Segments in, frames out."""

    async def departures(self):
        """How many were sent, and how many were for nobody."""
        return await self.counts(self.dut.departure_count_of_i, self.dut.departure_count_o, 2)


def frame_of(message, nodes=NODES):
    """What the Rust writer makes of it."""
    return message.head(nodes[message.node], OWN).frame(message.payload)


@cocotb.test()
@cocotb.parametrize(pauses=PAUSE_PAIRS)
async def each_segment_is_the_writers_frame(dut, pauses):
    sender = Sender(dut)
    await sender.start()
    messages = [a_message() for _ in range(FRAMES)]
    await sender.send(messages, PAUSES[pauses[0]](), PAUSES[pauses[1]]())
    assert sender.frames == [frame_of(message) for message in messages]
    assert await sender.departures() == [FRAMES, 0]


@cocotb.test()
async def what_is_for_nobody_goes_nowhere(dut):
    sender = Sender(dut)
    await sender.start()
    messages = [a_message(node=random.randrange(8)) for _ in range(FRAMES)]
    await sender.send(messages, PAUSES["ragged"](), PAUSES["ragged"]())
    known = [message for message in messages if message.node < len(NODES)]
    assert sender.frames == [frame_of(message) for message in known]
    assert await sender.departures() == [len(known), FRAMES - len(known)]


@cocotb.test()
async def an_address_counts_from_a_frame_s_begin_on(dut):
    """The owner changes the table while frames leave: each is whole under the old or the new address, or is dropped."""
    sender = Sender(dut)
    await sender.start()
    other = 0x066655554444
    messages = [a_message(length=random.randrange(100), node=0) for _ in range(FRAMES)]

    async def owner():
        while True:
            for mac in (other, None, NODES[0]):
                for _ in range(random.randint(1, 60)):
                    await sender.edge
                await sender.set_peer(0, mac)

    task = cocotb.start_soon(owner())
    await sender.send(messages, PAUSES["ragged"](), PAUSES["ragged"]())
    task.cancel()
    left = list(sender.frames)
    seen = set()
    for message in messages:
        for mac in (NODES[0], other):
            if left and left[0] == frame_of(message, [mac]):
                seen.add(mac)
                left.pop(0)
                break
    assert not left, "a frame has an address that changes in its middle"
    sent, dropped = await sender.departures()
    assert len(seen) == 2 and dropped and (sent, sent + dropped) == (len(sender.frames), FRAMES)


@cocotb.test()
@cocotb.parametrize(length=[0, 1, 32, 33, 64, 1408])
async def no_cycle_is_lost(dut, length):
    """One word a cycle, also from frame to frame, and the first word at most four cycles after its segment."""
    sender = Sender(dut)
    await sender.start()
    messages = [a_message(length) for _ in range(100)]
    await sender.send(messages, never(), never())
    assert sender.frames == [frame_of(message) for message in messages]
    words = -(-(96 + length) // sender.size)
    cycles = sender.ended[-1] - sender.begun[0] + 1
    latency = sender.begun[0] - sender.offered[0]
    dut._log.info(
        f"{8 * sender.size} bits, {length} bytes: {cycles / 100:.2f} cycles a frame of {words} words, "
        f"the first word {latency} cycles after its segment was offered"
    )
    assert cycles == 100 * words
    assert latency <= 4


@pytest.mark.parametrize("width", WIDTHS)
def test_rl_bridge_tx(width):
    bench("rl_bridge_wire", rtl("bridge"), __name__, {"DataW": width})
