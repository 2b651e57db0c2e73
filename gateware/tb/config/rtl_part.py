"""The `rtl` part of an image, as crates/run/rolec builds it."""

import random
from zlib import crc32

MAGIC = b"RLRTL\0\0\1"
WORD = 8
KERNELS_MAX = 64
# Magic, role, clock and length; arguments of kernels; check sequence.
WORDS_MIN = 3 + KERNELS_MAX // WORD + 1


def rtl_part(role: int, args: list[int], *, clock_khz: int = 250_000, ballast: int = 0) -> bytes:
    """A part for this role, with so many 64-bit words of configuration data."""
    words = WORDS_MIN + ballast
    part = MAGIC + role.to_bytes(4, "big") + len(args).to_bytes(2, "big") + bytes(2)
    part += clock_khz.to_bytes(4, "big") + words.to_bytes(4, "big")
    part += bytes(args).ljust(KERNELS_MAX, b"\0") + random.randbytes(ballast * WORD) + bytes(4)
    return part + crc32(part).to_bytes(4, "big")


def port_words(part: bytes) -> list[int]:
    """The part on the 32-bit port."""
    return [int.from_bytes(part[at : at + 4], "big") for at in range(0, len(part), 4)]
