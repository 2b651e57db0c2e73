"""BLAKE3 in the mode without a key, as https://github.com/BLAKE3-team/BLAKE3-specs describes it. Clear, not fast."""

import struct

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
START, END, PARENT, ROOT = 1, 2, 4, 8
CHUNK, BLOCK = 1024, 64
MASK = 0xFFFFFFFF


def compress(value: tuple, block: bytes, counter: int, flags: int) -> tuple:
    """The first eight words of the compression function's output."""
    words = struct.unpack("<16I", block.ljust(BLOCK, b"\0"))
    v = [*value, *IV[:4], counter & MASK, counter >> 32, len(block) if not flags & PARENT else BLOCK, flags]
    for _ in range(7):
        for i, (a, b, c, d) in enumerate(COLUMNS + DIAGONALS):
            va, vb, vc = v[a], v[b], v[c]
            va = va + vb + words[2 * i] & MASK
            x = v[d] ^ va
            vd = x >> 16 | x << 16 & MASK
            vc = vc + vd & MASK
            x = vb ^ vc
            vb = x >> 12 | x << 20 & MASK
            va = va + vb + words[2 * i + 1] & MASK
            x = vd ^ va
            vd = x >> 8 | x << 24 & MASK
            vc = vc + vd & MASK
            x = vb ^ vc
            v[a], v[b], v[c], v[d] = va, x >> 7 | x << 25 & MASK, vc, vd
        words = [words[i] for i in PERMUTATION]
    return tuple(v[i] ^ v[i + 8] for i in range(8))


def chunk_value(data: bytes, number: int, flags: int) -> tuple:
    value = IV
    last = max(0, (len(data) - 1) // BLOCK * BLOCK)
    for at in range(0, last + 1, BLOCK):
        of = (START if at == 0 else 0) | (END | flags if at == last else 0)
        value = compress(value, data[at : at + BLOCK], number, of)
    return value


class Blake3:
    """A digest that grows by pieces."""

    def __init__(self) -> None:
        self.stack: list[tuple] = []  # Values of whole subtrees, the largest first.
        self.chunks = 0  # Chunks in them.
        self.rest = b""  # What comes after them: a chunk's bytes are kept until it is known that more follow.

    def update(self, data: bytes) -> None:
        data = self.rest + data
        at = 0
        while len(data) - at > CHUNK:
            value = chunk_value(data[at : at + CHUNK], self.chunks, 0)
            at += CHUNK
            self.chunks += 1
            trees = self.chunks
            while trees % 2 == 0:
                value = self.parent(self.stack.pop(), value, 0)
                trees //= 2
            self.stack.append(value)
        self.rest = data[at:]

    def digest(self) -> bytes:
        stack = list(self.stack)
        value = chunk_value(self.rest, self.chunks, 0 if stack else ROOT)
        while stack:
            left = stack.pop()
            value = self.parent(left, value, 0 if stack else ROOT)
        return struct.pack("<8I", *value)

    @staticmethod
    def parent(left: tuple, right: tuple, flags: int) -> tuple:
        return compress(IV, struct.pack("<16I", *left, *right), 0, PARENT | flags)


def blake3(data: bytes) -> bytes:
    """The digest of these bytes."""
    of = Blake3()
    of.update(data)
    return of.digest()
