// Messages from other nodes to streams: an AXI-Stream with its source beside it, word by word as pieces come. Between
// pieces of a message there may be pieces of messages of other nodes. A node's message that can have no end, because a
// life is over, ends with a word of no bytes that says so.
//
// With Sinks it is messages that are whole (rl_bridge_inbox), to so many streams, each as it has room. Such a one has
// MessageMost bytes at most; a longer one is for nobody, as is one for a stream that is not there.
//
// There is room for all pieces that the nodes have credit for, and credit goes back when a piece has been taken: a sink
// that takes nothing costs the link nothing. What a node sends beyond that, of one life after another, is its fault;
// and so is a piece for a stream that no window permits, or one that does not belong where it comes. The twin is Inbox.
module rl_bridge_take
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned DataW = 512,
  parameter int unsigned FrameWords = 64,  // Of a longest piece.
  parameter int unsigned Words = 8192,     // Of the store, a power of two: all nodes' credit in longest pieces.
  parameter int unsigned Sinks = 0,
  parameter int unsigned MessageMost = 9014,
  localparam int unsigned Bytes = DataW / 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              set_valid_i,   // As rl_bridge_windows says.
  input  logic [3:0]        set_index_i,
  input  window_t           set_window_i,

  input  logic              x_valid_i,
  output logic              x_ready_o,
  input  node_t             x_node_i,
  input  head_t             x_head_i,
  input  logic [DataW-1:0]  x_data_i,
  input  logic              x_last_i,

  input  sinks_t            sinks_i,       // With Sinks; as rl_bridge_inbox says, as are these.
  output logic              m_lost_o,
  output logic              m_moves_o,
  output logic              m_valid_o,
  input  logic              m_ready_i,     // Without Sinks.
  output logic [DataW-1:0]  m_data_o,
  output logic [Bytes-1:0]  m_keep_o,      // Ones from bit 0 on. Of a piece's last word, not only of a message's.
  output logic              m_last_o,
  output logic              m_cut_o,       // With last: the message has no end.
  output node_t             m_node_o,
  output logic [15:0]       m_stream_o,

  output logic              consumed_o,    // A piece has been taken, of this node.
  output node_t             consumed_node_o,
  input  logic              forget_i,      // A life has ended, of this node or of our connection to it.
  input  node_t             forget_node_i,
  input  logic              drop_i,        // The owner ends our connection to this node.
  input  node_t             drop_node_i,
  output logic              fault_o,       // This node has broken the rules.
  output node_t             fault_node_o
);
  localparam int unsigned NodeW = $clog2(Nodes);
  localparam int unsigned FineW = $clog2(Bytes);
  localparam int unsigned CountW = $clog2(Words) + 1;
  localparam logic [16:0] MessageMax = 17'h1_0000;
  typedef logic [NodeW-1:0] index_t;
  typedef struct packed {
    logic [DataW-1:0] data;
    logic [FineW:0]   bytes;
    logic             last;
    logic             cut;
    logic             ends;    // Of its piece.
    node_t            node;
    logic [15:0]      stream;
  } word_t;
  typedef struct packed {
    logic [15:0] stream;
    logic [16:0] bytes;
  } message_t;

  typedef enum logic [1:0] {
    Rests,
    Judged,
    Passes,
    Drains
  } state_e;
  state_e state_q;
  logic [Nodes-1:0]
      open_q, cut_q;  // Of a message of this node's there is more to come. It must be cut.
  index_t index, cut_index;
  message_t message, next;
  logic
      asked_done,
      fits,
      fits_q,
      room,
      permitted,
      cuts,
      ready,
      word_ready,
      first,
      is_void,
      permits,
      is_long,
      long_q;
  bridge_status_e asked_status;
  logic [15:0] unused_addr;
  logic unused_soon;
  assign index = index_t'(x_node_i);
  rl_lutram #(
    .Width($bits(message_t)),
    .Depth(Nodes)
  ) u_messages (
    .clk_i,
    .we_i(permits),
    .waddr_i(index),
    .wdata_i(next),
    .raddr_i(state_q == Rests ? cut_index : index),
    .rdata_o(message)
  );
  rl_bridge_windows #(
    .KeyW(16),
    .AddrW(16),
    .FineW(16),
    .Ways(2),
    .Stream(1'b1)
  ) u_windows (
    .clk_i,
    .rst_ni,
    .set_valid_i,
    .set_index_i,
    .set_window_i,
    .ask_valid_i(state_q == Rests && x_valid_i),
    .ask_node_i(x_node_i),
    .ask_addr_i(x_head_i.tag),
    .ask_length_i(16'd1),
    .ask_right_i(4'b1000),
    .soon_o(unused_soon),
    .done_o(asked_done),
    .status_o(asked_status),
    .addr_o(unused_addr)
  );
  logic clear;
  assign clear = Sinks != 0 && sinks_i.clear;
  assign first = !open_q[index];
  always_comb begin
    next = '{stream: x_head_i.tag, bytes: (first ? '0 : message.bytes) + 17'(x_head_i.length)};
    fits = x_head_i.kind == short_of(KindStream) && (first || x_head_i.tag == message.stream) &&
        x_head_i.addr == (first ? '0 : 64'(message.bytes)) && next.bytes <= MessageMax &&
        (x_head_i.last || x_head_i.length != 0);
  end
  // Of a message that is too long the first pieces wait for its end, and the others give their credit back at once.
  assign is_long = Sinks != 0 && 32'(next.bytes) > MessageMost;
  assign ready = asked_done;
  // What a life has sent that is just over goes nowhere.
  assign is_void = (forget_i && index_t'(forget_node_i) == index) || clear;
  assign permits = state_q == Judged && ready && permitted && !is_void;
  assign permitted = fits_q && asked_status == BridgeStatusOk && room;

  // -- messages to be cut, when nothing else goes in
  always_comb begin
    cut_index = '0;
    for (int n = int'(Nodes) - 1; n >= 0; n--) if (cut_q[n]) cut_index = index_t'(n);
  end
  assign cuts = state_q == Rests && cut_q != '0 && word_ready;
  logic hold;
  assign hold = cut_q != '0;

  logic x_ends, last_q, gives, long_ends;
  assign x_ready_o = (state_q == Passes && word_ready) || (state_q == Drains && !(long_q && x_last_i && gives));
  assign x_ends = x_valid_i && x_ready_o && x_last_i;
  assign long_ends = state_q == Drains && long_q && x_ends && !clear;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rests;
      open_q <= '0;
      cut_q <= '0;
    end else begin
      case (state_q)
        Rests: if (x_valid_i && !hold) state_q <= Judged;
        Judged: if (ready || is_void) state_q <= permits && !is_long ? Passes : Drains;
        default: if (x_ends) state_q <= Rests;
      endcase
      if (permits) open_q[index] <= !x_head_i.last;
      if (cuts) cut_q[cut_index] <= 1'b0;
      if (forget_i && open_q[index_t'(forget_node_i)]) begin
        cut_q[index_t'(forget_node_i)] <= 1'b1;
        open_q[index_t'(forget_node_i)] <= 1'b0;
      end
      if (clear) begin
        open_q <= '0;
        cut_q <= '0;
        if (state_q == Passes && !x_ends) state_q <= Drains;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    fits_q <= fits;
    last_q <= x_head_i.last;
    if (state_q == Judged) long_q <= permits && is_long;
    else if (clear) long_q <= 1'b0;
    fault_o <= rst_ni && state_q == Judged && ready && !permitted && !is_void;
    fault_node_o <= x_node_i;
  end

  logic [FineW-1:0] tail;
  logic [FineW:0] bytes;
  logic pushes;
  assign tail = x_head_i.length[FineW-1:0];
  assign bytes = x_head_i.length == 0 ? '0 : x_last_i && tail != 0 ? {1'b0, tail} : (FineW + 1)'(Bytes);
  assign pushes = state_q == Passes && x_valid_i;
  if (Sinks == 0) begin : gen_pieces
    word_t pushed, word;
    logic [CountW-1:0] held;
    always_comb begin
      pushed = '{
          data: x_data_i,
          bytes: bytes,
          last: x_last_i && last_q,
          cut: 1'b0,
          ends: x_last_i,
          node: x_node_i,
          stream: x_head_i.tag
      };
      // Its data mean nothing.
      if (state_q == Rests) begin
        pushed.bytes = '0;
        pushed.last = 1'b1;
        pushed.cut = 1'b1;
        pushed.ends = 1'b0;
        pushed.node = node_t'(cut_index);
        pushed.stream = message.stream;
      end
    end
    rl_fifo_deep #(
      .Width($bits(word_t)),
      .Depth(Words)
    ) u_words (
      .clk_i,
      .rst_ni,
      .wvalid_i(cuts || pushes),
      .wready_o(word_ready),
      .wdata_i(pushed),
      .rvalid_o(m_valid_o),
      .rready_i(m_ready_i),
      .rdata_o(word),
      .count_o(held)
    );
    assign room = 32'(held) + FrameWords <= Words;
    assign m_data_o = word.data;
    assign m_last_o = word.last;
    assign m_cut_o = word.cut;
    assign m_node_o = word.node;
    assign m_stream_o = word.stream;
    for (genvar i = 0; i < int'(Bytes); i++) begin : gen_keep
      assign m_keep_o[i] = (FineW + 1)'(i) < word.bytes;
    end
    always_ff @(posedge clk_i) begin
      consumed_o <= rst_ni && m_valid_o && m_ready_i && word.ends;
      consumed_node_o <= word.node;
    end
    assign gives = 1'b0;
    assign {m_lost_o, m_moves_o} = '0;
    logic unused_sinks;
    assign unused_sinks = ^{drop_i, drop_node_i, long_ends};
  end else begin : gen_messages
    localparam int unsigned SinkW = $clog2(Sinks + 1);
    logic [Nodes-1:0] renew;
    logic [SinkW-1:0] sink;
    logic [FineW:0] m_bytes;
    index_t node;
    for (genvar n = 0; n < int'(Nodes); n++) begin : gen_renew
      assign renew[n] = (forget_i && forget_node_i == node_t'(n)) || (drop_i && drop_node_i == node_t'(n));
    end
    rl_bridge_inbox #(
      .Nodes(Nodes),
      .DataW(DataW),
      .FrameWords(FrameWords),
      .Words(Words / Nodes),
      .Sinks(Sinks)
    ) u_inbox (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .renew_i(renew),
      .push_i((pushes && !clear) || (long_ends && last_q)),
      .node_i(index),
      .data_i(x_data_i),
      .bytes_i(bytes),
      .last_i(x_last_i && last_q),
      .ends_i(x_last_i && !long_ends),
      .void_i(long_ends || (permits && is_long)),
      .stream_i(x_head_i.tag),
      .undo_i(cuts),
      .undo_node_i(cut_index),
      .room_o(room),
      .open_i(sinks_i.open[Sinks-1:0]),
      .room_i(sinks_i.room[Sinks-1:0]),
      .valid_o(m_valid_o),
      .sink_o(sink),
      .data_o(m_data_o),
      .bytes_o(m_bytes),
      .last_o(m_last_o),
      .node_o(node),
      .lost_o(m_lost_o),
      .consumed_o(gives),
      .moves_o(m_moves_o)
    );
    assign word_ready = 1'b1;
    assign m_cut_o = 1'b0;
    assign m_node_o = node_t'(node);
    assign m_stream_o = 16'(sink);
    for (genvar i = 0; i < int'(Bytes); i++) begin : gen_keep
      assign m_keep_o[i] = (FineW + 1)'(i) < m_bytes;
    end
    always_ff @(posedge clk_i) begin
      consumed_o <= rst_ni && (gives || long_ends);
      consumed_node_o <= gives ? node_t'(node) : x_node_i;
    end
    logic unused_ready;
    assign unused_ready = ^{m_ready_i, message.stream};
  end
  logic unused;
  assign unused = ^{x_head_i, unused_addr, unused_soon, forget_node_i, sinks_i};
endmodule
