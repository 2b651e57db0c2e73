"""Loading: staging, reports, digests, checks, commits."""

import struct

import pytest
from addresses import CARD_MAC, GROUPS, HOST, PEER, RIVAL
from bench import BASE, CHUNK, GROUP, Bench, missing_report
from golden import digest
from headers import C, W
from images import edited, image, part
from wire import Frame, number

FILLER = bytes(range(256)) * 400  # 100 KiB


def big(size: int = 100_000) -> bytes:
    """An image of two blocks."""
    return image({"filler": FILLER[:size], "rtl": part()})


def overhear(bench: Bench, poll: int, ranges: list[tuple[int, int]], **change: int) -> None:
    bench.send_group(W.KIND_IMAGE_CONFIRM_MISSING, missing_report(1000, ranges), poll, **{"src": PEER, **change})


def failure(bench: Bench) -> tuple[int, int, str]:
    frame = bench.frame(W.KIND_IMAGE_CONFIRM_FAILED)
    assert frame.payload[2:8] == bytes(6)
    return frame.code, frame.seq, frame.payload[8:].decode()


def report(bench: Bench) -> tuple[int, list[tuple[int, int]]]:
    return bench.ranges(bench.frame(W.KIND_IMAGE_CONFIRM_MISSING))


@pytest.mark.parametrize("length", [1, 64, 1023, 1024, 1025, 2048, 3072, 5121, 65_536, 65_537, 131_072, 150_000])
def test_the_tree_of_the_digest_is_right_for_every_length(claimed, length):
    """What is staged is no image, which is found only after its digest was right."""
    bench = claimed()
    data = (FILLER * 2)[:length]
    bench.begin(1, data)
    bench.chunks(data)
    bench.board.run_for(1000)
    bench.expect(W.KIND_IMAGE_CONFIRM_READY)
    assert failure(bench)[:2] == (W.ERROR_CODE_IMAGE_FORMAT, 1)
    assert bench.board.digest_value == digest(data)


