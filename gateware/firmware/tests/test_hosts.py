"""Which hosts may claim a card with keys, and what becomes of claims when the key store names others."""

import pytest
from headers import W
from keys import GENERATION, HOST, KEY, OLD_KEY, OTHER, OWNER, RIVAL, RIVALS, claims_key
from store import Named
from test_keys import valid
from wire import mac

LAST = (1 << 64) - 1
NEXT_KEY = bytes(range(100, 116))
HOSTS = (Named(HOST), Named(RIVALS))


def refused(bench, host: int = OWNER, **by) -> int:
    """The code of the oldest answer, which is a refusal under this key."""
    no, _ = bench.answer(host, **by)
    assert no.kind == W.KIND_SESSION_REFUSE and no.dst == host
    return no.code


def silent(bench) -> bool:
    bench.expect_nothing()
    return not bench.board.trailers


def test_who_is_not_named_gets_no_answer(keyed):
    bench = keyed(hosts=(Named(RIVALS),))
    for how in ({}, {"own": 1}, {"key": OLD_KEY}):
        bench.board.receive(bench.claim_with(**how))
        bench.board.receive(bench.release_with(**how))
    assert silent(bench) and bench.counted("unknown") == 6 and bench.board.owner() == 0
    assert not bench.board.vault.vouched()
    assert bench.claim(RIVAL).dst == RIVAL


def test_a_revoked_host_hears_so_under_its_key(keyed):
    bench = keyed(hosts=(Named(HOST, None, 0), Named(RIVALS)))
    claim = bench.claim_with()
    bench.board.receive(claim)
    assert refused(bench) == W.ERROR_CODE_KEY_REVOKED and bench.counted("unknown") == 1
    bench.board.receive(bench.release_with())
    bench.clear()
    assert silent(bench) and bench.counted("unknown") == 2
    bench.board.receive(claim)
    assert silent(bench) and bench.counted("replay") == 1
    # Whoever has no key of it hears nothing of that.
    for wrong in ({"own": 1}, {"key": OLD_KEY}, {"boot": 7}):
        bench.board.receive(bench.claim_with(**wrong))
        assert refused(bench) == W.ERROR_CODE_STALE_BOOT
    assert bench.counted("wrong") == 3 and bench.board.owner() == 0
    assert not bench.board.vault.vouched(), "the receiver lets nothing of it pass"
    bench.clear()
    assert bench.claim(RIVAL).dst == RIVAL


def test_a_hosts_later_key_counts_and_the_one_before_is_revoked(keyed):
    bench = keyed(keys=(KEY, OLD_KEY), hosts=(Named(HOST, 3, 2),))
    for key, generation in ((KEY, GENERATION), (OLD_KEY, GENERATION - 1)):
        by = {"key": key, "generation": generation}
        # Whoever has found the lost key does not keep the host out by counters that come late.
        bench.board.receive(bench.claim_with(own=2, counter=LAST, **by))
        assert refused(bench, own=2, **by) == W.ERROR_CODE_KEY_REVOKED
        bench.board.receive(bench.claim_with(own=1, **by))
        assert refused(bench, own=3, **by) == W.ERROR_CODE_STALE_BOOT, "under the one that counts"
        bench.clear()
        assert bench.claim(own=3, nonce=generation, **by).dst == OWNER
        assert bench.answer(own=3, **by)[0].kind == W.KIND_SESSION_GRANT
        assert bench.board.vault.vouched() == {HOST: claims_key(OWNER, key, 3)}
        bench.board.receive(bench.claim_with(own=2, counter=LAST, **by))
        assert refused(bench, own=3, **by) == W.ERROR_CODE_STALE_BOOT, "only what is by the first one is a replay"
        bench.board.receive(bench.claim_with(own=3, counter=1, **by))
        bench.clear()
        assert silent(bench) and bench.board.owner() == OWNER


def test_a_revoked_claim_ends_at_once_and_its_host_hears_so_under_its_session(keyed):
    bench = keyed()
    first = bench.claim()
    bench.give(Named(HOST, None, 0), Named(RIVALS))
    assert bench.board.owner() == 0
    bench.clear()
    bench.board.trailers.clear()
    bench.board.under.clear()
    bench.in_session(W.KIND_INPUT_WRITE, bytes(64), 1, W.ROLE_PRIVATE, epoch=first.epoch)
    assert bench.board.under == [(W.KIND_INPUT_CONFIRM_NAK, OWNER)]
    assert valid(bench) == [(OWNER, first.epoch)]
    for host, nonce in ((OWNER, 1), (OTHER, 2)):
        bench.board.receive(bench.claim_with(host, nonce))
        assert refused(bench, host) == W.ERROR_CODE_KEY_REVOKED
    bench.clear()
    assert bench.claim(RIVAL, 3).dst == RIVAL


@pytest.mark.parametrize("former", [False, True])
def test_a_claim_goes_on_while_its_key_is_there_wherever(keyed, former):
    """The rack's next generation comes, and the key before is the former one now; or others are revoked."""
    bench = keyed()
    grant = bench.claim()
    if former:
        bench.give(*HOSTS, keys=(NEXT_KEY, KEY), generation=GENERATION + 1)
    else:
        bench.give(Named(0x7777), Named(RIVALS, None, 0), Named(HOST))
    assert bench.board.owner() == OWNER and valid(bench) == [(OWNER, grant.epoch)]
    at = {"generation": GENERATION}
    bench.board.trailers.clear()
    bench.board.receive(bench.claim_with(nonce=1, **at))
    assert bench.answer(**at)[0].payload[:24] == grant.payload[:24], "the same claim"
    assert bench.board.vault.vouched() == {HOST: claims_key(OWNER)}
    bench.board.receive(bench.release_with(**at))
    assert bench.answer(**at)[0].kind == W.KIND_SESSION_RELEASED
    if former:
        bench.give(*HOSTS, keys=(NEXT_KEY, None), generation=GENERATION + 1)
        bench.board.receive(bench.claim_with(nonce=2, **at))
        assert refused(bench, key=NEXT_KEY, generation=GENERATION + 1) == W.ERROR_CODE_STALE_BOOT


