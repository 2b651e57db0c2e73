// Whose addresses a frame has. For each of their half bytes there is a table of what such a half byte can belong
// to; an address is whose all its half bytes are. The firmware writes the tables. It follows the head all the
// time: what it says holds two cycles after the head, or a table, was last changed.
//
// Tables of bytes would have to be block RAM, twelve of them, and that takes most of a cycle to answer.
//
// A half byte that is looked up while it is written reads as before: `settled_o` tells.
module rl_rx_filter
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic      clk_net_i,

  input  mac_addr_t dst_i,
  input  mac_addr_t src_i,
  input  filter_t   filter_i,
  input  logic      listening_i, // The tables are complete.

  output logic      settled_o,  // The outputs in the cycle after this, and after the next, holds.
  output logic      own_o,      // To this card alone.
  output logic      group_o,    // To a group of Rackloom, whatever its number.
  output logic      listens_o,  // To an address this card listens to.
  output logic      stranger_o, // From a source that no frame for this card can have.
  output logic      owner_o     // From the owner of the claim.
);
  // A frame is for whom its destination says, and from whom its source says: neither table has the rest.
  typedef struct packed {
    logic claim;
    logic load;
    logic all;
    logic cards;
    logic card;
  } to_t;
  typedef struct packed {
    logic owner;
    logic card;
  } from_t;

  // Half byte 0 is an address's first.
  to_t [11:0] dst;
  from_t [11:0] src;
  for (genvar i = 0; i < 12; i++) begin : gen_place
    logic we;
    assign we = filter_i.we && filter_i.places[i];
    rl_lutram #(
      .Width($bits(to_t)),
      .Depth(16)
    ) u_dst (
      .clk_i(clk_net_i),
      .we_i(we),
      .waddr_i(filter_i.value),
      .wdata_i({filter_i.belongs.claim, filter_i.belongs.load, filter_i.belongs.all, filter_i.belongs.cards,
                filter_i.belongs.card}),
      .raddr_i(dst_i[4*(11-i)+:4]),
      .rdata_o(dst[i])
    );
    rl_lutram #(
      .Width($bits(from_t)),
      .Depth(16)
    ) u_src (
      .clk_i(clk_net_i),
      .we_i(we),
      .waddr_i(filter_i.value),
      .wdata_i({filter_i.belongs.owner, filter_i.belongs.card}),
      .raddr_i(src_i[4*(11-i)+:4]),
      .rdata_o(src[i])
    );
  end

  // Two bytes together, and then all three pairs.
  to_t [2:0] to_q;
  from_t [2:0] from_q;
  to_t to;
  from_t from;
  logic multicast_q, wrote_q;
  assign to = to_q[0] & to_q[1] & to_q[2];
  assign from = from_q[0] & from_q[1] & from_q[2];

  always_ff @(posedge clk_net_i) begin
    for (int unsigned i = 0; i < 3; i++) begin
      to_q[i] <= dst[4*i] & dst[4*i+1] & dst[4*i+2] & dst[4*i+3];
      from_q[i] <= src[4*i] & src[4*i+1] & src[4*i+2] & src[4*i+3];
    end
    multicast_q <= src_i[40];
    own_o <= to.card;
    group_o <= to_q[0].load && to_q[1].load;
    listens_o <= to.card || to.cards || to.all || to.load || to.claim;
    // Our own frames come back over a loop in the network.
    stranger_o <= from.card || multicast_q;
    owner_o <= from.owner;
    wrote_q <= filter_i.we;
    settled_o <= listening_i && !filter_i.we && !wrote_q;
  end
endmodule
