"""The firmware as the tests run it: compiled for this machine, and as the processor has it."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import build as firmware  # noqa: E402

FIRMWARE = Path(os.environ.get("RACKLOOM_FIRMWARE", HERE.parent))
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror"]


def build_native(out: Path, variant: firmware.Variant = firmware.PLAIN) -> Path:
    """A library for this machine, which stops at undefined behaviour."""
    library = out / "firmware.so"
    flags = [*STRICT, "-O1", "-fsanitize=undefined", "-fsanitize-trap=undefined", "-shared", "-fPIC"]
    sources = [file for file in firmware.sources(FIRMWARE, variant) if file.suffix == ".c"]
    subprocess.run(["clang", *flags, *variant.flags, "-o", library, *sources, HERE / "board.c"], check=True)
    return library


def build_rv32(out: Path, variant: firmware.Variant = firmware.PLAIN) -> Path:
    """An interpreter as a library; beside it what it interprets, which is what the processor has, and the most stack
    and the bytes of RAM that this is said to take."""
    library = out / "rv32.so"
    flags = [*STRICT, "-O2", "-shared", "-fPIC"]
    subprocess.run(["clang", *flags, "-o", library, HERE / "rv32.c", HERE / "board.c"], check=True)
    built = firmware.build(firmware.sources(FIRMWARE, variant), out, variant=variant)
    library.with_suffix(".image").write_bytes(built.image)
    library.with_suffix(".stack").write_text(f"{built.stack} {built.ram}")
    return library
