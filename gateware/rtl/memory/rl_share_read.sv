// The reading side of rl_memory_share: addresses by turns, data to whom they belong.
//
// What the memory has been asked for waits there for its turn among the rest, where no share counts any more. So not
// more is asked for than keeps the memory busy: its bandwidth times its latency.
//
// A manager that takes its data when it likes has room for all that it has asked for kept in a buffer: what the memory
// gives is always taken, and nobody waits for one that does not take what is its own. With a buffer of UnderWay beats
// it can have all of the memory, with one of twice as many any share of it.
module rl_share_read #(
  parameter int unsigned AddrW = 40,
  parameter int unsigned DataW = 512,
  parameter int unsigned IdW = 2,
  parameter logic [1:0][7:0] Longest = {8'd16, 8'd16},  // Beats of each manager's longest burst.
  // Beats of each manager's buffer, a power of two; 0: it takes at once what it has asked for.
  parameter logic [1:0][15:0] Buffer = {16'd64, 16'd64},
  parameter int unsigned UnderWay = 64,  // Beats that the memory is asked for and has not given, at most.
  parameter int unsigned ShareW = 4
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [1:0][ShareW-1:0] share_i,
  output logic                   busy_o,

  input  logic [1:0]             s_arvalid_i,
  output logic [1:0]             s_arready_o,
  input  logic [1:0][AddrW-1:0]  s_araddr_i,
  input  logic [1:0][7:0]        s_arlen_i,
  input  logic [1:0][IdW-1:0]    s_arid_i,
  output logic [1:0]             s_rvalid_o,
  input  logic [1:0]             s_rready_i,
  output logic [1:0][DataW-1:0]  s_rdata_o,
  output logic [1:0][1:0]        s_rresp_o,
  output logic [1:0]             s_rlast_o,
  output logic [1:0][IdW-1:0]    s_rid_o,

  output logic                   m_arvalid_o,
  input  logic                   m_arready_i,
  output logic [AddrW-1:0]       m_araddr_o,
  output logic [7:0]             m_arlen_o,
  output logic [IdW:0]           m_arid_o,    // The upper bit is the manager.
  input  logic                   m_rvalid_i,
  output logic                   m_rready_o,
  input  logic [DataW-1:0]       m_rdata_i,
  input  logic [1:0]             m_rresp_i,
  input  logic                   m_rlast_i,
  input  logic [IdW:0]           m_rid_i
);
  localparam int unsigned BeatsW = 8;
  localparam int unsigned LeftW = $clog2(UnderWay + 1);
  if (UnderWay < 32'(Longest[0]) || UnderWay < 32'(Longest[1])) begin : gen_check_under_way
    $fatal(0, "rl_share_read: the longest burst must fit into UnderWay (%m)");
  end

  typedef struct packed {
    logic [IdW-1:0]   id;
    logic [AddrW-1:0] addr;
    logic [7:0]       len;
  } ask_t;
  typedef struct packed {
    logic [IdW-1:0]   id;
    logic [1:0]       resp;
    logic             last;
    logic [DataW-1:0] data;
  } beat_t;

  ask_t [1:0] ask;
  beat_t given;
  logic [1:0] ask_valid, asks, taken, held;
  logic [1:0][BeatsW-1:0] beats;
  logic turn, take, room;
  assign given = '{id: m_rid_i[IdW-1:0], resp: m_rresp_i, last: m_rlast_i, data: m_rdata_i};
  assign m_rready_o = 1'b1;

  for (genvar n = 0; n < 2; n++) begin : gen_manager
    logic [1:0] unused_asks;
    logic comes;
    rl_fifo #(
      .Width($bits(ask_t)),
      .Depth(2)
    ) u_ask (
      .clk_i,
      .rst_ni,
      .wvalid_i(s_arvalid_i[n]),
      .wready_o(s_arready_o[n]),
      .wdata_i({s_arid_i[n], s_araddr_i[n], s_arlen_i[n]}),
      .rvalid_o(ask_valid[n]),
      .rready_i(taken[n]),
      .rdata_o(ask[n]),
      .count_o(unused_asks)
    );
    assign beats[n] = ask[n].len + 1'b1;
    assign taken[n] = take && turn == 1'(n);
    assign comes = m_rvalid_i && m_rid_i[IdW] == 1'(n);

    if (Buffer[n] != 0) begin : gen_buffer
      localparam int unsigned Depth = 32'(Buffer[n]);
      if (Depth < 32'(Longest[n])) begin : gen_check
        $fatal(0, "rl_share_read: the longest burst must fit into its Buffer (%m)");
      end
      logic [$clog2(Depth):0] free_q, unused_count;
      logic buffer_ready;
      beat_t kept;
      rl_fifo #(
        .Width($bits(beat_t)),
        .Depth(Depth)
      ) u_buffer (
        .clk_i,
        .rst_ni,
        .wvalid_i(comes),
        .wready_o(buffer_ready),
        .wdata_i(given),
        .rvalid_o(s_rvalid_o[n]),
        .rready_i(s_rready_i[n]),
        .rdata_o(kept),
        .count_o(unused_count)
      );
      assign {s_rid_o[n], s_rresp_o[n], s_rlast_o[n], s_rdata_o[n]} = kept;
      assign asks[n] = ask_valid[n] && 16'(free_q) >= 16'(beats[n]);
      assign held[n] = s_rvalid_o[n];
      always_ff @(posedge clk_i) begin
        if (!rst_ni) free_q <= ($bits(free_q))'(Depth);
        else
          free_q <= free_q - (taken[n] ? ($bits(
              free_q
          ))'(beats[n]) : '0) + ($bits(
              free_q
          ))'(s_rvalid_o[n] && s_rready_i[n]);
      end
