"""A card that loses all of its keys, as one does that is pulled out: it says goodbye, and is silent until it has one."""

import pytest
from addresses import HOSTS
from headers import C, W
from keys import HOST, OWNER, STRANGER
from store import Named
from test_discovery import reason

GOODBYE = W.KIND_DISCOVERY_GOODBYE
MINUTE = 60_000_000


def leave(bench) -> list[tuple[int, int]]:
    """What it says then: kinds and receivers."""
    bench.clear()
    bench.board.under.clear()
    bench.give(keys=(None, None))
    said = [(sent.frame.kind, sent.frame.dst) for sent in bench.board.sent]
    bench.clear()
    return said


def come_back(bench) -> None:
    bench.give(Named(HOST))


def reasons(bench) -> list[int]:
    """Why it announces itself, in this order; it has said nothing else, and nobody but all hosts has heard it."""
    told = [sent.frame for sent in bench.board.sent]
    bench.clear()
    assert {(frame.kind, frame.dst) for frame in told} == {(W.KIND_DISCOVERY_ANNOUNCE, HOSTS)}
    return [reason(frame) for frame in told]


def test_one_that_has_none_when_it_is_switched_on_is_silent_until_it_has_one(keyed):
    bench = keyed(keys=(None, None))
    for _ in range(100):
        ask(bench)
        bench.board.run_for(MINUTE)
    assert not bench.board.sent and not bench.board.answered and not bench.board.trailers
    come_back(bench)
    bench.board.run_for(1_000_000)
    assert reasons(bench) == [W.ANNOUNCE_REASON_LINK_UP] * 3
    assert bench.claim(nonce=2).dst == OWNER


def ask(bench) -> None:
    solicit = bench.head(W.KIND_DISCOVERY_SOLICIT, src=STRANGER).raw(bytes(8))
    waits = bench.head(W.KIND_DISCOVERY_SOLICIT, src=STRANGER).raw((100).to_bytes(4, "big") + bytes(4))
    for frame in (bench.claim_with(nonce=7), bench.claim_frame(), bench.release_with(), solicit, waits):
        bench.board.receive(frame)


def test_its_owner_hears_so_under_the_session_and_all_others_without_a_tag(keyed):
    bench = keyed()
    bench.claim()
    assert leave(bench) == [(GOODBYE, OWNER), (GOODBYE, HOSTS)]
    assert bench.board.under == [(GOODBYE, OWNER)] and bench.board.owner() == 0


def test_one_that_nobody_has_claimed_says_so_to_all(keyed):
    bench = keyed()
    assert leave(bench) == [(GOODBYE, HOSTS)]
    # Nor one whose owner is gone, which could not check the tag.
    come_back(bench)
    bench.claim()
    bench.board.receive(bench.release_with())
    assert leave(bench) == [(GOODBYE, HOSTS)] and not bench.board.under


def test_then_it_is_silent_whoever_asks_and_however_long(keyed):
    bench = keyed()
    bench.claim()
    leave(bench)
    for _ in range(100):
        ask(bench)
        bench.board.run_for(MINUTE)
    bench.give(keys=(None, None))
    assert not bench.board.sent and not bench.board.answered and not bench.board.trailers[1:]
    assert not bench.board.control, "what came for it does not wait for its return"


def test_with_a_key_it_is_there_again(keyed):
    bench = keyed()
    bench.claim()
    leave(bench)
    ask(bench)
    come_back(bench)
    assert reasons(bench) == [W.ANNOUNCE_REASON_CHANGED]
    bench.clear()
    assert bench.claim(nonce=2).dst == OWNER
    # One that nobody had claimed, too.
    bench.board.receive(bench.release_with())
    leave(bench)
    come_back(bench)
    assert reasons(bench) == [W.ANNOUNCE_REASON_CHANGED]


def test_what_happens_meanwhile_is_told_when_it_is_there_again(keyed):
    bench = keyed()
    leave(bench)
    bench.board.latched |= C.EVENTS_ROLE_FAULT
    bench.board.run_for(MINUTE)
    assert not bench.board.sent
    come_back(bench)
    assert W.ANNOUNCE_REASON_ROLE_FAILED in reasons(bench)


# After 40 minutes, more than half of the clock's 32 bits, what was due seems to lie ahead.
@pytest.mark.parametrize("minutes", [1, 40])
def test_what_it_had_to_say_is_not_said_late_and_its_interval_begins_anew(keyed, minutes):
    bench = keyed()
    bench.board.run_for(1_000_000)
    bench.board.receive(bench.head(W.KIND_DISCOVERY_SOLICIT, src=STRANGER).raw((10_000).to_bytes(4, "big") + bytes(4)))
    leave(bench)
    bench.board.run_for(minutes * MINUTE)
    come_back(bench)
    assert reasons(bench) == [W.ANNOUNCE_REASON_CHANGED]
    bench.board.run_for(13_000_000)
    assert reasons(bench) == [W.ANNOUNCE_REASON_PERIODIC]
