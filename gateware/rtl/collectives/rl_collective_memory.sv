// A card's memory for its collectives: their ports take turns, one burst each, and become one port of the memory's
// width and clock. All answers come in the order of what was asked.
//
// When it is stopped no burst begins any more, and those that have begun end.
module rl_collective_memory
  import rl_role_pkg::*;
#(
  parameter int unsigned Ports = 2,
  parameter int unsigned DataW = 64,
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned PortW = $clog2(Ports)
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              stop_i,
  output logic                              busy_o,
  output logic                              failed_o,    // Memory has answered with an error since the reset.

  input  logic [Ports-1:0]                  aw_valid_i,
  output logic [Ports-1:0]                  aw_ready_o,
  input  logic [Ports-1:0][AxiAddrW-1:0]    aw_addr_i,
  input  logic [Ports-1:0][7:0]             aw_len_i,
  input  logic [Ports-1:0]                  w_valid_i,
  output logic [Ports-1:0]                  w_ready_o,
  input  logic [Ports-1:0][DataW-1:0]       w_data_i,
  input  logic [Ports-1:0][KeepW-1:0]       w_strb_i,
  input  logic [Ports-1:0]                  w_last_i,
  output logic [Ports-1:0]                  b_valid_o,   // Taken at once, as what is read.
  output logic [Ports-1:0][1:0]             b_resp_o,
  input  logic [Ports-1:0]                  ar_valid_i,
  output logic [Ports-1:0]                  ar_ready_o,
  input  logic [Ports-1:0][AxiAddrW-1:0]    ar_addr_i,
  input  logic [Ports-1:0][7:0]             ar_len_i,
  output logic [Ports-1:0]                  r_valid_o,
  output logic [Ports-1:0][DataW-1:0]       r_data_o,
  output logic [Ports-1:0][1:0]             r_resp_o,
  output logic [Ports-1:0]                  r_last_o,

  input  logic                              clk_ddr_i,
  input  logic                              rst_ddr_ni,
  output axi_req_t                          axi_o,
  input  axi_rsp_t                          axi_i
);
  localparam int unsigned Bursts = 64;
  typedef logic [PortW-1:0] port_t;
  function automatic port_t next_of(logic [Ports-1:0] wants, port_t turn);
    logic found;
    {found, next_of} = {1'b0, turn};
    for (int unsigned i = 0; i < 2 * Ports; i++)
    if (!found && wants[i%Ports] && (i >= Ports || port_t'(i) >= turn))
      {found, next_of} = {1'b1, port_t'(i % Ports)};
  endfunction

  // -- writes: an address when the data of the one before has come
  logic aw_valid, aw_ready, aw_takes, aw_room, w_ready, w_ends, writes_q, b_valid, b_owed;
  port_t aw_turn_q, aw_port, w_port_q, b_port;
  logic [1:0] b_resp;
  logic [$clog2(Bursts):0] unused_b_count;
  assign aw_port = next_of(aw_valid_i, aw_turn_q);
  assign aw_valid = aw_valid_i != '0 && !writes_q && aw_room && !stop_i;
  assign aw_takes = aw_valid && aw_ready;
  assign w_ends = writes_q && w_valid_i[w_port_q] && w_ready && w_last_i[w_port_q];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      writes_q <= 1'b0;
      aw_turn_q <= '0;
    end else begin
      writes_q <= aw_takes || (writes_q && !w_ends);
      if (aw_takes) aw_turn_q <= aw_port == port_t'(Ports - 1) ? '0 : aw_port + 1'b1;
    end
    if (aw_takes) w_port_q <= aw_port;
  end
  rl_fifo #(
    .Width(PortW),
    .Depth(Bursts)
  ) u_writers (
    .clk_i,
    .rst_ni,
    .wvalid_i(aw_takes),
    .wready_o(aw_room),
    .wdata_i(aw_port),
    .rvalid_o(b_owed),
    .rready_i(b_valid),
    .rdata_o(b_port),
    .count_o(unused_b_count)
  );

  // -- reads
  logic ar_valid, ar_ready, ar_takes, ar_room, r_valid, r_last, r_owed;
  port_t ar_turn_q, ar_port, r_port;
  logic [DataW-1:0] r_data;
  logic [1:0] r_resp;
  logic [$clog2(Bursts):0] unused_r_count;
  assign ar_port = next_of(ar_valid_i, ar_turn_q);
  assign ar_valid = ar_valid_i != '0 && ar_room && !stop_i;
  assign ar_takes = ar_valid && ar_ready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ar_turn_q <= '0;
    else if (ar_takes) ar_turn_q <= ar_port == port_t'(Ports - 1) ? '0 : ar_port + 1'b1;
  end
  rl_fifo #(
    .Width(PortW),
    .Depth(Bursts)
  ) u_readers (
    .clk_i,
    .rst_ni,
    .wvalid_i(ar_takes),
    .wready_o(ar_room),
    .wdata_i(ar_port),
    .rvalid_o(r_owed),
    .rready_i(r_valid && r_last),
    .rdata_o(r_port),
    .count_o(unused_r_count)
  );
  always_comb begin
    {aw_ready_o, w_ready_o, b_valid_o, ar_ready_o, r_valid_o} = '0;
    aw_ready_o[aw_port] = aw_takes;
    w_ready_o[w_port_q] = writes_q && w_ready;
    b_valid_o[b_port] = b_valid;
    ar_ready_o[ar_port] = ar_takes;
    r_valid_o[r_port] = r_valid;
  end
  assign b_resp_o = {Ports{b_resp}};
  assign r_data_o = {Ports{r_data}};
  assign r_resp_o = {Ports{r_resp}};
  assign r_last_o = {Ports{r_last}};

  rl_bridge_memory #(
    .DataW(DataW)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .busy_o,
    .failed_o,
    .awvalid_i(aw_valid),
    .awready_o(aw_ready),
    .awaddr_i(aw_addr_i[aw_port]),
    .awlen_i(aw_len_i[aw_port]),
    .wvalid_i(writes_q && w_valid_i[w_port_q]),
    .wready_o(w_ready),
    .wdata_i(w_data_i[w_port_q]),
    .wstrb_i(w_strb_i[w_port_q]),
    .wlast_i(w_last_i[w_port_q]),
    .bvalid_o(b_valid),
    .bready_i(1'b1),
    .bresp_o(b_resp),
    .arvalid_i(ar_valid),
    .arready_o(ar_ready),
    .araddr_i(ar_addr_i[ar_port]),
    .arlen_i(ar_len_i[ar_port]),
    .rvalid_o(r_valid),
    .rready_i(1'b1),
    .rdata_o(r_data),
    .rresp_o(r_resp),
    .rlast_o(r_last),
    .clk_ddr_i,
    .rst_ddr_ni,
    .axi_o,
    .axi_i
  );

  logic unused;
  assign unused = ^{unused_b_count, unused_r_count, b_owed, r_owed};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && b_valid) WriteHasOwner_A : assert (b_owed);
  always_ff @(posedge clk_i) if (rst_ni && r_valid) ReadHasOwner_A : assert (r_owed);
`endif
endmodule
