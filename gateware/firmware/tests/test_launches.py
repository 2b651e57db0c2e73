"""Launches: what is accepted and what is not, and how they end."""

import struct

from addresses import GROUPS, HOST, RIVAL
from bench import BASE, CLAIM_GROUP, Bench, launch_body
from headers import C, W
from images import image
from wire import number

MEMORY = 8 << 20
ENDLESS = 1 << 40


def take_us(us: int):
    return lambda kernel, args: (W.ERROR_CODE_OK, 7, 100 * us, us)


def refused(bench: Bench, seq: int) -> tuple[int, int]:
    no = bench.frame(W.KIND_RESULT_REFUSED)
    assert (no.dst, no.seq) == (HOST, seq)
    return no.code, no.detail


def done(bench: Bench) -> tuple[int, int]:
    frame = bench.frame(W.KIND_RESULT_DONE)
    return frame.seq, frame.code


def go(bench: Bench, number_: int, **change: int) -> None:
    bench.send(W.KIND_EXEC_GO, seq=number_, **{"dst": GROUPS | CLAIM_GROUP, "epoch": CLAIM_GROUP, **change})


def test_a_launch_is_accepted_and_ends_and_is_told_again(with_role):
    bench = with_role()
    bench.board.kernels = lambda kernel, args: (0, args[0] + kernel, 2_500, 25)
    started = bench.board.time
    bench.launch(1, args=(BASE,))
    accepted = bench.frame(W.KIND_RESULT_ACCEPTED)
    assert (accepted.seq, accepted.epoch, accepted.payload) == (1, bench.epoch, b"")
    bench.launch(1)
    assert bench.frame(W.KIND_RESULT_ACCEPTED).seq == 1
    bench.board.run_for(100)
    told = bench.frame(W.KIND_RESULT_DONE)
    assert struct.unpack(">HHIQQQQ", told.payload) == (0, 1472, 0, BASE, 2500, started * 1000, (started + 25) * 1000)
    for _ in range(3):
        bench.launch(1)
        again = bench.frame(W.KIND_RESULT_DONE)
        assert (again.payload, again.flags) == (told.payload, 1)
    bench.ack(1, 0, 0)
    bench.launch(1)
    assert refused(bench, 1) == (W.ERROR_CODE_UNKNOWN_LAUNCH, 0)
    counts = [bench.count(name) for name in ("launches", "drop_duplicate", "kernels_done", "kernel_cycles")]
    assert counts == [1, 5, 1, 2500]


def test_an_hour_is_told_as_such(with_role):
    bench = with_role()
    bench.board.kernels = take_us(3_600_000_000)
    bench.launch(1)
    started = bench.board.time
    for _ in range(1000):
        bench.board.run_for(4_000_000)
        bench.send(W.KIND_SESSION_PING)
    told = bench.take(W.KIND_RESULT_DONE)[0].frame.payload
    assert struct.unpack(">QQ", told[24:]) == (started * 1000, (started + 3_600_000_000) * 1000)


def test_one_that_ends_at_once_is_accepted_first(with_role):
    bench = with_role()
    bench.launch(1)
    assert [s.frame.name for s in bench.sent] == ["Result.Accepted", "Result.Done"]


def test_launches_are_taken_in_order(with_role):
    bench = with_role()
    bench.launch(2)
    bench.expect_nothing()
    assert bench.count("drop_window") == 1
    bench.launch(1)
    bench.launch(2)
    assert [s.frame.seq for s in bench.take(W.KIND_RESULT_DONE)] == [1, 2]
    bench.clear()
    bench.launch(0)
    assert refused(bench, 0)[0] == W.ERROR_CODE_UNKNOWN_LAUNCH


