"""Claims of a card with keys: whose they are, what answers them, and which sessions there are."""

import struct

import golden
import pytest
from addresses import CARD_MAC, HOSTS
from bench import launch_body
from headers import C, W
from images import image
from keys import GENERATION, KEY, OLD_KEY, OTHER, OWNER, RIVAL, STRANGER, claims_key, pair_key
from store import Named
from wire import Frame, mac, number


def session_key(bench, host: int, theirs: int, ours: int, epoch: int, key: bytes = KEY) -> bytes:
    return golden.mac(pair_key(host, key), struct.pack("<BQQIH", 4, theirs, ours, bench.board.config.boot, epoch),
                      derive=True)


def valid(bench) -> list[tuple[int, int]]:
    """Owner and epoch of each session, the newer one first."""
    vault = bench.board.vault
    both = (vault.sessions[vault.newer], vault.sessions[1 - vault.newer])
    return [(s.owner, s.epoch) for s in both if s.valid]


def test_a_claim_under_its_tag_has_a_session_and_a_grant_that_proves_it(keyed):
    bench = keyed(boot=0x89ABCDEF, seed=5)
    before = len(bench.take(W.KIND_DISCOVERY_ANNOUNCE))
    bench.board.receive(bench.claim_with(nonce=0x1122334455667788))
    grant, counter = bench.answer()
    assert (grant.kind, grant.dst, counter) == (W.KIND_SESSION_GRANT, OWNER, 1)
    assert struct.unpack(">QII", grant.payload[:16]) == (0x1122334455667788, 5000, 0x89ABCDEF)
    ours = number(grant.payload[16:24])
    session = bench.board.vault.of(OWNER)
    assert session.key == session_key(bench, OWNER, 0x1122334455667788, ours, grant.epoch)
    assert valid(bench) == [(OWNER, grant.epoch)]
    # What it says of the card is what it announces to all, and under a tag to its owner.
    said = bench.take(W.KIND_DISCOVERY_ANNOUNCE)
    assert before and [one.frame.dst for one in said] == [HOSTS, OWNER]
    assert grant.payload[24:] == said[0].frame.payload == said[1].frame.payload
    assert said[0].frame.seq == said[1].frame.seq
    assert number(grant.payload[24 + 4 * W.ANNOUNCE_OWNER_WORD :][:6]) == OWNER
    assert bench.board.under == [(W.KIND_DISCOVERY_ANNOUNCE, OWNER)]


def test_a_claim_without_a_tag_is_refused_without_one(keyed):
    bench = keyed()
    bench.board.receive(bench.claim_frame(OWNER))
    no = bench.frame(W.KIND_SESSION_REFUSE)
    assert (no.dst, no.code, no.flags) == (OWNER, W.ERROR_CODE_KEY_NEEDED, 0)
    assert not bench.board.trailers and bench.board.owner() == 0
    bench.board.receive(bench.head(W.KIND_SESSION_RELEASE, src=OWNER).raw(bytes(8)))
    bench.expect_nothing()
    assert bench.counted("untagged") == 2


@pytest.mark.parametrize(
    "forged", [{"key": bytes(16)}, {"boot": 2}, {"to_host": True}, {"generation": GENERATION + 1}, {"generation": 0}]
)
def test_a_claim_that_is_not_the_hosts_hears_the_boot_number_and_has_no_effect(keyed, forged):
    bench = keyed(boot=77)
    for n in range(1, 4):
        bench.board.receive(bench.claim_with(**forged))
        no, counter = bench.answer()
        assert (no.kind, no.dst, no.code, no.detail) == (W.KIND_SESSION_REFUSE, OWNER, W.ERROR_CODE_STALE_BOOT, 77)
        assert counter == n, "each answer has another one"
        bench.board.receive(bench.release_with(**forged))
    bench.clear()
    assert (bench.counted("wrong"), bench.board.owner()) == (6, 0)
    assert bench.claim().epoch and bench.board.owner() == OWNER, "the host itself gets the card"
    bench.board.receive(bench.release_with(**forged))
    assert bench.board.owner() == OWNER


