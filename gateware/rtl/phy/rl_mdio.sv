// A PHY's management bus (IEEE 802.3, clause 22): reads or writes a register.
//
//          32 bits    2      2       5     5        2              16
//   read   preamble   01     10      PHY   register (the PHY: x0)  the PHY's answer
//   write  preamble   01     01      PHY   register 10             value
//
// A bit is put out when MDC falls, and taken when it rises; the PHY changes its own after MDC has risen, and has all of
// the period for it. MDC rests between accesses. The preamble is always sent, as there are PHYs that need it.
module rl_mdio #(
  parameter int unsigned HalfCycles = 30  // Of MDC's period: the standard wants 200 ns and more.
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        valid_i,
  output logic        ready_o,
  input  logic        write_i,
  input  logic [4:0]  phy_i,
  input  logic [4:0]  register_i,
  input  logic [15:0] value_i,

  output logic        done_o,     // For a cycle, after each access. Until the next one:
  output logic        missing_o,  // nobody has answered,
  output logic [15:0] value_o,    // and what was read.

  output logic        mdc_o,
  output logic        mdio_o,
  output logic        drives_o,   // MDIO is ours.
  input  logic        mdio_i
);
  localparam int unsigned Bits = 64;
  localparam logic [5:0] Turn = 6'd46;  // From here on a read is the PHY's.
  // What the PHY says goes through two flip-flops.
  if (HalfCycles < 4) begin : gen_check
    $fatal(0, "rl_mdio: HalfCycles must be at least 4 (%m)");
  end

  logic heard;
  rl_sync u_sync (
    .clk_i,
    .rst_ni(1'b1),
    .d_i(mdio_i),
    .q_o(heard)
  );

  logic busy_q, write_q, mdc_q, drives_q, tick;
  logic [$clog2(HalfCycles)-1:0] cycle_q;
  logic [5:0] bit_q;
  logic [Bits-1:0] out_q;
  logic [16:0] in_q;  // The bit of the turn, and the value.
  assign tick = cycle_q == $bits(cycle_q)'(HalfCycles - 1);
  assign ready_o = !busy_q;
  always_ff @(posedge clk_i) begin
    done_o <= 1'b0;
    cycle_q <= tick || !busy_q ? '0 : cycle_q + 1'b1;
    if (!rst_ni) begin
      busy_q <= 1'b0;
      mdc_q <= 1'b0;
      drives_q <= 1'b0;
    end else if (!busy_q) begin
      busy_q <= valid_i;
      drives_q <= valid_i;
      write_q <= write_i;
      bit_q <= '0;
      out_q <= {32'hffff_ffff, 2'b01, write_i ? 2'b01 : 2'b10, phy_i, register_i, 2'b10, value_i};
    end else if (tick) begin
      mdc_q <= !mdc_q;
      if (!mdc_q) begin
        in_q <= {in_q[15:0], heard};
      end else begin
        bit_q <= bit_q + 1'b1;
        out_q <= {out_q[Bits-2:0], 1'b1};
        drives_q <= bit_q != '1 && (write_q || bit_q < Turn - 1'b1);
        busy_q <= bit_q != '1;
        done_o <= bit_q == '1;
      end
    end
  end
  assign {missing_o, value_o} = in_q;
  assign mdc_o = mdc_q;
  assign mdio_o = out_q[Bits-1];
  assign drives_o = drives_q;

`ifndef SYNTHESIS
  // Around a rising edge of MDC nothing of ours changes.
  assert property (@(posedge clk_i) disable iff (!rst_ni) $rose(
      mdc_q
  ) |-> $stable(
      {mdio_o, drives_o}
  ));
  assert property (@(posedge clk_i) disable iff (!rst_ni) mdc_q |=> $stable(
      {mdio_o, drives_o}
  ) || !mdc_q);
`endif
endmodule : rl_mdio
