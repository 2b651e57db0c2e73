// rl_flash_cmd, asked for anything at all, with a chip that answers anything. The bytes that go to the chip are
// watched as the chip would take them, selection by selection:
//   - a selection begins with a command of the short list: identify, status, enable, disable, clear, read, erase,
//     program;
//   - what the loader has erased, programmed or read lies between the pointer and the records, both included: neither
//     the golden images nor the jump record do, and nothing of the store of keys and versions;
//   - what the store has erased or programmed lies in the logs of versions, and what it has read there or in the keys:
//     so keys and signers are written by nobody;
//   - no page is left while it is programmed, so the chip does not go on at the page's beginning.
module rl_flash_cmd_formal
  import rl_flash_pkg::*;
(
  input logic        clk_i,
  input logic        store_i,
  input logic        valid_i,
  input logic [1:0]  op_i,
  input logic [23:0] addr_i,
  input logic [23:0] count_i,
  input logic        wvalid_i,
  input logic [7:0]  wdata_i,
  input logic        miso_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  flash_req_t req;
  flash_rsp_t rsp;
  assign req = '{
          valid: valid_i,
          op: op_e'(op_i),
          addr: addr_i,
          count: count_i,
          wvalid: wvalid_i,
          wdata: wdata_i
      };
  logic cs_n;
  rl_flash_cmd #(
    .EraseCycles(15),
    .ProgramCycles(7),
    .GapCycles(1)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .store_i,
    .req_i(req),
    .rsp_o(rsp),
    .cs_no(cs_n),
    .sck_o(),
    .mosi_o(),
    .miso_i
  );

  // A request holds until it is done.
  logic asked_q = 1'b0;
  logic store_q;
  logic [1:0] op_q;
  logic [23:0] addr_q, count_q;
  always_ff @(posedge clk_i) begin
    asked_q <= rst_n && valid_i && !rsp.done;
    {store_q, op_q, addr_q, count_q} <= {store_i, op_i, addr_i, count_i};
  end
  always_comb
    if (asked_q)
      assume (valid_i && store_i == store_q && op_i == op_q && addr_i == addr_q && count_i == count_q);

  // -- what the chip sees
  logic sent;
  logic [7:0] sent_byte;
  assign sent = u_dut.u_spi.valid_i && u_dut.u_spi.ready_o;
  assign sent_byte = u_dut.u_spi.data_i;
  logic [8:0] bytes_q = '0;  // Of this selection, up to 260.
  logic [24:0] read_q = '0;  // Those behind the address.
  logic [7:0] command_q = '0;
  logic [23:0] where_q = '0;
  always_ff @(posedge clk_i) begin
    if (!rst_n || cs_n) begin
      bytes_q <= '0;
      read_q <= '0;
    end else if (sent) begin
      if (bytes_q >= 4) read_q <= read_q + 1'b1;
      if (bytes_q != '1) bytes_q <= bytes_q + 1'b1;
      if (bytes_q == 0) command_q <= sent_byte;
      else if (bytes_q <= 3) where_q <= {where_q[15:0], sent_byte};
    end
  end
  logic writes, reads;
  assign writes = bytes_q != 0 && command_q inside {8'hd8, 8'h02};
  assign reads = bytes_q != 0 && command_q == 8'h03;
  logic [23:0] lowest, end_addr;
  assign lowest = !store_i ? PointerAddr : op_i == 2'd1 ? KeysAddr : VersionsAddr;
  assign end_addr = store_i ? StoreLimit : KeysAddr;

  // As there.
  localparam logic [2:0] Act = 3'd3;
  localparam logic [2:0] Idle = 3'd0, Select = 3'd1, Code = 3'd2, Addr = 3'd3, Data = 3'd4, Done = 3'd6;
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      if (sent && bytes_q == 0)
        Known_A :
        assert (sent_byte inside {8'h9f, 8'h05, 8'h06, 8'h04, 8'h30, 8'h03, 8'hd8, 8'h02});
      if (writes && bytes_q >= 4) begin
        Within_A : assert (where_q >= lowest && where_q < end_addr);
        GoldenStays_A : assert (where_q >= SecondGoldenAddr + 24'h200000 && where_q < JumpAddr);
        KeysStay_A : assert (!(where_q >= KeysAddr && where_q < VersionsAddr));
      end
      if (reads && bytes_q >= 4)
        ReadsWithin_A : assert (where_q >= lowest && 25'(where_q) + read_q <= 25'(end_addr));
      if (writes && command_q == 8'h02 && bytes_q >= 4)
        OnePage_A : assert (32'(where_q[7:0]) + 32'(bytes_q) - 32'd4 <= 32'd256);
      if (writes && command_q == 8'hd8) NothingMore_A : assert (bytes_q <= 4);
    end
  end

  // -- what induction has to know: how far the sequence is, and what of the address has gone
  logic shows;  // A byte of this state has been given and is not through yet.
  assign shows = u_dut.sent_q;
  always_comb begin
    if (rst_n) begin
      assert (u_dut.step_q <= 3'd6 && u_dut.state_q <= Done);
      assert (u_dut.u_spi.busy_q == shows);
      if (u_dut.state_q inside {Idle, Select, 3'd5, Done}) assert (!shows);
      if (u_dut.state_q != Idle) assert (asked_q);
      if (!(u_dut.state_q inside {Idle, Done}) && op_i != 2'd0)
        assert (addr_i >= lowest && addr_i < end_addr && (op_i == 2'd2 || (count_i != 0 &&
            25'(addr_i) + 25'(count_i) <= 25'(end_addr))) &&
            (op_i != 2'd3 || 32'(addr_i[7:0]) + 32'(count_i) <= 32'd256));
      if (u_dut.state_q inside {Select, Code, Addr}) assert (read_q == 0);
      if (u_dut.state_q == Select) assert (bytes_q == 0);
      if (u_dut.state_q == Code) assert (bytes_q == 9'(shows));
      if (u_dut.state_q == Code) assert (u_dut.at_q == 2'd2);
      if (u_dut.state_q inside {Code, Addr})
        assert (u_dut.left_q == (u_dut.step_q == Act ? count_i : 24'd1));
      if (u_dut.state_q == Code && shows) assert (command_q == u_dut.opcode);
      if (u_dut.state_q == Addr) begin
        assert (u_dut.step_q == Act && op_i != 2'd0 && u_dut.at_q <= 2'd2);
        assert (bytes_q == 9'd3 - 9'(u_dut.at_q) + 9'(shows) && command_q == u_dut.opcode);
        if (u_dut.at_q + 2'(!shows) == 2'd2 && bytes_q == 9'd2)
          assert (where_q[7:0] == addr_i[23:16]);
        if (bytes_q == 9'd3) assert (where_q[15:0] == addr_i[23:8]);
        if (bytes_q == 9'd4) assert (where_q == addr_i);
      end
      if (u_dut.state_q == Data) begin
        assert (bytes_q != 0 && command_q == u_dut.opcode && (u_dut.step_q != Act || op_i != 2'd2));
        assert (u_dut.step_q inside {3'd0, 3'd2, Act, 3'd4});
        if (u_dut.step_q == Act && op_i == 2'd3) begin
          assert (where_q == addr_i && bytes_q >= 4 && u_dut.left_q != 0 && u_dut.left_q <= count_i);
          assert (32'(bytes_q) == 32'd4 + 32'(count_i) - 32'(u_dut.left_q) + 32'(shows));
        end
      end
      if (u_dut.state_q == Data && u_dut.step_q == Act && op_i == 2'd1)
        assert (where_q == addr_i && bytes_q >= 4 && u_dut.left_q != 0 && u_dut.left_q <= count_i &&
                read_q + 25'(u_dut.left_q) == 25'(count_i) + 25'(shows));
      // The gap begins in the cycle in which the chip is let go.
      if (u_dut.state_q inside {Idle, 3'd5, Done} && writes) begin
        assert (where_q == addr_i || bytes_q < 4);
      end
      if (u_dut.state_q inside {Idle, 3'd5, Done} && reads)
        assert (bytes_q < 4 || (where_q == addr_i && read_q <= 25'(count_i)));
    end
  end

  logic erased_q = 1'b0, programmed_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (rst_n && rsp.done && rsp.code == CodeOk) begin
      erased_q <= erased_q || op_i == 2'd2;
      programmed_q <= programmed_q || op_i == 2'd3;
    end
    Erased_C : cover (rst_n && erased_q);
    Programmed_C : cover (rst_n && programmed_q);
  end
endmodule
