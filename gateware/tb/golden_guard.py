"""The model of a card with a key, from the Rust crates: which frames it takes, and the tags of what it says. See `golden`.

The keys are made here as docs/src/reference/keys.md has them, and not by the library: who brings them to a card's
gateware makes them too.
"""

import ctypes
import struct
import weakref
from ctypes import POINTER, byref, c_char_p, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass

import golden
from wire import CONST, FLAG


class _Guarded(ctypes.Structure):
    _fields_ = [("verdict", golden._Verdict), ("proven", c_uint8)]


class _Claim(ctypes.Structure):
    _fields_ = [*((name, c_uint64) for name in ("owner", "host_nonce", "card_nonce")), ("epoch", c_uint16)]


_BYTES = (c_char_p, c_size_t)
golden.declare(
    {
        "guard_new": (c_char_p, c_uint16, c_uint32, POINTER(c_void_p)),
        "guard_free": (c_void_p,),
        "guard_begin": (c_void_p, c_uint64, POINTER(_Claim)),
        "guard_end": (c_void_p,),
        "guard_judge": (c_void_p, POINTER(golden._Card), *_BYTES, POINTER(_Guarded)),
        "guard_seal": (c_void_p, *_BYTES, *_BYTES),
    }
)
TRAILER = struct.Struct(">IQ16s")
NOT_COUNTED = -2


@dataclass
class Session:
    """A session's key, and the counter of the newest frame under it."""

    owner: int
    epoch: int
    boot: int
    key: bytes
    counter: int = 0

    def tagged(self, frame: bytes, counter: int | None = None, *, key: bytes | None = None, boot: int | None = None,
               to_host: bool = False) -> bytes:
        """The frame with a trailer: with the next counter and the right tag, if nothing else is said."""
        if counter is None:
            self.counter += 1
            counter = self.counter
        length = int.from_bytes(frame[16:18], "big")
        message = bytearray(frame[: CONST.HEADER_END + length])
        message[14] |= FLAG.AUTH
        made = golden.tag(key or self.key, bytes(message), boot=self.boot if boot is None else boot, to_host=to_host,
                          counter=counter)
        return bytes(message) + TRAILER.pack(0, counter, made)


class Guard:
    """The guard of a card that one host has a key for."""

    def __init__(self, key: bytes, host: int, boot: int) -> None:
        self._at = c_void_p()
        golden._call("guard_new", key, host, boot, byref(self._at))
        weakref.finalize(self, golden._call, "guard_free", self._at)
        self.boot = boot
        self._pair = golden.mac(key, struct.pack("<BQI", 2, host, 0), derive=True)

    def begin(self, card: int, owner: int, epoch: int, host_nonce: int, card_nonce: int) -> Session:
        """A claim is granted, and the one before has ended."""
        claim = golden._struct(_Claim, owner=owner, host_nonce=host_nonce, card_nonce=card_nonce, epoch=epoch)
        golden._call("guard_begin", self._at, card, byref(claim))
        agreed = struct.pack("<BQQIH", 4, host_nonce, card_nonce, self.boot, epoch)
        return Session(owner, epoch, self.boot, golden.mac(self._pair, agreed, derive=True))

    def end(self) -> None:
        """The claim has ended."""
        golden._call("guard_end", self._at)

    def judge(self, card: golden.Card, data: bytes) -> tuple[golden.Judgement, bool]:
        """What becomes of these bytes, and whether a tag has proven their sender. What is dropped and not counted has
        the drop "nothing"."""
        guarded = _Guarded()
        golden._call("guard_judge", self._at, golden._card(card), data, len(data), byref(guarded))
        verdict = guarded.verdict
        if verdict.drop == NOT_COUNTED:
            return golden.Judgement("nothing", waits=bool(verdict.waits)), False
        return golden.judgement(verdict), bool(guarded.proven)

    def seal(self, data: bytes) -> bytes:
        """A frame of the card's as it leaves."""
        return golden._bytes("guard_seal", self._at, data, len(data))
