// The writing side of rl_memory_stripe: pieces of bursts to the channels, each with its data, and one answer for each
// burst, in the order in which they came, when all of its pieces are answered. If one was answered with an error, it is
// an error.
module rl_stripe_write #(
  parameter int unsigned AddrW = 40,
  parameter int unsigned DataW = 512,
  parameter int unsigned IdW = 2,
  parameter int unsigned Channels = 4,
  parameter int unsigned Stripe = 256,
  parameter bit          Hash = 1'b0,
  parameter int unsigned Buffer = 16,  // Beats that wait for each channel; a power of two.
  parameter int unsigned Pieces = 32   // Not answered, at most; a power of two.
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  output logic                             busy_o,

  input  logic                             s_awvalid_i,
  output logic                             s_awready_o,
  input  logic [AddrW-1:0]                 s_awaddr_i,
  input  logic [7:0]                       s_awlen_i,
  input  logic [IdW-1:0]                   s_awid_i,
  input  logic                             s_wvalid_i,
  output logic                             s_wready_o,
  input  logic [DataW-1:0]                 s_wdata_i,
  input  logic [DataW/8-1:0]               s_wstrb_i,
  output logic                             s_bvalid_o,
  input  logic                             s_bready_i,
  output logic [1:0]                       s_bresp_o,
  output logic [IdW-1:0]                   s_bid_o,

  output logic [Channels-1:0]              m_awvalid_o,
  input  logic [Channels-1:0]              m_awready_i,
  output logic [Channels-1:0][AddrW-1:0]   m_awaddr_o,
  output logic [Channels-1:0][7:0]         m_awlen_o,
  output logic [Channels-1:0]              m_wvalid_o,
  input  logic [Channels-1:0]              m_wready_i,
  output logic [Channels-1:0][DataW-1:0]   m_wdata_o,
  output logic [Channels-1:0][DataW/8-1:0] m_wstrb_o,
  output logic [Channels-1:0]              m_wlast_o,
  input  logic [Channels-1:0]              m_bvalid_i,
  output logic [Channels-1:0]              m_bready_o,
  input  logic [Channels-1:0][1:0]         m_bresp_i
);
  localparam int unsigned ChannelW = Channels > 1 ? $clog2(Channels) : 1;
  typedef struct packed {
    logic [ChannelW-1:0] channel;
    logic [7:0]          len;
  } route_t;
  typedef struct packed {
    logic [ChannelW-1:0] channel;
    logic [IdW-1:0]      id;
    logic                last;  // Of its burst.
  } owed_t;

  logic
      piece_valid,
      go,
      route_ready,
      route_valid,
      route_ends,
      owed_ready,
      owed_valid,
      owed_ends,
      moves,
      whole;
  logic [AddrW-1:0] addr;
  logic [7:0] sent_q;  // Beats of the piece whose data comes.
  logic [2:0] unused_routes;
  logic [$clog2(Pieces):0] unused_owed;
  route_t piece, route;
  owed_t begun, owed;
  rl_stripe_split #(
    .AddrW(AddrW),
    .IdW(IdW),
    .Channels(Channels),
    .Stripe(Stripe),
    .Hash(Hash)
  ) u_split (
    .clk_i,
    .rst_ni,
    .valid_i(s_awvalid_i),
    .ready_o(s_awready_o),
    .addr_i(s_awaddr_i),
    .len_i(s_awlen_i),
    .id_i(s_awid_i),
    .valid_o(piece_valid),
    .ready_i(go),
    .channel_o(piece.channel),
    .addr_o(addr),
    .len_o(piece.len),
    .id_o(begun.id),
    .last_o(begun.last)
  );
  assign begun.channel = piece.channel;
  rl_fifo #(
    .Width($bits(route_t)),
    .Depth(4)
  ) u_routes (
    .clk_i,
    .rst_ni,
    .wvalid_i(go),
    .wready_o(route_ready),
    .wdata_i(piece),
    .rvalid_o(route_valid),
    .rready_i(route_ends),
    .rdata_o(route),
    .count_o(unused_routes)
  );
  rl_fifo #(
    .Width($bits(owed_t)),
    .Depth(Pieces)
  ) u_owed (
    .clk_i,
    .rst_ni,
    .wvalid_i(go),
    .wready_o(owed_ready),
    .wdata_i(begun),
    .rvalid_o(owed_valid),
    .rready_i(owed_ends),
    .rdata_o(owed),
    .count_o(unused_owed)
  );

  logic [Channels-1:0] free, data_ready, data_valid, answered;
  logic [Channels-1:0][1:0] answer;
  assign go = piece_valid && route_ready && owed_ready && free[piece.channel];
  assign whole = sent_q == route.len;
  assign s_wready_o = route_valid && data_ready[route.channel];
  assign moves = s_wvalid_i && s_wready_o;
  assign route_ends = moves && whole;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || route_ends) sent_q <= '0;
    else if (moves) sent_q <= sent_q + 1'b1;
  end
  for (genvar n = 0; n < Channels; n++) begin : gen_channel
    logic goes, answer_ready;
    logic [$clog2(Buffer):0] unused_beats;
    logic [$clog2(Pieces):0] unused_answers;
    rl_fifo #(
      .Width(DataW + DataW / 8 + 1),
      .Depth(Buffer)
    ) u_data (
      .clk_i,
      .rst_ni,
      .wvalid_i(moves && route.channel == ChannelW'(n)),
      .wready_o(data_ready[n]),
      .wdata_i({whole, s_wstrb_i, s_wdata_i}),
      .rvalid_o(data_valid[n]),
      .rready_i(m_wready_i[n]),
      .rdata_o({m_wlast_o[n], m_wstrb_o[n], m_wdata_o[n]}),
      .count_o(unused_beats)
    );
    // As many as there are pieces: there is always room.
    rl_fifo #(
      .Width(2),
      .Depth(Pieces)
    ) u_answers (
      .clk_i,
      .rst_ni,
      .wvalid_i(m_bvalid_i[n]),
      .wready_o(answer_ready),
      .wdata_i(m_bresp_i[n]),
      .rvalid_o(answered[n]),
      .rready_i(owed_ends && owed.channel == ChannelW'(n)),
      .rdata_o(answer[n]),
      .count_o(unused_answers)
    );
    assign m_wvalid_o[n] = data_valid[n];
    assign m_bready_o[n] = 1'b1;
    assign free[n] = !m_awvalid_o[n] || m_awready_i[n];
    assign goes = go && piece.channel == ChannelW'(n);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) m_awvalid_o[n] <= 1'b0;
      else m_awvalid_o[n] <= goes || (m_awvalid_o[n] && !m_awready_i[n]);
      if (goes) begin
        m_awaddr_o[n] <= addr;
        m_awlen_o[n] <= piece.len;
      end
    end
`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (rst_ni && m_bvalid_i[n]) RoomWasKept_A : assert (answer_ready);
    rl_stays #(
      .Width(AddrW + 8)
    ) u_stays (
      .clk_i,
      .rst_ni,
      .valid_i(m_awvalid_o[n]),
      .ready_i(m_awready_i[n]),
      .data_i({m_awaddr_o[n], m_awlen_o[n]})
    );
`else
    logic unused_ready;
    assign unused_ready = answer_ready;
`endif
  end

  // -- answers: a piece's a cycle, with the last one its burst's
  logic [1:0] resp_q, resp;  // Of the pieces before, and with this one.
  logic offers;
  assign offers = owed_valid && answered[owed.channel];
  assign resp = resp_q | answer[owed.channel];
  assign owed_ends = offers && (!owed.last || !s_bvalid_o || s_bready_i);
  assign busy_o = piece_valid || owed_valid || s_bvalid_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      resp_q <= '0;
      s_bvalid_o <= 1'b0;
    end else begin
      if (owed_ends) resp_q <= owed.last ? '0 : resp;
      s_bvalid_o <= (owed_ends && owed.last) || (s_bvalid_o && !s_bready_i);
    end
    if (owed_ends && owed.last) begin
      s_bresp_o <= resp;
      s_bid_o <= owed.id;
    end
  end
endmodule
