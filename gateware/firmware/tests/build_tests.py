"""The firmware as the tests run it: compiled for this machine, and as the processor has it."""

import os
import struct
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = sorted(Path(os.environ.get("RACKLOOM_FIRMWARE", HERE.parent)).glob("*.c"))
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
RISCV = ["--target=riscv32", "-march=rv32i", "-mabi=ilp32", "-Oz"]
RISCV += ["-ffreestanding", "-fno-builtin", "-nostdlib", "-fno-pic"]
# Code, constants and variables one after the other from 0 on. Nothing but constants may have a value from the start.
SCRIPT = """
ENTRY(main)
SECTIONS {
  . = 0;
  .text : { *(.text .text.*) *(.rodata .rodata.* .srodata .srodata.*) . = ALIGN(4); }
  .data : { *(.data .data.* .sdata .sdata.*) }
  .bss (NOLOAD) : { *(.bss .bss.* .sbss .sbss.* COMMON) }
  /DISCARD/ : { *(.comment .note.* .riscv.attributes .eh_frame) }
}
ASSERT(SIZEOF(.data) == 0, "a variable has an initial value")
"""


def build_native(out: Path) -> Path:
    """A library for this machine, which stops at undefined behaviour."""
    library = out / "firmware.so"
    flags = [*STRICT, "-O1", "-fsanitize=undefined", "-fsanitize-trap=undefined", "-shared", "-fPIC"]
    subprocess.run(["clang", *flags, "-o", library, *SOURCES, HERE / "board.c"], check=True)
    return library


def build_rv32(out: Path) -> Path:
    """An interpreter as a library, and beside it what it interprets."""
    library = out / "rv32.so"
    flags = [*STRICT, "-O2", "-shared", "-fPIC"]
    subprocess.run(["clang", *flags, "-o", library, HERE / "rv32.c", HERE / "board.c"], check=True)
    script = out / "rv32.ld"
    script.write_text(SCRIPT)
    objects = []
    for source in SOURCES:
        objects.append(out / f"{source.stem}.o")
        subprocess.run(["clang", *RISCV, *STRICT, "-c", source, "-o", objects[-1]], check=True)
    subprocess.run(["ld.lld", "-T", script, "-o", library.with_suffix(".elf"), *objects], check=True)
    return library


def load_elf(path: Path) -> tuple[bytes, int]:
    """What RAM holds from address 0 on, and where main is."""
    elf = path.read_bytes()
    entry, table, _, _, _, size, count = struct.unpack_from("<IIIIHHH", elf, 24)
    for n in range(count):
        kind, offset, address, _, length = struct.unpack_from("<IIIII", elf, table + n * size)
        if kind == 1 and length:
            assert address == 0
            return elf[offset : offset + length], entry
    raise AssertionError("nothing to load")
