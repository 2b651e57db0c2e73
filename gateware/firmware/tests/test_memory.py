"""Writes, reads and their acknowledgements: what is left to the firmware."""

import struct

from addresses import RIVAL
from bench import BASE, Bench
from headers import C, W
from wire import Frame, number

MEMORY = 8 << 20
ACK_NOW = 2


def write(bench: Bench, seq: int, addr: int = BASE, data: bytes = b"x", **change: int) -> None:
    bench.send(W.KIND_INPUT_WRITE, data, seq, addr, **change)


def read(bench: Bench, seq: int, addr: int, length: int, **change: int) -> None:
    bench.send(W.KIND_INPUT_READ, struct.pack(">II", length, 0), seq, addr, **change)


def has(ack: Frame) -> set[int]:
    bits = int.from_bytes(ack.payload, "little")
    return {ack.seq + 1 + i for i in range(256) if bits >> i & 1}


def test_acknowledgements_wait_for_company_or_time(claimed):
    bench = claimed()
    for seq in range(1, 16):
        write(bench, seq)
    bench.expect_nothing()
    write(bench, 16)
    ack = bench.frame(W.KIND_INPUT_CONFIRM_WRITE_ACK)
    assert (ack.seq, ack.epoch, has(ack)) == (17, bench.epoch, set())
    at = bench.board.time
    write(bench, 17)
    bench.board.run_for(1000)
    ack = bench.expect(W.KIND_INPUT_CONFIRM_WRITE_ACK)
    assert (ack.frame.seq, ack.at - at) == (18, 20)
    bench.expect_nothing()


def test_acknowledgements_tell_what_is_there_wherever_the_ring_stands(claimed):
    for first in (1, 20, 31, 32, 33, 200, 255, 256, 257, 511):
        bench = claimed()
        for seq in range(1, first):
            write(bench, seq)
        bench.clear()
        there = {first + n for n in (1, 5, 31, 32, 33, 64, 100, 255, 256)}
        for seq in there:
            write(bench, seq)
        ack = bench.take(W.KIND_INPUT_CONFIRM_WRITE_ACK)[-1].frame
        assert (ack.seq, has(ack)) == (first, there), first


def test_an_acknowledgement_is_true_when_the_window_moves_meanwhile(claimed):
    """While the firmware reads the window, writes go on coming in."""
    for moved in (1, 3, 40, 255, 256, 300):
        bench = claimed()
        board = bench.board
        for seq in (3, 5, 256, 257):
            board.note(seq)
        reads = 0
        plain = board.read_register

        def racing(address, plain=plain, board=board, moved=moved):
            nonlocal reads
            if address == C.CSR_WIN_BITS + 16:
                reads += 1
                if reads == 1:
                    # Numbers up to 1 + moved come in, and some beyond.
                    for seq in range(board.window.next, 1 + moved):
                        board.note(seq)
                    board.note(board.window.next + 4)
            return plain(address)

        board.read_register = racing
        board.ack_at = board.time
        board.run()
        board.read_register = plain
        ack = bench.frame(W.KIND_INPUT_CONFIRM_WRITE_ACK)
        assert reads == 1
        assert ack.seq == board.window.next
        assert has(ack) <= board.window.beyond(), moved


def test_no_acknowledgement_without_a_claim(new):
    bench = new()
    bench.board.ack_at = 0
    bench.board.run()
    bench.expect_nothing()
    assert bench.board.ack_at is None


def test_the_bounds_are_exact(claimed):
    bench = claimed()
    cases = [
        (BASE, 1, True),
        (MEMORY - 1472, 1472, True),
        (BASE - 1, 1, False),
        (0, 8, False),
        (MEMORY - 8, 9, False),
        (MEMORY, 1, False),
        (2**64 - 1, 2, False),
    ]
    for seq, (addr, length, good) in enumerate(cases, 1):
        write(bench, seq, addr, bytes([9]) * length)
        read(bench, seq, addr, length)
        for _ in range(0 if good else 2):
            nak = bench.frame(W.KIND_INPUT_CONFIRM_NAK)
            assert (nak.seq, nak.addr, nak.code, nak.detail) == (seq, addr, W.ERROR_CODE_BAD_ADDRESS, MEMORY)
        if good:
            assert bench.frame(W.KIND_INPUT_CONFIRM_READ_DATA).payload == bytes([9]) * length
        bench.board.run_for(1000)
        # A refused write counts as received.
        assert bench.frame(W.KIND_INPUT_CONFIRM_WRITE_ACK).seq == seq + 1
    assert bench.count("refusals") == 10


