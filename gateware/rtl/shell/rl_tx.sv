// Transmit: frames of the firmware, announcements, and frames whose payload comes from DDR.
//
// The firmware writes whole frames into slots 0 and 1 of the transmit buffer and the announcement's
// template into slot 2; of the template, destination, number and reason are replaced on the way out. A
// fetched frame's head is made here. It starts only when all of its payload is there, so that no frame
// is ever late in its middle. What the firmware fetches for itself goes into one of its slots.
module rl_tx
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic          clk_net_i,
  input  logic          rst_net_ni,
  input  mac_addr_t     mac_i,

  // -- firmware: the buffer in words of 32 bits, of which the frame's first byte is the highest.
  input  logic          cpu_we_i,
  input  logic [10:0]   cpu_addr_i,
  input  logic [31:0]   cpu_wdata_i,
  output logic [31:0]   cpu_rdata_o,       // A cycle later.
  input  logic          send_i,            // Sends a slot that is not busy.
  input  logic          send_slot_i,
  input  logic [10:0]   send_bytes_i,      // From the destination address on, unpadded.
  output logic [1:0]    slot_busy_o,
  output logic          cpu_fetched_o,     // A fetch of the firmware's is in its slot.

  // -- announcements, of rl_discovery and of the firmware
  input  logic          answer_valid_i,
  output logic          answer_ready_o,
  input  announcement_t answer_i,
  input  logic          announce_valid_i,
  output logic          announce_ready_o,
  input  announcement_t announce_i,

  // -- fetched frames: heads, and the reading side of the queue of their payloads
  input  logic          head_valid_i,
  output logic          head_ready_o,
  input  fetch_t        head_i,
  input  logic          fetched_valid_i,
  output logic          fetched_done_o,
  input  logic          fetched_ready_i,
  output logic          fetched_take_o,
  input  logic [63:0]   fetched_data_i,

  output logic          tx_valid_o,
  input  logic          tx_ready_i,
  output logic [63:0]   tx_data_o,
  output logic [7:0]    tx_keep_o,
  output logic          tx_last_o,

  output logic          idle_o,
  output logic          frame_o,           // Event: a frame was sent,
  output logic [13:0]   bytes_o            // with so many bytes.
);
  localparam int unsigned HeadWords = 4;
  localparam logic [13:0] AnnounceLength = 14'(32'(HeaderEnd) + AnnounceBytes);
  localparam int unsigned ReasonAt = 32'(HeaderEnd) + AnnounceReasonOffset;

  // The first byte of the frame is the lowest of a stream's word, and the highest of a number.
  function automatic logic [31:0] swap32(input logic [31:0] x);
    return {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction
  function automatic logic [63:0] swap64(input logic [63:0] x);
    return {swap32(x[31:0]), swap32(x[63:32])};
  endfunction

  typedef enum logic [1:0] {
    FromSlot,
    FromTemplate,
    FromFetch
  } source_e;

  // -- what there is to send
  logic [1:0] busy_q;
  logic [1:0][10:0] slot_bytes_q;
  logic oldest_q, turn_q;  // turn_q: a fetched frame is next, if there is one.
  logic start, active_q, copying_q, last_word;
  logic fetch_waits, copy_waits, template_waits, slot_waits;
  source_e source_q, source_d;
  logic slot_q;
  logic ready_for_next;

  assign slot_busy_o = busy_q;
  assign copy_waits = head_valid_i && head_i.to_cpu && fetched_valid_i;
  assign fetch_waits = head_valid_i && !head_i.to_cpu && fetched_valid_i;
  assign template_waits = answer_valid_i || announce_valid_i;
  assign slot_waits = busy_q != 0;
  assign idle_o = !active_q && !copying_q && !tx_valid_o && !slot_waits && !template_waits &&
                  !head_valid_i && !frame_o;

  always_comb begin
    if (fetch_waits && (turn_q || !(template_waits || slot_waits))) source_d = FromFetch;
    else if (template_waits) source_d = FromTemplate;
    else source_d = FromSlot;
  end
  assign ready_for_next = !active_q && !copying_q;
  assign start = ready_for_next && (fetch_waits || template_waits || slot_waits);

  // -- stage A: which word; the buffer is read.
  logic step, a_valid_q;
  logic [7:0] index_q;           // Of the word in stage A.
  logic [10:0] words_q;          // Words of the frame that are not in stage B yet.
  logic [13:0] length_d, padded_d, bytes_q;
  logic [2:0] tail_q;            // Bytes of the last word, less 1.
  announcement_t announcement_q;

  always_comb begin
    unique case (source_d)
      FromFetch: length_d = head_i.length + 14'(HeaderEnd);
      FromTemplate: length_d = AnnounceLength;
      default: length_d = 14'(slot_bytes_q[oldest_q]);
    endcase
    padded_d = length_d < 14'(FrameMin) ? 14'(FrameMin) : length_d;
  end
  assign last_word = words_q == 1;
  assign step = !tx_valid_o || tx_ready_i;
  assign answer_ready_o = start && source_d == FromTemplate && answer_valid_i;
  assign announce_ready_o = start && source_d == FromTemplate && !answer_valid_i;

  // -- stage B: the word is put together.
  logic b_valid_q, b_last_q;
  logic [7:0] b_index_q;
  logic signed [14:0] b_left_q;  // Bytes of the frame from this word on, padding not counted.
  logic [63:0] buffer, head_word, word;
  logic [7:0] mask;
  logic is_payload;

  always_comb begin
    unique case (b_index_q[1:0])
      2'd0: head_word = {head_i.dst, mac_i[47:32]};
      2'd1: head_word = {mac_i[31:0], head_i.ether_type, Version, head_i.flags, head_i.kind};
      2'd2: head_word = {2'd0, head_i.length, head_i.epoch, head_i.seq};
      default: head_word = head_i.head_addr;
    endcase
  end
  assign is_payload = b_index_q >= 8'(HeadWords);
  always_comb begin
    word = swap64(buffer);
    if (source_q == FromFetch) word = is_payload ? fetched_data_i : swap64(head_word);
    if (source_q == FromTemplate) begin
      if (b_index_q == 0) word[47:0] = swap64({16'd0, announcement_q.dst})[63:16];
      if (b_index_q == 2) word[63:32] = swap32(announcement_q.seq);
      if (b_index_q == 8'(ReasonAt / 8)) word[8*(ReasonAt%8)+:8] = announcement_q.reason;
    end
    for (int unsigned i = 0; i < 8; i++) begin
      mask[i] = b_left_q > 15'(signed'(i));
    end
  end

  logic frame_ends, copy_take, copy_ends;
  assign fetched_take_o = copying_q ? copy_take :
      b_valid_q && step && source_q == FromFetch && is_payload && b_left_q > 0;
  assign frame_ends = b_valid_q && step && b_last_q;

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      busy_q <= '0;
      oldest_q <= 1'b0;
      turn_q <= 1'b0;
      active_q <= 1'b0;
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
      tx_valid_o <= 1'b0;
      frame_o <= 1'b0;
    end else begin
      frame_o <= frame_ends;
      if (send_i) begin
        busy_q[send_slot_i] <= 1'b1;
        if (busy_q == 0) oldest_q <= send_slot_i;
      end
      if (start) begin
        active_q <= 1'b1;
        a_valid_q <= 1'b1;
        turn_q <= source_d != FromFetch;
      end else if (step && last_word) begin
        a_valid_q <= 1'b0;
      end
      if (step) begin
        b_valid_q <= a_valid_q;
        tx_valid_o <= b_valid_q;
      end
      if (frame_ends) begin
        active_q <= 1'b0;
        if (source_q == FromSlot) begin
          busy_q[slot_q] <= 1'b0;
          oldest_q <= !slot_q;
        end
      end
    end
    if (send_i) slot_bytes_q[send_slot_i] <= send_bytes_i;
    bytes_o <= bytes_q;
    if (start) begin
      source_q <= source_d;
      slot_q <= oldest_q;
      announcement_q <= answer_valid_i ? answer_i : announce_i;
      index_q <= '0;
      words_q <= padded_d[13:3] + 11'(padded_d[2:0] != 0);
      tail_q <= 3'(padded_d[2:0] - 3'd1);
      bytes_q <= padded_d;
      b_left_q <= signed'({1'b0, length_d}) + 15'sd8;
    end else if (step && a_valid_q) begin
      index_q <= index_q + 8'(!(&index_q));
      words_q <= words_q - 1'b1;
    end
    if (step) begin
      b_index_q <= index_q;
      b_last_q <= last_word;
      if (a_valid_q) b_left_q <= b_left_q - 15'sd8;
      tx_last_o <= b_last_q;
      tx_keep_o <= b_last_q ? 8'hff >> (3'd7 - tail_q) : 8'hff;
      for (int unsigned i = 0; i < 8; i++) begin
        tx_data_o[8*i+:8] <= mask[i] ? word[8*i+:8] : 8'd0;
      end
    end
  end

  // -- the firmware's fetches
  logic [7:0] copy_index_q;
  logic [10:0] copy_words_q;
  assign copy_take = copying_q && fetched_ready_i && !cpu_we_i;
  assign copy_ends = copy_take && copy_words_q == 1;
  assign head_ready_o = copy_ends || (frame_ends && source_q == FromFetch);
  assign fetched_done_o = head_ready_o;
  always_ff @(posedge clk_net_i) begin
    cpu_fetched_o <= rst_net_ni && copy_ends;
    if (!rst_net_ni) begin
      copying_q <= 1'b0;
    end else if (ready_for_next && !start && copy_waits) begin
      copying_q <= 1'b1;
    end else if (copy_ends) begin
      copying_q <= 1'b0;
    end
    if (!copying_q) begin
      copy_index_q <= 8'(HeadWords);
      copy_words_q <= head_i.length[13:3] + 11'(head_i.length[2:0] != 0);
    end else if (copy_take) begin
      copy_index_q <= copy_index_q + 1'b1;
      copy_words_q <= copy_words_q - 1'b1;
    end
  end

  // -- the buffer: two banks of 32 bits, twice: one to send from, one for the firmware to read.
  logic [9:0] send_addr, write_addr;
  logic cpu_bank_q;
  logic [1:0][31:0] cpu_data;
  assign send_addr = source_q == FromTemplate ? {2'd2, index_q} : {1'b0, slot_q, index_q};
  assign write_addr = copy_take ? {1'b0, head_i.flags[0], copy_index_q} : cpu_addr_i[10:1];
  assign cpu_rdata_o = cpu_data[cpu_bank_q];
  always_ff @(posedge clk_net_i) cpu_bank_q <= cpu_addr_i[0];
  for (genvar bank = 0; bank < 2; bank++) begin : gen_bank
    logic we;
    logic [31:0] wdata;
    assign we = copy_take || (cpu_we_i && cpu_addr_i[0] == 1'(bank));
    assign wdata = copy_take ? swap32(fetched_data_i[32*bank+:32]) : cpu_wdata_i;
    rl_ram #(
      .Width(32),
      .Depth(1024)
    ) u_send (
      .clk_wr_i(clk_net_i),
      .we_i(we),
      .waddr_i(write_addr),
      .wdata_i(wdata),
      .clk_rd_i(clk_net_i),
      .re_i(step),
      .raddr_i(send_addr),
      .rdata_o(buffer[32*(1-bank)+:32])
    );
    rl_ram #(
      .Width(32),
      .Depth(1024)
    ) u_firmware (
      .clk_wr_i(clk_net_i),
      .we_i(we),
      .waddr_i(write_addr),
      .wdata_i(wdata),
      .clk_rd_i(clk_net_i),
      .re_i(1'b1),
      .raddr_i(cpu_addr_i[10:1]),
      .rdata_o(cpu_data[bank])
    );
  end

`ifndef SYNTHESIS
  StableWhileStalled_A: assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    tx_valid_o && !tx_ready_i |=> tx_valid_o && $stable(tx_data_o) && $stable(tx_keep_o) && $stable(tx_last_o));
  // A MAC cannot wait in the middle of a frame.
  NeverLate_A: assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    tx_valid_o && tx_ready_i && !tx_last_o |=> tx_valid_o);
  SlotIsFree_A: assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    send_i |-> !busy_q[send_slot_i]);
  PayloadIsThere_A: assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    fetched_take_o |-> fetched_ready_i);
`endif
endmodule : rl_tx
