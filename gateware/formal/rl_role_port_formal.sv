// rl_role_port with a role that does anything at all on AXI4-Lite, or nothing, and a guard that drains a role which is
// cut off within some cycles (what it needs for that is rl_guard's proof). What is checked:
//   - towards the role the rules of AXI4-Lite are kept: what is offered stays until it is taken, or the role is reset;
//   - the role is reset only when it is cut off and drained;
//   - a launch that was taken ends, once, and with it one end is reported: `left`,
//     an upper bound of the cycles until then,
//     goes down with each cycle;
//   - a role that is to be cut off is, within a bound that is made in the same way, whatever runs.
module rl_role_port_formal
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
(
  input logic          clk_i,
  input logic          cmd_valid_i,
  input role_command_t cmd_i,
  input logic          stop_i,
  input logic          isolate_i,
  input logic          hold_i,
  input axil_rsp_t     axil_i,
  input logic          interrupt_i,
  input logic          drained_i,
  input guard_fault_t  guard_fault_i
);
  // The least with which a reset is as long as it is to be.
  localparam int unsigned AnswerW = 5;
  localparam int unsigned FuelMaxW = 3;
  localparam int unsigned DrainCycles = 4;

  logic cmd_ready, end_toggle, isolated, role_rst_n, guard_isolate, rst_n = 1'b0;
  axil_req_t axil;
  rl_role_port #(
    .AnswerW(AnswerW),
    .FuelMaxW(FuelMaxW)
  ) u_dut (
    .clk_role_i(clk_i),
    .rst_role_ni(rst_n),
    .cmd_valid_i,
    .cmd_ready_o(cmd_ready),
    .cmd_i,
    .stop_i,
    .end_toggle_o(end_toggle),
    .end_status_o(),
    .value_o(),
    .cycles_o(),
    .isolate_i,
    .hold_i,
    .isolated_o(isolated),
    .fault_axil_o(),
    .fault_guard_o(),
    .axil_o(axil),
    .axil_i,
    .interrupt_i,
    .role_rst_no(role_rst_n),
    .guard_isolate_o(guard_isolate),
    .guard_drained_i(drained_i),
    .guard_fault_i
  );
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // -- the guard: drained in time, and from then on for as long as the role is cut off
  logic [2:0] draining_q = '0;
  logic drained_q = 1'b0;
  always_comb begin
    assume (!(drained_q && guard_isolate) || drained_i);
    assume (!(guard_isolate && draining_q == 3'(DrainCycles)) || drained_i);
  end
  always_ff @(posedge clk_i) begin
    drained_q <= !rst_n || (guard_isolate && drained_i);  // After a reset nothing is under way.
    draining_q <= rst_n && guard_isolate && !drained_i ? draining_q + 1'b1 : '0;
  end

  // As there.
  typedef enum logic [3:0] {
    Idle,
    Run,
    Status,
    Value,
    Clear,
    Ended,
    Drain,
    Reset,
    Held
  } state_e;
  state_e state;
  assign state = state_e'(u_dut.state_q);

  // -- how long it may still take
  localparam int unsigned Answer = 1 << AnswerW;  // Cycles from one step of the role to the next.
  localparam int unsigned Drained = 64;  // Less than this when the role is cut off,
  localparam int unsigned Stage = 8 * Answer;     // and so much for each read, or the write at the end.
  typedef logic [12:0] cycles_t;
  cycles_t left, writes, reads, patience;
  assign writes = cycles_t'(u_dut.aw_valid_q) + cycles_t'(u_dut.w_valid_q) + cycles_t'(u_dut.writes_q);
  assign reads = cycles_t'(u_dut.ar_valid_q) + cycles_t'(u_dut.r_wait_q);
  assign patience = cycles_t'(Answer) - cycles_t'(u_dut.watch_q);
  always_comb begin
    left = '0;
    case (state)
      Ended: left = 13'd1;
      Reset: left = 13'd34 - cycles_t'(u_dut.watch_q);
      Drain: left = 13'd40 + cycles_t'(DrainCycles) - cycles_t'(draining_q);
      Clear:
      left = cycles_t'(Drained) + patience +
          (u_dut.clearing_q ? writes << AnswerW : cycles_t'(Stage - 2 * Answer));
      Value: left = cycles_t'(Drained + Stage) + patience + (reads << AnswerW);
      Status: left = cycles_t'(Drained + 2 * Stage) + patience + (reads << AnswerW);
      Run:
      left = cycles_t'(Drained + 3 * Stage) + patience + (writes << AnswerW) +
          cycles_t'(1 << FuelMaxW) - cycles_t'(u_dut.cycles_q);
      default: ;
    endcase
  end
  localparam int unsigned LeftMax = Drained + 3 * Stage + Answer + 17 * Answer + (1 << FuelMaxW);

  // Until it is cut off, with nothing under way; then that comes after what is under way.
  cycles_t until_held;
  always_comb begin
    until_held = '0;
    case (state)
      Idle: until_held = cycles_t'(50);
      Drain: until_held = left;
      Reset: until_held = cycles_t'(50) + left;
      default: ;
    endcase
    if (u_dut.under_way_q) until_held = cycles_t'(Drained) + left;
  end

  axil_req_t axil_q;
  axil_rsp_t answer_q;
  logic past_q = 1'b0, role_rst_nq = 1'b0, may_reset_q = 1'b0, toggle_q = 1'b0, isolate_q = 1'b0;
  logic started_q = 1'b0;  // A launch was taken and has not ended.
  cycles_t left_q, until_held_q;
  logic run_q = 1'b0, held_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_q <= rst_n;
    axil_q <= axil;
    answer_q <= axil_i;
    role_rst_nq <= role_rst_n;
    may_reset_q <= guard_isolate && drained_i;
    toggle_q <= rst_n && end_toggle;
    if (!rst_n) started_q <= 1'b0;
    else if (u_dut.take_start) started_q <= 1'b1;
    else if (end_toggle != toggle_q) started_q <= 1'b0;
    left_q <= left;
    run_q <= rst_n && u_dut.under_way_q;
    until_held_q <= until_held;
    isolate_q <= rst_n && u_dut.isolate;
    held_q <= rst_n && state == Held;

    if (past_q) begin
      if (axil_q.awvalid && !answer_q.awready && role_rst_n)
        assert (axil.awvalid && axil.awaddr == axil_q.awaddr);
      if (axil_q.wvalid && !answer_q.wready && role_rst_n)
        assert (axil.wvalid && axil.wdata == axil_q.wdata && axil.wstrb == axil_q.wstrb);
      if (axil_q.arvalid && !answer_q.arready && role_rst_n)
        assert (axil.arvalid && axil.araddr == axil_q.araddr);
      if (role_rst_nq && !role_rst_n) assert (may_reset_q);

      // It ends.
      if (run_q && u_dut.under_way_q) assert (left < left_q);
      assert (left <= cycles_t'(LeftMax));
      // It is cut off.
      if (isolate_q && u_dut.isolate) assert (held_q ? isolated : until_held < until_held_q);
      assert (until_held <= cycles_t'(LeftMax + Drained));
    end
  end

  // -- What induction has to know.
  always_comb begin
    assert (rst_n || !past_q);
    if (rst_n) begin
      assert (state <= Held);
      assert (draining_q <= 3'(DrainCycles) && (!drained_q || draining_q == 0));
      // One end is reported for each launch.
      assert (u_dut.under_way_q == (started_q && end_toggle == toggle_q));
      if (end_toggle != toggle_q) assert (started_q);
      if (u_dut.take_start) assert (!u_dut.under_way_q);
      if (state inside {Run, Status, Value, Clear, Ended}) assert (u_dut.under_way_q);
      if (state inside {Idle, Held}) assert (!u_dut.under_way_q);
      if (state inside {Idle, Held, Reset, Ended}) assert (!u_dut.clearing_q);
      if (state inside {Idle, Run, Status, Value}) assert (!u_dut.clearing_q);
      if (state inside {Idle, Run, Clear}) assert (!u_dut.ar_valid_q && !u_dut.r_wait_q);
      if (state inside {Status, Value}) assert (u_dut.writes_q == 0);
      if (state == Clear) assert (u_dut.writes_q <= 4'(u_dut.clearing_q));
      if (u_dut.aw_valid_q || u_dut.w_valid_q) assert (u_dut.writes_q != 0);
      if (state inside {Status, Value}) assert (u_dut.r_wait_q);
      if (state == Reset && u_dut.watch_q != 0) begin
        assert (u_dut.watch_q <= 16 && !role_rst_n);
        assert (!u_dut.aw_valid_q && !u_dut.w_valid_q && !u_dut.ar_valid_q && u_dut.writes_q == 0);
      end
      if (state == Held || (state inside {Idle, Run} && u_dut.writes_q == 0))
        assert (u_dut.watch_q == 0);
      if (state inside {Reset, Held}) assert (drained_q);
      if (state == Run) assert (u_dut.cycles_q <= (FuelMaxW + 1)'(1 << FuelMaxW));
    end
  end

  logic ended_well_q = 1'b0, trapped_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (end_toggle != toggle_q && past_q) begin
      ended_well_q <= u_dut.end_status_o == EndOk;
      trapped_q <= u_dut.end_status_o == EndTrap && u_dut.fault_axil_o;
    end
    EndsWell_C : cover (ended_well_q);
    Traps_C : cover (trapped_q);
    CutOff_C : cover (past_q && isolated && ended_well_q);
  end
endmodule
