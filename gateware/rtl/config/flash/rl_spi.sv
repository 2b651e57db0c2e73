// Bytes over SPI in mode 0, most significant bit first: each byte goes out while one comes in.
//
//   sck   ____/~~\__/~~\__   changes each Half cycles
//   mosi  X 7    X 6    X    from one falling edge to the next
//   miso  taken with the falling edge, when the chip has had all of the high half to settle as well
module rl_spi #(
  parameter int unsigned Half = 2  // Cycles of half a period.
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       select_i,  // The chip is selected. It may end when no byte is under way.
  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] data_i,
  output logic       done_o,    // A byte is through, and this one has come.
  output logic [7:0] data_o,

  output logic       cs_no,
  output logic       sck_o,
  output logic       mosi_o,
  input  logic       miso_i
);
  if (Half < 2) begin : gen_check
    $fatal(0, "rl_spi: Half must be at least 2 (%m)");
  end
  localparam int unsigned HalfW = $clog2(Half);

  logic busy_q, take, tick;
  logic [HalfW-1:0] half_q;
  logic [2:0] left_q;
  logic [7:0] shift_q;

  assign ready_o = select_i && !cs_no && !busy_q;
  assign take = valid_i && ready_o;
  assign tick = half_q == '0;
  assign mosi_o = shift_q[7];
  assign data_o = shift_q;

  always_ff @(posedge clk_i) begin
    done_o <= 1'b0;
    if (!rst_ni) begin
      cs_no <= 1'b1;
      sck_o <= 1'b0;
      busy_q <= 1'b0;
      half_q <= '0;
      left_q <= '0;
      shift_q <= '1;
    end else begin
      cs_no <= !select_i;
      if (take) begin
        busy_q <= 1'b1;
        shift_q <= data_i;
        left_q <= 3'd7;
        half_q <= HalfW'(Half - 1);
      end else if (busy_q) begin
        half_q <= tick ? HalfW'(Half - 1) : half_q - 1'b1;
        if (tick) begin
          sck_o <= !sck_o;
          if (sck_o) begin
            shift_q <= {shift_q[6:0], miso_i};
            left_q <= left_q - 1'b1;
            if (left_q == '0) begin
              busy_q <= 1'b0;
              done_o <= 1'b1;
            end
          end
        end
      end
    end
  end

`ifndef SYNTHESIS
  SelectedWhileBusy_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) busy_q |-> select_i && !cs_no);
`endif
endmodule : rl_spi
