// The message words for the stages of rl_blake3: those of a new block when a compression enters,
// else those of the last round in another order.
module rl_blake3_message
  import rl_blake3_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       step_i,
  input  logic       enter_i,
  input  logic [5:0] top_i,    // Number of the block's last byte,
  input  logic [15:0] keep_i,  // and the bytes of group 0 that count.
  output logic [3:0] take_o,
  input  block_t     block_i,
  output block_t     words_o   // Each in the step in which a stage uses it.
);
  localparam int unsigned Delays = offset(3);

  // What entered 0 to Delays steps ago.
  logic [Delays:0] enter;
  logic [Delays-1:0][5:0] top;
  logic [Delays:1] enter_q;
  logic [Delays-1:1][5:0] top_q;
  assign enter = {enter_q, enter_i};
  assign top = {top_q, top_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) enter_q <= '0;
    else if (step_i) enter_q <= enter[Delays-1:0];
    if (step_i) top_q <= top[Delays-2:0];
  end

  // Which bytes of a group count must stand in registers when the group is read: else each bit of
  // the block would have its own copy of that logic.
  logic [3:0][15:0] keep;
  assign keep[0] = keep_i;
  for (genvar g = 1; g < 4; g++) begin : gen_keep
    always_ff @(posedge clk_i) if (step_i) keep[g] <= counting(g, top[offset(g)-1]);
  end

  for (genvar g = 0; g < 4; g++) begin : gen_take
    assign take_o[g] = enter[offset(g)];
  end

  logic [3:0] step_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) step_q <= '0;
    else if (step_i) step_q <= step_q + 1'b1;
  end

  for (genvar j = 0; j < 16; j++) begin : gen_word
    localparam int unsigned At = offset(group(j));
    // The word is read in the step before the one in which it is used.
    localparam logic [3:0] First = 4'(1 - distance(j));
    logic [3:0] raddr_q;
    logic [31:0] again, fresh;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) raddr_q <= First;
      else if (step_i) raddr_q <= raddr_q + 1'b1;
    end

    // Written also while the ring stands still: the same word to the same place.
    rl_lutram #(
      .Width(32),
      .Depth(16)
    ) u_last_round (
      .clk_i,
      .we_i(1'b1),
      .waddr_i(step_q),
      .wdata_i(words_o[source(j)]),
      .raddr_i(raddr_q),
      .rdata_o(again)
    );

    for (genvar n = 0; n < 4; n++) begin : gen_byte
      assign fresh[8*n+:8] = keep[group(j)][4*(j/2%4)+n] ? block_i[j][8*n+:8] : '0;
    end

    always_ff @(posedge clk_i) begin
      if (step_i) words_o[j] <= enter[At] ? fresh : again;
    end
  end
endmodule
