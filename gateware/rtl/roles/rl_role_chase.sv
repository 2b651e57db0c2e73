// A list that lies in another card's memory, as device/roles/chase follows it: each node is the address of the next
// one, 0 at the end, and a value. The stream's route says whose memory it is.
//
//     0 chase(stream, head, most)      the sum of the values of the first `most` nodes
//     1 raise(stream, head, most, by)  adds to the value of each; how many there are
//     2 fault(stream, addr)            what reading eight bytes there leads to
//     3 walk(head, most)               as chase, in the card's own memory
//
// A node begins at a multiple of its size. What another node does wrong ends a launch as its fault.
module rl_role_chase
  import rl_role_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  role_in_t    role_i,
  output role_out_t   role_o,
  output axi_req_t    axi_o,
  input  axi_rsp_t    axi_i,
  output remote_req_t remote_o,
  input  remote_rsp_t remote_i
);
  localparam logic [7:0] ChaseKernel = 8'd0, RaiseKernel = 8'd1, FaultKernel = 8'd2, WalkKernel = 8'd3;
  // The model's arrays lie here.
  localparam logic [63:0] Lowest = 64'h10_0000, Top = 64'h1_0000_0000;
  localparam logic [2:0] Word = 3'd3;  // A beat of eight bytes.
  typedef enum logic [3:0] {
    Idle,
    Look,   // Is there a node, and can there be?
    Ask,
    Next,   // Its first word comes,
    Value,  // and its second.
    Say,    // Another value goes there,
    Put,    // with its word,
    Told,   // and is there.
    AskOwn,
    TakeOwn,
    Done
  } state_e;
  state_e state_q;
  axil_rsp_t axil;
  logic interrupt, start, trap_q, far_q, walks, faults;
  logic [7:0] kernel;
  logic [4*64-1:0] args;
  logic [3:0] stream;
  logic [63:0] at_q, next_q, left_q, sum_q, value_q;
  logic [127:0] own;
  assign walks = kernel == WalkKernel;
  assign faults = kernel == FaultKernel;
  assign stream = args[3:0];

  rl_role_ctrl #(
    .Args(4)
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
    .remote_i(far_q),
    .value_i(sum_q)
  );
  assign role_o = '{axil: axil, irq: interrupt, default: '0};

  // -- whether there is a node to look at, and may be
  logic more, wrong, bad;
  always_comb begin
    more = faults || (at_q != '0 && left_q != '0);
    wrong = args[63:0] > 64'd15 || at_q[63:RemoteAddrW] != '0 || at_q[2:0] != '0 || (at_q[3] && !faults);
    if (walks) wrong = at_q < Lowest || at_q >= Top || at_q[3:0] != '0;
    if (kernel > WalkKernel) {more, wrong} = '1;
  end

  // -- the memory of others, and our own
  assign remote_o = '{
          awaddr: '{stream: stream, addr: at_q[RemoteAddrW-1:0] | RemoteAddrW'(8)},
          awlen: '0,
          awsize: Word,
          awvalid: state_q == Say,
          wdata: value_q + args[255:192],
          wstrb: '1,
          wlast: 1'b1,
          wvalid: state_q == Put,
          bready: 1'b1,
          araddr: '{stream: stream, addr: at_q[RemoteAddrW-1:0]},
          arlen: faults ? 8'd0 : 8'd1,
          arsize: Word,
          arvalid: state_q == Ask,
          rready: 1'b1
      };
  always_comb begin
    axi_o = '0;
    axi_o.araddr = at_q[AxiAddrW-1:0];
    axi_o.arvalid = state_q == AskOwn;
    axi_o.rready = 1'b1;
  end
  assign own = axi_i.rdata[128*at_q[5:4]+:128];

  assign bad = far_q || remote_i.rresp != RemoteOkay;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else begin
      case (state_q)
        Look: state_q <= !more || wrong ? Done : walks ? AskOwn : Ask;
        Ask: if (remote_i.arready) state_q <= Next;
        Next: if (remote_i.rvalid) state_q <= faults ? Done : Value;
        Value: if (remote_i.rvalid) state_q <= bad ? Done : kernel == RaiseKernel ? Say : Look;
        Say: if (remote_i.awready) state_q <= Put;
        Put: if (remote_i.wready) state_q <= Told;
        Told: if (remote_i.bvalid) state_q <= remote_i.bresp == RemoteOkay ? Look : Done;
        AskOwn: if (axi_i.arready) state_q <= TakeOwn;
        TakeOwn: if (axi_i.rvalid) state_q <= axi_i.rresp == RespOkay ? Look : Done;
        Done: state_q <= Idle;
        default: if (start) state_q <= Look;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    case (state_q)
      Look: begin
        trap_q <= more && wrong;
        left_q <= left_q - 1'b1;
      end
      Next:
      if (remote_i.rvalid) begin
        next_q <= remote_i.rdata;
        far_q <= !faults && remote_i.rresp != RemoteOkay;
        if (faults) sum_q <= fault_of(remote_i.rresp);
      end
      Value:
      if (remote_i.rvalid) begin
        value_q <= remote_i.rdata;
        {trap_q, far_q} <= {2{bad}};
        if (kernel == ChaseKernel) begin
          sum_q <= sum_q + remote_i.rdata;
          at_q <= next_q;
        end
      end
      Told:
      if (remote_i.bvalid) begin
        {trap_q, far_q} <= {2{remote_i.bresp != RemoteOkay}};
        sum_q <= sum_q + 64'd1;
        at_q <= next_q;
      end
      TakeOwn:
      if (axi_i.rvalid) begin
        trap_q <= axi_i.rresp != RespOkay;
        sum_q <= sum_q + own[127:64];
        at_q <= own[63:0];
      end
      Idle: begin
        {trap_q, far_q} <= '0;
        sum_q <= '0;
        at_q <= walks ? args[63:0] : args[127:64];
        left_q <= walks ? args[127:64] : args[191:128];
      end
      default: ;
    endcase
  end

  // As RL_REMOTE_... of device/include/rackloom.h: no route, refused, gone.
  function automatic logic [63:0] fault_of(remote_e what);
    case (what)
      RemoteOkay: return 64'd0;
      RemoteNowhere: return 64'd1;
      RemoteRefused: return 64'd2;
      default: return 64'd3;
    endcase
  endfunction

  logic unused;
  assign unused = ^{role_i.event_ready, axi_i, remote_i.rlast};
endmodule
