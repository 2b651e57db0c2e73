// Memory behind the ports of LiteDRAM's controller: it is trained after a while, stalls at random, serves one
// burst at a time and way, and keeps the first 256 KiB of each 16 MiB, which the others there share.
module litedram_core (
  input wire clk,
  output logic [14:0] ddram_a,
  output logic [2:0] ddram_ba,
  output logic ddram_cas_n,
  output logic ddram_cke,
  input wire ddram_clk_n,
  output logic ddram_clk_p,
  output logic ddram_cs_n,
  output logic [1:0] ddram_dm,
  input wire [15:0] ddram_dq,
  input wire [1:0] ddram_dqs_n,
  input wire [1:0] ddram_dqs_p,
  output logic ddram_odt,
  output logic ddram_ras_n,
  output logic ddram_reset_n,
  output logic ddram_we_n,
  output logic init_done,
  output logic init_error,
  output logic pll_locked,
  input wire rst,
  input wire uart_rx,
  output logic uart_tx,
  output logic user_clk,
  input wire [28:0] user_port_role_araddr,
  input wire [1:0] user_port_role_arburst,
  input wire [5:0] user_port_role_arid,
  input wire [7:0] user_port_role_arlen,
  output logic user_port_role_arready,
  input wire [3:0] user_port_role_arsize,
  input wire user_port_role_arvalid,
  input wire [28:0] user_port_role_awaddr,
  input wire [1:0] user_port_role_awburst,
  input wire [5:0] user_port_role_awid,
  input wire [7:0] user_port_role_awlen,
  output logic user_port_role_awready,
  input wire [3:0] user_port_role_awsize,
  input wire user_port_role_awvalid,
  output logic [5:0] user_port_role_bid,
  input wire user_port_role_bready,
  output logic [1:0] user_port_role_bresp,
  output logic user_port_role_bvalid,
  output logic [127:0] user_port_role_rdata,
  output logic [5:0] user_port_role_rid,
  output logic user_port_role_rlast,
  input wire user_port_role_rready,
  output logic [1:0] user_port_role_rresp,
  output logic user_port_role_rvalid,
  input wire [127:0] user_port_role_wdata,
  input wire user_port_role_wlast,
  output logic user_port_role_wready,
  input wire [15:0] user_port_role_wstrb,
  input wire user_port_role_wvalid,
  input wire [28:0] user_port_shell_araddr,
  input wire [1:0] user_port_shell_arburst,
  input wire [5:0] user_port_shell_arid,
  input wire [7:0] user_port_shell_arlen,
  output logic user_port_shell_arready,
  input wire [3:0] user_port_shell_arsize,
  input wire user_port_shell_arvalid,
  input wire [28:0] user_port_shell_awaddr,
  input wire [1:0] user_port_shell_awburst,
  input wire [5:0] user_port_shell_awid,
  input wire [7:0] user_port_shell_awlen,
  output logic user_port_shell_awready,
  input wire [3:0] user_port_shell_awsize,
  input wire user_port_shell_awvalid,
  output logic [5:0] user_port_shell_bid,
  input wire user_port_shell_bready,
  output logic [1:0] user_port_shell_bresp,
  output logic user_port_shell_bvalid,
  output logic [127:0] user_port_shell_rdata,
  output logic [5:0] user_port_shell_rid,
  output logic user_port_shell_rlast,
  input wire user_port_shell_rready,
  output logic [1:0] user_port_shell_rresp,
  output logic user_port_shell_rvalid,
  input wire [127:0] user_port_shell_wdata,
  input wire user_port_shell_wlast,
  output logic user_port_shell_wready,
  input wire [15:0] user_port_shell_wstrb,
  input wire user_port_shell_wvalid,
  output logic user_rst
);
  localparam int unsigned WordsW = 19;
  logic [127:0] words[1 << WordsW];
  function automatic logic [WordsW-1:0] place(input logic [28:0] addr);
    return {addr[28:24], addr[17:4]};
  endfunction

  logic [1:0]
      awvalid,
      awready,
      wvalid,
      wready,
      wlast,
      bvalid,
      bready,
      arvalid,
      arready,
      rvalid,
      rready,
      rlast;
  logic [1:0][28:0] awaddr, araddr;
  logic [1:0][7:0] awlen, arlen;
  logic [1:0][5:0] awid, arid, bid, rid;
  logic [1:0][127:0] wdata, rdata;
  logic [1:0][15:0] wstrb;
  assign awvalid = {user_port_role_awvalid, user_port_shell_awvalid};
  assign {user_port_role_awready, user_port_shell_awready} = awready;
  assign awaddr = {user_port_role_awaddr, user_port_shell_awaddr};
  assign awlen = {user_port_role_awlen, user_port_shell_awlen};
  assign awid = {user_port_role_awid, user_port_shell_awid};
  assign wvalid = {user_port_role_wvalid, user_port_shell_wvalid};
  assign {user_port_role_wready, user_port_shell_wready} = wready;
  assign wdata = {user_port_role_wdata, user_port_shell_wdata};
  assign wstrb = {user_port_role_wstrb, user_port_shell_wstrb};
  assign wlast = {user_port_role_wlast, user_port_shell_wlast};
  assign {user_port_role_bvalid, user_port_shell_bvalid} = bvalid;
  assign bready = {user_port_role_bready, user_port_shell_bready};
  assign {user_port_role_bid, user_port_shell_bid} = bid;
  assign arvalid = {user_port_role_arvalid, user_port_shell_arvalid};
  assign {user_port_role_arready, user_port_shell_arready} = arready;
  assign araddr = {user_port_role_araddr, user_port_shell_araddr};
  assign arlen = {user_port_role_arlen, user_port_shell_arlen};
  assign arid = {user_port_role_arid, user_port_shell_arid};
  assign {user_port_role_rvalid, user_port_shell_rvalid} = rvalid;
  assign rready = {user_port_role_rready, user_port_shell_rready};
  assign {user_port_role_rdata, user_port_shell_rdata} = rdata;
  assign {user_port_role_rlast, user_port_shell_rlast} = rlast;
  assign {user_port_role_rid, user_port_shell_rid} = rid;
  assign {user_port_role_bresp, user_port_shell_bresp, user_port_role_rresp, user_port_shell_rresp} = '0;

  assign user_clk = clk;
  logic [9:0] trained_q = '0, untrained_q = '0;  // With +untrained, it fails.
  logic [31:0] dice_q = '1;
  assign user_rst = rst;
  assign pll_locked = 1'b1;
  assign init_done = &trained_q;
  assign init_error = &untrained_q;
  always_ff @(posedge clk) begin
    if (rst) begin
      trained_q <= '0;
      untrained_q <= '0;
    end else if ($test$plusargs("untrained") != 0) begin
      if (!init_error) untrained_q <= untrained_q + 1'b1;
    end else if (!init_done) begin
      trained_q <= trained_q + 1'b1;
    end
    dice_q <= {dice_q[30:0], dice_q[31] ^ dice_q[21] ^ dice_q[1] ^ dice_q[0]};
  end

  for (genvar n = 0; n < 2; n++) begin : gen_port
    logic writing_q, reading_q;
    logic [28:0] waddr_q, raddr_q;
    logic [7:0] wleft_q, rleft_q;
    assign awready[n] = init_done && !writing_q && !bvalid[n] && dice_q[8*n];
    assign wready[n] = writing_q && dice_q[8*n+1];
    assign arready[n] = init_done && !reading_q && dice_q[8*n+2];
    assign rlast[n] = rleft_q == 0;
    assign rdata[n] = words[place(raddr_q)];
    always_ff @(posedge clk) begin
      if (rst) begin
        writing_q <= 1'b0;
        reading_q <= 1'b0;
        bvalid[n] <= 1'b0;
        rvalid[n] <= 1'b0;
      end else begin
        if (awvalid[n] && awready[n]) begin
          writing_q <= 1'b1;
          waddr_q <= awaddr[n];
          wleft_q <= awlen[n];
          bid[n] <= awid[n];
        end
        if (wvalid[n] && wready[n]) begin
          for (int i = 0; i < 16; i++) begin
            if (wstrb[n][i]) words[place(waddr_q)][8*i+:8] <= wdata[n][8*i+:8];
          end
          waddr_q <= waddr_q + 29'd16;
          wleft_q <= wleft_q - 1'b1;
          assert (wlast[n] == (wleft_q == 0));
          if (wleft_q == 0) writing_q <= 1'b0;
        end
        if (bready[n]) bvalid[n] <= 1'b0;
        if (wvalid[n] && wready[n] && wleft_q == 0) bvalid[n] <= 1'b1;
        if (arvalid[n] && arready[n]) begin
          reading_q <= 1'b1;
          raddr_q <= araddr[n];
          rleft_q <= arlen[n];
          rid[n] <= arid[n];
        end
        if (rvalid[n] && rready[n]) begin
          raddr_q <= raddr_q + 29'd16;
          rleft_q <= rleft_q - 1'b1;
          if (rlast[n]) reading_q <= 1'b0;
        end
        if (!rvalid[n] || rready[n]) begin
          rvalid[n] <= reading_q && !(rvalid[n] && rlast[n]) && dice_q[8*n+3];
        end
      end
    end
  end
endmodule : litedram_core
