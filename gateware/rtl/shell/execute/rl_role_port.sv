// Runs kernels: takes commands from rl_launch, writes arguments and starts over AXI4-Lite, counts
// the cycles until the role's interrupt, fetches status and value.
//
// A role that does not answer, breaks a rule (rl_guard tells), passes its bound or must be stopped
// is stopped in one way: it is cut off from DDR, what it had under way there is finished without
// it, it is held in reset, and let go again.
module rl_role_port
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
#(
  parameter int unsigned AnswerW = 10,  // A role answers on AXI4-Lite within 2^AnswerW - 1 cycles.
  parameter int unsigned FuelMaxW = 40, // The bound of all launches as in the model: 2^FuelMaxW cycles.
  localparam int unsigned ResetCycles = 16
) (
  input  logic         clk_role_i,
  input  logic         rst_role_ni,

  // -- rl_launch
  input  logic         cmd_valid_i,
  output logic         cmd_ready_o,
  input  role_command_t  cmd_i,
  input  logic         stop_i,         // From the net domain: end the kernel that runs.
  output logic         end_toggle_o,   // Changes when a kernel has ended; then these are steady.
  output end_e         end_status_o,
  output logic [63:0]  value_o,
  output cycles_t      cycles_o,

  // -- configuration, from the net domain
  input  logic         isolate_i,      // Cut the role off. It is reset before it is let go again.
  input  logic         hold_i,         // Meanwhile, hold it in reset.
  output logic         isolated_o,     // It is, and nothing of it is under way.
  // What went wrong since the last kernel started.
  output logic         fault_axil_o,
  output guard_fault_t fault_guard_o,

  // -- the role and its guard
  output axil_req_t    axil_o,
  input  axil_rsp_t    axil_i,
  input  logic         interrupt_i,
  output logic         role_rst_no,
  output logic         guard_isolate_o,
  input  logic         guard_drained_i,
  input  guard_fault_t guard_fault_i   // Steady until the guard was isolated.
);
  typedef enum logic [3:0] {
    Idle,
    Run,     // A kernel was started.
    Status,  // What the interrupt means is asked for,
    Value,   // then what the kernel returned,
    Clear,   // and the interrupt is taken back.
    Ended,
    Drain,   // The role is cut off; what it had under way is finished.
    Reset,
    Held     // Cut off by the firmware.
  } state_e;

  state_e state_q;
  logic stop, isolate, hold;
  rl_sync #(
    .Width(3)
  ) u_sync (
    .clk_i(clk_role_i),
    .rst_ni(rst_role_ni),
    .d_i({stop_i, isolate_i, hold_i}),
    .q_o({stop, isolate, hold})
  );

  // -- AXI4-Lite. Writes are sent one after the other; their answers are counted.
  localparam int unsigned CountW = 4;
  logic aw_valid_q, w_valid_q, ar_valid_q, r_wait_q;
  logic for_value_q;  // The read is, or was, of the value. An address holds while its read waits, whatever ends that.
  logic aw_sent, w_sent, b_got, ar_sent, r_got, issue_free, issue;
  reg_addr_t aw_addr_q, aw_addr;
  logic [63:0] w_data_q, w_data;
  logic [CountW-1:0] writes_q;  // Issued and not answered.

  assign axil_o = '{
    awaddr: aw_addr_q,
    awvalid: aw_valid_q,
    wdata: w_data_q,
    wstrb: '1,
    wvalid: w_valid_q,
    bready: 1'b1,
    araddr: for_value_q ? RegValue : RegStatus,
    arvalid: ar_valid_q,
    rready: 1'b1
  };
  assign aw_sent = aw_valid_q && axil_i.awready;
  assign w_sent = w_valid_q && axil_i.wready;
  // An answer to what the role has not taken is none: else one that answers for ever would never be late.
  assign b_got = axil_i.bvalid && writes_q != CountW'((aw_valid_q && !axil_i.awready) || (w_valid_q && !axil_i.wready));
  assign ar_sent = ar_valid_q && axil_i.arready;
  assign r_got = r_wait_q && axil_i.rvalid && (!ar_valid_q || axil_i.arready);
  assign issue_free = (!aw_valid_q || axil_i.awready) && (!w_valid_q || axil_i.wready) &&
                      writes_q != '1;

  // -- commands
  logic take, take_start, serve, stale_q;
  assign serve = state_q == Idle && !isolate && guard_fault_i == 0;
  // While the role is held, commands are read and dropped: none may wait for another role.
  assign cmd_ready_o = (serve && issue_free) || state_q == Held;
  assign take = cmd_valid_i && cmd_ready_o;
  assign take_start = take && cmd_i.what == CmdStart;

  logic clear, clearing_q;
  assign clear = state_q == Clear && !clearing_q && issue_free;
  assign issue = (take && serve && cmd_i.what != CmdFuel && !(take_start && stale_q)) || clear;
  always_comb begin
    // Argument k comes as word CmdArgs + k. CmdArgs is 8, so that the upper bits count from 1 up to 4.
    aw_addr = RegArgs;
    aw_addr[7:3] = {cmd_i.what[5] | &cmd_i.what[4:3], !cmd_i.what[3], cmd_i.what[2:0]};
    if (take_start) aw_addr = RegControl;
    if (clear) aw_addr = RegStatus;
    w_data = cmd_i.data;
    // Only the bit that is cleared matters.
    if (clear) w_data[2:0] = 3'(1 << StatusDone);
  end

  // -- cycles, and their bound
  logic interrupt_q, counting, counted_q, reached, fuel_on_q;
  logic [FuelMaxW:0] cycles_q, fuel_q;
  // A launch without a bound of its own says 0, and is past that when the first cycle is counted.
  assign reached = (fuel_on_q && counted_q && cycles_q == fuel_q) || cycles_q[FuelMaxW];
  assign counting = state_q == Run && !aw_valid_q && !w_valid_q && !interrupt_q;
  assign cycles_o = CyclesW'(cycles_q);

  // -- time-out
  logic [AnswerW-1:0] watch_q;
  logic waits, late, progress;
  assign waits = aw_valid_q || w_valid_q || writes_q != 0 || ar_valid_q || r_wait_q ||
                 (state_q == Clear && interrupt_q);
  assign progress = aw_sent || w_sent || b_got || ar_sent || r_got;
  assign late = watch_q == '1 && state_q != Reset;

  logic broken, bad_answer, under_way_q;
  assign bad_answer = (b_got && axil_i.bresp != RespOkay) || (r_got && axil_i.rresp != RespOkay);
  // In these states the role has its way.
  assign broken = (late || bad_answer || guard_fault_i != 0) &&
                  state_q inside {Idle, Run, Status, Value, Clear};

  assign guard_isolate_o = state_q inside {Drain, Reset, Held};
  assign isolated_o = state_q == Held && guard_drained_i;

  always_ff @(posedge clk_role_i) begin
    if (issue) begin
      aw_addr_q <= aw_addr;
      w_data_q <= w_data;
    end
    if (take && cmd_i.what == CmdFuel) begin
      fuel_q <= cmd_i.data[FuelMaxW:0];
      fuel_on_q <= cmd_i.data[63:FuelMaxW+1] == 0;
    end
    interrupt_q <= interrupt_i;
    if (take_start) cycles_q <= '0;
    else if (counting && !reached) cycles_q <= cycles_q + 1'b1;
    if (take_start) counted_q <= 1'b0;
    else if (counting) counted_q <= 1'b1;
    if (take_start || (broken && state_q != Idle)) value_o <= '0;
    else if (state_q == Value && r_got) value_o <= axil_i.rdata;

    if (!rst_role_ni) begin
      state_q <= Held;
      role_rst_no <= 1'b0;
      aw_valid_q <= 1'b0;
      w_valid_q <= 1'b0;
      ar_valid_q <= 1'b0;
      r_wait_q <= 1'b0;
      for_value_q <= 1'b0;
      writes_q <= '0;
      watch_q <= '0;
      clearing_q <= 1'b0;
      stale_q <= 1'b1;
      under_way_q <= 1'b0;
      end_toggle_o <= 1'b0;
      end_status_o <= EndOk;
      fault_axil_o <= 1'b0;
      fault_guard_o <= '0;
    end else begin
      aw_valid_q <= issue || (aw_valid_q && !aw_sent);
      w_valid_q <= issue || (w_valid_q && !w_sent);
      writes_q <= writes_q + CountW'(issue) - CountW'(b_got);
      ar_valid_q <= ar_valid_q && !ar_sent;
      r_wait_q <= r_wait_q && !r_got;
      watch_q <= waits && !progress ? watch_q + 1'b1 : '0;
      // Arguments do not outlive a reset of the role; the next launch's begin with its bound.
      if (take && cmd_i.what == CmdFuel) stale_q <= 1'b0;

      unique case (state_q)
        Idle: begin
          if (isolate) state_q <= Drain;
          if (take_start) begin
            fault_axil_o <= 1'b0;
            fault_guard_o <= '0;
            end_status_o <= EndTrap;
            state_q <= stale_q ? Ended : Run;
            under_way_q <= 1'b1;
          end
        end
        Run: begin
          if (interrupt_q && writes_q == 0) begin
            state_q <= Status;
            for_value_q <= 1'b0;
            ar_valid_q <= 1'b1;
            r_wait_q <= 1'b1;
          end else if (reached && !interrupt_q) begin
            state_q <= Drain;
            end_status_o <= EndFuel;
          end else if (stop || isolate) begin
            state_q <= Drain;
            end_status_o <= EndCancelled;
          end
        end
        Status: begin
          if (r_got && !axil_i.rdata[StatusDone]) begin
            state_q <= Drain;
          end else if (r_got && axil_i.rdata[StatusTrap]) begin
            state_q <= Clear;
            if (axil_i.rdata[StatusRemote]) end_status_o <= EndRemote;
          end else if (r_got) begin
            state_q <= Value;
            end_status_o <= EndOk;
            for_value_q <= 1'b1;
            ar_valid_q <= 1'b1;
            r_wait_q <= 1'b1;
          end
        end
        Value: if (r_got) state_q <= Clear;
        Clear: begin
          if (clear) clearing_q <= 1'b1;
          if (clearing_q && writes_q == 0 && !interrupt_q) begin
            clearing_q <= 1'b0;
            state_q <= Ended;
          end
        end
        Ended: begin
          state_q <= Idle;
          under_way_q <= 1'b0;
          end_toggle_o <= !end_toggle_o;
        end
        Drain: begin
          watch_q <= '0;
          clearing_q <= 1'b0;
          if (guard_drained_i) state_q <= isolate && !under_way_q ? Held : Reset;
        end
        Reset: begin
          role_rst_no <= 1'b0;
          aw_valid_q <= 1'b0;
          w_valid_q <= 1'b0;
          ar_valid_q <= 1'b0;
          r_wait_q <= 1'b0;
          writes_q <= '0;
          stale_q <= 1'b1;
          watch_q <= watch_q + 1'b1;
          if (watch_q[$clog2(ResetCycles)]) begin
            watch_q <= '0;
            role_rst_no <= 1'b1;
            state_q <= under_way_q ? Ended : Idle;
          end
        end
        Held: begin
          watch_q <= '0;
          role_rst_no <= !hold;
          stale_q <= 1'b1;
          if (take_start) begin
            end_status_o <= EndCancelled;
            end_toggle_o <= !end_toggle_o;
          end
          if (!isolate && !take) state_q <= Reset;
        end
        default: state_q <= Held;
      endcase

      if (broken) begin
        state_q <= Drain;
        if (state_q != Idle || take_start) end_status_o <= EndTrap;
        fault_axil_o <= late || bad_answer;
        fault_guard_o <= guard_fault_i;
      end
    end
  end

`ifndef SYNTHESIS
  WriteIsStable_A :
  assert property (@(posedge clk_role_i) disable iff (!rst_role_ni || !role_rst_no)
    axil_o.awvalid && !axil_i.awready |=> !role_rst_no || (axil_o.awvalid && $stable(
      axil_o.awaddr
  )));
  DataIsStable_A :
  assert property (@(posedge clk_role_i) disable iff (!rst_role_ni || !role_rst_no)
    axil_o.wvalid && !axil_i.wready |=> !role_rst_no || (axil_o.wvalid && $stable(
      axil_o.wdata
  )));
  ReadIsStable_A :
  assert property (@(posedge clk_role_i) disable iff (!rst_role_ni || !role_rst_no)
    axil_o.arvalid && !axil_i.arready |=> !role_rst_no || (axil_o.arvalid && $stable(
      axil_o.araddr
  )));
  ResetOnlyWhenCutOff_A :
  assert property (@(posedge clk_role_i) disable iff (!rst_role_ni) $fell(
      role_rst_no
  ) |-> $past(
      guard_isolate_o && guard_drained_i
  ));
`endif
endmodule
