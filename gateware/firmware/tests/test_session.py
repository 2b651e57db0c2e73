"""Claims, leases, releases and questions."""

import re
import struct
from pathlib import Path

import pytest
from addresses import CARD_MAC, HOST, RIVAL
from bench import BASE
from headers import C, W
from images import image, part
from wire import CONTROL, COUNTER, Frame, number


def release(bench, scrub: int, **change: int) -> None:
    bench.send(W.KIND_SESSION_RELEASE, bytes([scrub]) + bytes(7), 6, **change)


def test_a_claim_is_granted_once_and_again(new):
    bench = new(boot=77)
    bench.board.receive(bench.claim_frame(nonce=3))
    first = bench.frame(W.KIND_SESSION_GRANT)
    assert struct.unpack(">QII", first.payload) == (3, 5000, 77)
    assert first.epoch != 0 and first.dst == HOST
    bench.board.run_for(4_000_000)
    bench.board.receive(bench.claim_frame(nonce=3))
    assert bench.frame(W.KIND_SESSION_GRANT).epoch == first.epoch
    bench.board.run_for(4_000_000)
    assert bench.board.owner() == HOST, "the repeated claim has renewed the lease"
    assert bench.count("claims") == 1


def test_a_rival_is_refused_and_told_who_and_how_long(claimed):
    bench = claimed()
    bench.board.run_for(1_000_000)
    bench.board.receive(bench.claim_frame(RIVAL, 9))
    no = bench.frame(W.KIND_SESSION_REFUSE)
    assert (no.dst, no.seq, no.code) == (RIVAL, 9, W.ERROR_CODE_CLAIMED)
    assert (number(no.payload[2:8]), no.detail) == (HOST, 4000)
    assert bench.count("refusals") == 1


def test_fields_out_of_range_are_refused(new):
    bench = new()
    for lease, bound in [(0, 100), (99, 100), (60_001, 60_000), (2**32 - 1, 60_000)]:
        bench.board.receive(bench.claim_frame(lease=lease))
        no = bench.frame(W.KIND_SESSION_REFUSE)
        assert (no.code, no.detail) == (W.ERROR_CODE_BAD_REQUEST, bound)
    bench.board.receive(bench.claim_frame(scrub=2))
    assert bench.frame(W.KIND_SESSION_REFUSE).detail == 1
    assert bench.board.owner() == 0
    for lease in (100, 60_000):
        bench.board.receive(bench.claim_frame(nonce=lease, lease=lease))
        assert number(bench.frame(W.KIND_SESSION_GRANT).payload[8:12]) == lease
    release(bench, 9)
    assert bench.frame(W.KIND_SESSION_REFUSE).code == W.ERROR_CODE_BAD_REQUEST
    assert bench.board.owner() == HOST


def test_a_silent_owner_loses_the_card(with_role):
    bench = with_role()
    bench.board.kernels = lambda kernel, args: (0, 0, 0, 1 << 40)
    bench.launch(1)
    bench.board.run_for(4_999_000)
    assert bench.board.owner() == HOST
    bench.clear()
    bench.board.run_for(1000)
    assert bench.board.owner() == 0 and not bench.board.queue()
    assert (bench.count("leases_expired"), bench.count("kernels_failed")) == (1, 1)
    bench.board.run_for(1_000_000)
    bench.expect_nothing()
    bench.claim(RIVAL)
    # The former owner's nonce is spent: a late copy of its claim takes the card for nobody.
    bench.board.run_for(5_000_000)
    bench.clear()
    bench.board.receive(bench.claim_frame(HOST, 1))
    assert bench.frame(W.KIND_SESSION_REFUSE).code == W.ERROR_CODE_STALE_EPOCH
    bench.claim(HOST, 2)
    assert bench.board.owner() == HOST


def test_a_claim_that_has_ended_is_remembered_through_31_more(new):
    bench = new()
    bench.claim(HOST, 1)
    for nonce in range(2, 34):
        bench.claim(HOST, nonce)
    bench.clear()
    bench.board.receive(bench.claim_frame(HOST, 1))
    assert bench.frame(W.KIND_SESSION_REFUSE).code == W.ERROR_CODE_STALE_EPOCH
    bench.claim(HOST, 34)
    # Its memory is bounded: the 33rd is forgotten.
    bench.claim(HOST, 1)


