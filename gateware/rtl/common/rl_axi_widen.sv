// A manager with narrow beats at an AXI4 port with wide ones: as many beats as lie in one wide beat become that one.
// Bursts are INCR, of whole narrow beats, of one id, and end at or before a boundary of 4 KiB. Data that is written
// waits for its address.
module rl_axi_widen #(
  parameter int unsigned NarrowW = 64,
  parameter int unsigned WideW = 512,   // The ratio is a power of two, 2 or more.
  parameter int unsigned AddrW = 40,
  parameter int unsigned Bursts = 64,   // That are under way, of each way at most. A power of two.
  localparam int unsigned Ratio = WideW / NarrowW,
  localparam int unsigned LaneW = $clog2(Ratio),
  localparam int unsigned FineW = $clog2(NarrowW / 8)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  output logic                 busy_o,    // Bursts are under way.

  input  logic                 s_awvalid_i,
  output logic                 s_awready_o,
  input  logic [AddrW-1:0]     s_awaddr_i,
  input  logic [7:0]           s_awlen_i,
  input  logic                 s_wvalid_i,
  output logic                 s_wready_o,
  input  logic [NarrowW-1:0]   s_wdata_i,
  input  logic [NarrowW/8-1:0] s_wstrb_i,
  input  logic                 s_wlast_i,
  output logic                 s_bvalid_o,
  input  logic                 s_bready_i,
  input  logic                 s_arvalid_i,
  output logic                 s_arready_o,
  input  logic [AddrW-1:0]     s_araddr_i,
  input  logic [7:0]           s_arlen_i,
  output logic                 s_rvalid_o,
  input  logic                 s_rready_i,
  output logic [NarrowW-1:0]   s_rdata_o,
  output logic                 s_rlast_o,

  output logic                 m_awvalid_o,
  input  logic                 m_awready_i,
  output logic [AddrW-1:0]     m_awaddr_o,
  output logic [7:0]           m_awlen_o,
  output logic                 m_wvalid_o,
  input  logic                 m_wready_i,
  output logic [WideW-1:0]     m_wdata_o,
  output logic [WideW/8-1:0]   m_wstrb_o,
  output logic                 m_wlast_o,
  input  logic                 m_bvalid_i,
  output logic                 m_bready_o,
  output logic                 m_arvalid_o,
  input  logic                 m_arready_i,
  output logic [AddrW-1:0]     m_araddr_o,
  output logic [7:0]           m_arlen_o,
  input  logic                 m_rvalid_i,
  output logic                 m_rready_o,
  input  logic [WideW-1:0]     m_rdata_i
);
  if (Ratio < 2 || Ratio != 1 << LaneW || Ratio * NarrowW != WideW) begin : gen_check
    $fatal(0, "rl_axi_widen: the widths' ratio must be a power of two, 2 or more (%m)");
  end
  typedef logic [LaneW-1:0] lane_t;
  // verilator lint_off UNUSEDSIGNAL
  function automatic lane_t lane_of(logic [AddrW-1:0] addr);
    return addr[FineW+:LaneW];
  endfunction
  function automatic logic [7:0] wide_len(logic [AddrW-1:0] addr, logic [7:0] len);
    return 8'((9'(lane_of(addr)) + 9'(len)) >> LaneW);
  endfunction
  function automatic logic [AddrW-1:0] wide_addr(logic [AddrW-1:0] addr);
    return {addr[AddrW-1:FineW+LaneW], (FineW + LaneW)'(0)};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // -- addresses to write: where the first beat lies, for the data; and how many are not answered
  lane_t w_first;
  logic w_opens, w_room, w_owed_room, w_owed, aw_take, w_take, w_ends;
  logic [$clog2(Bursts):0] unused_w_count, unused_owed_count, unused_r_count;
  logic unused_owed;
  assign m_awvalid_o = s_awvalid_i && w_room && w_owed_room;
  assign s_awready_o = m_awready_i && w_room && w_owed_room;
  assign m_awaddr_o = wide_addr(s_awaddr_i);
  assign m_awlen_o = wide_len(s_awaddr_i, s_awlen_i);
  assign aw_take = s_awvalid_i && s_awready_o;
  rl_fifo #(
    .Width(LaneW),
    .Depth(Bursts)
  ) u_write (
    .clk_i,
    .rst_ni,
    .wvalid_i(aw_take),
    .wready_o(w_room),
    .wdata_i(lane_of(s_awaddr_i)),
    .rvalid_o(w_opens),
    .rready_i(w_ends),
    .rdata_o(w_first),
    .count_o(unused_w_count)
  );
  rl_fifo #(
    .Width(1),
    .Depth(Bursts)
  ) u_owed (
    .clk_i,
    .rst_ni,
    .wvalid_i(aw_take),
    .wready_o(w_owed_room),
    .wdata_i(1'b0),
    .rvalid_o(w_owed),
    .rready_i(m_bvalid_i && s_bready_i),
    .rdata_o(unused_owed),
    .count_o(unused_owed_count)
  );
  assign s_bvalid_o = m_bvalid_i;
  assign m_bready_o = s_bready_i;

  // -- data to write is gathered in a register; bytes of other beats stay as they are
  logic full_q, inside_q, w_last_q;
  lane_t w_lane_q, w_lane;
  logic [Ratio-1:0][NarrowW-1:0] w_data_q;
  logic [Ratio-1:0][NarrowW/8-1:0] w_strb_q;
  assign w_lane = inside_q ? w_lane_q : w_first;
  assign s_wready_o = w_opens && (!full_q || m_wready_i);
  assign w_take = s_wvalid_i && s_wready_o;
  assign w_ends = w_take && s_wlast_i;
  assign m_wvalid_o = full_q;
  assign m_wdata_o = w_data_q;
  assign m_wstrb_o = w_strb_q;
  assign m_wlast_o = w_last_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      inside_q <= 1'b0;
      w_strb_q <= '0;
    end else begin
      if (full_q && m_wready_i) begin
        full_q <= 1'b0;
        w_strb_q <= '0;
      end
      if (w_take) begin
        inside_q <= !s_wlast_i;
        full_q <= s_wlast_i || (&w_lane);
        w_strb_q[w_lane] <= s_wstrb_i;
      end
    end
    if (w_take) begin
      w_data_q[w_lane] <= s_wdata_i;
      w_lane_q <= w_lane + 1'b1;
      w_last_q <= s_wlast_i;
    end
  end

  // -- reads: where the first beat lies, and how many there are
  typedef struct packed {
    lane_t      first;
    logic [7:0] len;
  } read_t;
  read_t read;
  logic r_room, r_opens, r_take, r_last;
  lane_t r_lane, r_lane_q;
  logic r_inside_q;
  logic [7:0] r_left, r_left_q;
  assign m_arvalid_o = s_arvalid_i && r_room;
  assign s_arready_o = m_arready_i && r_room;
  assign m_araddr_o = wide_addr(s_araddr_i);
  assign m_arlen_o = wide_len(s_araddr_i, s_arlen_i);
  rl_fifo #(
    .Width($bits(read_t)),
    .Depth(Bursts)
  ) u_read (
    .clk_i,
    .rst_ni,
    .wvalid_i(s_arvalid_i && s_arready_o),
    .wready_o(r_room),
    .wdata_i({lane_of(s_araddr_i), s_arlen_i}),
    .rvalid_o(r_opens),
    .rready_i(r_take && r_last),
    .rdata_o(read),
    .count_o(unused_r_count)
  );
  assign r_lane = r_inside_q ? r_lane_q : read.first;
  assign r_left = r_inside_q ? r_left_q : read.len;
  assign r_last = r_left == '0;
  assign s_rvalid_o = m_rvalid_i && r_opens;
  assign s_rdata_o = m_rdata_i[NarrowW*32'(r_lane)+:NarrowW];
  assign s_rlast_o = r_last;
  assign r_take = s_rvalid_o && s_rready_i;
  assign m_rready_o = r_take && (r_last || (&r_lane));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) r_inside_q <= 1'b0;
    else if (r_take) r_inside_q <= !r_last;
    if (r_take) begin
      r_lane_q <= r_lane + 1'b1;
      r_left_q <= r_left - 1'b1;
    end
  end
  assign busy_o = w_owed || r_opens || s_awvalid_i || s_arvalid_i;

  logic unused;
  assign unused = ^{unused_w_count, unused_owed_count, unused_r_count, unused_owed, s_awaddr_i[FineW-1:0],
                    s_araddr_i[FineW-1:0]};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && m_bvalid_i) AnswersWhatWasAsked_A : assert (w_owed);
  always_ff @(posedge clk_i) if (rst_ni && m_rvalid_i) GivesWhatWasAsked_A : assert (r_opens);
`endif
endmodule
