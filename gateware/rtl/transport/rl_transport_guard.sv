// Frames that are just being written, or sent, and the ones that are next: two at a time, which end in their order.
// When one of them is freed meanwhile, that is left until it has ended.
module rl_transport_guard #(
  parameter int unsigned Width = 8  // Of a frame's name.
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             enters_i,  // This one, if free_o.
  input  logic [Width-1:0] enters_frame_i,
  output logic             free_o,
  input  logic             ends_i,    // The older one, if may_end_o.
  output logic             may_end_o,

  // -- who frees asks for this one,
  input  logic [Width-1:0] asked_i,
  output logic             is_it_o,   // which is one of them,
  input  logic             leaves_i,  // and is left therefore;
  output logic             left_o,    // later this one is to be freed,
  output logic [Width-1:0] left_frame_o,
  input  logic             taken_i,   // and is now.
  // -- who sends asks for this one
  input  logic [Width-1:0] sent_i,
  output logic             is_sent_o
);
  typedef logic [Width-1:0] frame_t;
  logic [1:0] valid_q, left_q, valid, left, is_it;
  frame_t [1:0] frames_q;
  logic goes;  // The younger one becomes the older one.
  assign free_o = !valid_q[1];
  assign may_end_o = !left_o;
  assign is_it = {valid_q[1] && frames_q[1] == asked_i, valid_q[0] && frames_q[0] == asked_i};
  assign is_it_o = is_it != 0;
  assign is_sent_o = (valid_q[1] && frames_q[1] == sent_i) || (valid_q[0] && frames_q[0] == sent_i);
  assign goes = ends_i;
  // One that is sent twice in a row is free when it has been sent for the second time.
  assign left = left_q | {leaves_i && is_it[1], leaves_i && is_it == 2'b01};
  assign valid = goes ? {1'b0, valid_q[1]} : valid_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      left_q <= '0;
      left_o <= 1'b0;
    end else begin
      valid_q <= valid | {enters_i && valid[0], enters_i};
      left_q <= goes ? {1'b0, left[1]} : left;
      left_o <= (goes && left[0]) || (left_o && !taken_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (goes || !valid_q[0]) frames_q[0] <= valid_q[1] ? frames_q[1] : enters_frame_i;
    if (enters_i) frames_q[1] <= enters_frame_i;
    if (goes && !left_o) left_frame_o <= frames_q[0];
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (enters_i) RoomForIt_A : assert (free_o);
      if (ends_i) ThereIsOne_A : assert (valid_q[0] && may_end_o);
      if (leaves_i) IsOne_A : assert (is_it_o);
    end
  end
`endif
endmodule
