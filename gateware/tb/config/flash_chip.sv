// A model of the S25FL256S, for benches: the commands that a card uses, of the first 16 MiB.
//
//   status      bit 0 at work, 1 write enable latch, 2-4 block protection, 5 erase failed, 6 program failed;
//               the last two
//               keep bit 0 set until command 30
//   program     bits go from 1 to 0 only; within a page of 256 bytes, round and round
//   erase       d8: all of the sector to ones
//   protection  a write to a protected sector fails; block protection counts from the bottom here (TBPROT is set)
//   at work     nothing but the status can be read, and other commands are ignored
//
// When power fails while the chip is at work, each bit that was to change has or has not.
//
// The times are cycles of clk_i, for a bench must not take as long as the chip: 130 ms a sector and 0.25 ms a page.
module flash_chip #(
  parameter int unsigned EraseTime = 2000,
  parameter int unsigned ProgramTime = 200,
  parameter int unsigned SectorW = 16,        // 16 or 18: the chip is sold with sectors of 64 and of 256 KiB.
  parameter logic [23:0] Id = 24'h010219
) (
  input  logic        clk_i,
  input  logic        power_i,
  input  logic        cs_ni,
  input  logic        sck_i,
  input  logic        mosi_i,
  output logic        miso_o,

  input  logic [2:0]  protect_i,  // Block protection: 1/64 of the chip, 1/32, ..., 1/2, all. 0: none.
  // Faults.
  input  logic        other_i,    // It is another chip.
  input  logic        mute_i,     // It does not answer: the line stays high.
  input  logic        stuck_i,    // What it begins does not end.
  input  logic        fails_i,    // What it begins ends with an error.
  input  logic        deaf_i,     // It takes no write enable.
  input  logic        weak_i,     // A bit of each page is not programmed.

  output int unsigned erases_o,   // So many sectors were erased,
  output int unsigned programs_o, // and pages programmed;
  output int unsigned ignored_o   // so many commands had no effect or are not known.
);
  localparam int unsigned Bytes = 1 << 24;
  logic [23:0] id;
  assign id = other_i ? 24'h9d6019 : 24'h010219;
  logic [7:0] mem[Bytes];
  initial for (int unsigned a = 0; a < Bytes; a++) mem[a] = 8'hff;

  typedef enum logic [1:0] {
    Resting,
    Erasing,
    Programming
  } work_e;
  work_e work_q = Resting;
  int unsigned left_q = 0;
  logic latch_q = 1'b0, e_err_q = 1'b0, p_err_q = 1'b0;
  logic sck_q = 1'b0, cs_q = 1'b1;
  logic [2:0] bit_q = '0;
  logic [7:0] in_q = '0, out_q = '1, command_q = '0;
  logic [23:0] addr_q = '0;
  int unsigned bytes_q = 0;  // Since the chip was selected.
  logic [7:0] page_q[256];
  logic [255:0] given_q = '0;

  logic busy;
  logic [7:0] status, taken;
  assign busy = work_q != Resting || e_err_q || p_err_q;
  assign status = {1'b0, p_err_q, e_err_q, protect_i, latch_q, busy};
  assign taken = {in_q[6:0], mosi_i};
  assign miso_o = mute_i || !power_i || out_q[7];

  function automatic logic is_protected(input logic [23:0] addr);
    // 32 MiB, of which this is the lower half.
    return protect_i != 0 && (33'(addr) < (33'(1 << 18) << protect_i));
  endfunction

  // What the chip has done when its time is over, or, for some bits, when power fails before.
  task automatic change(input logic whole);
    logic [23:0] base;
    if (work_q == Erasing) begin
      base = (addr_q >> SectorW) << SectorW;
      for (int unsigned a = 0; a < (1 << SectorW); a++) begin
        mem[base+24'(a)] |= whole ? 8'hff : 8'($urandom);
      end
    end else begin
      base = {addr_q[23:8], 8'd0};
      for (int unsigned a = 0; a < 256; a++) begin
        if (given_q[a]) mem[base+24'(a)] &= page_q[a] | (whole ? 8'h00 : 8'($urandom));
      end
      if (weak_i) mem[base+24'd3] |= 8'h10;
    end
  endtask

  always_ff @(posedge clk_i) begin
    sck_q <= sck_i;
    cs_q <= cs_ni;
    if (!power_i) begin
      if (work_q != Resting) change(1'b0);
      work_q <= Resting;
      latch_q <= 1'b0;
      e_err_q <= 1'b0;
      p_err_q <= 1'b0;
      bytes_q <= 0;
      bit_q <= '0;
    end else begin
      if (work_q != Resting && !stuck_i) begin
        left_q <= left_q - 1;
        if (left_q == 0) begin
          if (fails_i) begin
            e_err_q <= work_q == Erasing;
            p_err_q <= work_q == Programming;
          end else begin
            change(1'b1);
            latch_q <= 1'b0;
            if (work_q == Erasing) erases_o <= erases_o + 1;
            else programs_o <= programs_o + 1;
          end
          work_q <= Resting;
        end
      end

      if (cs_ni) begin
        bytes_q <= 0;
        bit_q <= '0;
        // A command is taken when the chip is let go after whole bytes.
        if (!cs_q && bit_q == 0 && bytes_q != 0) begin
          if (busy) begin
            if (command_q == 8'h30) {e_err_q, p_err_q} <= '0;
            else if (command_q != 8'h05) ignored_o <= ignored_o + 1;
          end else begin
            unique case (command_q)
              8'h06: latch_q <= !deaf_i;
              8'h04: latch_q <= 1'b0;
              8'hd8, 8'h02: begin
                if (latch_q && (command_q == 8'hd8 ? bytes_q == 4 : bytes_q > 4)) begin
                  if (is_protected(addr_q)) begin
                    e_err_q <= command_q == 8'hd8;
                    p_err_q <= command_q == 8'h02;
                    ignored_o <= ignored_o + 1;
                  end else begin
                    work_q <= command_q == 8'hd8 ? Erasing : Programming;
                    left_q <= command_q == 8'hd8 ? EraseTime : ProgramTime;
                  end
                end else begin
                  ignored_o <= ignored_o + 1;
                end
              end
              8'h03, 8'h05, 8'h9f, 8'h30: ;
              default: ignored_o <= ignored_o + 1;
            endcase
          end
        end
      end else if (sck_i && !sck_q) begin
        in_q <= taken;
        bit_q <= bit_q + 1'b1;
        if (bit_q == 3'd7) begin
          bytes_q <= bytes_q + 1;
          if (bytes_q == 0) begin
            command_q <= taken;
            if (!busy) given_q <= '0;
          end else if (!busy) begin
            if (bytes_q <= 3) begin
              addr_q <= {addr_q[15:0], taken};
            end else if (command_q == 8'h02) begin
              page_q[addr_q[7:0]] <= taken;
              given_q[addr_q[7:0]] <= 1'b1;
              addr_q[7:0] <= addr_q[7:0] + 1'b1;
            end
          end
        end
      end else if (!sck_i && sck_q) begin
        out_q <= {out_q[6:0], 1'b1};
        if (bit_q == 0) begin
          // The next byte.
          unique case (command_q)
            8'h05: out_q <= status;
            8'h9f:
            out_q <= busy ? 8'hff : bytes_q == 1 ? id[23:16] : bytes_q == 2 ? id[15:8] : bytes_q == 3 ? id[7:0] : 8'h4d;
            8'h03: begin
              if (bytes_q >= 4 && !busy) begin
                out_q <= mem[addr_q];
                addr_q <= addr_q + 1'b1;
              end else begin
                out_q <= 8'hff;
              end
            end
            default: out_q <= 8'hff;
          endcase
        end
      end
    end
  end
endmodule : flash_chip
