// Where an address of ours leads: to a node, and an address in its windows. Regions are of whole pages of 4 KiB, and no
// AXI burst crosses one, so that the first address stands for all of a burst. Of several that cover it, the one with
// the lowest number counts.
//
// Two regions are looked at each cycle: an answer takes Regions / 2 cycles and 2.
module rl_bridge_map
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Regions = 8,  // A power of two, 4 or more.
  parameter int unsigned AddrW = 48,   // Bits of an address of ours.
  localparam int unsigned IndexW = $clog2(Regions)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              set_valid_i,   // Sets or closes a region.
  input  logic [IndexW-1:0] set_index_i,
  input  region_t           set_region_i,

  input  logic              ask_valid_i,   // Stays until the answer.
  input  logic [AddrW-1:0]  ask_addr_i,
  output logic              done_o,        // The answer, for one cycle.
  output logic              hit_o,         // A region covers it:
  output node_t             node_o,        // this node's
  output logic [63:0]       remote_o       // memory, from here on.
);
  localparam int unsigned PageW = 12;
  localparam int unsigned PagesW = AddrW - PageW;
  typedef logic [IndexW-2:0] group_t;
  typedef struct packed {
    logic              valid;
    logic [PagesW-1:0] base;
    logic [PagesW:0]   pages;
    node_t             node;
    logic [51:0]       shift;  // From our pages to the node's.
  } entry_t;

  logic clears_q;
  logic [IndexW-1:0] clear_q, set_index;
  entry_t set_entry;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clears_q <= 1'b1;
      clear_q <= '0;
    end else begin
      clear_q <= clear_q + 1'b1;
      if (&clear_q) clears_q <= 1'b0;
    end
  end
  always_comb begin
    set_index = clears_q ? clear_q : set_index_i;
    set_entry = '{
        valid: set_region_i.valid && !clears_q,
        base: set_region_i.base[AddrW-1:PageW],
        pages: set_region_i.size[AddrW:PageW],
        node: set_region_i.node,
        shift: set_region_i.remote[63:PageW] - 52'(set_region_i.base[AddrW-1:PageW])
    };
  end

  logic asks_q, last_q;
  group_t group_q;
  entry_t [1:0] entries;
  logic [1:0] covers;
  for (genvar w = 0; w < 2; w++) begin : gen_way
    logic [PagesW:0] at;
    rl_lutram #(
      .Width($bits(entry_t)),
      .Depth(Regions / 2)
    ) u_table (
      .clk_i,
      .we_i((set_valid_i || clears_q) && set_index[0] == 1'(w)),
      .waddr_i(set_index[IndexW-1:1]),
      .wdata_i(set_entry),
      .raddr_i(group_q),
      .rdata_o(entries[w])
    );
    assign at = {1'b0, ask_addr_i[AddrW-1:PageW]} - {1'b0, entries[w].base};
    assign covers[w] = entries[w].valid && !at[PagesW] && at < entries[w].pages;
  end

  // The first that covers it, and then where that leads.
  entry_t found_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asks_q <= 1'b0;
      last_q <= 1'b0;
      done_o <= 1'b0;
    end else begin
      asks_q <= ask_valid_i && !done_o && !last_q && !(asks_q && (&group_q));
      last_q <= asks_q && (&group_q);
      done_o <= last_q;
    end
  end
  always_ff @(posedge clk_i) begin
    group_q <= asks_q ? group_q + 1'b1 : '0;
    if (!asks_q && !last_q) found_q.valid <= 1'b0;
    else if (asks_q && !found_q.valid && covers != '0)
      found_q <= covers[0] ? entries[0] : entries[1];
    if (last_q) begin
      hit_o <= found_q.valid;
      node_o <= found_q.node;
      remote_o <= {52'(ask_addr_i[AddrW-1:PageW]) + found_q.shift, ask_addr_i[PageW-1:0]};
    end
  end

  logic unused;
  assign unused = ^{set_region_i, found_q.base, found_q.pages};
endmodule
