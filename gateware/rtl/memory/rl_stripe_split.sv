// Bursts cut where the stripes of rl_memory_stripe end: each piece lies in one channel. A piece a cycle.
module rl_stripe_split #(
  parameter int unsigned AddrW = 40,
  parameter int unsigned IdW = 2,
  parameter int unsigned Channels = 4,   // 1, 2, 4 or 8.
  parameter int unsigned Stripe = 256,   // Bytes that lie together in a channel: a power of two, 64 to 4096.
  parameter bit          Hash = 1'b0,    // The channel depends on all upper bits of the address.
  localparam int unsigned BitsW = $clog2(Channels),
  localparam int unsigned ChannelW = Channels > 1 ? BitsW : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                valid_i,
  output logic                ready_o,
  input  logic [AddrW-1:0]    addr_i,
  input  logic [7:0]          len_i,      // Beats less 1; none crosses 4 KiB.
  input  logic [IdW-1:0]      id_i,

  output logic                valid_o,
  input  logic                ready_i,
  output logic [ChannelW-1:0] channel_o,
  output logic [AddrW-1:0]    addr_o,     // In the channel: the upper bits move down.
  output logic [7:0]          len_o,
  output logic [IdW-1:0]      id_o,
  output logic                last_o      // The burst's last piece.
);
  localparam int unsigned StripeW = $clog2(Stripe);
  localparam int unsigned UpperW = AddrW - StripeW;
  if (Channels != 1 << BitsW || Stripe != 1 << StripeW || StripeW < 6 || StripeW > 12 || UpperW <= BitsW)
  begin : gen_check
    $fatal(
        0,
        "rl_stripe_split: channels and bytes of a stripe are powers of two, stripes 64 to 4096 bytes (%m)"
    );
  end

  logic [AddrW-1:0] addr_q;
  logic [7:0] left_q, to_border;
  logic [UpperW-1:0] upper;
  assign upper = addr_q[AddrW-1:StripeW];
  // Beats from the first one to the stripe's end, less 1.
  assign to_border = 8'((8'd1 << (StripeW - 6)) - 8'd1) & ~8'(addr_q[11:6]);
  assign last_o = left_q <= to_border;
  assign len_o = last_o ? left_q : to_border;
  assign ready_o = !valid_o || (ready_i && last_o);
  assign addr_o = AddrW'({upper >> BitsW, addr_q[StripeW-1:0]});
  if (Channels == 1) begin : gen_one
    assign channel_o = '0;
  end else begin : gen_channel
    // All of the address but these bits is in addr_o: with any value of it each channel comes once.
    always_comb begin
      channel_o = upper[BitsW-1:0];
      if (Hash) for (int unsigned i = BitsW; i < UpperW; i++) channel_o[i%BitsW] ^= upper[i];
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_o <= 1'b0;
    else if (ready_o) valid_o <= valid_i;
  end
  always_ff @(posedge clk_i) begin
    if (ready_o) begin
      addr_q <= addr_i;
      left_q <= len_i;
      id_o <= id_i;
    end else if (ready_i) begin
      addr_q <= {upper + 1'b1, StripeW'(0)};
      left_q <= left_q - to_border - 1'b1;
    end
  end
endmodule
