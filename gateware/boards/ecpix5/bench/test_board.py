"""The whole board but for its memory, on the line: it boots, announces itself, is claimed, written and read."""

import random

from flash_contents import with_slots
from host import CARD, HOST, Host
from line import wire as on_line
from wire import ADDRESS, CONST, ENUM, frame, unpack


def test_it_says_what_it_is(application):
    application.send(frame("Discovery.Solicit", dst=ADDRESS.CARDS, src=HOST, seq=77, window_us=0))
    answer = application.hears("Discovery.Announce")
    assert answer.dst == HOST and answer.seq == 77
    card = unpack("Announce", answer.payload)
    assert card.mac0 == CARD and card.card_kind == ENUM["CardKind"]["Board"] and card.unit == 1 and card.ports == 1
    assert card.memory == 256 << 20 and card.clock_khz == 75000 and card.port_rate == 10**9
    assert card.bulk == CONST.BULK_STANDARD
    # Nothing is broken, and memory is there.
    assert application.lamps[0] == 0b1111 and application.lamps[1] & 1 == 0


def test_memory_keeps_what_is_written(application):
    application.claim()
    random.seed(1)
    # Neither begins nor ends with a beat: strobes and all parts of beats are used.
    data = random.randbytes(6 * CONST.BULK_STANDARD + 33)
    base = CONST.ROLE_PRIVATE + 8003
    parts = [(at, data[at : at + CONST.BULK_STANDARD]) for at in range(0, len(data), CONST.BULK_STANDARD)]
    application.write([(base + at, part) for at, part in parts])
    got = b"".join(application.fetch(base + at, len(part), n) for n, (at, part) in enumerate(parts, 1))
    assert got == data


def test_a_card_whose_memory_is_not_trained_says_so(wired):
    host = Host(wired, *with_slots(a=("first",)), options=("+untrained",))
    host.power_up()
    assert unpack("Announce", host.meets().payload).state == ENUM["CardState"]["Faulty"]
    assert host.lamps[0] & 1 == 0
    host.send(frame("Session.Claim", dst=CARD, src=HOST, seq=1, nonce=99, lease_ms=60000, group=5))
    refused = host.hears("Session.Refuse")
    assert refused.code == ENUM["ErrorCode"]["MemoryFault"]
    host.send(frame("Session.CountersGet", dst=CARD, src=HOST, seq=2))
    host.hears("Session.Counters")
    host.send(frame("Session.Ping", dst=CARD, src=HOST, seq=3))
    assert unpack("Pong", host.hears("Session.Pong").payload).state == ENUM["CardState"]["Faulty"]
    host.close()


def test_a_wrong_check_sequence_is_not_taken(application):
    ask = frame("Discovery.Solicit", dst=ADDRESS.CARDS, src=HOST, seq=5, window_us=0)
    application.say(f"send {on_line(ask, flip=8 * 20).hex()}")
    application.run(100)
    assert not application.heard
    application.send(ask)
    assert application.hears("Discovery.Announce").seq == 5


def test_it_announces_itself_when_its_link_comes_back(application):
    """Without a cable it says nothing and lights lamp 1 red; nothing that it had to say meanwhile comes later."""
    application.say("cable 0")
    application.until(lambda: application.lamps[0] & 2 == 0)
    ask = frame("Discovery.Solicit", dst=ADDRESS.CARDS, src=HOST, seq=78, window_us=0)
    application.send(ask)
    application.run(1000)
    assert not application.heard
    start = application.us
    application.say("cable 1")
    hello = application.meets()
    # The second announcement of the link before would come 50 ms after the first.
    assert application.us - start < 30_000
    body = unpack("Announce", hello.payload)
    assert body.reason == ENUM["AnnounceReason"]["LinkUp"] and body.port_rate == 10**9
    assert application.lamps[0] & 2
    application.send(ask)
    assert application.hears("Discovery.Announce").dst == HOST
