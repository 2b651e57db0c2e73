// Commands of programs, out of memory before they are wanted: of each context up to 16 are here, looked at and laid
// out as the sequencer wants them. A command that is none, that memory does not give, or that names what a program may
// not touch, or two ranges that overlap in part, is marked as such: its program fails when it comes to it, and not
// before.
//
// Four commands are read at once, to whom they are missing: contexts take turns. Up to four reads are under way, so
// that commands come as fast as memory gives words, and not as it answers.
module rl_collective_fetch
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Links = 1,
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned BeatW = 40 - FineW,
  localparam int unsigned StoredW = $clog2(Stored)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [Links-1:0][7:0]  ports_i,      // Of the links. Steady, as is
  input  logic [39:0]            from_i,       // what programs may touch: from here
  input  logic [39:0]            to_i,         // to there, which they may not.

  // -- programs
  input  logic                   begin_i,      // Of a context without one, of which nothing is under way.
  input  slot_t                  slot_i,
  input  logic [39:0]            program_i,    // A multiple of FetchBytes.
  input  count_t                 commands_i,
  input  logic [Slots-1:0]       runs_i,       // Of these more is wanted.
  output logic [Slots-1:0]       fetches_o,    // Of these something is under way.
  input  count_t [Slots-1:0]     at_i,         // The command that is next.
  output count_t [Slots-1:0]     here_o,       // So many have come.

  // -- a command that is here, a cycle later
  input  logic                   read_i,
  input  slot_t                  read_slot_i,
  input  logic [StoredW-1:0]     read_at_i,
  output command_t               command_o,

  // -- memory
  output logic                   ar_valid_o,
  input  logic                   ar_ready_i,
  output logic [BeatW-1:0]       ar_beat_o,
  output logic [7:0]             ar_len_o,
  input  logic                   r_valid_i,    // Taken at once.
  input  logic [DataW-1:0]       r_data_i,
  input  logic                   r_failed_i
);
  localparam int unsigned Lanes = DataW / 64;
  localparam int unsigned LaneW = Lanes > 1 ? $clog2(Lanes) : 1;
  localparam int unsigned Beats = FetchBytes / Bytes;

  localparam int unsigned Reads = 4;  // Under way at once.

  // -- whose are fetched next
  logic asks_q;  // For those of the context whose turn it is.
  slot_t turn_q, chosen, whose;
  logic any, asked, got, read_room, read_valid;
  logic [$clog2(Reads):0] unused_reads;
  count_t [Slots-1:0] commands_q, asked_q;
  logic [Slots-1:0][$clog2(Reads):0] under_way_q;
  always_comb begin
    any = 1'b0;
    chosen = turn_q;
    for (int unsigned i = 0; i < Slots; i++) begin
      automatic slot_t c = turn_q + slot_t'(i);
      if (!any && runs_i[c] && asked_q[c] < commands_q[c] &&
          asked_q[c] - at_i[c] <= count_t'(Stored - FetchCommands))
        {any, chosen} = {1'b1, c};
    end
    for (int unsigned c = 0; c < Slots; c++)
    fetches_o[c] = under_way_q[c] != '0 || (asks_q && turn_q == slot_t'(c));
  end
  logic [39:0] base, addr;
  rl_lutram #(
    .Width(40),
    .Depth(Slots)
  ) u_programs (
    .clk_i,
    .we_i(begin_i),
    .waddr_i(slot_i),
    .wdata_i(program_i),
    .raddr_i(turn_q),
    .rdata_o(base)
  );
  assign addr = base + 40'({asked_q[turn_q], 5'd0});
  assign ar_valid_o = asks_q && read_room;
  assign ar_beat_o = addr[39:FineW];
  assign ar_len_o = 8'(Beats - 1);
  assign asked = ar_valid_o && ar_ready_i;
  rl_fifo #(
    .Width($bits(slot_t)),
    .Depth(Reads)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .wvalid_i(asked),
    .wready_o(read_room),
    .wdata_i(turn_q),
    .rvalid_o(read_valid),
    .rready_i(got),
    .rdata_o(whose),
    .count_o(unused_reads)
  );

  // -- what has come, a word of 64 bits after the other
  logic word_valid, store_ready, failed, failed_q, gets, ends_beat;
  logic [DataW-1:0] beat;
  logic [LaneW-1:0] lane_q;
  logic [63:0] word;
  logic [1:0] word_q, got_q;  // Words of a command; commands of a read.
  logic [2:0][63:0] words_q;
  logic [$clog2(Reads*Beats):0] unused_stored;
  rl_fifo #(
    .Width(DataW + 1),
    .Depth(Reads * Beats)
  ) u_store (
    .clk_i,
    .rst_ni,
    .wvalid_i(r_valid_i),
    .wready_o(store_ready),
    .wdata_i({r_failed_i, r_data_i}),
    .rvalid_o(word_valid),
    .rready_i(ends_beat),
    .rdata_o({failed, beat}),
    .count_o(unused_stored)
  );
  assign word = beat[64*lane_q+:64];
  assign ends_beat = lane_q == LaneW'(Lanes - 1);

  // -- a command
  function automatic logic [63:0] turned(logic [63:0] value);
    for (int unsigned i = 0; i < 8; i++) turned[8*i+:8] = value[8*(7-i)+:8];
  endfunction
  function automatic logic refused(logic [63:0] first, logic [28:0] length, logic [39:0] from,
                                   logic [39:0] to);
    return length != '0 && (first[63:40] != '0 || first[39:0] < from || 41'(first[39:0]) + 41'(length) > 41'(to));
  endfunction
  logic [63:0] head, from, to;
  logic [31:0] length;
  logic [34:0] bytes;
  op_e op;
  datatype_e datatype;
  command_t command, command_q;
  logic command_valid_q, is_sound, reduces, is_reduction, overlaps;
  logic [40:0] apart;
  assign head = turned(words_q[0]);
  assign from = turned(words_q[1]);
  assign to = turned(words_q[2]);
  assign length = head[31:0];
  // A reduction counts elements. There is none of an operation on the bits of floating-point numbers.
  assign reduces = head[63:56] == 8'd5;
  assign op = op_e'(head[50:48]);
  assign datatype = datatype_e'(head[35:32]);
  assign bytes = 35'(length) << (reduces ? size_of(datatype) : 2'd0);
  assign is_reduction = head[55:51] == '0 && op != op_e'(0) && head[47:36] == '0 && datatype inside {[I8:Bf16]} &&
      (!is_float(datatype) || op <= Prod);
  // Two ranges of as many bytes that are not the same one, and begin fewer bytes apart than they are long, whichever is
  // first. Addresses whose upper bits are not 0 are refused anyhow.
  assign apart = 41'(to[39:0]) - 41'(from[39:0]);
  assign overlaps = apart != '0 && (&apart[40:29] ? 30'(apart[28:0]) + 30'(bytes[28:0]) > 30'(1 << 29) :
                                    apart[40:29] == '0 && apart[28:0] < bytes[28:0]);
  always_comb begin
    command = '0;
    command.port = head[55:48];
    for (int unsigned l = 0; l < Links; l++)
    if (ports_i[l] != '0 && command.port == ports_i[l])
      {command.linked, command.link} = {1'b1, 2'(l)};
    command.tag = head[47:32];
    command.length = bytes[28:0];
    command.from = from[39:0];
    command.to = to[39:0];
    command.from_bad = refused(from, command.length, from_i, to_i);
    command.to_bad = refused(to, command.length, from_i, to_i) || overlaps;
    is_sound = word == '0 && bytes <= 35'(MessageMax);
    case (head[63:56])
      8'd1, 8'd2: if (is_sound && to == '0) command.code = head[56] ? Put : Take;
      8'd3: if (is_sound && {head[55:49], head[47:0], from, to} == '0) command.code = Wait;
      8'd4: if (is_sound && head[55:32] == '0) command.code = Copy;
      8'd5: if (is_sound && is_reduction) command.code = Reduce;
      8'd6:
      if (word == '0 && {head[55:0], from} == '0) begin
        command.code = Survey;
        command.length = 29'(SurveyBytes);
        command.from_bad = 1'b0;
        command.to_bad = refused(to, command.length, from_i, to_i) || to[$clog2(SurveyBytes)-1:0] != '0;
      end
      default: ;
    endcase
    if (failed_q || failed) command.code = Unread;
  end
  logic writes;
  assign writes = command_valid_q && here_o[whose] != commands_q[whose];
  // Its last command has come.
  assign got = command_valid_q && got_q == '0;
  rl_ram #(
    .Width($bits(command_t)),
    .Depth(Slots * Stored),
    .Block(1'b1)
  ) u_commands (
    .clk_wr_i(clk_i),
    .we_i(writes),
    .waddr_i({whose, here_o[whose][StoredW-1:0]}),
    .wdata_i(command_q),
    .clk_rd_i(clk_i),
    .re_i(read_i),
    .raddr_i({read_slot_i, read_at_i}),
    .rdata_o(command_o)
  );
  assign gets = word_valid && word_q == 2'd3;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asks_q <= 1'b0;
      turn_q <= '0;
      asked_q <= '0;
      under_way_q <= '0;
      lane_q <= '0;
      word_q <= '0;
      got_q <= '0;
      command_valid_q <= 1'b0;
      failed_q <= 1'b0;
      here_o <= '0;
    end else begin
      if (!asks_q) begin
        asks_q <= any;
        turn_q <= chosen;
      end else if (asked) begin
        asks_q <= 1'b0;
        turn_q <= turn_q + 1'b1;
        asked_q[turn_q] <= asked_q[turn_q] + count_t'(FetchCommands);
      end
      for (int unsigned c = 0; c < Slots; c++)
      under_way_q[c] <= under_way_q[c] + 3'(asked && turn_q == slot_t'(c)) - 3'(got && whose == slot_t'(c));
      if (word_valid) begin
        lane_q <= ends_beat ? '0 : lane_q + 1'b1;
        word_q <= word_q + 1'b1;
        failed_q <= word_q != 2'd3 && (failed_q || failed);
      end
      command_valid_q <= gets;
      got_q <= got_q + 2'(gets);  // Four each time.
      if (writes) here_o[whose] <= here_o[whose] + 1'b1;
      if (begin_i) {here_o[slot_i], asked_q[slot_i]} <= '0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (word_valid && word_q != 2'd3) words_q[word_q] <= word;
    if (gets) command_q <= command;
    if (begin_i) commands_q[slot_i] <= commands_i;
  end
  logic unused;
  assign unused = ^{store_ready, read_valid, unused_reads, unused_stored, addr[FineW-1:0], bytes[34:29]};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && r_valid_i) HasRoom_A : assert (store_ready);
`endif
endmodule