def test_the_receiver_has_the_key_of_who_has_claimed_and_of_who_claims(keyed):
    bench = keyed(keys=(KEY, OLD_KEY))
    vouched = bench.board.vault.vouched
    host = lambda mac: mac >> 24 & 0xFFFF  # noqa: E731
    assert not vouched()
    forged = {"key": bytes(16)}
    bench.board.receive(bench.claim_with(RIVAL, **forged))
    assert vouched() == {host(RIVAL): claims_key(RIVAL)}, "from now on the receiver knows the host from who forges"
    bench.claim(counter=7)
    assert vouched() == {host(OWNER): claims_key(OWNER), host(RIVAL): claims_key(RIVAL)}
    others = [mac("06:77:00:00:00:01") + (n << 24) for n in range(5)]
    bench.give(*(Named(host(of)) for of in (OWNER, RIVAL, *others)), keys=(KEY, OLD_KEY))
    for other in others:
        bench.board.receive(bench.claim_with(other, **forged))
        assert vouched() == {host(OWNER): claims_key(OWNER), host(other): claims_key(other)}
    # Another generation in a forged claim changes nothing.
    bench.board.receive(bench.claim_with(OWNER, generation=GENERATION - 1, **forged))
    assert vouched()[host(OWNER)] == claims_key(OWNER)


def test_claims_without_a_tag_keep_no_host_out(keyed):
    """A flood of them in a host's name left its first claim no room at the receiver, which knew no key of it."""
    bench = keyed()
    bench.board.receive(bench.claim_frame(OWNER))
    assert bench.board.vault.vouched() == {OWNER >> 24 & 0xFFFF: claims_key(OWNER)}
    bench.clear()
    bench.board.receive(bench.claim_frame(STRANGER))
    assert len(bench.board.vault.vouched()) == 1, "no host with a key has this address"
    bench.clear()
    assert bench.claim(OWNER).dst == OWNER


def test_each_byte_of_a_claim_counts(keyed):
    bench = keyed()
    right = bench.claim_with()
    for at in [*range(6, 12), *range(18, len(right))]:
        if W.HEADER_END + 16 <= at < W.HEADER_END + 20:
            continue  # The generation, which is above.
        bench.board.receive(bytes(byte ^ (0x40 if n == at else 0) for n, byte in enumerate(right)))
        assert bench.board.owner() == 0, at
        assert not bench.take(W.KIND_SESSION_GRANT)
    bench.board.receive(right)
    assert bench.board.owner() == OWNER


def test_a_claim_counts_once(keyed):
    bench = keyed()
    recorded = [bench.claim_with(nonce=1, counter=100), bench.release_with(counter=101)]
    first, late = bench.claim_with(nonce=2, counter=99), bench.claim_with(nonce=3, counter=0)
    bench.board.receive(recorded[0])
    assert bench.board.owner() == OWNER
    bench.epoch = bench.take(W.KIND_SESSION_GRANT)[0].frame.epoch
    recorded[1] = bench.release_with(counter=101)
    bench.board.receive(recorded[1])
    assert bench.board.owner() == 0 and bench.frame(W.KIND_SESSION_RELEASED).dst == OWNER
    bench.clear()
    bench.board.trailers.clear()
    for raw in (*recorded, first, late):
        bench.board.receive(raw)
        bench.expect_nothing()
        assert not bench.board.trailers and bench.board.owner() == 0
    assert bench.counted("replay") == 4
    bench.board.receive(bench.claim_with(RIVAL, counter=0))
    bench.expect_nothing()
    assert bench.counted("replay") == 5, "no frame has this counter"
    # Another host has counters of its own.
    assert bench.claim(RIVAL, counter=5).dst == RIVAL


def test_no_host_with_a_key_has_another_address(keyed):
    bench = keyed()
    bench.board.receive(bench.claim_with(STRANGER))
    bench.board.receive(bench.release_with(STRANGER))
    bench.expect_nothing()
    assert bench.counted("unknown") == 2


