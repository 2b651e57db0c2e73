// A key store that is written while the card runs: the card's keys, and which hosts may claim it. Whoever has them from
// a file, a flash or fuses writes them here in words, and the firmware takes them when it has the time.
//
//   word  4 n + i      of host n: who it is and which keys it has, as KEY_HOSTS has it; the generation of its key that
//                      counts; that of its key that was revoked
//         256 + 8 s    of the card's key s, the newest first: four words of the key, the lowest first; its generation;
//                      whether there is one
//         272          ends what is written: how many hosts there are, 64 at most, or nothing is handed over
//
// Nothing is handed over that is not whole, and while it is handed over nothing is written. What was written stays
// when the shell is restarted, and is then handed over again.
module rl_key_store
  import rl_csr_pkg::*;
  import rl_auth_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_power_ni,  // Forgets what was written.
  input  logic         rst_ni,        // The shell's.
  input  store_write_t write_i,
  output logic         write_ready_o,
  input  store_ask_t   ask_i,         // The firmware's orders.
  output store_t       store_o,
  input  logic         ready_i        // The vault takes the key.
);
  localparam int unsigned HostsW = $clog2(StoreHosts);
  localparam int unsigned WordsW = HostsW + 2;
  logic writes, to_host, to_key, ends;
  assign writes = write_i.valid && write_ready_o;
  assign to_host = writes && write_i.at < 9'(4 * StoreHosts);
  assign to_key = writes && write_i.at inside {[StoreKeys : StoreKeys + 9'd15]};
  assign ends = writes && write_i.at == StoreEnd && write_i.word <= 32'(StoreHosts);

  // -- what is written
  logic [31:0] word;
  rl_ram #(
    .Width(32),
    .Depth(4 * StoreHosts)
  ) u_hosts (
    .clk_wr_i(clk_i),
    .we_i(to_host),
    .waddr_i(write_i.at[WordsW-1:0]),
    .wdata_i(write_i.word),
    .clk_rd_i(clk_i),
    .re_i(1'b1),
    .raddr_i(ask_i.at[WordsW-1:0]),
    .rdata_o(word)
  );
  logic [1:0][3:0][31:0] key_q;
  logic [1:0][31:0] generation_q;
  logic [1:0] there_q;
  logic [HostsW:0] hosts_q;
  logic whole_q;  // Nothing was written since that was ended.
  always_ff @(posedge clk_i) begin
    for (int unsigned s = 0; s < 2; s++) begin
      if (to_key && 32'(write_i.at[3]) == s) begin
        if (!write_i.at[2]) key_q[s][write_i.at[1:0]] <= write_i.word;
        else if (write_i.at[1:0] == 2'd0) generation_q[s] <= write_i.word;
        else if (write_i.at[1:0] == 2'd1) there_q[s] <= write_i.word[0];
      end
    end
    if (ends) hosts_q <= write_i.word[HostsW:0];
    if (!rst_power_ni) whole_q <= 1'b0;
    else if (writes) whole_q <= ends;
  end

  // -- handing over
  logic [1:0] at_q;  // The next key; 2: there is none.
  logic news_q, held_q, takes, over, slot;
  assign over = at_q[1];
  assign slot = at_q[0];
  assign takes = ask_i.take && news_q && whole_q;
  assign write_ready_o = rst_power_ni && !held_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      news_q <= 1'b1;
      held_q <= 1'b0;
      at_q   <= '1;
    end else begin
      news_q <= ends || (news_q && !takes);
      held_q <= takes || (held_q && !ask_i.free);
      if (takes) at_q <= '0;
      else if (held_q && !over && ready_i) at_q <= at_q + 1'b1;
    end
  end
  // After a reset nothing was handed over.
  logic handed_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || takes) handed_q <= 1'b0;
    else if (held_q && over) handed_q <= 1'b1;
  end
  assign store_o = '{
          news: news_q && whole_q && !held_q,
          hosts: 7'(hosts_q),
          word: word,
          over: handed_q,
          valid: held_q && !over,
          slot: slot,
          forget: !there_q[slot],
          generation: generation_q[slot],
          key: key_q[slot]
      };

`ifndef SYNTHESIS
  // The firmware reads what it holds.
  StaysWhole_A :
  assert property (@(posedge clk_i) disable iff (!rst_power_ni || !rst_ni) held_q |-> whole_q);
`endif
endmodule
