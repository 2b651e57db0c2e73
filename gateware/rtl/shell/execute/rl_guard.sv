// Stands between a role and its DDR port. Whatever the role does, the DDR side sees AXI4 as it must
// be, inside the memory that is the role's: addresses and write data go through a register each, a
// burst is taken only if it may be, and its write beats are counted here.
//
// The first wrong thing a role does cuts it off: it gets no answer any more and nothing is taken
// from it; write bursts under way get the rest of their beats without strobes, and answers are
// taken and thrown away. rl_role_port then resets the role. `isolate_i` does the same.
//
// Answers go to the role without a register. At full rate a role moves one beat a cycle each way.
module rl_guard
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
#(
  parameter int unsigned Outstanding = 16,  // Bursts under way, each way. A power of two.
  parameter int unsigned PatienceW = 9,     // A role may keep the port waiting 2^PatienceW cycles.
  localparam int unsigned PageW = 12        // Bursts stay inside aligned blocks of 4 KiB.
) (
  input  logic                  clk_role_i,
  input  logic                  rst_role_ni,

  input  logic [AxiAddrW-1:0]   memory_i,   // Bytes of its memory, a multiple of 64 KiB. Steady.
  input  logic                  isolate_i,
  output logic                  drained_o,  // Cut off, and nothing is under way.
  output guard_fault_t          fault_o,    // Until isolate_i has cut it off.

  input  axi_req_t              role_i,
  output axi_rsp_t              role_o,
  output axi_req_t              ddr_o,
  input  axi_rsp_t              ddr_i
);
  localparam int unsigned CountW = $clog2(Outstanding) + 1;
  localparam int unsigned BlockW = 16;  // What memory is a multiple of.

  if (Outstanding != 1 << $clog2(Outstanding)) begin : gen_check
    $fatal(0, "rl_guard: Outstanding must be a power of two (%m)");
  end

  typedef logic [4:0] left_t;
  typedef logic [AxiAddrW-7:0] beat_t;
  typedef struct packed {
    logic [AxiIdW-1:0] id;
    beat_t             beat;
    logic [3:0]        len;
  } burst_t;

  guard_fault_t fault_q;
  logic cut;
  assign cut = isolate_i || fault_q != 0;
  assign fault_o = fault_q;

  // A burst that may be: short enough, in one page, in memory. The last follows from its start,
  // since memory ends where a page does.
  function automatic logic fits(input logic [PageW-7:0] in_page, input logic [7:0] len,
                                input logic [AxiAddrW-BlockW-1:0] block);
    logic [PageW-6:0] last;
    last = {1'b0, in_page} + (PageW - 5)'(len[3:0]);
    return len < 8'(BurstMax) && !last[PageW-6] && block < memory_i[AxiAddrW-1:BlockW];
  endfunction

  logic unused;
  assign unused = ^{memory_i[BlockW-1:0], role_i.awaddr[5:0], role_i.araddr[5:0]};

  // -- write addresses and data
  burst_t aw_q, ar_q;
  logic aw_valid_q, w_valid_q, w_last_q, ar_valid_q;
  logic [511:0] w_data_q;
  logic [63:0] w_strb_q;
  left_t left_q;  // Beats of the burst taken last that are still to come.
  logic [CountW-1:0] writes_q, reads_q;
  logic
      aw_offer, aw_take, w_offer, w_take, w_fill, w_move, ar_offer, ar_take, b_done, r_done, r_end;
  logic aw_bad, ar_bad, last_bad;

  // A burst is taken when no beat of the one before it is left, or with its last beat.
  assign aw_offer = !cut && (!aw_valid_q || ddr_i.awready) && !writes_q[CountW-1] &&
                    (left_q == 0 || (left_q == 1 && w_take));
  assign aw_bad = !fits(role_i.awaddr[PageW-1:6], role_i.awlen, role_i.awaddr[AxiAddrW-1:BlockW]);
  assign aw_take = aw_offer && role_i.awvalid && !aw_bad;

  assign w_move = left_q != 0 && (!w_valid_q || ddr_i.wready);
  assign w_offer = w_move && !cut;
  assign last_bad = role_i.wlast != (left_q == 1);
  assign w_take = w_offer && role_i.wvalid && !last_bad;
  assign w_fill = w_move && cut;

  assign b_done = ddr_i.bvalid && ddr_o.bready;

  // -- read addresses
  assign ar_offer = !cut && (!ar_valid_q || ddr_i.arready) && !reads_q[CountW-1];
  assign ar_bad = !fits(role_i.araddr[PageW-1:6], role_i.arlen, role_i.araddr[AxiAddrW-1:BlockW]);
  assign ar_take = ar_offer && role_i.arvalid && !ar_bad;
  assign r_done = ddr_i.rvalid && ddr_o.rready;
  assign r_end = r_done && ddr_i.rlast;

  always_comb begin
    ddr_o = '{
        awid: aw_q.id,
        awaddr: {aw_q.beat, 6'd0},
        awlen: 8'(aw_q.len),
        awvalid: aw_valid_q,
        wdata: w_data_q,
        wstrb: w_strb_q,
        wlast: w_last_q,
        wvalid: w_valid_q,
        bready: cut || role_i.bready,
        arid: ar_q.id,
        araddr: {ar_q.beat, 6'd0},
        arlen: 8'(ar_q.len),
        arvalid: ar_valid_q,
        rready: cut || role_i.rready
    };
    role_o = ddr_i;
    role_o.awready = aw_offer && !aw_bad;
    role_o.wready = w_offer && !last_bad;
    role_o.arready = ar_offer && !ar_bad;
    role_o.bvalid = ddr_i.bvalid && !cut;
    role_o.rvalid = ddr_i.rvalid && !cut;
  end

  // -- what a role does wrong
  // VALID was there, was not answered, and is gone.
  logic [2:0] asked_q, asks, taken;
  assign asks = {role_i.awvalid, role_i.wvalid, role_i.arvalid};
  assign taken = {aw_take, w_take, ar_take};

  // What it keeps waiting: write data, write responses, read data. An age goes up with each tick.
  logic [2:0] waits;
  logic [PatienceW-2:0] tick_q;
  logic [2:0][1:0] age_q;
  logic tick;
  assign waits = {
    w_offer && !role_i.wvalid, ddr_i.bvalid && !role_i.bready, ddr_i.rvalid && !role_i.rready
  };
  assign tick = tick_q == '0;

  guard_fault_t fault;
  assign fault.address = (aw_offer && role_i.awvalid && aw_bad) ||
                         (ar_offer && role_i.arvalid && ar_bad);
  assign fault.protocol = (w_offer && role_i.wvalid && last_bad) || |(asked_q & ~asks);
  assign fault.response = &age_q[0] || &age_q[1] || &age_q[2];

  always_ff @(posedge clk_role_i) begin
    if (aw_take)
      aw_q <= '{id: role_i.awid, beat: role_i.awaddr[AxiAddrW-1:6], len: role_i.awlen[3:0]};
    if (ar_take)
      ar_q <= '{id: role_i.arid, beat: role_i.araddr[AxiAddrW-1:6], len: role_i.arlen[3:0]};
    if (w_take) w_data_q <= role_i.wdata;
    if (w_fill) w_strb_q <= '0;
    else if (w_take) w_strb_q <= role_i.wstrb;
    if (w_move) w_last_q <= left_q == 1;

    if (!rst_role_ni) begin
      aw_valid_q <= 1'b0;
      w_valid_q <= 1'b0;
      ar_valid_q <= 1'b0;
      left_q <= '0;
      writes_q <= '0;
      reads_q <= '0;
      fault_q <= '0;
      asked_q <= '0;
      age_q <= '0;
      tick_q <= '0;
      drained_o <= 1'b0;
    end else begin
      aw_valid_q <= aw_take || (aw_valid_q && !ddr_i.awready);
      w_valid_q <= w_take || w_fill || (w_valid_q && !ddr_i.wready);
      ar_valid_q <= ar_take || (ar_valid_q && !ddr_i.arready);
      if (aw_take) left_q <= left_t'(role_i.awlen[3:0]) + 1'b1;
      else if (w_take || w_fill) left_q <= left_q - 1'b1;
      writes_q <= writes_q + CountW'(aw_take) - CountW'(b_done);
      reads_q <= reads_q + CountW'(ar_take) - CountW'(r_end);

      tick_q <= tick_q + 1'b1;
      for (int i = 0; i < 3; i++) begin
        if (cut || !waits[i]) age_q[i] <= '0;
        else if (tick) age_q[i] <= age_q[i] + 1'b1;
      end
      asked_q <= cut ? '0 : asks & ~taken;
      if (isolate_i) fault_q <= '0;
      else if (!cut) fault_q <= fault;

      drained_o <= isolate_i && writes_q == 0 && reads_q == 0;
    end
  end

`ifndef SYNTHESIS
  rl_stays #(
    .Width($bits(aw_q))
  ) u_aw_stays (
    .clk_i(clk_role_i),
    .rst_ni(rst_role_ni),
    .valid_i(ddr_o.awvalid),
    .ready_i(ddr_i.awready),
    .data_i(aw_q)
  );
  rl_stays #(
    .Width(577)
  ) u_w_stays (
    .clk_i(clk_role_i),
    .rst_ni(rst_role_ni),
    .valid_i(ddr_o.wvalid),
    .ready_i(ddr_i.wready),
    .data_i({w_data_q, w_strb_q, w_last_q})
  );
  rl_stays #(
    .Width($bits(ar_q))
  ) u_ar_stays (
    .clk_i(clk_role_i),
    .rst_ni(rst_role_ni),
    .valid_i(ddr_o.arvalid),
    .ready_i(ddr_i.arready),
    .data_i(ar_q)
  );
  CutOffGetsNothing_A :
  assert property (@(posedge clk_role_i) disable iff (!rst_role_ni)
    cut |-> {role_o.awready, role_o.wready, role_o.arready, role_o.bvalid, role_o.rvalid} == 0);
`endif
endmodule
