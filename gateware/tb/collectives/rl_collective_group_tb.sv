// Cards in a line: the first link of each leads to the card before it, if there is one, its last link to the next.
// Link l has port l + 1. Each card has its own memory, which the bench fills from a file and writes to one.
module rl_collective_group_tb
  import rl_transport_pkg::transport_event_t;
  import rl_collective_pkg::*;
#(
  parameter int unsigned Cards = 4,            // 2 or more.
  parameter int unsigned DataW = 64,
  parameter int unsigned MemoryWords = 131072,
  parameter int unsigned Window = 524288,      // Bytes that programs may touch; the early areas are behind.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned ReportW = $bits(report_t)
) (
  input  logic                                     clk_i,
  input  logic                                     rst_ni,
  input  logic [15:0]                              tick_cycles_i,
  input  logic [15:0]                              rto_i,
  input  logic [15:0]                              patience_i,
  input  logic [15:0]                              latency_i,
  input  logic [7:0]                               pause_i,
  input  logic [15:0]                              delay_i,
  input  logic [15:0]                              errors_i,
  input  logic [Cards-1:0]                         cut_i,           // Nothing comes from these,
  input  logic [Cards-1:0]                         fails_i,         // and the memories of these fail.
  input  logic [$clog2(Cards)-1:0]                 card_i,          // Whose program starts.
  input  logic                                     start_valid_i,
  output logic                                     start_ready_o,
  input  logic [$bits(program_t)-1:0]              start_i,
  output logic [2:0]                               start_slot_o,
  output logic                                     start_invalid_o,
  input  logic [Cards-1:0][Slots-1:0]              go_i,
  output logic [Cards-1:0][Slots-1:0]              has_ended_o,     // Since they were started.
  output logic [Cards-1:0][Slots-1:0][ReportW-1:0] reports_o,
  output logic [Cards-1:0]                         rests_o,
  output logic                                     wrong_o,
  input  logic                                     load_i,          // Memories are those in memory0.bin and so on now,
  input  logic                                     save_i           // or are written there.
);
  logic [15:0] tick_q;
  logic [Cards-1:0] ready, invalid, wrong;
  logic [Cards-1:0][2:0] slots;
  assign start_ready_o = ready[card_i];
  assign start_invalid_o = invalid[card_i];
  assign start_slot_o = slots[card_i];
  assign wrong_o = wrong != '0;
  always_ff @(posedge clk_i)
    tick_q <= !rst_ni || tick_q == '0 ? tick_cycles_i - 1'b1 : tick_q - 1'b1;

  logic [Cards-1:0][1:0] in_valid, in_last, in_bad;
  logic [Cards-1:0][1:0][DataW-1:0] in_data;
  logic [Cards-1:0][1:0][KeepW-1:0] in_keep;
  for (genvar c = 0; c < Cards; c++) begin : gen_card
    localparam int unsigned Links = c == 0 || c == Cards - 1 ? 1 : 2;
    logic [Links-1:0] out_valid, out_last;
    logic [Links-1:0][DataW-1:0] out_data;
    logic [Links-1:0][KeepW-1:0] out_keep;
    logic [Links-1:0][47:0] macs, unused_macs;
    logic [Links-1:0][7:0] ports, unused_ports;
    logic [Links-1:0][39:0] early;
    logic [Links-1:0] rests, unused_up, unused_neighbours, unused_strays, unused_renewed;
    logic [Links-1:0][31:0] unused_counts;
    transport_event_t [Links-1:0] unused_events;
    for (genvar l = 0; l < Links; l++) begin : gen_link
      localparam bit IsNext = c == 0 || l == 1;
      localparam int unsigned Peer = IsNext ? c + 1 : c - 1;
      localparam int unsigned Back = IsNext || Peer == 0 ? 0 : 1;
      assign macs[l] = 48'h02524C000100 + 48'(16 * c + l);
      assign ports[l] = 8'(l + 1);
      assign early[l] = 40'(Window + l * 131072);
      link_cable #(
        .DataW(DataW)
      ) u_cable (
        .clk_i,
        .rst_ni,
        .seed_i(32'(16 * c + l + 1)),
        .delay_i,
        .errors_i,
        .cut_i(cut_i[c]),
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
    logic ended;
    report_t report;
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
      .start_valid_i(start_valid_i && 32'(card_i) == c),
      .start_ready_o(ready[c]),
      .start_i(program_t'(start_i)),
      .start_slot_o(slots[c]),
      .start_invalid_o(invalid[c]),
      .renewed_o(unused_renewed),
      .go_i(go_i[c]),
      .expire_i('0),
      .ended_valid_o(ended),
      .ended_ready_i(1'b1),
      .ended_o(report),
      .strays_o(unused_strays),
      .rests_o(rests),
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
      .out_ready_i({Links{1'b1}}),
      .out_data_o(out_data),
      .out_keep_o(out_keep),
      .out_last_o(out_last),
      .in_valid_i(in_valid[c][Links-1:0]),
      .in_data_i(in_data[c][Links-1:0]),
      .in_keep_i(in_keep[c][Links-1:0]),
      .in_last_i(in_last[c][Links-1:0]),
      .in_bad_i(in_bad[c][Links-1:0]),
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
      .pause_i,
      .fails_i({Links + 1{fails_i[c]}}),
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
      .poke_i('0),
      .at_i('0),
      .poke_data_i('0),
      .peek_data_o(unused_peek),
      .wrong_o(wrong[c])
    );
    assign rests_o[c] = &rests;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) has_ended_o[c] <= '0;
      else begin
        if (ended) begin
          has_ended_o[c][report.slot] <= 1'b1;
          reports_o[c][report.slot] <= report;
        end
        if (start_valid_i && start_ready_o && !start_invalid_o && 32'(card_i) == c)
          has_ended_o[c][start_slot_o] <= 1'b0;
      end
    end

    // -- a memory's file, its first byte in front
    int file;
    always @(posedge clk_i) begin
      if (load_i) begin
        logic [DataW-1:0] word;
        file = $fopen($sformatf("memory%0d.bin", c), "rb");
        for (int w = 0; w < int'(Window / KeepW); w++) begin
          if ($fread(word, file) != int'(KeepW)) $error("a memory's file is too short");
          for (int i = 0; i < int'(KeepW); i++)
          u_memory.mem[w][8*i+:8] = word[8*(int'(KeepW)-1-i)+:8];
        end
        $fclose(file);
      end
      if (save_i) begin
        file = $fopen($sformatf("memory%0d.bin", c), "wb");
        for (int w = 0; w < int'(Window / KeepW); w++)
        for (int i = 0; i < int'(KeepW / 4); i++) $fwrite(file, "%u", u_memory.mem[w][32*i+:32]);
        $fclose(file);
      end
    end
  end
endmodule
