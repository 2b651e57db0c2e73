// The memory of other nodes for a role or a host: an AXI4 subordinate. Where an address leads says a map of regions.
//
// Bursts that read, and those that write, are answered in their order each, whatever their ids; every one within a
// bound. When a node's life ends, or ours to it, what was asked of it ends with SLVERR: it was carried out once, or not
// at all. Above the response a bit says what the node has refused; that was not carried out (remote_e).
module rl_bridge_slave
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_role_pkg::remote_e;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned DataW = 512,
  parameter int unsigned AddrW = 48,
  parameter int unsigned IdW = 6,
  parameter int unsigned Longest = 4096,
  parameter int unsigned Regions = 8,
  parameter int unsigned ReadWords = 512,   // As rl_bridge_ask_read's Words.
  parameter int unsigned WriteWords = 256,  // As rl_bridge_pieces' Words.
  // Bursts that continue each other share requests: where one alone cannot be as long as a message.
  parameter bit          Joins = 256 * DataW / 8 < Longest,
  parameter int unsigned Slots = 32,
  parameter int unsigned TickW = 16,        // What is not answered ends after some four times 2^TickW ticks.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned IndexW = $clog2(Regions)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              tick_i,
  input  logic [9:0]        seed_i,         // Of ids: another one in each life. Steady.
  input  logic              set_valid_i,    // As rl_bridge_map says.
  input  logic [IndexW-1:0] set_index_i,
  input  region_t           set_region_i,
  input  logic              forget_i,       // A life has ended, of this node or of our connection to it.
  input  node_t             forget_node_i,

  input  logic              awvalid_i,
  output logic              awready_o,
  input  logic [IdW-1:0]    awid_i,
  input  logic [AddrW-1:0]  awaddr_i,
  input  logic [7:0]        awlen_i,
  input  logic [2:0]        awsize_i,
  input  logic [1:0]        awburst_i,
  input  logic              wvalid_i,
  output logic              wready_o,
  input  logic [DataW-1:0]  wdata_i,
  input  logic [Bytes-1:0]  wstrb_i,
  input  logic              wlast_i,
  output logic              bvalid_o,
  input  logic              bready_i,
  output logic [IdW-1:0]    bid_o,
  output remote_e           bresp_o,
  input  logic              arvalid_i,
  output logic              arready_o,
  input  logic [IdW-1:0]    arid_i,
  input  logic [AddrW-1:0]  araddr_i,
  input  logic [7:0]        arlen_i,
  input  logic [2:0]        arsize_i,
  input  logic [1:0]        arburst_i,
  output logic              rvalid_o,
  input  logic              rready_i,
  output logic [IdW-1:0]    rid_o,
  output logic [DataW-1:0]  rdata_o,
  output remote_e           rresp_o,
  output logic              rlast_o,

  // -- requests, [0] reads and [1] writes: heads, and the writes' beats
  output logic [1:0]        q_valid_o,
  input  logic [1:0]        q_ready_i,
  input  logic [1:0]        q_refused_i,
  output node_t [1:0]       q_node_o,
  output head_t [1:0]       q_head_o,
  output logic              w_valid_o,
  input  logic              w_ready_i,
  output logic [DataW-1:0]  w_data_o,
  output logic              w_last_o,

  // -- answers, as beats; taken at once
  input  logic              x_valid_i,
  output logic              x_ready_o,
  input  node_t             x_node_i,
  input  head_t             x_head_i,
  input  logic [DataW-1:0]  x_data_i,
  input  logic              x_last_i,
  output logic              stray_o,
  output logic              holds_o         // Something that leads to a node has not left.
);
  localparam int unsigned NodeW = $clog2(Nodes);
  typedef logic [NodeW-1:0] index_t;

  // -- time, and lives: how often one has ended
  logic [TickW-1:0] ticks_q;
  logic [7:0] now_q;
  logic [Nodes-1:0][3:0] lives_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ticks_q <= '0;
      now_q <= '0;
      lives_q <= '0;
    end else begin
      ticks_q <= ticks_q + TickW'(tick_i);
      if (tick_i && (&ticks_q)) now_q <= now_q + 1'b1;
      if (forget_i) lives_q[index_t'(forget_node_i)] <= lives_q[index_t'(forget_node_i)] + 1'b1;
    end
  end
  node_t [1:0] asked, ended;
  logic [1:0][3:0] asked_life, ended_life;
  logic [3:0] answer_life;
  for (genvar i = 0; i < 2; i++) begin : gen_lives
    assign asked_life[i] = lives_q[index_t'(asked[i])];
    assign ended_life[i] = lives_q[index_t'(ended[i])];
  end
  assign answer_life = lives_q[index_t'(x_node_i)];

  // -- one map for both, which take turns. A region of a node that there is not leads nowhere.
  logic [1:0] map_valid, map_done;
  logic [1:0][AddrW-1:0] map_addr;
  logic asks_q, whose_q, done, hit;
  node_t map_node;
  logic [63:0] map_remote;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asks_q <= 1'b0;
      whose_q <= 1'b0;
    end else begin
      asks_q <= asks_q ? !done : map_valid != '0;
      if (!asks_q) whose_q <= map_valid[1] && (!map_valid[0] || !whose_q);
    end
  end
  assign map_done = done ? 2'b01 << whose_q : '0;
  rl_bridge_map #(
    .Regions(Regions),
    .AddrW(AddrW)
  ) u_map (
    .clk_i,
    .rst_ni,
    .set_valid_i,
    .set_index_i,
    .set_region_i,
    .ask_valid_i(map_valid != '0),
    .ask_addr_i(map_addr[whose_q]),
    .done_o(done),
    .hit_o(hit),
    .node_o(map_node),
    .remote_o(map_remote)
  );
  logic leads, unused;
  assign unused = ^forget_node_i;
  assign leads = hit && map_node < node_t'(Nodes);

  logic [1:0] x_valid, x_ready, stray, holds;
  assign holds_o = holds != '0;
  assign x_valid = x_valid_i ? 2'b01 << x_head_i.id[5] : '0;
  assign x_ready_o = x_ready[x_head_i.id[5]];
  assign stray_o = stray != '0;
  rl_bridge_ask_read #(
    .DataW(DataW),
    .AddrW(AddrW),
    .IdW(IdW),
    .Longest(Longest),
    .Words(ReadWords),
    .Joins(Joins),
    .Slots(Slots)
  ) u_read (
    .clk_i,
    .rst_ni,
    .seed_i,
    .now_i(now_q),
    .moved_i(set_valid_i),
    .arvalid_i,
    .arready_o,
    .arid_i,
    .araddr_i,
    .arlen_i,
    .arsize_i,
    .arburst_i,
    .rvalid_o,
    .rready_i,
    .rid_o,
    .rdata_o,
    .rresp_o,
    .rlast_o,
    .map_valid_o(map_valid[0]),
    .map_addr_o(map_addr[0]),
    .map_done_i(map_done[0]),
    .map_hit_i(leads),
    .map_node_i(map_node),
    .map_remote_i(map_remote),
    .asked_node_o(asked[0]),
    .asked_life_i(asked_life[0]),
    .answer_life_i(answer_life),
    .ended_node_o(ended[0]),
    .ended_life_i(ended_life[0]),
    .q_valid_o(q_valid_o[0]),
    .q_ready_i(q_ready_i[0]),
    .q_refused_i(q_refused_i[0]),
    .q_node_o(q_node_o[0]),
    .q_head_o(q_head_o[0]),
    .x_valid_i(x_valid[0]),
    .x_ready_o(x_ready[0]),
    .x_node_i,
    .x_head_i,
    .x_data_i,
    .x_last_i,
    .stray_o(stray[0]),
    .holds_o(holds[0])
  );
  rl_bridge_ask_write #(
    .DataW(DataW),
    .AddrW(AddrW),
    .IdW(IdW),
    .Longest(Longest),
    .Words(WriteWords),
    .Joins(Joins),
    .Slots(Slots)
  ) u_write (
    .clk_i,
    .rst_ni,
    .seed_i,
    .now_i(now_q),
    .moved_i(set_valid_i),
    .awvalid_i,
    .awready_o,
    .awid_i,
    .awaddr_i,
    .awlen_i,
    .awsize_i,
    .awburst_i,
    .wvalid_i,
    .wready_o,
    .wdata_i,
    .wstrb_i,
    .wlast_i,
    .bvalid_o,
    .bready_i,
    .bid_o,
    .bresp_o,
    .map_valid_o(map_valid[1]),
    .map_addr_o(map_addr[1]),
    .map_done_i(map_done[1]),
    .map_hit_i(leads),
    .map_node_i(map_node),
    .map_remote_i(map_remote),
    .asked_node_o(asked[1]),
    .asked_life_i(asked_life[1]),
    .answer_life_i(answer_life),
    .ended_node_o(ended[1]),
    .ended_life_i(ended_life[1]),
    .q_valid_o(q_valid_o[1]),
    .q_ready_i(q_ready_i[1]),
    .q_refused_i(q_refused_i[1]),
    .q_node_o(q_node_o[1]),
    .q_head_o(q_head_o[1]),
    .w_valid_o,
    .w_ready_i,
    .w_data_o,
    .w_last_o,
    .x_valid_i(x_valid[1]),
    .x_ready_o(x_ready[1]),
    .x_node_i,
    .x_head_i,
    .x_last_i,
    .stray_o(stray[1]),
    .holds_o(holds[1])
  );
endmodule
