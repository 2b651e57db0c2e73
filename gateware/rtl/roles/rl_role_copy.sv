// Copies arrays, as device/roles/copy does, and goes on doing so while no kernel runs:
//
//     0 copy    copies an array
//     1 work    has the worker copy an array so many times, or until it is stopped (0); returns 1, or 0 if it works
//     2 rounds  returns how many times the worker has copied since the role is there
//     3 stop    has the worker stop after its present round; returns what rounds would
//
// After each round the worker raises the event of its number, or of all ones when the memory has failed. It reads at
// the first memory port and writes at the last.
module rl_role_copy
  import rl_role_pkg::*;
#(
  parameter int unsigned Memories = 2
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  role_in_t                role_i,
  output role_out_t               role_o,
  output axi_req_t [Memories-1:0] axi_o,
  input  axi_rsp_t [Memories-1:0] axi_i
);
  localparam logic [7:0] Copy = 8'd0, Work = 8'd1, Rounds = 8'd2, Stop = 8'd3;
  localparam int unsigned BeatW = 27;
  typedef logic [BeatW-1:0] beat_t;
  typedef struct packed {
    beat_t from;
    beat_t to;
    beat_t beats;
  } job_t;

  axil_rsp_t axil;
  logic interrupt, start;
  logic [7:0] kernel;
  logic [4*64-1:0] args;
  logic [63:0] from, to, words, rounds;
  assign {rounds, words, to, from} = args;

  // -- kernels
  typedef enum logic [2:0] {
    Idle,
    Check,
    Wait,  // For the worker's round to end.
    Run,
    Done
  } state_e;
  state_e state_q;
  logic [63:0] value_q, rounds_q;
  logic trap_q;
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
    .done_i(state_q == Done),
    .trap_i(trap_q),
    .remote_i(1'b0),
    .value_i(value_q)
  );

  // Arrays of whole beats, where the model has its own.
  function automatic logic fits(input logic [63:0] addr, input logic [63:0] many);
    return addr[63:33] == 0 && addr >= 64'h10_0000 && addr[5:0] == 0 && many[63:30] == 0 && many[2:0] == 0 &&
           34'(addr[32:0]) + 34'({many[29:0], 3'd0}) <= 34'h1_0000_0000;
  endfunction
  logic good;
  assign good = fits(from, words) && fits(to, words);

  // -- the engine, and who has it
  typedef enum logic [1:0] {
    Rests,
    Round,
    Tells  // An event waits.
  } worker_e;
  worker_e worker_q;
  job_t job, job_q;
  logic [63:0] left_q;  // Rounds to go.
  logic [63:0] event_q;
  logic working_q, endless_q, engine_busy_q, engine_start, engine_done, engine_failed, round_start;
  assign job = '{from: from[6+:BeatW], to: to[6+:BeatW], beats: words[3+:BeatW]};
  // A kernel goes first.
  assign round_start = worker_q == Rests && working_q && !engine_busy_q && state_q != Wait;
  assign engine_start = !engine_busy_q && (state_q == Wait || round_start);
  axi_req_t read, write;
  rl_copy_engine u_engine (
    .clk_i,
    .rst_ni,
    .start_i(engine_start),
    .from_i(state_q == Wait ? job.from : job_q.from),
    .to_i(state_q == Wait ? job.to : job_q.to),
    .beats_i(state_q == Wait ? job.beats : job_q.beats),
    .done_o(engine_done),
    .failed_o(engine_failed),
    .read_o(read),
    .read_i(axi_i[0]),
    .write_o(write),
    .write_i(axi_i[Memories-1])
  );
  // Neither says anything on the other's channels.
  always_comb begin
    axi_o = '0;
    axi_o[0] = read;
    axi_o[Memories-1] |= write;
  end

  assign role_o = '{
          axil: axil,
          irq: interrupt,
          listens: 1'b0,
          busy: working_q || worker_q != Rests,
          raises: '{valid: worker_q == Tells, word: event_q}
      };

  always_ff @(posedge clk_i) begin
    if (state_q == Check && kernel == Work && !working_q) begin
      job_q <= job;
      left_q <= rounds;
      endless_q <= rounds == 0;
    end else if (worker_q == Round && engine_done) begin
      left_q <= left_q - 1'b1;
    end
    if (engine_done) event_q <= engine_failed ? '1 : rounds_q + 1'b1;

    if (!rst_ni) begin
      state_q <= Idle;
      worker_q <= Rests;
      working_q <= 1'b0;
      engine_busy_q <= 1'b0;
      rounds_q <= '0;
    end else begin
      engine_busy_q <= engine_start || (engine_busy_q && !engine_done);

      unique case (state_q)
        Idle: begin
          trap_q <= 1'b0;
          value_q <= '0;
          if (start) state_q <= Check;
        end
        Check: begin
          state_q <= Done;
          unique case (kernel)
            Copy: begin
              trap_q <= !good;
              if (good) state_q <= Wait;
            end
            Work: begin
              trap_q <= !good;
              value_q <= 64'(good && !working_q);
            end
            Rounds, Stop: value_q <= rounds_q;
            default: trap_q <= 1'b1;
          endcase
        end
        Wait: if (!engine_busy_q) state_q <= Run;
        Run: begin
          if (engine_done) begin
            trap_q <= engine_failed;
            state_q <= Done;
          end
        end
        Done: state_q <= Idle;
        default: state_q <= Idle;
      endcase

      unique case (worker_q)
        Rests: if (round_start) worker_q <= Round;
        Round: begin
          if (engine_done) begin
            worker_q <= Tells;
            if (engine_failed || (!endless_q && left_q == 1)) working_q <= 1'b0;
            if (!engine_failed) rounds_q <= rounds_q + 1'b1;
          end
        end
        Tells: if (role_i.event_ready) worker_q <= Rests;
        default: worker_q <= Rests;
      endcase
      // The present round ends in any case.
      if (state_q == Check && kernel == Stop) working_q <= 1'b0;
      if (state_q == Check && kernel == Work && good && !working_q) working_q <= 1'b1;
    end
  end
endmodule
