// Which image runs: after power-up the golden image sends the device on to the newest slot that may be booted; an
// application confirms itself once it is served, and leaves for the golden image when that does not happen in time.
//
//   golden       records -> choose a slot -> read all of it -> mark a try -> set the pointer -> leave by PROGRAMN
//                  nothing to boot, or something does not work: serve as a card that can be loaded
//   application  records -> read its digest -> served in time: confirm            -> serve
//                                              not in time: leave by PROGRAMN, for the golden image, where BOOTADDR of
//                                              an application leads
//
// An image has three tries; then the other slot has its turn. A load goes to the slot that does not run (of the golden
// image's point of view: would not be booted), so a good image is never overwritten by one that nobody has seen run.
//
// Where PROGRAMN is not wired, nothing leaves: the golden image sets the pointer and waits for somebody to give a
// REFRESH, and the application marks its try itself, so that power-ups without one do not use tries up.
module rl_flash_boot
  import rl_flash_pkg::*;
#(
  parameter bit Wired = 1'b1,                  // PROGRAMN is.
  parameter logic [23:0] ChipId = 24'h010219,  // S25FL256S.
  parameter int unsigned TrialCycles = 1 << 30,
  parameter int unsigned LingerCycles = 1 << 23 // After a load, so that the card can still say that it has gone well.
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        golden_i,    // This is the golden image. It does not change.
  input  logic        stay_i,      // It is not to be left.
  input  logic        healthy_i,   // The card is served: an application has come up.
  output logic        leave_o,     // Pull PROGRAMN. It stays.
  output logic        awaits_o,    // It waits for a REFRESH.
  output logic        confirmed_o, // An application that runs for good.
  output logic        ready_o,     // It serves: an image that is about to leave does not.
  output logic [7:0]  code_o,      // What has gone wrong last, or 0.

  // rl_flash_slot
  input  logic        open_i,
  input  logic        close_i,
  input  logic        cancel_i,
  input  logic        loading_i,
  output logic        answer_o,
  output logic [7:0]  answer_code_o,
  output logic        slot_o,
  input  logic [23:0] length_i,
  input  logic [31:0] check_i,
  input  logic [15:0] role_i,

  // rl_flash_records
  output logic        scan_o,
  output logic        append_o,
  output state_t      append_state_o,
  input  logic        records_done_i,
  input  logic [7:0]  records_code_i,
  input  state_t      state_i,
  // rl_flash_name
  output logic        name_read_o,
  output logic        name_write_o,
  output logic [23:0] name_addr_o,
  input  logic        name_done_i,
  input  logic [7:0]  name_code_i,
  // rl_flash_verify
  output logic        verify_o,
  output logic [23:0] verify_addr_o,
  output logic [23:0] verify_length_o,
  output logic [31:0] verify_check_o,
  input  logic        verify_done_i,
  input  logic [7:0]  verify_code_i,
  // rl_flash_pointer
  output logic        pointer_read_o,
  output logic        pointer_write_o,
  output logic        pointer_slot_o,
  input  logic        pointer_done_i,
  input  logic [7:0]  pointer_code_i,
  input  logic        pointer_valid_i,
  input  logic        pointer_at_i,

  output flash_req_t  req_o,
  input  flash_rsp_t  rsp_i
);
  logic unused;
  assign unused = rsp_i.wready;
  localparam int unsigned TimerW = $clog2(
      (TrialCycles > LingerCycles ? TrialCycles : LingerCycles) + 1
  );

  typedef enum logic [4:0] {
    Reset,
    Id,
    Scan,
    Find,     // An application reads the pointer to know its own slot,
    Known,    // and there its digest.
    Mark,     // It marks its try.
    Choose,
    Verify,
    Drop,     // What is in the slot is not what was written.
    Try,
    Look,     // Where does the pointer point?
    Point,
    LookAgain,
    Leave,
    Serve,
    Confirm,
    Open,
    Read,     // What was just written.
    Name,     // Its digest.
    Record,
    Dead      // There is no flash to work with.
  } step_e;
  step_e step_q;
  logic begun_q;  // This step's request has been given.
  logic slot_q;   // The one that is booted, or marked.
  logic load_q;   // The one that is loaded.
  logic running_q;
  logic runs_q;   // An application knows its slot.
  logic trial_q, reload_q, pointed_q;
  logic [1:0] id_at_q;
  logic [23:0] id_q;
  logic [TimerW-1:0] timer_q;

  slot_t chosen;
  logic subject;
  state_t next;
  logic starts, done, marks_golden;
  logic [7:0] code;
  assign subject = step_q inside {Open, Read, Name, Record} ? load_q : slot_q;
  assign chosen = state_i.slot[slot_q];
  assign marks_golden = Wired;
  // Each step that asks somebody does so with its first cycle.
  assign starts = !begun_q;
  assign ready_o = step_q inside {Serve, Confirm, Open, Read, Name, Record, Dead};
  assign leave_o = step_q == Leave;
  assign awaits_o = !Wired && (pointed_q || (reload_q && timer_q == '0));
  assign confirmed_o = runs_q && state_i.slot[running_q].state == StateConfirmed;
  assign slot_o = load_q;

  // Which slot is loaded: an application's other one, or the one that would not be booted.
  logic best, target;
  assign best = bootable(state_i.slot[state_i.newest].state) ? state_i.newest : !state_i.newest;
  assign target = runs_q ? !running_q : !best;

  // -- records
  assign scan_o = starts && step_q == Scan;
  assign append_o = starts && step_q inside {Mark, Drop, Try, Confirm, Open, Record};
  always_comb begin
    next = state_i;
    next.spare = '0;
    unique case (step_q)
      Mark, Try: next.slot[slot_q].state = chosen.state == 8'd1 ? StateSpent : chosen.state - 1'b1;
      Confirm: next.slot[slot_q].state = StateConfirmed;
      Record: begin
        next.slot[subject] = '{state: StateTries, length: length_i, check: check_i};
        next.newest = subject;
        next.role = role_i;
      end
      default: begin
        next.slot[subject] = '0;
        next.newest = !subject;
      end
    endcase
  end
  assign append_state_o = next;

  // -- reading a slot: what is to be booted, or what was just written
  assign verify_o = starts && step_q inside {Verify, Read};
  assign verify_addr_o = slot_addr(subject);
  assign verify_length_o = step_q == Read ? length_i : chosen.length;
  assign verify_check_o = step_q == Read ? check_i : chosen.check;

  assign name_read_o = starts && step_q == Known;
  assign name_write_o = starts && step_q == Name;
  assign name_addr_o = slot_addr(subject) + name_offset(step_q == Name ? length_i : chosen.length);

  assign pointer_read_o = starts && step_q inside {Find, Look, LookAgain};
  assign pointer_write_o = starts && step_q == Point;
  assign pointer_slot_o = slot_q;

  always_comb begin
    req_o = '0;
    if (step_q == Id) begin
      req_o.valid = 1'b1;
      req_o.op = OpId;
      req_o.count = 24'd3;
    end
  end

  always_comb begin
    unique case (step_q)
      Id: {done, code} = {rsp_i.done, rsp_i.code};
      Scan, Mark, Drop, Try, Confirm, Open, Record: {done, code} = {records_done_i && begun_q, records_code_i};
      Known: {done, code} = {name_done_i, CodeOk};  // One without a digest that is whole is not known, and works.
      Name: {done, code} = {name_done_i, name_code_i};
      Verify, Read: {done, code} = {verify_done_i, verify_code_i};
      Find, Look, Point, LookAgain: {done, code} = {pointer_done_i, pointer_code_i};
      default: {done, code} = {1'b1, CodeOk};
    endcase
  end

  // -- a load's requests
  logic confirms, opens, closes;
  // Not while a load is at the flash.
  assign confirms = step_q == Serve && trial_q && healthy_i && (!loading_i || open_i || close_i);
  assign opens = step_q == Serve && !confirms && open_i;
  assign closes = step_q == Serve && !confirms && close_i;
  always_comb begin
    answer_o = 1'b0;
    answer_code_o = CodeOk;
    if (step_q == Dead) begin
      answer_o = open_i || close_i;
      answer_code_o = CodeChip;
    end else if (opens && (trial_q || cancel_i)) begin
      answer_o = 1'b1;
      answer_code_o = CodeTrial;
    end else if (opens && state_i.slot[target].state == StateEmpty && load_q == target) begin
      answer_o = 1'b1;
    end else if (closes && cancel_i) begin
      answer_o = 1'b1;
    end else if (step_q inside {Open, Read, Name, Record} && done &&
                 (code != CodeOk || step_q inside {Open, Record} || cancel_i)) begin
      answer_o = 1'b1;
      answer_code_o = code;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= Reset;
      begun_q <= 1'b0;
      slot_q <= 1'b0;
      load_q <= 1'b0;
      running_q <= 1'b0;
      runs_q <= 1'b0;
      trial_q <= 1'b0;
      reload_q <= 1'b0;
      pointed_q <= 1'b0;
      code_o <= CodeOk;
    end else begin
      begun_q <= !done;
      if (done && code != CodeOk) code_o <= code;
      unique case (step_q)
        Reset: step_q <= Id;
        Id: begin
          if (done) step_q <= code == CodeOk && id_q == ChipId ? Scan : Dead;
          if (done && code == CodeOk && id_q != ChipId) code_o <= CodeChip;
        end
        Scan: if (done) step_q <= code != CodeOk ? Dead : golden_i ? Choose : Find;
        Find: begin
          if (done) begin
            step_q <= pointer_valid_i ? Known : Serve;
            slot_q <= pointer_at_i;
            running_q <= pointer_at_i;
            runs_q <= pointer_valid_i;
            trial_q <= pointer_valid_i && state_i.slot[pointer_at_i].state != StateConfirmed;
          end
        end
        Known: begin
          if (done) step_q <= !Wired && chosen.state inside {[8'd1 : StateTries]} ? Mark : Serve;
        end
        Mark: if (done) step_q <= Serve;
        Choose: begin
          slot_q <= best;
          pointed_q <= 1'b0;
          step_q <= bootable(state_i.slot[best].state) && !stay_i ? Verify : Serve;
        end
        Verify: begin
          if (done) begin
            // An image that may be tried has a try less before it is left for.
            if (code == CodeOk) step_q <= marks_golden && chosen.state != StateConfirmed ? Try : Look;
            else step_q <= code == CodeDiffers ? Drop : Serve;
          end
        end
        Drop: if (done) step_q <= code == CodeOk ? Choose : Serve;
        Try: if (done) step_q <= code == CodeOk ? Look : Serve;
        Look, LookAgain: begin
          if (done) begin
            if (code == CodeOk && pointer_valid_i && pointer_at_i == slot_q) begin
              step_q <= Wired ? Leave : Serve;
              pointed_q <= 1'b1;
            end else begin
              step_q <= step_q == Look && code == CodeOk ? Point : Serve;
              if (step_q == LookAgain && code == CodeOk) code_o <= CodeDiffers;
            end
          end
        end
        Point: if (done) step_q <= code == CodeOk ? LookAgain : Serve;
        Leave: ;
        Serve: begin
          if (confirms) begin
            step_q <= Confirm;
          end else if (opens && !trial_q && !cancel_i) begin
            load_q <= target;
            reload_q <= 1'b0;
            if (state_i.slot[target].state != StateEmpty) step_q <= Open;
          end else if (closes && !cancel_i) begin
            step_q <= Read;
          end else if (!loading_i && timer_q == '0 && Wired && (trial_q || reload_q)) begin
            step_q <= golden_i ? Choose : Leave;
            reload_q <= 1'b0;
          end else if (!loading_i && timer_q == '0 && !Wired && golden_i && reload_q) begin
            step_q <= Choose;
            reload_q <= 1'b0;
          end
        end
        Confirm: begin
          if (done) begin
            step_q <= Serve;
            // A flash that cannot take it down does not make a good image leave.
            trial_q <= 1'b0;
          end
        end
        Open: if (done) step_q <= Serve;
        Read: if (done) step_q <= code == CodeOk && !cancel_i ? Name : Serve;
        Name: if (done) step_q <= code == CodeOk && !cancel_i ? Record : Serve;
        Record: begin
          if (done) begin
            step_q <= Serve;
            reload_q <= code == CodeOk;
          end
        end
        default: ;
      endcase
    end

    if (step_q == Find || step_q == Reset) timer_q <= TimerW'(TrialCycles);
    else if (step_q == Record) timer_q <= TimerW'(LingerCycles);
    else if (timer_q != '0) timer_q <= timer_q - 1'b1;
    if (step_q != Id) id_at_q <= '0;
    else if (rsp_i.rvalid) id_at_q <= id_at_q + 1'b1;
    if (step_q == Id && rsp_i.rvalid) id_q <= {id_q[15:0], rsp_i.rdata};
  end

`ifndef SYNTHESIS
  // What runs, or would be booted, is not loaded over.
  NotOverOurselves_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) step_q == Open && runs_q |-> load_q != running_q);
  GoldenGoesToGood_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
    leave_o && golden_i |-> chosen.state != StateEmpty && pointed_q);
`endif
endmodule : rl_flash_boot
