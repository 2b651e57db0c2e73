// Numbers that differ from boot to boot. The device's own oscillator, an untrimmed ring, is sampled with
// a clock that comes of a crystal, and all samples are stirred into a register. Good enough to tell
// boots apart and to spread delays; no source of keys.
module rl_ecpix5_random (
  input  logic        clk_i,
  input  logic        hold_i,   // Stir no more: some ms after the start.
  output logic [63:0] value_o
);
  logic ring, sample;
  // 310 MHz / 128: slow enough to be seen whole, so that its jitter adds up over each of its periods.
  OSCG #(.DIV(128)) u_oscillator (.OSC(ring));
  rl_sync u_sync (
    .clk_i,
    .rst_ni(1'b1),
    .d_i(ring),
    .q_o(sample)
  );

  // x^64 + x^63 + x^61 + x^60 + 1, of full length. Any state will do to begin with.
  always_ff @(posedge clk_i) begin
    if (!hold_i) begin
      value_o <= {value_o[62:0], sample ^ ~(value_o[63] ^ value_o[62] ^ value_o[60] ^ value_o[59])};
    end
  end
endmodule : rl_ecpix5_random
