// Sends frames: answers to solicitations made of the template, the firmware's frames, and what was fetched from
// DDR; these three in turn. All of a frame is there before it starts, so that it never pauses.
//
//   V0  the sources show a word: the buffer's RAM, the head of a fetched frame, its data
//   V1  the one in turn; the others are zero, and so is padding
//   V2  the word on the port
module rl_tx
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic        clk_net_i,
  input  logic        rst_net_ni,

  // The processor's view of the buffer, see rl_tx_buffer.
  input  logic        cpu_write_i,
  input  logic [10:0] cpu_addr_i,
  input  logic [31:0] cpu_wdata_i,
  output logic [31:0] cpu_rdata_o,

  input  logic        halt_i,            // Begin no other frame.

  // The firmware's frames.
  input  logic        send_i,
  input  logic        send_slot_i,
  input  logic [11:0] send_bytes_i,      // From the destination address on, padding too: FrameMin or more.
  output logic [1:0]  slot_busy_o,       // Still to be sent.

  // Answers to solicitations.
  input  logic          announce_valid_i,
  output logic          announce_ready_o,  // It has left the buffer.
  input  announcement_t announce_i,

  // Fetched: heads from rl_mem_read, four words each, and the data queue's reading side.
  input  logic        head_valid_i,
  output logic        head_ready_o,
  input  logic [63:0] head_i,
  input  logic        data_valid_i,
  input  read_desc_t    data_desc_i,
  output logic        data_done_o,
  output logic        data_take_o,
  input  logic [63:0] data_i,
  input  logic        data_ready_i,
  output logic        fetched_o,         // One is done with.
  output logic        cpu_fetch_done_o,  // It was for the firmware, and is in the buffer.

  output logic        tx_valid_o,
  output logic [63:0] tx_data_o,
  output logic [7:0]  tx_keep_o,
  output logic        tx_last_o,
  input  logic        tx_ready_i,

  // Events.
  output logic        frame_o,
  output logic [13:0] frame_bytes_o      // With frame_o.
);
  localparam logic [13:0] AnnouncementBytes = 14'(HeaderEnd) + 14'(AnnounceBytes);
  // The word in which it differs from the template, beside the first.
  localparam logic [10:0] SeqWord = 11'd2;
  localparam logic [9:0] TemplateAddr = 10'd512;
  localparam logic [7:0] HeadWords = 8'd4;

  typedef enum logic [2:0] {
    Choose = 3'd0,
    Measure = 3'd1,  // How many bytes,
    Plan = 3'd2,     // and how many words?
    Send = 3'd3,
    Keep = 3'd4      // Fetched bytes go into the buffer.
  } state_e;
  typedef enum logic [1:0] {
    Announce = 2'd0,
    Firmware = 2'd1,
    Fetched  = 2'd2
  } source_e;
  state_e state_q;
  source_e source_q, source;

  // -- the firmware's frames, the older first
  logic [1:0][11:0] slot_bytes_q;
  logic oldest_q, slot_sent;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      slot_busy_o <= '0;
    end else begin
      if (slot_sent) slot_busy_o[oldest_q] <= 1'b0;
      if (send_i) slot_busy_o[send_slot_i] <= 1'b1;
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (send_i) slot_bytes_q[send_slot_i] <= send_bytes_i;
    if (send_i && !slot_busy_o[!send_slot_i]) oldest_q <= send_slot_i;
    else if (slot_sent) oldest_q <= !oldest_q;
  end

  // -- which is next, and how long it is
  logic announces, fetched, keeps, choose;
  logic short;  // It is padded: only what was fetched can be.
  logic [13:0] bytes, bytes_q, extent_q;  // Without padding; less 1.
  assign announces = announce_valid_i && !announce_ready_o;
  assign fetched = data_valid_i && (head_valid_i || data_desc_i.to_cpu);
  assign keeps = source_q == Fetched && data_desc_i.to_cpu;
  assign choose = state_q == Choose && !halt_i && (announces || slot_busy_o != 0 || fetched);
  always_comb begin
    // The one after that of the last frame, if it has anything.
    unique case (source_q)
      Announce: source = slot_busy_o != 0 ? Firmware : fetched ? Fetched : Announce;
      Firmware: source = fetched ? Fetched : announces ? Announce : Firmware;
      default: source = announces ? Announce : slot_busy_o != 0 ? Firmware : Fetched;
    endcase
  end
  always_comb begin
    unique case (source_q)
      Announce: bytes = AnnouncementBytes;
      Firmware: bytes = 14'(slot_bytes_q[oldest_q]);
      default: bytes = data_desc_i.length + (data_desc_i.to_cpu ? 14'd0 : 14'(HeaderEnd));
    endcase
  end
  assign short = extent_q[13:6] == 0 && extent_q[5:0] < 6'(FrameMin - 1) && source_q == Fetched && !keeps;

  // -- V0
  logic stall, step, ends, fills, take_head, take_data, keep_word;
  logic [2:0] at_q;  // Which word this is; 7 for all beyond.
  logic [10:0] left_q;  // Words after it.
  logic [2:0] stop_q;  // Where the last one ends.
  logic short_q, padding_q;
  logic [2:0] filled_q;  // In a short one: the last word before padding.
  logic [9:0] ptr_q, ptr_d;
  assign step = state_q == Send && !stall;
  assign ends = left_q == 0;
  assign fills = short_q ? at_q == filled_q : ends;
  assign take_head = step && source_q == Fetched && 8'(at_q) < HeadWords;
  assign take_data = step && source_q == Fetched && 8'(at_q) >= HeadWords && !padding_q;
  assign keep_word = state_q == Keep && !cpu_write_i;
  assign head_ready_o = take_head;
  assign data_take_o = take_data || keep_word;
  assign data_done_o = (take_data || keep_word) && fills;
  assign slot_sent = step && ends && source_q == Firmware;

  always_comb begin
    ptr_d = ptr_q;
    if (state_q == Plan) begin
      unique case (source_q)
        Announce: ptr_d = TemplateAddr;
        Firmware: ptr_d = {1'b0, oldest_q, 8'd0};
        default: ptr_d = {1'b0, data_desc_i.slot, HeadWords - 8'd1};  // The word written last.
      endcase
    end else if (step || keep_word) begin
      ptr_d = ptr_q + 1'b1;
    end
  end

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= Choose;
      source_q <= Announce;
      announce_ready_o <= 1'b0;
      fetched_o <= 1'b0;
      cpu_fetch_done_o <= 1'b0;
      frame_o <= 1'b0;
    end else begin
      unique case (state_q)
        Choose: if (choose) state_q <= Measure;
        Measure: state_q <= Plan;
        Plan: state_q <= keeps ? Keep : Send;
        Send: if (step && ends) state_q <= Choose;
        Keep: if (keep_word && fills) state_q <= Choose;
        default: state_q <= Choose;
      endcase
      if (choose) source_q <= source;
      announce_ready_o <= step && ends && source_q == Announce;
      fetched_o <= data_done_o;
      cpu_fetch_done_o <= keep_word && fills;
      frame_o <= state_q == Plan && !keeps;
    end
  end
  always_ff @(posedge clk_net_i) begin
    ptr_q <= ptr_d;
    bytes_q <= bytes;
    extent_q <= bytes - 1'b1;
    if (state_q == Plan) begin
      at_q <= '0;
      short_q <= short;
      left_q <= short ? 11'((32'(FrameMin) - 1) / 8) : extent_q[13:3];
      stop_q <= short ? 3'((32'(FrameMin) - 1) % 8) : extent_q[2:0];
      filled_q <= extent_q[5:3];
      padding_q <= 1'b0;
      frame_bytes_o <= short ? 14'(FrameMin) : bytes_q;
    end else if (step || keep_word) begin
      if (at_q != '1) at_q <= at_q + 1'b1;
      left_q <= left_q - 1'b1;
      padding_q <= padding_q || fills;
    end
  end

  logic [63:0] ram;
  rl_tx_buffer u_buffer (
    .clk_i(clk_net_i),
    .cpu_write_i,
    .cpu_addr_i,
    .cpu_wdata_i,
    .cpu_rdata_o,
    .addr_i(ptr_d),
    .write_i(keep_word),
    .wdata_i(data_i),
    .rdata_o(ram)
  );

  // -- V1. The registers' resets do the selection, and come before their enables. Without a step it does not matter
  // what they hold.
  logic valid_q, last_q;
  logic [7:0] keep_q, patch;
  logic [63:0] ram_q, head_q, data_q, patch_q;
  logic [7:0][7:0] patch_d;
  logic [7:0][7:0] announce_dst;
  logic [7:4][7:0] announce_seq;
  logic at_seq;
  assign announce_dst = {<<8{announce_i.dst, 16'd0}};
  assign announce_seq = {<<8{announce_i.seq}};
  assign at_seq = 11'(at_q) == SeqWord;
  always_comb begin
    patch = '0;
    if (source_q == Announce) begin
      if (at_q == 0) patch = 8'h3f;
      if (at_seq) patch = 8'hf0;
    end
    // Bytes that are not patched may be anything.
    patch_d = announce_dst;
    patch_d[7:6] = announce_seq[7:6];
    if (at_seq) patch_d[5:4] = announce_seq[5:4];
  end
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) valid_q <= 1'b0;
    else if (!stall) valid_q <= step;
  end
  for (genvar i = 0; i < 8; i++) begin : gen_byte
    always_ff @(posedge clk_net_i) begin
      if (step && (source_q == Fetched || patch[i])) ram_q[8*i+:8] <= '0;
      else if (step) ram_q[8*i+:8] <= ram[8*i+:8];
      if (step && !patch[i]) patch_q[8*i+:8] <= '0;
      else if (step) patch_q[8*i+:8] <= patch_d[i];
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (step && !take_head) head_q <= '0;
    else if (step) head_q <= head_i;
    if (step && !take_data) data_q <= '0;
    else if (step) data_q <= data_i;
    if (step) begin
      last_q <= ends;
      keep_q <= ends ? 8'hff >> ~stop_q : '1;
    end
  end

  // -- V2. When the MAC stops, the word behind the one that it does not take is put aside, and all before it hear
  // of that from a register.
  typedef struct packed {
    logic        last;
    logic [7:0]  keep;
    logic [63:0] data;
  } word_t;
  word_t word, aside_q, word_q;
  logic blocked, aside_valid_q;
  assign word = '{last: last_q, keep: keep_q, data: ram_q | head_q | data_q | patch_q};
  assign blocked = tx_valid_o && !tx_ready_i;
  assign stall = aside_valid_q;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      tx_valid_o <= 1'b0;
      aside_valid_q <= 1'b0;
    end else if (blocked) begin
      aside_valid_q <= aside_valid_q || valid_q;
    end else begin
      tx_valid_o <= valid_q || aside_valid_q;
      aside_valid_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (!aside_valid_q) aside_q <= word;
    if (!blocked) word_q <= aside_valid_q ? aside_q : word;
  end
  assign {tx_last_o, tx_keep_o, tx_data_o} = word_q;

`ifndef SYNTHESIS
  TxHolds_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    tx_valid_o && !tx_ready_i |=> tx_valid_o && $stable(
      {tx_data_o, tx_keep_o, tx_last_o}
  ));
  TxNeverPauses_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    tx_valid_o && tx_ready_i && !tx_last_o |=> tx_valid_o);
  HeadIsThere_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) head_ready_o |-> head_valid_i);
  DataIsThere_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) data_take_o |-> data_ready_i);
  AnnouncementHolds_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    announce_valid_i && !announce_ready_o |=>
    announce_valid_i && $stable(
      announce_i
  ));
  SlotIsFree_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    send_i |-> !slot_busy_o[send_slot_i] && send_bytes_i >= 12'(FrameMin));
`endif

  logic unused;
  assign unused = data_ready_i;
endmodule
