"""BLAKE3 in plain Python, cut up as the digest engine does it: chunks to chaining values, pairs of these to parents."""

import struct

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
MASK = 0xFFFFFFFF
# The quarter rounds of a round: four columns, four diagonals.
QUARTERS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
QUARTERS += ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))


def compress(cv: tuple[int, ...], block: bytes, counter: int, flags: int) -> tuple[int, ...]:
    m = struct.unpack("<16I", block.ljust(64, b"\0"))
    v = [*cv, *IV[:4], counter & MASK, counter >> 32, len(block), flags]
    for _ in range(7):
        for i, (a, b, c, d) in enumerate(QUARTERS):
            va, vb, vc, vd = v[a], v[b], v[c], v[d]
            va = (va + vb + m[2 * i]) & MASK
            vd ^= va
            vd = (vd >> 16 | vd << 16) & MASK
            vc = (vc + vd) & MASK
            vb ^= vc
            vb = (vb >> 12 | vb << 20) & MASK
            va = (va + vb + m[2 * i + 1]) & MASK
            vd ^= va
            vd = (vd >> 8 | vd << 24) & MASK
            vc = (vc + vd) & MASK
            vb ^= vc
            vb = (vb >> 7 | vb << 25) & MASK
            v[a], v[b], v[c], v[d] = va, vb, vc, vd
        m = tuple(m[i] for i in PERMUTATION)
    return tuple(v[i] ^ v[i + 8] for i in range(8))


def leaf(chunk: bytes, number: int, root: bool) -> bytes:
    """The chaining value of a chunk of up to 1024 bytes."""
    blocks = [chunk[at : at + 64] for at in range(0, len(chunk), 64)] or [b""]
    cv = IV
    for i, block in enumerate(blocks):
        flags = CHUNK_START if i == 0 else 0
        if i == len(blocks) - 1:
            flags |= CHUNK_END | (ROOT if root else 0)
        cv = compress(cv, block, number, flags)
    return struct.pack("<8I", *cv)


def leaves(data: bytes, number: int, root: bool) -> bytes:
    """Those of a run of chunks."""
    chunks = range(0, max(len(data), 1), 1024)
    return b"".join(leaf(data[at : at + 1024], number + at // 1024, root) for at in chunks)


def parents(values: bytes, root: bool) -> bytes:
    """One level of the tree: each pair of values gives one, an odd last one is copied."""
    out = b""
    for at in range(0, len(values), 64):
        pair = values[at : at + 64]
        if len(pair) == 32:
            out += pair
        else:
            out += struct.pack("<8I", *compress(IV, pair, 0, PARENT | (ROOT if root else 0)))
    return out


def digest(data: bytes) -> bytes:
    values = leaves(data, 0, len(data) <= 1024)
    while len(values) > 32:
        values = parents(values, len(values) == 64)
    return values
