"""Generates `ethernet_core.v`: LiteEth's MAC for the ECPIX-5, as two streams of frames, 64 bits wide.

    python3 ethernet.py FOLDER

Frames go in and out of the core without preamble and check sequence; byte 0 is data[7:0], and `last_be` has
one bit, at the last byte.
A frame that came in with a wrong check sequence has `error` set with its last word.

Towards the PHY there are two streams of bytes, in its clock, of whatever rate: a byte may come, or be taken, less
often than each cycle. LiteEth's own PHY does 1 Gb/s only; ours are `rl_rgmii_rx` and `rl_rgmii_tx`.
"""

import os
import sys

from litex.build.generic_platform import Pins, Subsignal
from litex.build.lattice import LatticeECP5Platform
from litex.gen import ClockDomain, LiteXModule
from litex.soc.interconnect import stream
from liteeth.common import eth_phy_description
from liteeth.mac.core import LiteEthMACCore
from liteeth.mac.padding import LiteEthMACPaddingInserter
from migen import ClockDomainsRenamer
from migen.genlib.resetsync import AsyncResetSynchronizer

WORD = 64

# Names of the core's ports. The top level connects them to pins.
PORTS = [
    ("clk", 0, Pins(1)),
    ("rst", 0, Pins(1)),
    ("phy_clk", 0, Pins(1)),
    ("phy_rst", 0, Pins(1)),
    ("phy_rx", 0, Subsignal("valid", Pins(1)), Subsignal("data", Pins(8)), Subsignal("last", Pins(1))),
    ("phy_tx", 0, Subsignal("valid", Pins(1)), Subsignal("ready", Pins(1)), Subsignal("data", Pins(8)), Subsignal("last", Pins(1))),
] + [
    (side, 0, Subsignal("valid", Pins(1)), Subsignal("ready", Pins(1)), Subsignal("data", Pins(WORD)),
     Subsignal("last", Pins(1)), Subsignal("last_be", Pins(WORD // 8)), Subsignal("error", Pins(WORD // 8)))
    for side in ("rx", "tx")
]


class Phy:
    """The streams of a PHY, as LiteEth's MAC wants them. What comes in is always taken."""

    dw = 8

    def __init__(self):
        self.source = stream.Endpoint(eth_phy_description(8))
        self.sink = stream.Endpoint(eth_phy_description(8))


class EthernetCore(LiteXModule):
    """The MAC, and its streams on ports."""

    def __init__(self, platform):
        self.cd_sys = ClockDomain()
        self.cd_eth_rx = ClockDomain()
        self.cd_eth_tx = ClockDomain()
        reset, phy_clk = platform.request("rst"), platform.request("phy_clk")
        self.comb += [
            self.cd_sys.clk.eq(platform.request("clk")),
            self.cd_eth_rx.clk.eq(phy_clk),
            self.cd_eth_tx.clk.eq(phy_clk),
            self.cd_eth_tx.rst.eq(self.cd_eth_rx.rst),
            platform.request("phy_rst").eq(self.cd_eth_rx.rst),
        ]
        self.specials += [AsyncResetSynchronizer(self.cd_sys, reset), AsyncResetSynchronizer(self.cd_eth_rx, reset)]
        self.phy = phy = Phy()
        phy_rx, phy_tx = platform.request("phy_rx"), platform.request("phy_tx")
        self.comb += [
            phy.source.valid.eq(phy_rx.valid), phy.source.data.eq(phy_rx.data), phy.source.last.eq(phy_rx.last),
            # The checker of check sequences looks only where this is set, and LiteEth 2024.12 sets it behind the
            # checker.
            phy.source.last_be.eq(phy_rx.last),
            phy_tx.valid.eq(phy.sink.valid), phy_tx.data.eq(phy.sink.data), phy_tx.last.eq(phy.sink.last),
            phy.sink.ready.eq(phy_tx.ready),
        ]
        self.mac = LiteEthMACCore(phy, dw=WORD, tx_cdc_depth=32, rx_cdc_depth=32)
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