def ping_before_a_moment_shows(bench, earlier: int) -> None:
    """A ping is in the ring, and once the firmware has looked who was heard and takes it, an earlier moment shows."""
    board = bench.board
    control_head = board.control_head

    def late() -> int:
        if board.control:
            board.heard = board.time - earlier & 0xFFFFFFFF
        return control_head()

    board.control_head = late
    board.queue_control(bench.head(W.KIND_SESSION_PING).raw(b""))
    board.run()
    board.control_head = control_head
    bench.frame(W.KIND_SESSION_PONG)


# The clock of the lease has 32 bits: at the second one it begins again meanwhile.
@pytest.mark.parametrize("start", [1_000_000, 0xFFFF_FFFF - 3_000_000])
def test_what_was_heard_before_does_not_set_a_lease_back(new, start):
    bench = new()
    bench.board.run_for(start)
    bench.claim()
    bench.board.run_for(4_000_000)
    ping_before_a_moment_shows(bench, 1_500_000)
    bench.board.run_for(4_999_999)
    assert bench.board.owner() == HOST, "the older moment has shortened the lease"
    bench.board.run_for(1)
    assert bench.board.owner() == 0, "the older moment has lengthened the lease"


@pytest.mark.parametrize("start", [1_000_000, 0xFFFF_FFFF - 3_000_000])
def test_what_is_heard_later_renews_a_lease_from_then(new, start):
    bench = new()
    bench.board.run_for(start)
    bench.claim()
    bench.board.run_for(4_000_000)
    bench.board.heard = bench.board.time & 0xFFFFFFFF
    bench.board.run_for(4_999_999)
    assert bench.board.owner() == HOST
    bench.board.run_for(1)
    assert bench.board.owner() == 0


def test_what_the_last_owner_sent_is_no_sign_of_the_next(claimed):
    """Half of the clock's round later, an old moment looks like one to come."""
    bench = claimed()
    bench.board.heard = bench.board.time
    bench.board.receive(bench.claim_frame(nonce=1))
    release(bench, 0)
    bench.board.run_for((1 << 31) + 1_000_000)
    bench.claim(RIVAL)
    bench.board.run_for(4_999_999)
    assert bench.board.owner() == RIVAL
    bench.board.run_for(1)
    assert bench.board.owner() == 0


def queue_claims(bench, claims: int) -> None:
    for nonce in range(1, claims + 1):
        bench.board.queue_control(bench.claim_frame(RIVAL, nonce))


@pytest.mark.parametrize("why", ["busy", "late"])
def test_an_owner_whose_frame_waits_in_the_ring_keeps_the_card(claimed, why, monkeypatch):
    bench = claimed()
    bench.board.run_for(4_999_950)
    queue_claims(bench, 3)
    bench.board.queue_control(bench.head(W.KIND_SESSION_PING).raw(b""))
    if why == "late":
        bench.board.time += 1100
    with monkeypatch.context() as slow:
        if why == "busy":
            transmit = bench.board.transmit

            def transmit_slowly(raw: bytes) -> None:
                bench.board.time += 60
                transmit(raw)

            slow.setattr(bench.board, "transmit", transmit_slowly)
        bench.board.run()
    refused = [bench.frame(W.KIND_SESSION_REFUSE) for _ in range(3)]
    assert [no.code for no in refused] == 3 * [W.ERROR_CODE_CLAIMED]
    assert [no.detail for no in refused] == [1 if why == "busy" else 0, 0, 0]
    assert bench.frame(W.KIND_SESSION_PONG).epoch == bench.epoch
    bench.board.run_for(4_999_900)
    assert bench.board.owner() == HOST
    bench.board.run_for(100)
    assert bench.board.owner() == 0 and bench.count("leases_expired") == 1


def test_others_prolong_no_lease_by_more_frames_than_the_ring_holds(claimed):
    bench = claimed()
    bench.board.run_for(4_999_999)
    queue_claims(bench, 33)
    bench.board.time += 2000
    bench.board.run()
    refused = [sent.frame.seq for sent in bench.take(W.KIND_SESSION_REFUSE)]
    assert refused == list(range(1, 33))
    assert bench.frame(W.KIND_SESSION_GRANT).seq == 33
    assert bench.board.owner() == RIVAL and bench.count("leases_expired") == 1