def test_a_frame_larger_than_the_card_takes_is_refused(claimed):
    bench = claimed()
    write(bench, 1, BASE, bytes(1473))
    nak = bench.frame(W.KIND_INPUT_CONFIRM_NAK)
    assert (nak.code, nak.detail) == (W.ERROR_CODE_BAD_REQUEST, 1472)
    for length in (0, 1473, 2**32 - 1):
        read(bench, 5, BASE, length)
        nak = bench.frame(W.KIND_INPUT_CONFIRM_NAK)
        assert (nak.code, nak.detail, nak.seq) == (W.ERROR_CODE_BAD_REQUEST, 1472, 5)


def test_refused_writes_have_their_place_in_the_window(claimed):
    bench = claimed()
    write(bench, 1, 0)
    bench.expect(W.KIND_INPUT_CONFIRM_NAK)
    bench.expect_nothing()
    write(bench, 1, 0)
    assert bench.frame(W.KIND_INPUT_CONFIRM_WRITE_ACK).seq == 2
    assert bench.count("drop_duplicate") == 1
    write(bench, 300, 0)
    assert bench.frame(W.KIND_INPUT_CONFIRM_WRITE_ACK).seq == 2
    assert bench.count("drop_window") == 1
    write(bench, 2, 0, flags=ACK_NOW)
    assert bench.frame(W.KIND_INPUT_CONFIRM_NAK).seq == 2
    assert bench.frame(W.KIND_INPUT_CONFIRM_WRITE_ACK).seq == 3
    bench.expect_nothing()
    write(bench, 4, 0)
    assert bench.frame(W.KIND_INPUT_CONFIRM_NAK).seq == 4
    assert has(bench.frame(W.KIND_INPUT_CONFIRM_WRITE_ACK)) == {4}


def test_another_epoch_is_dropped_and_told(claimed):
    bench = claimed()
    present = bench.epoch
    for change in ({"epoch": bench.epoch + 1}, {"src": RIVAL}):
        write(bench, 1, **change)
        nak = bench.frame(W.KIND_INPUT_CONFIRM_NAK)
        assert (nak.code, nak.detail) == (W.ERROR_CODE_STALE_EPOCH, present)
        assert (nak.dst, nak.epoch) == (change.get("src", nak.dst), change.get("epoch", present))
        read(bench, 1, BASE, 8, **change)
        assert bench.frame(W.KIND_INPUT_CONFIRM_NAK).code == W.ERROR_CODE_STALE_EPOCH
    assert (bench.board.ddr[BASE], bench.count("drop_epoch"), bench.count("refusals")) == (0, 4, 4)


def test_scrubbing_waits_for_what_was_written(claimed):
    """A fetch comes first, which the hardware does after all writes before it."""
    bench = claimed()
    order = []
    plain = bench.board.write_register

    def watched(address, value):
        if address in (C.CSR_FET_GO, C.CSR_MEM_SCRUB_GO, C.CSR_FET_FLUSH):
            order.append((address, value))
        plain(address, value)

    bench.board.write_register = watched
    bench.send(W.KIND_SESSION_RELEASE, bytes([1]) + bytes(7))
    assert order == [(C.CSR_FET_FLUSH, 1), (C.CSR_FET_GO, 1), (C.CSR_MEM_SCRUB_GO, 1)]
    registers = bench.board.registers
    assert (registers[C.CSR_MEM_SCRUB_FIRST] * 64, (registers[C.CSR_MEM_SCRUB_LAST] + 1) * 64) == (BASE, MEMORY)
    assert number(bench.frame(W.KIND_SESSION_RELEASED).payload) == 0
