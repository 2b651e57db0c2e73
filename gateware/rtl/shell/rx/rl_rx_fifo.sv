// Between the MAC, which cannot wait, and the analyzer, which sometimes must.
//
// A frame that begins while there is no room is not stored. One that outgrows the room is cut: its
// last word here says so. Either way `overflow_o` tells once.
module rl_rx_fifo #(
  parameter int unsigned DataW = 64,   // Bits of a word: 64 or more, a power of two.
  parameter int unsigned Words = 2048, // A power of two, 8 or more.
  parameter bit          Quick = 1'b0,  // With rl_fifo_quick.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned ExtraW = $clog2(KeepW)
) (
  input  logic        clk_net_i,
  input  logic        rst_net_ni,

  input  logic        rx_valid_i,
  input  logic [DataW-1:0] rx_data_i,
  input  logic [KeepW-1:0] rx_keep_i,  // With rx_last_i: ones from bit 0 on. Else not looked at.
  input  logic        rx_last_i,
  input  logic        rx_bad_i,   // With rx_last_i: the check sequence was wrong.

  output logic        word_valid_o, // Two cycles after the word came, if nothing waits; with Quick one.
  input  logic        word_ready_i,
  output logic [DataW+ExtraW+2:0] word_o, // As rx_word_t, of this width.

  output logic        overflow_o
);
  if (Words < 8) begin : gen_check
    $fatal(0, "rl_rx_fifo: Words must be at least 8 (%m)");
  end

  // Once it is tight, with four places left, nothing goes in but the end of the frame under way. It
  // shows a cycle late: the word of that cycle takes a place, and the end itself another.
  logic tight_q;
  logic inside_q;   // Words of the present frame are stored, and more are to come.
  logic skipping_q; // The rest of the present frame is not stored.
  logic store, cut, refuse;
  logic [$clog2(Words):0] count;
  typedef struct packed {
    logic              cut;
    logic              bad;
    logic              last;
    logic [ExtraW-1:0] extra;
    logic [DataW-1:0]  data;
  } word_t;
  word_t word;

  assign store = rx_valid_i && !skipping_q && (!tight_q || inside_q);
  assign cut = store && tight_q && !rx_last_i;
  assign refuse = rx_valid_i && !skipping_q && !inside_q && tight_q;

  always_comb begin
    word.cut = cut;
    word.bad = rx_last_i && rx_bad_i;
    word.last = rx_last_i || cut;
    word.data = rx_data_i;
    word.extra = '1;
    // Ones from bit 0 on: a bit of their number, less 1, is one where they end in an odd part of that size.
    if (rx_last_i) begin
      for (int unsigned bit_at = 0; bit_at < ExtraW; bit_at++) begin
        word.extra[bit_at] = 1'b0;
        for (int unsigned part = 1 << bit_at; part < KeepW; part += 2 << bit_at) begin
          word.extra[bit_at] |= rx_keep_i[part] &&
              !(part + (1 << bit_at) < KeepW && rx_keep_i[(part+(1<<bit_at))%KeepW]);
        end
      end
    end
  end

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      tight_q <= 1'b0;
      inside_q <= 1'b0;
      skipping_q <= 1'b0;
      overflow_o <= 1'b0;
    end else begin
      tight_q <= count[$clog2(Words)] || &count[$clog2(Words)-1:2];
      if (rx_valid_i) begin
        inside_q <= store && !word.last;
        skipping_q <= (skipping_q || cut || refuse) && !rx_last_i;
      end
      overflow_o <= cut || refuse;
    end
  end

  logic fifo_ready;
  if (Quick) begin : gen_quick
    rl_fifo_quick #(
      .Width($bits(word_t)),
      .Depth(Words)
    ) u_fifo (
      .clk_i(clk_net_i),
      .rst_ni(rst_net_ni),
      .wvalid_i(store),
      .wready_o(fifo_ready),
      .wdata_i(word),
      .rvalid_o(word_valid_o),
      .rready_i(word_ready_i),
      .rdata_o(word_o),
      .count_o(count)
    );
  end else begin : gen_plain
    rl_fifo #(
      .Width($bits(word_t)),
      .Depth(Words),
      .Block(1'b1)
    ) u_fifo (
      .clk_i(clk_net_i),
      .rst_ni(rst_net_ni),
      .wvalid_i(store),
      .wready_o(fifo_ready),
      .wdata_i(word),
      .rvalid_o(word_valid_o),
      .rready_i(word_ready_i),
      .rdata_o(word_o),
      .count_o(count)
    );
  end

`ifndef SYNTHESIS
  NoWordIsLost_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) store |-> fifo_ready);
`endif

  // A word has a first byte; and the margin, not the FIFO, tells what fits.
  logic unused;
  assign unused = rx_keep_i[0] ^ fifo_ready;
endmodule
