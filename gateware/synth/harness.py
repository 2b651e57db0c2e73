"""A design around a block for place and route: shift registers feed its inputs and gather its outputs.

So a block with a thousand ports needs five pins, and paths from its inputs and to its outputs count, each as if a
register of the neighbour were at its end. All of the harness runs on the block's first clock: what belongs to another
clock crosses, and a crossing has no rate.
"""

import re


def around(top: str, ports: dict[str, dict]) -> tuple[str, str]:
    """The harness's name and its Verilog text, for a module with these ports as Yosys's JSON tells them."""
    clocks = [name for name, port in ports.items() if re.fullmatch(r"clk(_\w+)?_i", name) and len(port["bits"]) == 1]
    if not clocks:
        raise SystemExit(f"error: {top} has no clock; only blocks with registers have a rate")
    data = {name: port for name, port in ports.items() if name not in clocks}
    inputs = [(name, len(port["bits"])) for name, port in data.items() if port["direction"] == "input"]
    outputs = [(name, len(port["bits"])) for name, port in data.items() if port["direction"] == "output"]
    fed, gathered = (sum(width for _, width in group) for group in (inputs, outputs))
    connections = [f".{name}({name})" for name in clocks]
    connections += slices(inputs, "feed")
    connections += slices(outputs, "out")
    name = f"{top}_harness"
    return name, "\n".join([
        f"module {name}({''.join(f'input {clock}, ' for clock in clocks)}input scan_i, output scan_o);",
        f"  reg [{fed - 1}:0] feed;",
        f"  wire [{gathered - 1}:0] out;",
        f"  reg [{gathered - 1}:0] held, gather;",
        f"  always @(posedge {clocks[0]}) begin",
        "    feed <= {feed, scan_i};",
        "    held <= out;",
        "    gather <= {gather, 1'b0} ^ held;",
        "  end",
        f"  assign scan_o = gather[{gathered - 1}];",
        f"  {top} block(",
        "    " + ",\n    ".join(connections),
        "  );",
        "endmodule",
        "",
    ])


def slices(ports: list[tuple[str, int]], bus: str) -> list[str]:
    """Connections of ports to consecutive bits of a bus."""
    out, at = [], 0
    for name, width in ports:
        out.append(f".{name}({bus}[{at + width - 1}:{at}])")
        at += width
    return out
