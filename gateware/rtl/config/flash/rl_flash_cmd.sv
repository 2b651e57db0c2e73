// Commands to the flash, one after the other. Each is a few selections of the chip:
//
//   all              read the status until the chip is ready, for it may be at work since before a reset
//   id               9f, bytes come
//   read             03, address, bytes come
//   erase, program   06 (write enable); read the status, which has to say so; d8 or 02, address, bytes;
//                    read the status until it is done
//
// No other command is ever sent, and one that leaves what its sender may read, erase or program ends here: whatever
// went wrong elsewhere, the golden image stays, the loader never comes to the store of keys and versions, and the store
// never to anything else; keys and signers are written by nobody (gateware/formal/rl_flash_cmd). Waits have bounds.
module rl_flash_cmd
  import rl_flash_pkg::*;
#(
  parameter int unsigned Half = 2,              // As rl_spi's.
  parameter int unsigned EraseCycles = 1 << 28, // Longer than the chip takes for a sector,
  parameter int unsigned ProgramCycles = 1 << 18, // and for a page.
  // Between two selections: 50 ns are asked for, these are 100 ns and more at 75 MHz.
  parameter int unsigned GapCycles = 8,
  // Bits of the status that tell of a failure, and stay until command 30. A chip has them or has others there: 60 for
  // S25FL-S, 00 for those without.
  parameter logic [7:0] ErrorBits = 8'h60
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       store_i,  // The store of keys and versions asks, and not the loader. It holds with the request.
  input  flash_req_t req_i,
  output flash_rsp_t rsp_o,

  output logic       cs_no,
  output logic       sck_o,
  output logic       mosi_o,
  input  logic       miso_i
);
  if (ProgramCycles > EraseCycles) begin : gen_check
    $fatal(0, "rl_flash_cmd: a page takes no longer than a sector (%m)");
  end
  localparam int unsigned CyclesW = $clog2(EraseCycles + 1);

  // What a selection is for.
  typedef enum logic [2:0] {
    Ready,    // Wait until the chip is.
    Enable,
    Latched,  // Is it enabled?
    Act,
    Poll,     // Wait until it is done.
    Clear,    // A failure is forgotten,
    Disable   // and writes are disabled.
  } step_e;
  typedef enum logic [2:0] {
    Idle,
    Select,
    Code,
    Addr,
    Data,
    Gap,
    Done
  } state_e;

  state_e state_q;
  step_e step_q;
  logic [1:0] at_q;             // Of the address's bytes.
  logic [23:0] left_q;
  logic [3:0] gap_q;
  logic [CyclesW-1:0] waited_q;
  logic [7:0] status_q, code_q;

  logic writes, allowed, sends, asks, gives, busy, failed, late;
  logic [7:0] opcode, out, in;
  logic spi_ready, spi_done;

  assign writes = req_i.op == OpErase || req_i.op == OpProgram;
  // A page of 256 bytes is not left: the chip would go on at its beginning.
  logic [23:0] lowest, end_addr;
  logic [24:0] bytes;
  assign lowest = !store_i ? PointerAddr : writes ? VersionsAddr : KeysAddr;
  assign end_addr = store_i ? StoreLimit : WritableEnd;
  assign bytes = req_i.op == OpErase ? 25'd1 : 25'(req_i.count);
  always_comb begin
    allowed = req_i.addr >= lowest && bytes != '0 && 25'(req_i.addr) + bytes <= 25'(end_addr);
    if (req_i.op == OpProgram && 25'(req_i.addr[7:0]) + bytes > 25'd256) allowed = 1'b0;
    if (req_i.op == OpId) allowed = 1'b1;
  end

  assign asks = step_q inside {Ready, Latched, Poll};
  always_comb begin
    unique case (step_q)
      Ready, Latched, Poll: opcode = 8'h05;
      Enable: opcode = 8'h06;
      Clear: opcode = 8'h30;
      Disable: opcode = 8'h04;
      default: begin
        unique case (req_i.op)
          OpId: opcode = 8'h9f;
          OpRead: opcode = 8'h03;
          OpErase: opcode = 8'hd8;
          default: opcode = 8'h02;
        endcase
      end
    endcase
  end
  // One byte after the other: the next is offered when the one before is through.
  logic sent_q;
  assign gives = state_q == Data && step_q == Act && req_i.op == OpProgram;
  assign sends = !sent_q && (state_q inside {Code, Addr} || (state_q == Data && (!gives || req_i.wvalid)));
  always_comb begin
    unique case (state_q)
      Code: out = opcode;
      Addr: out = req_i.addr[{at_q, 3'd0}+:8];
      default: out = gives ? req_i.wdata : 8'hff;
    endcase
  end
  assign rsp_o.wready = gives && sends && spi_ready;
  assign rsp_o.rvalid = state_q == Data && step_q == Act && !gives && spi_done;
  assign rsp_o.rdata = in;
  assign rsp_o.done = state_q == Done;
  assign rsp_o.code = code_q;

  assign busy = status_q[0];
  assign failed = (status_q & ErrorBits) != '0;
  assign late = waited_q == '0;

  rl_spi #(
    .Half(Half)
  ) u_spi (
    .clk_i,
    .rst_ni,
    .select_i(state_q inside {Select, Code, Addr, Data}),
    .valid_i(sends),
    .ready_o(spi_ready),
    .data_i(out),
    .done_o(spi_done),
    .data_o(in),
    .cs_no,
    .sck_o,
    .mosi_o,
    .miso_i
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      step_q <= Ready;
      sent_q <= 1'b0;
      code_q <= CodeOk;
    end else begin
      if (sends && spi_ready) sent_q <= 1'b1;
      else if (spi_done) sent_q <= 1'b0;
      unique case (state_q)
        Idle: begin
          step_q <= Ready;
          code_q <= CodeOk;
          if (req_i.valid) begin
            state_q <= allowed ? Select : Done;
            if (!allowed) code_q <= CodeBounds;
          end
        end
        Select: state_q <= Code;
        Code: begin
          if (spi_done) begin
            if (asks || (step_q == Act && req_i.op == OpId)) state_q <= Data;
            else state_q <= step_q == Act ? Addr : Gap;
          end
        end
        Addr: if (spi_done && at_q == '0) state_q <= req_i.op == OpErase ? Gap : Data;
        Data: if (spi_done && left_q == 24'd1) state_q <= Gap;
        Gap: begin
          if (gap_q == '0) begin
            state_q <= Select;
            unique case (step_q)
              Ready: begin
                // An old failure is nobody's now.
                if (failed) step_q <= late ? Disable : Clear;
                else if (!busy) step_q <= writes ? Enable : Act;
                else if (late) step_q <= Disable;
                if (late && (busy || failed)) code_q <= CodeBusy;
              end
              Enable: step_q <= Latched;
              Latched: begin
                step_q <= Act;
                if (!status_q[1]) begin
                  step_q <= Disable;
                  code_q <= CodeProtected;
                end
              end
              Act: begin
                if (writes) step_q <= Poll;
                else state_q <= Done;
              end
              Poll: begin
                if (failed) begin
                  step_q <= Clear;
                  code_q <= req_i.op == OpErase ? CodeEraseFailed : CodeProgramFailed;
                end else if (!busy) begin
                  state_q <= Done;
                end else if (late) begin
                  step_q <= Disable;
                  code_q <= req_i.op == OpErase ? CodeEraseTimeout : CodeProgramTimeout;
                end
              end
              Clear: step_q <= code_q == CodeOk ? Ready : Disable;
              default: state_q <= Done;
            endcase
          end
        end
        default: state_q <= Idle;
      endcase
    end

    if (state_q == Select) at_q <= 2'd2;
    else if (state_q == Addr && spi_done) at_q <= at_q - 1'b1;
    if (state_q == Select) left_q <= step_q == Act ? req_i.count : 24'd1;
    else if (state_q == Data && spi_done) left_q <= left_q - 1'b1;
    gap_q <= state_q == Gap ? gap_q - 1'b1 : 4'(GapCycles);
    if (asks && state_q == Data && spi_done) status_q <= in;
    // It goes on through both waits of a command; the second begins with the write.
    if (state_q == Idle) waited_q <= CyclesW'(EraseCycles);
    else if (step_q == Act) waited_q <= CyclesW'(req_i.op == OpErase ? EraseCycles : ProgramCycles);
    else if (!late) waited_q <= waited_q - 1'b1;
  end

`ifndef SYNTHESIS
  Holds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
    req_i.valid && !rsp_o.done |=> req_i.valid && $stable(
      {store_i, req_i.op, req_i.addr, req_i.count}
  ));
`endif
endmodule : rl_flash_cmd
