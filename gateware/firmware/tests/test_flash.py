"""Boards whose configuration port writes a flash: an image is there after a restart."""

import pytest
from bench import Bench
from golden import digest
from headers import C, W
from images import image, part
from wire import number

CONFIG_US = 300
ITSELF, REFRESH = W.RESTART_ITSELF, W.RESTART_REFRESH


def stage_and_commit(bench: Bench, seq: int, data: bytes) -> None:
    bench.begin(seq, data)
    bench.chunks(data)
    bench.board.run_for(1000)
    bench.clear()
    bench.commit(1000 + seq)
    bench.board.run_for(1000)
    bench.take(W.KIND_IMAGE_CONFIRM_COMMITTED)


def state(bench: Bench) -> int:
    bench.send(W.KIND_SESSION_PING, seq=7)
    return bench.take(W.KIND_SESSION_PONG)[-1].frame.payload[4]


def other() -> bytes:
    return image({"filler": b"another one", "rtl": part()})


@pytest.mark.parametrize("restart", [ITSELF, REFRESH])
def test_a_committed_image_is_written_and_the_card_says_what_it_awaits(claimed, restart):
    bench = claimed(config_us=CONFIG_US, restart=restart)
    data = image()
    stage_and_commit(bench, 1, data)
    said = bench.frame(W.KIND_IMAGE_CONFIRM_WRITTEN)
    assert (said.seq, said.payload[:32]) == (1001, digest(data))
    assert number(said.payload[32:40]) == CONFIG_US * 1000
    assert said.payload[40:] == bytes([restart]) + bytes(7)
    assert bench.board.configured == [digest(data)]
    # No role, and a state of its own; the role stays cut off.
    assert state(bench) == W.CARD_STATE_WRITTEN
    assert not bench.board.field(C.CSR_SESSION, C.SESSION_ROLE)
    assert bench.board.role_ctrl == C.ROLE_CTRL_ISOLATE | C.ROLE_CTRL_RESET
    assert (bench.count("images_activated"), bench.count("images_failed")) == (0, 0)
    # Asked again, it says so again.
    bench.poll(9)
    assert bench.frame(W.KIND_IMAGE_CONFIRM_WRITTEN).seq == 9


def test_an_image_that_is_in_the_flash_is_not_written_again(claimed):
    bench = claimed(config_us=CONFIG_US, restart=REFRESH)
    data = image()
    for seq in (1, 2, 3):
        stage_and_commit(bench, seq, data)
        assert bench.frame(W.KIND_IMAGE_CONFIRM_WRITTEN).payload[:32] == digest(data)
    assert bench.board.configured == [digest(data)]
    # Another one is, and so is the first one after it.
    stage_and_commit(bench, 4, other())
    stage_and_commit(bench, 5, data)
    assert bench.board.configured == [digest(data), digest(other()), digest(data)]


def test_the_image_that_the_device_has_booted_is_active_at_once(claimed):
    bench = claimed(config_us=CONFIG_US, restart=ITSELF)
    data = image()
    bench.board.booted = digest(data)
    stage_and_commit(bench, 1, data)
    active = bench.frame(W.KIND_IMAGE_CONFIRM_ACTIVE)
    assert active.payload == digest(data) + bytes(8)
    assert bench.board.configured == []
    assert (bench.board.role_ctrl, bench.board.registers[C.CSR_LCH_ENABLE]) == (0, 1)
    assert state(bench) == W.CARD_STATE_ACTIVE
    # Until another one is written: then the role is gone.
    stage_and_commit(bench, 2, other())
    assert bench.frame(W.KIND_IMAGE_CONFIRM_WRITTEN).payload[:32] == digest(other())
    assert state(bench) == W.CARD_STATE_WRITTEN
    stage_and_commit(bench, 3, data)
    bench.expect(W.KIND_IMAGE_CONFIRM_ACTIVE)


def test_a_port_that_fails_says_why(claimed):
    bench = claimed(config_us=CONFIG_US, restart=ITSELF)
    bench.board.config_fails, bench.board.config_code = True, 27
    stage_and_commit(bench, 1, image())
    failed = bench.frame(W.KIND_IMAGE_CONFIRM_FAILED)
    assert failed.code == W.ERROR_CODE_IMAGE_PART
    assert failed.payload[8:] == b"the configuration port refuses the part: error 027"
    assert state(bench) == W.CARD_STATE_EMPTY
    # What has failed is not in the flash.
    bench.board.config_fails = False
    stage_and_commit(bench, 2, image())
    bench.expect(W.KIND_IMAGE_CONFIRM_WRITTEN)
    assert len(bench.board.configured) == 2


def test_the_board_learns_whether_a_host_holds_the_card(claimed):
    bench = claimed(restart=ITSELF)
    assert bench.board.field(C.CSR_SESSION, C.SESSION_CLAIMED)
    bench.send(W.KIND_SESSION_RELEASE, bytes(8), seq=9)
    assert not bench.board.field(C.CSR_SESSION, C.SESSION_CLAIMED)