def test_an_image_is_staged_committed_and_active(claimed):
    bench = claimed(config_us=300)
    data = big()
    bench.begin(1, data)
    ready = bench.frame(W.KIND_IMAGE_CONFIRM_READY)
    assert (ready.dst, ready.seq, ready.epoch) == (HOST, 1, GROUP)
    # In any order: the last chunk first.
    for i in reversed(range(-(-len(data) // CHUNK))):
        bench.chunk(data, i)
    bench.board.run_for(1000)
    staged = bench.frame(W.KIND_IMAGE_CONFIRM_STAGED)
    assert (staged.dst, staged.seq, staged.epoch) == (HOST, 1, GROUP)
    bench.poll(9)
    assert bench.frame(W.KIND_IMAGE_CONFIRM_STAGED).seq == 9
    assert not bench.board.field(C.CSR_SESSION, C.SESSION_ROLE)
    # All chunks were there once.
    bench.chunk(data, 0)
    assert bench.count("drop_duplicate") == 1
    bench.commit(20)
    assert bench.frame(W.KIND_IMAGE_CONFIRM_COMMITTED).seq == 20
    bench.poll(10)
    assert bench.frame(W.KIND_IMAGE_CONFIRM_COMMITTED).seq == 10
    bench.board.run_for(1000)
    active = bench.frame(W.KIND_IMAGE_CONFIRM_ACTIVE)
    assert (active.seq, active.payload) == (20, digest(data) + (300_000).to_bytes(8, "big"))
    bench.commit(21)
    assert bench.frame(W.KIND_IMAGE_CONFIRM_ACTIVE).seq == 21
    bench.poll(11)
    assert bench.frame(W.KIND_IMAGE_CONFIRM_ACTIVE).seq == 11
    assert (bench.count("images_activated"), bench.count("images_failed")) == (1, 0)
    registers = bench.board.registers
    takes = {0: 1, 1: 3, 2: 2, 3: 1}
    told = {kernel: 4 + args << 16 | args for kernel, args in takes.items()}
    assert bench.board.args == {kernel: told.get(kernel, 0) for kernel in range(64)}
    at, last = registers[C.CSR_CFG_SOURCE] * 64, registers[C.CSR_CFG_LAST]
    end = at + len(part())
    assert bytes(bench.board.ddr[at:end]) == part()
    assert last == ((end - 4) // 4 % 16) << C.CFG_LAST_WORDS_SHIFT | (end - 4) // 64 & C.CFG_LAST_BEAT_MASK
    assert (bench.board.role_ctrl, registers[C.CSR_LCH_ENABLE]) == (0, 1)


def test_what_is_lost_is_reported_and_repaired(claimed):
    bench = claimed()
    data = big()
    bench.begin(1, data)
    bench.clear()
    bench.chunks(data, but=(0, 5, 6, 60))
    bench.poll(7, 1000)
    asked = bench.board.time
    bench.board.run_for(2000)
    told = bench.expect(W.KIND_IMAGE_CONFIRM_MISSING)
    assert (told.frame.dst, told.frame.seq, told.frame.epoch) == (GROUPS | GROUP, 7, GROUP)
    assert told.at - asked < 1000
    assert bench.ranges(told.frame) == (4, [(0, 1), (5, 2), (60, 1)])
    bench.expect_nothing()
    # A commit comes too early: nothing happens, and the card says why.
    bench.commit(8)
    assert bench.frame(W.KIND_IMAGE_CONFIRM_MISSING).seq == 8
    for i in (60, 0, 6, 5, 5, 17):
        bench.chunk(data, i)
    bench.board.run_for(1000)
    bench.expect(W.KIND_IMAGE_CONFIRM_STAGED)
    assert (bench.count("image_reports"), bench.count("drop_duplicate")) == (2, 2)


def test_what_others_reported_is_left_out(claimed):
    bench = claimed()
    data = big()
    bench.begin(1, data)
    bench.clear()
    bench.chunks(data, but=(*range(10, 20), 50))
    bench.poll(1, 1000)
    overhear(bench, 1, [(8, 6), (18, 1)])
    overhear(bench, 2, [(50, 1)])
    assert bench.count("drop_window") == 1
    bench.board.run_for(2000)
    assert report(bench) == (11, [(14, 4), (19, 1), (50, 1)])
    assert bench.count("image_suppressed") == 5
    # The same poll again: answered again, with what was overheard still left out.
    overhear(bench, 1, [(50, 1)])
    bench.poll(1, 1000)
    bench.board.run_for(2000)
    assert report(bench) == (11, [(14, 4), (19, 1)])
    # From the second poll on the card reports all that it lacks, whatever others say.
    for poll in (3, 4):
        bench.poll(poll, 1000)
        overhear(bench, poll, [(0, -(-len(data) // CHUNK))])
        bench.board.run_for(2000)
        assert report(bench) == (11, [(10, 10), (50, 1)])
    # Another load knows nothing of that, and begins with a first poll.
    bench.begin(2, data)
    bench.clear()
    bench.poll(4)
    assert report(bench) == (len(data) // CHUNK + 1, [(0, len(data) // CHUNK + 1)])


def test_reports_are_bounded(claimed):
    bench = claimed()
    data = bytes(64 * 6000)
    bench.send(W.KIND_IMAGE_BEGIN, struct.pack(">QHHI", len(data), 64, GROUP, 1) + bytes(32), 1)
    have = bench.board.memory[C.HAVE_BASE >> 28]
    for i in range(0, 6000, 2):
        have[i // 32] |= 1 << i % 32
        bench.board.load.have.add(i)
        bench.board.staged += 1
    bench.poll(1, 100)
    # Some that lie where the reports end: the model counts these to the end of 64 chunks.
    overhear(bench, 1, [(100, 10), (5830, 170)])
    bench.clear()
    bench.board.run_for(100)
    told = [s.frame for s in bench.take(W.KIND_IMAGE_CONFIRM_MISSING)]
    assert len(told) == W.MISSING_FRAMES
    assert [number(f.payload[6:8]) for f in told] == list(reversed(range(len(told))))
    assert all(number(f.payload[:4]) == 3000 for f in told)
    listed = [r for f in told for r in bench.ranges(f)[1]]
    odd = [i for i in range(1, 6000, 2) if not (100 <= i < 110 or i >= 5830)]
    assert listed == [(i, 1) for i in odd[: W.MISSING_FRAMES * W.MISSING_RANGES]]
    assert bench.count("image_suppressed") == len([i for i in range(1, 6000, 2) if 100 <= i < 110 or i >= 5830])


def test_full_reports_count_what_they_left_out_as_the_model_does(claimed):
    bench = claimed()
    bench.send(W.KIND_IMAGE_BEGIN, struct.pack(">QHHI", 64 * 7000, 64, GROUP, 1) + bytes(32), 1)
    have = bench.board.memory[C.HAVE_BASE >> 28]
    for i in range(0, 7000, 2):
        have[i // 32] |= 1 << i % 32
        bench.board.load.have.add(i)
        bench.board.staged += 1
    bench.poll(1, 100)
    # The 2913th range begins at 5825, of the 64 chunks from 5824 on.
    overhear(bench, 1, [(5827, 1), (5886, 2), (5888, 9)])
    bench.board.run_for(100)
    assert bench.count("image_suppressed") == 2


def test_chunks_that_come_during_a_report_leave_no_empty_range(claimed):
    bench = claimed()
    data = big()
    bench.begin(1, data)
    bench.clear()
    bench.chunks(data, but=(10, 20, 30))
    board = bench.board
    plain = board.read_register
    have = board.memory[C.HAVE_BASE >> 28]

    def racing(address):
        if address == C.CSR_STG_STAGED:
            # Ranges have been counted; now two of them go.
            have[0] |= 1 << 20 | 1 << 30
        return plain(address)

    board.read_register = racing
    bench.poll(1)
    assert report(bench)[1] == [(10, 1)]


def bad_images() -> list[tuple[bytes, int]]:
    good = image()

    def put(at: int, value: bytes, data: bytes = good) -> bytes:
        return edited(data, at, value)

    def wrong(at: int, value: bytes, **about: tuple[int, ...]) -> bytes:
        return image({"rtl": edited(part(**about), at, value)})

    two = image({"model": b"x" * 100, "rtl": part()})
    table = 64
    return [
        (put(0, b"X"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(9, b"\x63"), W.ERROR_CODE_IMAGE_VERSION),
        (put(11, b"\x09"), W.ERROR_CODE_IMAGE_VERSION),  # The shell's: the model finds the damage of the tag first.
        (put(14, b"\1"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(23, b"\1"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(19, b"\1"), W.ERROR_CODE_IMAGE_VERSION),
        (put(24, b"\0\0\0\0\x10\0\0\x40"), W.ERROR_CODE_IMAGE_TOO_LARGE),
        (put(12, b"\0\0"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(12, b"\0\x11"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(12, b"\0\x10"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(39, b"\0"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(40, bytes(8)), W.ERROR_CODE_IMAGE_FORMAT),
        (put(45, b"\1\0\1"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(46, b"\x0f\0"), W.ERROR_CODE_IMAGE_FORMAT),
        (good[:-64], W.ERROR_CODE_IMAGE_FORMAT),
        (good + bytes(64), W.ERROR_CODE_IMAGE_FORMAT),
        (put(24, (len(good) + 64).to_bytes(8, "big")) + bytes(64), W.ERROR_CODE_IMAGE_FORMAT),
        (bytes(10), W.ERROR_CODE_IMAGE_FORMAT),
        (put(table, b"Rtl"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(table, b"-rt"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(table + 4, b"x"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(table, bytes(16)), W.ERROR_CODE_IMAGE_FORMAT),
        (put(table, b"model\0", two)[:table] + put(table, b"rtl\0\0", two)[table:], W.ERROR_CODE_IMAGE_FORMAT),
        (put(table + 23, b"\0"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(table + 30, b"\x7f"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(64 + 64 + 20, b"\1"), W.ERROR_CODE_IMAGE_FORMAT),
        (put(len(good) - 1, b"\1"), W.ERROR_CODE_IMAGE_FORMAT),
        (image({"model": b"x" * 200}), W.ERROR_CODE_IMAGE_TARGET),
        (image({"rtl-2": part()}), W.ERROR_CODE_IMAGE_TARGET),
        (image(shell=9), W.ERROR_CODE_IMAGE_VERSION),
        (wrong(0, bytes(7)), W.ERROR_CODE_IMAGE_PART),
        (image({"rtl": part(())}), W.ERROR_CODE_IMAGE_PART),
        (wrong(12, b"\0\x41", kernels=(1,) * 64), W.ERROR_CODE_IMAGE_PART),
        (wrong(25, b"\x21", kernels=(1, 3)), W.ERROR_CODE_IMAGE_PART),
        (image({"rtl": part(clock_khz=0)}), W.ERROR_CODE_IMAGE_PART),
        (wrong(14, b"\0\1"), W.ERROR_CODE_IMAGE_PART),
        (wrong(23, b"\x0d"), W.ERROR_CODE_IMAGE_PART),
        (image({"rtl": part()[:88]}), W.ERROR_CODE_IMAGE_PART),
        (image({"rtl": part() + b"x"}), W.ERROR_CODE_IMAGE_PART),
    ]


def test_bad_images_are_named_and_harm_nothing(with_role):
    bench = with_role()
    old = digest(image())
    cases = bad_images()
    for seq, (data, code) in enumerate(cases, 10):
        bench.clear()
        bench.begin(seq, data)
        bench.chunks(data)
        bench.board.run_for(100)
        bench.expect(W.KIND_IMAGE_CONFIRM_READY)
        got = failure(bench)
        assert got[:2] == (code, seq), seq - 10
        assert 0 < len(got[2]) <= 64
        # A commit does not make it better; the old role serves on.
        bench.commit(500 + seq)
        assert failure(bench)[1] == 500 + seq
        bench.send(W.KIND_DISCOVERY_SOLICIT, bytes(8))
        told = bench.take(W.KIND_DISCOVERY_ANNOUNCE)[-1].frame
        assert (told.payload[72:], told.payload[19]) == (old, W.CARD_STATE_ACTIVE)
        bench.launch(seq - 9)
        assert bench.frame(W.KIND_RESULT_ACCEPTED).seq == seq - 9
        bench.ack(seq - 9, 0, 0)
    assert bench.count("images_failed") == len(cases)


@pytest.mark.parametrize("length", [1, 62, 63, 64, 65, 127, 65_536])
def test_manifests_of_any_length_and_sixteen_parts_are_good(claimed, length):
    bench = claimed()
    parts = {f"{chr(97 + i)}-{i}": bytes([i]) * (i * 17 + 1) for i in range(15)}
    bench.load(1, image({**parts, "rtl": part((2,) * 64)}, b"m" * length))
    assert len(bench.board.args) == 64 and all(bench.board.args.values())


def test_a_wrong_digest_keeps_the_old_role(with_role):
    bench = with_role()
    data = image(manifest=b"{}")
    body = bench.begin_body(data)
    bench.send(W.KIND_IMAGE_BEGIN, body[:-1] + bytes([body[-1] ^ 1]), 2)
    bench.chunks(data)
    bench.board.run_for(100)
    bench.expect(W.KIND_IMAGE_CONFIRM_READY)
    assert failure(bench)[0] == W.ERROR_CODE_IMAGE_DIGEST
    bench.commit(3)
    assert failure(bench)[1] == 3
    bench.launch(1)
    assert bench.frame(W.KIND_RESULT_ACCEPTED).seq == 1


def test_begin_is_checked_and_harmless_when_refused(claimed):
    bench = claimed()
    data = image()
    bench.begin(1, data)
    bench.clear()
    good = dict(length=len(data), chunk=CHUNK, group=GROUP)
    cases = [
        ({"length": 0}, W.ERROR_CODE_BAD_REQUEST),
        ({"length": (1 << 20) + 1}, W.ERROR_CODE_IMAGE_TOO_LARGE),
        ({"length": 2**64 - 1}, W.ERROR_CODE_IMAGE_TOO_LARGE),
        ({"length": 1 << 32}, W.ERROR_CODE_IMAGE_TOO_LARGE),
        ({"chunk": 0}, W.ERROR_CODE_BAD_REQUEST),
        ({"chunk": 100}, W.ERROR_CODE_BAD_REQUEST),
        ({"chunk": 1536}, W.ERROR_CODE_BAD_REQUEST),
        ({"group": 0}, W.ERROR_CODE_BAD_REQUEST),
    ]
    for change, code in cases:
        f = {**good, **change}
        bench.send(W.KIND_IMAGE_BEGIN, struct.pack(">QHHI", f["length"], f["chunk"], f["group"], 1) + bytes(32), 2)
        frame = bench.frame(W.KIND_IMAGE_CONFIRM_FAILED)
        assert (frame.code, frame.seq, frame.epoch) == (code, 2, f["group"])
        assert len(frame.payload) > 8
    assert (bench.count("refusals"), bench.count("images_failed")) == (len(cases), 0)
    # The load that was under way is still.
    bench.chunks(data)
    bench.board.run_for(100)
    bench.expect(W.KIND_IMAGE_CONFIRM_STAGED)


def test_there_are_bits_for_so_many_chunks(claimed):
    bench = claimed(staging_max=20 << 20, memory=2 << 20)
    body = struct.pack(">QHHI", 64 * 8 * C.HAVE_BYTES + 1, 64, GROUP, 1) + bytes(32)
    bench.send(W.KIND_IMAGE_BEGIN, body, 1)
    assert failure(bench)[0] == W.ERROR_CODE_BAD_REQUEST
    bench.send(W.KIND_IMAGE_BEGIN, struct.pack(">Q", 64 * 8 * C.HAVE_BYTES) + body[8:], 1)
    bench.expect(W.KIND_IMAGE_CONFIRM_READY)
    bench.poll(1, 100)
    overhear(bench, 1, [(0, 1), (8 * C.HAVE_BYTES - 1, 1)])
    bench.board.run_for(100)
    assert report(bench) == (8 * C.HAVE_BYTES, [(1, 8 * C.HAVE_BYTES - 2)])


def test_a_repeated_begin_keeps_what_is_staged_and_a_new_one_starts_over(claimed):
    bench = claimed()
    data = big()
    bench.begin(1, data)
    bench.chunks(data, but=(3,))
    bench.clear()
    bench.begin(1, data)
    bench.expect(W.KIND_IMAGE_CONFIRM_READY)
    bench.chunk(data, 3)
    bench.board.run_for(100)
    bench.expect(W.KIND_IMAGE_CONFIRM_STAGED)
    bench.begin(2, data)
    bench.expect(W.KIND_IMAGE_CONFIRM_READY)
    bench.poll(1)
    assert len(report(bench)[1]) == 1
    # A late copy of the first begin does not drop the second load.
    bench.chunk(data, 0)
    bench.begin(1, data)
    bench.expect_nothing()
    assert bench.count("drop_duplicate") == 1
    bench.poll(2)
    assert report(bench)[1][0][0] == 1
    # The same number with another content is another load.
    bench.begin(2, data + bytes(64))
    bench.expect(W.KIND_IMAGE_CONFIRM_READY)
    bench.poll(3)
    assert report(bench)[1] == [(0, -(-(len(data) + 64) // CHUNK))]


def test_eight_loads_are_remembered_and_forgotten_with_the_claim(claimed):
    bench = claimed()
    data = image()
    for seq in range(1, 11):
        bench.begin(seq, data)
    bench.clear()
    for seq, known in ((1, True), (9, False), (3, False)):
        bench.begin(seq, data)
        assert bool(bench.take(W.KIND_IMAGE_CONFIRM_READY)) == known
    bench.claim(HOST, 2)
    bench.begin(9, data)
    assert bench.take(W.KIND_IMAGE_CONFIRM_READY)


def test_an_abort_forgets_the_load_and_leaves_the_group(claimed):
    bench = claimed()
    data = image()
    bench.begin(1, data)
    bench.chunks(data)
    bench.board.run_for(100)
    bench.clear()
    bench.send_group(W.KIND_IMAGE_ABORT)
    assert not bench.board.field(C.CSR_SESSION, C.SESSION_LOADING)
    bench.send_group(W.KIND_IMAGE_ABORT)
    assert bench.count("drop_epoch") == 1
    bench.commit(1)
    bench.poll(1)
    bench.expect_nothing()
    bench.begin(1, data)
    bench.expect_nothing()
    bench.begin(2, data)
    bench.expect(W.KIND_IMAGE_CONFIRM_READY)


def test_configuration_takes_its_time_and_nothing_serves_meanwhile(with_role):
    bench = with_role(config_us=100)
    bench.board.kernels = lambda kernel, args: (0, 0, 0, 1 << 40)
    data = image(manifest=b"{}")
    bench.launch(1)
    bench.launch(2)
    bench.begin(2, data)
    bench.chunks(data)
    bench.board.run_for(100)
    bench.clear()
    began = bench.board.time
    bench.commit(50)
    told = [(s.frame.seq, s.frame.code) for s in bench.take(W.KIND_RESULT_DONE)]
    assert told == [(1, W.ERROR_CODE_CANCELLED), (2, W.ERROR_CODE_CANCELLED)]
    assert bench.board.role_ctrl == C.ROLE_CTRL_ISOLATE | C.ROLE_CTRL_RESET
    assert bench.frame(W.KIND_IMAGE_CONFIRM_COMMITTED).seq == 50
    bench.launch(3)
    no = bench.frame(W.KIND_RESULT_REFUSED)
    assert (no.code, no.detail) == (W.ERROR_CODE_BUSY, 0)
    # Memory goes on; another load, an abort and another commit change nothing.
    bench.send(W.KIND_INPUT_WRITE, b"\5", 1, BASE)
    assert bench.board.ddr[BASE] == 5
    bench.begin(3, data)
    assert failure(bench)[0] == W.ERROR_CODE_BUSY
    bench.send(W.KIND_SESSION_MANIFEST_GET)
    assert bench.frame(W.KIND_SESSION_MANIFEST).payload == b""
    bench.send_group(W.KIND_IMAGE_ABORT)
    bench.commit(51)
    assert bench.frame(W.KIND_IMAGE_CONFIRM_COMMITTED).seq == 51
    bench.board.run_for(1000)
    bench.take(W.KIND_INPUT_CONFIRM_WRITE_ACK)
    active = bench.expect(W.KIND_IMAGE_CONFIRM_ACTIVE)
    assert (active.frame.seq, number(active.frame.payload[32:])) == (50, 100_000)
    assert 100 <= active.at - began < 110
    bench.launch(3)
    assert bench.frame(W.KIND_RESULT_ACCEPTED).seq == 3


def test_a_claim_that_ends_leaves_no_card_half_configured(claimed):
    bench = claimed(config_us=4000)
    data = image()
    bench.begin(1, data)
    bench.chunks(data)
    bench.board.run_for(100)
    bench.commit(5)
    bench.clear()
    bench.claim(HOST, 2)
    bench.begin(1, data)
    assert failure(bench)[0] == W.ERROR_CODE_BUSY
    bench.board.run_for(4000)
    bench.expect_nothing()
    assert bench.board.field(C.CSR_SESSION, C.SESSION_ROLE)
    # A load that was staged only is gone with its claim.
    bench.begin(1, data)
    bench.chunks(data)
    bench.board.run_for(100)
    bench.claim(HOST, 3)
    bench.clear()
    bench.commit(6)
    bench.expect_nothing()
    assert bench.count("images_activated") == 1
    bench.launch(1)
    assert bench.frame(W.KIND_RESULT_ACCEPTED).seq == 1


def test_a_configuration_that_fails_leaves_an_empty_card_that_can_be_loaded(with_role):
    bench = with_role()
    data = image(manifest=b"{}")
    bench.board.config_fails = True
    bench.begin(2, data)
    bench.chunks(data)
    bench.board.run_for(100)
    bench.clear()
    bench.commit(5)
    bench.expect(W.KIND_IMAGE_CONFIRM_COMMITTED)
    code, seq, text = failure(bench)
    assert (code, seq) == (W.ERROR_CODE_IMAGE_PART, 5) and text
    assert bench.take(W.KIND_DISCOVERY_ANNOUNCE)[-1].frame.payload[19] == W.CARD_STATE_EMPTY
    bench.launch(1)
    assert bench.frame(W.KIND_RESULT_DONE).code == W.ERROR_CODE_NO_ROLE
    bench.board.config_fails = False
    bench.load(3, data)
    assert (bench.count("images_failed"), bench.count("images_activated")) == (1, 2)


def test_a_configuration_port_that_hangs_is_given_up(claimed):
    bench = claimed(config_us=1 << 40)
    data = image()
    bench.begin(1, data)
    bench.chunks(data)
    bench.board.run_for(100)
    bench.commit(5)
    for seq in range(40):
        bench.board.run_for(2_000_000)
        bench.send(W.KIND_SESSION_PING, seq=seq)
    assert bench.board.registers[C.CSR_CFG_GO] == C.CFG_GO_STOP
    assert bench.take(W.KIND_IMAGE_CONFIRM_FAILED)[0].frame.seq == 5


def test_a_configuration_waits_until_the_old_role_has_drained(with_role):
    """Else the port would load a region that still owes memory half a burst."""
    bench = with_role(drain_us=300)
    began = bench.board.time
    bench.load(2)
    # Both loads found the region cut off and drained; the second had something to wait for.
    assert bench.board.configured_drained == [True, True]
    assert bench.board.time - began >= 300


def test_a_role_that_memory_does_not_let_drain_holds_no_configuration_up_for_ever(with_role):
    bench = with_role(drain_us=1 << 40)
    began = bench.board.time
    bench.load(2)
    assert bench.board.configured_drained == [False, False]
    assert 10_000 <= bench.board.time - began < 20_000


def test_a_configuration_waits_for_what_was_stopped_before(claimed):
    bench = claimed(config_us=1 << 40)
    data = image()
    bench.begin(1, data)
    bench.chunks(data)
    bench.board.run_for(100)
    bench.board.config_sticks = True
    bench.commit(5)
    for seq in range(40):
        bench.board.run_for(2_000_000)
        bench.send(W.KIND_SESSION_PING, seq=seq)
    assert bench.board.config_stopping
    bench.board.config.config_us = 300
    bench.begin(2, data)
    bench.chunks(data)
    bench.board.run_for(100)
    bench.clear()
    began = bench.board.time
    bench.commit(6)
    bench.board.run_for(1000)
    bench.expect(W.KIND_IMAGE_CONFIRM_COMMITTED)
    # It does what else there is to do meanwhile.
    bench.send(W.KIND_SESSION_PING, seq=99)
    assert bench.frame(W.KIND_SESSION_PONG).seq == 99
    bench.expect_nothing()
    bench.board.config_sticks = False
    bench.board.run_for(1000)
    active = bench.expect(W.KIND_IMAGE_CONFIRM_ACTIVE)
    assert active.frame.seq == 6 and 1300 <= active.at - began < 1600
    assert (bench.count("images_failed"), bench.count("images_activated")) == (1, 1)


def test_the_local_port_has_it(claimed):
    bench = claimed()
    bench.board.local = True
    bench.begin(1, image())
    assert failure(bench)[0] == W.ERROR_CODE_BUSY


def test_images_are_staged_in_two_slots_by_turns(claimed):
    bench = claimed()
    bases = []
    for seq, text in enumerate([b"first", b"second", b"third"], 1):
        bench.load(seq, image(manifest=text))
        bases.append(bench.board.load.base)
        bench.send(W.KIND_SESSION_MANIFEST_GET)
        assert bench.take(W.KIND_SESSION_MANIFEST)[0].frame.payload == text
        # Another load, which is not committed, does not touch it.
        other = image(manifest=b"other")
        bench.begin(100 + seq, other)
        bench.chunks(other)
        bench.board.run_for(100)
        bench.send(W.KIND_SESSION_MANIFEST_GET)
        assert bench.take(W.KIND_SESSION_MANIFEST)[0].frame.payload == text
    memory, slot = bench.board.config.memory, bench.board.config.staging_max
    assert set(bases) == {memory, memory + slot} and bases[0] == bases[2] != bases[1]


def test_the_digest_follows_and_the_firmware_sleeps_while_it_is_busy(claimed):
    bench = claimed(staging_max=1 << 20)
    data = bytes(range(256)) * 1024  # Four blocks.
    bench.begin(1, data)
    bench.clear()
    bench.board.digest_held = True
    bench.chunks(data)
    assert bench.board.asleep and len(bench.board.digest_jobs) == 2 and len(bench.board.load.whole) == 2
    # A new load waits for it; here, nobody does the work meanwhile.
    bench.board.digest_held = False
    bench.board.run_for(10)
    assert failure(bench)[0] == W.ERROR_CODE_IMAGE_FORMAT
    assert bench.board.digest_value == digest(data)


def test_group_frames_are_taken_from_the_owner_alone(claimed):
    bench = claimed()
    data = image()
    bench.begin(1, data)
    bench.clear()
    for change in (
        {"kind": W.KIND_IMAGE_COMMIT, "epoch": bench.epoch},
        {"kind": W.KIND_IMAGE_POLL, "src": RIVAL},
        {"kind": W.KIND_IMAGE_ABORT, "src": RIVAL},
        {"kind": W.KIND_IMAGE_CONFIRM_MISSING, "src": PEER, "epoch": 9},
    ):
        bench.send_group(change.pop("kind"), bytes(8), **change)
    assert bench.count("drop_epoch") == 4
    # No answer: the frames went to many.
    bench.expect_nothing()
    # A begin of another epoch is answered.
    bench.send(W.KIND_IMAGE_BEGIN, bench.begin_body(data), 3, epoch=bench.epoch + 1)
    frame = bench.frame(W.KIND_IMAGE_CONFIRM_FAILED)
    assert (frame.code, frame.epoch, len(frame.payload)) == (W.ERROR_CODE_STALE_EPOCH, GROUP, 8)
    assert (bench.count("drop_epoch"), bench.count("refusals")) == (5, 1)


def test_malformed_reports_are_counted(claimed):
    bench = claimed()
    data = big()
    bench.begin(1, data)
    bench.poll(1, 1000)
    good = missing_report(2, [(0, 1), (2, 1)])
    bad = [good[:n] for n in range(len(good))]
    bad += [missing_report(1, [(4, 0)]), missing_report(1, [(2**32 - 1, 1)])]
    bad += [good[:4] + b"\0\xb7" + good[6:] + bytes(1600)]
    # Of chunks that are none, or out of order.
    bad += [missing_report(1, [(0, 9999)]), missing_report(1, [(4, 1), (3, 1)]), missing_report(1, [(70, 1)])]
    for payload in bad:
        bench.send_group(W.KIND_IMAGE_CONFIRM_MISSING, payload, 1, src=PEER)
    assert bench.count("drop_malformed") == len(bad)
    bench.send_group(W.KIND_IMAGE_CONFIRM_MISSING, good + b"more", 1, src=PEER)
    assert bench.count("drop_malformed") == len(bad)


def test_jitter_grows_with_the_members(claimed):
    late = []
    for members in (1, 60_000):
        for seed in range(6):
            bench = claimed(seed=seed)
            data = image()
            bench.send(W.KIND_IMAGE_BEGIN, bench.begin_body(data, members=members), 1)
            bench.chunks(data)
            asked = bench.board.time
            bench.board.run_for(10_000)
            late.append(bench.take(W.KIND_IMAGE_CONFIRM_STAGED)[0].at - asked)
    assert max(late[:6]) <= 1 and len(set(late[6:])) == 6 and max(late) < 6000
