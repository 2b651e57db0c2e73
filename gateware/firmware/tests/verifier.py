"""The firmware's check of signatures alone, for this machine and as the processor has it."""

import ctypes
import subprocess
from pathlib import Path

from build_tests import FIRMWARE, HERE, STRICT, firmware
from headers import C

READER = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)
WRITER = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32)
REGION_WORDS = 0x4000
RIGHT, WEAK, WRONG, ASKED = range(1, 5)
FILES = (
    *("arith.c", "curve25519.c", "decode25519.c", "ed25519.c", "field25519.c", "scalar25519.c", "sha512.c"),
)


def build_native(out: Path) -> Path:
    library = out / "verify.so"
    flags = [*STRICT, "-O1", "-fsanitize=undefined", "-fsanitize-trap=undefined", "-shared", "-fPIC"]
    sources = [*(FIRMWARE / file for file in FILES), HERE / "verify.c", HERE / "board.c"]
    subprocess.run(["clang", *flags, f"-I{FIRMWARE}", "-o", library, *sources], check=True)
    return library


def build_rv32(out: Path) -> Path:
    library = out / "verify32.so"
    flags = [*STRICT, "-O2", "-shared", "-fPIC"]
    subprocess.run(["clang", *flags, "-o", library, HERE / "rv32.c", HERE / "board.c"], check=True)
    files = [HERE.parent / "start.S", HERE / "verify.c", *(FIRMWARE / file for file in (*FILES, "libcalls.c"))]
    library.with_suffix(".image").write_bytes(firmware.build(files, out, variant=firmware.KEYS).image)
    return library


class Verifier:
    def __init__(self, library: Path) -> None:
        self.lib = ctypes.CDLL(str(library))
        self.memory = (ctypes.c_uint32 * REGION_WORDS * 8).in_dll(self.lib, "board_memory")[C.RING_BASE >> 28]
        self.at = (C.RING_BASE & 0xFFFFFFF) // 4
        # ctypes keeps no reference.
        self._callbacks = (READER(lambda _: 0), WRITER(lambda *_: None))
        self.lib.board_attach(*self._callbacks)
        if (image := library.with_suffix(".image")).exists():
            code = image.read_bytes()
            self.lib.rv32_load(code, len(code), firmware.KEYS.ram)
        self.lib.firmware_start()

    def check(self, key: bytes, signature: bytes, message: bytes) -> int:
        """The verdict on the signature of a message, whose bytes are a multiple of four."""
        words = key + signature + message
        assert (len(key), len(signature), len(message) % 4) == (32, 64, 0)
        self.memory[self.at : self.at + 2] = [0, len(message) // 4]
        for i in range(len(words) // 4):
            self.memory[self.at + 2 + i] = int.from_bytes(words[4 * i : 4 * i + 4], "big")
        self.memory[self.at] = ASKED
        while self.memory[self.at] == ASKED:
            self.lib.firmware_turn()
        return self.memory[self.at]

    def part(self, part: bytes, digest: bytes) -> int:
        """The verdict on a signature's part, if that is well-formed, for what is covered."""
        return self.check(part[32:64], part[64:], part[:64] + digest)

    def cycles(self) -> int:
        return ctypes.c_uint64.in_dll(self.lib, "rv32_cycles").value
