// The reading side of rl_memory_stripe: pieces of bursts to the channels, and what they give back in the order in which
// it was asked for, whatever their ids. A channel is asked for what its buffer has room for: what it gives is always
// taken, and none waits for another.
module rl_stripe_read #(
  parameter int unsigned AddrW = 40,
  parameter int unsigned DataW = 512,
  parameter int unsigned IdW = 2,
  parameter int unsigned Channels = 4,
  parameter int unsigned Stripe = 256,
  parameter bit          Hash = 1'b0,
  parameter int unsigned Buffer = 64,  // Beats of each channel's buffer; a power of two, a stripe or more.
  parameter int unsigned Pieces = 32   // Under way, at most; a power of two.
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  output logic                           busy_o,

  input  logic                           s_arvalid_i,
  output logic                           s_arready_o,
  input  logic [AddrW-1:0]               s_araddr_i,
  input  logic [7:0]                     s_arlen_i,
  input  logic [IdW-1:0]                 s_arid_i,
  output logic                           s_rvalid_o,
  input  logic                           s_rready_i,
  output logic [DataW-1:0]               s_rdata_o,
  output logic [1:0]                     s_rresp_o,
  output logic                           s_rlast_o,
  output logic [IdW-1:0]                 s_rid_o,

  output logic [Channels-1:0]            m_arvalid_o,
  input  logic [Channels-1:0]            m_arready_i,
  output logic [Channels-1:0][AddrW-1:0] m_araddr_o,
  output logic [Channels-1:0][7:0]       m_arlen_o,
  input  logic [Channels-1:0]            m_rvalid_i,
  output logic [Channels-1:0]            m_rready_o,
  input  logic [Channels-1:0][DataW-1:0] m_rdata_i,
  input  logic [Channels-1:0][1:0]       m_rresp_i
);
  localparam int unsigned ChannelW = Channels > 1 ? $clog2(Channels) : 1;
  localparam int unsigned FreeW = $clog2(Buffer) + 1;
  if (64 * Buffer < Stripe) begin : gen_check
    $fatal(0, "rl_stripe_read: a stripe must fit into a channel's buffer (%m)");
  end
  typedef struct packed {
    logic [ChannelW-1:0] channel;
    logic [7:0]          len;
    logic [IdW-1:0]      id;
    logic                last;  // Of its burst.
  } piece_t;

  logic piece_valid, go, order_ready, order_valid, ends, moves;
  logic [AddrW-1:0] addr;
  logic [$clog2(Pieces):0] unused_count;
  piece_t piece, head;
  rl_stripe_split #(
    .AddrW(AddrW),
    .IdW(IdW),
    .Channels(Channels),
    .Stripe(Stripe),
    .Hash(Hash)
  ) u_split (
    .clk_i,
    .rst_ni,
    .valid_i(s_arvalid_i),
    .ready_o(s_arready_o),
    .addr_i(s_araddr_i),
    .len_i(s_arlen_i),
    .id_i(s_arid_i),
    .valid_o(piece_valid),
    .ready_i(go),
    .channel_o(piece.channel),
    .addr_o(addr),
    .len_o(piece.len),
    .id_o(piece.id),
    .last_o(piece.last)
  );
  rl_fifo #(
    .Width($bits(piece_t)),
    .Depth(Pieces)
  ) u_order (
    .clk_i,
    .rst_ni,
    .wvalid_i(go),
    .wready_o(order_ready),
    .wdata_i(piece),
    .rvalid_o(order_valid),
    .rready_i(ends),
    .rdata_o(head),
    .count_o(unused_count)
  );

  logic [Channels-1:0] room, kept;
  logic [Channels-1:0][DataW+1:0] beat;
  assign go = piece_valid && order_ready && room[piece.channel];
  for (genvar n = 0; n < Channels; n++) begin : gen_channel
    logic [FreeW-1:0] free_q, unused_beats;
    logic goes, takes, buffer_ready;
    rl_fifo #(
      .Width(DataW + 2),
      .Depth(Buffer)
    ) u_buffer (
      .clk_i,
      .rst_ni,
      .wvalid_i(m_rvalid_i[n]),
      .wready_o(buffer_ready),
      .wdata_i({m_rresp_i[n], m_rdata_i[n]}),
      .rvalid_o(kept[n]),
      .rready_i(takes),
      .rdata_o(beat[n]),
      .count_o(unused_beats)
    );
    assign m_rready_o[n] = 1'b1;
    assign room[n] = (!m_arvalid_o[n] || m_arready_i[n]) && 9'(free_q) > 9'(piece.len);
    assign goes = go && piece.channel == ChannelW'(n);
    assign takes = moves && head.channel == ChannelW'(n);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        m_arvalid_o[n] <= 1'b0;
        free_q <= FreeW'(Buffer);
      end else begin
        m_arvalid_o[n] <= goes || (m_arvalid_o[n] && !m_arready_i[n]);
        free_q <= free_q - (goes ? FreeW'(piece.len) + 1'b1 : '0) + FreeW'(takes);
      end
      if (goes) begin
        m_araddr_o[n] <= addr;
        m_arlen_o[n] <= piece.len;
      end
    end
`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (rst_ni && m_rvalid_i[n]) RoomWasKept_A : assert (buffer_ready);
    rl_stays #(
      .Width(AddrW + 8)
    ) u_stays (
      .clk_i,
      .rst_ni,
      .valid_i(m_arvalid_o[n]),
      .ready_i(m_arready_i[n]),
      .data_i({m_araddr_o[n], m_arlen_o[n]})
    );
`else
    logic unused_ready;
    assign unused_ready = buffer_ready;
`endif
  end

  // -- in order
  logic [7:0] given_q;  // Beats of the first piece.
  logic whole;
  assign whole = given_q == head.len;
  assign s_rvalid_o = order_valid && kept[head.channel];
  assign {s_rresp_o, s_rdata_o} = beat[head.channel];
  assign s_rid_o = head.id;
  assign s_rlast_o = head.last && whole;
  assign moves = s_rvalid_o && s_rready_i;
  assign ends = moves && whole;
  assign busy_o = piece_valid || order_valid;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || ends) given_q <= '0;
    else if (moves) given_q <= given_q + 1'b1;
  end
endmodule
