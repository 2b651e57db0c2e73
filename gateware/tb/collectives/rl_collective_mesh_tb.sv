// Cards that are all joined to each other. Card c has a link to each other card, in their order, and its link l has
// port l + 1. Each card has its own memory, with a port for each link, and runs one program at a time: how many cycles
// are from its Go to its report is counted.
module rl_collective_mesh_tb
  import rl_transport_pkg::transport_event_t;
  import rl_collective_pkg::*;
#(
  parameter int unsigned Cards = 4,            // 2 to 5.
  parameter int unsigned DataW = 64,
  parameter int unsigned MemoryWords = 1048576,
  parameter int unsigned Window = 4194304,     // Bytes that programs may touch; the early areas are behind.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned WordW = $clog2(MemoryWords)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic [15:0]                 tick_cycles_i,
  input  logic [15:0]                 rto_i,
  input  logic [15:0]                 patience_i,
  input  logic [15:0]                 latency_i,
  input  logic [15:0]                 delay_i,
  input  logic [$clog2(Cards)-1:0]    card_i,           // Whose memory is written, and whose program starts.
  input  logic                        poke_i,
  input  logic [WordW-1:0]            at_i,
  input  logic [DataW-1:0]            poke_data_i,
  input  logic                        start_valid_i,
  output logic                        start_ready_o,
  input  logic [$bits(program_t)-1:0] start_i,
  output logic                        start_invalid_o,
  input  logic [Cards-1:0]            go_i,             // Of what these have been given.
  output logic [Cards-1:0]            has_ended_o,      // Since it was started.
  output logic [Cards-1:0][3:0]       causes_o,
  output logic [Cards-1:0][31:0]      cycles_o,         // From the Go to the report.
  output logic                        rests_o,          // Nothing is on its way to memory.
  output logic                        wrong_o
);
  localparam int unsigned Links = Cards - 1;
  logic [15:0] tick_q;
  logic [Cards-1:0] ready, invalid, wrong, rests;
  assign start_ready_o = ready[card_i];
  assign start_invalid_o = invalid[card_i];
  assign wrong_o = wrong != '0;
  assign rests_o = &rests;
  always_ff @(posedge clk_i)
    tick_q <= !rst_ni || tick_q == '0 ? tick_cycles_i - 1'b1 : tick_q - 1'b1;

  logic [Cards-1:0][Links-1:0] in_valid, in_last, in_bad;
  logic [Cards-1:0][Links-1:0][DataW-1:0] in_data;
  logic [Cards-1:0][Links-1:0][KeepW-1:0] in_keep;
  for (genvar c = 0; c < Cards; c++) begin : gen_card
    logic [Links-1:0] out_valid, out_last;
    logic [Links-1:0][DataW-1:0] out_data;
    logic [Links-1:0][KeepW-1:0] out_keep;
    logic [Links-1:0][47:0] macs, unused_macs;
    logic [Links-1:0][7:0] ports, unused_ports;
    logic [Links-1:0][39:0] early;
    logic [Links-1:0] link_rests, unused_up, unused_neighbours, unused_strays, unused_renewed;
    logic [Links-1:0][31:0] unused_counts;
    logic [2:0] unused_slot;
    transport_event_t [Links-1:0] unused_events;
    for (genvar l = 0; l < Links; l++) begin : gen_link
      localparam int unsigned Peer = l < c ? l : l + 1;
      localparam int unsigned Back = c < Peer ? c : c - 1;
      assign macs[l] = 48'h02524C000100 + 48'(16 * c + l);
      assign ports[l] = 8'(l + 1);
      assign early[l] = 40'(Window + l * 131072);
      link_cable #(
        .DataW(DataW)
      ) u_cable (
        .clk_i,
        .rst_ni,
        .seed_i(32'd1),
        .delay_i,
        .errors_i('0),
        .cut_i('0),
        .valid_i(out_valid[l]),
        .data_i(out_data[l]),
        .keep_i(out_keep[l]),
        .last_i(out_last[l]),
        .valid_o(in_valid[Peer][Back]),
        .data_o(in_data[Peer][Back]),
        .keep_o(in_keep[Peer][Back]),
        .last_o(in_last[Peer][Back]),
        .bad_o(in_bad[Peer][Back])
      );
    end
    logic [Links:0]
        aw_valid, aw_ready, w_valid, w_ready, w_last, b_valid, ar_valid, ar_ready, r_valid, r_last;
    logic [Links:0][39:0] aw_addr, ar_addr;
    logic [Links:0][7:0] aw_len, ar_len;
    logic [Links:0][DataW-1:0] w_data, r_data;
    logic [Links:0][KeepW-1:0] w_strb;
    logic [Links:0][1:0] b_resp, r_resp;
    logic ended, starts;
    report_t report;
    assign starts = start_valid_i && 32'(card_i) == c;
    rl_collective_card #(
      .Links(Links),
      .DataW(DataW)
    ) u_card (
      .clk_i,
      .rst_ni,
      .macs_i(macs),
      .card_mac_i(macs[0]),
      .ports_i(ports),
      .epoch_i(32'd7),
      .rto_i,
      .patience_i,
      .tick_i(tick_q == '0),
      .early_i(early),
      .from_i('0),
      .to_i(40'(Window)),
      .start_valid_i(starts),
      .start_ready_o(ready[c]),
      .start_i(program_t'(start_i)),
      .start_slot_o(unused_slot),
      .start_invalid_o(invalid[c]),
      .renewed_o(unused_renewed),
      .go_i({Slots{go_i[c]}}),
      .expire_i('0),
      .ended_valid_o(ended),
      .ended_ready_i(1'b1),
      .ended_o(report),
      .strays_o(unused_strays),
      .rests_o(link_rests),
      .aw_valid_o(aw_valid),
      .aw_ready_i(aw_ready),
      .aw_addr_o(aw_addr),
      .aw_len_o(aw_len),
      .w_valid_o(w_valid),
      .w_ready_i(w_ready),
      .w_data_o(w_data),
      .w_strb_o(w_strb),
      .w_last_o(w_last),
      .b_valid_i(b_valid),
      .b_resp_i(b_resp),
      .ar_valid_o(ar_valid),
      .ar_ready_i(ar_ready),
      .ar_addr_o(ar_addr),
      .ar_len_o(ar_len),
      .r_valid_i(r_valid),
      .r_data_i(r_data),
      .r_resp_i(r_resp),
      .r_last_i(r_last),
      .up_o(unused_up),
      .neighbour_valid_o(unused_neighbours),
      .neighbour_macs_o(unused_macs),
      .neighbour_ports_o(unused_ports),
      .out_valid_o(out_valid),
      .out_ready_i('1),
      .out_data_o(out_data),
      .out_keep_o(out_keep),
      .out_last_o(out_last),
      .in_valid_i(in_valid[c]),
      .in_data_i(in_data[c]),
      .in_keep_i(in_keep[c]),
      .in_last_i(in_last[c]),
      .in_bad_i(in_bad[c]),
      .count_of_i('0),
      .counts_o(unused_counts),
      .events_o(unused_events)
    );
    logic [DataW-1:0] unused_peek;
    card_memory #(
      .Ports(Links + 1),
      .DataW(DataW),
      .Words(MemoryWords)
    ) u_memory (
      .clk_i,
      .rst_ni,
      .latency_i,
      .pause_i('0),
      .fails_i('0),
      .awvalid_i(aw_valid),
      .awready_o(aw_ready),
      .awaddr_i(aw_addr),
      .awlen_i(aw_len),
      .wvalid_i(w_valid),
      .wready_o(w_ready),
      .wdata_i(w_data),
      .wstrb_i(w_strb),
      .wlast_i(w_last),
      .bvalid_o(b_valid),
      .bresp_o(b_resp),
      .arvalid_i(ar_valid),
      .arready_o(ar_ready),
      .araddr_i(ar_addr),
      .arlen_i(ar_len),
      .rvalid_o(r_valid),
      .rdata_o(r_data),
      .rresp_o(r_resp),
      .rlast_o(r_last),
      .poke_i(poke_i && 32'(card_i) == c),
      .at_i,
      .poke_data_i,
      .peek_data_o(unused_peek),
      .wrong_o(wrong[c])
    );
    assign rests[c] = &link_rests;
    logic [31:0] since_q;
    always_ff @(posedge clk_i) begin
      since_q <= go_i[c] ? 32'd1 : since_q + 1'b1;
      if (!rst_ni || starts) has_ended_o[c] <= 1'b0;
      else if (ended) begin
        has_ended_o[c] <= 1'b1;
        causes_o[c] <= report.cause;
        cycles_o[c] <= since_q;
      end
    end
  end
endmodule
