"""The numbers of csr.h and wire.h, by the names they have there."""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
_DEFINE = re.compile(r"^#define (\w+) (?:RL_WORD\()?(0x[0-9A-Fa-f]+|\d+)u\)?$", re.MULTILINE)


class Numbers:
    """One header's macros that are plain numbers, as attributes. A register is its address."""

    def __init__(self, name: str) -> None:
        text = (HERE.parent / name).read_text()
        self.__dict__.update({key: int(value, 0) for key, value in _DEFINE.findall(text)})
        # Arrays of registers: the address of the first one.
        arrays = re.findall(r"^#define (\w+)\(i\) RL_WORD\((0x[0-9A-Fa-f]+)u", text, re.MULTILINE)
        self.__dict__.update({key: int(value, 0) for key, value in arrays})


C = Numbers("csr.h")
W = Numbers("wire.h")
