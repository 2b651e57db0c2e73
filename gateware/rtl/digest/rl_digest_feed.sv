// Cuts jobs into beats and asks for them in the order in which the ring needs them.
//
// Leaves: eight chunks at a time, block by block: block 0 of each, block 1 of each ... A job's last
// chunk may be shorter. It joins its group late, so that all chunks of a group end in the same pass
// and their values come in order.
// Parents: eight pairs at a time. An odd value at the end has a pass of its own.
//
// A job of parents reads what earlier jobs wrote: it starts when they are done.
module rl_digest_feed
  import rl_blake3_pkg::*;
  import rl_digest_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        job_valid_i,
  output logic        job_ready_o,
  input  digest_job_t job_i,
  input  logic        job_done_i,      // The values of the oldest job are all in memory.

  output logic        target_valid_o,  // A job starts: its values go there.
  input  logic        target_ready_i,
  output beat_t       target_o,

  output logic        req_valid_o,
  input  logic        req_ready_i,
  output beat_t       req_beat_o,

  input  logic        room_i,
  output logic        ask_o,           // With a request: what its beat is for.
  output about_t      about_o
);
  // -- the next job: chosen in one cycle, taken in the next, set up in a third
  logic [2:0] open_q;  // Jobs started and not done.
  logic busy_q, setup_q, begin_q, may_begin;
  assign may_begin = job_valid_i && !busy_q && !setup_q && !begin_q && target_ready_i
                     && open_q != '1 && (!job_i.parents || open_q == 0);
  assign job_ready_o = begin_q;
  assign target_valid_o = begin_q;
  assign target_o = job_i.target;

  logic parents_q, root_q;
  logic [28:0] top_q;  // Number of the last byte.
  // In eights, less 1: of chunks, or of pairs.
  logic [19:0] groups;
  logic odd;
  // The tail is the last chunk or pair: its slot, the pass in which it starts.
  logic [2:0] tail_slot;
  logic [3:0] tail_start;
  assign groups = parents_q ? top_q[28:9] : 20'(top_q[28:13]);
  assign odd = parents_q && !top_q[5];
  assign tail_slot = parents_q ? top_q[8:6] : top_q[12:10];
  assign tail_start = parents_q ? '1 : ~top_q[9:6];

  // -- where we are: group of eight, block of its chunks, slot
  logic final_q;  // The last group.
  beat_t base_q;
  logic [28:0] counter_q;  // Of slot 0, in eights.
  logic [19:0] groups_q;  // After this one.
  logic [2:0] slot_q;
  logic [3:0] block_q;

  // What follows from the place stands in registers, one cycle later: a beat every second cycle is
  // faster than the ring.
  logic settled_q, tail_q, ends_group_q, ends_pass_q;
  logic [2:0] last_slot;
  assign last_slot = !final_q ? 3'd7 : tail_slot - 3'(block_q < tail_start);
  always_ff @(posedge clk_i) begin
    tail_q <= final_q && slot_q == tail_slot;
    ends_group_q <= slot_q == last_slot;
    // What is copied is alone in its pass.
    ends_pass_q <= slot_q == last_slot || (odd && final_q && slot_q + 1'b1 == tail_slot);
  end

  logic ask, last_block;
  logic [3:0] block;
  logic [6:0] ahead;  // Of the group's first beat.
  assign ask = settled_q && room_i && (!req_valid_o || req_ready_i);
  assign last_block = block_q == '1;
  assign block = block_q - (tail_q ? tail_start : '0);
  assign ahead = parents_q ? 7'(slot_q) : {slot_q, block};

  always_ff @(posedge clk_i) begin
    if (ask) begin
      req_beat_o <= base_q + beat_t'(ahead);
      about_o.copy <= tail_q && odd;
      about_o.ends_pass <= ends_pass_q;
      about_o.ends_value <= last_block;
      about_o.ends_job <= tail_q && last_block;
      about_o.entry.first <= parents_q || block == '0;
      about_o.entry.flags[FlagChunkStart] <= !parents_q && block == '0;
      about_o.entry.flags[FlagChunkEnd] <= !parents_q && last_block;
      about_o.entry.flags[FlagParent] <= parents_q;
      about_o.entry.flags[FlagRoot] <= root_q && last_block;
      about_o.entry.top <= tail_q && last_block && !parents_q ? top_q[5:0] : '1;
      about_o.entry.counter <= parents_q ? '0 : {counter_q, slot_q};
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      begin_q <= 1'b0;
      setup_q <= 1'b0;
      settled_q <= 1'b0;
      open_q <= '0;
      req_valid_o <= 1'b0;
      ask_o <= 1'b0;
    end else begin
      begin_q <= may_begin;
      setup_q <= begin_q;
      settled_q <= busy_q && !ask;
      if (setup_q) busy_q <= 1'b1;
      else if (ask && ends_group_q && last_block && final_q) busy_q <= 1'b0;
      open_q <= open_q + 3'(begin_q) - 3'(job_done_i);
      req_valid_o <= ask || (req_valid_o && !req_ready_i);
      ask_o <= ask;
    end
  end

  always_ff @(posedge clk_i) begin
    if (begin_q) begin
      parents_q <= job_i.parents;
      root_q <= job_i.root;
      top_q <= job_i.length - 1'b1;
      base_q <= job_i.source;
      counter_q <= job_i.chunk[31:3];
    end else if (setup_q) begin
      groups_q <= groups;
      final_q  <= groups == 0;
      slot_q   <= '0;
      // Parents have one block. A group that is one short chunk begins with that.
      block_q  <= parents_q || (groups == 0 && tail_slot == 0) ? tail_start : '0;
    end else if (ask) begin
      slot_q <= ends_group_q ? '0 : slot_q + 1'b1;
      if (ends_group_q && !last_block) block_q <= block_q + 1'b1;
      if (ends_group_q && last_block) begin
        base_q <= base_q + (parents_q ? beat_t'(8) : beat_t'(128));
        counter_q <= counter_q + 1'b1;
        groups_q <= groups_q - 1'b1;
        final_q <= groups_q == 1;
        block_q <= parents_q || (groups_q == 1 && tail_slot == 0) ? tail_start : '0;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && job_valid_i) JobHasBytes_A : assert (job_i.length != 0);
  always_ff @(posedge clk_i)
    if (rst_ni && job_valid_i && !job_i.parents)
      JobStartsAnEight_A : assert (job_i.chunk[2:0] == 0);
  always_ff @(posedge clk_i)
    if (rst_ni && job_valid_i && job_i.parents)
      ParentsAreValues_A : assert (job_i.length[4:0] == 0);
  RequestIsStable_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
    req_valid_o && !req_ready_i |=> req_valid_o && $stable(
      req_beat_o
  ));
`endif
endmodule
