// A block RAM with two ports that both read and write: one sees words, the other pairs of them. They do not write
// in the same cycle. A word that one port writes while the other reads it is undefined there: read it later.
module rl_ram_pair #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 1024,       // Pairs.
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic                  clk_i,

  input  logic                  we_i,
  input  logic [AddrW:0]        addr_i,
  input  logic [Width-1:0]      wdata_i,
  output logic [Width-1:0]      rdata_o,       // One cycle later; undefined after a write.

  input  logic                  pair_we_i,
  input  logic [AddrW-1:0]      pair_addr_i,
  input  logic [1:0][Width-1:0] pair_wdata_i,  // The first word is the lower one.
  output logic [1:0][Width-1:0] pair_rdata_o   // One cycle later; undefined after a write.
);
`ifdef RL_ONE_WRITER
  // Yosys knows no block RAM of Cyclone V with two writers.
  (* no_rw_check *) logic [1:0][Width-1:0] mem[Depth];
  logic second_q;
  logic [1:0][Width-1:0] both_q;
  logic [AddrW-1:0] waddr;
  assign waddr = pair_we_i ? pair_addr_i : addr_i[AddrW:1];
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 2; i++) begin
      if (pair_we_i || (we_i && addr_i[0] == i))
        mem[waddr][i] <= pair_we_i ? pair_wdata_i[i] : wdata_i;
    end
  end
  always_ff @(posedge clk_i) both_q <= mem[addr_i[AddrW:1]];
  always_ff @(posedge clk_i) pair_rdata_o <= mem[pair_addr_i];
  always_ff @(posedge clk_i) second_q <= addr_i[0];
  assign rdata_o = both_q[second_q];
`else
  (* no_rw_check *) logic [Width-1:0] mem[2*Depth];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[addr_i] <= wdata_i;
    rdata_o <= mem[addr_i];
  end

  always_ff @(posedge clk_i) begin
    if (pair_we_i) begin
      mem[{pair_addr_i, 1'b0}] <= pair_wdata_i[0];
      mem[{pair_addr_i, 1'b1}] <= pair_wdata_i[1];
    end
    pair_rdata_o <= {mem[{pair_addr_i, 1'b1}], mem[{pair_addr_i, 1'b0}]};
  end
`endif

`ifndef SYNTHESIS
  OneWriter_A :
  assert property (@(posedge clk_i) !(we_i && pair_we_i));
`endif
endmodule