def test_the_firmware_knows_how_many_frames_the_ring_holds():
    gateware = Path(__file__).parents[2]
    firmware = re.search(r"RING_FRAMES_MAX (\d+)u", (gateware / "firmware/session.c").read_text())
    source = (gateware / "rtl/control/rl_control_ring.sv").read_text()
    ring = re.search(r"parameter int unsigned Frames = (\d+)", source)
    assert firmware[1] == ring[1]
    # The shell takes the ring as it is.
    assert re.search(r"rl_control_ring u_ring", (gateware / "rtl/shell/rl_shell.sv").read_text())


def test_a_claim_that_wakes_the_card_when_the_lease_is_over_gets_it(claimed):
    bench = claimed()
    bench.board.run_for(4_999_999)
    queue_claims(bench, 1)
    bench.board.time += 500
    bench.board.run()
    assert bench.frame(W.KIND_SESSION_GRANT).dst == RIVAL


def test_whatever_the_owner_sends_renews_the_lease(with_role):
    bench = with_role()
    for seq in range(1, 15):
        bench.board.run_for(4_000_000)
        match seq % 7:
            case 0:
                bench.send(W.KIND_SESSION_PING, seq=seq)
            case 1:
                bench.send(W.KIND_INPUT_WRITE, b"x", seq, BASE)
            case 2:
                bench.send(W.KIND_EXEC_QUERY, seq=1)
            case 3:
                bench.poll(seq)
            case 4:
                bench.ack(1, 0, 0, 0)
            case 5:
                bench.send(W.KIND_INPUT_READ, struct.pack(">II", 8, 0), seq, BASE)
            case _:
                bench.send(W.KIND_INPUT_WRITE, b"x", seq, 0)
        assert bench.board.owner() == HOST, seq
    bench.board.run_for(4_000_000)
    bench.send(W.KIND_SESSION_PING, src=RIVAL)
    bench.board.run_for(1_000_000)
    assert bench.board.owner() == 0


def test_a_restarted_host_takes_its_card_over(with_role):
    bench = with_role()
    old = bench.epoch
    bench.launch(1)
    bench.send(W.KIND_INPUT_WRITE, b"x", 1, BASE)
    new = bench.claim(HOST, 2)
    assert new != old
    # All counting begins anew.
    assert (bench.board.window.next, bench.board.lch_last) == (1, 0)
    bench.clear()
    bench.launch(1)
    assert bench.frame(W.KIND_RESULT_ACCEPTED).epoch == new
    # A late copy of the first claim changes nothing.
    bench.clear()
    bench.board.receive(bench.claim_frame(nonce=1))
    assert bench.frame(W.KIND_SESSION_REFUSE).code == W.ERROR_CODE_STALE_EPOCH
    assert bench.board.owner() == HOST


def test_a_release_gives_the_card_back_and_is_confirmed_each_time(with_role):
    bench = with_role()
    bench.send(W.KIND_INPUT_WRITE, bytes(8 * [1]), 1, BASE)
    bench.board.ddr[8:16] = b"the role"
    bench.clear()
    for _ in range(2):
        release(bench, 1)
        released = bench.frame(W.KIND_SESSION_RELEASED)
        assert (released.seq, released.epoch) == (6, bench.epoch)
    assert bench.board.owner() == 0
    assert (bench.board.ddr[BASE], bytes(bench.board.ddr[8:16])) == (0, b"the role")
    bench.board.receive(bench.claim_frame(nonce=1))
    assert bench.frame(W.KIND_SESSION_REFUSE).code == W.ERROR_CODE_STALE_EPOCH
    bench.claim(RIVAL)
    release(bench, 0)
    bench.expect(W.KIND_SESSION_RELEASED)
    # Who asks for zeroed memory and comes too late must not believe that it was zeroed.
    release(bench, 1)
    assert bench.frame(W.KIND_SESSION_REFUSE).code == W.ERROR_CODE_STALE_EPOCH
    assert bench.board.owner() == RIVAL, "only the owner releases"