def test_each_fault_has_its_reason_and_uses_its_number_up(claimed, with_role):
    none = claimed()
    none.launch(1)
    assert done(none) == (1, W.ERROR_CODE_NO_ROLE)
    bench = with_role()
    cases = [
        (4, (BASE,), {}, W.ERROR_CODE_UNKNOWN_KERNEL),
        (2**64 - 1, (BASE,), {}, W.ERROR_CODE_UNKNOWN_KERNEL),
        (0, (), {}, W.ERROR_CODE_BAD_ARGUMENTS),
        (0, (1,) * 32, {}, W.ERROR_CODE_BAD_ARGUMENTS),
        *(
            (0, (BASE,), {"addr": addr, "length": length}, W.ERROR_CODE_BAD_ADDRESS)
            for addr, length in [(0, 8), (BASE - 1, 8), (MEMORY - 7, 8), (MEMORY, 1), (2**64 - 1, 2**64 - 1)]
        ),
    ]
    for seq, (kernel, args, out, code) in enumerate(cases, 1):
        bench.launch(seq, kernel, args, **out)
        told = bench.frame(W.KIND_RESULT_DONE)
        ns = bench.board.time * 1000
        assert struct.unpack(">HHIQQQQ", told.payload) == (code, 1472, 0, 0, 0, ns, ns)
        assert told.seq == seq
        # A late copy, whatever it asks for, gets the same answer and executes nothing.
        bench.launch(seq)
        assert done(bench) == (seq, code)
    assert (bench.count("refusals"), bench.count("launches"), bench.count("kernels_failed")) == (9, 0, 0)
    bench.launch(10, 0, (BASE,), addr=MEMORY - 8, length=8)
    bench.expect(W.KIND_RESULT_ACCEPTED)
    bench.clear()
    bench.launch(11)
    bench.clear()
    bench.send(W.KIND_EXEC_LAUNCH, launch_body((BASE,)), 12, src=RIVAL)
    no = bench.frame(W.KIND_RESULT_REFUSED)
    assert (no.dst, no.code, no.detail) == (RIVAL, W.ERROR_CODE_STALE_EPOCH, bench.epoch)


def test_the_queue_and_the_results_kept_are_bounded(with_role):
    bench = with_role(resend=500_000)
    bench.board.kernels = take_us(10)
    for seq in range(1, 17):
        bench.launch(seq, go=1 if seq == 1 else 0)
        bench.expect(W.KIND_RESULT_ACCEPTED)
    bench.launch(17)
    assert refused(bench, 17) == (W.ERROR_CODE_BUSY, W.LAUNCH_QUEUE)
    go(bench, 1)
    bench.board.run_for(1000)
    for seq in range(17, 33):
        bench.launch(seq)
        bench.board.run_for(20)
    bench.clear()
    bench.launch(33)
    assert refused(bench, 33) == (W.ERROR_CODE_BUSY, W.RESULTS_KEPT)
    assert bench.board.bound == bench.board.tail == bench.board.popped
    bench.ack(1, 0, 0)
    bench.launch(33)
    assert bench.frame(W.KIND_RESULT_ACCEPTED).seq == 33


def test_held_launches_start_with_their_go(with_role):
    bench = with_role()
    bench.launch(1, go=5)
    bench.launch(2)
    bench.launch(3, go=6)
    bench.clear()
    for change in ({"src": RIVAL}, {"epoch": CLAIM_GROUP + 1}, {"epoch": bench.epoch}):
        go(bench, 5, **change)
    assert bench.count("drop_epoch") == 3
    bench.expect_nothing()
    go(bench, 6)
    bench.expect_nothing()
    go(bench, 5)
    go(bench, 5)
    assert [done(bench)[0] for _ in range(3)] == [1, 2, 3]


def test_failures_are_reported_and_have_no_output(with_role):
    bench = with_role()
    fate = {1: W.ERROR_CODE_KERNEL_TRAP, 2: W.ERROR_CODE_KERNEL_FUEL, 3: W.ERROR_CODE_OK}
    bench.board.kernels = lambda kernel, args: (fate[args[0]], 0, 10, 5)
    for seq in fate:
        bench.launch(seq, args=(seq,), addr=BASE, length=4096, credit=0)
    bench.board.run_for(100)
    told = [s.frame for s in bench.take(W.KIND_RESULT_DONE)]
    assert [f.code for f in told] == list(fate.values())
    assert [number(f.payload[4:8]) for f in told] == [0, 0, 3]
    assert (bench.count("kernels_failed"), bench.count("kernels_done"), bench.count("kernel_cycles")) == (2, 1, 30)


