"""Roles that this card knows, by the name in an image's manifest: what their WebAssembly does, done in Python.

A kernel is a function of memory and arguments that returns its value and the role clock cycles it takes, None: it never
ends. It may raise Trap. What it does to memory it does only if it ends within its bound.
"""

import struct
from array import array

from wire import ROLE_PRIVATE

BEAT = 64


class Trap(Exception):
    """The kernel has touched what it must not."""


def whole(memory: bytearray, addr: int, count: int, size: int) -> slice:
    if addr < ROLE_PRIVATE or addr + count * size > len(memory):
        raise Trap
    return slice(addr, addr + count * size)


def vadd(memory, a, b, c, n):
    a, b, c = (whole(memory, at, n, 4) for at in (a, b, c))
    total = array("f", (x + y for x, y in zip(array("f", memory[a]), array("f", memory[b]))))
    return lambda: memory.__setitem__(c, total.tobytes()), 0, -(-n * 12 // BEAT)


def copy(memory, source, target, n):
    source, target = whole(memory, source, n, 8), whole(memory, target, n, 8)
    if (source.start | target.start | n * 8) % BEAT:
        raise Trap
    return lambda: memory.__setitem__(target, memory[source]), 0, n * 8 // BEAT * 2 + 1


def bump(memory, cell, cycles):
    cell = whole(memory, cell, 1, 8)
    value = struct.unpack("<Q", memory[cell])[0] + 1 & (1 << 64) - 1
    return lambda: memory.__setitem__(cell, struct.pack("<Q", value)), value, cycles


def wild(memory, addr):
    if addr + 8 > len(memory):
        raise Trap
    return lambda: memory.__setitem__(slice(addr, addr + 8), b"\xff" * 8), 0, 1


def trap(memory, *_):
    raise Trap


def endless(memory, *_):
    return None, 0, None


ROLES = {
    "vadd": {"vadd": vadd},
    "copy": {"copy": copy},
    "probe": dict(bump=bump, wild=wild, trap=trap, broken=trap)
    | dict(spin=endless, hang=endless, flood=endless, greedy=endless),
}
