// The writing side of rl_memory_share: bursts by turns, each whole, and answers to whom they belong.
//
// A burst has its turn when all of its data is here. So a manager that announces data and does not send it holds up
// nobody but itself, and what is sent to the memory goes there beat by beat. Room for an answer is kept for each burst:
// nobody waits for a manager that does not take its own.
module rl_share_write #(
  parameter int unsigned AddrW = 40,
  parameter int unsigned DataW = 512,
  parameter int unsigned IdW = 2,
  parameter logic [1:0][7:0] Longest = {8'd16, 8'd16},  // Beats of each manager's longest burst; powers of two.
  parameter int unsigned Answers = 16,  // Bursts of a manager that are not answered, at most; a power of two.
  parameter int unsigned ShareW = 4
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [1:0][ShareW-1:0]     share_i,
  output logic                       busy_o,

  input  logic [1:0]                 s_awvalid_i,
  output logic [1:0]                 s_awready_o,
  input  logic [1:0][AddrW-1:0]      s_awaddr_i,
  input  logic [1:0][7:0]            s_awlen_i,
  input  logic [1:0][IdW-1:0]        s_awid_i,
  input  logic [1:0]                 s_wvalid_i,
  output logic [1:0]                 s_wready_o,
  input  logic [1:0][DataW-1:0]      s_wdata_i,
  input  logic [1:0][DataW/8-1:0]    s_wstrb_i,
  input  logic [1:0]                 s_wlast_i,
  output logic [1:0]                 s_bvalid_o,
  input  logic [1:0]                 s_bready_i,
  output logic [1:0][1:0]            s_bresp_o,
  output logic [1:0][IdW-1:0]        s_bid_o,

  output logic                       m_awvalid_o,
  input  logic                       m_awready_i,
  output logic [AddrW-1:0]           m_awaddr_o,
  output logic [7:0]                 m_awlen_o,
  output logic [IdW:0]               m_awid_o,   // The upper bit is the manager.
  output logic                       m_wvalid_o,
  input  logic                       m_wready_i,
  output logic [DataW-1:0]           m_wdata_o,
  output logic [DataW/8-1:0]         m_wstrb_o,
  output logic                       m_wlast_o,
  input  logic                       m_bvalid_i,
  output logic                       m_bready_o,
  input  logic [1:0]                 m_bresp_i,
  input  logic [IdW:0]               m_bid_i
);
  localparam int unsigned BeatsW = 8;
  localparam int unsigned FreeW = $clog2(Answers) + 1;

  typedef struct packed {
    logic [IdW-1:0]   id;
    logic [AddrW-1:0] addr;
    logic [7:0]       len;
  } ask_t;
  typedef struct packed {
    logic                last;
    logic [DataW/8-1:0] strb;
    logic [DataW-1:0]   data;
  } beat_t;

  ask_t [1:0] ask;
  beat_t [1:0] data;
  logic [1:0] ask_valid, data_valid, asks, taken, sent, owes;
  logic [1:0][BeatsW-1:0] beats;
  logic turn, take, sending_q, order_q;
  assign m_bready_o = 1'b1;

  for (genvar n = 0; n < 2; n++) begin : gen_manager
    // As many as the burst that goes out and the one that comes in.
    localparam int unsigned Depth = Longest[n] < 4 ? 8 : 2 * 32'(Longest[n]);
    logic [$clog2(Depth):0]
        whole_q, unused_data;  // Bursts whose data is here, and that had no turn.
    logic [FreeW-1:0] free_q, unused_answers;
    logic [3:0] unused_asks;
    logic answer_ready, comes, answer;
    rl_fifo #(
      .Width($bits(ask_t)),
      .Depth(8)  // Short bursts one behind the other must not run out of addresses while a long one comes.
    ) u_ask (
      .clk_i,
      .rst_ni,
      .wvalid_i(s_awvalid_i[n]),
      .wready_o(s_awready_o[n]),
      .wdata_i({s_awid_i[n], s_awaddr_i[n], s_awlen_i[n]}),
      .rvalid_o(ask_valid[n]),
      .rready_i(taken[n]),
      .rdata_o(ask[n]),
      .count_o(unused_asks)
    );
    rl_fifo #(
      .Width($bits(beat_t)),
      .Depth(Depth)
    ) u_data (
      .clk_i,
      .rst_ni,
      .wvalid_i(s_wvalid_i[n]),
      .wready_o(s_wready_o[n]),
      .wdata_i({s_wlast_i[n], s_wstrb_i[n], s_wdata_i[n]}),
      .rvalid_o(data_valid[n]),
      .rready_i(sent[n]),
      .rdata_o(data[n]),
      .count_o(unused_data)
    );
    rl_fifo #(
      .Width(IdW + 2),
      .Depth(Answers)
    ) u_answers (
      .clk_i,
      .rst_ni,
      .wvalid_i(answer),
      .wready_o(answer_ready),
      .wdata_i({m_bid_i[IdW-1:0], m_bresp_i}),
      .rvalid_o(s_bvalid_o[n]),
      .rready_i(s_bready_i[n]),
      .rdata_o({s_bid_o[n], s_bresp_o[n]}),
      .count_o(unused_answers)
    );
    assign beats[n] = ask[n].len + 1'b1;
    assign asks[n] = ask_valid[n] && whole_q != 0 && free_q != 0;
    assign taken[n] = take && turn == 1'(n);
    assign comes = s_wvalid_i[n] && s_wready_o[n] && s_wlast_i[n];
    assign answer = m_bvalid_i && m_bid_i[IdW] == 1'(n);
    assign sent[n] = m_wvalid_o && m_wready_i && order_q == 1'(n);
    assign owes[n] = free_q != FreeW'(Answers) || data_valid[n];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        whole_q <= '0;
        free_q <= FreeW'(Answers);
      end else begin
        whole_q <= whole_q + ($bits(whole_q))'(comes) - ($bits(whole_q))'(taken[n]);
        free_q <= free_q - FreeW'(taken[n]) + FreeW'(s_bvalid_o[n] && s_bready_i[n]);
      end
    end
