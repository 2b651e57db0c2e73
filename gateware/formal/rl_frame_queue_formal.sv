// What rl_frame_queue promises, for proofs, with two clocks that tick as they like: what the reader
// sees are the committed frames, in order, each with its words. One word and one descriptor, any,
// are watched. The descriptor tells the number of words, so that the reader knows when to stop.
module rl_frame_queue_formal #(
  localparam int unsigned Words = 4,
  localparam int unsigned FrameWords = 2,
  localparam int unsigned Frames = 4,
  localparam int unsigned DescW = 3
) (
  input logic        clk_wr_i,
  input logic        pick_word_i,  // Watch the word that is written now.
  input logic        pick_frame_i, // Watch the descriptor that is committed now.
  input logic        word_i,
  input logic [1:0]  data_i,       // Other bits are as good as these, and cost the solver time.
  input logic        commit_i,
  input logic        tag_i,        // The part of a descriptor that is free.
  input logic        rollback_i,
  input logic        clk_rd_i,
  input logic        done_i,
  input logic        take_i
);
  // Numbers of words and frames, modulo twice as many as fit: as wide as the queue's pointers.
  localparam int unsigned NumberW = 3;
  typedef logic [NumberW-1:0] number_t;

  logic room, valid, ready, rst_nq;
  logic [DescW-1:0] desc, desc_seen;
  logic [63:0] data_seen;
  logic [1:0]
      length_q, length;  // Words of the frame that is written, without and with this cycle's.

  assign length = length_q + 2'(word_i);
  assign desc = {tag_i, length};

  rl_frame_queue #(
    .Words(Words),
    .FrameWords(FrameWords),
    .DescW(DescW),
    .Frames(Frames)
  ) u_dut (
    .clk_wr_i,
    .rst_wr_ni(rst_nq),
    .room_o(room),
    .word_i,
    .data_i({62'b0, data_i}),
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
  number_t base_q = '0, committed_q = '0;  // Committed words and frames.
  logic word_tried_q = 1'b0, word_picked_q = 1'b0, frame_picked_q = 1'b0;
  number_t word_number_q, word_frame_q, frame_number_q;
  logic [1:0] word_q;
  logic [DescW-1:0] desc_q;
  logic word_pick, word_held;

  assign word_pick = word_i && pick_word_i && !word_tried_q && !word_picked_q;
  assign word_held = word_pick || word_tried_q;

  always_comb begin
    if (!rst_nq) assume (!word_i && !commit_i && !rollback_i);
    assume (!(commit_i && rollback_i));
    assume (length <= 2'(FrameWords));
    if (!open_q && (word_i || commit_i)) assume (room);
  end
  initial length_q = '0;
  always_ff @(posedge clk_wr_i) begin
    open_q <= !commit_i && !rollback_i && (open_q || word_i);
    length_q <= commit_i || rollback_i ? '0 : length;
    if (word_pick) begin
      word_q <= data_i;
      word_number_q <= base_q + number_t'(length_q);
      word_frame_q <= committed_q;
    end
    word_tried_q <= word_held && !commit_i && !rollback_i;
    if (word_held && commit_i) word_picked_q <= 1'b1;
    if (commit_i) begin
      base_q <= base_q + number_t'(length);
      committed_q <= committed_q + 1'b1;
      if (pick_frame_i && !frame_picked_q) begin
        frame_picked_q <= 1'b1;
        frame_number_q <= committed_q;
        desc_q <= desc;
      end
    end
  end

  // -- reader
  number_t taken_q = '0, finished_q = '0;
  logic [1:0] left_q = '0, left;  // Words taken of the frame that shows; words that it still has.
  logic word_found_q = 1'b0, frame_found_q = 1'b0;

  assign left = desc_seen[1:0] - left_q;

  always_comb begin
    if (take_i) assume (rst_nq && ready && left != 0);
    if (done_i) assume (rst_nq && valid && left == 2'(take_i));
  end
  always_ff @(posedge clk_rd_i) begin
    if (take_i) begin
      taken_q <= taken_q + 1'b1;
      if (word_picked_q && taken_q == word_number_q) word_found_q <= 1'b1;
    end
    left_q <= done_i ? '0 : left_q + 2'(take_i);
    if (done_i) begin
      finished_q <= finished_q + 1'b1;
      if (frame_picked_q && finished_q == frame_number_q) frame_found_q <= 1'b1;
    end
  end

  number_t frames, words;
  assign frames = committed_q - finished_q;
  assign words = base_q - taken_q;

  always_comb begin
    if (rst_nq) begin
      NoOverrun_A : assert (frames <= number_t'(Frames) && words <= number_t'(Words));
      if (valid) OnlyCommitted_A : assert (frames != 0 && number_t'(left) <= words);
      if (valid && frame_picked_q && !frame_found_q && finished_q == frame_number_q)
        FramesInOrder_A : assert (desc_seen == desc_q);
      if (take_i && word_picked_q && !word_found_q && taken_q == word_number_q)
        WordsInOrder_A : assert (data_seen[1:0] == word_q);
      WatchedComesOut_C : cover (word_found_q && word_number_q != 0 && left_q == 0);
      Full_C : cover (frames == number_t'(Frames - 1));
    end
  end

  // -- What induction has to know.
  // The numbers that stand for Gray-coded pointers: half way, and where they have arrived.
  function automatic number_t binary(number_t gray);
    for (int unsigned i = 0; i < NumberW; i++) binary[i] = ^(gray >> i);
  endfunction
  number_t
      w_meta, w_seen, r_meta, r_seen, t_meta, t_mid, t_seen;  // Committed, finished; taken words.
  assign w_meta = binary(u_dut.u_desc.u_sync_w.meta_q);
  assign w_seen = binary(u_dut.u_desc.wgray_seen);
  assign r_meta = binary(u_dut.u_desc.u_sync_r.meta_q);
  assign r_seen = binary(u_dut.u_desc.rgray_seen);
  assign t_meta = binary(u_dut.u_sync.meta_q);
  assign t_mid  = binary(u_dut.read_seen_gray);
  assign t_seen = u_dut.read_seen_q;

  // Each side's registers hold what they should from its first edge in reset on.
  always_comb begin
    if (seen_wr_q) begin
      assert (u_dut.base_q == base_q && u_dut.wptr_q == number_t'(base_q + number_t'(length_q)));
      assert (u_dut.u_desc.wodd_q == committed_q[0] && binary(u_dut.u_desc.wgray_q) == committed_q);
      assert (open_q == (length_q != 0) && length_q <= 2'(FrameWords));
    end else assert (!open_q && length_q == 0);
    if (seen_rd_q) begin
      assert (u_dut.rptr_q == taken_q[NumberW-2:0] && binary(u_dut.read_gray_q) == taken_q);
      assert (u_dut.rinc_q == taken_q + 1'b1);
      assert (u_dut.u_desc.rodd_q == finished_q[0] && binary(u_dut.u_desc.rgray_q) == finished_q);
    end
    if (seen_wr_q && !seen_rd_q)
      assert (r_meta == 0 && r_seen == 0 && t_meta == 0 && t_mid == 0 && t_seen == 0);
    if (seen_rd_q && !seen_wr_q) assert (w_meta == 0 && w_seen == 0);
    if (!rst_nq) begin
      assert (base_q == 0 && committed_q == 0 && taken_q == 0 && finished_q == 0);
      assert (length_q == 0 && left_q == 0 && !open_q);
      assert (!word_tried_q && !word_picked_q && !word_found_q && !frame_picked_q && !frame_found_q);
    end
  end

  // Pointers are behind one another, and none laps another.
  number_t promised;
  assign promised = base_q + number_t'(FrameWords) - t_seen;
  always_comb begin
    if (rst_nq) begin
      assert (number_t'(w_seen - finished_q) <= number_t'(w_meta - finished_q));
      assert (number_t'(w_meta - finished_q) <= frames);
      assert (frames <= number_t'(committed_q - r_meta));
      assert (number_t'(committed_q - r_meta) <= number_t'(committed_q - r_seen));
      assert (number_t'(committed_q - r_seen) <= number_t'(Frames));
      assert (words <= number_t'(base_q - t_meta));
      assert (number_t'(base_q - t_meta) <= number_t'(base_q - t_mid));
      assert (number_t'(base_q - t_mid) <= number_t'(base_q - t_seen));
      assert (number_t'(base_q - t_seen) <= number_t'(Words));
      // There is room for a frame that has started, and for one that may start.
      if (open_q || room) assert (promised <= number_t'(Words) && u_dut.desc_ready);
    end
  end

  // Words that are inside are the lengths of the frames that are inside, less what is taken of the first.
  logic [3:0] lengths[Frames + 1]; // Does not wrap.
  logic [3:0] ahead; // Words from the start of the first frame to the watched one.
  number_t word_frame; // Frames before its own.
  assign ahead = 4'(number_t'(word_number_q - taken_q)) + 4'(left_q);
  assign word_frame = word_frame_q - finished_q;
  assign lengths[0] = '0;
  for (genvar i = 0; i < Frames; i++) begin : gen_lengths
    logic [1:0] number, at;
    assign number = finished_q[1:0] + 2'(i);
    assign at = number ^ (number >> 1);
    assign lengths[i+1] = lengths[i] +
        (number_t'(i) < frames ? 4'(u_dut.u_desc.u_ram.mem[at][1:0]) : '0);
    always_comb begin
      if (rst_nq && number_t'(i) < frames)
        assert (u_dut.u_desc.u_ram.mem[at][1:0] <= 2'(FrameWords));
      // The watched word is in the frame of its number.
      if (rst_nq && word_picked_q && !word_found_q && word_frame == number_t'(i)) begin
        assert (ahead >= lengths[i]);
        assert (ahead < lengths[i+1]);
      end
    end
  end
  always_comb begin
    if (rst_nq) begin
      assert (lengths[Frames] == 4'(words) + 4'(left_q));
      if (left_q != 0) assert (valid && left_q <= desc_seen[1:0]);
      if (frame_picked_q && !frame_found_q) begin
        assert (number_t'(frame_number_q - finished_q) < frames);
        assert (u_dut.u_desc.u_ram.mem[frame_number_q[1:0]^(frame_number_q[1:0]>>1)] == desc_q);
      end
      assert (!(word_tried_q && word_picked_q));
      if (word_tried_q) begin
        assert (open_q && word_frame_q == committed_q);
        assert (number_t'(word_number_q - base_q) < number_t'(length_q));
        assert (u_dut.u_ram.mem[word_number_q[1:0]][1:0] == word_q);
      end
      if (word_found_q) assert (word_picked_q);
      if (word_picked_q && !word_found_q) begin
        assert (number_t'(word_number_q - taken_q) < words);
        assert (word_frame < frames);
        assert (u_dut.u_ram.mem[word_number_q[1:0]][1:0] == word_q);
        // Its frame shows: so it was in the memory one edge of the reader's clock ago.
        if (word_number_q == taken_q && word_frame < number_t'(w_seen - finished_q))
          assert (data_seen[1:0] == word_q);
      end
    end
  end
endmodule
