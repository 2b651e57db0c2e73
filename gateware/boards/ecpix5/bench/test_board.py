"""The whole board but for its memory, on the line: it boots, announces itself, is claimed, written and read.

`board.cpp` runs it. cocotb, which has to reach each signal, takes ten times as long to build.
"""

import os
import random
import subprocess
from pathlib import Path

import pytest

from line import PREAMBLE
from line import wire as on_line
from runner import ROOT
from sources import closure, files
from wire import ADDRESS, CONST, ENUM, FLAG, Frame, frame, mac, unpack

HERE = Path(__file__).parent
CORE = ROOT / "out/boards/ecpix5/ethernet_core.v"
OUT = ROOT / "out/tb/rl_ecpix5_bench"
TOP = "rl_ecpix5_bench"
CARD = mac("02:52:4c:ec:05:01")
HOST = mac("02:00:00:00:00:07")


@pytest.fixture(scope="module")
def program() -> Path:
    """The board as a program."""
    given = {path.stem: path for path in [*HERE.glob("*.sv"), CORE]}
    flags = ["--cc", "--exe", "--build", "-j", "2", "--no-timing", "--assert", "-Wno-fatal", "-Wno-lint", "-O3", "-CFLAGS", "-O1"]
    command = ["verilator", *flags, "--top-module", TOP, "--Mdir", OUT, *closure([TOP], files() | given), HERE / "board.cpp"]
    OUT.mkdir(parents=True, exist_ok=True)
    subprocess.run(command, check=True, env=os.environ)
    return OUT / f"V{TOP}"


class Host:
    """A host at the other end of the line."""

    def __init__(self, program: Path):
        self.board = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.heard: list[bytes] = []
        self.lamps: list[int] = []

    def send(self, *frames: bytes) -> None:
        """Puts frames on the line."""
        self.say(*(f"send {on_line(body).hex()}" for body in frames))

    def say(self, *lines: str) -> None:
        """Tells the program."""
        self.board.stdin.write("".join(f"{line}\n" for line in lines))
        self.board.stdin.flush()

    def run(self, us: int) -> None:
        """Lets time pass."""
        self.say(f"run {us}")
        for line in self.board.stdout:
            word, *values = line.split()
            if word == "done":
                self.lamps = [int(value, 16) for value in values]
                return
            self.heard.append(bytes.fromhex(values[0]))
        raise AssertionError("the board has stopped")

    def hears(self, *names: str):
        """The next frame from the card that is one of these."""
        for _ in range(200):
            while self.heard:
                got = self.heard.pop(0)
                assert got[:8] == PREAMBLE and on_line(got[8:-4]) == got
                head = Frame.parse(got[8:-4])
                assert head.src == CARD
                if head.name in names:
                    return head
            self.run(20)
        raise AssertionError(f"the card does not say {names}")


@pytest.fixture
def host(program):
    """A host, and a card that has booted."""
    host = Host(program)
    hello = host.hears("Discovery.Announce")
    assert hello.dst == ADDRESS.HOSTS
    yield host
    host.board.kill()
    host.board.wait()


def read(count: int, **head: int) -> bytes:
    """A read of so many bytes. Its field is called as the header's."""
    asked = bytearray(frame("Input.Read", **head))
    asked[CONST.HEADER_END : CONST.HEADER_END + 4] = count.to_bytes(4, "big")
    return bytes(asked)


def test_it_says_what_it_is(host):
    host.send(frame("Discovery.Solicit", dst=ADDRESS.CARDS, src=HOST, seq=77, window_us=0))
    answer = host.hears("Discovery.Announce")
    assert answer.dst == HOST and answer.seq == 77
    card = unpack("Announce", answer.payload)
    assert card.mac0 == CARD and card.card_kind == ENUM["CardKind"]["Board"] and card.unit == 1 and card.ports == 1
    assert card.memory == 256 << 20 and card.clock_khz == 75000 and card.port_rate == 10**9
    assert card.bulk == CONST.BULK_STANDARD
    # Nothing is broken, and memory is there.
    assert host.lamps[0] == 0b1111 and host.lamps[1] & 1 == 0


def test_memory_keeps_what_is_written(host):
    host.send(frame("Session.Claim", dst=CARD, src=HOST, seq=1, nonce=99, lease_ms=60000, group=5))
    grant = host.hears("Session.Grant")
    assert unpack("Grant", grant.payload).nonce == 99
    random.seed(1)
    # Neither begins nor ends with a beat: strobes and all parts of beats are used.
    data = random.randbytes(6 * CONST.BULK_STANDARD + 33)
    base = CONST.ROLE_PRIVATE + 8003
    parts = [(at, data[at : at + CONST.BULK_STANDARD]) for at in range(0, len(data), CONST.BULK_STANDARD)]
    about = {"dst": CARD, "src": HOST, "epoch": grant.epoch}
    host.send(
        *(
            frame("Input.Write", **about, seq=n, addr=base + at, payload=part, flags=FLAG.ACK_NOW)
            for n, (at, part) in enumerate(parts, 1)
        )
    )
    while host.hears("InputConfirm.WriteAck").seq != len(parts) + 1:
        pass
    got = b""
    for n, (at, part) in enumerate(parts, 1):
        host.send(read(len(part), **about, seq=n, addr=base + at))
        answer = host.hears("InputConfirm.ReadData", "InputConfirm.Nak")
        assert answer.name == "InputConfirm.ReadData" and answer.seq == n
        got += answer.payload
    assert got == data


def test_a_wrong_check_sequence_is_not_taken(host):
    ask = frame("Discovery.Solicit", dst=ADDRESS.CARDS, src=HOST, seq=5, window_us=0)
    host.say(f"send {on_line(ask, flip=8 * 20).hex()}")
    host.run(100)
    assert not host.heard
    host.send(ask)
    assert host.hears("Discovery.Announce").seq == 5
