"""Payloads of the wrong length: each is counted as malformed, and nothing else happens."""

import struct

import pytest
from bench import BASE, Bench, launch_body
from headers import W
from images import image

GROUPED = (W.KIND_IMAGE_POLL, W.KIND_IMAGE_COMMIT, W.KIND_IMAGE_ABORT)
GOOD = {
    W.KIND_DISCOVERY_SOLICIT: struct.pack(">II", 100, 0),
    W.KIND_SESSION_CLAIM: struct.pack(">QIHBB", 1, 5000, 0, 0, 0),
    W.KIND_SESSION_RELEASE: bytes(8),
    W.KIND_SESSION_PING: b"",
    W.KIND_SESSION_COUNTERS_GET: b"",
    W.KIND_SESSION_MANIFEST_GET: b"",
    W.KIND_SESSION_WINDOW_SET: bytes(24),
    W.KIND_IMAGE_BEGIN: bytes(48),
    W.KIND_IMAGE_POLL: bytes(8),
    W.KIND_IMAGE_COMMIT: b"",
    W.KIND_IMAGE_ABORT: b"",
    W.KIND_INPUT_READ: struct.pack(">II", 8, 0),
    W.KIND_EXEC_LAUNCH: launch_body((BASE, 1)),
    W.KIND_EXEC_GO: b"",
    W.KIND_EXEC_CANCEL: b"",
    W.KIND_EXEC_QUERY: b"",
    W.KIND_EXEC_RESULT_ACK: bytes(48),
}


def send(bench: Bench, kind: int, payload: bytes) -> None:
    to = bench.send_group if kind in GROUPED else bench.send
    to(kind, payload, 1)


@pytest.mark.parametrize("kind", GOOD)
def test_a_payload_of_another_length_is_malformed(with_role, kind):
    bench = with_role()
    bench.begin(2, image(manifest=b"{}"))
    bench.clear()
    good = GOOD[kind]
    wrong = [good[:n] for n in range(len(good))] + [good + b"\0", good + bytes(1400)]
    for payload in wrong:
        send(bench, kind, payload)
    bench.expect_nothing()
    assert bench.count("drop_malformed") == len(wrong)
    send(bench, kind, good)
    assert bench.count("drop_malformed") == len(wrong)


def test_more_arguments_than_any_kernel_takes_are_malformed(with_role):
    bench = with_role()
    bench.send(W.KIND_EXEC_LAUNCH, launch_body((0,) * 33), 1)
    bench.expect_nothing()
    assert bench.count("drop_malformed") == 1


def test_a_kind_that_should_not_come_is_counted(claimed):
    bench = claimed()
    bench.send(W.KIND_RESULT_DONE, bytes(40))
    bench.expect_nothing()
    assert bench.count("drop_kind") == 1
