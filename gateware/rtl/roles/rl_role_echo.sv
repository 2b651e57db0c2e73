// Sends frames back, as device/roles/echo does:
//
//     0 send    a frame of 64 bytes on a stream, with both addresses and turns; returns 1
//     1 heard   returns the frames that have come in since the role is there
module rl_role_echo
  import rl_role_pkg::*;
#(
  parameter int unsigned Streams = 2
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  role_in_t               role_i,
  output role_out_t              role_o,
  input  message_t [Streams-1:0] message_i,
  output logic     [Streams-1:0] ready_o,
  output message_t [Streams-1:0] message_o,
  input  logic     [Streams-1:0] ready_i
);
  localparam logic [7:0] SendKernel = 8'd0, HeardKernel = 8'd1;
  axil_rsp_t axil;
  logic interrupt, start, sending_q, done, known;
  logic [7:0] kernel;
  logic [4*64-1:0] args;
  logic [63:0] stream, to, from, turns, heard_q;
  logic [Streams-1:0] send, sent, heard, busy;
  assign {turns, from, to, stream} = args;
  assign known = kernel inside {SendKernel, HeardKernel};

  rl_role_ctrl #(
    .Args(4)
  ) u_ctrl (
    .clk_i,
    .rst_ni,
    .axil_i(role_i.axil),
    .axil_o(axil),
    .interrupt_o(interrupt),
    .start_o(start),
    .kernel_o(kernel),
    .args_o(args),
    .done_i(done),
    .trap_i(!known),
    .remote_i(1'b0),
    .value_i(kernel == HeardKernel ? heard_q : 64'd1)
  );

  for (genvar i = 0; i < Streams; i++) begin : gen_stream
    assign send[i] = sending_q && stream == 64'(i);
    rl_echo_stream u_stream (
      .clk_i,
      .rst_ni,
      .message_i(message_i[i]),
      .ready_o(ready_o[i]),
      .message_o(message_o[i]),
      .ready_i(ready_i[i]),
      .heard_o(heard[i]),
      .busy_o(busy[i]),
      .send_i(send[i]),
      .to_i(to[47:0]),
      .from_i(from[47:0]),
      .turns_i(turns),
      .sent_o(sent[i])
    );
  end
  // A message that is on its way keeps the clock going.
  assign role_o = '{
    axil: axil,
    irq: interrupt,
    listens: 1'b1,
    busy: busy != 0 || sending_q,
    raises: '0
  };

  // A stream that is not there has no port: what is sent there is gone.
  assign done = sending_q ? sent != 0 || stream >= 64'(Streams) : start && kernel != SendKernel;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sending_q <= 1'b0;
      heard_q <= '0;
    end else begin
      if (done) sending_q <= 1'b0;
      else if (start && kernel == SendKernel) sending_q <= 1'b1;
      heard_q <= heard_q + 64'($countones(heard));
    end
  end

  logic unused;
  assign unused = ^{role_i.event_ready, to[63:48], from[63:48]};
endmodule
