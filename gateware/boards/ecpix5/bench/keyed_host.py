"""A host with keys at the other end of the line, and what a programmer has put into the board's flash for it."""

import struct
from dataclasses import replace

import golden
import golden_sign
from flash_contents import layout
from golden_guard import TRAILER, Session
from host import CARD, GROUP, Host
from wire import CONST, FLAG, Frame, frame, mac, number, unpack

import store

NUMBER = 0x0102
KEY = bytes(range(16, 32))  # The card's.
SECRET = bytes([1]) * 32  # Of a signer whom it knows.
KEYS = store.Keys(CARD.to_bytes(6, "big"), ((KEY, 0),), (store.Host(NUMBER, 0),), (store.Signer(golden_sign.signer(SECRET), "lab"),))
SIZE = replace(store.Size(), roles=2)  # rl_ecpix5_bench's.


def provisioned(keys: store.Keys = KEYS, versions: store.Versions | None = None) -> list[tuple[int, bytes]]:
    """The store as the tool makes it, as contents of the flash. What is erased of it is left out."""
    data = store.region(keys, versions or {}, 1, SIZE)
    return [(layout.KEYS + at, data[at : at + 4096].rstrip(b"\xff")) for at in (*store.COPIES, store.LOGS[0])]


class KeyedHost(Host):
    """It claims the card under a key, and all that follows has a tag."""

    address = mac("06:01:02:00:08:08")
    chunk = CONST.BULK_STANDARD // 64 * 64 - 64

    def __init__(self, *given, key: bytes = KEY, **more):
        super().__init__(*given, **more)
        self.pair = golden.mac(key, struct.pack("<BQI", 2, NUMBER, 0), derive=True)
        self.session: Session | None = None
        self.boot = 0
        self.counter = 1 << 40

    def meets(self) -> Frame:
        """The card announces itself, and its boot number."""
        hello = super().meets()
        self.session = None
        self.boot = unpack("Announce", hello.payload).boot
        return hello

    def opened(self, got: bytes) -> bytes:
        """The frame without its tag, which has to be right."""
        if not got[14] & FLAG.AUTH:
            return got
        end = CONST.HEADER_END + int.from_bytes(got[16:18], "big")
        message, (_, counter, tag) = got[:end], TRAILER.unpack_from(got, end)
        plain = bytearray(message.ljust(CONST.FRAME_MIN, b"\0"))
        plain[14] &= ~FLAG.AUTH
        head = Frame.parse(bytes(plain))
        if head.name == "Session.Grant":
            key = golden.mac(self.pair, b"\3", derive=True)
            agreed = (4, number(head.payload[:8]), number(head.payload[16:24]), self.boot, head.epoch)
            self.session = Session(self.address, head.epoch, self.boot, golden.mac(self.pair, struct.pack("<BQQIH", *agreed), derive=True))
        else:
            key = golden.mac(self.pair, b"\3", derive=True) if head.name == "Session.Refuse" else self.session.key
        assert golden.tag(key, message, boot=self.boot, to_host=True, counter=counter) == tag, head.name
        return bytes(plain)

    def tagged(self, body: bytes) -> bytes:
        """The frame with the tag that it needs, if it needs one."""
        name = Frame.parse(body).name
        if name == "Session.Claim":
            self.counter += 1
            length = int.from_bytes(body[16:18], "big")
            message = bytearray(body[: CONST.HEADER_END + length])
            message[14] |= FLAG.AUTH
            key = golden.mac(self.pair, b"\3", derive=True)
            made = golden.tag(key, bytes(message), boot=self.boot, to_host=False, counter=self.counter)
            return bytes(message) + TRAILER.pack(0, self.counter, made)
        if name == "Image.Data" or self.session is None:
            return body
        return self.session.tagged(body)

    def send(self, *frames: bytes) -> None:
        """Puts them on the line, with tags."""
        super().send(*map(self.tagged, frames))

    def claim(self, nonce: int = 99) -> None:
        """Claims the card."""
        claim = frame("Session.Claim", dst=CARD, src=self.address, seq=1, nonce=nonce, lease_ms=60000, group=GROUP, beats=22)
        self.send(claim)
        grant = self.hears("Session.Grant", "Session.Refuse")
        assert grant.name == "Session.Grant" and number(grant.payload[:8]) == nonce
        self.epoch = grant.epoch
