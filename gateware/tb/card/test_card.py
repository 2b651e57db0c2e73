"""The whole card, from frame to frame: what the conformance suite does faster is looked at here cycle by cycle."""

import cocotb
from card import BASE, CARD, HOST, MEMORY, Card
from runner import RTL, bench, rtl
from wire import ADDRESS, pack


@cocotb.test()
async def it_says_who_it_is(dut):
    card = Card(dut)
    await card.start()
    (hello,) = card.take("Discovery.Announce")
    print(hello)


@cocotb.test()
async def a_claim_writes_and_reads(dut):
    card = Card(dut)
    await card.start()
    print(await card.claim())
    data = bytes(range(200))
    await card.send("Input.Write", data, seq=1, addr=BASE + 3)
    assert card.memory.read(BASE + 3, 200) == data
    print(card.take("InputConfirm.WriteAck"))
    await card.send("Input.Read", seq=9, addr=BASE + 10, length=150)
    (answer,) = card.take("InputConfirm.ReadData")
    assert answer.payload == data[7:157]


def test_card():
    bench("rl_card_sim", [*rtl("common", "shell", "control", "digest", "config", "roles"), "board/sim/rl_card_sim.sv"], __name__)
