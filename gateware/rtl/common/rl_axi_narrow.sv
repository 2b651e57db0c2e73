// An AXI4 port of 512 bits on a memory controller with a narrower one: each beat becomes several.
// Bursts are INCR, whole beats, and do not cross 4 KiB; a burst of 16 beats of 64 bytes is 64 of 16.
module rl_axi_narrow #(
  parameter int unsigned WideW = 512,
  parameter int unsigned NarrowW = 128, // Divides WideW; the ratio is a power of two.
  parameter int unsigned AddrW = 40,
  parameter int unsigned IdW = 2,
  localparam int unsigned Ratio = WideW / NarrowW,
  localparam int unsigned StepW = $clog2(Ratio)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // From the card.
  input  logic                 s_awvalid_i,
  output logic                 s_awready_o,
  input  logic [AddrW-1:0]     s_awaddr_i,
  input  logic [7:0]           s_awlen_i,
  input  logic [IdW-1:0]       s_awid_i,
  input  logic                 s_wvalid_i,
  output logic                 s_wready_o,
  input  logic [WideW-1:0]     s_wdata_i,
  input  logic [WideW/8-1:0]   s_wstrb_i,
  input  logic                 s_wlast_i,
  output logic                 s_bvalid_o,
  input  logic                 s_bready_i,
  output logic [1:0]           s_bresp_o,
  output logic [IdW-1:0]       s_bid_o,
  input  logic                 s_arvalid_i,
  output logic                 s_arready_o,
  input  logic [AddrW-1:0]     s_araddr_i,
  input  logic [7:0]           s_arlen_i,
  input  logic [IdW-1:0]       s_arid_i,
  output logic                 s_rvalid_o,
  input  logic                 s_rready_i,
  output logic [WideW-1:0]     s_rdata_o,
  output logic [1:0]           s_rresp_o,
  output logic                 s_rlast_o,
  output logic [IdW-1:0]       s_rid_o,

  // To the memory controller. Its lengths are Ratio times ours.
  output logic                 m_awvalid_o,
  input  logic                 m_awready_i,
  output logic [AddrW-1:0]     m_awaddr_o,
  output logic [7:0]           m_awlen_o,
  output logic [IdW-1:0]       m_awid_o,
  output logic                 m_wvalid_o,
  input  logic                 m_wready_i,
  output logic [NarrowW-1:0]   m_wdata_o,
  output logic [NarrowW/8-1:0] m_wstrb_o,
  output logic                 m_wlast_o,
  input  logic                 m_bvalid_i,
  output logic                 m_bready_o,
  input  logic [1:0]           m_bresp_i,
  input  logic [IdW-1:0]       m_bid_i,
  output logic                 m_arvalid_o,
  input  logic                 m_arready_i,
  output logic [AddrW-1:0]     m_araddr_o,
  output logic [7:0]           m_arlen_o,
  output logic [IdW-1:0]       m_arid_o,
  input  logic                 m_rvalid_i,
  output logic                 m_rready_o,
  input  logic [NarrowW-1:0]   m_rdata_i,
  input  logic [1:0]           m_rresp_i,
  input  logic                 m_rlast_i,
  input  logic [IdW-1:0]       m_rid_i
);
  if (Ratio < 2 || Ratio != 1 << StepW || Ratio * NarrowW != WideW) begin : gen_check
    $fatal(0, "rl_axi_narrow: the widths' ratio must be a power of two, 2 or more (%m)");
  end

  // Addresses pass; a length of n becomes Ratio (n + 1) - 1.
  assign m_awvalid_o = s_awvalid_i;
  assign s_awready_o = m_awready_i;
  assign m_awaddr_o = s_awaddr_i;
  assign m_awlen_o = {s_awlen_i[7-StepW:0], {StepW{1'b1}}};
  assign m_awid_o = s_awid_i;
  assign m_arvalid_o = s_arvalid_i;
  assign s_arready_o = m_arready_i;
  assign m_araddr_o = s_araddr_i;
  assign m_arlen_o = {s_arlen_i[7-StepW:0], {StepW{1'b1}}};
  assign m_arid_o = s_arid_i;
  assign s_bvalid_o = m_bvalid_i;
  assign m_bready_o = s_bready_i;
  assign s_bresp_o = m_bresp_i;
  assign s_bid_o = m_bid_i;

  // A wide beat to write is taken, then shifted out from its low end.
  logic [WideW-1:0] wdata_q;
  logic [WideW/8-1:0] wstrb_q;
  logic wlast_q;
  logic [StepW:0] wleft_q;  // Narrow beats still to go.
  logic wstep;
  assign m_wvalid_o = wleft_q != 0;
  assign m_wdata_o = wdata_q[NarrowW-1:0];
  assign m_wstrb_o = wstrb_q[NarrowW/8-1:0];
  assign m_wlast_o = wlast_q && wleft_q == 1;
  assign wstep = m_wvalid_o && m_wready_i;
  assign s_wready_o = wleft_q == 0 || (wleft_q == 1 && m_wready_i);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wleft_q <= '0;
    end else if (s_wvalid_i && s_wready_o) begin
      wleft_q <= (StepW + 1)'(Ratio);
    end else if (wstep) begin
      wleft_q <= wleft_q - 1'b1;
    end
    if (s_wvalid_i && s_wready_o) begin
      wdata_q <= s_wdata_i;
      wstrb_q <= s_wstrb_i;
      wlast_q <= s_wlast_i;
    end else if (wstep) begin
      wdata_q <= wdata_q >> NarrowW;
      wstrb_q <= wstrb_q >> NarrowW / 8;
    end
  end

  // Narrow beats that were read are shifted in from the high end.
  logic [WideW-1:0] rdata_q;
  logic [1:0] rresp_q;
  logic rlast_q, rfull_q;
  logic [IdW-1:0] rid_q;
  logic [StepW-1:0] rstep_q;
  logic rtake;
  assign s_rvalid_o = rfull_q;
  assign s_rdata_o = rdata_q;
  assign s_rresp_o = rresp_q;
  assign s_rlast_o = rlast_q;
  assign s_rid_o = rid_q;
  assign m_rready_o = !rfull_q || s_rready_i;
  assign rtake = m_rvalid_i && m_rready_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rfull_q <= 1'b0;
      rstep_q <= '0;
    end else begin
      if (rtake) rstep_q <= rstep_q + 1'b1;
      rfull_q <= (rtake && rstep_q == StepW'(Ratio - 1)) || (rfull_q && !s_rready_i);
    end
    if (rtake) begin
      rdata_q <= {m_rdata_i, rdata_q[WideW-1:NarrowW]};
      // The worst response of its parts is the beat's.
      rresp_q <= rstep_q == 0 ? m_rresp_i : rresp_q | m_rresp_i;
      rlast_q <= m_rlast_i;
      rid_q <= m_rid_i;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni && s_awvalid_i)
      LengthFits_A : assert (s_awlen_i < 8'(256 / Ratio));
  always_ff @(posedge clk_i)
    if (rst_ni && s_arvalid_i)
      LengthFitsRead_A : assert (s_arlen_i < 8'(256 / Ratio));
`endif
endmodule
