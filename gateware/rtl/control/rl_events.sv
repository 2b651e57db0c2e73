// What there is to do for the firmware, the alarm, and the processor's sleep.
module rl_events
  import rl_csr_pkg::*;
  import rl_control_pkg::*;
(
  input  logic        clk_net_i,
  input  logic        rst_net_ni,

  input  logic [31:0] time_us_i,
  input  logic [31:0] alarm_i,
  input  logic [4:0]  clear_i,      // What is latched, from EventsDigestIdleBit on.
  output logic [11:0] events_o,     // As in EVENTS.

  input  logic        sleep_i,      // Sleep, until one of these events is there.
  input  logic [11:0] mask_i,       // Holds while it sleeps.
  output logic        wake_o,       // One is there.
  output logic        alarm_set_o,  // The alarm would wake it.

  input  logic        control_i,
  input  logic        ack_due_i,
  input  logic        launch_ended_i,
  input  logic        block_whole_i,
  input  logic        digest_idle_i,
  input  logic        scrub_done_i,
  input  logic        fetched_i,
  input  logic        config_done_i,
  input  logic        role_fault_i,
  input  logic        tx_free_i,
  input  logic        keys_news_i
);
  // What is latched, is latched when it begins.
  logic [4:0] now, before_q, latched_q;
  assign now = {role_fault_i, config_done_i, fetched_i, scrub_done_i, digest_idle_i};

  logic late_q;
  always_ff @(posedge clk_net_i) begin
    late_q <= signed'(time_us_i - alarm_i) >= 0;
  end

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      before_q <= '1;
      latched_q <= '0;
      events_o <= '0;
      wake_o <= 1'b0;
    end else begin
      before_q <= now;
      latched_q <= (latched_q & ~clear_i) | (now & ~before_q);
      events_o[EventsControlBit] <= control_i;
      events_o[EventsAckDueBit] <= ack_due_i;
      events_o[EventsLaunchEndedBit] <= launch_ended_i;
      events_o[EventsAlarmBit] <= late_q;
      events_o[EventsBlockWholeBit] <= block_whole_i;
      events_o[EventsDigestIdleBit+:5] <= latched_q;
      events_o[EventsTxFreeBit] <= tx_free_i;
      events_o[EventsKeysBit] <= keys_news_i;
      wake_o <= sleep_i && (events_o & mask_i) != '0;
    end
  end
  assign alarm_set_o = sleep_i && mask_i[EventsAlarmBit];
endmodule
