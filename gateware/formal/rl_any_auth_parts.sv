// Stand in for what rl_auth_rx is made of, each by what it may do at most: frames of any words that wait, any verdicts
// in any order, any counters. Queues show anything, and what they show stays until it is taken.
module rl_auth_split
  import rl_shell_pkg::*;
  import rl_ascon_pkg::*;
  import rl_auth_pkg::*;
#(
  parameter int unsigned FrameWords = 1152
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        word_valid_i,
  output logic        word_ready_o,
  input  rx_word_t    word_i,
  input  sessions_t   sessions_i,
  output logic        valid_o,
  input  logic        ready_i,
  output rx_word_t    word_o,
  output logic        checked_o,
  output logic [1:0]  slot_o,
  output logic [63:0] counter_o,
  output drop_e       cause_o,
  output logic        short_o,
  output logic        trailed_o,
  output logic        claims_o,
  output logic        asks_o,
  output logic        cut_o,
  output logic        message_valid_o,
  input  logic        message_ready_i,
  output logic [63:0] message_o,
  output logic [7:0]  message_keep_o,
  output logic        message_last_o,
  output logic [1:0]  message_slot_o,
  output logic        message_counter_valid_o,
  input  logic        message_counter_ready_i,
  output logic [63:0] message_counter_o,
  output logic        message_tag_valid_o,
  output tag_t        message_tag_o,
  output logic        busy_o
);
  (* anyseq *) logic [1:0] any_control;
  assign busy_o = 1'b0;
  (* anyseq *) rx_word_t any_word;
  (* anyseq *) logic [71:0] any_about;
  (* anyseq *) logic [269:0] any_message;
  assign {word_ready_o, valid_o} = any_control;
  assign word_o = any_word;
  assign {checked_o, slot_o, counter_o, short_o, trailed_o, claims_o, asks_o, cut_o} = any_about;
  assign cause_o = DropNone;
  assign {message_valid_o, message_o, message_keep_o, message_last_o, message_slot_o, message_counter_valid_o,
          message_counter_o, message_tag_valid_o, message_tag_o} = any_message;
endmodule

module rl_auth
  import rl_ascon_pkg::*;
#(
  parameter int unsigned PerCycle = 1,
  parameter int unsigned Keys = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        key_valid_i,
  output logic        key_ready_o,
  input  logic [1:0]  key_slot_i,
  input  logic        key_forget_i,
  input  tag_t        key_i,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [63:0] data_i,
  input  logic [7:0]  keep_i,
  input  logic        last_i,
  input  logic [1:0]  slot_i,
  input  logic [31:0] boot_i,
  input  logic        to_host_i,
  input  logic        counter_valid_i,
  output logic        counter_ready_o,
  input  logic [63:0] counter_i,
  input  logic        tag_valid_i,
  input  tag_t        tag_i,
  output logic        valid_o,
  input  logic        ready_i,
  output logic        ok_o,
  output tag_t        tag_o,
  output logic        known_o
);
  (* anyseq *) logic [5:0] any;
  assign {counter_ready_o, key_ready_o, ready_o, valid_o, ok_o, known_o} = any & {6{rst_ni}};
  assign tag_o = '0;
endmodule

module rl_auth_window #(
  parameter int unsigned Slots = 2
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic [1:0]  clear_slot_i,
  input  logic [1:0]  slot_i,
  input  logic [63:0] counter_i,
  output logic        fresh_o,
  input  logic        take_i,
  input  logic [1:0]  take_slot_i,
  input  logic [63:0] take_counter_i,
  output logic        busy_o
);
  (* anyseq *) logic [1:0] any;
  assign {fresh_o, busy_o} = any & {2{rst_ni}};
endmodule

module rl_fifo #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 16,
  parameter bit          Block = Depth > 64,
  localparam int unsigned CountW = $clog2(Depth) + 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              wvalid_i,
  output logic              wready_o,
  input  logic [Width-1:0]  wdata_i,
  output logic              rvalid_o,
  input  logic              rready_i,
  output logic [Width-1:0]  rdata_o,
  output logic [CountW-1:0] count_o
);
  (* anyseq *) logic [1:0] any;
  (* anyseq *) logic [Width-1:0] any_data;
  logic shown_q = 1'b0;
  logic [Width-1:0] data_q;
  assign wready_o = any[0];
  assign rvalid_o = shown_q || any[1];
  assign rdata_o = shown_q ? data_q : any_data;
  assign count_o = '0;
  always_ff @(posedge clk_i) begin
    shown_q <= rst_ni && rvalid_o && !rready_i;
    data_q  <= rdata_o;
  end
endmodule
