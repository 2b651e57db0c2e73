// Names of places, and which place has one: they are looked through one after the other, beginning with the one that
// was found last. So of a message's frames each but the first is found at once, and any within as many cycles as there
// are places. With banks each place is there several times: a place of all banks is looked at in one cycle.
module rl_collective_match #(
  parameter int unsigned Width = 112,
  parameter int unsigned Places = 8,   // A power of two.
  parameter int unsigned Banks = 1,
  localparam int unsigned PlaceW = $clog2(Places)
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,

  input  logic [Banks-1:0]             set_i,     // This place of this bank has this name. Not while one is looked for.
  input  logic [PlaceW-1:0]            place_i,
  input  logic [Width-1:0]             set_name_i,
  input  logic [Banks-1:0][Places-1:0] clear_i,   // These have none. Not the one that is set.
  output logic [Banks-1:0][Places-1:0] named_o,

  input  logic                         find_i,    // Until done_o; the name is steady.
  input  logic [Width-1:0]             name_i,
  output logic                         done_o,
  output logic [Banks-1:0]             found_o,   // In these banks, in
  output logic [PlaceW-1:0]            found_place_o
);
  logic [PlaceW-1:0] at_q, tried_q;
  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic [Width-1:0] shown;
    rl_lutram #(
      .Width(Width),
      .Depth(Places)
    ) u_names (
      .clk_i,
      .we_i(set_i[b]),
      .waddr_i(place_i),
      .wdata_i(set_name_i),
      .raddr_i(at_q),
      .rdata_o(shown)
    );
    assign found_o[b] = named_o[b][at_q] && shown == name_i;
  end
  assign found_place_o = at_q;
  assign done_o = find_i && (found_o != '0 || &tried_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      named_o <= '0;
      at_q <= '0;
      tried_q <= '0;
    end else begin
      for (int unsigned b = 0; b < Banks; b++)
      named_o[b] <= (named_o[b] & ~clear_i[b]) | (Places'(set_i[b]) << place_i);
      if (find_i && found_o == '0) at_q <= at_q + 1'b1;
      tried_q <= find_i && !done_o ? tried_q + 1'b1 : '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && find_i) FindsWhatStays_A : assert (set_i == '0);
  end
`endif
endmodule
