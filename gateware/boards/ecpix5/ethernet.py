"""Generates `ethernet_core.v`: LiteEth's RGMII PHY and MAC for the ECPIX-5, as two streams of frames, 64 bits wide.

    python3 ethernet.py FOLDER

Frames go in and out of the core without preamble and check sequence; byte 0 is data[7:0], and `last_be` has
one bit, at the last byte.
A frame that came in with a wrong check sequence has `error` set with its last word.
"""

import os
import sys

from litex.build.generic_platform import Pins, Subsignal
from litex.build.lattice import LatticeECP5Platform
from litex.gen import ClockDomain, LiteXModule, ResetSignal
from litex.soc.interconnect import stream
from liteeth.common import eth_phy_description
from liteeth.mac.core import LiteEthMACCore
from liteeth.mac.padding import LiteEthMACPaddingInserter
from liteeth.phy.ecp5rgmii import LiteEthPHYRGMII
from migen import ClockDomainsRenamer
from migen.genlib.resetsync import AsyncResetSynchronizer

WORD = 64

# Names of the core's ports. The top level connects them to pins.
PORTS = [
    ("clk", 0, Pins(1)),
    ("rst", 0, Pins(1)),
    ("eth_clocks", 0, Subsignal("tx", Pins(1)), Subsignal("rx", Pins(1))),
    ("eth", 0, Subsignal("rst_n", Pins(1)), Subsignal("mdio", Pins(1)), Subsignal("mdc", Pins(1)),
     Subsignal("rx_ctl", Pins(1)), Subsignal("rx_data", Pins(4)),
     Subsignal("tx_ctl", Pins(1)), Subsignal("tx_data", Pins(4))),
] + [
    (side, 0, Subsignal("valid", Pins(1)), Subsignal("ready", Pins(1)), Subsignal("data", Pins(WORD)),
     Subsignal("last", Pins(1)), Subsignal("last_be", Pins(WORD // 8)), Subsignal("error", Pins(WORD // 8)))
    for side in ("rx", "tx")
]


class EthernetCore(LiteXModule):
    """The PHY, the MAC, and their streams on ports."""

    def __init__(self, platform):
        self.cd_sys = ClockDomain()
        self.comb += self.cd_sys.clk.eq(platform.request("clk"))
        self.specials += AsyncResetSynchronizer(self.cd_sys, platform.request("rst"))
        # As LiteX' own target for the board: the PHY delays the clock that it gives, we that which it gets.
        self.phy = LiteEthPHYRGMII(platform.request("eth_clocks"), platform.request("eth"), tx_delay=2e-9, rx_delay=0e-9,
                                   with_hw_init_reset=True)
        # The checker of check sequences looks only where this is set, and LiteEth 2024.12 sets it behind the checker.
        self.comb += self.phy.source.last_be.eq(self.phy.source.last)
        self.mac = LiteEthMACCore(self.phy, dw=WORD, tx_cdc_depth=32, rx_cdc_depth=32)
        # The sender's readiness goes through all of the MAC to the FIFO between the clocks, the longest way at 125 MHz.
        # It is cut behind what changes clock and width, before the padding.
        path = self.mac.tx_datapath
        cut = ClockDomainsRenamer("eth_tx")(stream.Buffer(eth_phy_description(8), pipe_ready=True))
        path.submodules += cut
        (before,) = [i for i, stage in enumerate(path.pipeline) if isinstance(stage, LiteEthMACPaddingInserter)]
        path.pipeline.insert(before, cut)
        rx, tx = platform.request("rx"), platform.request("tx")
        source, sink = self.mac.source, self.mac.sink
        self.comb += [
            rx.valid.eq(source.valid), rx.data.eq(source.data), rx.last.eq(source.last),
            rx.last_be.eq(source.last_be), rx.error.eq(source.error), source.ready.eq(rx.ready),
            sink.valid.eq(tx.valid), sink.data.eq(tx.data), sink.last.eq(tx.last),
            sink.last_be.eq(tx.last_be), sink.error.eq(tx.error), tx.ready.eq(sink.ready),
        ]


def main():
    """Writes the core into the folder that is named."""
    folder = sys.argv[1]
    platform = LatticeECP5Platform("LFE5UM5G-85F-8BG554I", io=PORTS, toolchain="trellis")
    core = EthernetCore(platform)
    os.makedirs(folder, exist_ok=True)
    platform.build(core, build_dir=folder, build_name="ethernet_core", run=False)


if __name__ == "__main__":
    main()