def test_a_claim_by_the_former_key_ends_when_that_is_taken_back(keyed):
    bench = keyed(keys=(KEY, OLD_KEY))
    bench.claim(key=OLD_KEY, generation=GENERATION - 1)
    # Another program of the host has shown the newest key since.
    bench.board.receive(bench.claim_with(OTHER, 2))
    bench.give(*HOSTS)
    assert bench.board.owner() == 0


def test_another_key_of_the_same_generation_is_another_key(keyed):
    bench = keyed()
    bench.claim(counter=LAST)
    bench.give(*HOSTS, keys=(NEXT_KEY, None))
    assert bench.board.owner() == 0
    bench.clear()
    bench.board.trailers.clear()
    # Whoever had the lost key has used up no counter of this one.
    assert bench.claim(nonce=2, key=NEXT_KEY, counter=5).dst == OWNER
    assert bench.answer(key=NEXT_KEY)[0].kind == W.KIND_SESSION_GRANT


def test_what_was_recorded_is_a_replay_under_other_keys_too(keyed):
    bench = keyed()
    recorded = bench.claim_with(nonce=1)
    bench.board.receive(recorded)
    bench.epoch = bench.take(W.KIND_SESSION_GRANT)[0].frame.epoch
    bench.board.receive(bench.release_with())
    bench.clear()
    bench.board.trailers.clear()
    changes = (
        {"keys": (NEXT_KEY, KEY), "generation": GENERATION + 1},
        {"hosts": (Named(RIVALS), Named(HOST))},
        {"hosts": (Named(HOST, None, 0), Named(RIVALS))},
        {"hosts": (Named(RIVALS), Named(HOST, 1, 0))},
        {"hosts": (Named(HOST),)},
    )
    for n, change in enumerate(changes, 1):
        bench.give(*change.pop("hosts", HOSTS), **change)
        bench.clear()
        bench.board.receive(recorded)
        bench.clear()
        if Named(HOST, 1, 0) in bench.board.store_of.hosts:
            # It is by none of those that count, and not new by the one that was revoked.
            assert refused(bench, own=1) == W.ERROR_CODE_STALE_BOOT
            continue
        assert silent(bench) and bench.board.owner() == 0
        assert bench.counted("replay") == n - (n > 4)


def test_who_waits_for_zeroed_memory_does_not_get_the_card_once_it_is_revoked(keyed):
    bench = keyed(scrub_us=1000)
    bench.claim(nonce=1)
    bench.board.receive(bench.release_with(scrub=1))
    bench.board.receive(bench.claim_with(RIVAL, nonce=3))
    bench.board.trailers.clear()
    bench.give(Named(HOST), Named(RIVALS, None, 0))
    bench.board.run_for(2000)
    assert bench.answer()[0].kind == W.KIND_SESSION_RELEASED
    assert not bench.board.trailers and bench.board.owner() == 0
    assert bench.claim(nonce=4).dst == OWNER
    # Nor is one who leaves, and is revoked meanwhile, answered by a key that is gone.
    bench.board.receive(bench.release_with(scrub=1))
    bench.board.trailers.clear()
    bench.give(Named(RIVALS))
    bench.board.run_for(2000)
    assert not bench.board.trailers and bench.take(W.KIND_SESSION_RELEASED)


def test_the_receiver_has_keys_of_hosts_that_may_claim_alone(keyed):
    bench = keyed()
    vouched = bench.board.vault.vouched
    bench.claim()
    bench.board.receive(bench.claim_with(RIVAL))
    assert vouched() == {HOST: claims_key(OWNER), RIVALS: claims_key(RIVAL)}
    bench.give(Named(HOST, None, 0), Named(RIVALS, 1, 0))
    assert vouched() == {RIVALS: claims_key(RIVAL, own=1)}
    bench.give(Named(HOST, 2, None), keys=(NEXT_KEY, KEY), generation=GENERATION + 1)
    assert not vouched()
    bench.claim(OWNER, 2, own=2)
    bench.give(Named(RIVALS), Named(HOST, 2, 1), keys=(NEXT_KEY, KEY), generation=GENERATION + 1)
    assert vouched() == {HOST: claims_key(OWNER, own=2)}, "by the key that it has proven"
    bench.give(Named(HOST, 2, None), keys=(NEXT_KEY, None), generation=GENERATION + 1)
    assert vouched() == {HOST: claims_key(OWNER, NEXT_KEY, 2)}


def test_as_many_hosts_as_it_has_room_for(keyed):
    hosts = tuple(Named(n, n, n + 1) for n in range(64))
    bench = keyed(hosts=hosts)
    address = lambda n: mac("06:00:00:00:00:01") | n << 24  # noqa: E731
    for n in range(64):
        grant = bench.claim(address(n), nonce=n + 1000, own=n)
        assert grant.dst == address(n)
        bench.board.receive(bench.release_with(address(n), own=n))
    bench.clear()
    bench.board.trailers.clear()
    bench.give(*hosts[::-1])
    for n in range(64):
        bench.board.receive(bench.claim_with(address(n), nonce=n, own=n, counter=1))
        bench.board.receive(bench.claim_with(address(n), nonce=n, own=n + 1))
        assert refused(bench, address(n), own=n + 1) == W.ERROR_CODE_KEY_REVOKED
    bench.clear()
    assert bench.counted("replay") == 64 and bench.board.owner() == 0
