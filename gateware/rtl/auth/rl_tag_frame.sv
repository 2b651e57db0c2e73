// A frame as the message that its tag is made of: its bytes as they are on the wire, up to the end
// of the payload and filled up with zeros to a word; then a word with the card's boot number, the
// direction and how many bytes there were; then the counter.
//
// The counter comes by itself, so a trailer can carry it: what is before it is absorbed by then. Two cycles a
// frame are the last two words'.
module rl_tag_frame #(
  parameter int unsigned SlotW = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        valid_i,
  output logic        ready_o,
  input  logic [63:0] data_i,
  input  logic [7:0]  keep_i,      // Of a last word, which has one byte at least; the others are whole.
  input  logic        last_i,
  input  logic [SlotW-1:0] slot_i,   // Which key; counts with the fourth word, or the last before.
  input  logic [31:0] boot_i,      // With the last word, as the next one.
  input  logic        to_host_i,   // Else to the card.

  input  logic        counter_valid_i,
  output logic        counter_ready_o,  // Only behind the last word.
  input  logic [63:0] counter_i,

  output logic        valid_o,
  input  logic        ready_i,
  output logic [63:0] data_o,
  output logic        last_o,
  output logic [SlotW-1:0] slot_o
);
  typedef enum logic [1:0] {
    Bytes,
    Context,
    Counter
  } part_t;
  part_t part_q;

  logic [15:0] length_q;
  logic [SlotW-1:0] slot_q;
  logic [31:0] boot_q;
  logic to_host_q;

  logic [63:0] kept;
  always_comb begin
    for (int unsigned n = 0; n < 8; n++) kept[8*n+:8] = keep_i[n] ? data_i[8*n+:8] : '0;
  end

  assign ready_o = part_q == Bytes && ready_i;
  assign counter_ready_o = part_q == Counter && ready_i;
  always_comb begin
    unique case (part_q)
      Bytes:   valid_o = valid_i;
      Context: valid_o = 1'b1;
      default: valid_o = counter_valid_i;
    endcase
  end
  assign last_o  = part_q == Counter;
  assign slot_o  = part_q == Bytes ? slot_i : slot_q;
  always_comb begin
    unique case (part_q)
      Bytes:   data_o = kept;
      Context: data_o = {length_q, 15'b0, to_host_q, boot_q};
      default: data_o = counter_i;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o && last_i) begin
      slot_q    <= slot_i;
      boot_q    <= boot_i;
      to_host_q <= to_host_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      part_q   <= Bytes;
      length_q <= '0;
    end else if (valid_o && ready_i) begin
      unique case (part_q)
        Bytes: begin
          if (last_i) part_q <= Context;
          length_q <= length_q + 16'($countones(keep_i));
        end
        Context: part_q <= Counter;
        default: begin
          part_q   <= Bytes;
          length_q <= '0;
        end
      endcase
    end
  end
endmodule
