#!/usr/bin/env python3
"""Makes the firmware of the shell's processor: C of this folder to gateware/rtl/control/rl_firmware_pkg.sv, and those of
cards with keys or with links, which have more memory, to rl_firmware_keys_pkg.sv and rl_firmware_links_pkg.sv.

`gateware/firmware/build.py` writes the packages, which are committed, so that nobody needs a compiler to build
gateware. `--check` writes nothing and fails when one is stale; it asks nothing of a machine that has another version of
clang, since that may compile differently. Needs clang with the RISC-V target, lld and llvm-objdump.
"""

import argparse
import hashlib
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = ROOT / "gateware/rtl/control"
OUT = ROOT / "out/firmware"
TARGET = ["--target=riscv32", "-march=rv32i", "-mabi=ilp32"]
FLAGS = [*TARGET, "-std=c17", "-Oz", "-ffreestanding", "-fno-builtin", "-fno-pic", "-ffunction-sections"]
FLAGS += ["-fdata-sections", "-fno-common", "-mno-relax", "-msmall-data-limit=0"]
FLAGS += ["-Wall", "-Wextra", "-Werror"]


class BuildError(Exception):
    """The firmware cannot be built, or does not fit."""


@dataclass(frozen=True)
class Variant:
    """A firmware that there is."""

    package: str
    ram: int  # Bytes.
    flags: tuple[str, ...] = ()
    without: tuple[str, ...] = ()  # Files that it has none of.


# Of cards that check signatures alone.
SIGNATURES = (
    "blake3.c", "covered.c", "curve25519.c", "decode25519.c", "ed25519.c", "field25519.c", "manifest.c",
    "scalar25519.c", "sha512.c", "signed.c", "versions.c",
)
PLAIN = Variant("rl_firmware_pkg", 32768, without=("hosts.c", "keys.c", "vault.c", "programs.c", *SIGNATURES))
KEYS = Variant("rl_firmware_keys_pkg", 131072, flags=("-DRL_KEYS",), without=("programs.c",))
LINKS = Variant(
    "rl_firmware_links_pkg", 65536, flags=("-DRL_LINKS",), without=("hosts.c", "keys.c", "vault.c", *SIGNATURES)
)


@dataclass
class Firmware:
    """A firmware as it lies in RAM."""

    image: bytes  # From address 0 on.
    code: int  # Bytes of code and constants.
    data: int  # Bytes of variables.
    stack: int  # Most bytes of stack.
    ram: int = PLAIN.ram  # Bytes of RAM.

    @property
    def free(self) -> int:
        return self.ram - self.code - self.data - self.stack


def sources(folder: Path = HERE, variant: Variant = PLAIN) -> list[Path]:
    """What the firmware of a folder is made of."""
    return [HERE / "start.S", *(file for file in sorted(folder.glob("*.c")) if file.name not in variant.without)]


def build(files: list[Path], out: Path, flags: list[str] = [], variant: Variant = PLAIN) -> Firmware:
    """Compiles and links these files; keeps what it makes in `out`."""
    out.mkdir(parents=True, exist_ok=True)
    flags = [*flags, *variant.flags]
    script = out / "link.ld"
    script.write_text((HERE / "link.ld").read_text().replace("@RAM@", str(variant.ram)))
    objects = []
    for file in files:
        objects.append(out / f"{file.stem}.o")
        assembly = file
        if file.suffix == ".c":
            assembly = out / f"{file.stem}.s"
            call(["clang", *FLAGS, *flags, f"-I{HERE}", "-S", str(file), "-o", str(assembly)])
            assembly.write_text(near_calls(assembly.read_text()))
        call(["clang", *TARGET, "-mno-relax", "-c", str(assembly), "-o", str(objects[-1])])
    elf = out / "firmware.elf"
    link = ["ld.lld", "--gc-sections", "-T", str(script), "-o", str(elf)]
    call([*link, *map(str, objects)])
    call(["llvm-objcopy", "-O", "binary", str(elf), str(elf.with_suffix(".bin"))])
    sizes = section_sizes(call(["llvm-objdump", "-h", str(elf)]))
    listing = call(["llvm-objdump", "-d", "--no-show-raw-insn", str(elf)])
    elf.with_suffix(".lst").write_text(listing)
    firmware = Firmware(
        image=elf.with_suffix(".bin").read_bytes(),
        code=sizes.get(".text", 0) + sizes.get(".rodata", 0),
        data=sizes.get(".bss", 0),
        stack=deepest_stack(listing),
        ram=variant.ram,
    )
    if firmware.free < 0:
        raise BuildError(f"{-firmware.free} bytes too many: {describe(firmware)}")
    return firmware


def near_calls(assembly: str) -> str:
    """All code is near: one instruction calls it. Older linkers do not find that out by themselves."""
    assembly = re.sub(r"^\tcall\t(\w+)(@plt)?$", r"\tjal\tra, \1", assembly, flags=re.MULTILINE)
    return re.sub(r"^\ttail\t(\w+)(@plt)?$", r"\tj\t\1", assembly, flags=re.MULTILINE)


