// Copies whole beats from one place to another: reads at one memory port, writes at another. Each burst that is asked
// for has an id of its own and a slot for its beats, so that the memory may answer in any order; a slot that is full
// is written, in the order in which the slots were asked for. Bursts cross 4 KiB neither here nor there.
module rl_copy_engine
  import rl_role_pkg::*;
#(
  localparam int unsigned BeatW = 27  // Of addresses and counts, in beats: 4 GiB and one more.
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             start_i,   // While nothing is under way.
  input  logic [BeatW-1:0] from_i,
  input  logic [BeatW-1:0] to_i,
  input  logic [BeatW-1:0] beats_i,   // May be 0.
  output logic             done_o,    // All is written and answered; one cycle.
  output logic             failed_o,  // With done_o: the memory has answered with an error.

  output axi_req_t         read_o,
  input  axi_rsp_t         read_i,
  output axi_req_t         write_o,
  input  axi_rsp_t         write_i
);
  localparam int unsigned Slots = 4;
  localparam int unsigned SlotW = $clog2(Slots);
  typedef logic [SlotW-1:0] slot_t;
  typedef logic [BeatW-1:0] beat_t;
  typedef logic [4:0] count_t;  // Of a burst.

  // An id is a slot in its upper bits, so that none of them is idle.
  function automatic logic [AxiIdW-1:0] id_of(input slot_t slot);
    return {slot, {AxiIdW - SlotW{1'b0}}};
  endfunction

  // -- what is asked for next
  typedef enum logic [1:0] {
    Idle,
    Plan,  // How long the next burst is,
    Ask,
    Rest   // and when all are asked for, their end.
  } state_e;
  state_e state_q;
  beat_t from_q, to_q, left_q;
  count_t plan, plan_q;
  logic [6:0] to_page_end;
  slot_t head_q, tail_q;  // The next to be asked for, and the next to be written.
  logic [SlotW:0] used_q;
  logic asked;
  always_comb begin
    // As far as the nearer end of a page.
    to_page_end = 7'd64 - 7'(from_q[5:0] > to_q[5:0] ? from_q[5:0] : to_q[5:0]);
    plan = to_page_end < 7'(BurstMax) ? to_page_end[4:0] : count_t'(BurstMax);
    if (left_q < beat_t'(plan)) plan = left_q[4:0];
  end
  assign asked = state_q == Ask && read_i.arready;

  // -- slots
  beat_t [Slots-1:0] slot_to_q;
  count_t [Slots-1:0] beats_q, got_q;
  logic [Slots-1:0] full;
  logic r_take, free;
  slot_t r_slot;
  count_t at_q;  // Beats of the present slot that are written.
  assign r_take = read_i.rvalid;
  assign r_slot = read_i.rid[AxiIdW-1-:SlotW];
  for (genvar n = 0; n < Slots; n++) begin : gen_slot
    // A slot that is not in use has 0 beats.
    assign full[n] = beats_q[n] != 0 && got_q[n] == beats_q[n];
    always_ff @(posedge clk_i) begin
      if (asked && head_q == slot_t'(n)) slot_to_q[n] <= to_q;
      if (!rst_ni) beats_q[n] <= '0;
      else if (asked && head_q == slot_t'(n)) beats_q[n] <= plan_q;
      else if (free && tail_q == slot_t'(n)) beats_q[n] <= '0;
      if (!rst_ni || (free && tail_q == slot_t'(n))) got_q[n] <= '0;
      else if (r_take && r_slot == slot_t'(n)) got_q[n] <= got_q[n] + 1'b1;
    end
  end
  rl_lutram #(
    .Width(512),
    .Depth(Slots * BurstMax)
  ) u_beats (
    .clk_i,
    .we_i(r_take),
    .waddr_i({r_slot, got_q[r_slot][3:0]}),
    .wdata_i(read_i.rdata),
    .raddr_i({tail_q, at_q[3:0]}),
    .rdata_o(write_o.wdata)
  );

  // -- writing
  logic aw_q, w_q, w_last;
  logic [5:0] owed_q;  // Bursts that are written and not answered.
  assign w_last = at_q == beats_q[tail_q] - 1'b1;
  // Address and data have both gone.
  assign free = full[tail_q] && (aw_q || w_q) && (!aw_q || write_i.awready) && (!w_q || (write_i.wready && w_last));

  assign read_o.arvalid = state_q == Ask;
  assign read_o.araddr = {{AxiAddrW - BeatW - 6{1'b0}}, from_q, 6'd0};
  assign read_o.arlen = 8'(plan_q - 1'b1);
  assign read_o.arid = id_of(head_q);
  assign read_o.rready = 1'b1;
  assign {read_o.awid, read_o.awaddr, read_o.awlen, read_o.awvalid} = '0;
  assign {read_o.wdata, read_o.wstrb, read_o.wlast, read_o.wvalid, read_o.bready} = '0;
  assign write_o.awvalid = aw_q;
  assign write_o.awaddr = {{AxiAddrW - BeatW - 6{1'b0}}, slot_to_q[tail_q], 6'd0};
  assign write_o.awlen = 8'(beats_q[tail_q] - 1'b1);
  assign write_o.awid = id_of(tail_q);
  assign write_o.wvalid = w_q;
  assign write_o.wstrb = '1;
  assign write_o.wlast = w_last;
  assign write_o.bready = 1'b1;
  assign {write_o.arid, write_o.araddr, write_o.arlen, write_o.arvalid, write_o.rready} = '0;

  assign done_o = state_q == Rest && used_q == 0 && owed_q == 0;
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      from_q <= from_i;
      to_q <= to_i;
      left_q <= beats_i;
    end else if (asked) begin
      from_q <= from_q + beat_t'(plan_q);
      to_q <= to_q + beat_t'(plan_q);
      left_q <= left_q - beat_t'(plan_q);
    end
    if (state_q == Plan) plan_q <= plan;
    if (start_i) failed_o <= 1'b0;
    else if ((r_take && read_i.rresp != RespOkay) || (write_i.bvalid && write_i.bresp != RespOkay))
      failed_o <= 1'b1;
    if (!w_q) at_q <= '0;
    else if (write_i.wready) at_q <= at_q + 1'b1;

    if (!rst_ni) begin
      state_q <= Idle;
      head_q <= '0;
      tail_q <= '0;
      used_q <= '0;
      aw_q <= 1'b0;
      w_q <= 1'b0;
      owed_q <= '0;
    end else begin
      unique case (state_q)
        Idle: if (start_i) state_q <= Plan;
        Plan: begin
          if (left_q == 0) state_q <= Rest;
          else if (!used_q[SlotW]) state_q <= Ask;
        end
        Ask: if (read_i.arready) state_q <= Plan;
        Rest: if (done_o) state_q <= Idle;
        default: state_q <= Idle;
      endcase
      if (asked) head_q <= head_q + 1'b1;
      if (free) tail_q <= tail_q + 1'b1;
      used_q <= used_q + (SlotW + 1)'(asked) - (SlotW + 1)'(free);

      if (aw_q || w_q) begin
        if (write_i.awready) aw_q <= 1'b0;
        if (write_i.wready && w_last) w_q <= 1'b0;
      end else if (full[tail_q]) begin
        aw_q <= 1'b1;
        w_q <= 1'b1;
      end
      owed_q <= owed_q + 6'(free) - 6'(write_i.bvalid);
    end
  end

  logic unused;
  assign unused = ^{read_i.awready, read_i.wready, read_i.bid, read_i.bresp, read_i.bvalid, read_i.rlast,
                    read_i.rid[AxiIdW-SlotW-1:0], write_i.arready, write_i.bid, write_i.rid, write_i.rdata,
                    write_i.rresp, write_i.rlast, write_i.rvalid};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && start_i) StartsAtRest_A : assert (state_q == Idle);
  always_ff @(posedge clk_i)
    if (rst_ni && r_take)
      BelongsToASlot_A : assert (got_q[r_slot] < beats_q[r_slot]);
`endif
endmodule