def test_a_claim_may_ask_for_zeroed_memory(claimed):
    bench = claimed()
    bench.send(W.KIND_INPUT_WRITE, b"\1", 1, BASE)
    bench.claim(nonce=50, scrub=1)
    assert bench.board.ddr[BASE] == 0
    bench.send(W.KIND_INPUT_WRITE, b"\2", 1, BASE)
    bench.claim(nonce=50, scrub=1)
    assert bench.board.ddr[BASE] == 2, "a repeated claim zeroes nothing"


ZEROING = 3_000_000


def stranger(kind: int, seq: int, body: bytes = b"") -> bytes:
    return Frame(CARD_MAC, RIVAL, kind, 0, 0, seq).raw(body)


def zeroing(new, scrubs: str):
    """A card that zeroes memory for whoever claims it, or has given it back."""
    bench = new(scrub_us=ZEROING)
    bench.claim()
    bench.send(W.KIND_INPUT_WRITE, b"\1", 1, BASE)
    bench.clear()
    if scrubs == "claim":
        bench.board.receive(bench.claim_frame(nonce=50, scrub=1))
    else:
        release(bench, 1)
    bench.board.run_for(ZEROING // 2)
    return bench


def test_a_lease_begins_when_memory_is_zeroed(new):
    bench = new(scrub_us=ZEROING)
    bench.board.receive(bench.claim_frame(lease=2000, scrub=1))
    bench.board.run_for(ZEROING - 1)
    bench.expect_nothing()
    assert bench.board.owner() == 0
    bench.board.run_for(1)
    bench.expect(W.KIND_SESSION_GRANT)
    bench.board.run_for(1_999_999)
    assert bench.board.owner() == HOST
    bench.board.run_for(1)
    assert bench.board.owner() == 0


@pytest.mark.parametrize("scrubs", ["claim", "release"])
def test_a_card_that_zeroes_memory_serves_what_needs_no_claim(new, scrubs):
    bench = zeroing(new, scrubs)
    for seq in range(1, 4):
        bench.board.receive(stranger(W.KIND_SESSION_PING, seq))
        pong = bench.frame(W.KIND_SESSION_PONG)
        assert (pong.seq, pong.epoch) == (seq, 0)
        bench.board.run_for(1000)
    bench.board.receive(stranger(W.KIND_DISCOVERY_SOLICIT, 9, struct.pack(">II", 10, 0)))
    bench.board.run_for(10)
    assert bench.frame(W.KIND_DISCOVERY_ANNOUNCE).seq == 9
    bench.board.receive(stranger(W.KIND_SESSION_COUNTERS_GET, 10))
    assert bench.frame(W.KIND_SESSION_COUNTERS).seq == 10
    bench.board.receive(stranger(W.KIND_SESSION_MANIFEST_GET, 11))
    assert bench.frame(W.KIND_SESSION_MANIFEST).seq == 11
    # Of the claim that was, nothing is left.
    bench.send(W.KIND_INPUT_WRITE, b"\2", 2, BASE)
    assert bench.frame(W.KIND_INPUT_CONFIRM_NAK).code == W.ERROR_CODE_STALE_EPOCH
    bench.expect_nothing()
    bench.board.run_for(ZEROING)
    assert bench.board.ddr[BASE] == 0
    done = W.KIND_SESSION_GRANT if scrubs == "claim" else W.KIND_SESSION_RELEASED
    bench.frame(done)
    bench.expect_nothing()


def test_a_claim_waits_while_memory_is_zeroed_for_it(new):
    bench = zeroing(new, "claim")
    # Who asks once more is answered once, by the newest number; a rival hears who is first.
    again = bytearray(bench.claim_frame(nonce=50, scrub=1))
    again[20:24] = (77).to_bytes(4, "big")
    bench.board.receive(bytes(again))
    bench.board.receive(bench.claim_frame(RIVAL, 9, scrub=1))
    no = bench.frame(W.KIND_SESSION_REFUSE)
    assert (no.dst, no.code, number(no.payload[2:8]), no.detail) == (RIVAL, W.ERROR_CODE_CLAIMED, HOST, 5000)
    bench.board.receive(bench.claim_frame(nonce=1))
    assert bench.frame(W.KIND_SESSION_REFUSE).code == W.ERROR_CODE_STALE_EPOCH, "it was taken over"
    bench.expect_nothing()
    bench.board.run_for(ZEROING)
    grant = bench.frame(W.KIND_SESSION_GRANT)
    assert (grant.dst, grant.seq, number(grant.payload[:8])) == (HOST, 77, 50)
    bench.expect_nothing()
    assert (bench.board.owner(), bench.count("claims")) == (HOST, 2)


def test_a_host_that_restarts_while_memory_is_zeroed_for_it_gets_the_card(new):
    bench = zeroing(new, "claim")
    bench.board.receive(bench.claim_frame(nonce=60))
    bench.expect_nothing()
    bench.board.run_for(ZEROING // 2)
    assert number(bench.frame(W.KIND_SESSION_GRANT).payload[:8]) == 60
    bench.board.receive(bench.claim_frame(nonce=50))
    assert bench.frame(W.KIND_SESSION_REFUSE).code == W.ERROR_CODE_STALE_EPOCH
    assert (bench.board.owner(), bench.board.ddr[BASE]) == (HOST, 0)


def test_the_next_owner_waits_for_the_last_ones_zeroing(new):
    bench = zeroing(new, "release")
    for nonce, scrub in ((8, 0), (9, 1), (9, 1)):
        bench.board.receive(bench.claim_frame(RIVAL, nonce, scrub=scrub))
        bench.expect_nothing()
    release(bench, 1, src=HOST)
    bench.board.receive(bench.claim_frame(HOST, 70))
    assert bench.frame(W.KIND_SESSION_REFUSE).code == W.ERROR_CODE_CLAIMED, "the rival was first"
    bench.board.run_for(ZEROING // 2)
    kinds = [sent.frame.kind for sent in bench.board.sent if sent.frame.kind != W.KIND_DISCOVERY_ANNOUNCE]
    assert kinds == [W.KIND_SESSION_RELEASED, W.KIND_SESSION_GRANT], "each once, and memory is zeroed once"
    assert (bench.board.owner(), bench.board.ddr[BASE]) == (RIVAL, 0)
    bench.clear()
    release(bench, 1, src=HOST)
    bench.expect(W.KIND_SESSION_RELEASED)


@pytest.mark.parametrize("seed", range(5))
def test_epochs_differ_from_what_the_host_remembers(new, seed):
    bench = new(seed=seed)
    seen = {0}
    for nonce in range(1, 8):
        theirs = (bench.epoch + 1) & 0xFFFF
        epoch = bench.claim(nonce=nonce, epoch=theirs)
        assert epoch != theirs and epoch not in seen
        seen.add(epoch)


def test_only_epochs_that_lie_just_ahead_are_stepped_over(new):
    bench = new()
    epoch = bench.claim(nonce=1)
    for nonce, (ahead, step) in enumerate([(100, 101), (256, 257), (257, 1), (1000, 1), (-1, 1)], 2):
        got = bench.claim(nonce=nonce, epoch=(epoch + ahead) & 0xFFFF)
        assert got in ((epoch + step) & 0xFFFF, 1), (ahead, step)
        epoch = got


def test_epochs_wrap_without_0(new):
    bench = new()
    epoch, nonce = bench.claim(nonce=1), 1
    while epoch < 0xFFFF:
        nonce += 1
        epoch = bench.claim(nonce=nonce, epoch=min(epoch + 256, 0xFFFE))
    assert bench.claim(nonce=nonce + 1, epoch=0xFFFF) == 1


def test_a_fast_path_that_heard_the_former_owner_does_not_renew_a_lease(claimed):
    bench = claimed()
    bench.send(W.KIND_SESSION_RELEASE, bytes(8))
    # A frame that was under way when the claim ended.
    bench.board.heard = bench.board.time + 1
    bench.board.run_for(40 * 60 * 1_000_000)
    bench.claim(RIVAL)
    bench.board.run_for(5_000_000)
    assert bench.board.owner() == 0


def test_a_ping_tells_the_present_epoch_to_anyone(with_role):
    bench = with_role()
    bench.board.kernels = lambda kernel, args: (0, 0, 0, 1 << 40)
    bench.launch(1)
    bench.clear()
    for src in (HOST, RIVAL):
        bench.send(W.KIND_SESSION_PING, seq=8, src=src, epoch=0x5555)
        pong = bench.frame(W.KIND_SESSION_PONG)
        assert (pong.dst, pong.seq, pong.epoch) == (src, 8, bench.epoch)
        boot, state, queued, _, uptime = struct.unpack(">IBBHQ", pong.payload)
        assert (boot, state, queued, uptime) == (1, W.CARD_STATE_RUNNING, 1, bench.board.time * 1000)


def test_time_goes_on_beyond_32_bits(new):
    bench = new(announce_ms=700_000)
    bench.board.run_for((3 << 32) + 12345)
    bench.send(W.KIND_SESSION_PING)
    pongs = bench.take(W.KIND_SESSION_PONG)
    assert number(pongs[0].frame.payload[8:]) == bench.board.time * 1000
    announced = [s.at for s in bench.take(W.KIND_DISCOVERY_ANNOUNCE)][3:]
    gaps = [b - a for a, b in zip(announced, announced[1:], strict=False)]
    assert len(gaps) > 10 and all(525_000_000 <= gap <= 875_000_000 for gap in gaps)
    bench.claim()
    bench.board.run_for(4_999_999)
    assert bench.board.owner() == HOST
    bench.board.run_for(1)
    assert bench.board.owner() == 0


def test_counters_and_manifest_need_no_claim(claimed):
    bench = claimed()
    manifest = bytes(range(33, 120)) * 40
    bench.load(1, image({"rtl": part()}, manifest))
    total = W.COUNTERS
    # What this card does not count is 0, whatever the hardware has there.
    bench.board.memory[C.COUNTER_BASE >> 28][2 * W.COUNTERS_COMMON : 2 * total] = [7] * 2 * (total - W.COUNTERS_COMMON)
    for start, count in [(0, total), (total - 3, 3), (total, 0), (2**64 - 1, 0)]:
        bench.send(W.KIND_SESSION_COUNTERS_GET, seq=4, addr=start, src=RIVAL)
        got = bench.take(W.KIND_SESSION_COUNTERS)[0].frame
        assert (got.dst, got.addr, len(got.payload)) == (RIVAL, start, 8 * count)
        others = got.payload[8 * max(W.COUNTERS_COMMON - start, 0) :]
        assert others == bytes(8 * min(count, total - W.COUNTERS_COMMON))
    text = b""
    while True:
        bench.send(W.KIND_SESSION_MANIFEST_GET, seq=4, addr=len(text), src=RIVAL)
        got = bench.take(W.KIND_SESSION_MANIFEST)[0].frame
        assert got.addr == len(text)
        text += got.payload
        if len(got.payload) < 1472:
            break
    assert text == manifest
    bench.send(W.KIND_SESSION_MANIFEST_GET, addr=2**64 - 1)
    assert bench.take(W.KIND_SESSION_MANIFEST)[0].frame.payload == b""


def test_a_card_without_a_role_has_no_manifest(new):
    bench = new()
    bench.send(W.KIND_SESSION_MANIFEST_GET)
    assert bench.frame(W.KIND_SESSION_MANIFEST).payload == b""


def test_counters_add_what_hardware_and_firmware_count(claimed):
    bench = claimed()
    bench.send(W.KIND_INPUT_WRITE, bytes(100), 1, BASE)
    bench.send(W.KIND_INPUT_WRITE, bytes(100), 1, BASE)  # The hardware counts this duplicate,
    bench.send(W.KIND_INPUT_WRITE, bytes(100), 1, 0)  # the firmware this one.
    bench.send(W.KIND_SESSION_COUNTERS_GET)
    got = bench.take(W.KIND_SESSION_COUNTERS)[0].frame.payload
    value = lambda name: number(got[8 * COUNTER[name] :][:8])  # noqa: E731
    assert (value("rx_frames"), value("rx_bytes")) == (5, 60 + 3 * 132 + 60)
    assert (value("writes"), value("write_bytes"), value("claims"), value("announces")) == (1, 100, 1, 2)
    assert value("drop_duplicate") == 2


def test_counters_of_a_card_with_keys_stand_behind_the_bridge_s(claimed):
    bench = claimed()
    of = {name: CONTROL.counters[name] for name in ("auth_untagged", "auth_unknown", "auth_wrong", "auth_replay")}
    for n, name in enumerate(of):
        bench.board.registers[C.CSR_KEY_COUNT + 8 * n] = 0xFFFFFFF0 + n
        bench.board.registers[C.CSR_KEY_COUNT + 8 * n + 4] = n
    bench.send(W.KIND_SESSION_COUNTERS_GET, addr=CONTROL.counters["bridge_resent"])
    got = bench.take(W.KIND_SESSION_COUNTERS)[0].frame.payload
    values = [number(got[at : at + 8]) for at in range(0, len(got), 8)]
    assert values == [0, 0, *(n << 32 | 0xFFFFFFF0 + n for n in range(4))]


def test_a_role_begins_anew_with_each_claim(with_role):
    bench = with_role()
    before = bench.board.isolations
    release(bench, 0)
    assert (bench.board.isolations, bench.board.role_ctrl) == (before + 1, 0)
    bench.claim(RIVAL)
    bench.board.run_for(6_000_000)
    assert bench.board.owner() == 0
    assert (bench.board.isolations, bench.board.role_ctrl) == (before + 2, 0)


def test_a_late_frame_of_a_claim_that_expired_harms_no_other(with_role):
    """The analyzer may have taken a write and a launch for the owner's while the firmware ended the claim."""
    bench = with_role()
    bench.board.run_for(6_000_000)
    bench.board.note(7)
    bench.board.registers[C.CSR_SESSION] |= C.SESSION_ROLE
    body = struct.pack(">QQQIHHQ", 0, 0, 0, 0, 0, 1, BASE)
    assert bench.board.judge_launch(Frame(CARD_MAC, HOST, W.KIND_EXEC_LAUNCH, seq=1, payload=body)) == 8
    bench.clear()
    bench.claim(RIVAL)
    assert (bench.board.window.next, bench.board.window.beyond(), bench.board.lch_last) == (1, set(), 0)
    assert not bench.board.queue() and bench.board.popped == bench.board.tail
    bench.board.run_for(1_000_000)
    bench.expect_nothing()


def test_a_card_whose_memory_was_not_trained_says_so_and_takes_no_claim(new):
    bench = new(restarts=C.RESTARTS_UNTRAINED)
    hello = bench.frame(W.KIND_DISCOVERY_ANNOUNCE)
    assert (hello.payload[19], hello.payload[20]) == (W.CARD_STATE_FAULTY, W.ANNOUNCE_REASON_LINK_UP)
    for scrub in (0, 1):
        bench.board.receive(bench.claim_frame(scrub=scrub))
        assert bench.frame(W.KIND_SESSION_REFUSE).code == W.ERROR_CODE_MEMORY_FAULT
    bench.send(W.KIND_SESSION_PING, seq=3)
    assert bench.frame(W.KIND_SESSION_PONG).payload[4] == W.CARD_STATE_FAULTY
    bench.send(W.KIND_SESSION_COUNTERS_GET, seq=4)
    bench.frame(W.KIND_SESSION_COUNTERS)


def test_a_card_without_a_bridge_refuses_windows_of_its_owner(claimed):
    bench = claimed()
    body = struct.pack(">QQ6sBB", BASE, 4096, bytes(6), 1, 0)
    bench.send(W.KIND_SESSION_WINDOW_SET, body, 5, 3)
    refused = bench.frame(W.KIND_SESSION_REFUSE)
    assert (refused.code, refused.seq, refused.addr) == (W.ERROR_CODE_UNSUPPORTED, 5, 3)
    bench.send(W.KIND_SESSION_WINDOW_SET, body, 6, 3, src=RIVAL)
    refused = bench.frame(W.KIND_SESSION_REFUSE)
    assert (refused.code, refused.seq, refused.dst) == (W.ERROR_CODE_STALE_EPOCH, 6, RIVAL)
    bench.expect_nothing()