def test_the_former_generation_counts_and_its_answers_are_by_it(keyed):
    bench = keyed(keys=(KEY, OLD_KEY))
    bench.board.receive(bench.claim_with(key=OLD_KEY, generation=GENERATION - 1))
    grant, _ = bench.answer(key=OLD_KEY, generation=GENERATION - 1)
    ours = number(grant.payload[16:24])
    assert bench.board.vault.of(OWNER).key == session_key(bench, OWNER, 1, ours, grant.epoch, OLD_KEY)
    # A wrong tag is answered by what the claim has named; of a generation that there is not, by the newest.
    named = ((GENERATION - 1, OLD_KEY, GENERATION - 1), (99, KEY, GENERATION), (GENERATION, KEY, GENERATION))
    for generation, key, of in named:
        bench.board.receive(bench.claim_with(RIVAL, key=bytes(16), generation=generation))
        assert bench.answer(RIVAL, key, of)[0].code == W.ERROR_CODE_STALE_BOOT
    # By each key the counters are its own.
    bench.board.receive(bench.claim_with(nonce=2, counter=1))
    assert bench.answer()[0].kind == W.KIND_SESSION_GRANT


def test_a_claim_that_is_repeated_has_the_same_session(keyed):
    bench = keyed()
    first = bench.claim(nonce=3)
    key = bench.board.vault.of(OWNER).key
    bench.board.run_for(4_000_000)
    assert bench.claim(nonce=3).payload[:24] == first.payload[:24]
    assert bench.board.vault.of(OWNER).key == key
    bench.board.run_for(4_000_000)
    assert bench.board.owner() == OWNER, "it has renewed the lease"
    again = bench.claim(nonce=4)
    assert again.payload[16:24] != first.payload[16:24] and bench.board.vault.of(OWNER).key != key


def test_a_rival_is_refused_and_a_session_lasts_until_the_next_claim_ends(keyed):
    bench = keyed()
    first = bench.claim()
    bench.board.trailers.clear()
    bench.board.receive(bench.claim_with(RIVAL, 9))
    no, _ = bench.answer(RIVAL)
    assert (no.code, number(no.payload[2:8])) == (W.ERROR_CODE_CLAIMED, OWNER)
    bench.board.receive(bench.release_with())
    assert bench.answer()[0].kind == W.KIND_SESSION_RELEASED
    # Its host still hears under a tag that it is over.
    assert valid(bench) == [(OWNER, first.epoch)]
    bench.board.under.clear()
    bench.in_session(W.KIND_INPUT_WRITE, bytes(64), 1, W.ROLE_PRIVATE, epoch=first.epoch)
    assert bench.board.under == [(W.KIND_INPUT_CONFIRM_NAK, OWNER)]
    second = bench.claim(RIVAL, 10)
    assert valid(bench) == [(RIVAL, second.epoch), (OWNER, first.epoch)]
    bench.board.run_for(6_000_000)
    assert bench.board.owner() == 0
    assert valid(bench) == [(RIVAL, second.epoch)], "of two sessions the older one is forgotten"
    third = bench.claim(OTHER, 11)
    assert valid(bench) == [(OTHER, third.epoch), (RIVAL, second.epoch)]


def test_only_a_tag_renews_the_lease(keyed):
    bench = keyed()
    bench.claim()
    for _ in range(3):
        bench.board.run_for(3_000_000)
        bench.in_session(W.KIND_SESSION_PING)
        assert bench.frame(W.KIND_SESSION_PONG).epoch == bench.epoch
    bench.board.run_for(3_000_000)
    bench.send(W.KIND_SESSION_PING, src=OWNER)
    assert bench.frame(W.KIND_SESSION_PONG).epoch == bench.epoch, "anybody may ask"
    bench.board.run_for(3_000_000)
    assert bench.board.owner() == 0


