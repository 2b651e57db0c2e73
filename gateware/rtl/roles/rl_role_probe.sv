// What a test of a card needs, as device/roles/probe has it:
//
//     0 bump    adds 1 to a cell and returns it, after so many cycles
//     1 trap    traps
//     2 spin    never returns
//
// and ways of going wrong that only a circuit has:
//
//     3 hang    never answers on AXI4-Lite again
//     4 flood   reads and writes without end, and takes no response
//     5 wild    writes to address argument 0
//     6 broken  takes VALID back (argument 0 = 0), ends a burst early (1), sends no data for
//               one (2), or makes one that crosses 4 KiB (3)
//     7 greedy  as flood, but takes every response: it breaks no rule
//    10 far     traps as if another node had done wrong
module rl_role_probe
  import rl_role_pkg::*;
(
  input  logic      clk_i,
  input  logic      rst_ni,
  input  role_in_t  role_i,
  output role_out_t role_o,
  output axi_req_t  axi_o,
  input  axi_rsp_t  axi_i
);
  localparam logic [7:0] Bump = 8'd0, Spin = 8'd2, Hang = 8'd3, Flood = 8'd4, Wild = 8'd5;
  localparam logic [7:0] Broken = 8'd6, Greedy = 8'd7, Far = 8'd10;
  // The model's arrays lie here.
  localparam logic [63:0] Lowest = 64'h10_0000, Top = 64'h1_0000_0000;

  typedef enum logic [3:0] {
    Idle,
    Check,
    Wait,
    Read,
    Add,
    Write,
    Answer,
    Flooding,
    Going,    // A bad burst.
    Done
  } state_e;

  logic interrupt, start, trap_q, mute_q;
  logic [7:0] kernel;
  logic [127:0] args;
  logic [63:0] cell_q, left_q;
  axil_rsp_t axil;
  state_e state_q;

  rl_role_ctrl #(
    .Args(2)
  ) u_ctrl (
    .clk_i,
    .rst_ni,
    .axil_i(role_i.axil),
    .axil_o(axil),
    .interrupt_o(interrupt),
    .start_o(start),
    .kernel_o(kernel),
    .args_o(args),
    .done_i(state_q == Done),
    .trap_i(trap_q),
    .remote_i(kernel == Far),
    .value_i(cell_q)
  );

  logic [63:0] first;
  logic [8:0] lane;
  assign first = args[63:0];
  assign lane = {first[5:3], 6'd0};

  // Not even the write that makes it hang is answered.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) mute_q <= 1'b0;
    else if (start && kernel == Hang) mute_q <= 1'b1;
  end
  always_comb begin
    role_o = '{axil: axil, irq: interrupt, default: '0};
    if (mute_q || (start && kernel == Hang)) begin
      role_o.axil.awready = 1'b0;
      role_o.axil.wready = 1'b0;
      role_o.axil.bvalid = 1'b0;
      role_o.axil.arready = 1'b0;
      role_o.axil.rvalid = 1'b0;
    end
  end

  // -- AXI4
  logic aw_q, w_q, ar_q, blink_q;
  logic [7:0] beats_q;
  logic flooding, going, early, silent, crossing;
  assign flooding = state_q == Flooding;
  assign going = state_q == Going;
  assign early = kernel == Broken && first == 1;
  assign silent = kernel == Broken && first == 2;
  assign crossing = kernel == Broken && first == 3;
  always_comb begin
    axi_o = '0;
    axi_o.awaddr = flooding || kernel == Broken ? AxiAddrW'(Lowest) : first[AxiAddrW-1:0];
    if (crossing) axi_o.awaddr[11:6] = '1;
    axi_o.awlen = flooding ? 8'd15 : early || silent || crossing ? 8'd3 : 8'd0;
    // With broken = 0: offered every other cycle, whatever is answered.
    axi_o.awvalid = flooding || aw_q || (going && kernel == Broken && first == 0 && blink_q);
    axi_o.wdata[lane+:64] = cell_q;
    axi_o.wstrb = flooding ? '0 : 64'hff << lane[8:3];
    axi_o.wlast = flooding ? beats_q[3:0] == '1 : 1'b1;
    axi_o.wvalid = flooding || w_q;
    axi_o.bready = state_q == Answer || (flooding && kernel == Greedy);
    axi_o.araddr = flooding ? AxiAddrW'(Lowest) : first[AxiAddrW-1:0];
    axi_o.arlen = flooding ? 8'd15 : 8'd0;
    axi_o.arvalid = flooding || ar_q;
    axi_o.rready = state_q == Read || flooding;
  end

  logic fits;
  assign fits = first >= Lowest && first <= Top - 64'd8 && first[2:0] == 0;

  always_ff @(posedge clk_i) begin
    if (state_q == Check) left_q <= args[127:64];
    else left_q <= left_q - 1'b1;
    if (state_q == Read && axi_i.rvalid) cell_q <= axi_i.rdata[lane+:64];
    if (state_q == Add) cell_q <= cell_q + 1'b1;
    blink_q <= !blink_q;
    if (!flooding) beats_q <= '0;
    else if (axi_o.wvalid && axi_i.wready) beats_q <= beats_q + 1'b1;

    if (!rst_ni) begin
      state_q <= Idle;
      aw_q <= 1'b0;
      w_q <= 1'b0;
      ar_q <= 1'b0;
      trap_q <= 1'b0;
      blink_q <= 1'b0;
    end else begin
      if (axi_i.awready) aw_q <= 1'b0;
      if (axi_i.wready) w_q <= 1'b0;
      if (axi_i.arready) ar_q <= 1'b0;

      unique case (state_q)
        Idle: begin
          trap_q <= 1'b0;
          if (start) begin
            unique case (kernel)
              Bump: state_q <= Check;
              Spin, Hang: state_q <= Idle;
              Flood, Greedy: state_q <= Flooding;
              Wild, Broken: begin
                state_q <= Going;
                aw_q <= kernel == Wild || first != 0;
                w_q <= kernel == Wild || early || crossing;
              end
              default: begin
                // Trap, and what there is not.
                state_q <= Done;
                trap_q <= 1'b1;
              end
            endcase
          end
        end
        Check: begin
          trap_q <= !fits;
          state_q <= fits ? Wait : Done;
        end
        Wait: begin
          if (left_q == 0) begin
            state_q <= Read;
            ar_q <= 1'b1;
          end
        end
        Read: begin
          if (axi_i.rvalid) begin
            trap_q <= axi_i.rresp != RespOkay;
            state_q <= axi_i.rresp == RespOkay ? Add : Done;
          end
        end
        Add: begin
          state_q <= Write;
          aw_q <= 1'b1;
          w_q <= 1'b1;
        end
        Write: if (!aw_q && !w_q) state_q <= Answer;
        Answer: begin
          if (axi_i.bvalid) begin
            trap_q <= axi_i.bresp != RespOkay;
            state_q <= Done;
          end
        end
        Done: state_q <= Idle;
        default: ;  // Until the role is reset.
      endcase
    end
  end

  logic unused;
  assign unused = ^{role_i.event_ready, axi_i.bid, axi_i.rid, axi_i.rlast};
endmodule
