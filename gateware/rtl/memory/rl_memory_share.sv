// One memory for two managers, each with a share of its bandwidth: AXI4 from both, AXI4 to the memory.
//
// Reads and writes have their turns apart, in beats, by weights (rl_share_turn); what one does not use, the other has.
// Whatever a manager does that keeps to AXI4, it holds up itself and nobody else: a burst is written when all its data
// is here (rl_share_write), and only what there is room for is read (rl_share_read). How the memory divides itself
// between reading and writing is its own affair.
//
// Bursts are INCR, of whole beats. The order of a manager's bursts stays, within reads and within writes. No ready
// depends on another in the same cycle, but that of an address on the memory's. A request is a cycle on its way to the
// memory and one in the register to it, an answer none or one.
module rl_memory_share #(
  parameter int unsigned AddrW = 40,
  parameter int unsigned DataW = 512,
  parameter int unsigned IdW = 2,  // Of the managers; the memory's is a bit more.
  parameter int unsigned ShareW = 4,
  parameter logic [1:0][7:0] Longest = {8'd16, 8'd16},  // Beats of each manager's longest burst; powers of two.
  // Beats of each manager's buffer for data that was read, a power of two; 0: it takes at once what it has asked for.
  parameter logic [1:0][15:0] Buffer = {16'd64, 16'd64},
  parameter int unsigned UnderWay = 64,  // Beats to be read that wait at the memory, at most.
  parameter int unsigned Answers = 16    // Written bursts of a manager that are not answered, at most; a power of two.
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [1:0][ShareW-1:0] share_i,  // Parts of the bandwidth; 1 or more each. Steady.
  output logic                  busy_o,    // Something of a manager is under way: a register, which may cross.

  input  logic [1:0]                  s_awvalid_i,
  output logic [1:0]                  s_awready_o,
  input  logic [1:0][AddrW-1:0]       s_awaddr_i,
  input  logic [1:0][7:0]             s_awlen_i,
  input  logic [1:0][IdW-1:0]         s_awid_i,
  input  logic [1:0]                  s_wvalid_i,
  output logic [1:0]                  s_wready_o,
  input  logic [1:0][DataW-1:0]       s_wdata_i,
  input  logic [1:0][DataW/8-1:0]     s_wstrb_i,
  input  logic [1:0]                  s_wlast_i,
  output logic [1:0]                  s_bvalid_o,
  input  logic [1:0]                  s_bready_i,
  output logic [1:0][1:0]             s_bresp_o,
  output logic [1:0][IdW-1:0]         s_bid_o,
  input  logic [1:0]                  s_arvalid_i,
  output logic [1:0]                  s_arready_o,
  input  logic [1:0][AddrW-1:0]       s_araddr_i,
  input  logic [1:0][7:0]             s_arlen_i,
  input  logic [1:0][IdW-1:0]         s_arid_i,
  output logic [1:0]                  s_rvalid_o,
  input  logic [1:0]                  s_rready_i,
  output logic [1:0][DataW-1:0]       s_rdata_o,
  output logic [1:0][1:0]             s_rresp_o,
  output logic [1:0]                  s_rlast_o,
  output logic [1:0][IdW-1:0]         s_rid_o,

  output logic                        m_awvalid_o,
  input  logic                        m_awready_i,
  output logic [AddrW-1:0]            m_awaddr_o,
  output logic [7:0]                  m_awlen_o,
  output logic [IdW:0]                m_awid_o,
  output logic                        m_wvalid_o,
  input  logic                        m_wready_i,
  output logic [DataW-1:0]            m_wdata_o,
  output logic [DataW/8-1:0]          m_wstrb_o,
  output logic                        m_wlast_o,
  input  logic                        m_bvalid_i,
  output logic                        m_bready_o,
  input  logic [1:0]                  m_bresp_i,
  input  logic [IdW:0]                m_bid_i,
  output logic                        m_arvalid_o,
  input  logic                        m_arready_i,
  output logic [AddrW-1:0]            m_araddr_o,
  output logic [7:0]                  m_arlen_o,
  output logic [IdW:0]                m_arid_o,
  input  logic                        m_rvalid_i,
  output logic                        m_rready_o,
  input  logic [DataW-1:0]            m_rdata_i,
  input  logic [1:0]                  m_rresp_i,
  input  logic                        m_rlast_i,
  input  logic [IdW:0]                m_rid_i
);
  logic writes, reads;
  always_ff @(posedge clk_i) busy_o <= rst_ni && (writes || reads);

  rl_share_write #(
    .AddrW(AddrW),
    .DataW(DataW),
    .IdW(IdW),
    .Longest(Longest),
    .Answers(Answers),
    .ShareW(ShareW)
  ) u_write (
    .clk_i,
    .rst_ni,
    .share_i,
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
    .s_wlast_i,
    .s_bvalid_o,
    .s_bready_i,
    .s_bresp_o,
    .s_bid_o,
    .m_awvalid_o,
    .m_awready_i,
    .m_awaddr_o,
    .m_awlen_o,
    .m_awid_o,
    .m_wvalid_o,
    .m_wready_i,
    .m_wdata_o,
    .m_wstrb_o,
    .m_wlast_o,
    .m_bvalid_i,
    .m_bready_o,
    .m_bresp_i,
    .m_bid_i
  );
  rl_share_read #(
    .AddrW(AddrW),
    .DataW(DataW),
    .IdW(IdW),
    .Longest(Longest),
    .Buffer(Buffer),
    .UnderWay(UnderWay),
    .ShareW(ShareW)
  ) u_read (
    .clk_i,
    .rst_ni,
    .share_i,
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
    .m_arid_o,
    .m_rvalid_i,
    .m_rready_o,
    .m_rdata_i,
    .m_rresp_i,
    .m_rlast_i,
    .m_rid_i
  );
endmodule
