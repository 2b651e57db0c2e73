// Watches the receive stream for launches and says at a frame's end whether it is one that may be accepted:
// the next number, a kernel that there is, as many arguments as it takes, an output region that the
// host may address, and room. The number of the newest accepted launch lives here, which is what
// makes a launch happen once: nothing is accepted but the one number after it.
//
// Checks are done while the words pass, so that the answer is there with `rx_beat_i.done`.
module rl_launch_judge
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic        clk_net_i,
  input  logic        rst_net_ni,

  input  rx_beat_t       rx_beat_i,
  output logic [5:0]  index_o,      // Of rx_beat_i's word, unless it is the first; 63 and more are 63.

  input  addr_t       memory_i,
  input  logic        open_i,       // A role is there and the queue has room.
  input  logic        args_we_i,    // Kernel `args_kernel_i` takes `args_takes_i` arguments, and its launch
  input  logic [5:0]  args_kernel_i,
  input  logic [5:0]  args_takes_i,
  input  logic [5:0]  args_words_i, // so many words of payload. 0: there is no such kernel.
  input  logic        last_we_i,    // Firmware has used numbers up, or a claim begins.
  input  logic [31:0] last_i,
  output logic [31:0] last_o,       // Number of the newest launch accepted.

  output logic        accept_o,     // With done. Number and kernel are those of rx_beat_i.head.
  output logic        held_o,       // With accept_o: it waits for a Go.
  output logic        divert_o,     // With done: a launch that is not accepted.
  output divert_reason_e        divert_reason_o
);
  // Words of the frame.
  localparam logic [5:0] KernelWord = 6'd3, FuelWord = 6'd4, AddrWord = 6'd5;
  localparam logic [5:0] LengthWord = 6'd6, GoWord = 6'd7;

  logic [63:0] data;
  assign data = {<<8{rx_beat_i.data}};

  // What several words are checked for: no address is larger; it is in the role's private bytes.
  localparam int unsigned PrivateW = $clog2(RolePrivate);
  logic in_range, private_only;
  assign in_range = data[63:AddrW] == 0;
  assign private_only = in_range && data[AddrW-1:PrivateW] == 0;

  logic [5:0] index_q;
  assign index_o = index_q;

  // It and the registers after it are there for the payload's second word.
  logic [5:0] takes, words, kernel_at_q;
  logic kernel_word;
  assign kernel_word = rx_beat_i.word && !rx_beat_i.first && index_q == KernelWord;
  rl_lutram #(
    .Width(12),
    .Depth(64)
  ) u_takes (
    .clk_i(clk_net_i),
    .we_i(args_we_i),
    .waddr_i(args_kernel_i),
    .wdata_i({args_words_i, args_takes_i}),
    .raddr_i(kernel_at_q),
    .rdata_o({words, takes})
  );

  logic [31:0] last_q, next_q;
  logic turn_q, kernel_q, size_q, above_q, none_q, short_q, args_q, held_q, whole_q, moved_q;
  logic [5:0] takes_q, words_q;
  // Of the output region: its last byte, as the words with address and length are added to -1.
  logic [AddrW:0] end_q;
  logic go_word, args_ok, fits, whole, begins, ends;
  assign begins = rx_beat_i.word && rx_beat_i.first;
  assign ends = rx_beat_i.done || rx_beat_i.abort;

  assign go_word = rx_beat_i.word && rx_beat_i.payload && index_q == GoWord;
  // The word with the number of arguments may be the frame's last.
  assign args_ok = go_word ? data[15:0] == 16'(takes_q) : args_q;
  assign held_o = go_word ? |data[63:32] : held_q;
  assign whole = go_word || whole_q;
  // Memory has whole pages of 64 KiB.
  assign fits = none_q || (above_q && short_q && end_q[AddrW:16] < {1'b0, memory_i[AddrW-1:16]});

  always_ff @(posedge clk_net_i) begin
    if (rx_beat_i.word)
      index_q <= rx_beat_i.first ? 6'd1 : index_q == '1 ? index_q : index_q + 1'b1;
    if (kernel_word) begin
      kernel_q <= private_only && data[PrivateW-1:6] == 0;
      kernel_at_q <= data[5:0];
    end
    takes_q <= takes;
    words_q <= words;
    if (begins) end_q <= '1;
    else if (rx_beat_i.word && rx_beat_i.payload && index_q inside {AddrWord, LengthWord})
      end_q <= end_q + {1'b0, data[AddrW-1:0]};
    if (rx_beat_i.word && rx_beat_i.payload) begin
      unique case (index_q)
        FuelWord: begin
          turn_q <= rx_beat_i.head.seq == next_q && !moved_q;
        end
        AddrWord: begin
          above_q <= in_range && !private_only;
          size_q <= rx_beat_i.head.length == {7'd0, words_q, 3'd0};
        end
        LengthWord: begin
          none_q <= private_only && data[PrivateW-1:0] == 0;
          short_q <= in_range;
        end
        GoWord: begin
          args_q <= args_ok;
          held_q <= held_o;
          whole_q <= 1'b1;
        end
        default: ;
      endcase
    end
    // What ends, well or badly, has nothing more to say.
    if (begins || ends) whole_q <= 1'b0;
    if (ends && !begins) index_q <= '1;
    // The numbers have changed under a frame: it is judged by the firmware.
    moved_q <= last_we_i;
    if (last_we_i || begins) turn_q <= 1'b0;
    if (!rst_net_ni) begin
      index_q <= '1;
      whole_q <= 1'b0;
    end
  end

  logic launch_done;
  assign launch_done = rx_beat_i.done && rx_beat_i.route == RouteLaunch;
  assign accept_o = launch_done && whole && turn_q && kernel_q && size_q && args_ok &&
                    fits && open_i;
  assign divert_o = launch_done && !accept_o;
  always_comb begin
    if (!whole) divert_reason_o = DivertMalformed;
    else if (!turn_q) divert_reason_o = DivertTurn;
    else if (!open_i) divert_reason_o = DivertBusy;
    else if (!fits) divert_reason_o = DivertAddress;
    else divert_reason_o = DivertKernel;
  end

  // `next_q` is a cycle behind: no two launches are so near.
  assign last_o = last_q;
  always_ff @(posedge clk_net_i) begin
    next_q <= last_q + 1'b1;
    if (!rst_net_ni) last_q <= '0;
    else if (last_we_i) last_q <= last_i;
    else if (accept_o) last_q <= rx_beat_i.head.seq;
  end

  logic unused;
  assign unused = ^memory_i[15:0];

`ifndef SYNTHESIS
  OnceInOrder_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    accept_o |-> rx_beat_i.head.seq == last_q + 32'd1);
  WhatFits_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    args_we_i |-> args_words_i == 0 ||
      (args_takes_i <= 6'(LaunchArgs) && 8 * 10'(args_words_i) == 10'(LaunchBytes) + 8 * 10'(args_takes_i)));
`endif
endmodule