def test_a_launch_can_be_cancelled_wherever_it_is(with_role):
    bench = with_role()
    bench.board.kernels = take_us(ENDLESS)
    bench.launch(1)
    bench.launch(2, go=1)
    bench.launch(3)
    bench.clear()
    bench.board.run_for(50)
    bench.send(W.KIND_EXEC_CANCEL, seq=2)
    told = bench.frame(W.KIND_RESULT_DONE)
    ns = bench.board.time * 1000
    # It never ran: the registers tell of another.
    assert struct.unpack(">HHIQQQQ", told.payload) == (W.ERROR_CODE_CANCELLED, 1472, 0, 0, 0, ns, ns)
    bench.board.kernels = take_us(5)
    bench.send(W.KIND_EXEC_CANCEL, seq=1)
    assert done(bench) == (1, W.ERROR_CODE_CANCELLED)
    bench.board.run_for(100)
    assert done(bench) == (3, W.ERROR_CODE_OK)
    # One that is done stays so; one that is not known is refused.
    bench.send(W.KIND_EXEC_CANCEL, seq=3)
    assert done(bench) == (3, W.ERROR_CODE_OK)
    bench.send(W.KIND_EXEC_CANCEL, seq=9)
    assert refused(bench, 9)[0] == W.ERROR_CODE_UNKNOWN_LAUNCH


def test_cancelled_launches_leave_the_others_in_order(with_role):
    bench = with_role()
    # The ring of launches goes round several times.
    waiting, seq = [], 0
    for turn in range(6):
        while len(waiting) < 16:
            seq += 1
            bench.launch(seq, go=5 + seq % 2)
            waiting.append(seq)
        bench.clear()
        for gone in waiting[turn::3] + waiting[(turn + 1) % 3 :: 3]:
            bench.send(W.KIND_EXEC_CANCEL, seq=gone)
            assert done(bench) == (gone, W.ERROR_CODE_CANCELLED)
            bench.ack(gone, 0, 0)
            waiting.remove(gone)
    go(bench, 6)
    expected = [seq for seq in waiting if all(other % 2 for other in waiting[: waiting.index(seq) + 1])]
    assert [s.frame.seq for s in bench.take(W.KIND_RESULT_DONE)] == expected
    go(bench, 5)
    assert [s.frame.seq for s in bench.take(W.KIND_RESULT_DONE)] == waiting[len(expected) :]


def test_a_query_tells_what_became_of_a_launch(with_role):
    bench = with_role()
    bench.board.kernels = take_us(100)
    bench.launch(1)
    bench.clear()
    bench.send(W.KIND_EXEC_QUERY, seq=1)
    bench.expect(W.KIND_RESULT_ACCEPTED)
    bench.board.run_for(200)
    bench.clear()
    bench.send(W.KIND_EXEC_QUERY, seq=1)
    assert done(bench) == (1, 0)
    bench.send(W.KIND_EXEC_QUERY, seq=2)
    assert refused(bench, 2)[0] == W.ERROR_CODE_UNKNOWN_LAUNCH
    for kind in (W.KIND_EXEC_QUERY, W.KIND_EXEC_CANCEL):
        bench.send(kind, seq=1, epoch=bench.epoch ^ 1)
        assert bench.frame(W.KIND_RESULT_REFUSED).code == W.ERROR_CODE_STALE_EPOCH


def test_a_new_image_ends_what_runs_and_what_waits_in_order(with_role):
    bench = with_role()
    bench.board.kernels = take_us(ENDLESS)
    # The oldest launch is not in the first slot, and the role of its slot is played by a later one.
    bench.launch(1, go=9)
    bench.launch(2)
    bench.send(W.KIND_EXEC_CANCEL, seq=1)
    for seq in (3, 4, 5):
        bench.launch(seq)
    bench.clear()
    bench.load(2, image(manifest=b"{}"))
    told = [(s.frame.seq, s.frame.code) for s in bench.take(W.KIND_RESULT_DONE) if not s.frame.flags]
    assert told == [(seq, W.ERROR_CODE_CANCELLED) for seq in (2, 3, 4, 5)]
    # Numbers go on where they were.
    bench.board.kernels = take_us(1)
    bench.clear()
    bench.launch(6)
    assert bench.frame(W.KIND_RESULT_ACCEPTED).seq == 6


def test_numbers_wrap(with_role):
    bench = with_role()
    bench.board.lch_last = 2**32 - 2
    for seq in (2**32 - 1, 0, 1):
        bench.launch(seq)
        assert bench.frame(W.KIND_RESULT_ACCEPTED).seq == seq
        assert done(bench) == (seq, 0)
    bench.launch(2**32 - 1)
    assert done(bench)[0] == 2**32 - 1
