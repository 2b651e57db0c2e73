// Whole frames from one clock domain to another: words are written tentatively, and the frame is
// then committed with a descriptor or rolled back. The reader sees committed frames only.
//
//   writer: words (`word_i`), then `commit_i` with `desc_i`, or `rollback_i`; either may come with
//           the last word. A frame starts, with its first word or, without words, with its end, in
//           a cycle in which `room_o` tells that a longest frame fits; then there is no
//           back-pressure within it. After a commit `room_o` rests for a cycle.
//   reader: the first descriptor shows; it takes the frame's words one by one (how many, the
//           descriptor must tell), and then the descriptor.
//
// Only the descriptor FIFO's pointers and the count of words read cross domains, a step at a time.
module rl_frame_queue #(
  parameter int unsigned DataW = 64,       // Bits of a word.
  parameter int unsigned Words = 1024,     // Words inside, a power of two.
  parameter int unsigned FrameWords = 184, // Words of the longest frame.
  parameter int unsigned DescW = 64,
  parameter int unsigned Frames = 64,      // Committed frames inside, a power of two.
  // The writer looks at room_o some time before the frame's first word, and sees to it that FrameWords
  // and Frames are enough for what it has under way.
  parameter bit          Reserves = 1'b0,
  // The writer knows in steps of 2^StepW words what was read, if the queue is long enough for that.
  parameter int unsigned StepW = Words - FrameWords - 32'(Reserves) >= 64 ? 3 : 0,
  localparam int unsigned PtrW = $clog2(Words) + 1
) (
  input  logic             clk_wr_i,
  input  logic             rst_wr_ni,
  output logic             room_o,
  input  logic             word_i,     // Write data_i.
  input  logic [DataW-1:0] data_i,
  input  logic             commit_i,
  input  logic [DescW-1:0] desc_i,
  input  logic             rollback_i,

  input  logic             clk_rd_i,
  input  logic             rst_rd_ni,
  output logic             valid_o,    // A frame is there.
  output logic [DescW-1:0] desc_o,
  input  logic             done_i,     // Take the descriptor: all its words were taken.
  input  logic             take_i,     // Take a word; the next one shows in the next cycle.
  output logic [DataW-1:0] data_o,     // The next word of the frame, if ready_o.
  output logic             ready_o
);
  if (Words != 1 << $clog2(Words)) begin : gen_check
    $fatal(0, "rl_frame_queue: Words must be a power of two (%m)");
  end
  if (FrameWords > Words) begin : gen_check_frame
    $fatal(0, "rl_frame_queue: a frame must fit (%m)");
  end

  localparam int unsigned FillMax = Words - FrameWords - 32'(Reserves);  // With which there is room.
  typedef logic [PtrW-StepW-1:0] steps_t;

  logic [PtrW-1:0] wptr_q, base_q;
  steps_t read_gray_q, read_seen_gray, read_seen, read_seen_q;
  logic desc_ready, desc_spare;

  // -- writer
  logic [PtrW-1:0] wptr_next;
  assign wptr_next = wptr_q + PtrW'(word_i);
  for (genvar i = 0; i < PtrW - StepW; i++) begin : gen_binary
    assign read_seen[i] = ^read_seen_gray[PtrW-StepW-1:i];
  end
  always_ff @(posedge clk_wr_i) begin
    if (!rst_wr_ni) begin
      wptr_q <= '0;
      base_q <= '0;
      room_o <= 1'b0;
      read_seen_q <= '0;
    end else begin
      wptr_q <= rollback_i ? base_q : wptr_next;
      if (commit_i) base_q <= wptr_next;
      read_seen_q <= read_seen;
      // The rest after a commit: wptr_q does not count this cycle's word. Who looks earlier may have
      // written a word that is not counted, or the frame before may still be committed: so there is
      // room for two descriptors.
      room_o <= desc_spare && !commit_i &&
          steps_t'(wptr_q[PtrW-1:StepW] - read_seen_q) <= steps_t'((FillMax + 1) / (1 << StepW) - 1);
    end
  end

  rl_fifo_async #(
    .Width(DescW),
    .Depth(Frames)
  ) u_desc (
    .clk_wr_i,
    .rst_wr_ni,
    .wvalid_i(commit_i),
    .wready_o(desc_ready),
    .wspare_o(desc_spare),
    .wdata_i(desc_i),
    .clk_rd_i,
    .rst_rd_ni,
    .rvalid_o(valid_o),
    .rready_i(done_i),
    .rdata_o(desc_o)
  );

  // -- reader
  // Where the next word is, and the pointer after it: take_i comes late.
  logic [PtrW-2:0] rptr_q;
  logic [PtrW-1:0] rinc_q;
  logic loaded_q;
  // The RAM always reads at the pointer. While no frame is there the word may not be written yet.
  assign ready_o = valid_o && loaded_q;
  always_ff @(posedge clk_rd_i) begin
    if (!rst_rd_ni) begin
      rptr_q <= '0;
      rinc_q <= PtrW'(1);
      read_gray_q <= '0;
      loaded_q <= 1'b0;
    end else begin
      if (take_i) begin
        rptr_q <= rinc_q[PtrW-2:0];
        rinc_q <= rinc_q + 1'b1;
        read_gray_q <= rinc_q[PtrW-1:StepW] ^ (rinc_q[PtrW-1:StepW] >> 1);
      end
      loaded_q <= valid_o;
    end
  end
  rl_gray_sync #(
    .Width(PtrW - StepW)
  ) u_sync (
    .clk_i(clk_wr_i),
    .rst_ni(rst_wr_ni),
    .gray_i(read_gray_q),
    .gray_o(read_seen_gray)
  );

  rl_ram #(
    .Width(DataW),
    .Depth(Words)
  ) u_ram (
    .clk_wr_i,
    .we_i(word_i),
    .waddr_i(wptr_q[PtrW-2:0]),
    .wdata_i(data_i),
    .clk_rd_i,
    .re_i(1'b1),
    .raddr_i(take_i ? rinc_q[PtrW-2:0] : rptr_q),
    .rdata_o(data_o)
  );

`ifndef SYNTHESIS
  logic open_q;
  always_ff @(posedge clk_wr_i)
    open_q <= rst_wr_ni && !commit_i && !rollback_i && (open_q || word_i);
  if (!Reserves) begin : gen_start
    logic [1:0] promised_q;  // Who writes has looked up to two cycles ago.
    always_ff @(posedge clk_wr_i) begin
      promised_q <= {2{rst_wr_ni}} & {promised_q[0], room_o};
      if (rst_wr_ni && !open_q && (word_i || commit_i))
        StartHasRoom_A : assert (room_o || promised_q != 0);
    end
  end
  always_ff @(posedge clk_wr_i) begin
    if (rst_wr_ni) begin
      if (commit_i) CommitHasRoom_A : assert (desc_ready && !rollback_i);
      if (word_i)
        NoOverrun_A : assert (wptr_q[PtrW-1:StepW] - read_seen_q < steps_t'(Words >> StepW));
    end
  end
  always_ff @(posedge clk_rd_i) if (rst_rd_ni && take_i) TakeIsReady_A : assert (ready_o);
`endif
endmodule
