// A small RV32I processor for the shell's firmware: no privileges, no interrupts, no CSRs.
//
// Two cycles an instruction, more for some:
//
//   StRead  reads the operands of the instruction `ir_q`, and fetches the next one;
//   StExec  computes, writes the result, and takes the next instruction. A branch fetches its
//           target before it is known whether it is taken; jumps fetch theirs, loads their data.
//   StJump  takes the target's instruction: 3 cycles for jumps and taken branches.
//   StLoad  takes what a load reads. Its register is written in StRead of the next instruction,
//           which is repeated if it needs it: 3 or 4 cycles.
//   A store writes in StRead of the next instruction, which waits if it is not to RAM. A shift stays
//   in StExec, for 4 bits a cycle and then 1.
//
// What RV32I calls an exception, and what leads out of the address map, stops it: `fault_o`.
// So do bytes and halves outside of RAM. FENCE does nothing.
module rl_cpu #(
  parameter int unsigned RamWords = 8192,  // A power of two.
  localparam int unsigned RamAddrW = $clog2(RamWords)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // RAM, from address 0 on.
  output logic                ram_re_o,
  output logic [RamAddrW-1:0] ram_raddr_o,
  input  logic [31:0]         ram_rdata_i,  // A cycle after ram_re_o, until the next.
  output logic [3:0]          ram_we_o,     // Bytes to write.
  output logic [RamAddrW-1:0] ram_waddr_o,
  output logic [31:0]         ram_wdata_o,

  // Everything else, in whole words, from address 2^28 to 2^31 - 1. Stable until ready.
  output logic                io_load_o,    // A load of whatever kind, which may turn out not to be valid.
  output logic                io_valid_o,
  output logic                io_write_o,
  output logic [31:0]         io_addr_o,
  output logic [31:0]         io_wdata_o,
  input  logic                io_ready_i,
  input  logic [31:0]         io_rdata_i,   // The cycle after io_ready_i. 0 in all others.

  output logic                fault_o       // Stopped, until reset.
);
  if (RamWords < 4 || RamWords != 1 << RamAddrW) begin : gen_check
    $fatal(0, "rl_cpu: RamWords must be a power of two (%m)");
  end
  localparam int unsigned ByteW = RamAddrW + 2;

  typedef enum logic [4:0] {
    OpLoad   = 5'b00000,
    OpFence  = 5'b00011,
    OpImm    = 5'b00100,
    OpAuipc  = 5'b00101,
    OpStore  = 5'b01000,
    OpReg    = 5'b01100,
    OpLui    = 5'b01101,
    OpBranch = 5'b11000,
    OpJalr   = 5'b11001,
    OpJal    = 5'b11011
  } opcode_e;

  typedef enum logic [2:0] {
    StRead,
    StExec,
    StJump,
    StLoad,
    StFault
  } state_e;
  state_e state_q;

  logic [31:0] ir_q;
  // In words. In StExec pc_q is that of the instruction behind.
  logic [RamAddrW-1:0] pc_q, target_q;

  // What the instruction in StExec is; valid until the next one is there.
  logic is_load_q, is_store_q, is_branch_q, is_jump_q, is_shift_q, illegal_q;
  logic [4:0] rd_q;
  logic [2:0] funct3_q;
  logic [31:0] op_a_q, op_b_q, rs2_q;  // op_b_q: inverted to subtract.
  logic [31:0] addr_q;        // Where a load or store goes, or a jump went.
  logic store_q;              // In StRead: the last instruction was a store.
  logic loaded_q;             // In StRead: the last instruction was a load,
  logic loaded_ram_q;         // of RAM,
  logic needed_q;             // and this one needs its register. Named by chance, it waits too.

  // -- StRead: decode
  opcode_e opcode;
  logic [2:0] funct3;
  logic is_alu, is_shift, imm_operand, subtracts, writes, illegal;
  assign opcode = opcode_e'(ir_q[6:2]);
  assign funct3 = ir_q[14:12];
  assign is_alu = opcode inside {OpImm, OpReg};
  assign is_shift = is_alu && funct3[1:0] == 2'b01;
  assign imm_operand = !(opcode inside {OpReg, OpBranch});
  assign subtracts = opcode == OpBranch || (is_alu && funct3[2:1] == 2'b01) ||
      (opcode == OpReg && funct3 == 3'd0 && ir_q[30]);
  assign writes = opcode inside {OpImm, OpReg, OpLui, OpAuipc, OpJal, OpJalr};

  // In ir_q[31:25]: 0, or 0x20 for what has two forms.
  logic plain, alternative;
  assign plain = ir_q[31:25] == 7'h00;
  assign alternative = ir_q[31:25] == 7'h20;
  always_comb begin
    unique case (opcode)
      OpLui, OpAuipc: illegal = 1'b0;
      OpFence: illegal = funct3 != 3'd0;
      OpJal: illegal = ir_q[21];  // The target is no word.
      OpJalr: illegal = funct3 != 3'd0;
      OpBranch: illegal = funct3[2:1] == 2'b01 || ir_q[8];
      OpLoad: illegal = funct3 inside {3'd3, 3'd6, 3'd7};
      OpStore: illegal = funct3 > 3'd2;
      OpImm: illegal = is_shift && !plain && !(alternative && funct3[2]);
      OpReg: illegal = !plain && !(alternative && funct3 inside {3'd0, 3'd5});
      default: illegal = 1'b1;
    endcase
    if (ir_q[1:0] != 2'b11) illegal = 1'b1;
  end

  logic [31:0] imm;
  always_comb begin
    unique case (opcode)
      OpLui, OpAuipc: imm = {ir_q[31:12], 12'd0};
      OpJal: imm = {{12{ir_q[31]}}, ir_q[19:12], ir_q[20], ir_q[30:21], 1'b0};
      OpStore: imm = {{21{ir_q[31]}}, ir_q[30:25], ir_q[11:7]};
      default: imm = {{21{ir_q[31]}}, ir_q[30:20]};
    endcase
  end

  // A branch's target; what leads out of RAM comes in again at its other end.
  logic signed [10:0] branch_words;
  assign branch_words = {ir_q[31], ir_q[7], ir_q[30:25], ir_q[11:9]};

  // -- registers; x0 is written once, with 0, after reset
  logic rf_we;
  logic [31:0] rf_wdata, rs1, rs2;
  rl_lutram #(
    .Width(32),
    .Depth(32)
  ) u_rs1 (
    .clk_i,
    .we_i(rf_we),
    .waddr_i(rd_q),
    .wdata_i(rf_wdata),
    .raddr_i(ir_q[19:15]),
    .rdata_o(rs1)
  );
  rl_lutram #(
    .Width(32),
    .Depth(32)
  ) u_rs2 (
    .clk_i,
    .we_i(rf_we),
    .waddr_i(rd_q),
    .wdata_i(rf_wdata),
    .raddr_i(ir_q[24:20]),
    .rdata_o(rs2)
  );

  // -- StExec: compute
  logic writes_q, sub_q, unsigned_q, sum_q, slt_q, left_q, arithmetic_q;
  typedef enum logic [1:0] {
    LogicXor,
    LogicNone,
    LogicOr,
    LogicAnd
  } logic_e;
  logic_e logic_q;
  logic [31:0] sum, bits;
  logic less, equal, taken, shifting;
  logic [4:0] shamt_q;
  assign sum = op_a_q + op_b_q + 32'(sub_q);
  assign less = op_a_q[31] != op_b_q[31] ? sum[31] : unsigned_q ? !op_b_q[31] : op_a_q[31];
  assign equal = op_a_q == rs2_q;
  assign taken = is_branch_q && ((funct3_q[2] ? less : equal) ^ funct3_q[0]);
  assign shifting = is_shift_q && shamt_q != 5'd0;
  always_comb begin
    unique case (logic_q)
      LogicXor: bits = op_a_q ^ op_b_q;
      LogicOr: bits = op_a_q | op_b_q;
      LogicAnd: bits = op_a_q & op_b_q;
      LogicNone: bits = 32'd0;
    endcase
  end

  // -- after StExec: memory
  logic in_ram, in_io, misaligned, astray, mem;
  assign in_io = addr_q[31:28] != 4'd0;
  assign in_ram = addr_q[31:ByteW] == '0;
  assign misaligned = (funct3_q[0] && addr_q[0]) || (funct3_q[1] && addr_q[1:0] != 2'd0);
  assign mem = state_q == StLoad || store_q;
  assign astray = misaligned || (in_io ? addr_q[31] || !funct3_q[1] : !in_ram);

  assign io_load_o = state_q == StLoad;
  assign io_valid_o = mem && in_io && !astray;
  assign io_write_o = store_q;
  assign io_addr_o = addr_q;
  assign io_wdata_o = rs2_q;

  assign ram_waddr_o = addr_q[ByteW-1:2];
  // Bytes and halves in all lanes.
  assign ram_wdata_o = {funct3_q[1] ? rs2_q[31:16] : funct3_q[0] ? rs2_q[15:0] : {2{rs2_q[7:0]}},
                        funct3_q[1:0] == 2'd0 ? rs2_q[7:0] : rs2_q[15:8], rs2_q[7:0]};
  // Bytes of the word, none if it is not aligned; made ready when the address is.
  logic [3:0] strobe, strobe_q;
  logic [3:0] size_place;
  assign size_place = {funct3_q[1:0], sum[1:0]};
  always_comb begin
    unique case (size_place)
      4'b0000: strobe = 4'b0001;
      4'b0001: strobe = 4'b0010;
      4'b0010: strobe = 4'b0100;
      4'b0011: strobe = 4'b1000;
      4'b0100: strobe = 4'b0011;
      4'b0110: strobe = 4'b1100;
      4'b1000: strobe = 4'b1111;
      default: strobe = 4'b0000;
    endcase
  end
  assign ram_we_o = strobe_q & {4{store_q && in_ram}};

  // What a load has read of RAM, in its place and extended; 0 when there was none.
  logic [31:0] word_q, extended;
  logic [15:0] half;
  logic [7:0] low;
  logic sign;
  assign half = addr_q[1] ? word_q[31:16] : word_q[15:0];
  assign low = addr_q[0] ? half[15:8] : half[7:0];
  assign sign = !funct3_q[2] && (funct3_q[0] ? half[15] : low[7]);
  assign extended[7:0] = loaded_ram_q ? low : 8'd0;
  assign extended[15:8] = !loaded_ram_q ? 8'd0 : funct3_q[1:0] == 2'd0 ? {8{sign}} : half[15:8];
  assign extended[31:16] = !loaded_ram_q ? 16'd0 : funct3_q[1] ? word_q[31:16] : {16{sign}};

  // -- write back: of StExec, or of a load
  logic read_done, exec_done;
  assign rf_we = writes_q && !illegal_q && ((exec_done && !is_load_q) || loaded_q);
  always_comb begin
    rf_wdata = (sum_q ? sum : bits) | extended | io_rdata_i;
    if (slt_q) rf_wdata[0] = less;
    if (is_jump_q) rf_wdata[ByteW-1:2] = pc_q;
  end

  // -- the first operand, or it, shifted: gates, which are smaller than a multiplexer by number
  logic by_four, in_read, in_exec;
  logic [31:0] op_a;
  logic [3:0] ones;
  assign by_four = shamt_q[4:2] != 3'd0;
  assign in_read = state_q == StRead;
  assign in_exec = state_q == StExec;
  assign ones = {4{arithmetic_q && op_a_q[31]}};
  assign op_a =
      ({32{in_read && !(opcode inside {OpLui, OpAuipc, OpJal})}} & rs1) |
      ({32{in_read && opcode inside {OpAuipc, OpJal}}} & 32'({pc_q, 2'b00})) |
      ({32{in_exec && !left_q && !by_four}} & {ones[0], op_a_q[31:1]}) |
      ({32{in_exec && left_q && !by_four}} & {op_a_q[30:0], 1'b0}) |
      ({32{in_exec && !left_q && by_four}} & {ones, op_a_q[31:4]}) |
      ({32{in_exec && left_q && by_four}} & {op_a_q[27:0], 4'd0});

  // -- progress
  assign read_done = state_q == StRead && !(store_q && in_io && !io_ready_i) && !needed_q;
  assign exec_done = state_q == StExec && !shifting;

  assign ram_re_o = state_q == StRead || (state_q == StExec && (is_branch_q || is_jump_q || is_load_q));
  always_comb begin
    if (state_q == StRead) ram_raddr_o = pc_q + 1'b1;
    else if (is_branch_q) ram_raddr_o = target_q;
    else ram_raddr_o = sum[ByteW-1:2];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      // As if there were a jump to 0 with x0 as its link.
      state_q <= StExec;
      pc_q <= '0;
      {is_load_q, is_store_q, is_branch_q, is_shift_q, illegal_q} <= '0;
      is_jump_q <= 1'b1;
      writes_q <= 1'b1;
      {sub_q, sum_q, slt_q} <= '0;
      logic_q <= LogicNone;
      rd_q <= '0;
      op_a_q <= '0;
      op_b_q <= '0;
      // One bit of each register's number: if all bits were alike, synthesis would take ir_q apart to
      // make address registers of the register file's own, with more logic behind RAM.
      {ir_q[20], ir_q[15]} <= '0;
      store_q <= 1'b0;
      loaded_q <= 1'b0;
      loaded_ram_q <= 1'b0;
      needed_q <= 1'b0;
    end else begin
      store_q <= store_q && in_io && !io_ready_i;
      loaded_q <= 1'b0;
      loaded_ram_q <= 1'b0;
      needed_q <= 1'b0;
      if (read_done || (in_exec && shifting)) op_a_q <= op_a;
      if (exec_done || state_q == StJump) begin
        {ir_q[20], ir_q[15]} <= {ram_rdata_i[20], ram_rdata_i[15]};
      end
      // In StJump the address is still the target's.
      if (read_done || state_q == StJump) pc_q <= ram_raddr_o;

      unique case (state_q)
        StRead:
        if (read_done) begin
          state_q <= StExec;
          is_load_q <= opcode == OpLoad;
          is_store_q <= opcode == OpStore;
          is_branch_q <= opcode == OpBranch;
          is_jump_q <= opcode inside {OpJal, OpJalr};
          is_shift_q <= is_shift;
          illegal_q <= illegal;
          writes_q <= (writes || opcode == OpLoad) && ir_q[11:7] != 5'd0;
          sub_q <= subtracts;
          // A load's address is not its result.
          sum_q <= is_alu ? funct3 == 3'd0 || is_shift : opcode inside {OpLui, OpAuipc};
          slt_q <= is_alu && funct3[2:1] == 2'b01;
          logic_q <= is_alu && funct3[2] ? logic_e'(funct3[1:0]) : LogicNone;
          rd_q <= ir_q[11:7];
          op_b_q <= is_shift ? 32'd0 : (imm_operand ? imm : rs2) ^ {32{subtracts}};
        end
        StExec: begin
          if (!shifting) begin
            state_q <= illegal_q ? StFault : is_load_q ? StLoad : taken || is_jump_q ? StJump : StRead;
            store_q <= is_store_q && !illegal_q;
          end
        end
        StJump: state_q <= is_jump_q && (!in_ram || addr_q[1]) ? StFault : StRead;
        StLoad: if (!in_io || io_ready_i) begin
          state_q <= StRead;
          loaded_q <= !astray;
          loaded_ram_q <= !astray && !in_io;
          needed_q <= ir_q[19:15] == rd_q || ir_q[24:20] == rd_q;
        end
        default: ;
      endcase
      if (mem && astray) state_q <= StFault;
    end
  end

  // What needs no reset.
  always_ff @(posedge clk_i) begin
    if (exec_done || state_q == StJump) begin
      {ir_q[31:21], ir_q[19:16], ir_q[14:0]} <= {
        ram_rdata_i[31:21], ram_rdata_i[19:16], ram_rdata_i[14:0]
      };
    end
    if (exec_done) begin
      addr_q <= sum;
      strobe_q <= strobe;
    end
    if (state_q == StLoad) word_q <= ram_rdata_i;
    if (read_done) begin
      funct3_q <= funct3;
      unsigned_q <= opcode == OpBranch ? funct3[1] : funct3[0];
      left_q <= !funct3[2];
      arithmetic_q <= ir_q[30];
      target_q <= pc_q + RamAddrW'(branch_words);
      shamt_q <= imm_operand ? ir_q[24:20] : rs2[4:0];
      rs2_q <= rs2;
    end else if (state_q == StExec) begin
      shamt_q <= by_four ? {shamt_q[4:2] - 3'd1, shamt_q[1:0]} : shamt_q - 5'd1;
    end
  end
  assign fault_o = state_q == StFault;

`ifndef SYNTHESIS
  RequestIsStable_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
    io_valid_o && !io_ready_i |=> io_valid_o && $stable(
      {io_write_o, io_addr_o, io_wdata_o}
  ));
  ZeroIsZero_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) rf_we && rd_q == '0 |-> rf_wdata == '0);
  FaultStays_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) fault_o |=> fault_o);
`endif
endmodule
