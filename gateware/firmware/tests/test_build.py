"""The check of the stack, on disassembled programs as llvm-objdump writes them."""

import pytest
from build_tests import firmware


def listing(*functions: tuple[str, str, list[str]]) -> str:
    """A program of functions: address, name, instructions."""
    heads = [f"0{address} <{name}>:\n" + "".join(f"   1: \t{line}\n" for line in code) for address, name, code in functions]
    return "\n".join(heads)


def takes(bytes: int) -> str:
    return f"addi\tsp, sp, -{bytes}"


def test_files_may_have_functions_of_one_name():
    program = listing(
        ("0", "_start", ["jal\t0x10 <same>"]),
        ("10", "same", [takes(32), "j\t0x30 <deep>"]),
        ("20", "same", [takes(16)]),
        ("30", "deep", [takes(64), "jal\t0x20 <same>", "j\t0x38 <.LBB0_1>", "j\t0x30 <deep>"]),
    )
    assert firmware.deepest_stack(program) == 32 + 64 + 16


def test_a_pointer_may_be_any_functions_that_nobody_calls_directly():
    program = listing(
        ("0", "_start", ["jal\t0x10 <a>"]), ("10", "a", [takes(16), "jalr\ta0"]), ("20", "b", [takes(48)])
    )
    assert firmware.deepest_stack(program) == 16 + 48


def test_what_cannot_be_told_is_refused():
    calls_itself = listing(("0", "_start", ["jal\t0x10 <a>"]), ("10", "a", [takes(16), "jal\t0x10 <a>"]))
    with pytest.raises(firmware.BuildError, match="recursion: _start -> a -> a"):
        firmware.deepest_stack(calls_itself)
    with pytest.raises(firmware.BuildError, match="a: more than 2 KiB"):
        firmware.deepest_stack(listing(("0", "a", ["sub\tsp, sp, a0"])))
