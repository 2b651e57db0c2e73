"""Ascon-MAC, Ascon-PRF and Ascon-AEAD128: docs/src/reference/keys.md."""

import struct

WORD = (1 << 64) - 1
IV_MAC, IV_PRF, IV_AEAD = 0x0010200080CC0005, 0x0010200000CC0006, 0x00001000808C0001
# How far each word of the state is turned, twice.
TURNS = (19, 28), (61, 39), (1, 6), (10, 17), (7, 41)


def permute(s: list[int], rounds: int = 12) -> None:
    """The last rounds of Ascon's permutation."""
    for round in range(12 - rounds, 12):
        a, b, c, d, e = s
        c ^= (15 - round) << 4 | round
        a, c, e = a ^ e, c ^ b, e ^ d
        t = [~x & WORD & y for x, y in ((b, c), (c, d), (d, e), (e, a), (a, b))]
        a, b, c, d, e = a ^ t[0], b ^ t[1], c ^ t[2], d ^ t[3], e ^ t[4]
        b, d, a, c = b ^ a, d ^ c, a ^ e, ~c & WORD
        for i, (x, (m, n)) in enumerate(zip((a, b, c, d, e), TURNS)):
            s[i] = x ^ (x >> m | x << 64 - m & WORD) ^ (x >> n | x << 64 - n & WORD)


def ascon(iv: int, key: bytes, message: bytes, blocks: int = 1) -> bytes:
    """16 bytes of Ascon-MAC, or so many blocks of 16 of Ascon-PRF."""
    state = [iv, *struct.unpack("<2Q", key), 0, 0]
    permute(state)
    message += b"\1"
    words = struct.unpack(f"<{-(-len(message) // 8)}Q", message.ljust(-(-len(message) // 8) * 8, b"\0"))
    for i, word in enumerate(words):
        if i and i % 4 == 0:
            permute(state)
        state[i % 4] ^= word
    state[4] ^= 1 << 63
    out = b""
    for _ in range(blocks):
        permute(state)
        out += struct.pack("<2Q", *state[:2])
    return out


def mac(key: bytes, message: bytes) -> bytes:
    return ascon(IV_MAC, key, message)


def prf(key: bytes, message: bytes) -> bytes:
    return ascon(IV_PRF, key, message)


def mask(key: bytes, at: int, text: bytes) -> bytes:
    """What stands at this place of an image, encrypted or decrypted."""
    stream = ascon(IV_PRF, key, struct.pack("<Q", at), -(-len(text) // 16))
    return bytes(x ^ y for x, y in zip(text, stream))


def aead(key: bytes, nonce: bytes, beside: bytes, text: bytes, is_ciphertext: bool) -> tuple[bytes, bytes]:
    """The text that comes out, and the tag."""
    own = struct.unpack("<2Q", key)
    s = [IV_AEAD, *own, *struct.unpack("<2Q", nonce)]
    permute(s)
    s[3], s[4] = s[3] ^ own[0], s[4] ^ own[1]
    padded = beside + b"\1" + bytes(-(len(beside) + 1) % 16) if beside else b""
    for at in range(0, len(padded), 16):
        a, b = struct.unpack_from("<2Q", padded, at)
        s[0], s[1] = s[0] ^ a, s[1] ^ b
        permute(s, 8)
    s[4] ^= 1 << 63
    out = b""
    for at in range(0, len(text) + 1, 16):
        block, state = text[at : at + 16], struct.pack("<2Q", *s[:2])
        other = bytes(x ^ y for x, y in zip(block, state))
        out += other
        # What the state becomes begins with the ciphertext, whichever of the two that is.
        state = (block if is_ciphertext else other) + state[len(block) :]
        s[0], s[1] = struct.unpack("<2Q", state)
        if len(block) == 16:
            permute(s, 8)
        else:
            s[len(block) // 8] ^= 1 << len(block) % 8 * 8
    s[2], s[3] = s[2] ^ own[0], s[3] ^ own[1]
    permute(s)
    return out, struct.pack("<2Q", s[3] ^ own[0], s[4] ^ own[1])


def encrypt(key: bytes, nonce: bytes, beside: bytes, text: bytes) -> tuple[bytes, bytes]:
    return aead(key, nonce, beside, text, is_ciphertext=False)


def decrypt(key: bytes, nonce: bytes, beside: bytes, text: bytes, tag: bytes) -> bytes | None:
    """None: its tag is wrong."""
    plain, made = aead(key, nonce, beside, text, is_ciphertext=True)
    return plain if made == tag else None
