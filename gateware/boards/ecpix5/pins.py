"""Writes the constraints of the board's pins, `python3 pins.py FILE.lpf R03`: sites, standards and clocks as litex-boards knows them.

A port of the top level is called as the board's signal is there, parts joined by `_`: `ddram_dq[3]`,
`eth_rx_ctl`, `clk100`. Of what is there several times, each is a bit: `rgb_led_r[2]`.
"""

import sys
from collections import Counter

from litex.build.generic_platform import IOStandard, Misc, Pins, Subsignal
from litex_boards.platforms.lambdaconcept_ecpix5 import _io as BOARD

USED = ["clk100", "rst_n", "serial", "ddram", "eth_clocks", "eth", "spiflash", "rgb_led"]
# Sites that are not litex-boards' on a revision of the board: port and site. No such port of ours is known; R02 and R03
# differ in the chip behind the USB socket.
MOVED = {"R02": {}, "R03": {}}
CLOCKS = {"clk100": 100.0, "eth_clocks_rx": 125.0}


def attributes(parts):
    """The IOBUF attributes among a signal's parts."""
    found = []
    for part in parts:
        if isinstance(part, IOStandard):
            found.append(f"IO_TYPE={part.name}")
        elif isinstance(part, Misc):
            found.append(part.misc)
    return found


def lines(name, parts, inherited, moved, number=None):
    """The constraints of one signal, or of each of its parts; with its number if there are several."""
    own = inherited + attributes(parts)
    for part in parts:
        if isinstance(part, Subsignal):
            yield from lines(f"{name}_{part.name}", part.constraints, own, moved, number)
        elif isinstance(part, Pins):
            sites = part.identifiers
            for i, site in enumerate(sites):
                bit = number if len(sites) == 1 else i
                port = name if bit is None else f"{name}[{bit}]"
                yield f'LOCATE COMP "{port}" SITE "{moved.get(port, site)}";'
                if own:
                    yield f'IOBUF PORT "{port}" {" ".join(own)};'


def main():
    """Writes the file that is named."""
    out = []
    count = Counter(signal[0] for signal in BOARD)
    for signal in BOARD:
        if signal[0] in USED:
            out += lines(signal[0], signal[2:], [], MOVED[sys.argv[2]], signal[1] if count[signal[0]] > 1 else None)
    out += [f'FREQUENCY PORT "{port}" {mhz} MHZ;' for port, mhz in CLOCKS.items()]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
