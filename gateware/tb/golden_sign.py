"""Signatures of images, from the Rust crates. See `golden`."""

from ctypes import c_char_p, c_size_t, c_uint64

import golden

RIGHT, WEAK, WRONG = range(3)
PART_BYTES, STATED_BYTES, DIGEST_BYTES = 128, 64, 32
_BYTES = (c_char_p, c_size_t)
golden.declare(
    {
        "signature": (c_char_p, c_char_p),
        "signer": (c_char_p, *_BYTES),
        "sign": (c_char_p, c_uint64, *_BYTES, *_BYTES),
    }
)


def verdict(part: bytes, digest: bytes) -> int:
    """Whether a signature's part is right for what is covered, of which this is the digest: RIGHT, WEAK or WRONG."""
    assert len(part) == PART_BYTES and len(digest) == DIGEST_BYTES
    return golden._call("signature", part, digest)


def signer(secret: bytes) -> bytes:
    """A signer's public key."""
    assert len(secret) == 32
    return golden._bytes("signer", secret)


def signed(image: bytes, secret: bytes, version: int = 1) -> bytes:
    """The image with this signer's signature."""
    assert len(secret) == 32
    return golden._bytes("sign", secret, version, image, len(image))
