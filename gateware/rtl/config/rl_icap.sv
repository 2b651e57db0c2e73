// The configuration port's backend for UltraScale+: the data of an image's part is a partial bitstream, and goes to
// ICAPE3.
//
// ICAPE3 takes a word with each edge at which CSIB is 0 and RDWRB is 0, bits turned round within each byte. PRDONE
// falls when a partial bitstream begins, and rises when it has been configured; PRERROR says that it was not.
//
// The region is cut off (`decouple_o`, answered by `decoupled_i`) before its first word, and comes back when it was
// configured and no earlier: after a stop or an error nobody knows what is in it, so it stays cut off until a load goes
// well. A stop within a bitstream is an abort at the port (RDWRB rises while CSIB is 0), for it would take what comes
// next as the rest.
module rl_icap
  import rl_part_pkg::*;
  import rl_config_pkg::*;
#(
  parameter logic [15:0] Roles = 16'hfffe,  // Bit n: an image of the role with id n is taken.
  parameter int unsigned PatienceW = 20     // The region or the port that says nothing for 2^PatienceW cycles fails.
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  config_req_t config_i,
  output config_rsp_t config_o,

  output logic        decouple_o,
  input  logic        decoupled_i,

  // Another image: the whole device starts again from this address of its flash.
  input  logic        reboot_i,       // Until the device is gone.
  input  logic [31:0] reboot_addr_i,

  // ICAPE3
  output logic        csi_no,
  output logic        rdwr_no,        // 1 reads.
  output logic [31:0] data_o,
  input  logic        avail_i,
  input  logic        prdone_i,
  input  logic        prerror_i
);
  localparam logic [7:0] CodeRegion = 8'd32;  // The region has not let itself be cut off.
  localparam logic [7:0] CodePort = 8'd33;  // The port refuses the bitstream,
  localparam logic [7:0] CodeNothing = 8'd34;  // or has seen none.
  localparam int unsigned AbortCycles = 4;

  typedef enum logic [2:0] {
    Idle,
    Head,
    Isolate,
    Data,
    Check,
    Settle,
    Abort,
    Reboot
  } state_e;
  state_e state_q;
  logic take, begun_q, again_q;
  logic [28:0] at_q, words_q;
  logic [31:0] crc_q, word;
  logic [15:0] id_q;
  logic [7:0] code_d;
  logic [PatienceW:0] patience_q;
  logic [3:0] step_q;

  assign config_o.ready = state_q inside {Head, Data, Check};
  assign take = config_i.valid && config_o.ready;

  always_comb begin
    code_d = '0;
    unique case (state_q)
      Head: if (take) code_d = head_code(at_q, config_i.data, Roles);
      Isolate: if (patience_q[PatienceW]) code_d = CodeRegion;
      Data: if (prerror_i) code_d = CodePort;
      Check: if (take && config_i.data != ~crc_q) code_d = CodeCheck;
      Settle: begin
        if (prerror_i) code_d = CodePort;
        else if (patience_q[PatienceW]) code_d = begun_q ? CodePort : CodeNothing;
      end
      default: code_d = '0;
    endcase
  end

  // -- what goes to the port
  always_comb begin
    unique case (step_q)
      4'd0: word = 32'hffffffff;
      4'd1: word = 32'haa995566;  // Sync.
      4'd3: word = 32'h30020001;  // Write WBSTAR.
      4'd4: word = reboot_addr_i;
      4'd5: word = 32'h30008001;  // Write CMD:
      4'd6: word = 32'h0000000f;  // IPROG.
      default: word = 32'h20000000;
    endcase
    if (state_q != Reboot) word = config_i.data;
  end
  always_ff @(posedge clk_i) begin
    csi_no <= !(rst_ni && ((state_q == Data && take) || state_q == Abort || (state_q == Reboot && step_q < 4'd8)));
    rdwr_no <= rst_ni && state_q == Abort && step_q != '0;
    for (int unsigned i = 0; i < 4; i++) data_o[8*i+:8] <= {<<{word[8*i+:8]}};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      decouple_o <= 1'b0;
      again_q <= 1'b0;
      config_o.done <= 1'b0;
      config_o.error <= 1'b0;
      config_o.code <= '0;
      config_o.role <= '0;
    end else begin
      unique case (state_q)
        Idle: begin
          if (again_q) state_q <= Head;
          else if (reboot_i && avail_i) state_q <= Reboot;
          again_q <= 1'b0;
        end
        Head: if (take && at_q == 29'(HeadWords) - 1'b1) state_q <= Isolate;
        Isolate: begin
          decouple_o <= 1'b1;
          if (decouple_o && decoupled_i && avail_i) state_q <= Data;
        end
        Data: if (take && at_q == words_q - 29'd2) state_q <= Check;
        Check: if (take) state_q <= Settle;
        Settle: begin
          if (begun_q && prdone_i) begin
            state_q <= Idle;
            decouple_o <= 1'b0;
            config_o.done <= 1'b1;
            config_o.role <= id_q;
          end
        end
        Abort: if (step_q == 4'(AbortCycles)) state_q <= Idle;
        default: ;
      endcase
      if (code_d != '0) begin
        state_q <= state_q inside {Data, Check, Settle} ? Abort : Idle;
        config_o.done <= 1'b0;
        config_o.error <= 1'b1;
        config_o.code <= code_d;
        config_o.role <= '0;
      end
      if ((config_i.stop || config_i.start) && state_q != Reboot) begin
        again_q <= config_i.start;
        if (state_q inside {Data, Check, Settle}) state_q <= Abort;
        else if (state_q != Abort) state_q <= Idle;
      end
      if (config_i.start) begin
        config_o.done <= 1'b0;
        config_o.error <= 1'b0;
        config_o.code <= '0;
        config_o.role <= '0;
      end
    end

    if (state_q == Idle) at_q <= '0;
    else if (take) at_q <= at_q + 1'b1;
    if (state_q == Idle) crc_q <= '1;
    else if (take) crc_q <= crc_word(crc_q, config_i.data);
    if (take && state_q == Head && at_q == RoleAt) id_q <= config_i.data[15:0];
    if (take && state_q == Head && at_q == LengthAt) words_q <= words_of(config_i.data[27:0]);
    // PRDONE is high from the configuration before until this one begins.
    if (state_q == Isolate) begun_q <= 1'b0;
    else if (!prdone_i) begun_q <= 1'b1;
    patience_q <= state_q inside {Isolate, Settle} ? patience_q + 1'b1 : '0;
    step_q <= state_q inside {Abort, Reboot} ? step_q + 4'(step_q != '1) : '0;
  end

`ifndef SYNTHESIS
  CutOffBefore_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) state_q == Data |-> decouple_o);
  NothingElse_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) config_o.done |-> !decouple_o);
`endif
endmodule : rl_icap