def call(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise BuildError(f"{command[0]} is not there; scripts/setup.sh installs it") from error
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def section_sizes(headers: str) -> dict[str, int]:
    rows = re.findall(r"^\s*\d+ (\.\w+)\s+([0-9a-f]+)", headers, re.MULTILINE)
    return {name: int(size, 16) for name, size in rows}


def deepest_stack(listing: str) -> int:
    """Most bytes of stack that the program needs, from its disassembly: what each function takes, and whom it calls or
    goes on in. Functions go by their addresses, since files may have functions of one name. A call through a pointer,
    which the firmware has none of, may reach any function that nobody calls directly."""
    frames: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    name: dict[str, str] = {}
    pointers: set[str] = set()
    at = ""
    for line in listing.splitlines():
        if head := re.match(r"0*([0-9a-f]+) <([^.].*)>:$", line):  # Labels inside begin with a dot.
            at = head[1]
            frames[at], calls[at], name[at] = 0, set(), head[2]
        elif taken := re.search(r"addi\s+sp, sp, -(\d+)$", line):
            frames[at] += int(taken[1])
        elif re.search(r"(sub|add)\s+sp, (sp,|\w+, sp)", line):
            raise BuildError(f"{name[at]}: more than 2 KiB of variables on the stack, or an array of variable length")
        elif jump := re.search(r"\b(jal|j)\s.*0x([0-9a-f]+) <[^.+>][^+>]*>$", line):
            if jump[1] == "jal" or jump[2] != at:  # A jump to where it began is a loop.
                calls[at].add(jump[2])
        elif re.search(r"\bjalr\b", line):
            pointers.add(at)
    direct = set().union(*calls.values())
    for caller in pointers:
        calls[caller] |= set(frames) - direct - {"0"}
    depths: dict[str, int] = {}

    def depth(function: str, path: tuple[str, ...]) -> int:
        if function in path:
            raise BuildError(f"recursion: {' -> '.join(name[at] for at in [*path, function])}")
        if function not in depths:
            inner = [depth(callee, (*path, function)) for callee in calls[function]]
            depths[function] = frames[function] + max(inner, default=0)
        return depths[function]

    return depth("0", ())  # Where the processor starts.


def describe(firmware: Firmware) -> str:
    parts = f"code {firmware.code}, variables {firmware.data}, stack {firmware.stack}"
    return f"{parts}, free {firmware.free} of {firmware.ram} bytes"


def package(firmware: Firmware, about: str, name: str = PLAIN.package) -> str:
    """The SystemVerilog package that holds the image, one array for each byte of a word."""
    image = firmware.image.ljust(firmware.ram, b"\0")
    lines = [
        f"// Made by gateware/firmware/build.py {about}. Change that, not this.",
        f"// {describe(firmware)}.",
        "// verilog_format: off",
        f"package {name};",
        f"  localparam int unsigned RamWords = {firmware.ram // 4};",
        "  // Code and constants: nothing writes them.",
        f"  localparam int unsigned CodeWords = {-(-firmware.code // 4)};",
        "  typedef logic [7:0] lane_t[RamWords];",
        "  // Byte i of all words, for each i.",
        "  localparam lane_t Lanes[4] = '{",
    ]
    for lane in range(4):
        literals = [f"8'h{byte:02x}" for byte in image[lane::4]]
        rows = ["      " + ", ".join(literals[at : at + 12]) for at in range(0, len(literals), 12)]
        lines += ["    '{", ",\n".join(rows), "    }" + ("," if lane < 3 else "")]
    lines += ["  };", f"endpackage : {name}", "// verilog_format: on"]
    return "\n".join(lines) + "\n"


def compiler() -> str:
    """The compiler's version, as far as it matters."""
    version = re.search(r"clang version \d+\.\d+\.\d+", call(["clang", "--version"]))
    return version[0] if version else "clang of unknown version"


def digest() -> str:
    """Of everything that the package is made of."""
    files = [*sorted(HERE.glob("*.[chS]")), HERE / "link.ld", HERE / "build.py"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail when the package is stale")
    check = parser.parse_args().check
    for variant in (PLAIN, KEYS, LINKS):
        write(variant, check)


def write(variant: Variant, check: bool) -> None:
    """Writes a variant's package, or only looks at it."""
    path = PACKAGES / f"{variant.package}.sv"
    have = path.read_text() if path.exists() else ""
    if check and compiler() not in have and digest() in have:
        print(f"firmware: {path.name} is of these sources, by another compiler")
        return
    firmware = build(sources(variant=variant), OUT / variant.package, variant=variant)
    print(f"firmware: {variant.package}: {describe(firmware)}")
    text = package(firmware, f"with {compiler()} from sources {digest()}", variant.package)
    if text == have:
        return
    if check:
        sys.exit(f"firmware: {path.name} is stale; run gateware/firmware/build.py and commit what it writes")
    path.write_text(text)
    print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    try:
        main()
    except BuildError as error:
        sys.exit(f"firmware: {error}")
