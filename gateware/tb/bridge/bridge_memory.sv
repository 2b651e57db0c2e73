// A memory at an AXI4 port with one id: it answers after so many cycles, pauses now and then, and fails if it has to.
// The bench looks into it from the side. What lies beyond its end is wrong.
module bridge_memory #(
  parameter int unsigned DataW = 64,
  parameter int unsigned AddrW = 40,
  parameter int unsigned Words = 1024,
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned WordW = $clog2(Words)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [15:0]       latency_i,  // Cycles from an address or the last beat to the answer.
  input  logic [7:0]        pause_i,    // Of 256 cycles in which nothing is taken or given.
  input  logic              fails_i,
  input  logic [31:0]       seed_i,

  input  logic              awvalid_i,
  output logic              awready_o,
  input  logic [AddrW-1:0]  awaddr_i,
  input  logic [7:0]        awlen_i,
  input  logic              wvalid_i,
  output logic              wready_o,
  input  logic [DataW-1:0]  wdata_i,
  input  logic [Bytes-1:0]  wstrb_i,
  input  logic              wlast_i,
  output logic              bvalid_o,
  input  logic              bready_i,
  output logic [1:0]        bresp_o,
  input  logic              arvalid_i,
  output logic              arready_o,
  input  logic [AddrW-1:0]  araddr_i,
  input  logic [7:0]        arlen_i,
  output logic              rvalid_o,
  input  logic              rready_i,
  output logic [DataW-1:0]  rdata_o,
  output logic [1:0]        rresp_o,
  output logic              rlast_o,

  input  logic              poke_i,
  input  logic [WordW-1:0]  at_i,
  input  logic [DataW-1:0]  poke_data_i,
  output logic [DataW-1:0]  peek_data_o,
  output logic              wrong_o,      // An address beyond the end, or a last beat that is none. Stays.
  output logic [31:0]       beats_o       // Beats written and read.
);
  typedef struct packed {
    logic [31:0]      at;
    logic [AddrW-1:0] addr;
    logic [7:0]       len;
  } burst_t;
  logic [DataW-1:0] mem[Words];
  assign peek_data_o = mem[at_i];
  logic [31:0] now_q, random_q;
  burst_t writes[$], reads[$];
  logic [31:0] answers[$];
  logic [7:0] wbeat_q, rbeat_q;
  logic goes;
  assign goes = random_q[7:0] >= pause_i;

  always_ff @(posedge clk_i) begin
    random_q <= {random_q[30:0], random_q[31] ^ random_q[21] ^ random_q[1] ^ random_q[0]};
    now_q <= now_q + 1;
    if (poke_i) mem[at_i] <= poke_data_i;
    if (!rst_ni) begin
      now_q <= '0;
      random_q <= seed_i | 1;
      wbeat_q <= '0;
      rbeat_q <= '0;
      bvalid_o <= 1'b0;
      rvalid_o <= 1'b0;
      awready_o <= 1'b0;
      wready_o <= 1'b0;
      arready_o <= 1'b0;
      wrong_o <= 1'b0;
      beats_o <= '0;
      writes.delete();
      reads.delete();
      answers.delete();
    end else begin
      awready_o <= goes;
      arready_o <= goes;
      if (awvalid_i && awready_o) begin
        writes.push_back('{at: now_q, addr: awaddr_i, len: awlen_i});
        if (awaddr_i[AddrW-1:WordW+FineW] != '0 || awaddr_i[FineW-1:0] != '0) wrong_o <= 1'b1;
      end
      if (arvalid_i && arready_o) begin
        reads.push_back('{at: now_q, addr: araddr_i, len: arlen_i});
        if (araddr_i[AddrW-1:WordW+FineW] != '0 || araddr_i[FineW-1:0] != '0) wrong_o <= 1'b1;
      end
      // Data is taken when its address is here.
      wready_o <= goes && writes.size() > 0 && !(wvalid_i && wready_o && wlast_i && writes.size() == 1);
      if (wvalid_i && wready_o) begin
        logic [WordW-1:0] word;
        word = writes[0].addr[FineW+:WordW] + WordW'(wbeat_q);
        for (int i = 0; i < Bytes; i++)
        if (wstrb_i[i] && !fails_i) mem[word][8*i+:8] <= wdata_i[8*i+:8];
        beats_o <= beats_o + 1;
        if (wlast_i != (wbeat_q == writes[0].len)) wrong_o <= 1'b1;
        wbeat_q <= wlast_i ? '0 : wbeat_q + 1'b1;
        if (wlast_i) begin
          void'(writes.pop_front());
          answers.push_back(now_q);
        end
      end
      if (bready_i || !bvalid_o) begin
        bvalid_o <= 1'b0;
        if (answers.size() > 0 && now_q - answers[0] + 1 >= 32'(latency_i) && goes) begin
          bvalid_o <= 1'b1;
          bresp_o <= fails_i ? 2'b10 : 2'b00;
          void'(answers.pop_front());
        end
      end
      if (rready_i || !rvalid_o) begin
        rvalid_o <= 1'b0;
        if (reads.size() > 0 && now_q - reads[0].at + 1 >= 32'(latency_i) && goes) begin
          rvalid_o <= 1'b1;
          rdata_o <= mem[reads[0].addr[FineW+:WordW]+WordW'(rbeat_q)];
          rresp_o <= fails_i ? 2'b10 : 2'b00;
          rlast_o <= rbeat_q == reads[0].len;
          rbeat_q <= rbeat_q == reads[0].len ? '0 : rbeat_q + 1'b1;
          beats_o <= beats_o + 1;
          if (rbeat_q == reads[0].len) void'(reads.pop_front());
        end
      end
    end
  end
endmodule
