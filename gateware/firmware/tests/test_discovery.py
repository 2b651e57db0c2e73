"""Announcements: when, to whom, how often, and what they say."""

import struct

from addresses import CARD_MAC, CARDS, HOST, HOSTS, RIVAL
from bench import Bench
from golden import digest
from headers import C, W
from images import image, part
from wire import Frame, number


def solicit(bench: Bench, src: int, seq: int, window: int) -> None:
    body = struct.pack(">II", window, 0)
    bench.board.receive(Frame(CARDS, src, W.KIND_DISCOVERY_SOLICIT, seq=seq).raw(body))


def reason(frame: Frame) -> int:
    return frame.payload[20]


def test_announces_itself_at_link_up_and_says_it_again(new):
    bench = new(unit=7, boot=99)
    first = bench.frame(W.KIND_DISCOVERY_ANNOUNCE)
    assert (first.dst, first.src, first.seq, first.epoch, first.addr) == (HOSTS, CARD_MAC, 1, 0, 0)
    body = struct.unpack(">6s6sHHHBBBBHIIQQQQ6sH32s", first.payload)
    what = (7, W.CARD_KIND_RTL, W.CARD_STATE_EMPTY, W.ANNOUNCE_REASON_LINK_UP, 1, 1472, 99, 250_000)
    rates = (8 << 20, 10_000_000_000, 0, 400_000_000)
    assert body == (CARD_MAC.to_bytes(6, "big"), bytes(6), 0x524C, 1, *what, *rates, bytes(6), 0, bytes(32))
    bench.board.run_for(300_000)
    again = bench.take(W.KIND_DISCOVERY_ANNOUNCE)
    assert [s.at for s in again] == [50_000, 200_000]
    assert all(reason(s.frame) == W.ANNOUNCE_REASON_LINK_UP for s in again)
    assert bench.count("announces") == 3


def port_rate(frame: Frame) -> int:
    return number(frame.payload[40:48])


def test_announces_itself_whenever_its_link_comes_up(new):
    """First it waits for one; then links of another rate, one that was away for a moment only, and one that stays."""
    bench = new(link=C.LINK_WATCHED)
    board = bench.board
    ups = 0
    board.run_for(100_000)
    assert not bench.take(W.KIND_DISCOVERY_ANNOUNCE)
    for mbps, away in ((1000, True), (100, True), (10, False)):
        if away:
            board.config.link = C.LINK_WATCHED | ups << C.LINK_UPS_SHIFT
            board.run_for(50_000)
            assert not bench.take(W.KIND_DISCOVERY_ANNOUNCE)
        ups += 1
        board.config.link = C.LINK_WATCHED | C.LINK_UP | ups << C.LINK_UPS_SHIFT
        board.config.port_mbps = mbps
        start = board.time
        board.run_for(300_000)
        told = bench.take(W.KIND_DISCOVERY_ANNOUNCE)
        assert len(told) == 3 and told[0].at - start <= 25_000
        assert [s.at - told[0].at for s in told[1:]] == [50_000, 200_000]
        assert {(reason(s.frame), port_rate(s.frame)) for s in told} == {(W.ANNOUNCE_REASON_LINK_UP, mbps * 10**6)}
        # Those that were asked for say it as well.
        solicit(bench, RIVAL, 5, 0)
        assert port_rate(bench.frame(W.KIND_DISCOVERY_ANNOUNCE)) == mbps * 10**6
    board.run_for(1_000_000)
    assert not bench.take(W.KIND_DISCOVERY_ANNOUNCE)


def test_a_restart_is_told_at_the_first_link_only(new):
    bench = new(link=C.LINK_WATCHED, restarts=1)
    for ups, why in ((1, W.ANNOUNCE_REASON_RESTARTED), (2, W.ANNOUNCE_REASON_LINK_UP)):
        bench.board.config.link = C.LINK_WATCHED | C.LINK_UP | ups << C.LINK_UPS_SHIFT
        bench.board.run_for(300_000)
        assert {reason(s.frame) for s in bench.take(W.KIND_DISCOVERY_ANNOUNCE)} == {why}


def test_a_link_that_nobody_can_ask_for_counts_as_one(new):
    bench = new(link=C.LINK_WATCHED | C.LINK_UNKNOWN)
    assert reason(bench.frame(W.KIND_DISCOVERY_ANNOUNCE)) == W.ANNOUNCE_REASON_LINK_UP
    bench.board.config.link = C.LINK_WATCHED
    bench.board.run_for(300_000)
    bench.clear()
    bench.board.config.link = C.LINK_WATCHED | C.LINK_UNKNOWN
    bench.board.run_for(300_000)
    assert len(bench.take(W.KIND_DISCOVERY_ANNOUNCE)) == 3


def test_a_card_that_slept_through_its_moments_speaks_once(new):
    bench = new()
    bench.clear()
    bench.board.time += 400_000
    bench.board.run()
    assert len(bench.take(W.KIND_DISCOVERY_ANNOUNCE)) == 1


def test_announces_itself_periodically_and_not_in_step(new):
    firsts = set()
    for seed in range(8):
        bench = new(seed=seed)
        bench.board.run_for(300_000)
        bench.clear()
        bench.board.run_for(60_000_000)
        times = [s.at for s in bench.take(W.KIND_DISCOVERY_ANNOUNCE)]
        assert 4 <= len(times) <= 8
        firsts.add(times[0])
        gaps = [b - a for a, b in zip(times, times[1:], strict=False)]
        assert all(7_500_000 <= gap <= 12_500_000 for gap in gaps)
    assert len(firsts) == 8
    assert max(firsts) - min(firsts) > 1_000_000, "neighbouring seeds give neighbouring moments"


