// Programs as the firmware starts them, by registers that protocol/registers.toml has: each with a number of the
// firmware's, and where its report goes. They begin in order, each when a context is free, and the firmware is shown
// how each has ended, one after the other.
//
// A program relies on the lives that its neighbours have when the firmware accepts it, which may be long before it
// begins. What has begun anew since is noted here, and goes with it.
module rl_collective_csr
  import rl_csr_pkg::*;
  import rl_control_pkg::bridge_ctl_t;
  import rl_collective_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [3:0]       shift_i,        // A tick has 64 us, shifted so far. Steady.
  input  logic             there_i,        // There is a link. Steady.
  input  bridge_ctl_t      ctl_i,
  output logic [31:0]      data_o,
  output logic             ended_o,        // One has ended, and the firmware has not taken it.
  output logic             active_o,       // One has not.
  output logic             reset_o,        // All programs are over, without a word. For one cycle.
  input  logic             resets_i,       // That is under way.

  // -- rl_collective_card
  output logic             start_valid_o,
  input  logic             start_ready_i,
  output program_t         start_o,
  input  slot_t            start_slot_i,
  input  logic             start_invalid_i,
  input  links_t           renewed_i,      // As it says. Also of one that begins in this cycle.
  output logic [Slots-1:0] expire_o,
  input  logic             ended_valid_i,
  output logic             ended_ready_o,
  input  report_t          ended_i,

  // -- rl_collective_report
  output logic             report_valid_o,
  input  logic             report_ready_i,
  output logic [39:0]      report_to_o
);
  localparam int unsigned What = 9;
  typedef logic [$clog2(Slots)-1:0] number_t;  // The firmware's.
  typedef struct packed {
    number_t     number;
    logic [39:0] report_at;
    program_t    of;
  } start_t;
  typedef struct packed {
    logic    refused;
    cause_e  cause;
    number_t number;
  } ended_t;

  // -- what is written
  logic [What-1:0][31:0] what_q;
  logic [31:0] word;
  logic orders, starts, pops, expects;
  number_t number;
  assign word = ctl_i.word;
  assign orders = ctl_i.write && ctl_i.at == CsrLnkOrder[4:0];
  assign starts = orders && word[LnkOrderStartBit];
  assign expects = orders && word[LnkOrderExpectBit];
  assign pops = orders && word[LnkOrderPopBit];
  assign reset_o = orders && word[LnkOrderResetBit];
  assign number = word[LnkOrderNumberLsb+:LnkOrderNumberWidth];
  always_ff @(posedge clk_i) begin
    if (ctl_i.write && ctl_i.at == CsrLnkWhat[4:0]) what_q <= {what_q[What-2:0], word};
  end

  // -- neighbours of those that will be started
  links_t [Slots-1:0] anew_q;  // By number.
  always_ff @(posedge clk_i) begin
    for (int unsigned n = 0; n < Slots; n++) begin
      if (!rst_ni) anew_q[n] <= '0;
      else anew_q[n] <= (expects && number == number_t'(n) ? '0 : anew_q[n]) | renewed_i;
    end
  end

  // -- programs that wait for a context
  start_t asked, head;
  logic head_valid, head_ends, begins, refuses, unused_room;
  logic [$clog2(Slots):0] unused_count;
  always_comb begin
    asked.number = number;
    asked.report_at = {what_q[1][7:0], what_q[0]};
    asked.of = '{
        anew: '0,
        held: 1'b0,
        program_at: {what_q[8][7:0], what_q[7]},
        // One that has too many commands is none.
        commands: |what_q[6][31:13] ? '1 : what_q[6][12:0],
        ticks: (what_q[5] >> (5'd6 + 5'(shift_i))) + 1'b1,
        operation: '{group: {what_q[4], what_q[3]}, number: what_q[2]}
    };
  end
  rl_fifo #(
    .Width($bits(start_t)),
    .Depth(Slots)
  ) u_starts (
    .clk_i,
    .rst_ni,
    .wvalid_i(starts),
    .wready_o(unused_room),
    .wdata_i(asked),
    .rvalid_o(head_valid),
    .rready_i(head_ends),
    .rdata_o(head),
    .count_o(unused_count)
  );
  assign start_valid_o = head_valid && !report_ready_i;
  always_comb begin
    start_o = head.of;
    start_o.anew = anew_q[head.number];
  end
  assign head_ends = start_valid_o && start_ready_i;
  assign begins = head_ends && !start_invalid_i;
  assign refuses = head_ends && start_invalid_i;

  // -- those that run
  logic [Slots-1:0] runs_q, called_off_q;
  number_t [Slots-1:0] numbers_q;
  logic [Slots-1:0][39:0] report_at_q;
  for (genvar c = 0; c < Slots; c++) begin : gen_expire
    assign expire_o[c] = runs_q[c] && called_off_q[numbers_q[c]];
  end
  assign report_valid_o = ended_valid_i;
  assign report_to_o = report_at_q[ended_i.slot];
  assign ended_ready_o = report_ready_i;
  assign active_o = head_valid || runs_q != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {runs_q, called_off_q} <= '0;
    end else begin
      if (orders && word[LnkOrderCancelBit]) called_off_q[number] <= 1'b1;
      if (starts) called_off_q[number] <= 1'b0;
      if (begins) runs_q[start_slot_i] <= 1'b1;
      if (report_ready_i) runs_q[ended_i.slot] <= 1'b0;
    end
    if (begins)
      {numbers_q[start_slot_i], report_at_q[start_slot_i]} <= {head.number, head.report_at};
  end

  // -- those that have ended
  ended_t ended, shown;
  logic unused_ended_room;
  logic [$clog2(Slots):0] unused_ended_count;
  assign ended.refused = refuses;
  assign ended.cause = refuses ? Done : ended_i.cause;
  assign ended.number = refuses ? head.number : numbers_q[ended_i.slot];
  rl_fifo #(
    .Width($bits(ended_t)),
    .Depth(Slots)
  ) u_ended (
    .clk_i,
    .rst_ni,
    .wvalid_i(refuses || report_ready_i),
    .wready_o(unused_ended_room),
    .wdata_i(ended),
    .rvalid_o(ended_o),
    .rready_i(pops),
    .rdata_o(shown),
    .count_o(unused_ended_count)
  );
  always_comb begin
    data_o = '0;
    if (ctl_i.read_at == CsrLnkStatus[4:0]) begin
      data_o[LnkStatusThereBit] = there_i;
      data_o[LnkStatusEndedBit] = ended_o;
      data_o[LnkStatusResetsBit] = resets_i;
      data_o[LnkStatusRefusedBit] = shown.refused;
      data_o[LnkStatusNumberLsb+:LnkStatusNumberWidth] = shown.number;
      data_o[LnkStatusCauseLsb+:LnkStatusCauseWidth] = shown.cause;
    end
  end
  logic unused;
  assign unused = ^{unused_room, unused_count, unused_ended_room, unused_ended_count, what_q[8][31:8],
                    what_q[1][31:8], ended_i.port, ended_i.command, ended_i.takes, ended_i.puts, word, ctl_i};
endmodule
