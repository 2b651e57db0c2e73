"""Images (.rli) with a part for `rtl`."""

import golden

ROLE = 7
PART_BYTES = 112  # Two words of data.


def part(kernels: tuple[int, ...] = (1, 3, 2, 1), clock_khz: int = 100_000) -> bytes:
    """A configuration whose kernels take these numbers of arguments."""
    return golden.rtl_part(ROLE, kernels, clock_khz, PART_BYTES)


def image(parts: dict[str, bytes] | None = None, manifest: bytes = b'{"name":"test"}', shell: int = 1) -> bytes:
    """The file with these parts, by target. Firmware does not read the manifest."""
    return golden.image({"rtl": part()} if parts is None else parts, manifest, shell)


def edited(data: bytes, at: int, value: bytes) -> bytes:
    """The same with other bytes from this place on."""
    return data[:at] + value + data[at + len(value) :]
