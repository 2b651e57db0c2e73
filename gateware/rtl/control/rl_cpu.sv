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
  logic is_load_q, is_store_q, is_branch_q, is_jump_q, illegal_q;
  logic [4:0] rd_q;
  logic [2:0] funct3_q;
  logic [31:0] op_a_q, op_b_q, rs2_q;  // op_b_q: inverted to subtract.
  logic [31:0] addr_q;        // Where a load or store goes, or a jump went.
  logic store_q;              // In StRead: the last instruction was a store.
  logic loaded_q;             // In StRead: the last instruction was a load,
  logic needed_q;             // and this one needs its register. Named by chance, it waits too.

  // -- StRead: decode
  opcode_e opcode;
  logic [2:0] funct3;
  logic illegal;
  assign opcode = opcode_e'(ir_q[6:2]);
  assign funct3 = ir_q[14:12];
  // As far as legal opcodes differ: the others have no effect.
  logic is_load, is_store, is_branch, is_jump, is_jal, is_upper, is_alu, is_reg, is_shift, is_logic;
  logic imm_operand, subtracts, writes;
  assign is_load = ir_q[5:3] == 3'b000;
  assign is_store = ir_q[6:4] == 3'b010;
  assign is_branch = ir_q[6] && !ir_q[2];
  assign is_jump = ir_q[6] && ir_q[2];
  assign is_jal = ir_q[3];                // Or FENCE, which writes nothing.
  assign is_upper = ir_q[4] && ir_q[2];   // LUI, or AUIPC if not ir_q[5].
  assign is_alu = ir_q[4] && !ir_q[2];
  assign is_reg = is_alu && ir_q[5];
  assign is_shift = is_alu && funct3[1:0] == 2'b01;
  assign is_logic = is_alu && funct3[2] && !is_shift;
  assign imm_operand = !is_reg && !is_branch;
  assign subtracts = is_branch || (is_alu && funct3[2:1] == 2'b01) ||
      (is_reg && funct3 == 3'd0 && ir_q[30]);
  assign writes = ir_q[4] || is_jump || is_load;

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
    imm = {{21{ir_q[31]}}, ir_q[30:20]};
    if (is_store) imm[4:0] = ir_q[11:7];
    if (is_jal) {imm[19:11], imm[0]} = {ir_q[19:12], ir_q[20], 1'b0};
    if (is_upper) imm = {ir_q[31:12], 12'd0};
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

  logic [31:0] operand;
  assign operand = (imm_operand ? imm : rs2) ^ {32{subtracts}};

  // -- StExec: compute
  logic writes_q, sub_q, unsigned_q, sum_q, slt_q, arithmetic_q;
  logic [31:0] sum;
  logic less, equal, taken, shifting;
  // What a shift does in this cycle, by 4 bits or 1, a bit for each. All are 0 when there is none left to do.
  typedef struct packed {
    logic four;
    logic one;
  } steps_t;
  steps_t step, left_q, right_q;
  logic [4:0] shamt_q;
  assign sum = op_a_q + op_b_q + 32'(sub_q);
  assign less = op_a_q[31] != op_b_q[31] ? sum[31] : unsigned_q ? !op_b_q[31] : op_a_q[31];
  // What takes no carry, by a code of two bits, so that each bit of it is one gate of four inputs.
  typedef enum logic [1:0] {
    MixNone,
    MixXor,
    MixOr,
    MixAnd
  } mix_e;
  logic [1:0] mix, mix_q;
  logic [31:0] mixed;
  assign mix = !is_logic ? (is_branch ? MixXor : MixNone) :
      funct3[1] ? {1'b1, funct3[0]} : MixXor;
  assign mixed = mix_q[1] ? (mix_q[0] ? op_a_q & op_b_q : op_a_q | op_b_q) :
      (op_a_q ^ op_b_q) & {32{mix_q[0]}};
  // A branch's second operand is inverted.
  assign equal = mixed == '1;
  assign taken = is_branch_q && ((funct3_q[2] ? less : equal) ^ funct3_q[0]);
  assign shifting = left_q != '0 || right_q != '0;

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
  logic is_byte, is_word;
  assign is_byte = funct3_q[1:0] == 2'd0;
  assign is_word = funct3_q[1];
  assign ram_wdata_o[7:0] = rs2_q[7:0];
  assign ram_wdata_o[15:8] = is_byte ? rs2_q[7:0] : rs2_q[15:8];
  assign ram_wdata_o[23:16] = is_word ? rs2_q[23:16] : rs2_q[7:0];
  assign ram_wdata_o[31:24] = is_word ? rs2_q[31:24] : ram_wdata_o[15:8];
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

  // What a load has read of RAM, in its place: registers for each place that a byte may come from, of
  // which all that are not it are 0. All are 0 if the last instruction was no load of RAM.
  logic [3:0][7:0] low_q;
  logic [1:0][7:0] middle_q;
  logic [15:0] high_q;
  logic ram_load;
  assign ram_load = state_q == StLoad && !in_io;
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      low_q[i] <= ram_load && addr_q[1:0] == 2'(i) ? ram_rdata_i[8*i+:8] : '0;
    end
    for (int unsigned i = 0; i < 2; i++) begin
      middle_q[i] <= ram_load && !is_byte && addr_q[1] == 1'(i) ? ram_rdata_i[16*i+8+:8] : '0;
    end
    high_q <= ram_load && is_word ? ram_rdata_i[31:16] : '0;
  end
  logic [31:0] extended;
  logic [7:0] low, middle;
  logic sign;
  assign low = low_q[0] | low_q[1] | low_q[2] | low_q[3];
  assign middle = middle_q[0] | middle_q[1];
  assign sign = !funct3_q[2] && !is_word && (is_byte ? low[7] : middle[7]);
  assign extended = {high_q | {16{sign}}, middle | {8{sign && is_byte}}, low};

  // -- write back: of StExec, or of a load
  logic read_done, exec_done;
  assign rf_we = writes_q && !illegal_q && ((exec_done && !is_load_q) || loaded_q);
  always_comb begin
    rf_wdata = mixed | (sum & {32{sum_q}}) | extended | io_rdata_i;
    rf_wdata[0] |= slt_q && less;
    rf_wdata[ByteW-1:2] |= pc_q & {RamAddrW{is_jump_q}};
  end

  // -- the first operand, or it, shifted: gates, which are smaller than a multiplexer by number
  logic in_exec, from_rs1, from_pc;
  logic [31:0] op_a;
  logic [3:0] ones;
  assign in_exec = state_q == StExec;
  assign ones = {4{arithmetic_q && op_a_q[31]}};
  assign from_pc = !in_exec && (is_jal || (is_upper && !ir_q[5]));
  assign from_rs1 = !in_exec && !is_jal && !is_upper;
  assign op_a =
      ({32{from_rs1}} & rs1) |
      ({32{from_pc}} & 32'({pc_q, 2'b00})) |
      ({32{right_q.one}} & {ones[0], op_a_q[31:1]}) |
      ({32{left_q.one}} & {op_a_q[30:0], 1'b0}) |
      ({32{right_q.four}} & {ones, op_a_q[31:4]}) |
      ({32{left_q.four}} & {op_a_q[27:0], 4'd0});
  // The next step: of what is left after this one, or the first.
  logic [4:0] shamt;
  always_comb begin
    shamt = operand[4:0] & {5{is_shift}};
    if (in_exec && (left_q.four || right_q.four)) shamt = {shamt_q[4:2] - 3'd1, shamt_q[1:0]};
    else if (in_exec) shamt = {3'd0, shamt_q[1:0] - 2'(shamt_q[1:0] != 2'd0)};
    step.four = shamt[4:2] != 3'd0;
    step.one = !step.four && shamt[1:0] != 2'd0;
  end

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
      {is_load_q, is_store_q, is_branch_q, illegal_q} <= '0;
      {left_q, right_q} <= '0;
      is_jump_q <= 1'b1;
      writes_q <= 1'b1;
      {sub_q, sum_q, slt_q, mix_q} <= '0;
      rd_q <= '0;
      op_a_q <= '0;
      // One bit of each register's number: if all bits were alike, synthesis would take ir_q apart to
      // make address registers of the register file's own, with more logic behind RAM.
      {ir_q[20], ir_q[15]} <= '0;
      store_q <= 1'b0;
      loaded_q <= 1'b0;
      needed_q <= 1'b0;
    end else begin
      store_q <= store_q && in_io && !io_ready_i;
      loaded_q <= 1'b0;
      needed_q <= 1'b0;
      if (read_done || shifting) begin
        op_a_q <= op_a;
        left_q <= step & {2{!ir_q[14]}};
        right_q <= step & {2{ir_q[14]}};
      end
      if (exec_done || state_q == StJump) begin
        {ir_q[20], ir_q[15]} <= {ram_rdata_i[20], ram_rdata_i[15]};
      end
      // In StJump the address is still the target's.
      if (read_done || state_q == StJump) pc_q <= ram_raddr_o;

      unique case (state_q)
        StRead:
        if (read_done) begin
          state_q <= StExec;
          is_load_q <= is_load;
          is_store_q <= is_store;
          is_branch_q <= is_branch;
          is_jump_q <= is_jump;
          illegal_q <= illegal;
          writes_q <= writes && ir_q[11:7] != 5'd0;
          sub_q <= subtracts;
          // A load's address is not its result.
          sum_q <= is_alu ? funct3 == 3'd0 || is_shift : is_upper;
          mix_q <= mix;
          slt_q <= is_alu && funct3[2:1] == 2'b01;
          rd_q <= ir_q[11:7];
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
          needed_q <= ir_q[19:15] == rd_q || ir_q[24:20] == rd_q;
        end
        default: ;
      endcase
      if (mem && astray) state_q <= StFault;
    end
  end

  // A shift adds nothing. In this form both are the flip-flops' reset.
  always_ff @(posedge clk_i) begin
    if (!rst_ni || (read_done && is_shift)) op_b_q <= '0;
    else if (read_done) op_b_q <= operand;
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
    if (read_done) begin
      funct3_q <= funct3;
      unsigned_q <= is_branch ? funct3[1] : funct3[0];
      arithmetic_q <= ir_q[30];
      target_q <= pc_q + RamAddrW'(branch_words);
      rs2_q <= rs2;
    end
    if (read_done || shifting) shamt_q <= shamt;
  end
  assign fault_o = state_q == StFault;

`ifndef SYNTHESIS
  RequestIsStable_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
    io_valid_o && !io_ready_i |=> io_valid_o && $stable(
      {io_write_o, io_addr_o, io_wdata_o}
  ));
  always_ff @(posedge clk_i)
    if (rst_ni && rf_we && rd_q == '0)
      ZeroIsZero_A : assert (rf_wdata == '0);
  FaultStays_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) fault_o |=> fault_o);
`endif
endmodule
