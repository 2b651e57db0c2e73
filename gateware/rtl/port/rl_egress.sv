// Who sends next on a port: whole frames of several sources, each with its share of the words.
//
// Deficit round robin by words (Shreedhar and Varghese, SIGCOMM 1995): a source has credit for `share_i` words a round
// and pays for each it sends. Sources with credit take turns; when none that has a frame has credit left, a new round
// begins. So no cycle is lost while anybody has something to send, and who always has gets its share, give or take a
// frame.
module rl_egress #(
  parameter int unsigned DataW = 64,
  parameter int unsigned Sources = 2,
  parameter int unsigned ShareW = 12,       // Shares are FrameWords to 2^ShareW - 1 words.
  parameter int unsigned FrameWords = 190,  // Words of the longest frame.
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [Sources-1:0][ShareW-1:0] share_i,  // Steady.

  input  logic [Sources-1:0]             valid_i,  // Words of a frame follow each other without a gap.
  output logic [Sources-1:0]             ready_o,
  input  logic [Sources-1:0][DataW-1:0]  data_i,
  input  logic [Sources-1:0][KeepW-1:0]  keep_i,
  input  logic [Sources-1:0]             last_i,
  input  logic [Sources-1:0]             bad_i,    // With last_i: the frame is not whole, and must not look so.

  output logic                           valid_o,  // Words of a frame follow each other without a gap.
  input  logic                           ready_i,
  output logic [DataW-1:0]               data_o,
  output logic [KeepW-1:0]               keep_o,
  output logic                           last_o,
  output logic                           bad_o
);
  if (FrameWords >= 1 << ShareW) begin : gen_check
    $fatal(0, "rl_egress: ShareW must be enough for FrameWords (%m)");
  end
  // Credit goes below zero by less than a frame: a round makes all rich.
  localparam int unsigned CreditW = ShareW + 1;
  typedef logic signed [CreditW-1:0] credit_t;
  typedef logic [Sources-1:0] sources_t;

  credit_t [Sources-1:0] credit_q;
  sources_t rich_q;   // Sources with credit.
  sources_t after_q;  // Sources behind the last one that was chosen: their turn comes first.
  sources_t held_q;   // Whose frame is under way; none between two frames.

  // The lowest of these.
  function automatic sources_t lowest(sources_t all);
    return all & (~all + 1'b1);
  endfunction

  sources_t able, chosen, sender;
  logic moves, ends, round;
  always_comb begin
    // If none has credit, the round that begins gives it to all.
    able = |(valid_i & rich_q) ? valid_i & rich_q : valid_i;
    chosen = |(able & after_q) ? lowest(able & after_q) : lowest(able);
    sender = held_q != 0 ? held_q : chosen;
  end
  assign moves = ready_i || !valid_o;
  assign ready_o = moves ? sender & valid_i : '0;
  assign ends = |(ready_o & last_i);
  assign round = held_q == 0 && valid_i != 0 && (valid_i & rich_q) == 0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q <= '0;
      after_q <= '0;
      valid_o <= 1'b0;
    end else if (moves) begin
      valid_o <= ready_o != 0;
      if (ready_o != 0) held_q <= ends ? '0 : sender;
      if (held_q == 0 && ready_o != 0) after_q <= ~(sender | (sender - 1'b1));
    end
  end
  always_ff @(posedge clk_i) begin
    if (moves) begin
      data_o <= '0;
      keep_o <= '0;
      last_o <= 1'b0;
      bad_o <= 1'b0;
      for (int unsigned i = 0; i < Sources; i++) begin
        if (sender[i]) begin
          data_o <= data_i[i];
          keep_o <= last_i[i] ? keep_i[i] : '1;
          last_o <= last_i[i];
          bad_o <= last_i[i] && bad_i[i];
        end
      end
    end
  end

  // A word a cycle is paid for; a new round gives each its share, and nobody saves more than that.
  for (genvar i = 0; i < Sources; i++) begin : gen_credit
    credit_t share, next;
    assign share = {1'b0, share_i[i]};
    always_comb begin
      next = credit_q[i];
      if (round && moves) next = rich_q[i] ? share : credit_q[i] + share;
      if (ready_o[i]) next -= 1'b1;
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        credit_q[i] <= '0;
        rich_q[i] <= 1'b0;
      end else begin
        credit_q[i] <= next;
        rich_q[i] <= next > 0;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni) OneSender_A : assert ($onehot0(sender));
  always_ff @(posedge clk_i) if (rst_ni && held_q != 0) NoGap_A : assert ((valid_i & held_q) != 0);
  for (genvar i = 0; i < Sources; i++) begin : gen_share
    always_ff @(posedge clk_i)
      if (rst_ni)
        ShareIsEnough_A : assert (share_i[i] >= ShareW'(FrameWords));
  end
  rl_stays #(
    .Width(DataW + 2)
  ) u_stays (
    .clk_i,
    .rst_ni,
    .valid_i(valid_o),
    .ready_i,
    .data_i({data_o, last_o, bad_o})
  );
`endif
endmodule