`ifndef SYNTHESIS
      always_ff @(posedge clk_i) if (rst_ni && comes) RoomWasKept_A : assert (buffer_ready);
`else
      logic unused_ready;
      assign unused_ready = buffer_ready;
`endif
    end else begin : gen_at_once
      assign s_rvalid_o[n] = comes;
      assign {s_rid_o[n], s_rresp_o[n], s_rlast_o[n], s_rdata_o[n]} = given;
      assign asks[n] = ask_valid[n];
      assign held[n] = 1'b0;
`ifndef SYNTHESIS
      always_ff @(posedge clk_i) if (rst_ni && comes) TakesAtOnce_A : assert (s_rready_i[n]);
`else
      logic unused_ready;
      assign unused_ready = s_rready_i[n];
`endif
    end
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

  // Whose turn it is waits for room: else the one with short bursts would always find some, and the other never.
  logic [LeftW-1:0] left_q;
  assign room = 16'(left_q) >= 16'(beats[turn]);
  assign take = asks != 0 && room && (!m_arvalid_o || m_arready_i);
  assign busy_o = ask_valid != 0 || m_arvalid_o || left_q != LeftW'(UnderWay) || held != 0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      m_arvalid_o <= 1'b0;
      left_q <= LeftW'(UnderWay);
    end else begin
      m_arvalid_o <= take || (m_arvalid_o && !m_arready_i);
      left_q <= left_q - (take ? LeftW'(beats[turn]) : '0) + LeftW'(m_rvalid_i);
    end
    if (take) begin
      m_arid_o <= {turn, ask[turn].id};
      m_araddr_o <= ask[turn].addr;
      m_arlen_o <= ask[turn].len;
    end
  end

`ifndef SYNTHESIS
  rl_stays #(
    .Width(IdW + 1 + AddrW + 8)
  ) u_stays (
    .clk_i,
    .rst_ni,
    .valid_i(m_arvalid_o),
    .ready_i(m_arready_i),
    .data_i({m_arid_o, m_araddr_o, m_arlen_o})
  );
`endif
endmodule
