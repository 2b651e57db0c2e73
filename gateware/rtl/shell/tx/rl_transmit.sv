// Frames out, in words of any width.
module rl_transmit
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 64,  // 64, 128, 256 or 512.
  parameter int unsigned Bulk = 32'(BulkStandard),
  localparam int unsigned KeepW = DataW / 8
) (
  // As of rl_tx.
  input  logic          clk_net_i,
  input  logic          rst_net_ni,

  input  logic          cpu_write_i,
  input  logic [10:0]   cpu_addr_i,
  input  logic [31:0]   cpu_wdata_i,
  output logic [31:0]   cpu_rdata_o,
  input  logic          halt_i,
  input  logic          send_i,
  input  logic          send_slot_i,
  input  logic [11:0]   send_bytes_i,
  output logic [1:0]    slot_busy_o,
  input  logic          announce_valid_i,
  output logic          announce_ready_o,
  input  announcement_t announce_i,
  input  logic          head_valid_i,
  output logic          head_ready_o,
  input  logic [63:0]   head_i,
  input  logic          data_valid_i,
  input  read_desc_t    data_desc_i,
  output logic          data_done_o,
  output logic          data_take_o,
  input  logic [DataW-1:0] data_i,
  input  logic          data_ready_i,
  output logic          fetched_o,
  output logic          cpu_fetch_done_o,

  output logic          tx_valid_o,
  output logic [DataW-1:0] tx_data_o,
  output logic [KeepW-1:0] tx_keep_o,
  output logic          tx_last_o,
  input  logic          tx_ready_i,

  output logic          frame_o,       // A frame has left,
  output logic [13:0]   frame_bytes_o  // of so many bytes.
);
  if (DataW == 64) begin : gen_narrow
    rl_tx u_tx (
      .clk_net_i,
      .rst_net_ni,
      .cpu_write_i,
      .cpu_addr_i,
      .cpu_wdata_i,
      .cpu_rdata_o,
      .halt_i,
      .send_i,
      .send_slot_i,
      .send_bytes_i,
      .slot_busy_o,
      .announce_valid_i,
      .announce_ready_o,
      .announce_i,
      .head_valid_i,
      .head_ready_o,
      .head_i,
      .data_valid_i,
      .data_desc_i,
      .data_done_o,
      .data_take_o,
      .data_i,
      .data_ready_i,
      .fetched_o,
      .cpu_fetch_done_o,
      .tx_valid_o,
      .tx_data_o,
      .tx_keep_o,
      .tx_last_o,
      .tx_ready_i,
      .frame_o,
      .frame_bytes_o
    );
  end else begin : gen_wide
    rl_tx_wide #(
      .DataW(DataW),
      .Bulk(Bulk)
    ) u_tx (
      .clk_net_i,
      .rst_net_ni,
      .cpu_write_i,
      .cpu_addr_i,
      .cpu_wdata_i,
      .cpu_rdata_o,
      .halt_i,
      .send_i,
      .send_slot_i,
      .send_bytes_i,
      .slot_busy_o,
      .announce_valid_i,
      .announce_ready_o,
      .announce_i,
      .head_valid_i,
      .head_ready_o,
      .head_i,
      .data_valid_i,
      .data_desc_i,
      .data_done_o,
      .data_take_o,
      .data_i,
      .data_ready_i,
      .fetched_o,
      .cpu_fetch_done_o,
      .tx_valid_o,
      .tx_data_o,
      .tx_keep_o,
      .tx_last_o,
      .tx_ready_i,
      .frame_o,
      .frame_bytes_o
    );
  end
endmodule
