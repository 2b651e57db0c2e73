// Judges bursts of a manager: whether there can be such a one, and whether it continues the one that was taken last.
//
// Bursts are INCR, of whole beats, within 4 KiB; a single beat may be of any size. One continues another if it begins
// where that ends, in the same page, which leads to one place; unless regions have changed since. Both have one id, so
// that what is asked for at once, and fails at once, is one manager's.
module rl_bridge_chain #(
  parameter int unsigned DataW = 64,
  parameter int unsigned AddrW = 48,
  parameter int unsigned IdW = 6,
  parameter bit          Joins = 1'b1  // Otherwise none continues another.
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             moved_i,    // A region changes.
  input  logic             take_i,     // The burst is taken:
  input  logic [IdW-1:0]   id_i,
  input  logic [AddrW-1:0] addr_i,
  input  logic [7:0]       len_i,
  input  logic [2:0]       size_i,
  input  logic [1:0]       burst_i,
  output logic             bad_o,
  output logic             follows_o
);
  localparam int unsigned PageW = 12;
  localparam int unsigned FineW = $clog2(DataW / 8);
  localparam int unsigned BeatW = PageW - FineW;
  localparam logic [1:0] Incr = 2'b01;
  logic is_whole, chained_q;
  logic [PageW:0] last;        // Its last beat, of the page in which it begins.
  logic [BeatW:0] next_q;      // The beat behind the one that was taken; the page's end is none of the page.
  logic [AddrW-1:PageW] page_q;
  logic [IdW-1:0] id_q;
  assign is_whole = size_i == 3'(FineW);
  assign last = (PageW + 1)'(addr_i[PageW-1:FineW]) + (PageW + 1)'(len_i);
  assign bad_o = (len_i != 0 && (burst_i != Incr || !is_whole)) || last >= (PageW + 1)'(1 << BeatW) ||
      size_i > 3'(FineW);
  assign follows_o = Joins && chained_q && is_whole && !bad_o && id_i == id_q &&
      addr_i[AddrW-1:PageW] == page_q && {1'b0, addr_i[PageW-1:0]} == {next_q, FineW'(0)};
  always_ff @(posedge clk_i) begin
    if (!rst_ni || moved_i) chained_q <= 1'b0;
    else if (take_i) chained_q <= is_whole && !bad_o;
  end
  always_ff @(posedge clk_i) begin
    if (take_i) begin
      next_q <= (BeatW + 1)'(last + 1'b1);
      page_q <= addr_i[AddrW-1:PageW];
      id_q <= id_i;
    end
  end
endmodule
