"""Signatures that no library makes: Ed25519 by the book, slowly, with any key, point or number."""

import hashlib
import struct
from dataclasses import dataclass

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # Of -1.
Point = tuple[int, int]
ZERO = (0, 1)


def x_of(y: int) -> int | None:
    """The even one of a point, if there is one."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P:
        return None
    return min(x, P - x) if x == 0 else x if x % 2 == 0 else P - x


def add(a: Point, b: Point) -> Point:
    k = D * a[0] * b[0] * a[1] * b[1]
    x = (a[0] * b[1] + b[0] * a[1]) * pow(1 + k, -1, P)
    y = (a[1] * b[1] + a[0] * b[0]) * pow(1 - k, -1, P)
    return x % P, y % P


def times(point: Point, n: int) -> Point:
    total = ZERO
    while n:
        total = add(total, point) if n & 1 else total
        point = add(point, point)
        n >>= 1
    return total


BASE: Point = (x_of(4 * pow(5, -1, P) % P) or 0, 4 * pow(5, -1, P) % P)


def encoded(point: Point, more: int = 0) -> bytes:
    """A point's bytes; with `more` times the modulus in its y."""
    return (point[1] + more * P | (point[0] & 1) << 255).to_bytes(32, "little")


def small_points() -> list[Point]:
    """The eight points of small order."""
    y = 2
    while True:
        x = x_of(y)
        point = times((x, y), ORDER) if x is not None else ZERO
        if times(point, 4) != ZERO:
            return [times(point, n) for n in range(8)]
        y += 1


def stated(key: bytes, version: int = 1) -> bytes:
    """The first half of a signature's part."""
    return struct.pack(">8sH6xQ8x32s", b"RLSIGNED", 1, version, key)


def challenge(r: bytes, key: bytes, message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % ORDER


@dataclass
class Signer:
    """A secret number, and what is wrong with it: a point of small order that the key has beside it."""

    secret: int
    twist: Point = ZERO

    def key(self) -> bytes:
        return encoded(add(times(BASE, self.secret), self.twist))

    def sign(self, digest: bytes, nonce: int, twist: Point = ZERO, more: int = 0) -> bytes:
        """A signature's part for this digest, with a point of small order in R, and S so many orders too much."""
        key = self.key()
        r = encoded(add(times(BASE, nonce), twist))
        s = (nonce + challenge(r, key, stated(key) + digest) * self.secret) % ORDER + more * ORDER
        return stated(key) + r + s.to_bytes(32, "little")
