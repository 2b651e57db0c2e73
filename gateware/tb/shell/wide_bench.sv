// The way of writes as it is wired in the shell, from the MAC to a memory that answers after a while: rl_rx and
// rl_memory at any width. Each cycle of the network and each frame is counted, for whoever wants to know the rate.
module wide_bench
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
  import rl_control_pkg::*;
#(
  parameter int unsigned DataW = 512,
  localparam int unsigned MemBeatW = 12,  // Beats of the memory.
  localparam int unsigned Latency = 40    // Cycles to its answer.
) (
  input  logic               clk_net_i,
  input  logic               rst_net_ni,
  input  logic               clk_ddr_i,
  input  logic               rst_ddr_ni,

  input  logic               rx_valid_i,
  input  logic [DataW-1:0]   rx_data_i,
  input  logic [DataW/8-1:0] rx_keep_i,
  input  logic               rx_last_i,
  input  logic               rx_bad_i,

  input  logic               filter_we_i,
  input  logic [11:0]        filter_places_i,
  input  logic [3:0]         filter_value_i,
  input  logic [5:0]         filter_belongs_i,
  input  logic               listening_i,
  input  logic [15:0]        epoch_i,
  input  logic               loading_i,
  input  logic [15:0]        load_group_i,
  input  logic [39:0]        memory_i,
  input  logic               room_control_i,
  input  logic [2:0]         address_rest_i,  // Cycles in which the memory takes no address, after each.

  output logic [31:0]        frames_o,     // Since the reset: frames that have ended,
  output logic [31:0]        first_o,      // the cycle of the first one's end, and of the last one's,
  output logic [31:0]        latest_o,
  output logic [31:0]        overflows_o,  // that found no room,
  output logic [31:0]        writes_o,     // writes that are new,
  output logic [31:0]        copies_o,     // and those that are not,
  output logic [31:0]        narrow_o,     // and frames for other units.
  output logic [31:0]        bursts_o,     // To memory.
  output logic [7:0]         stored_o,
  output logic [7:0]         written_o,
  input  logic [MemBeatW-1:0] beat_i,
  output logic [511:0]       beat_o
);
  session_t session;
  assign session = '{
          listening: listening_i,
          epoch: epoch_i,
          loading: loading_i,
          load_group: load_group_i,
          receiving: 1'b0,
          role: 1'b0,
          configuring: 1'b0,
          solicit_fast: 1'b0,
          memory: memory_i
      };

  rx_beat_t beat, bulk;
  logic [DataW-1:0] bulk_data;
  logic overflow, hosts, last_page, divert, room;
  divert_reason_e reason, divert_reason;
  rx_event_t rx_event;
  rl_rx #(
    .DataW(DataW),
    .Words(131072 / DataW)
  ) u_rx (
    .clk_net_i,
    .rst_net_ni,
    .rx_valid_i,
    .rx_data_i,
    .rx_keep_i,
    .rx_last_i,
    .rx_bad_i,
    .overflow_o(overflow),
    .filter_i('{
      we: filter_we_i,
      places: filter_places_i,
      value: filter_value_i,
      belongs: filter_belongs_i
    }),
    .session_i(session),
    .barrier_busy_i(1'b0),
    .control_busy_i(1'b0),
    .room_i('{control: room_control_i, write: room, image: 1'b1, read: 1'b1, launch: 1'b1}),
    .nic_i('0),
    .sessions_i('0),
    .key_i('0),
    .key_ready_o(),
    .auth_event_o(),
    .rx_beat_o(beat),
    .hosts_o(hosts),
    .last_page_o(last_page),
    .reason_o(reason),
    .divert_i(divert),
    .bulk_o(bulk),
    .bulk_data_o(bulk_data),
    .heard_o(),
    .event_o(rx_event),
    .busy_o()
  );

  write_progress_t progress;
  write_event_t write_event;
  axi_req_t req;
  axi_rsp_t rsp;
  rl_memory #(
    .DataW(DataW),
    .QueueWords(65536 / DataW)
  ) u_memory (
    .clk_net_i,
    .rst_net_ni,
    .clk_ddr_i,
    .rst_ddr_ni,
    .rx_beat_i(beat),
    .bulk_i(bulk),
    .bulk_data_i(bulk_data),
    .hosts_i(hosts),
    .last_page_i(last_page),
    .write_room_o(room),
    .divert_o(divert),
    .divert_reason_o(divert_reason),
    .time_us_i('0),
    .ack_every_i(16'd16),
    .ack_delay_i(16'd20),
    .ack_waits_o(),
    .ack_late_o(),
    .progress_o(progress),
    .head_o(),
    .head_ready_i(1'b0),
    .fetched_o(),
    .fetched_data_o(),
    .fetched_take_i('0),
    .fetch_done_i(1'b0),
    .write_i('0),
    .write_o(),
    .head_we_i(1'b0),
    .head_addr_i('0),
    .head_wdata_i('0),
    .fetch_valid_i(1'b0),
    .fetch_ready_o(),
    .read_flush_i(1'b0),
    .read_idle_o(),
    .scrub_i('0),
    .scrub_done_o(),
    .moves_o(),
    .failed_o(),
    .write_event_o(write_event),
    .read_event_o(),
    .image_i('0),
    .image_data_i('0),
    .image_take_o(),
    .image_written_gray_o(),
    .load_i('0),
    .load_o(),
    .stream_data_o(),
    .axi_o(req),
    .axi_i(rsp)
  );

  // -- the memory: it takes an address every so many cycles, and a beat in each.
  logic [63:0][7:0] mem[1<<MemBeatW];
  logic [Latency-1:0] answers_q;
  logic [MemBeatW-1:0] at, next_q;
  logic [2:0] rest_q;
  logic open_q, begins, moves;
  assign begins = req.awvalid && rsp.awready;
  assign moves = req.wvalid && rsp.wready;
  assign at = open_q ? next_q : req.awaddr[6+:MemBeatW];
  always_comb begin
    rsp = '0;
    rsp.awready = !open_q && rest_q == 0 && req.wvalid;
    rsp.wready = open_q || (req.awvalid && rest_q == 0);
    rsp.bvalid = answers_q[Latency-1];
  end
  always_ff @(posedge clk_ddr_i) begin
    answers_q <= {answers_q[Latency-2:0], rst_ddr_ni && moves && req.wlast};
    if (moves) for (int i = 0; i < 64; i++) if (req.wstrb[i]) mem[at][i] <= req.wdata[8*i+:8];
    if (begins) bursts_o <= bursts_o + 1'b1;
    if (moves) begin
      next_q <= at + 1'b1;
      open_q <= !req.wlast;
    end
    rest_q <= begins ? address_rest_i : rest_q - 3'(rest_q != 0);
    if (!rst_ddr_ni) begin
      open_q <= 1'b0;
      rest_q <= '0;
      bursts_o <= '0;
    end
  end
  assign beat_o = mem[beat_i];

  // -- counters
  logic [31:0] cycle_q;
  assign stored_o = progress.stored;
  assign written_o = progress.written;
  always_ff @(posedge clk_net_i) begin
    cycle_q <= cycle_q + 1'b1;
    frames_o <= frames_o + 32'(rx_event.frame);
    if (rx_event.frame && frames_o == 0) first_o <= cycle_q;
    if (rx_event.frame) latest_o <= cycle_q;
    overflows_o <= overflows_o + 32'(overflow);
    writes_o <= writes_o + 32'(write_event.stored);
    copies_o <= copies_o + 32'(write_event.duplicate) + 32'(write_event.beyond);
    narrow_o <= narrow_o + 32'(beat.done);
    if (!rst_net_ni) begin
      cycle_q <= '0;
      frames_o <= '0;
      overflows_o <= '0;
      writes_o <= '0;
      copies_o <= '0;
      narrow_o <= '0;
    end
  end
endmodule
