// Frames out, in words of any width; with Keys those of sessions have tags.
module rl_transmit
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 64,  // 64, 128, 256 or 512.
  parameter int unsigned Bulk = 32'(BulkStandard),
  parameter bit          Keys = 1'b0, // Frames get tags, see rl_auth_tx; at 64 bits only.
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

  // With Keys, as of rl_auth_tx.
  input  rl_auth_pkg::sessions_t sessions_i,
  input  rl_auth_pkg::session_key_t key_i,
  output logic          key_ready_o,
  output logic          busy_o,

  output logic          frame_o,       // A frame has left,
  output logic [13:0]   frame_bytes_o  // of so many bytes.
);
  if (DataW == 64) begin : gen_narrow
    logic valid, ready, last, frame;
    logic [63:0] data;
    logic [7:0] keep;
    logic [13:0] frame_bytes;
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
      .tx_valid_o(valid),
      .tx_data_o(data),
      .tx_keep_o(keep),
      .tx_last_o(last),
      .tx_ready_i(ready),
      .frame_o(frame),
      .frame_bytes_o(frame_bytes)
    );
    if (Keys) begin : gen_keys
      rl_auth_tx u_auth (
        .clk_net_i,
        .rst_net_ni,
        .sessions_i,
        .key_i,
        .key_ready_o,
        .valid_i(valid),
        .ready_o(ready),
        .data_i(data),
        .keep_i(keep),
        .last_i(last),
        .valid_o(tx_valid_o),
        .ready_i(tx_ready_i),
        .data_o(tx_data_o),
        .keep_o(tx_keep_o),
        .last_o(tx_last_o),
        .frame_o,
        .frame_bytes_o,
        .busy_o
      );
      logic unused_frame;
      assign unused_frame = ^{frame, frame_bytes};
    end else begin : gen_no_keys
      assign tx_valid_o = valid;
      assign ready = tx_ready_i;
      assign tx_data_o = data;
      assign tx_keep_o = keep;
      assign tx_last_o = last;
      assign frame_o = frame;
      assign frame_bytes_o = frame_bytes;
      assign {key_ready_o, busy_o} = '0;
      logic unused_keys;
      assign unused_keys = ^{sessions_i, key_i};
    end
  end else begin : gen_wide
    if (Keys) begin : gen_check
      $fatal(0, "rl_transmit: a card with keys has 64 bits (%m)");
    end
    assign {key_ready_o, busy_o} = '0;
    logic unused_keys;
    assign unused_keys = ^{sessions_i, key_i};
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
