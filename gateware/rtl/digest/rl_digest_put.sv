// Values on their way to DDR: 32 bytes each, one behind the other from their job's target on.
module rl_digest_put
  import rl_blake3_pkg::*;
  import rl_digest_pkg::*;
  import rl_shell_pkg::*;
#(
  localparam int unsigned AddrBits = $clog2(Values)
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         target_valid_i,
  output logic         target_ready_o,
  input  beat_t        target_i,

  output logic         room_o,          // For four values: those of the last cycles count later.
  input  logic         valid_i,         // Taken always.
  input  value_t       value_i,
  input  logic         ends_job_i,

  output logic         put_valid_o,
  input  logic         put_ready_i,
  output addr_t        put_addr_o,      // Of the value, throughout its four words.
  output logic [63:0]  put_data_o,
  output logic         put_more_o,      // With a value's last word: the next one comes at once and belongs behind it.
  input  logic         put_written_i,   // One more run of such values is in memory.

  output logic         job_done_o,      // All values of the oldest job are in memory.
  output logic [255:0] value_o          // The last one put out.
);
  // The writer holds fewer values than this.
  localparam int unsigned UnwrittenW = 6;

  typedef logic [AddrBits:0] ptr_t;
  ptr_t in_q, out_q, out_next;  // Values that came, and of which all words are on their way.
  logic [AddrBits-1:0] shown_q;  // Stays with the last value.
  logic shows_q;                 // It is the next value to go.
  logic ends_job;

  rl_lutram #(
    .Width(257),
    .Depth(Values)
  ) u_values (
    .clk_i,
    .we_i(valid_i),
    .waddr_i(in_q[AddrBits-1:0]),
    .wdata_i({ends_job_i, value_i}),
    .raddr_i(shown_q),
    .rdata_o({ends_job, value_o})
  );

  logic target_valid, target_take;
  logic [2:0] unused_count;
  beat_t target;
  rl_fifo #(
    .Width(BeatW),
    .Depth(4)
  ) u_targets (
    .clk_i,
    .rst_ni,
    .wvalid_i(target_valid_i),
    .wready_o(target_ready_o),
    .wdata_i (target_i),
    .rvalid_o(target_valid),
    .rready_i(target_take),
    .rdata_o (target),
    .count_o (unused_count)
  );

  // A value follows the one before without a gap, if it is there.
  logic new_job_q, load, accept, finish, loads_last;
  logic last_q, ends_q;  // The word on the port is a value's last one, and a job's.
  logic [1:0] word_q;         // The next one to load.
  logic [AddrW-6:0] place_q;  // Of the value on the port, in units of 32 bytes.

  assign accept = put_valid_o && put_ready_i;
  assign finish = accept && last_q;
  assign load = shows_q && (!put_valid_o || put_ready_i);
  assign loads_last = load && word_q == '1;
  assign out_next = out_q + 1'b1;
  assign put_more_o = shows_q && !ends_q;
  assign target_take = load && word_q == '0 && new_job_q;
  assign put_addr_o = {place_q, 5'h0};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_q <= '0;
      out_q <= '0;
      shows_q <= 1'b0;
      new_job_q <= 1'b1;
      word_q <= '0;
      put_valid_o <= 1'b0;
      room_o <= 1'b0;
    end else begin
      room_o <= in_q - out_q <= ptr_t'(Values - 4);
      if (valid_i) in_q <= in_q + 1'b1;
      if (loads_last) out_q <= out_next;
      shows_q <= loads_last ? in_q != out_next : in_q != out_q;
      if (loads_last) new_job_q <= ends_job;
      else if (load) new_job_q <= 1'b0;
      if (load) word_q <= word_q + 1'b1;
      put_valid_o <= load || (put_valid_o && !accept);
    end
  end

  always_ff @(posedge clk_i) begin
    if (loads_last ? in_q != out_next : in_q != out_q) begin
      shown_q <= loads_last ? out_next[AddrBits-1:0] : out_q[AddrBits-1:0];
    end
    if (load) begin
      put_data_o <= value_o[64*word_q+:64];
      last_q <= word_q == '1;
      ends_q <= ends_job;
      if (word_q == '0) place_q <= new_job_q ? {target, 1'b0} : place_q + 1'b1;
    end
  end

  // -- runs of values taken and not yet in memory; jobs whose last value is taken
  logic [UnwrittenW-1:0] unwritten_q;
  logic [2:0] pending_q;
  assign job_done_o = pending_q != 0 && unwritten_q == 0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      unwritten_q <= '0;
      pending_q <= '0;
    end else begin
      unwritten_q <= unwritten_q + UnwrittenW'(finish && !put_more_o) - UnwrittenW'(put_written_i);
      pending_q <= pending_q + 3'(finish && ends_q) - 3'(job_done_o);
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni && valid_i)
      ValueFits_A : assert (in_q - out_q < ptr_t'(Values));
  always_ff @(posedge clk_i) if (rst_ni && target_take) JobHasTarget_A : assert (target_valid);
  always_ff @(posedge clk_i)
    if (rst_ni && put_written_i)
      WrittenWasTaken_A : assert (unwritten_q != 0);
  always_ff @(posedge clk_i) if (rst_ni && finish) UnwrittenFits_A : assert (unwritten_q != '1);
  PutIsStable_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
    put_valid_o && !put_ready_i |=> put_valid_o && $stable(
      {put_addr_o, put_data_o}
  ));
`endif
endmodule
