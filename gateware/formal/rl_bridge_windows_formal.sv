// Whatever windows are set: what is permitted lies wholly in one that is open to the node and has the right, and where
// it leads is that window's memory; what is not permitted lies in none. With short addresses, whose every bit counts,
// and three of the windows, two of which are looked at in one cycle: when all are closed, they are set one after the
// other, and a judgement begins.
module rl_bridge_windows_formal
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
(
  input logic        clk_i,
  input logic        set_valid_i,
  input logic [3:0]  set_index_i,
  input window_t     set_window_i,
  input logic        ask_valid_i,
  input node_t       ask_node_i,
  input logic [4:0]  ask_addr_i,
  input logic [15:0] ask_length_i,
  input rights_t     ask_right_i
);
  localparam logic [5:0] Cleared = 6'd18;  // The cycle from which on all windows are closed.
  logic rst_ni = 1'b0;
  logic [5:0] cycle_q = '0;
  always_ff @(posedge clk_i) begin
    rst_ni <= 1'b1;
    if (!(&cycle_q)) cycle_q <= cycle_q + 1'b1;
  end
  logic done, asks_q;
  bridge_status_e status;
  logic [3:0] addr;
  rl_bridge_windows #(
    .KeyW(5),
    .AddrW(4),
    .FineW(1),
    .Ways(8)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .set_valid_i,
    .set_index_i,
    .set_window_i,
    .ask_valid_i,
    .ask_node_i,
    .ask_addr_i,
    .ask_length_i,
    .ask_right_i,
    .soon_o(),
    .done_o(done),
    .status_o(status),
    .addr_o(addr)
  );

  // -- what was set, and what that means
  window_t [2:0] windows_q;
  logic [5:0] last;
  logic [2:0] covers, permits, leads;
  logic fits;
  assign last = {1'b0, ask_addr_i} + 6'(ask_length_i) - 6'd1;
  assign fits = ask_length_i != 0 && ask_length_i <= 16'd32;
  for (genvar i = 0; i < 3; i++) begin : gen_window
    logic [5:0] behind;
    assign behind = 6'(windows_q[i].base[4:0]) + 6'(windows_q[i].length[4:0]);
    assign covers[i] = windows_q[i].valid && !windows_q[i].rights.stream && fits &&
        ask_addr_i >= windows_q[i].base[4:0] && last < behind &&
        (windows_q[i].peer == NodeAny || windows_q[i].peer == ask_node_i);
    assign permits[i] = covers[i] && (windows_q[i].rights & ask_right_i) == ask_right_i;
    assign leads[i] = permits[i] &&
        addr == 4'(windows_q[i].at[3:0] + 4'(ask_addr_i - windows_q[i].base[4:0]));
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asks_q <= 1'b0;
      windows_q <= '0;
    end else begin
      if (set_valid_i) windows_q[set_index_i[3]?2 : set_index_i[0]] <= set_window_i;
      asks_q <= ask_valid_i || (asks_q && !done);
    end
  end

  logic [32:0] asked_q;
  always_ff @(posedge clk_i) asked_q <= {ask_node_i, ask_addr_i, ask_length_i, ask_right_i};
  always_comb begin
    assume (!set_valid_i || (cycle_q >= Cleared && cycle_q < Cleared + 6'd3));
    assume (set_index_i == (cycle_q == Cleared ? 4'd0 : cycle_q == Cleared + 6'd1 ? 4'd1 : 4'd8));
    assume (!ask_valid_i || cycle_q == Cleared + 6'd3);
    if (asks_q) begin
      assume (asked_q == {ask_node_i, ask_addr_i, ask_length_i, ask_right_i});
    end
    assume (ask_length_i != 0 && ask_length_i < 16'd32 && !ask_right_i.stream && ask_node_i != NodeAny);
    assume (set_window_i.base[63:5] == '0 && set_window_i.length[63:5] == '0 && set_window_i.length != 0);
    assume (6'(set_window_i.base[4:0]) + 6'(set_window_i.length[4:0]) <= 6'd32);
    assume (set_window_i.at[0] == set_window_i.base[0]);
    if (rst_ni && done) begin
      if (status == BridgeStatusOk)
        assert (permits != '0 && leads != '0);
        else if (status == BridgeStatusDenied)
          assert (permits == '0 && covers != '0);
          else assert (status == BridgeStatusNoWindow && covers == '0);
      cover (status == BridgeStatusOk);
      cover (status == BridgeStatusDenied);
    end
  end
endmodule
