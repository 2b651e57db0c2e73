// One memory of several channels: an AXI4 port from a manager, one to each channel. The address says which channel has
// a stripe of it: stripe s lies in channel s modulo the number of them, or (Hash) in one that depends on all upper
// bits, so that no stride of a power of two meets the same channel each time. In its channel a stripe has the place s
// divided by their number.
//
// Bursts are INCR, of whole beats of 64 bytes, and do not cross 4 KiB; where a stripe ends they are cut. Towards a
// channel there is no id: it keeps its order. What comes back has the order in which it was asked for, reads and writes
// apart, which is more than AXI4 asks for: an id waits for others. What a channel gives is always taken. No ready
// depends on another in the same cycle, but those of addresses on the channels'.
module rl_memory_stripe #(
  parameter int unsigned AddrW = 40,
  parameter int unsigned DataW = 512,
  parameter int unsigned IdW = 2,
  parameter int unsigned Channels = 4,    // 1, 2, 4 or 8.
  parameter int unsigned Stripe = 256,    // Bytes; a power of two, 64 to 4096.
  parameter bit          Hash = 1'b0,
  parameter int unsigned ReadBuffer = 64, // Beats of each channel, twice a stripe or more for its full rate;
  parameter int unsigned WriteBuffer = 16, // powers of two.
  parameter int unsigned Pieces = 32      // Of bursts, that are under way each way; a power of two.
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  output logic                             busy_o,   // Something is under way.

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
  input  logic                             s_arvalid_i,
  output logic                             s_arready_o,
  input  logic [AddrW-1:0]                 s_araddr_i,
  input  logic [7:0]                       s_arlen_i,
  input  logic [IdW-1:0]                   s_arid_i,
  output logic                             s_rvalid_o,
  input  logic                             s_rready_i,
  output logic [DataW-1:0]                 s_rdata_o,
  output logic [1:0]                       s_rresp_o,
  output logic                             s_rlast_o,
  output logic [IdW-1:0]                   s_rid_o,

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
  input  logic [Channels-1:0][1:0]         m_bresp_i,
  output logic [Channels-1:0]              m_arvalid_o,
  input  logic [Channels-1:0]              m_arready_i,
  output logic [Channels-1:0][AddrW-1:0]   m_araddr_o,
  output logic [Channels-1:0][7:0]         m_arlen_o,
  input  logic [Channels-1:0]              m_rvalid_i,
  output logic [Channels-1:0]              m_rready_o,
  input  logic [Channels-1:0][DataW-1:0]   m_rdata_i,
  input  logic [Channels-1:0][1:0]         m_rresp_i
);
  logic reads, writes;
  assign busy_o = reads || writes;

  rl_stripe_read #(
    .AddrW(AddrW),
    .DataW(DataW),
    .IdW(IdW),
    .Channels(Channels),
    .Stripe(Stripe),
    .Hash(Hash),
    .Buffer(ReadBuffer),
    .Pieces(Pieces)
  ) u_read (
    .clk_i,
    .rst_ni,
    .busy_o(reads),
    .s_arvalid_i,
    .s_arready_o,
    .s_araddr_i,
    .s_arlen_i,
    .s_arid_i,
    .s_rvalid_o,
    .s_rready_i,
    .s_rdata_o,
    .s_rresp_o,
    .s_rlast_o,
    .s_rid_o,
    .m_arvalid_o,
    .m_arready_i,
    .m_araddr_o,
    .m_arlen_o,
    .m_rvalid_i,
    .m_rready_o,
    .m_rdata_i,
    .m_rresp_i
  );
  rl_stripe_write #(
    .AddrW(AddrW),
    .DataW(DataW),
    .IdW(IdW),
    .Channels(Channels),
    .Stripe(Stripe),
    .Hash(Hash),
    .Buffer(WriteBuffer),
    .Pieces(Pieces)
  ) u_write (
    .clk_i,
    .rst_ni,
    .busy_o(writes),
    .s_awvalid_i,
    .s_awready_o,
    .s_awaddr_i,
    .s_awlen_i,
    .s_awid_i,
    .s_wvalid_i,
    .s_wready_o,
    .s_wdata_i,
    .s_wstrb_i,
    .s_bvalid_o,
    .s_bready_i,
    .s_bresp_o,
    .s_bid_o,
    .m_awvalid_o,
    .m_awready_i,
    .m_awaddr_o,
    .m_awlen_o,
    .m_wvalid_o,
    .m_wready_i,
    .m_wdata_o,
    .m_wstrb_o,
    .m_wlast_o,
    .m_bvalid_i,
    .m_bready_o,
    .m_bresp_i
  );
endmodule
