// Whose addresses a frame has. For each of their bytes there is a table of what such a byte can belong
// to; an address is whose all its bytes are. The firmware writes the tables. It follows the head all the
// time: what it says holds two cycles after the head, or a table, was last changed.
//
// A byte that is looked up while it is written reads as anything: `settled_o` tells.
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
  // Byte 0 is an address's first.
  belongs_t [5:0] dst, src;
  for (genvar i = 0; i < 6; i++) begin : gen_byte
    logic we;
    assign we = filter_i.we && filter_i.places[i];
    rl_ram #(
      .Width($bits(belongs_t)),
      .Depth(256),
      .Block(1'b1)
    ) u_dst (
      .clk_wr_i(clk_net_i),
      .we_i(we),
      .waddr_i(filter_i.value),
      .wdata_i(filter_i.belongs),
      .clk_rd_i(clk_net_i),
      .re_i(1'b1),
      .raddr_i(dst_i[8*(5-i)+:8]),
      .rdata_o(dst[i])
    );
    rl_ram #(
      .Width($bits(belongs_t)),
      .Depth(256),
      .Block(1'b1)
    ) u_src (
      .clk_wr_i(clk_net_i),
      .we_i(we),
      .waddr_i(filter_i.value),
      .wdata_i(filter_i.belongs),
      .clk_rd_i(clk_net_i),
      .re_i(1'b1),
      .raddr_i(src_i[8*(5-i)+:8]),
      .rdata_o(src[i])
    );
  end

  belongs_t to, from;
  logic group, multicast_q, wrote_q;
  assign to = dst[0] & dst[1] & dst[2] & dst[3] & dst[4] & dst[5];
  assign from = src[0] & src[1] & src[2] & src[3] & src[4] & src[5];
  assign group = dst[0].load && dst[1].load && dst[2].load && dst[3].load;

  always_ff @(posedge clk_net_i) begin
    multicast_q <= src_i[40];
    own_o <= to.card;
    group_o <= group;
    listens_o <= to.card || to.cards || to.all || to.load || to.claim;
    // Our own frames come back over a loop in the network.
    stranger_o <= from.card || multicast_q;
    owner_o <= from.owner;
    wrote_q <= filter_i.we;
    settled_o <= listening_i && !filter_i.we && !wrote_q;
  end

  // A frame is for whom its destination says, and from whom its source says.
  logic unused;
  assign unused = ^{to.owner, from.claim, from.load, from.all, from.cards};
endmodule
