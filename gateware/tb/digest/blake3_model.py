"""BLAKE3 as its specification says it, a chaining value at a time, to check the gateware against."""

from struct import pack, unpack

CHUNK = 1024
BLOCK = 64
VALUE = 32

CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
MASK = 0xFFFFFFFF

# The official test vectors' first 32 bytes: input byte i is i % 251.
VECTORS = {
    1: "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
    63: "e9bc37a594daad83be9470df7f7b3798297c3d834ce80ba85d6e207627b7db7b",
    64: "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98",
    65: "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee",
    1023: "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11",
    1024: "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
    1025: "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
    2048: "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a",
    3072: "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2",
    31744: "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47",
    102400: "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085",
}


def vector(length: int) -> bytes:
    """The input of the test vector of this length."""
    return bytes(i % 251 for i in range(length))


def quarter(v: list[int], a: int, b: int, c: int, d: int, word: int, by_d: int, by_b: int) -> None:
    v[a] = (v[a] + v[b] + word) & MASK
    v[d] ^= v[a]
    v[d] = (v[d] >> by_d | v[d] << (32 - by_d)) & MASK
    v[c] = (v[c] + v[d]) & MASK
    v[b] ^= v[c]
    v[b] = (v[b] >> by_b | v[b] << (32 - by_b)) & MASK


def compress(value: bytes, block: bytes, counter: int, flags: int) -> bytes:
    """The chaining value of one block; of the last one with ROOT, the digest."""
    words = unpack("<16I", block.ljust(BLOCK, b"\0"))
    v = [*unpack("<8I", value), *IV[:4], counter & MASK, counter >> 32, len(block), flags]
    for _ in range(7):
        for lanes, base in ((COLUMNS, 0), (DIAGONALS, 8)):
            for i, lane in enumerate(lanes):
                quarter(v, *lane, words[base + 2 * i], 16, 12)
                quarter(v, *lane, words[base + 2 * i + 1], 8, 7)
        words = [words[i] for i in PERMUTATION]
    return pack("<8I", *(v[i] ^ v[i + 8] for i in range(8)))


def leaf(chunk: bytes, counter: int, root: bool = False) -> bytes:
    """The value of a chunk."""
    value = pack("<8I", *IV)
    blocks = [chunk[at : at + BLOCK] for at in range(0, max(len(chunk), 1), BLOCK)]
    for number, block in enumerate(blocks):
        flags = CHUNK_START if number == 0 else 0
        if number == len(blocks) - 1:
            flags |= CHUNK_END | (ROOT if root else 0)
        value = compress(value, block, counter, flags)
    return value


def leaves(data: bytes, counter: int = 0) -> list[bytes]:
    """The values of all chunks, the first of which has this number."""
    return [leaf(data[at : at + CHUNK], counter + at // CHUNK) for at in range(0, len(data), CHUNK)]


def parents(values: list[bytes], root: bool = False) -> list[bytes]:
    """The next level: each pair gives a value, an odd one at the end stays."""
    flags = PARENT | (ROOT if root else 0)
    iv = pack("<8I", *IV)
    pairs = [values[at : at + 2] for at in range(0, len(values), 2)]
    return [compress(iv, b"".join(pair), 0, flags) if len(pair) == 2 else pair[0] for pair in pairs]


def digest(data: bytes) -> bytes:
    if len(data) <= CHUNK:
        return leaf(data, 0, root=True)
    values = leaves(data)
    while len(values) > 2:
        values = parents(values)
    return parents(values, root=True)[0]
