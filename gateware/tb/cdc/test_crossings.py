"""The check of crossings finds each kind of mistake, and takes what is sound."""

import sys

import pytest
from runner import ROOT

sys.path.insert(0, str(ROOT / "gateware" / "cdc"))
import cdc
import constraints
import crossings
import sources
from netlist import OUT, Netlist

# Two registers of clock a, of which something goes into clock b.
DESIGN = """
module {name} (
  input  logic       clk_a_i,
  input  logic       clk_b_i,
  input  logic [3:0] d_i,
  output logic [3:0] q_o
);
  logic [3:0] one_q, two_q, gray_q;
  always_ff @(posedge clk_a_i) begin
    one_q <= d_i;
    two_q <= one_q;
    gray_q <= one_q ^ (one_q >> 1);
  end
{body}
endmodule
"""
READS = "  always_ff @(posedge clk_b_i) q_o <= {word};\n"


def instance(cell: str, word: str, width: int = 4, ways: tuple[str, str] = ("d_i", "q_o")) -> str:
    clock = "" if cell == "rl_held" else ".clk_i(clk_b_i), .rst_ni(1'b1), "
    return f"  logic [{width - 1}:0] seen;\n  {cell} #(.Width({width})) u_cross ({clock}.{ways[0]}({word}), .{ways[1]}(seen));\n"


FIFO = """
  logic [3:0] seen;
  logic valid, unused_ready, unused_spare;
  rl_fifo_async #(.Width(4), .Depth(4)) u_fifo (
    .clk_wr_i(clk_a_i), .rst_wr_ni(1'b1), .wvalid_i(1'b1), .wready_o(unused_ready), .wspare_o(unused_spare),
    .wdata_i(one_q), .clk_rd_i(clk_b_i), .rst_rd_ni(1'b1), .rvalid_o(valid), .rready_i(1'b1), .rdata_o(seen)
  );
"""
GRAY = ("gray_i", "gray_o")
HELD = ("word_i", "word_o")
SOUND = {
    "sync": instance("rl_sync", "one_q") + READS.format(word="seen"),
    "inverted": instance("rl_sync", "~one_q") + READS.format(word="seen"),
    "gray": instance("rl_gray_sync", "gray_q", ways=GRAY) + READS.format(word="seen"),
    "held": instance("rl_held", "one_q", ways=HELD) + READS.format(word="seen + 1'b1"),
    "memory": FIFO + READS.format(word="valid ? seen : q_o"),
}
WRONG = {
    "unguarded": (READS.format(word="one_q"), "one_q (clk_a_i) goes unguarded to q_o (clk_b_i)"),
    "through_logic": (READS.format(word="d_i & (one_q ^ two_q)"), "two_q (clk_a_i) goes unguarded to q_o (clk_b_i)"),
    "glitches": (
        instance("rl_sync", "one_q[0] && two_q[0]", width=1) + READS.format(word="4'(seen)"),
        "bit 0 of u_cross.meta_q (clk_b_i) has logic in front of it: of one_q[0], two_q[0]",
    ),
    "gray_by_bits": (
        instance("rl_sync", "gray_q") + READS.format(word="seen"),
        "gray_q is in Gray code and crosses with rl_sync, not rl_gray_sync",
    ),
    "two_words": (
        instance("rl_gray_sync", "{one_q[1:0], two_q[1:0]}", ways=GRAY) + READS.format(word="seen"),
        "u_cross.meta_q[0] (clk_b_i) is not one word in Gray code: one_q, two_q",
    ),
}


def netlist(name: str, body: str) -> Netlist:
    path = ROOT / OUT / f"planted_{name}.sv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(DESIGN.format(name=path.stem, body=body))
    cells = sources.closure(["rl_sync", "rl_gray_sync", "rl_held", "rl_fifo_async"])
    return Netlist(path.stem, files=[*cells, path])


@pytest.mark.parametrize("name", SOUND)
def test_what_is_sound_is_taken(name):
    found, problems = crossings.find(netlist(name, SOUND[name]))
    assert problems == []
    assert {crossing.way for crossing in found} >= {{"inverted": "sync"}.get(name, name)}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(name):
    body, problem = WRONG[name]
    assert problem in crossings.find(netlist(name, body))[1]


def test_constraints_follow_the_way():
    periods = {"clk_a_i": 5.0, "clk_b_i": 3.0}
    for name, wanted in {
        "sync": ["set_false_path -to [get_cells -hier -filter {NAME =~ u_cross/meta_q_reg*}]"],
        "gray": [
            "set_max_delay -datapath_only 5.0 -from [get_cells -hier -filter {NAME =~ gray_q*}]"
            " -to [get_cells -hier -filter {NAME =~ u_cross/meta_q_reg*}]",
            "set_bus_skew 5.0 -from [get_cells -hier -filter {NAME =~ gray_q*}]"
            " -to [get_cells -hier -filter {NAME =~ u_cross/meta_q_reg*}]",
        ],
        "held": [
            "set_max_delay -datapath_only 3.0 -from [get_cells -hier -filter {NAME =~ one_q*}]"
            " -to [get_cells -hier -filter {NAME =~ q_o_reg*}]"
        ],
    }.items():
        found, _ = crossings.find(netlist(name, SOUND[name]))
        assert constraints.xdc(found, periods)[2:] == wanted, name
        assert len(constraints.sdc(found, periods)) >= 2 + len(wanted)
    with pytest.raises(SystemExit, match="clk_b_i has no period"):
        constraints.xdc(found, {"clk_a_i": 5.0})


def test_the_gateware_crosses_soundly(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["cdc.py", "--list"])
    assert cdc.main() == 0, capsys.readouterr().err
    assert "u_memory.u_scrub.meta_q (clk_ddr_i) from u_control.u_write" in capsys.readouterr().out
