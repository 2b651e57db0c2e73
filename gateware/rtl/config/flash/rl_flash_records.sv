// The records: what the flash holds, and that only grows. The newest whole record counts, whatever else is there.
//
// Two sectors are used by turns. A record goes behind all that is not erased in the sector of the newest; when that is
// full, the other sector is erased and begun. So the newest record is never where something is erased, and a power
// cut at any moment leaves the old state or the new one. A record that does not read back as it was written is passed
// over.
module rl_flash_records
  import rl_flash_pkg::*;
  import rl_part_pkg::crc_byte;
#(
  parameter int unsigned PlacesW = 9  // Log2 of a sector's records.
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       scan_i,   // Find the newest.
  input  logic       append_i, // Write another; its magic and sequence number do not matter. It holds.
  input  state_t     state_i,
  output logic       done_o,   // For one cycle; and in this one
  output logic [7:0] code_o,
  // The newest, after a scan or an append that went well. All zero if there is none.
  output state_t     state_o,

  output flash_req_t req_o,
  input  flash_rsp_t rsp_i
);
  logic unused;
  assign unused = ^{state_i.magic, state_i.sequence_no};
  if (PlacesW < 2 || (RecordBytes << PlacesW) > (1 << SectorW)) begin : gen_check
    $fatal(0, "rl_flash_records: records do not fit in a sector (%m)");
  end
  localparam int unsigned Places = 1 << PlacesW;
  localparam logic [4:0] CheckAt = 5'd28;  // Where a record's check begins.

  typedef enum logic [2:0] {
    Idle,
    Scan,     // One sector, then the other.
    Fetch,    // The newest once more, to keep it.
    Place,    // Where the next one goes.
    Erase,
    Program,
    Compare
  } state_e;
  state_e state_q;
  logic sector_q, found_q, found_sector_q;
  logic [PlacesW:0] place_q, found_place_q;
  logic [1:0][PlacesW:0] used_q;  // Of each sector: places that are not erased lie below.
  logic [PlacesW+4:0] at_q;       // Bytes of this command.
  logic [31:0] sequence_q, newest_q, crc_q;
  logic [$bits(state_t)-1:0] record_q;
  state_t kept_q;
  logic blank_q, whole_q, same_q, moves, in_check, last;
  logic [7:0] expected, byte_in;
  logic [4:0] byte_no;

  assign byte_no = at_q[4:0];
  assign in_check = byte_no >= CheckAt;
  assign last = byte_no == 5'(RecordBytes - 1);
  assign moves = rsp_i.rvalid || rsp_i.wready;
  assign byte_in = rsp_i.rdata;
  // Of what is to be written: record_q turns by a byte with each.
  assign expected = in_check ? ~crc_q[31:24] : record_q[$bits(state_t)-1-:8];
  assign state_o = kept_q;

  always_comb begin
    req_o = '0;
    req_o.addr = RecordsAddr + 24'({sector_q, UnitW'(0)}) + 24'({place_q, 5'd0});
    req_o.wdata = expected;
    req_o.count = 24'(RecordBytes);
    unique case (state_q)
      Scan: begin
        req_o.valid = 1'b1;
        req_o.op = OpRead;
        req_o.count = 24'(RecordBytes * Places);
      end
      Fetch, Compare: begin
        req_o.valid = 1'b1;
        req_o.op = OpRead;
      end
      Erase: begin
        req_o.valid = 1'b1;
        req_o.op = OpErase;
      end
      Program: begin
        req_o.valid = 1'b1;
        req_o.op = OpProgram;
        req_o.wvalid = 1'b1;
      end
      default: req_o = '0;
    endcase
  end

  // What is asked for is done, well or not.
  logic ends, nothing, at_end, full, renews, erased_q;
  assign nothing = state_q == Scan && sector_q && !found_q;
  assign at_end = place_q == (PlacesW + 1)'(Places);
  // A sector is begun at most once for a record: a flash that takes none comes to an end.
  assign full = state_q == Place && at_end && erased_q;
  // Without any record there may be something else in the first sector.
  assign renews = !erased_q && (at_end || (!found_q && place_q != '0));
  assign ends = state_q != Idle && rsp_i.done &&
      (rsp_i.code != CodeOk || nothing || state_q == Fetch || (state_q == Compare && same_q));
  assign done_o = ends || full;
  always_comb begin
    code_o = rsp_i.code;
    if (full) code_o = CodeRecords;
    else if (state_q == Fetch && rsp_i.code == CodeOk && !same_q) code_o = CodeDiffers;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      found_q <= 1'b0;
      kept_q <= '0;
    end else begin
      unique case (state_q)
        Idle: begin
          if (scan_i) begin
            state_q <= Scan;
            found_q <= 1'b0;
            kept_q <= '0;
          end else if (append_i) begin
            state_q <= Place;
          end
        end
        Scan: if (rsp_i.done) state_q <= !sector_q ? Scan : found_q ? Fetch : Idle;
        Fetch: begin
          if (rsp_i.done) state_q <= Idle;
          if (rsp_i.done && code_o == CodeOk) kept_q <= record_q;
        end
        Place: begin
          if (full) state_q <= Idle;
          else state_q <= renews ? Erase : Program;
        end
        Erase: if (rsp_i.done) state_q <= Program;
        Program: if (rsp_i.done) state_q <= Compare;
        default: begin
          if (rsp_i.done) state_q <= same_q ? Idle : Place;
          if (rsp_i.done && rsp_i.code == CodeOk && same_q) begin
            kept_q <= record_q;
            found_q <= 1'b1;
          end
        end
      endcase
      if (rsp_i.done && rsp_i.code != CodeOk) state_q <= Idle;
    end

    // -- which sector and place
    unique case (state_q)
      Idle: begin
        sector_q <= append_i && !scan_i && found_q && found_sector_q;
        place_q <= !append_i || scan_i ? '0 : used_q[found_q && found_sector_q];
        erased_q <= 1'b0;
      end
      Scan: begin
        if (rsp_i.done) begin
          sector_q <= sector_q ? found_sector_q : 1'b1;
          place_q <= sector_q ? found_place_q : '0;
        end
      end
      Place: begin
        if (renews) sector_q <= found_q && !sector_q;
        if (renews) place_q <= '0;
        if (renews) erased_q <= 1'b1;
      end
      Erase: used_q[sector_q] <= '0;
      Compare: begin
        if (rsp_i.done) begin
          place_q <= place_q + 1'b1;
          used_q[sector_q] <= place_q + 1'b1;
          if (same_q) found_sector_q <= sector_q;
        end
      end
      default: ;
    endcase

    // -- bytes of a record
    if (state_q inside {Idle, Place, Erase} || rsp_i.done) at_q <= '0;
    else if (moves) at_q <= at_q + 1'b1;
    if (state_q == Idle) newest_q <= '0;
    if (state_q == Idle && append_i && !scan_i) begin
      record_q <= {RecordMagic, kept_q.sequence_no + 1'b1, state_i[$bits(state_t)-65:0]};
    end else if (moves && !in_check) begin
      record_q <= {
        record_q[$bits(state_t)-9:0],
        state_q inside {Program, Compare} ? record_q[$bits(state_t)-1-:8] : byte_in
      };
    end
    if (at_q == '0 && !moves) begin
      crc_q <= '1;
      blank_q <= 1'b1;
      whole_q <= 1'b1;
      same_q <= 1'b1;
    end else if (moves) begin
      if (last) begin
        crc_q <= '1;
        blank_q <= 1'b1;
        whole_q <= 1'b1;
      end else if (in_check) begin
        crc_q <= {crc_q[23:0], 8'd0};
      end else begin
        crc_q <= crc_byte(crc_q, state_q inside {Program, Compare} ? expected : byte_in);
      end
    end
    // Of what is read.
    if (rsp_i.rvalid) begin
      if (state_q == Compare && byte_in != expected) same_q <= 1'b0;
      if (state_q == Fetch && last && !(whole_q && byte_in == ~crc_q[31:24])) same_q <= 1'b0;
      if (!last && byte_in != 8'hff) blank_q <= 1'b0;
      if (!last && in_check && byte_in != ~crc_q[31:24]) whole_q <= 1'b0;
      if (state_q == Scan && last) begin
        if (!blank_q || byte_in != 8'hff) used_q[sector_q] <= at_q[PlacesW+4:5] + (PlacesW + 1)'(1);
        if (whole_q && byte_in == ~crc_q[31:24] && record_q[$bits(
                state_t
            )-1-:32] == RecordMagic && (!found_q || sequence_q > newest_q)) begin
          found_q <= rst_ni;
          newest_q <= sequence_q;
          found_sector_q <= sector_q;
          found_place_q <= (PlacesW + 1)'(at_q[PlacesW+4:5]);
        end
      end
    end
    if (state_q == Idle && scan_i) used_q <= '0;
  end
  assign sequence_q = record_q[$bits(state_t)-33-:32];
endmodule : rl_flash_records
