"""A host at the other end of the line, and the device with its flash: what it runs is what the flash says.

`board.cpp` runs the board. cocotb, which has to reach each signal, takes ten times as long to build.
"""

import os
import subprocess
from pathlib import Path

from flash_contents import GOLDEN_IMAGE, device, layout
from line import PREAMBLE
from line import wire as on_line
from runner import ROOT
from sources import closure, files
from wire import ADDRESS, CONST, FLAG, Frame, frame, mac, unpack

HERE = Path(__file__).parent
CORE = ROOT / "out/boards/ecpix5/ethernet_core.v"
TOP = "rl_ecpix5_bench"
CARD = mac("02:52:4c:ec:05:01")
HOST = mac("02:00:00:00:00:07")
GROUP = 5
US_MAX = 400_000  # Longer than anything here takes, unless a host says otherwise.


def build(wired: bool = True, keys: bool = False) -> Path:
    """The board as a program."""
    out = ROOT / f"out/tb/{TOP}-{'wired' if wired else 'not_wired'}{'-keys' if keys else ''}"
    models = [ROOT / "gateware/tb/config/flash_chip.sv", ROOT / "gateware/tb/phy/phy_model.sv"]
    given = {path.stem: path for path in [*HERE.glob("*.sv"), *models, CORE]}
    flags = ["--cc", "--exe", "--build", "-j", "2", "--no-timing", "--assert", "-Wno-fatal", "-Wno-lint", "-O3", "-CFLAGS", "-O1"]
    flags += [f"-GWired={int(wired)}", f"-GKeys={int(keys)}"]
    sources = [*closure([TOP], files() | given), HERE / "board.vlt", HERE / "board.cpp"]
    out.mkdir(parents=True, exist_ok=True)
    command = ["verilator", *flags, "--top-module", TOP, "--Mdir", out, *sources]
    done = subprocess.run(command, check=False, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return out / f"V{TOP}"


class Refused(Exception):
    """The card does not take the image, and says why."""


class Host:
    """A host, and the board."""

    address = HOST
    us_max = US_MAX
    chunk = CONST.BULK_STANDARD // 64 * 64  # Bytes of an image in a frame.

    def __init__(self, program: Path, *contents: tuple[int, bytes], options: tuple[str, ...] = ()):
        """The flash is as it comes from the factory, with these pairs of address and bytes. Power is off."""
        self.board = subprocess.Popen([program, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.heard: list[bytes] = []
        self.lamps: list[int] = []
        self.leaves = self.awaits = self.serves = self.confirmed = False
        self.image: device.Image | None = None
        self.epoch = 0
        self.us = 0
        for where in (layout.GOLDEN, layout.SECOND_GOLDEN):
            self.burn(where, GOLDEN_IMAGE)
        self.burn(layout.JUMP, layout.jump(layout.SECOND_GOLDEN))
        for where, data in contents:
            self.burn(where, data)

    def close(self) -> None:
        """Ends the program."""
        self.board.kill()
        self.board.wait()

    # ---- the program
    def say(self, *lines: str) -> None:
        """Tells the program."""
        self.board.stdin.write("".join(f"{line}\n" for line in lines))
        self.board.stdin.flush()

    def send(self, *frames: bytes) -> None:
        """Puts frames on the line."""
        self.say(*(f"send {on_line(body).hex()}" for body in frames))

    def answer(self, wanted: str) -> list[str]:
        """The program's next line of this kind."""
        for line in self.board.stdout:
            word, *values = line.split()
            if word == wanted:
                return values
            self.heard.append(bytes.fromhex(values[0]))
        raise AssertionError("the board has stopped")

    def run(self, us: int) -> None:
        """Lets time pass."""
        self.say(f"run {us}")
        self.us += us
        *self.lamps, self.leaves, self.awaits, self.serves, self.confirmed = (
            int(value, 16) for value in self.answer("done")
        )

    # ---- the device
    def burn(self, where: int, data: bytes) -> None:
        """Puts bytes into the flash, past all of its rules."""
        self.say(f"burn {where} {data.hex()}")

    def read(self, where: int, count: int) -> bytes:
        """What is in the flash. An image's padding is not longer than it is here."""
        count = min(count, 512 if count == device.SEARCH else count, (1 << 24) - where)
        self.say(f"flash {where} {count}")
        return bytes.fromhex(self.answer("bytes")[0])

    def state(self) -> layout.Record:
        """What the records say."""
        sectors = [self.read(layout.RECORDS + n * layout.UNIT, 8 * layout.RECORD_BYTES) for n in range(2)]
        return layout.newest(sectors) or layout.Record()

    def start(self, where: int) -> None:
        """The device boots from this address."""
        self.image = device.boot(self.read, where)
        assert self.image is not None, f"nothing boots from {where:06x}"
        self.heard.clear()
        self.say(f"boot {'golden' if self.image.name == 'golden' else 'application'}")
        self.run(1)

    def power_down(self) -> None:
        """Power goes."""
        self.say("power 0")
        self.image = None

    def power_up(self) -> str:
        """Power comes: the golden image runs, and perhaps an application after it, whose name it gives."""
        self.say("power 1")
        self.start(0)
        return self.follow()

    def follow(self) -> str:
        """Boots until an image stays, for this moment: the golden one serves, or an application runs."""
        for _ in range(12):
            if self.image.name != "golden":
                return self.image.name
            self.until(lambda: self.leaves or self.serves)
            if not self.leaves:
                return "golden"
            self.start(self.image.boot_address)
        raise AssertionError("it never settles")

    def until(self, holds, step: int = 50) -> None:
        """Lets time pass until this holds."""
        end = self.us + self.us_max
        while not holds():
            assert self.us < end, "it never comes to that"
            self.run(step)

    # ---- frames
    def hears(self, *names: str) -> Frame:
        """The next frame from the card that is one of these."""
        end = self.us + self.us_max
        while self.us < end:
            while self.heard:
                got = self.heard.pop(0)
                assert got[:8] == PREAMBLE and on_line(got[8:-4]) == got
                head = Frame.parse(self.opened(got[8:-4]))
                assert head.src == CARD
                if head.name in names:
                    return head
            assert not self.leaves, f"the device has left its image, and nobody said {names}"
            self.run(20)
        raise AssertionError(f"the card does not say {names}")

    def opened(self, got: bytes) -> bytes:
        """A frame as it was before it was sealed."""
        return got

    def meets(self) -> Frame:
        """The card announces itself."""
        hello = self.hears("Discovery.Announce")
        assert hello.dst == ADDRESS.HOSTS
        return hello

    def claim(self, nonce: int = 99) -> None:
        """Claims the card."""
        self.send(frame("Session.Claim", dst=CARD, src=self.address, seq=1, nonce=nonce, lease_ms=60000, group=GROUP))
        grant = self.hears("Session.Grant")
        assert unpack("Grant", grant.payload).nonce == nonce
        self.epoch = grant.epoch

    def about(self, **more) -> dict:
        """The head of a frame of the owner."""
        return {"dst": CARD, "src": self.address, "epoch": self.epoch, **more}

    def stage(self, image: bytes, digest: bytes, seq: int = 1) -> None:
        """Sends an image until the card has checked it."""
        size = self.chunk
        begin = {"length": len(image), "chunk": size, "group": GROUP, "members": 1, "digest": digest}
        self.send(frame("Image.Begin", **self.about(seq=seq), **begin))
        self.hears("ImageConfirm.Ready")
        to_load = self.about(epoch=GROUP)
        self.send(*(frame("Image.Data", **to_load, addr=at, payload=image[at : at + size]) for at in range(0, len(image), size)))
        said = self.hears("ImageConfirm.Staged", "ImageConfirm.Failed")
        if said.name != "ImageConfirm.Staged":
            raise Refused(said.payload[8:].rstrip(b"\0").decode())

    def commit(self, seq: int = 500) -> None:
        """Commits what is staged."""
        self.send(frame("Image.Commit", **self.about(epoch=GROUP, seq=seq)))

    def write(self, parts: list[tuple[int, bytes]], first: int = 1) -> None:
        """Writes these bytes at these addresses; until all of it is acknowledged."""
        self.send(
            *(
                frame("Input.Write", **self.about(seq=n), addr=at, payload=data, flags=FLAG.ACK_NOW)
                for n, (at, data) in enumerate(parts, first)
            )
        )
        while self.hears("InputConfirm.WriteAck").seq != first + len(parts):
            pass

    def fetch(self, where: int, count: int, seq: int) -> bytes:
        """Reads the card's memory."""
        asked = bytearray(frame("Input.Read", **self.about(seq=seq), addr=where))
        # Its field is called as the header's.
        asked[CONST.HEADER_END : CONST.HEADER_END + 4] = count.to_bytes(4, "big")
        self.send(bytes(asked))
        answer = self.hears("InputConfirm.ReadData", "InputConfirm.Nak")
        assert answer.name == "InputConfirm.ReadData" and answer.seq == seq
        return answer.payload
