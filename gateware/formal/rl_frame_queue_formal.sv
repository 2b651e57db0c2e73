// What rl_frame_queue promises, for proofs, with two clocks that tick as they like: what the reader
// sees are the committed frames, in order, each with its words. One word and one descriptor, any,
// are watched. The descriptor tells the number of the word after its frame, so that the reader knows when to stop.
//
// A writer of the shell looks at room_o up to `Early` cycles before it starts a frame. Then its frames are that much
// and a word shorter than the queue counts with, and it ends no two of them within as many cycles.
//
// The proof has three parts, since the solver takes much longer for all at once: that the numbers are right, as long
// as what is taken is there; that the frames that show are there, as the numbers are right; what is in them, as both
// are.
module rl_frame_queue_formal #(
  parameter bit ProveNumbers = 1'b1,  // Else they are assumed.
  parameter bit ProveFrames = 1'b1,   // Else they are assumed.
  parameter bit ProveWords = 1'b1,    // Else nothing is said about them.
  parameter int unsigned Words = 4,
  parameter int unsigned FrameWords = 2,
  parameter int unsigned Early = 0,
  parameter int unsigned StepW = 0,
  parameter int unsigned Frames = 4,
  localparam int unsigned WordsW = $clog2(Words) + 1,
  localparam int unsigned LengthW = $clog2(FrameWords) + 1,
  localparam int unsigned DescW = 1 + WordsW
) (
  input logic        clk_wr_i,
  input logic        pick_word_i,  // Watch the word that is written now.
  input logic        pick_frame_i, // Watch the descriptor that is committed now.
  input logic        word_i,
  input logic [1:0]  data_i,
  input logic        commit_i,
  input logic        tag_i,        // The part of a descriptor that is free.
  input logic        rollback_i,
  input logic        clk_rd_i,
  input logic        done_i,
  input logic        take_i
);
  // Numbers of words and frames, modulo twice as many as fit: as wide as the queue's pointers.
  localparam int unsigned FramesW = $clog2(Frames) + 1;
  typedef logic [WordsW-1:0] word_number_t;
  typedef logic [FramesW-1:0] frame_number_t;
  typedef logic [LengthW-1:0] length_t;
  // Words of the longest frame; those that the writer counts with besides were written since it has looked.
  localparam int unsigned LengthMax = FrameWords - (Early == 0 ? 0 : Early + 1);

  logic room, valid, ready, rst_nq;
  logic [DescW-1:0] desc, desc_seen;
  logic [1:0] data_seen;
  word_number_t base_q = '0;  // Committed words.
  length_t length_q, length;  // Words of the frame that is written, without and with this cycle's.

  assign length = length_q + length_t'(word_i);
  assign desc = {tag_i, word_number_t'(base_q + word_number_t'(length))};

  rl_frame_queue #(
    .DataW(2),  // Other bits are as good as these, and cost the solver time.
    .Words(Words),
    .FrameWords(FrameWords),
    .DescW(DescW),
    .Frames(Frames),
    .StepW(StepW)
  ) u_dut (
    .clk_wr_i,
    .rst_wr_ni(rst_nq),
    .room_o(room),
    .word_i,
    .data_i,
    .commit_i,
    .desc_i(desc),
    .rollback_i,
    .clk_rd_i,
    .rst_rd_ni(rst_nq),
    .valid_o(valid),
    .desc_o(desc_seen),
    .done_i,
    .take_i,
    .data_o(data_seen),
    .ready_o(ready)
  );

  // Reset is over when both clocks have ticked in it.
  logic seen_wr_q = 1'b0, seen_rd_q = 1'b0;
  always_ff @(posedge clk_wr_i) seen_wr_q <= 1'b1;
  always_ff @(posedge clk_rd_i) seen_rd_q <= 1'b1;
  assign rst_nq = seen_wr_q && seen_rd_q;

  // -- writer
  logic open_q = 1'b0;
  frame_number_t committed_q = '0;
  logic [2:0] rooms_q = '0;         // Whether there was room, a cycle ago and so on,
  logic [1:0] commits_q = '0;       // and whether a frame was committed.
  logic word_tried_q = 1'b0, word_picked_q = 1'b0, frame_picked_q = 1'b0;
  word_number_t word_number_q;
  frame_number_t word_frame_q, frame_number_q;
  logic [1:0] word_q;
  logic [DescW-1:0] desc_q;
  logic word_pick, word_held, starts_well;

  assign starts_well = room || |(rooms_q & 3'((1 << Early) - 1));
  assign word_pick = word_i && pick_word_i && !word_tried_q && !word_picked_q;
  assign word_held = word_pick || word_tried_q;

  always_comb begin
    if (!rst_nq) assume (!word_i && !commit_i && !rollback_i);
    assume (!(commit_i && rollback_i));
    assume (length <= length_t'(LengthMax));
    if (!open_q && (word_i || commit_i)) assume (starts_well);
    if (Early > 1) assume (!(commit_i && commits_q[0]));
    // The memory keeps the word that is watched.
    if (word_pick) assume (u_dut.u_ram.place_q == u_dut.wptr_q[WordsW-2:0]);
  end
  initial length_q = '0;
  always_ff @(posedge clk_wr_i) begin
    rooms_q <= rst_nq ? {rooms_q[1:0], room} : '0;
    commits_q <= {commits_q[0], commit_i};
    open_q <= !commit_i && !rollback_i && (open_q || word_i);
    length_q <= commit_i || rollback_i ? '0 : length;
    if (word_pick) begin
      word_q <= data_i;
      word_number_q <= base_q + word_number_t'(length_q);
      word_frame_q <= committed_q;
    end
    word_tried_q <= word_held && !commit_i && !rollback_i;
    if (word_held && commit_i) word_picked_q <= 1'b1;
    if (commit_i) begin
      base_q <= base_q + word_number_t'(length);
      committed_q <= committed_q + 1'b1;
      if (pick_frame_i && !frame_picked_q) begin
        frame_picked_q <= 1'b1;
        frame_number_q <= committed_q;
        desc_q <= desc;
      end
    end
  end

  // -- reader
  word_number_t taken_q = '0;
  frame_number_t finished_q = '0;
  word_number_t left;  // Words that the frame that shows still has.
  logic word_found_q = 1'b0, frame_found_q = 1'b0;

  assign left = desc_seen[WordsW-1:0] - taken_q;

  always_comb begin
    if (take_i) assume (rst_nq && ready && left != 0);
    if (done_i) assume (rst_nq && valid && left == word_number_t'(take_i));
  end
  always_ff @(posedge clk_rd_i) begin
    if (take_i) begin
      taken_q <= taken_q + 1'b1;
      if (word_picked_q && taken_q == word_number_q) word_found_q <= 1'b1;
    end
    if (done_i) begin
      finished_q <= finished_q + 1'b1;
      if (frame_picked_q && finished_q == frame_number_q) frame_found_q <= 1'b1;
    end
  end

  frame_number_t frames;
  word_number_t words;
  assign frames = committed_q - finished_q;
  assign words = base_q - taken_q;

  // -- What is promised.
  if (ProveNumbers) begin : gen_overrun
    always_comb begin
      // Others prove that the reader does what it does within these bounds (OnlyCommitted_A).
      if (!ProveFrames && take_i) assume (words != 0);
      if (!ProveFrames && done_i) assume (frames != 0);
      if (rst_nq)
        NoOverrun_A : assert (frames <= frame_number_t'(Frames) && words <= word_number_t'(Words));
    end
  end
  if (ProveFrames) begin : gen_in_order
    always_comb begin
      if (rst_nq && valid) OnlyCommitted_A : assert (frames != 0 && left <= words);
      if (rst_nq && valid && frame_picked_q && !frame_found_q && finished_q == frame_number_q)
        FramesInOrder_A : assert (desc_seen == desc_q);
    end
  end
  if (ProveWords) begin : gen_words
    always_comb begin
      if (take_i && word_picked_q && !word_found_q && taken_q == word_number_q)
        WordsInOrder_A : assert (data_seen == word_q);
      if (rst_nq)
        WatchedComesOut_C : cover (word_found_q && word_number_q != 0 && valid && left == 0);
      if (rst_nq) Full_C : cover (frames == frame_number_t'(Frames - 1));
    end
  end

  // -- What induction has to know.
  // The numbers that stand for Gray-coded pointers: half way, and where they have arrived. What was read crosses in
  // steps of 2^StepW words.
  function automatic frame_number_t frame_of(frame_number_t gray);
    for (int unsigned i = 0; i < FramesW; i++) frame_of[i] = ^(gray >> i);
  endfunction
  function automatic word_number_t word_of(logic [WordsW-StepW-1:0] gray);
    word_of = '0;
    for (int unsigned i = 0; i < WordsW - StepW; i++) word_of[i+StepW] = ^(gray >> i);
  endfunction
  frame_number_t w_meta, w_seen, r_meta, r_seen;  // Committed, finished.
  word_number_t t_meta, t_mid, t_seen;  // Taken words.
  assign w_meta = frame_of(u_dut.u_desc.u_sync_w.meta_q);
  assign w_seen = frame_of(u_dut.u_desc.wgray_seen);
  assign r_meta = frame_of(u_dut.u_desc.u_sync_r.meta_q);
  assign r_seen = frame_of(u_dut.u_desc.rgray_seen);
  assign t_meta = word_of(u_dut.u_sync.meta_q);
  assign t_mid  = word_of(u_dut.read_seen_gray);
  assign t_seen = word_number_t'(u_dut.read_seen_q) << StepW;

  // Each side's registers hold what they should from its first edge in reset on.
  logic registers_hold;
  always_comb begin
    registers_hold = u_dut.u_ram.chosen_q == seen_wr_q;
    if (seen_wr_q) begin
      registers_hold &= u_dut.base_q == base_q;
      registers_hold &= u_dut.wptr_q == word_number_t'(base_q + word_number_t'(length_q));
      registers_hold &= u_dut.u_desc.wodd_q == committed_q[0];
      registers_hold &= frame_of(u_dut.u_desc.wgray_q) == committed_q;
      registers_hold &= open_q == (length_q != 0) && length_q <= length_t'(LengthMax);
    end else registers_hold &= !open_q && length_q == 0;
    if (seen_rd_q) begin
      registers_hold &= u_dut.rptr_q == taken_q[WordsW-2:0];
      registers_hold &= word_of(u_dut.read_gray_q) == taken_q >> StepW << StepW;
      registers_hold &= u_dut.rinc_q == word_number_t'(taken_q + 1'b1);
      registers_hold &= u_dut.u_desc.rodd_q == finished_q[0];
      registers_hold &= frame_of(u_dut.u_desc.rgray_q) == finished_q;
    end
    if (seen_wr_q && !seen_rd_q)
      registers_hold &= {r_meta, r_seen} == 0 && {t_meta, t_mid, t_seen} == 0;
    if (seen_rd_q && !seen_wr_q) registers_hold &= {w_meta, w_seen} == 0;
    if (!rst_nq) begin
      registers_hold &= {base_q, taken_q} == 0 && {committed_q, finished_q} == 0;
      registers_hold &= length_q == 0 && !open_q && rooms_q == 0 && commits_q == 0;
      registers_hold &= !word_tried_q && !word_picked_q && !word_found_q;
      registers_hold &= !frame_picked_q && !frame_found_q;
    end
  end

  // Pointers are behind one another, and none laps another. Words inside that the writer knows of, those with all of
  // the frame that it writes, and descriptors for which it knows of room.
  word_number_t fill, promised;
  frame_number_t spare;
  localparam int unsigned FillMax = Words - FrameWords;
  assign fill = u_dut.wptr_q - t_seen;
  assign promised = base_q + word_number_t'(LengthMax) - t_seen;
  assign spare = frame_number_t'(Frames) - (committed_q - r_seen);
  logic none_laps;
  always_comb begin
    none_laps = frame_number_t'(w_seen - finished_q) <= frame_number_t'(w_meta - finished_q);
    none_laps &= frame_number_t'(w_meta - finished_q) <= frames;
    none_laps &= frames <= frame_number_t'(committed_q - r_meta);
    none_laps &= frame_number_t'(committed_q - r_meta) <= frame_number_t'(committed_q - r_seen);
    none_laps &= frame_number_t'(committed_q - r_seen) <= frame_number_t'(Frames);
    none_laps &= words <= word_number_t'(base_q - t_meta);
    none_laps &= word_number_t'(base_q - t_meta) <= word_number_t'(base_q - t_mid);
    none_laps &= word_number_t'(base_q - t_mid) <= word_number_t'(base_q - t_seen);
    none_laps &= word_number_t'(base_q - t_seen) <= word_number_t'(Words);
    // There is room for a frame that has started,
    if (open_q) none_laps &= promised <= word_number_t'(Words) && spare != 0;
    // and for one that may start.
    if (room) none_laps &= fill <= word_number_t'(FillMax + 32'(open_q)) && spare > 1;
    for (int unsigned i = 0; i < Early; i++) begin
      if (rooms_q[i]) begin
        none_laps &= fill <= word_number_t'(FillMax + 2 + i) && spare != 0;
        none_laps &= spare > 1 || (commits_q & 2'((1 << (i + 1)) - 1)) != 0;
      end
    end
  end
  if (ProveNumbers) begin : gen_numbers
    always_comb begin
      assert (registers_hold);
      if (rst_nq) assert (none_laps);
    end
  end else begin : gen_numbers_hold
    always_comb begin
      assume (registers_hold);
      if (rst_nq) assume (none_laps);
    end
  end

  // Frames that are inside end one after another, the last one with the last word.
  word_number_t ends[Frames + 1];  // Words from the next one to be taken to the end of each.
  word_number_t ahead;             // And to the watched one.
  frame_number_t word_frame;       // Frames before its own.
  assign ahead = word_number_q - taken_q;
  assign word_frame = word_frame_q - finished_q;
  assign ends[0] = '0;
  logic [Frames-1:0] in_a_row, word_elsewhere;
  for (genvar i = 0; i < Frames; i++) begin : gen_ends
    logic [FramesW-2:0] number, at;
    logic is_in;
    assign number = finished_q[FramesW-2:0] + (FramesW - 1)'(i);
    assign at = number ^ (number >> 1);
    assign is_in = frame_number_t'(i) < frames;
    assign ends[i+1] = u_dut.u_desc.u_ram.mem[at][WordsW-1:0] - taken_q;
    assign in_a_row[i] = !is_in || (ends[i] <= ends[i+1] && ends[i+1] <= words &&
        (frame_number_t'(i + 1) != frames || ends[i+1] == words));
    assign word_elsewhere[i] = is_in && word_frame == frame_number_t'(i) &&
        (ahead < ends[i] || ahead >= ends[i+1]);
  end
  logic frames_hold;
  always_comb begin
    frames_hold = &in_a_row && (frames != 0 || words == 0);
    if (frame_picked_q && !frame_found_q) begin
      frames_hold &= frame_number_t'(frame_number_q - finished_q) < frames;
      frames_hold &= u_dut.u_desc.u_ram.mem[frame_number_q[FramesW-2:0]^(frame_number_q[FramesW-2:0]>>1)] == desc_q;
    end
  end
  if (ProveFrames) begin : gen_frames
    always_comb if (rst_nq) assert (frames_hold);
  end else if (!ProveNumbers) begin : gen_frames_hold
    always_comb if (rst_nq) assume (frames_hold);
  end

  if (ProveWords) begin : gen_watched
    always_comb begin
      if (rst_nq) begin
        assert (!(word_tried_q && word_picked_q));
        if (word_tried_q) begin
          assert (open_q && word_frame_q == committed_q);
          assert (word_number_t'(word_number_q - base_q) < word_number_t'(length_q));
          assert (u_dut.u_ram.place_q == word_number_q[WordsW-2:0] && u_dut.u_ram.kept_q == word_q);
        end
        if (word_found_q) assert (word_picked_q);
        if (word_picked_q && !word_found_q) begin
          // It is in the frame of its number.
          assert (ahead < words && word_frame < frames && word_elsewhere == 0);
          assert (u_dut.u_ram.place_q == word_number_q[WordsW-2:0] && u_dut.u_ram.kept_q == word_q);
          // Its frame shows: so it was in the memory one edge of the reader's clock ago.
          if (word_number_q == taken_q && word_frame < frame_number_t'(w_seen - finished_q))
            assert (data_seen == word_q);
        end
      end
    end
  end
endmodule
