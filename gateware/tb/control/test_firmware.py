"""The firmware in the gateware is that of the sources, and it runs: it announces the card and sleeps."""

import subprocess
import sys

import cocotb
from cocotb.triggers import RisingEdge
from runner import ROOT, bench
from structs import field
from test_rl_control import CARD, MODULES, SOURCES, Board

STRAPS = {
    "MAC_HI": 0x0252,
    "MAC_LO": 0x4C000001,
    "CARD": 7 << 16 | 2 << 8 | 1,
    "BOOT": 0x600D600D,
    "SEED": 1,
    "MEMORY": 0x4000,
    "CLOCK_KHZ": 156_250,
    "PORT_RATE": 1000,
    "STAGING_MAX": 16 << 20,
    "LIMITS": 16 << 16 | 1472,
    "ACK_DELAY": 20,
    "RESEND": 1000,
    "ANNOUNCE_INTERVAL": 1000,
    "LINK": 1,  # It is up.
}
HOSTS = 0x03524C000002
LINK_UP = 1


@cocotb.test()
async def it_announces_the_card_and_sleeps(dut):
    board = Board(dut)
    board.straps = [STRAPS.get(name, 0) for name in CARD]
    board.time = 0
    await board.start([])
    cycles = 0
    while not field(dut.tx_o, "tx_ctl_t", "send"):
        await RisingEdge(dut.clk_net_i)
        cycles += 1
        assert cycles < 100_000, "no announcement"
    # Addresses, EtherType and kind, the payload's address of the card, and the reason.
    at = 512 * field(dut.tx_o, "tx_ctl_t", "send_slot")
    sent = board.memories["TX"][at : at + 512]
    assert sent[0] << 16 | sent[1] >> 16 == HOSTS
    assert sent[1] & 0xFFFF == STRAPS["MAC_HI"] and sent[2] == STRAPS["MAC_LO"]
    assert sent[3] == 0x80EF1001
    assert sent[8] == STRAPS["MAC_HI"] << 16 | STRAPS["MAC_LO"] >> 16
    assert sent[8 + 5] >> 24 == LINK_UP
    await board.asleep()
    assert dut.alarm_valid_o.value, "the next announcement is due some time"
    assert field(dut.session_o, "session_t", "listening")


def test_the_package_is_not_stale():
    command = [sys.executable, ROOT / "gateware/firmware/build.py", "--check"]
    check = subprocess.run(command, capture_output=True, text=True)
    assert check.returncode == 0, check.stderr


def test_firmware():
    modules = [f"control/{name}.sv" for name in MODULES]
    packages = [f"control/{name}.sv" for name in ("rl_firmware_pkg", "rl_firmware_keys_pkg")]
    bench("rl_control", [*SOURCES, *packages, "common/rl_lutram.sv", *modules], __name__)
