// One end of a link with its memory, and what became of each context's put and take.
module link_end
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_transport_pkg::*;
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned MemoryWords = 65536,
  parameter int unsigned EarlyAt = 0,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           power_ni,          // Of the memory.
  input  mac_addr_t                      mac_i,
  input  logic [31:0]                    epoch_i,
  input  logic [15:0]                    rto_i,
  input  logic [15:0]                    patience_i,
  input  logic                           tick_i,
  input  logic [31:0]                    seed_i,
  input  logic [15:0]                    latency_i,
  input  logic [7:0]                     pause_i,
  input  logic                           fails_i,
  input  logic                           put_valid_i,
  output logic                           put_ready_o,
  input  logic                           take_valid_i,
  output logic                           take_ready_o,
  input  logic [$bits(move_t)-1:0]       move_i,
  input  logic [Slots-1:0]               cancel_i,
  output logic [Slots-1:0]               puts_open_o,
  output logic [Slots-1:0]               takes_open_o,
  output logic [Slots-1:0][4:0]          put_end_o,         // {it has ended, cause}, since it began.
  output logic [Slots-1:0][4:0]          take_end_o,
  output logic [31:0]                    put_at_o,          // The cycle in which a put was begun last,
  output logic [31:0]                    first_at_o,        // the first word of Data left after that,
  output logic [31:0]                    last_at_o,         // and one of Data left last;
  output logic [31:0]                    asked_at_o,        // memory was asked,
  output logic [31:0]                    took_at_o,         // and a take ended last.
  output logic [31:0]                    come_at_o,         // A frame's last word came last.
  output logic [31:0]                    overs_o,           // How often all ended,
  output logic [3:0]                     over_cause_o,      // and why last.
  output logic [31:0]                    over_at_o,
  output logic [31:0]                    strays_o,
  output logic [31:0]                    failed_o,
  output logic [31:0]                    resent_o,
  output logic [31:0]                    words_o,           // Words that left.
  output logic                           rests_o,
  output logic                           up_o,
  output logic                           neighbour_valid_o,
  output mac_addr_t                      neighbour_mac_o,
  output logic [7:0]                     neighbour_port_o,
  input  logic                           poke_i,
  input  logic [$clog2(MemoryWords)-1:0] at_i,
  input  logic [DataW-1:0]               poke_data_i,
  output logic [DataW-1:0]               peek_data_o,
  output logic                           wrong_o,
  output logic                           out_valid_o,
  input  logic                           out_ready_i,
  output logic [DataW-1:0]               out_data_o,
  output logic [KeepW-1:0]               out_keep_o,
  output logic                           out_last_o,
  input  logic                           in_valid_i,
  input  logic [DataW-1:0]               in_data_i,
  input  logic [KeepW-1:0]               in_keep_i,
  input  logic                           in_last_i,
  input  logic                           in_bad_i,
  input  logic [3:0]                     count_of_i,
  output logic [31:0]                    count_o
);
  logic aw_valid, aw_ready, w_valid, w_ready, w_last, b_valid, ar_valid, ar_ready, r_valid, r_last;
  logic [39:0] aw_addr, ar_addr;
  logic [7:0] aw_len, ar_len;
  logic [DataW-1:0] w_data, r_data;
  logic [KeepW-1:0] w_strb;
  logic [1:0] b_resp, r_resp;
  logic put_end, take_end, over, failed, stray, unused_say;
  end_t put_ended, take_ended;
  cause_e cause;
  message_t unused_failed;
  transport_event_t happened;
  logic [31:0] now_q, unused_beats;
  move_t move;
  assign move = move_t'(move_i);
  rl_collective_link #(
    .DataW(DataW)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .mac_i,
    .card_mac_i(mac_i),
    .port_i(8'd1),
    .epoch_i,
    .rto_i,
    .patience_i,
    .tick_i,
    .asks_i(1'b0),
    .early_i(40'(EarlyAt)),
    .put_valid_i,
    .put_ready_o,
    .put_i(move),
    .take_valid_i,
    .take_ready_o,
    .take_i(move),
    .cancel_i,
    .puts_open_o,
    .takes_open_o,
    .put_end_valid_o(put_end),
    .put_end_o(put_ended),
    .take_end_valid_o(take_end),
    .take_end_o(take_ended),
    .over_o(over),
    .over_cause_o(cause),
    .failed_valid_o(failed),
    .failed_ready_i(1'b1),
    .failed_o(unused_failed),
    .say_valid_i(1'b0),
    .say_ready_o(unused_say),
    .say_i('0),
    .stray_o(stray),
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
    .up_o,
    .neighbour_valid_o,
    .neighbour_mac_o,
    .neighbour_port_o,
    .out_valid_o,
    .out_ready_i,
    .out_data_o,
    .out_keep_o,
    .out_last_o,
    .in_valid_i,
    .in_data_i,
    .in_keep_i,
    .in_last_i,
    .in_bad_i,
    .count_of_i,
    .count_o,
    .event_o(happened)
  );
  bridge_memory #(
    .DataW(DataW),
    .AddrW(40),
    .Words(MemoryWords)
  ) u_memory (
    .clk_i,
    .rst_ni(power_ni),
    .latency_i,
    .pause_i,
    .fails_i,
    .seed_i,
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
    .bready_i(1'b1),
    .bresp_o(b_resp),
    .arvalid_i(ar_valid),
    .arready_o(ar_ready),
    .araddr_i(ar_addr),
    .arlen_i(ar_len),
    .rvalid_o(r_valid),
    .rready_i(1'b1),
    .rdata_o(r_data),
    .rresp_o(r_resp),
    .rlast_o(r_last),
    .poke_i,
    .at_i,
    .poke_data_i,
    .peek_data_o,
    .wrong_o,
    .beats_o(unused_beats)
  );

  logic leaves_q, asks_q;  // Nothing has left, and memory was not asked, since the put.
  localparam int unsigned KindAt = HeaderKindOffset / KeepW;
  logic [15:0] out_at_q;
  logic [31:0] begun_q;
  logic is_kind, is_data, is_data_q;
  assign is_kind = out_at_q == 16'(KindAt);
  assign is_data = out_data_o[8*(HeaderKindOffset%KeepW)+:8] == KindLinkData;
  always_ff @(posedge clk_i) begin
    now_q <= now_q + 1;
    if (!rst_ni) begin
      now_q <= '0;
      {put_end_o, take_end_o, overs_o, strays_o, failed_o, resent_o, words_o, leaves_q, asks_q, out_at_q} <= '0;
    end else begin
      if (put_end) put_end_o[put_ended.slot] <= {1'b1, put_ended.cause};
      if (take_end) take_end_o[take_ended.slot] <= {1'b1, take_ended.cause};
      if (put_valid_i && put_ready_o) put_end_o[move.slot] <= '0;
      if (take_valid_i && take_ready_o && !(take_end && take_ended.slot == move.slot))
        take_end_o[move.slot] <= '0;
      for (int unsigned i = 0; i < Slots; i++) begin
        if (over && puts_open_o[i]) put_end_o[i] <= {1'b1, cause};
        if (over && takes_open_o[i]) take_end_o[i] <= {1'b1, cause};
      end
      overs_o <= overs_o + 32'(over);
      strays_o <= strays_o + 32'(stray);
      failed_o <= failed_o + 32'(failed);
      resent_o <= resent_o + 32'(happened.resent);
      words_o <= words_o + 32'(out_valid_o && out_ready_i);
      if (put_valid_i && put_ready_o) {put_at_o, leaves_q, asks_q} <= {now_q, 2'b11};
      // What a frame is stands behind its beginning.
      if (out_valid_o && out_ready_i) begin
        out_at_q <= out_last_o ? '0 : out_at_q + 16'(out_at_q != '1);
        if (out_at_q == '0) begun_q <= now_q;
        if (is_kind) is_data_q <= is_data;
        if (out_last_o && (is_kind ? is_data : is_data_q)) last_at_o <= now_q;
        if (leaves_q && is_kind && is_data)
          {first_at_o, leaves_q} <= {KindAt == 0 ? now_q : begun_q, 1'b0};
      end
      if (asks_q && ar_valid) {asked_at_o, asks_q} <= {now_q, 1'b0};
      if (take_end) took_at_o <= now_q;
      if (in_valid_i && in_last_i) come_at_o <= now_q;
      if (over) {over_at_o, over_cause_o} <= {now_q, cause};
    end
  end
endmodule
