"""Images (.rli), as crates/core/image builds them, with a part for `rtl`."""

import struct
import zlib

from blake3 import digest

ALIGN = 64


def pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGN)


def part(
    kernels: tuple[int, ...] = (1, 3, 2, 1), clock_khz: int = 100_000, data: bytes = bytes(16), **wrong: int
) -> bytes:
    """A configuration: kernels that take so many arguments each. `wrong` overrides a field of the head."""
    words = 12 + len(data) // 8
    head = {"magic": 0x524C52544C000001, "role": 7, "kernels": len(kernels), "flags": 0, "clock": clock_khz}
    head |= {"words": words, **wrong}
    out = struct.pack(">QIHHII", *head.values()) + bytes(kernels).ljust(64, b"\0") + data + bytes(4)
    return out + zlib.crc32(out).to_bytes(4, "big")


def image(parts: dict[str, bytes] | None = None, manifest: bytes = b'{"name":"test"}', shell: int = 1) -> bytes:
    """The file with these parts, by target."""
    parts = {"rtl": part()} if parts is None else parts
    at = 64 + 64 * len(parts)
    manifest_at = at
    at = len(pad(bytes(at) + manifest))
    table = b""
    for target, body in parts.items():
        table += target.encode().ljust(16, b"\0") + struct.pack(">QQ", at, len(body)) + digest(body)
        at += len(pad(body))
    head = b"RLIMAGE\0" + struct.pack(">HHHHIIQQQ", 1, shell, len(parts), 0, 0, 0, at, manifest_at, len(manifest))
    head += digest(head + table + manifest)[:16]
    return pad(head + table + manifest) + b"".join(pad(body) for body in parts.values())
