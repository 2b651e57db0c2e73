// One direction of a cable: frames' words so many cycles later. Of 65536 frames so many come with a wrong check
// sequence, and while it is cut none comes; a frame that is cut in its middle has no end, and ends wrong with the next
// word.
module link_cable #(
  parameter int unsigned DataW = 64,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [31:0]      seed_i,
  input  logic [15:0]      delay_i,
  input  logic [15:0]      errors_i,
  input  logic             cut_i,
  input  logic             valid_i,
  input  logic [DataW-1:0] data_i,
  input  logic [KeepW-1:0] keep_i,
  input  logic             last_i,
  output logic             valid_o,
  output logic [DataW-1:0] data_o,
  output logic [KeepW-1:0] keep_o,
  output logic             last_o,
  output logic             bad_o
);
  typedef struct packed {
    logic [31:0]      at;
    logic             bad;
    logic [DataW-1:0] data;
    logic [KeepW-1:0] keep;
    logic             last;
  } word_t;
  word_t words[$];
  word_t word;
  logic [31:0] now_q, random_q;
  logic inside_q;
  always_ff @(posedge clk_i) begin
    random_q = random_q ^ (random_q << 13);
    random_q = random_q ^ (random_q >> 17);
    random_q = random_q ^ (random_q << 5);
    now_q <= now_q + 1;
    valid_o <= 1'b0;
    if (!rst_ni) begin
      now_q <= '0;
      random_q = seed_i | 1;
      inside_q <= 1'b0;
      words.delete();
    end else begin
      if (valid_i && !cut_i) begin
        words.push_back('{at: now_q, bad: random_q[31:16] < errors_i, data: data_i,
                        keep: keep_i, last: last_i});
        inside_q <= !last_i;
      end else if (cut_i && inside_q) begin
        words.push_back('{at: now_q, bad: 1'b1, data: '0, keep: '1, last: 1'b1});
        inside_q <= 1'b0;
      end
      if (words.size() > 0 && now_q - words[0].at >= 32'(delay_i)) begin
        word = words.pop_front();
        valid_o <= 1'b1;
        {data_o, keep_o, last_o, bad_o} <= {word.data, word.keep, word.last, word.last && word.bad};
      end
    end
  end
endmodule
