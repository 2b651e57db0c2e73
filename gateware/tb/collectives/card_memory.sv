// A memory at several AXI4 ports with one id each: each port answers after so many cycles and pauses now and then. The
// bench looks into it from the side. What lies beyond its end is wrong.
module card_memory #(
  parameter int unsigned Ports = 2,
  parameter int unsigned DataW = 64,
  parameter int unsigned Words = 1024,
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned WordW = $clog2(Words)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic [15:0]                 latency_i,  // Cycles from an address or the last beat to the answer.
  input  logic [7:0]                  pause_i,    // Of 256 cycles in which nothing is taken or given.
  input  logic [Ports-1:0]            fails_i,
  input  logic [Ports-1:0]            awvalid_i,
  output logic [Ports-1:0]            awready_o,
  input  logic [Ports-1:0][39:0]      awaddr_i,
  input  logic [Ports-1:0][7:0]       awlen_i,
  input  logic [Ports-1:0]            wvalid_i,
  output logic [Ports-1:0]            wready_o,
  input  logic [Ports-1:0][DataW-1:0] wdata_i,
  input  logic [Ports-1:0][Bytes-1:0] wstrb_i,
  input  logic [Ports-1:0]            wlast_i,
  output logic [Ports-1:0]            bvalid_o,
  output logic [Ports-1:0][1:0]       bresp_o,
  input  logic [Ports-1:0]            arvalid_i,
  output logic [Ports-1:0]            arready_o,
  input  logic [Ports-1:0][39:0]      araddr_i,
  input  logic [Ports-1:0][7:0]       arlen_i,
  output logic [Ports-1:0]            rvalid_o,
  output logic [Ports-1:0][DataW-1:0] rdata_o,
  output logic [Ports-1:0][1:0]       rresp_o,
  output logic [Ports-1:0]            rlast_o,
  input  logic                        poke_i,
  input  logic [WordW-1:0]            at_i,
  input  logic [DataW-1:0]            poke_data_i,
  output logic [DataW-1:0]            peek_data_o,
  output logic                        wrong_o     // An address beyond the end, or a last beat that is none. Stays.
);
  typedef struct packed {
    logic [31:0] at;
    logic [39:0] addr;
    logic [7:0]  len;
  } burst_t;
  logic [DataW-1:0] mem[Words];
  // What waits, in rings: more than ever does.
  localparam int unsigned Room = 256;
  typedef logic [7:0] at_t;
  burst_t writes[Ports][Room], reads[Ports][Room];
  logic [31:0] answers[Ports][Room];
  logic lost[Ports][Room];  // A beat of it failed.
  logic [Ports-1:0][7:0] w_in, w_out, r_in, r_out, b_in, b_out;
  logic [Ports-1:0][7:0] wbeat_q, rbeat_q;
  logic [31:0] now_q, random_q;
  logic [WordW-1:0] word;
  logic goes;
  logic [Ports-1:0] loses_q;
  assign peek_data_o = mem[at_i];
  always @(posedge clk_i) begin
    random_q = {random_q[30:0], random_q[31] ^ random_q[21] ^ random_q[1] ^ random_q[0]};
    now_q <= now_q + 1;
    if (poke_i) mem[at_i] = poke_data_i;
    if (!rst_ni) begin
      {now_q, wbeat_q, rbeat_q, bvalid_o, rvalid_o, awready_o, wready_o, arready_o, wrong_o} <= '0;
      random_q = 32'd1;
      {w_in, w_out, r_in, r_out, b_in, b_out} = '0;
      loses_q <= '0;
    end else begin
      for (int p = 0; p < int'(Ports); p++) begin
        goes = random_q[4*p+:8] >= pause_i;
        awready_o[p] <= goes;
        arready_o[p] <= goes;
        if (awvalid_i[p] && awready_o[p]) begin
          writes[p][w_in[p]] = '{at: now_q, addr: awaddr_i[p], len: awlen_i[p]};
          w_in[p]++;
          if (awaddr_i[p][39:WordW+FineW] != '0 || awaddr_i[p][FineW-1:0] != '0) wrong_o <= 1'b1;
        end
        if (arvalid_i[p] && arready_o[p]) begin
          reads[p][r_in[p]] = '{at: now_q, addr: araddr_i[p], len: arlen_i[p]};
          r_in[p]++;
          if (araddr_i[p][39:WordW+FineW] != '0 || araddr_i[p][FineW-1:0] != '0) wrong_o <= 1'b1;
        end
        wready_o[p] <= goes && w_in[p] != w_out[p] &&
            !(wvalid_i[p] && wready_o[p] && wlast_i[p] && at_t'(w_in[p] - w_out[p]) == 1);
        if (wvalid_i[p] && wready_o[p]) begin
          word = writes[p][w_out[p]].addr[FineW+:WordW] + WordW'(wbeat_q[p]);
          for (int i = 0; i < int'(Bytes); i++)
          if (wstrb_i[p][i] && !fails_i[p]) mem[word][8*i+:8] = wdata_i[p][8*i+:8];
          if (wlast_i[p] != (wbeat_q[p] == writes[p][w_out[p]].len)) wrong_o <= 1'b1;
          wbeat_q[p] <= wlast_i[p] ? '0 : wbeat_q[p] + 1'b1;
          loses_q[p] <= !wlast_i[p] && (loses_q[p] || fails_i[p]);
          if (wlast_i[p]) begin
            w_out[p]++;
            answers[p][b_in[p]] = now_q;
            lost[p][b_in[p]] = loses_q[p] || fails_i[p];
            b_in[p]++;
          end
        end
        bvalid_o[p] <= 1'b0;
        if (b_in[p] != b_out[p] && now_q - answers[p][b_out[p]] + 1 >= 32'(latency_i) && goes) begin
          bvalid_o[p] <= 1'b1;
          bresp_o[p] <= fails_i[p] || lost[p][b_out[p]] ? 2'b10 : 2'b00;
          b_out[p]++;
        end
        rvalid_o[p] <= 1'b0;
        if (r_in[p] != r_out[p] && now_q - reads[p][r_out[p]].at + 1 >= 32'(latency_i) && goes) begin
          rvalid_o[p] <= 1'b1;
          // What is read of it while it fails is nothing that was there.
          word = reads[p][r_out[p]].addr[FineW+:WordW] + WordW'(rbeat_q[p]);
          rdata_o[p] <= fails_i[p] ? ~mem[word] : mem[word];
          rresp_o[p] <= fails_i[p] ? 2'b10 : 2'b00;
          rlast_o[p] <= rbeat_q[p] == reads[p][r_out[p]].len;
          rbeat_q[p] <= rbeat_q[p] == reads[p][r_out[p]].len ? '0 : rbeat_q[p] + 1'b1;
          if (rbeat_q[p] == reads[p][r_out[p]].len) r_out[p]++;
        end
      end
    end
  end
endmodule
