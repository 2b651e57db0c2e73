"""An image, as docs/src/reference/image.md lays it out, checked in one pass."""

import json
import struct

from blake3 import blake3
from kernels import ROLES, trap
from wire import IMAGE_FORMAT, IMAGE_PART, IMAGE_TARGET, IMAGE_VERSION, Refused

MAGIC = b"RLIMAGE\0"


def check(image: bytes, target: str) -> tuple[bytes, list, int, int]:
    """The manifest, the kernels (function, arguments), the clock in kHz and the bytes of the part for this card."""

    def bad(text: str, code: int = IMAGE_FORMAT) -> Refused:
        return Refused(code, text)

    if image[:8] != MAGIC[: len(image)]:
        raise bad("the file is no image")
    if len(image) < 64:
        raise bad("the file is truncated")
    version, shell, parts, zero, key, counter, length, at, size = struct.unpack_from(">HHHHIIQQQ", image, 8)
    if version != 1:
        raise bad(f"the image has format {version}", IMAGE_VERSION)
    if length != len(image) or key or zero or counter or not 1 <= parts <= 16 or not 1 <= size <= 64 << 10:
        raise bad("the header contradicts the file")
    ends = 64 + 64 * parts  # Where the thing before has ended.

    def place(offset: int, size: int) -> bytes:
        nonlocal ends
        start = -(-ends // 64) * 64
        if offset != start or size < 1 or offset + size > len(image) or any(image[ends:start]):
            raise bad("a part is not where it must be")
        ends = offset + size
        return image[offset:ends]

    manifest = place(at, size)
    table = image[64 : 64 + 64 * parts]
    if blake3(image[:48] + table + manifest)[:16] != image[48:64]:
        raise bad("the head's tag is wrong")
    found, names = None, set()
    for i in range(parts):
        name, offset, size = struct.unpack_from(">16sQQ", table, 64 * i)
        part = place(offset, size)
        tag = name.rstrip(b"\0").decode("ascii", "replace")
        if not (tag[:1].isalpha() and tag.replace("-", "a").isalnum() and tag == tag.lower()) or tag in names:
            raise bad("a part's tag is none")
        names.add(tag)
        found = part if tag == target else found
    if len(image) != -(-ends // 64) * 64 or any(image[ends:]):
        raise bad("bytes follow the last part")
    if shell > 1:
        raise bad(f"the image needs a shell of version {shell}", IMAGE_VERSION)
    if found is None:
        raise bad(f"the image has no part for `{target}`", IMAGE_TARGET)
    try:
        facts = json.loads(manifest)
        role = facts["name"]
        wanted = [(k["name"], len(k["args"])) for k in facts["kernels"]]
        clock = int(facts.get("clock_mhz", 250)) * 1000
    except (ValueError, KeyError, TypeError) as why:
        raise bad("the manifest is malformed") from why
    if role not in ROLES:
        raise bad(f"this card knows no role `{role}`"[:64], IMAGE_PART)
    kernels = [(ROLES[role].get(name, trap), args) for name, args in wanted]
    if not all(takes(kernel, args) for kernel, args in kernels):
        raise bad("a kernel takes other arguments here", IMAGE_PART)
    return manifest, kernels, clock, len(found)


def takes(kernel, args: int) -> bool:
    code = kernel.__code__
    takes_any = 4
    return bool(code.co_flags & takes_any) or code.co_argcount == 1 + args
