"""Results: what is sent, sent again and forgotten."""

import struct

from addresses import HOST
from bench import BASE, Bench
from headers import W
from wire import number

CHUNK = 1472


def launch(bench: Bench, seq: int, chunks: int, credit: int) -> None:
    """One whose output has so many chunks and a half."""
    bench.launch(seq, addr=BASE + (seq - 1 << 20), length=chunks * CHUNK + CHUNK // 2, credit=credit)


def with_output(bench: Bench, chunks: int, credit: int) -> Bench:
    launch(bench, 1, chunks, credit)
    return bench


def chunks(bench: Bench) -> list[int]:
    return [s.frame.addr // CHUNK for s in bench.take(W.KIND_RESULT_DATA)]


def test_an_output_arrives_whole(with_role):
    bench = with_role()
    content = bytes(range(251)) * 40
    bench.board.ddr[BASE : BASE + len(content)] = content
    with_output(bench, 4, 5)
    done = bench.take(W.KIND_RESULT_DONE)[0].frame
    assert (done.flags, *struct.unpack(">HI", done.payload[2:8])) == (0, CHUNK, 5)
    data = [s.frame for s in bench.take(W.KIND_RESULT_DATA)]
    assert [f.addr for f in data] == [n * CHUNK for n in range(5)]
    assert all((f.dst, f.seq, f.epoch, f.flags) == (HOST, 1, bench.epoch, 0) for f in data)
    assert b"".join(f.payload for f in data) == content[: 4 * CHUNK + CHUNK // 2]
    bench.clear()
    bench.ack(1, 5, 5)
    bench.board.run_for(1_000_000)
    bench.expect_nothing()
    assert bench.count("result_chunks") == 5


def test_output_frames_are_no_longer_than_the_claim_says(with_role):
    for nonce, (beats, chunk) in enumerate(((2, 128), (0, CHUNK), (255, CHUNK), (1, 64)), 2):
        bench = with_role()
        bench.claim(HOST, nonce, beats=beats)
        bench.clear()
        bench.launch(1, addr=BASE, length=1500, credit=99)
        done = bench.take(W.KIND_RESULT_DONE)[0].frame
        assert struct.unpack(">HI", done.payload[2:8]) == (chunk, -(-1500 // chunk))
        lengths = [len(s.frame.payload) for s in bench.take(W.KIND_RESULT_DATA)]
        assert lengths == [chunk] * (1500 // chunk) + [1500 % chunk]


def test_an_output_that_ends_with_a_whole_chunk(with_role):
    bench = with_role()
    bench.launch(1, addr=BASE, length=2 * CHUNK, credit=9)
    assert [len(s.frame.payload) for s in bench.take(W.KIND_RESULT_DATA)] == [CHUNK, CHUNK]


def test_credit_is_never_passed(with_role):
    bench = with_output(with_role(), 9, 2)
    assert chunks(bench) == [0, 1]
    bench.ack(1, 1, 3)
    assert chunks(bench) == [2]
    bench.ack(1, 3, 3)
    assert chunks(bench) == []
    # An older acknowledgement takes no credit back.
    bench.ack(1, 3, 6)
    bench.ack(1, 1, 2)
    assert chunks(bench) == [3, 4, 5]
    bench.ack(1, 6, 2**32 - 1)
    assert chunks(bench) == [6, 7, 8, 9]


def test_no_credit_at_all_asks_for_news(with_role):
    bench = with_output(with_role(), 3, 0)
    assert chunks(bench) == []
    bench.ack(1, 0, 0)
    bench.clear()
    bench.board.run_for(2000)
    assert bench.frame(W.KIND_RESULT_DONE).flags == 1
    bench.ack(1, 0, 4)
    assert chunks(bench) == [0, 1, 2, 3]


def test_what_is_not_acknowledged_goes_out_again_ever_more_slowly(with_role):
    bench = with_output(with_role(), 2, 3)
    bench.clear()
    began = bench.board.time
    bench.board.run_for(2_000_000)
    done = bench.take(W.KIND_RESULT_DONE)
    assert all(s.frame.flags == 1 for s in done)
    assert [(s.at - began) // 1000 for s in done] == [2, 6, 14, 30, 62, 126, 254, 510, 1010, 1510]
    data = bench.take(W.KIND_RESULT_DATA)
    assert len(data) == 30 and all(s.frame.flags == 1 for s in data)
    assert (bench.count("result_resends"), bench.count("result_chunks")) == (40, 3)
    # What has arrived is left out; progress makes it quick again.
    bench.ack(1, 1, 3, beyond=(2,))
    bench.clear()
    began = bench.board.time
    bench.board.run_for(5000)
    data = bench.take(W.KIND_RESULT_DATA)
    assert [(s.frame.addr // CHUNK, (s.at - began) // 1000) for s in data] == [(1, 2)]
    assert not bench.take(W.KIND_RESULT_DONE)


def test_a_gap_is_mended_at_once_and_once(with_role):
    bench = with_output(with_role(), 19, 20)
    bench.clear()
    bench.ack(1, 2, 20, beyond=(4, 5, 8))
    assert chunks(bench) == [2, 3, 6, 7]
    bench.ack(1, 2, 20, beyond=(4, 5, 8, 9))
    assert chunks(bench) == []
    bench.ack(1, 2, 20, beyond=(4, 5, 8, 9, 12))
    assert chunks(bench) == [10, 11]
    # Lost again: the timer's turn.
    bench.board.run_for(3000)
    assert chunks(bench) == [2, 3, 6, 7, 10, 11, *range(13, 20)]


def test_the_host_can_always_tell_what_is_missing(with_role):
    # Never more than the bitmap's 256 beyond the first missing one.
    bench = with_output(with_role(), 600, 65_535)
    assert chunks(bench) == list(range(256))
    bench.ack(1, 100, 601)
    assert chunks(bench) == list(range(256, 356))
    bench.ack(1, 100, 601, beyond=(356,))
    assert chunks(bench) == [n for n in range(100, 356)][:0]
    bench.ack(1, 100, 601, beyond=(355,))
    assert chunks(bench) == list(range(100, 355))


def test_several_outputs_share_the_wire(with_role):
    bench = with_role()
    launch(bench, 1, 5, 0)
    launch(bench, 2, 2, 0)
    bench.board.fetches_left = 0
    # No room for fetches: the firmware does not sleep over it.
    for seq in (1, 2):
        frame = bench.head(W.KIND_EXEC_RESULT_ACK, seq).raw(struct.pack(">IIB39x", 0, 99, 1))
        bench.board.push_control(frame, 0)
    for _ in range(20):
        bench.board.turn()
    assert not bench.board.asleep
    bench.clear()
    bench.board.fetches_left = None
    bench.board.run()
    order = [(s.frame.seq, s.frame.addr // CHUNK) for s in bench.take(W.KIND_RESULT_DATA)]
    assert order == [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (1, 4), (1, 5)]
    bench.ack(2, 3, 3)
    bench.ack(1, 6, 6)
    bench.board.run_for(1_000_000)
    assert chunks(bench) == []


def test_the_turn_stays_whose_it_is_when_another_result_goes(with_role):
    bench = with_role(resend=500_000)
    board = bench.board
    for seq in (1, 2, 3):
        launch(bench, seq, 4, 0)
    board.fetches_left = 0
    for seq in (1, 2, 3):
        board.push_control(bench.head(W.KIND_EXEC_RESULT_ACK, seq).raw(struct.pack(">IIB39x", 0, 99, 1)), 0)
    for _ in range(20):
        board.turn()
    board.fetches_left = 4
    for _ in range(20):
        board.turn()
    order = lambda: [(s.frame.seq, s.frame.addr // CHUNK) for s in bench.take(W.KIND_RESULT_DATA)]  # noqa: E731
    assert order() == [(1, 0), (2, 0), (3, 0), (1, 1)]
    board.push_control(bench.head(W.KIND_EXEC_RESULT_ACK, 1).raw(struct.pack(">IIB39x", 5, 99, 1)), 0)
    for _ in range(20):
        board.turn()
    board.fetches_left = None
    board.run()
    assert order()[:4] == [(2, 1), (3, 1), (2, 2), (3, 2)]


def test_acknowledgements_of_nothing_do_no_harm(with_role):
    bench = with_output(with_role(), 2, 3)
    bench.clear()
    bench.ack(7, 0, 0)
    assert bench.count("drop_duplicate") == 1
    bench.ack(1, 4, 4)
    bench.ack(1, 0, 0, done=2)
    assert bench.count("drop_malformed") == 2
    bench.send(W.KIND_EXEC_RESULT_ACK, bytes(48), 1, epoch=bench.epoch ^ 1)
    assert (bench.count("drop_epoch"), bench.count("refusals")) == (1, 0)
    # Of chunks that were never sent.
    bench.launch(2, addr=BASE, length=9 * CHUNK)
    bench.ack(2, 5, 9, 0, beyond=(7,))
    assert chunks(bench) == [5, 6, 8]


def test_places_are_used_again_in_any_order(with_role):
    bench = with_role(resend=500_000)
    seq = 0
    for _ in range(3):
        for _ in range(32):
            seq += 1
            bench.board.kernels = lambda kernel, args, seq=seq: (0, seq, seq, 0)
            bench.launch(seq)
        told = bench.take(W.KIND_RESULT_DONE)
        values = [(s.frame.seq, number(s.frame.payload[8:16])) for s in told]
        assert values == [(n, n) for n in range(seq - 31, seq + 1)]
        for n in [*range(seq - 30, seq + 1, 2), *range(seq, seq - 32, -2)]:
            bench.ack(n, 0, 0)
            bench.ack(n - 1, 0, 0) if n % 5 == 0 else None
        for n in range(seq - 31, seq + 1):
            bench.ack(n, 0, 0)
    bench.clear()
    bench.board.run_for(2_000_000)
    bench.expect_nothing()


def test_results_end_with_the_claim(with_role):
    bench = with_output(with_role(), 5, 6)
    bench.claim(HOST, 2)
    bench.clear()
    bench.board.run_for(3_000_000)
    bench.expect_nothing()