def test_zeroing_is_answered_under_tags_when_it_is_done(keyed):
    bench = keyed(scrub_us=1000, keys=(KEY, OLD_KEY))
    former = {"key": OLD_KEY, "generation": GENERATION - 1}
    bench.claim(**former)
    bench.board.trailers.clear()
    bench.board.receive(bench.release_with(scrub=1, **former))
    bench.board.receive(bench.claim_with(RIVAL, 9))
    # Meanwhile somebody forges a release; the answers are the hosts' all the same.
    for generation in (GENERATION, GENERATION - 1):
        bench.board.receive(bench.release_with(RIVAL, key=bytes(16), generation=generation))
    assert not bench.board.trailers
    bench.board.run_for(2000)
    assert bench.answer(**former)[0].kind == W.KIND_SESSION_RELEASED
    assert bench.answer(RIVAL)[0].kind == W.KIND_SESSION_GRANT
    assert bench.board.owner() == RIVAL


@pytest.mark.parametrize("length", [0, 8, 12, 15, 17, 20])
def test_a_claim_of_another_length_is_malformed(keyed, length):
    bench = keyed()
    raw = Frame(CARD_MAC, OWNER, W.KIND_SESSION_CLAIM, 0, 0, 1, 0).raw(bytes(length))
    bench.board.receive(bench.by_claims(raw, length=length))
    bench.expect_nothing()
    assert bench.count("drop_malformed") == 1 and bench.board.owner() == 0


def test_it_listens_when_the_key_store_has_handed_over_what_it_holds(keyed):
    """The board asserts it."""
    bench = keyed(reads=20)
    assert bench.claim()


def test_a_tag_takes_of_a_frames_room(keyed):
    """A card with 1472 bytes sends 1408 of them at most, also where the host takes more."""
    bench = keyed()
    for beats, most in ((140, 1408), (23, 1408), (8, 512), (0, 1408)):
        grant = bench.claim(nonce=100 + beats, beats=beats)
        bench.epoch = grant.epoch
        assert bench.board.vault.of(OWNER) is not None
        data = bytes(range(256)) * 12
        at = W.ROLE_PRIVATE + 0x1000
        bench.board.ddr[at : at + len(data)] = data
        load(bench)
        launch(bench, 1, at, len(data))
        bench.board.run_for(1000)
        chunks = bench.take(W.KIND_RESULT_DATA)
        assert chunks and max(len(one.frame.payload) for one in chunks) == most


def load(bench) -> None:
    """An image for the owner, whose frames have tags but for its data."""
    data, group = image(), 0x1234
    bench.in_session(W.KIND_IMAGE_BEGIN, bench.begin_body(data, 1408), 1)
    to_group = {"epoch": group}
    for n in range(-(-len(data) // 1408)):
        raw = bench.head(W.KIND_IMAGE_DATA, 0, n * 1408, src=OWNER, **to_group).raw(data[n * 1408 :][:1408])
        bench.board.receive(raw)
    bench.board.run_for(1000)
    bench.in_session(W.KIND_IMAGE_COMMIT, b"", 1001, **to_group)
    bench.board.run_for(1000)
    assert bench.take(W.KIND_IMAGE_CONFIRM_ACTIVE)


def launch(bench, seq: int, at: int, length: int) -> None:
    bench.in_session(W.KIND_EXEC_LAUNCH, launch_body((W.ROLE_PRIVATE,), at, length, 16), seq, 0)


def test_windows_and_routes_are_refused_under_a_tag(keyed):
    bench = keyed()
    bench.claim()
    bench.board.trailers.clear()
    bench.in_session(W.KIND_SESSION_WINDOW_SET, bytes(4 * W.WINDOW_WORDS), 1)
    assert bench.answer()[0].code == W.ERROR_CODE_UNSUPPORTED


def test_no_two_claims_have_the_cards_nonce(keyed):
    bench = keyed()
    nonces = {bench.claim(nonce=n).payload[16:24] for n in range(1, 40)}
    assert len(nonces) == 39
    assert claims_key(OWNER) != claims_key(RIVAL)
    assert bench.board.registers[C.CSR_KEY_BOOT] == 1
