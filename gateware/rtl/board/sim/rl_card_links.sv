// The links of a simulated card, and the programs that run over them: rl_collective_card, what starts its programs,
// its memory and its time.
//
//   firmware ==> rl_collective_csr ==> rl_collective_card ==> cables
//                        |                     |
//                rl_collective_report ==> rl_collective_memory ==> rl_memory_hub
//
// When a claim ends all programs are over: nothing more begins, what is under way to memory and on cables ends, and
// then all of it begins anew, with another life. Its clock rests while it has nothing to do.
module rl_card_links
  import rl_wire_pkg::mac_addr_t;
  import rl_role_pkg::*;
  import rl_transport_pkg::epoch_t;
  import rl_transport_pkg::tick_t;
  import rl_transport_pkg::transport_event_t;
  import rl_collective_pkg::*;
#(
  parameter int unsigned Links = 3,
  localparam int unsigned DataW = 64,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                        clk_net_i,
  input  logic                        rst_power_ni,
  input  logic                        rst_net_ni,
  input  logic                        clk_ddr_i,
  input  logic                        rst_ddr_ni,
  input  mac_addr_t                   mac_i,          // Of the card. Steady, as what is next.
  input  logic [31:0]                 boot_i,
  input  logic [9:0][31:0]            link_i,         // As rl_card_sim says.
  input  logic [39:0]                 memory_i,       // Bytes that a host may address.
  input  logic [7:0]                  restarts_i,
  input  logic [47:0]                 time_us_i,
  input  rl_control_pkg::bridge_ctl_t ctl_i,
  output logic [31:0]                 data_o,
  output logic                        ended_o,        // A program has ended: for the firmware.
  input  logic                        halt_i,         // Nothing more begins.
  output logic                        moves_o,        // Something is under way to memory, or half a frame sent.
  output logic                        failed_o,       // Memory has answered with an error.
  output logic                        busy_o,
  output logic                        alarm_valid_o,  // When its time goes on, if nothing happens.
  output logic [31:0]                 alarm_us_o,

  input  logic [Links-1:0]            rx_valid_i,
  input  logic [Links-1:0][DataW-1:0] rx_data_i,
  input  logic [Links-1:0][KeepW-1:0] rx_keep_i,
  input  logic [Links-1:0]            rx_last_i,
  input  logic [Links-1:0]            rx_bad_i,
  output logic [Links-1:0]            tx_valid_o,
  input  logic [Links-1:0]            tx_ready_i,
  output logic [Links-1:0][DataW-1:0] tx_data_o,
  output logic [Links-1:0][KeepW-1:0] tx_keep_o,
  output logic [Links-1:0]            tx_last_o,

  output axi_req_t                    axi_o,
  input  axi_rsp_t                    axi_i
);
  localparam int unsigned Ports = Links + 2;  // Of memory: those of links, the sequencer's, the report's.
  localparam logic [39:0] EarlyBytes = 40'(Slots * 32'(rl_link_pkg::Eager));

  // -- what it is
  tick_t rto, patience;
  logic [3:0] shift;
  mac_addr_t [Links-1:0] macs;
  logic [Links-1:0][7:0] ports;
  logic [Links-1:0][39:0] early;
  assign {patience, rto} = link_i[0];
  assign shift = link_i[1][31:28];
  for (genvar l = 0; l < Links; l++) begin : gen_what
    assign {ports[l], macs[l]} = {link_i[2+2*l][31:24], link_i[2+2*l][15:0], link_i[3+2*l]};
    assign early[l] = {link_i[1][23:0], 16'd0} + 40'(l) * EarlyBytes;
  end

  // -- it begins anew
  typedef enum logic [1:0] {
    Runs,
    Stops,
    Resets
  } state_e;
  state_e state_q;
  logic clk, memory_busy, stops, core_rst_n, order, sends_half;
  logic [3:0] wait_q;
  logic [13:0] lives_q;
  epoch_t epoch_q;
  assign stops = halt_i || failed_o || state_q != Runs;
  always_ff @(posedge clk) begin
    core_rst_n <= rst_net_ni && state_q != Resets;
    wait_q <= state_q == Runs || memory_busy || sends_half ? '0 : wait_q + 1'b1;
    // Later than all lives before, which used up one for each time that a link has died.
    epoch_q <= {2'd0, boot_i[29:0]} + {2'd0, restarts_i, 22'd0} + {10'd0, lives_q, 8'd0};
    if (!rst_power_ni) lives_q <= 14'd1;
    else if (state_q == Stops && wait_q == '1) lives_q <= lives_q + 1'b1;
    if (!rst_net_ni) begin
      state_q <= Runs;
    end else begin
      unique case (state_q)
        Runs: if (order) state_q <= Stops;
        Stops: if (wait_q == '1) state_q <= Resets;
        default: if (wait_q == '1) state_q <= Runs;
      endcase
    end
  end

  // -- time: a tick for each unit that has passed, also where many pass at once
  logic tick, ticks, lags, active;
  logic [31:0] now, unit_q;
  logic [2:0] gap_q;
  logic [16:0] linger_q;  // Ticks for which what was sent may be waited for.
  assign now = 32'(time_us_i >> (5'd6 + 5'(shift)));
  assign ticks = active || linger_q != '0;
  assign lags = ticks && unit_q != now;
  assign tick = lags && gap_q == '0;
  always_ff @(posedge clk) begin
    gap_q <= tick ? '1 : gap_q - 3'(gap_q != '0);
    if (!core_rst_n || !ticks) unit_q <= now;
    else if (tick) unit_q <= unit_q + 1'b1;
    if (!core_rst_n) linger_q <= '0;
    else if (rx_valid_i != '0 || tx_valid_o != '0) linger_q <= {rto, 1'b1};
    else if (tick && linger_q != '0) linger_q <= linger_q - 1'b1;
  end
  assign alarm_valid_o = ticks;
  assign alarm_us_o = (unit_q + 1'b1) << (5'd6 + 5'(shift));

  // -- its clock
  logic awake;
  logic [8:0] rest_q;
  assign awake = !rst_net_ni || !rst_power_ni || !core_rst_n || state_q != Runs || rx_valid_i != '0 ||
      tx_valid_o != '0 || ctl_i.write || memory_busy || lags;
  // A tick alone is a timer that runs out: frames that follow from it leave soon, and then it is awake longer.
  localparam logic [8:0] AfterTick = 9'd127;
  logic ticks_only;
  assign ticks_only = rst_net_ni && rst_power_ni && core_rst_n && state_q == Runs && rx_valid_i == '0 &&
      tx_valid_o == '0 && !ctl_i.write && !memory_busy;
  always_ff @(posedge clk_net_i) begin
    if (awake && !ticks_only) rest_q <= '1;
    else if (awake && rest_q < AfterTick) rest_q <= AfterTick;
    else if (rest_q != '0) rest_q <= rest_q - 1'b1;
  end
  assign busy_o = awake || rest_q != '0;
  rl_clock_gate u_clock (
    .clk_i(clk_net_i),
    .enable_i(busy_o),
    .clk_o(clk)
  );

  // -- frames in: after a reset none is heard from its middle on
  logic [Links-1:0] mid_q, mid, deaf_q, in_valid;
  assign mid = (rx_valid_i & ~rx_last_i) | (~rx_valid_i & mid_q);
  assign in_valid = rx_valid_i & ~deaf_q;
  always_ff @(posedge clk) begin
    if (!rst_power_ni) mid_q <= '0;
    else mid_q <= mid;
    deaf_q <= core_rst_n && !halt_i ? deaf_q & mid : mid | {Links{halt_i}};
  end

  // -- programs
  logic
      start_valid, start_ready, start_invalid, ended_valid, ended_ready, report_valid, report_ready;
  logic [Slots-1:0] expire;
  logic [Links-1:0] renewed;
  program_t start;
  slot_t start_slot;
  report_t report;
  logic [39:0] report_to;
  rl_collective_csr u_csr (
    .clk_i(clk),
    .rst_ni(core_rst_n),
    .shift_i(shift),
    .there_i(ports != '0),
    .ctl_i,
    .data_o,
    .ended_o,
    .active_o(active),
    .reset_o(order),
    .resets_i(state_q != Runs || !core_rst_n),
    .start_valid_o(start_valid),
    .start_ready_i(start_ready),
    .start_o(start),
    .start_slot_i(start_slot),
    .start_invalid_i(start_invalid),
    .renewed_i(links_t'(renewed)),
    .expire_o(expire),
    .ended_valid_i(ended_valid),
    .ended_ready_o(ended_ready),
    .ended_i(report),
    .report_valid_o(report_valid),
    .report_ready_i(report_ready),
    .report_to_o(report_to)
  );
  logic [Ports-1:0]
      aw_valid, aw_ready, w_valid, w_ready, w_last, b_valid, ar_valid, ar_ready, r_valid, r_last;
  logic [Ports-1:0][39:0] aw_addr, ar_addr;
  logic [Ports-1:0][7:0] aw_len, ar_len;
  logic [Ports-1:0][DataW-1:0] w_data, r_data;
  logic [Ports-1:0][KeepW-1:0] w_strb;
  logic [Ports-1:0][1:0] b_resp, r_resp;
  rl_collective_report #(
    .DataW(DataW)
  ) u_report (
    .clk_i(clk),
    .rst_ni(core_rst_n),
    .valid_i(report_valid),
    .ready_o(report_ready),
    .report_i(report),
    .to_i(report_to),
    .aw_valid_o(aw_valid[Ports-1]),
    .aw_ready_i(aw_ready[Ports-1]),
    .aw_addr_o(aw_addr[Ports-1]),
    .aw_len_o(aw_len[Ports-1]),
    .w_valid_o(w_valid[Ports-1]),
    .w_ready_i(w_ready[Ports-1]),
    .w_data_o(w_data[Ports-1]),
    .w_last_o(w_last[Ports-1]),
    .b_valid_i(b_valid[Ports-1])
  );
  assign w_strb[Ports-1] = '1;
  assign {ar_valid[Ports-1], ar_addr[Ports-1], ar_len[Ports-1]} = '0;
  logic [Links-1:0] out_valid, out_ready, strays, rests, up, neighbours;
  mac_addr_t [Links-1:0] neighbour_macs;
  logic [Links-1:0][7:0] neighbour_ports;
  logic [Links-1:0][31:0] counts;
  transport_event_t [Links-1:0] events;
  rl_collective_card #(
    .Links(Links),
    .DataW(DataW)
  ) u_card (
    .clk_i(clk),
    .rst_ni(core_rst_n),
    .macs_i(macs),
    .card_mac_i(mac_i),
    .ports_i(ports),
    .epoch_i(epoch_q == '0 ? 32'd1 : epoch_q),
    .rto_i(rto),
    .patience_i(patience),
    .tick_i(tick),
    .early_i(early),
    .from_i(40'(rl_wire_pkg::RolePrivate)),
    .to_i(memory_i),
    .start_valid_i(start_valid),
    .start_ready_o(start_ready),
    .start_i(start),
    .start_slot_o(start_slot),
    .start_invalid_o(start_invalid),
    .renewed_o(renewed),
    .go_i('0),
    .expire_i(expire),
    .ended_valid_o(ended_valid),
    .ended_ready_i(ended_ready),
    .ended_o(report),
    .strays_o(strays),
    .rests_o(rests),
    .aw_valid_o(aw_valid[Links:0]),
    .aw_ready_i(aw_ready[Links:0]),
    .aw_addr_o(aw_addr[Links:0]),
    .aw_len_o(aw_len[Links:0]),
    .w_valid_o(w_valid[Links:0]),
    .w_ready_i(w_ready[Links:0]),
    .w_data_o(w_data[Links:0]),
    .w_strb_o(w_strb[Links:0]),
    .w_last_o(w_last[Links:0]),
    .b_valid_i(b_valid[Links:0]),
    .b_resp_i(b_resp[Links:0]),
    .ar_valid_o(ar_valid[Links:0]),
    .ar_ready_i(ar_ready[Links:0]),
    .ar_addr_o(ar_addr[Links:0]),
    .ar_len_o(ar_len[Links:0]),
    .r_valid_i(r_valid[Links:0]),
    .r_data_i(r_data[Links:0]),
    .r_resp_i(r_resp[Links:0]),
    .r_last_i(r_last[Links:0]),
    .up_o(up),
    .neighbour_valid_o(neighbours),
    .neighbour_macs_o(neighbour_macs),
    .neighbour_ports_o(neighbour_ports),
    .out_valid_o(out_valid),
    .out_ready_i(out_ready),
    .out_data_o(tx_data_o),
    .out_keep_o(tx_keep_o),
    .out_last_o(tx_last_o),
    .in_valid_i(in_valid),
    .in_data_i(rx_data_i),
    .in_keep_i(rx_keep_i),
    .in_last_i(rx_last_i),
    .in_bad_i(rx_bad_i),
    .count_of_i('0),
    .counts_o(counts),
    .events_o(events)
  );
  rl_collective_memory #(
    .Ports(Ports),
    .DataW(DataW)
  ) u_memory (
    .clk_i(clk),
    .rst_ni(rst_net_ni),
    .stop_i(stops),
    .busy_o(memory_busy),
    .failed_o,
    .aw_valid_i(aw_valid),
    .aw_ready_o(aw_ready),
    .aw_addr_i(aw_addr),
    .aw_len_i(aw_len),
    .w_valid_i(w_valid),
    .w_ready_o(w_ready),
    .w_data_i(w_data),
    .w_strb_i(w_strb),
    .w_last_i(w_last),
    .b_valid_o(b_valid),
    .b_resp_o(b_resp),
    .ar_valid_i(ar_valid),
    .ar_ready_o(ar_ready),
    .ar_addr_i(ar_addr),
    .ar_len_i(ar_len),
    .r_valid_o(r_valid),
    .r_data_o(r_data),
    .r_resp_o(r_resp),
    .r_last_o(r_last),
    .clk_ddr_i,
    .rst_ddr_ni,
    .axi_o,
    .axi_i
  );

  // -- frames out: none begins while all stops, and one that has begun ends
  logic [Links-1:0] half_q;
  assign tx_valid_o = out_valid & (half_q | ~{Links{stops}});
  assign out_ready = tx_ready_i & (half_q | ~{Links{stops}});
  assign sends_half = half_q != '0;
  assign moves_o = memory_busy || sends_half || tx_valid_o != '0;
  always_ff @(posedge clk) begin
    for (int unsigned l = 0; l < Links; l++)
    if (!rst_net_ni) half_q[l] <= 1'b0;
    else if (tx_valid_o[l] && tx_ready_i[l]) half_q[l] <= !tx_last_o[l];
  end

  logic unused;
  assign unused = ^{strays, rests, up, neighbours, neighbour_macs, neighbour_ports, counts, events, boot_i[31:30],
                    link_i, r_valid[Ports-1], r_data[Ports-1], r_resp[Ports-1], r_last[Ports-1], ar_ready[Ports-1],
                    b_resp[Ports-1]};
endmodule : rl_card_links
