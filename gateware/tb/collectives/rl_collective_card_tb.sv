// A card whose links, two or four, are joined two by two: port 1 with 2, 3 with 4. So programs of one card are each
// other's neighbours.
module rl_collective_card_tb
  import rl_link_pkg::*;
  import rl_transport_pkg::transport_event_t;
  import rl_collective_pkg::*;
#(
  parameter int unsigned Links = 2,
  parameter int unsigned DataW = 64,
  parameter int unsigned MemoryWords = 131072,
  parameter int unsigned Window = 524288,      // Bytes that programs may touch; the early areas are behind.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned ReportW = $bits(report_t)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [15:0]                    tick_cycles_i,
  input  logic [15:0]                    rto_i,
  input  logic [15:0]                    patience_i,
  input  logic [15:0]                    latency_i,
  input  logic [7:0]                     pause_i,
  input  logic [Links:0]                 fails_i,        // Memory, at these ports.
  input  logic [15:0]                    delay_i,
  input  logic [15:0]                    errors_i,
  input  logic [Links-1:0]               cut_i,          // By the link from which the words come.
  input  logic                           start_valid_i,
  output logic                           start_ready_o,
  input  logic [$bits(program_t)-1:0]    start_i,
  output logic [2:0]                     start_slot_o,
  output logic                           start_invalid_o,
  input  logic [Slots-1:0]               go_i,
  output logic [Slots-1:0]               has_ended_o,    // Since they were started.
  output logic [Slots-1:0][ReportW-1:0]  reports_o,
  output logic [31:0]                    ends_o,         // Reports in all.
  output logic [Slots-1:0][31:0]         ended_at_o,
  output logic [31:0]                    go_at_o,        // The cycle of a Go or of a start that is not held,
  output logic [31:0]                    first_put_at_o, // in which a put began first after that,
  output logic [31:0]                    last_put_at_o,  // and last,
  output logic [31:0]                    out_at_o,       // and the first word of Data was on a lane.
  output logic [31:0]                    puts_o,         // Puts that began since.
  output logic [31:0]                    strays_o,
  output logic [Links-1:0]               rests_o,
  output logic [Links-1:0]               out_valid_o,    // What is on the lanes.
  output logic [Links-1:0][DataW-1:0]    out_data_o,
  output logic [Links-1:0]               out_last_o,
  output logic                           wrong_o,
  input  logic                           poke_i,
  input  logic [$clog2(MemoryWords)-1:0] at_i,
  input  logic [DataW-1:0]               poke_data_i,
  output logic [DataW-1:0]               peek_data_o
);
  logic [15:0] tick_q;
  logic [31:0] now_q;
  always_ff @(posedge clk_i) begin
    tick_q <= !rst_ni || tick_q == '0 ? tick_cycles_i - 1'b1 : tick_q - 1'b1;
    now_q <= rst_ni ? now_q + 1 : '0;
  end

  logic [Links:0]
      aw_valid, aw_ready, w_valid, w_ready, w_last, b_valid, ar_valid, ar_ready, r_valid, r_last;
  logic [Links:0][39:0] aw_addr, ar_addr;
  logic [Links:0][7:0] aw_len, ar_len;
  logic [Links:0][DataW-1:0] w_data, r_data;
  logic [Links:0][KeepW-1:0] w_strb;
  logic [Links:0][1:0] b_resp, r_resp;
  logic [Links-1:0][47:0] macs, unused_macs;
  logic [Links-1:0][7:0] ports, unused_ports;
  logic [Links-1:0][39:0] early;
  logic [Links-1:0]
      out_valid,
      out_last,
      in_valid,
      in_last,
      in_bad,
      strays,
      unused_up,
      unused_neighbours,
      unused_renewed;
  logic [Links-1:0][DataW-1:0] out_data, in_data;
  logic [Links-1:0][KeepW-1:0] out_keep, in_keep;
  logic [Links-1:0][31:0] unused_counts;
  transport_event_t [Links-1:0] unused_events;
  logic ended;
  report_t report;
  program_t start;
  assign start = program_t'(start_i);
  for (genvar l = 0; l < Links; l++) begin : gen_link
    assign macs[l] = 48'h02524C000107 + 48'(l);
    assign ports[l] = 8'(l + 1);
    assign early[l] = 40'(Window + l * 131072);
    link_cable #(
      .DataW(DataW)
    ) u_cable (
      .clk_i,
      .rst_ni,
      .seed_i(32'(l + 1)),
      .delay_i,
      .errors_i,
      .cut_i(cut_i[l]),
      .valid_i(out_valid[l]),
      .data_i(out_data[l]),
      .keep_i(out_keep[l]),
      .last_i(out_last[l]),
      .valid_o(in_valid[l ^ 1]),
      .data_o(in_data[l ^ 1]),
      .keep_o(in_keep[l ^ 1]),
      .last_o(in_last[l ^ 1]),
      .bad_o(in_bad[l ^ 1])
    );
  end
  rl_collective_card #(
    .Links(Links),
    .DataW(DataW)
  ) u_dut (
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
    .start_valid_i,
    .start_ready_o,
    .start_i(start),
    .start_slot_o,
    .start_invalid_o,
    .renewed_o(unused_renewed),
    .go_i,
    .expire_i('0),
    .ended_valid_o(ended),
    .ended_ready_i(1'b1),
    .ended_o(report),
    .strays_o(strays),
    .rests_o,
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
    .in_valid_i(in_valid),
    .in_data_i(in_data),
    .in_keep_i(in_keep),
    .in_last_i(in_last),
    .in_bad_i(in_bad),
    .count_of_i('0),
    .counts_o(unused_counts),
    .events_o(unused_events)
  );
  card_memory #(
    .Ports(Links + 1),
    .DataW(DataW),
    .Words(MemoryWords)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .latency_i,
    .pause_i,
    .fails_i,
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
    .poke_i,
    .at_i,
    .poke_data_i,
    .peek_data_o,
    .wrong_o
  );

  assign out_valid_o = out_valid;
  assign out_data_o = out_data;
  assign out_last_o = out_last;

  // -- what a frame is stands behind its beginning
  localparam int unsigned KindAt = HeaderKindOffset / KeepW;
  logic [Links-1:0][15:0] out_word_q;
  logic [Links-1:0][31:0] frame_at_q;
  logic first_put_q, first_out_q, begins;
  assign begins = go_i != '0 || (start_valid_i && start_ready_o && !start_invalid_o && !start.held);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {has_ended_o, ends_o, puts_o, strays_o, out_word_q, first_put_q, first_out_q} <= '0;
    end else begin
      if (ended) begin
        has_ended_o[report.slot] <= 1'b1;
        reports_o[report.slot] <= report;
        ended_at_o[report.slot] <= now_q;
        ends_o <= ends_o + 1;
      end
      if (start_valid_i && start_ready_o && !start_invalid_o) has_ended_o[start_slot_o] <= 1'b0;
      strays_o <= strays_o + 32'(strays != '0);
      if ((u_dut.put_valid & u_dut.put_ready) != '0) begin
        if (first_put_q) first_put_at_o <= now_q;
        first_put_q <= 1'b0;
        last_put_at_o <= now_q;
        puts_o <= puts_o + 32'($countones(u_dut.put_valid & u_dut.put_ready));
      end
      for (int unsigned l = 0; l < Links; l++) begin
        if (out_valid[l]) begin
          out_word_q[l] <= out_last[l] ? '0 : out_word_q[l] + 1'b1;
          if (out_word_q[l] == '0) frame_at_q[l] <= now_q;
          if (first_out_q && out_word_q[l] == 16'(KindAt) &&
              out_data[l][8*(HeaderKindOffset%KeepW)+:8] == KindLinkData) begin
            out_at_o <= KindAt == 0 ? now_q : frame_at_q[l];
            first_out_q <= 1'b0;
          end
        end
      end
      if (begins) begin
        go_at_o <= now_q;
        {first_put_q, first_out_q} <= '1;
        puts_o <= '0;
      end
    end
  end
endmodule