def test_answers_a_solicitation_to_the_solicitor_within_the_window(new):
    bench = new()
    bench.board.run_for(1000)
    bench.clear()
    solicit(bench, HOST, 42, 10_000)
    assert not bench.board.field(C.CSR_SESSION, C.SESSION_SOLICIT_FAST)
    solicit(bench, HOST, 43, 0)
    asked = bench.board.time
    bench.board.run_for(20_000)
    answer = bench.expect(W.KIND_DISCOVERY_ANNOUNCE)
    assert (answer.frame.dst, answer.frame.seq) == (HOST, 43)
    assert reason(answer.frame) == W.ANNOUNCE_REASON_SOLICITED
    assert answer.at - asked < 10_000
    assert not bench.sent
    # Nothing waits any more: the hardware answers.
    solicit(bench, HOST, 44, 0)
    assert bench.frame(W.KIND_DISCOVERY_ANNOUNCE).seq == 44
    assert (bench.board.answered, bench.count("announces")) == (1, 3)


def test_a_crowd_of_solicitors_keeps_nobody_from_an_answer(new):
    """Places are few and windows bounded: with one more, the first of those who wait is answered at once."""
    bench = new(announce_ms=700_000)
    bench.board.run_for(300_000)
    bench.clear()
    for i in range(20):
        solicit(bench, 0x020101010100 + i, 1, 2**32 - 1)
    assert bench.count("drop_queue") == 0
    early = [s.frame.dst for s in bench.take(W.KIND_DISCOVERY_ANNOUNCE)]
    assert early == [0x020101010100 + i for i in range(16)]
    bench.board.run_for(1_000_000)
    assert {s.frame.dst for s in bench.take(W.KIND_DISCOVERY_ANNOUNCE)} == {0x020101010100 + i for i in range(16, 20)}


def test_no_window_is_longer_than_a_second(new):
    bench = new(announce_ms=700_000)
    bench.board.run_for(1_000_000)
    bench.clear()
    solicit(bench, HOST, 1, 2**32 - 1)
    bench.board.run_for(1000)
    assert not bench.sent
    bench.board.run_for(W.WINDOW_US_MAX)
    assert [s.frame.seq for s in bench.take(W.KIND_DISCOVERY_ANNOUNCE) if s.frame.dst == HOST] == [1]


def test_announces_changes_of_claim_and_image(new):
    bench = new()
    bench.clear()
    epoch = bench.claim(HOST)
    told = bench.frame(W.KIND_DISCOVERY_ANNOUNCE)
    assert (told.dst, told.epoch, reason(told)) == (HOSTS, epoch, W.ANNOUNCE_REASON_CHANGED)
    assert number(told.payload[64:70]) == HOST
    data = bench.load(1, image({"rtl": part((1, 2, 3), 100_000)}))
    told = bench.take(W.KIND_DISCOVERY_ANNOUNCE)[-1].frame
    assert (told.payload[72:], number(told.payload[70:72]), number(told.payload[28:32])) == (digest(data), 3, 100_000)
    assert told.payload[19] == W.CARD_STATE_ACTIVE
    # A claim that ends of itself is announced, too, and the template is true when the hardware answers.
    bench.board.run_for(6_000_000)
    told = bench.take(W.KIND_DISCOVERY_ANNOUNCE)[-1].frame
    assert (told.epoch, number(told.payload[64:70])) == (0, 0)
    bench.claim(RIVAL)
    bench.clear()
    solicit(bench, HOST, 9, 0)
    told = bench.frame(W.KIND_DISCOVERY_ANNOUNCE)
    assert (told.seq, told.epoch, number(told.payload[64:70])) == (9, bench.epoch, RIVAL)


def test_a_role_that_breaks_a_rule_is_named(with_role):
    """Whether a kernel runs or not; each time once."""
    bench = with_role()
    for _ in range(2):
        bench.board.latched |= C.EVENTS_ROLE_FAULT
        bench.board.run_for(1000)
        told = bench.frame(W.KIND_DISCOVERY_ANNOUNCE)
        assert told.dst == HOSTS and reason(told) == W.ANNOUNCE_REASON_ROLE_FAILED
        assert told.payload[19] == W.CARD_STATE_ACTIVE
        assert bench.board.owner() == HOST
        bench.expect_nothing()


def test_the_template_tells_what_the_card_is_doing(with_role):
    bench = with_role()
    data = image(manifest=b"{}")

    def state() -> int:
        solicit(bench, RIVAL, 1, 0)
        return bench.take(W.KIND_DISCOVERY_ANNOUNCE)[-1].frame.payload[19]

    assert state() == W.CARD_STATE_ACTIVE
    bench.begin(2, data)
    assert state() == W.CARD_STATE_LOADING
    bench.board.kernels = lambda kernel, args: (0, 0, 0, 1000)
    bench.launch(1)
    assert state() == W.CARD_STATE_RUNNING
    bench.board.run_for(2000)
    assert state() == W.CARD_STATE_LOADING
    bench.chunks(data)
    bench.board.config.config_us = 500
    bench.commit(5)
    assert state() == W.CARD_STATE_CONFIGURING
    bench.board.run_for(1000)
    assert state() == W.CARD_STATE_ACTIVE
