// Frames that came in at one port and leave at another, or go to a service, of one class. What comes in cannot wait:
// words go in tentatively, and a frame that is not for this queue, is not sound or finds no room is taken out again.
//
// A frame may leave before its end has come, if its writer says so: when nothing else is inside and a few words of it
// are there. Then what is wrong with it shows too late; and its words may come too slowly. It then ends early, with
// `bad_o`, and the rest of it goes nowhere. So what comes out never stops within a frame, and neither queue nor port
// ever waits for words that may not come.
module rl_port_queue #(
  parameter int unsigned DataW = 64,
  parameter int unsigned Words = 512,  // A power of two.
  parameter int unsigned Lead = 2,     // Words of a frame that must be there before it leaves early.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned SizeW = $clog2(KeepW),
  localparam int unsigned PtrW = $clog2(Words) + 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             valid_i,
  input  logic [DataW-1:0] data_i,
  input  logic [KeepW-1:0] keep_i,   // With last_i: ones from bit 0 on.
  input  logic             last_i,
  input  logic             take_i,   // With last_i: the frame is for this queue, and sound.
  input  logic             early_i,  // It is for this queue as far as one can know, and may leave.
  input  logic             long_i,   // It is longer than any may be: this word and what follows is not taken.
  output logic             room_o,   // With last_i: all of it is inside.

  output logic             valid_o,  // Words of a frame follow each other without a gap.
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,
  output logic [KeepW-1:0] keep_o,
  output logic             last_o,
  output logic             bad_o     // With last_o: the frame is not whole.
);
  if (Words != 1 << $clog2(Words) || Lead < 1) begin : gen_check
    $fatal(0, "rl_port_queue: Words must be a power of two, and Lead at least 1 (%m)");
  end
  typedef logic [PtrW-1:0] ptr_t;
  typedef struct packed {
    logic             last;
    logic [SizeW-1:0] size;  // Bytes, less 1.
    logic [DataW-1:0] data;
  } word_t;

  // Words up to base_q are of frames that were taken. If out_q, the first words of the frame behind base_q have left.
  ptr_t wptr_q, base_q, rptr_q, rptr_d, wptr_next;
  logic out_q, lost_q, early_q;

  // -- the reader's side: a word in the output register, and how it goes on
  logic
      shows_q,
      inside_q,
      broken_q;  // inside_q: the first word of a frame has left, and not its last.
  logic fetch, moves, begins, starves;
  logic spoil;  // The frame that is on its way out will not be whole.
  word_t shown;
  assign moves = valid_o && ready_i;
  always_comb begin
    if (out_q) fetch = rptr_q != wptr_q;
    else fetch = rptr_q != base_q || (early_q && wptr_q - base_q >= ptr_t'(Lead));
    fetch = fetch && (!shows_q || ready_i) && !broken_q;
  end
  assign begins = fetch && !out_q && rptr_q == base_q;
  assign starves = moves && !last_o && !fetch;
  assign rptr_d = rptr_q + ptr_t'(fetch);

  // -- the writer's side
  logic put, ends, commit;
  assign put = valid_i && !lost_q && !long_i && wptr_q - rptr_q != ptr_t'(Words);
  assign wptr_next = wptr_q + ptr_t'(put);
  assign ends = valid_i && last_i;
  assign room_o = put;
  assign spoil = (out_q || begins) && (starves || (valid_i && !put) || (ends && !take_i));
  assign commit = ends && take_i && put && !spoil;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      base_q <= '0;
      rptr_q <= '0;
      {out_q, lost_q, early_q} <= '0;
    end else begin
      rptr_q <= rptr_d;
      wptr_q <= wptr_next;
      if (ends && !commit) wptr_q <= base_q;
      if (commit) base_q <= wptr_next;
      // Nothing else is inside.
      if (spoil) {wptr_q, base_q} <= {rptr_d, rptr_d};
      out_q <= (out_q || begins) && !ends && !spoil;
      if (valid_i) lost_q <= !last_i && (lost_q || !put || spoil);
      else if (spoil) lost_q <= 1'b1;
      early_q <= valid_i ? early_i && !last_i && put && !spoil : early_q && !spoil;
    end
  end

  function automatic logic [SizeW-1:0] size_of(logic [KeepW-1:0] keep);
    size_of = '0;
    for (int unsigned i = 1; i < KeepW; i++) if (keep[i]) size_of = SizeW'(i);
  endfunction
  rl_ram #(
    .Width($bits(word_t)),
    .Depth(Words)
  ) u_ram (
    .clk_wr_i(clk_i),
    .we_i(put),
    .waddr_i(wptr_q[PtrW-2:0]),
    .wdata_i({last_i, last_i ? size_of(keep_i) : SizeW'(KeepW - 1), data_i}),
    .clk_rd_i(clk_i),
    .re_i(fetch),
    .raddr_i(rptr_q[PtrW-2:0]),
    .rdata_o(shown)
  );

  // A frame that is spoilt before any of it has left is as if it had never been there; else it ends with a word more.
  logic left;
  assign left = moves ? !last_o : inside_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {shows_q, inside_q, broken_q} <= '0;
    end else begin
      shows_q <= (fetch || (shows_q && !moves)) && (left || !spoil);
      inside_q <= left;
      broken_q <= spoil ? left : broken_q && !(moves && bad_o);
    end
  end
  assign valid_o = shows_q || broken_q;
  assign bad_o = !shows_q;
  assign last_o = bad_o || shown.last;
  assign data_o = shown.data;
  assign keep_o = KeepW'(KeepW'(2) << shown.size) - 1'b1;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      NoGap_A : assert (!inside_q || valid_o);
      NoOverrun_A : assert (wptr_q - rptr_q <= ptr_t'(Words));
      BadOnlyWithin_A : assert (!broken_q || inside_q);
    end
  end
`endif
endmodule
