// Brings a PHY up and watches its link: reset, who it is, what it has to be told, and then, again and again, whether
// there is a link and of which kind.
//
// A link that went away and came back between two looks is seen: the PHY keeps "no link" until it is read. The link
// then counts as down until the next look, and so it does when its speed is another one. A PHY that stops answering is
// asked who it is, and told everything again. One that answers nothing from the start, or is another one, is left as it
// is, for it may work all the same.
module rl_phy_link
  import rl_phy_pkg::*;
#(
  parameter int unsigned ResetCycles = 825_000,  // For which the PHY is held in reset.
  parameter int unsigned SettleCycles = 22_500,  // From then on until it may be asked.
  parameter int unsigned PauseCycles = 750_000,  // Between looks.
  parameter int unsigned HalfCycles = 30,        // Of MDC: see rl_mdio.
  parameter logic [4:0] Phy = 5'd0,              // Where it answers.
  parameter logic [31:0] Id = '0,                // Who it is: registers 2 and 3,
  parameter logic [31:0] IdMask = '0,            // as far as this says.
  // What is written to it, from the highest index on: register and value.
  parameter int unsigned Writes = 1,
  parameter logic [Writes-1:0][20:0] Setup = {5'd0, 16'h1200},
  // Where it tells its speed and duplex: PHYs have this in the same place of different registers, or elsewhere.
  parameter logic [4:0] Register = 5'h1f,
  parameter int unsigned At1000 = 6,
  parameter int unsigned At100 = 5,
  parameter int unsigned At10 = 4,
  parameter int unsigned AtFull = 3
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  output phy_link_t link_o,

  output logic      phy_rst_no,
  output logic      mdc_o,
  output logic      mdio_o,
  output logic      drives_o,
  input  logic      mdio_i
);
  localparam logic [4:0] Basic = 5'd1;
  localparam int unsigned BasicLink = 2;
  localparam logic [4:0] IdHigh = 5'd2;
  localparam logic [4:0] IdLow = 5'd3;
  localparam int unsigned Longest =
      ResetCycles > PauseCycles ? (ResetCycles > SettleCycles ? ResetCycles : SettleCycles)
                                : (PauseCycles > SettleCycles ? PauseCycles : SettleCycles);
  localparam int unsigned CountW = $clog2(Longest + 1);
  localparam int unsigned IndexW = Writes > 1 ? $clog2(Writes) : 1;

  typedef enum logic [2:0] {
    Reset,
    Settle,
    AskHigh,
    AskLow,
    Tell,
    AskLink,
    AskSpeed,
    Pause
  } state_e;
  state_e state_q;
  logic [CountW-1:0] count_q;  // Cycles that are left, less 1.
  logic [IndexW-1:0] index_q;  // Of what is being told.
  logic [15:0] high_q;
  logic linked_q;
  phy_link_t link_q;

  // -- the bus: an access in each of these states
  logic access, asked_q, ready, done, missing;
  logic [4:0] register;
  logic [15:0] value, got;
  assign access = state_q inside {AskHigh, AskLow, Tell, AskLink, AskSpeed};
  always_comb begin
    {register, value} = Setup[index_q];
    unique case (state_q)
      AskHigh: register = IdHigh;
      AskLow: register = IdLow;
      AskLink: register = Basic;
      AskSpeed: register = Register;
      default: ;
    endcase
  end
  rl_mdio #(
    .HalfCycles(HalfCycles)
  ) u_mdio (
    .clk_i,
    .rst_ni,
    .valid_i(access && !asked_q),
    .ready_o(ready),
    .write_i(state_q == Tell),
    .phy_i(Phy),
    .register_i(register),
    .value_i(value),
    .done_o(done),
    .missing_o(missing),
    .value_o(got),
    .mdc_o,
    .mdio_o,
    .drives_o,
    .mdio_i
  );

  // -- what it says of the link
  logic full;
  logic [2:0] speeds;
  phy_speed_e speed;
  assign full = got[AtFull];
  assign speeds = {got[At1000], got[At100], got[At10]};
  assign speed = speeds[2] ? Speed1000 : speeds[1] ? Speed100 : Speed10;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Reset;
      count_q <= CountW'(ResetCycles - 1);
      asked_q <= 1'b0;
      link_q <= '{speed: Speed1000, default: '0};
    end else begin
      if (count_q != '0) count_q <= count_q - 1'b1;
      if (access && ready) asked_q <= 1'b1;
      if (done) asked_q <= 1'b0;
      unique case (state_q)
        Reset:
        if (count_q == '0) begin
          state_q <= Settle;
          count_q <= CountW'(SettleCycles - 1);
        end
        Settle: if (count_q == '0) state_q <= AskHigh;
        AskHigh:
        if (done) begin
          high_q <= got;
          link_q.answers <= !missing;
          state_q <= missing ? Pause : AskLow;
        end
        AskLow:
        if (done) begin
          link_q.answers <= !missing;
          link_q.known <= !missing && (({high_q, got} ^ Id) & IdMask) == '0;
          index_q <= IndexW'(Writes - 1);
          state_q <= missing || (({high_q, got} ^ Id) & IdMask) != '0 ? Pause : Tell;
        end
        Tell:
        if (done) begin
          index_q <= index_q - 1'b1;
          if (index_q == '0) state_q <= AskLink;
        end
        AskLink:
        if (done) begin
          linked_q <= got[BasicLink];
          state_q <= missing ? Pause : AskSpeed;
        end
        AskSpeed:
        if (done) begin
          state_q <= Pause;
          link_q.half <= linked_q && $onehot(speeds) && !full;
          link_q.up <= linked_q && $onehot(speeds) && full && (!link_q.up || speed == link_q.speed);
          if ($onehot(speeds)) link_q.speed <= speed;
        end
        Pause: if (count_q == '0) state_q <= link_q.known ? AskLink : AskHigh;
        default: ;
      endcase
      if (done && (state_q == AskSpeed || missing)) count_q <= CountW'(PauseCycles - 1);
      if (done && state_q == AskLow) count_q <= CountW'(PauseCycles - 1);
      // One that is silent has to be asked anew who it is.
      if (done && missing && state_q != Tell) begin
        {link_q.answers, link_q.known, link_q.up, link_q.half} <= '0;
      end
    end
  end
  assign link_o = link_q;
  always_ff @(posedge clk_i) phy_rst_no <= rst_ni && state_q != Reset;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!link_q.up || (link_q.answers && link_q.known && !link_q.half));
      assert (!link_q.half || link_q.known);
    end
  end
  // A speed is another one only of another link.
  assert property (@(posedge clk_i) disable iff (!rst_ni) link_q.up |=> $stable(
      link_q.speed
  ) || !link_q.up);
`endif
endmodule : rl_phy_link
