// The pointer: the page where the golden image's BOOTADDR leads, and which sends the device on to one of the slots.
//
// BOOTADDR is part of an image and cannot be chosen when it runs. So it names this page, a bitstream of its own whose
// only command is a jump. Only the golden image writes it, and it reads it back before it leaves: when power fails in
// between, the device begins at the golden image again, whatever is here.
module rl_flash_pointer
  import rl_flash_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       read_i,
  input  logic       write_i,  // Erase, and write `slot_i`, which holds.
  input  logic       slot_i,
  output logic       done_o,   // For one cycle; and in this one
  output logic [7:0] code_o,
  // As it was read last.
  output logic       valid_o,
  output logic       slot_o,

  output flash_req_t req_o,
  input  flash_rsp_t rsp_i
);
  localparam int unsigned Length = 58;

  // Byte by byte: the preamble, LSC_PROG_CNTRL0 with nothing set, and JUMP with the command for reading and an address.
  function automatic logic [7:0] content(input logic [5:0] index, input logic [23:0] target);
    unique case (index) inside
      6'd18: return 8'hbd;
      6'd19: return 8'hb3;
      6'd24: return 8'h22;
      [6'd25 : 6'd31], [6'd33 : 6'd35]: return 8'h00;
      6'd32: return 8'h7e;
      6'd36: return 8'h03;
      6'd37: return target[23:16];
      6'd38: return target[15:8];
      6'd39: return target[7:0];
      default: return 8'hff;
    endcase
  endfunction

  typedef enum logic [1:0] {
    Idle,
    Erase,
    Program,
    Read
  } state_e;
  state_e state_q;
  logic [5:0] at_q;
  logic [1:0] same_q;  // Bit n: so far it is as slot n would have it.

  assign valid_o = ^same_q;
  assign slot_o = same_q[1];
  assign done_o = state_q != Idle && rsp_i.done && (state_q != Erase || rsp_i.code != CodeOk);
  assign code_o = rsp_i.code;
  always_comb begin
    req_o = '0;
    if (state_q != Idle) begin
      req_o.valid = 1'b1;
      req_o.op = state_q == Erase ? OpErase : state_q == Program ? OpProgram : OpRead;
      req_o.addr = PointerAddr;
      req_o.count = 24'(Length);
      req_o.wvalid = state_q == Program;
      req_o.wdata = content(at_q, slot_addr(slot_i));
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      same_q <= '0;
    end else begin
      unique case (state_q)
        Idle: begin
          if (read_i) state_q <= Read;
          else if (write_i) state_q <= Erase;
          if (read_i) same_q <= '1;
          else if (write_i) same_q <= '0;
        end
        Erase: if (rsp_i.done) state_q <= rsp_i.code == CodeOk ? Program : Idle;
        Program: if (rsp_i.done) state_q <= Idle;
        default: begin
          if (rsp_i.done) state_q <= Idle;
          if (rsp_i.done && rsp_i.code != CodeOk) same_q <= '0;
          else if (rsp_i.rvalid) begin
            if (rsp_i.rdata != content(at_q, SlotAAddr)) same_q[0] <= 1'b0;
            if (rsp_i.rdata != content(at_q, SlotBAddr)) same_q[1] <= 1'b0;
          end
        end
      endcase
    end
    if (!(state_q inside {Program, Read})) at_q <= '0;
    else if (rsp_i.wready || rsp_i.rvalid) at_q <= at_q + 1'b1;
  end
endmodule : rl_flash_pointer
