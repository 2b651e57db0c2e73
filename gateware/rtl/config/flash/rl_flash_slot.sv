// Takes the words of an image's part from the configuration port and puts its bitstream into a slot of the flash.
//
// The part is the one that rl_region_receiver describes: 22 words of head, data, and the CRC-32 of all before it. The
// data is the bitstream. The head is judged before anything is written. Then the slot is opened: the records say that
// it holds nothing, before its first sector is erased. Sectors are erased as the data reaches them, and that of the
// page behind it. When the last word was right, the slot is closed: what it holds is read and compared, and only then
// do the records say that it holds an image.
//
// What has begun at the flash goes on to its end, so a stop, or a start in the midst of things, may have to wait for
// it.
module rl_flash_slot
  import rl_flash_pkg::*;
  import rl_part_pkg::*;
#(
  parameter logic [15:0] Roles = 16'hfffe  // Bit n: an image of the role with id n is taken.
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The configuration port's, as config_req_t and config_rsp_t have them.
  input  logic        start_i,
  input  logic        stop_i,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] data_i,
  output logic        done_o,
  output logic        error_o,
  output logic [7:0]  code_o,

  // Each request holds until it is answered; `code_i` tells how.
  output logic        open_o,
  output logic        close_o,
  input  logic        answer_i,
  input  logic [7:0]  code_i,
  input  logic        slot_i,    // Which slot. It holds while busy.
  output logic        busy_o,
  output logic        cancel_o,  // Nobody wants it any more: a request is to be answered, and nothing recorded.
  output logic [23:0] length_o,  // With a request to close: bytes, their CRC-32, and the role.
  output logic [31:0] check_o,
  output logic [15:0] role_o,

  output flash_req_t  req_o,
  input  flash_rsp_t  rsp_i
);
  logic unused;
  assign unused = ^{rsp_i.rvalid, rsp_i.rdata};
  localparam int unsigned PageBytes = 256;

  typedef enum logic [3:0] {
    Idle,
    Head,
    Open,
    Next,     // A page, after what is to be erased before it.
    Erase,
    Program,
    Check,    // The last word.
    Close,
    Leave     // The page is filled, and nothing more.
  } state_e;
  state_e state_q;
  logic full_q, again_q, abandoned_q, takes, moves, in_data, fails;
  logic [4:0] head_q;            // Words of the head that came.
  logic [1:0] byte_q;
  logic [31:0] word_q, part_crc_q, data_crc_q;
  logic [23:0] at_q, length_q;  // Bytes of the data.
  logic [24:0] erased_q;         // So many are erased.
  logic [15:0] role_q;
  logic [7:0] wrong;

  assign takes = valid_i && ready_o;
  assign ready_o = !full_q && state_q inside {Head, Program, Check} && !(state_q == Program && at_q == length_q);
  assign in_data = state_q == Program || state_q == Leave;
  assign busy_o = state_q != Idle;
  assign cancel_o = abandoned_q;
  assign open_o = state_q == Open;
  assign close_o = state_q == Close;
  assign length_o = length_q;
  assign check_o = ~data_crc_q;
  assign role_o = role_q;
  // A byte of the word is used. The last word's are none of the part.
  assign moves = full_q && ((state_q == Head) || (state_q == Program && rsp_i.wready));

  // What is wrong with a word as it comes.
  logic [30:0] data_bytes;
  assign data_bytes = {words_of(data_i[27:0]) - WordsBesideData, 2'd0};
  always_comb begin
    wrong = CodeOk;
    if (state_q == Head) begin
      wrong = head_code(29'(head_q), data_i, Roles);
      if (wrong == CodeOk && 29'(head_q) == LengthAt && data_bytes > 31'(ImageBytes))
        wrong = CodeLarge;
    end else if (state_q == Check && data_i != ~part_crc_q) begin
      wrong = CodeCheck;
    end
  end
  assign fails = takes && wrong != CodeOk;

  // -- the flash
  logic [23:0] page_left;
  assign page_left = length_q - at_q > 24'(PageBytes) ? 24'(PageBytes) : length_q - at_q;
  logic [23:0] count_q, addr_q;
  always_comb begin
    req_o = '0;
    if (state_q == Erase) begin
      req_o.valid = 1'b1;
      req_o.op = OpErase;
      req_o.addr = slot_addr(slot_i) + erased_q[23:0];
    end else if (in_data) begin
      req_o.valid = 1'b1;
      req_o.op = OpProgram;
      req_o.addr = addr_q;
      req_o.count = count_q;
      req_o.wvalid = state_q == Leave || full_q;
      req_o.wdata = state_q == Leave ? 8'hff : word_q[31:24];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      full_q <= 1'b0;
      again_q <= 1'b0;
      abandoned_q <= 1'b0;
      done_o <= 1'b0;
      error_o <= 1'b0;
      code_o <= '0;
    end else begin
      if (takes && state_q != Check) full_q <= 1'b1;
      else if (moves && byte_q == 2'd3) full_q <= 1'b0;
      unique case (state_q)
        Idle: begin
          abandoned_q <= 1'b0;
          full_q <= 1'b0;
          again_q <= 1'b0;
          if (again_q) state_q <= Head;
        end
        Head: if (moves && byte_q == 2'd3 && head_q == HeadWords) state_q <= Open;
        Open: if (answer_i) state_q <= code_i == CodeOk ? Next : Idle;
        Next: begin
          if (at_q == length_q) state_q <= 25'(name_offset(length_q)) < erased_q ? Check : Erase;
          else state_q <= 25'(at_q) < erased_q ? Program : Erase;
        end
        // All of the unit, before the first page of it: a larger sector is erased more than once.
        Erase: if (rsp_i.done && (rsp_i.code != CodeOk || erased_q[UnitW-1:SectorW] == '1)) state_q <= Next;
        Program: if (rsp_i.done) state_q <= Next;
        Check: if (takes) state_q <= Close;
        Close: begin
          if (answer_i) state_q <= Idle;
          if (answer_i && code_i == CodeOk && !abandoned_q && !stop_i && !start_i) done_o <= 1'b1;
        end
        default: if (rsp_i.done) state_q <= Idle;
      endcase
      // Something is wrong: nothing more is taken.
      if (fails || (answer_i && code_i != CodeOk) ||
          (rsp_i.done && state_q inside {Erase, Program} && rsp_i.code != CodeOk))
      begin
        state_q <= Idle;
        error_o <= !abandoned_q;
        if (!abandoned_q) code_o <= fails ? wrong : answer_i ? code_i : rsp_i.code;
      end
      // It is stopped, or another begins: what goes on at the flash comes to its end before.
      if (stop_i || start_i) begin
        abandoned_q <= state_q != Idle;
        again_q <= start_i;
        full_q <= 1'b0;
      end
      if (start_i) begin
        done_o <= 1'b0;
        error_o <= 1'b0;
        code_o <= '0;
      end
      if (state_q != Idle && (abandoned_q || stop_i || start_i)) begin
        unique case (state_q)
          Program: state_q <= rsp_i.done ? Idle : Leave;
          Erase, Leave: if (rsp_i.done) state_q <= Idle;
          Open, Close: if (answer_i) state_q <= Idle;
          default: state_q <= Idle;
        endcase
      end
    end

    if (takes) word_q <= data_i;
    else if (moves) word_q <= {word_q[23:0], 8'd0};
    if (state_q == Idle) byte_q <= '0;
    else if (moves) byte_q <= byte_q + 1'b1;
    if (state_q == Idle) head_q <= '0;
    else if (takes && state_q == Head) head_q <= head_q + 1'b1;
    if (takes && state_q == Head && 29'(head_q) == RoleAt) role_q <= data_i[15:0];
    if (takes && state_q == Head && 29'(head_q) == LengthAt) length_q <= data_bytes[23:0];
    if (state_q == Idle) part_crc_q <= '1;
    else if (moves) part_crc_q <= crc_byte(part_crc_q, word_q[31:24]);
    if (state_q == Idle) data_crc_q <= '1;
    else if (moves && state_q == Program) data_crc_q <= crc_byte(data_crc_q, word_q[31:24]);
    if (state_q == Idle) at_q <= '0;
    else if (moves && state_q == Program) at_q <= at_q + 1'b1;
    if (state_q == Next) count_q <= page_left;
    if (state_q == Next) addr_q <= slot_addr(slot_i) + at_q;
    if (state_q == Idle) erased_q <= '0;
    else if (state_q == Erase && rsp_i.done) erased_q <= erased_q + 25'(1 << SectorW);
  end

`ifndef SYNTHESIS
  ErasedBefore_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) state_q == Program |-> 25'(at_q) <= erased_q);
`endif
endmodule : rl_flash_slot