`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (rst_ni && answer) RoomWasKept_A : assert (answer_ready);
    always_ff @(posedge clk_i)
      if (rst_ni && ask_valid[n])
        BurstIsNotTooLong_A : assert (ask[n].len < Longest[n]);
`else
    logic unused_ready;
    assign unused_ready = answer_ready;
`endif
  end

  rl_share_turn #(
    .Longest(Longest),
    .ShareW(ShareW)
  ) u_turn (
    .clk_i,
    .rst_ni,
    .share_i,
    .asks_i(asks),
    .beats_i(beats),
    .turn_o(turn),
    .taken_i(take)
  );
  // The next turn is given with a burst's last beat, not before: who is about to have a burst whole has it by then.
  assign take = asks != 0 && (!m_awvalid_o || m_awready_i) && (!sending_q || (m_wready_i && m_wlast_o));
  assign m_wvalid_o = sending_q;
  assign {m_wlast_o, m_wstrb_o, m_wdata_o} = data[order_q];
  assign busy_o = ask_valid != 0 || owes != 0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      m_awvalid_o <= 1'b0;
      sending_q <= 1'b0;
    end else begin
      m_awvalid_o <= take || (m_awvalid_o && !m_awready_i);
      sending_q <= take || (sending_q && !(m_wready_i && m_wlast_o));
    end
    if (take) begin
      order_q <= turn;
      m_awid_o <= {turn, ask[turn].id};
      m_awaddr_o <= ask[turn].addr;
      m_awlen_o <= ask[turn].len;
    end
  end

`ifndef SYNTHESIS
  rl_stays #(
    .Width(IdW + 1 + AddrW + 8)
  ) u_stays (
    .clk_i,
    .rst_ni,
    .valid_i(m_awvalid_o),
    .ready_i(m_awready_i),
    .data_i({m_awid_o, m_awaddr_o, m_awlen_o})
  );
  always_ff @(posedge clk_i) if (rst_ni && m_wvalid_o) DataIsThere_A : assert (data_valid[order_q]);
  DataStays_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) m_wvalid_o && !m_wready_i |=> m_wvalid_o);
`endif
endmodule
