// One stream of the role `echo`: each frame that comes in is counted. If it has turns left it goes back with its
// addresses swapped and a turn less; turns are the 8 bytes behind Ethernet's head, the first the least significant.
// On request a frame of 64 bytes is sent first.
module rl_echo_stream
  import rl_role_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  input  message_t    message_i,
  output logic        ready_o,
  output message_t    message_o,
  input  logic        ready_i,
  output logic        heard_o,  // A frame has come in whole.
  output logic        busy_o,   // One is on its way out.

  input  logic        send_i,   // Send a frame, which holds until sent_o.
  input  logic [47:0] to_i,     // Addresses as on the wire: the first byte is the least significant.
  input  logic [47:0] from_i,
  input  logic [63:0] turns_i,
  output logic        sent_o
);
  // The first three words hold addresses, EtherType and turns.
  localparam int unsigned HeadWords = 3;
  localparam int unsigned TurnsEnd = 6;  // Bytes of the third word that turns take.
  localparam int unsigned SendWords = 8;
  // 0x88b5, a local experiment's; the first byte is the least significant.
  localparam logic [15:0] EtherType = 16'hb588;
  typedef enum logic [2:0] {
    Head,   // Its words come in.
    Judge,  // Whether it goes back.
    Out,    // They go out again, changed.
    Rest,   // What follows goes out as it comes.
    Waste,  // It does not go back: what follows is thrown away.
    Send    // A frame of our own.
  } state_e;
  state_e state_q;
  logic [2:0] at_q;
  logic [HeadWords-1:0][63:0] head_q;
  logic [7:0] keep_q;
  logic last_q, again;  // The frame has ended with its head; it goes back.
  logic [63:0] turns;
  logic take, give;

  assign ready_o = state_q == Head || state_q == Waste || (state_q == Rest && ready_i);
  assign take = message_i.valid && ready_o;
  assign give = message_o.valid && ready_i;
  assign turns = {head_q[2][47:0], head_q[1][63:48]};
  assign again = turns > 1 && (!last_q || keep_q[TurnsEnd-1]);
  assign heard_o = take && message_i.last;
  assign sent_o = state_q == Send && give && message_o.last;
  assign busy_o = state_q != Head;

  always_comb begin
    message_o = '{valid: 1'b0, data: head_q[at_q[1:0]], keep: '1, last: 1'b0};
    unique case (state_q)
      Out: begin
        message_o.valid = 1'b1;
        message_o.last = last_q && at_q == 3'(HeadWords - 1);
        if (message_o.last) message_o.keep = keep_q;
      end
      Rest: message_o = message_i;
      Send: begin
        message_o.valid = 1'b1;
        message_o.last = at_q == 3'(SendWords - 1);
        unique case (at_q)
          3'd0: message_o.data = {from_i[15:0], to_i};
          3'd1: message_o.data = {turns_i[15:0], EtherType, from_i[47:16]};
          3'd2: message_o.data = {16'd0, turns_i[63:16]};
          default: message_o.data = '0;
        endcase
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Head;
      at_q <= '0;
    end else begin
      unique case (state_q)
        Head: begin
          if (take) begin
            at_q <= at_q + 1'b1;
            if (at_q == 3'(HeadWords - 1)) begin
              state_q <= Judge;
            end else if (message_i.last) begin
              at_q <= '0;  // Too short for turns.
            end
          end else if (send_i && at_q == 0) begin
            state_q <= Send;
          end
        end
        Judge: begin
          at_q <= '0;
          if (again) state_q <= Out;
          else state_q <= last_q ? Head : Waste;
        end
        Out: begin
          if (give) begin
            at_q <= at_q + 1'b1;
            if (at_q == 3'(HeadWords - 1)) begin
              at_q <= '0;
              state_q <= last_q ? Head : Rest;
            end
          end
        end
        Rest, Waste: if (take && message_i.last) state_q <= Head;
        Send: begin
          if (give) begin
            at_q <= at_q + 1'b1;
            if (message_o.last) state_q <= Head;
          end
        end
        default: state_q <= Head;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Head && take) begin
      head_q[at_q[1:0]] <= message_i.data;
      last_q <= message_i.last;
      keep_q <= message_i.keep;
    end
    if (state_q == Judge) begin
      head_q[0] <= {head_q[0][15:0], head_q[1][31:0], head_q[0][63:48]};
      head_q[1][31:0] <= head_q[0][47:16];
      {head_q[2][47:0], head_q[1][63:48]} <= turns - 1'b1;
    end
  end
endmodule
