// The command sequencer: runs programs of commands, several contexts at once. The model is `Sequencer` of
// crates/core/collective. Commands come one after the other from rl_collective_fetch; what they begin goes to links
// (rl_collective_distributor) or to the copies and reductions of this card, which say how it has ended.
//
// A program ends with its last command, when all that it began has ended; or with the first cause of its failure, or
// with its time. Then there is a report, and the context is free as soon as nothing of it is on its way to a link.
module rl_collective_sequencer
  import rl_link_wire_pkg::key_t;
  import rl_collective_pkg::*;
#(
  parameter int unsigned Links = 1,  // 1 to 4.
  localparam int unsigned StoredW = $clog2(Stored)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     tick_i,
  input  logic [Links-1:0][7:0]    ports_i,          // Of the links, 1 to 63 each. Steady.

  // -- programs: each gets a context, if one is free
  input  logic                     start_valid_i,
  output logic                     start_ready_o,
  input  program_t                 start_i,
  output slot_t                    start_slot_o,
  output logic                     begin_o,          // It has begun.
  input  logic [Slots-1:0]         go_i,             // The Go of those that are held: for one cycle.
  input  logic [Slots-1:0]         expire_i,         // Their time is over now.
  output logic                     ended_valid_o,    // Has ended, and how.
  input  logic                     ended_ready_i,
  output report_t                  ended_o,

  // -- rl_collective_fetch
  output logic [Slots-1:0]         runs_o,
  input  logic [Slots-1:0]         fetches_i,
  output count_t [Slots-1:0]       at_o,
  input  count_t [Slots-1:0]       here_i,
  output logic                     read_o,
  output slot_t                    read_slot_o,
  output logic [StoredW-1:0]       read_at_o,
  input  command_t                 command_i,

  // -- rl_collective_distributor
  output logic                     put_o,
  output logic                     take_o,
  output logic [1:0]               link_o,
  output move_t                    move_o,
  input  logic [Links-1:0]         put_room_i,
  input  logic [Links-1:0]         take_room_i,
  input  logic [Slots-1:0]         waits_i,
  input  logic                     leaves_i,

  // -- links: how puts and takes end; whose programs have failed there; and whose here
  input  logic [Links-1:0]         put_end_valid_i,
  input  end_t [Links-1:0]         put_end_i,
  input  logic [Links-1:0]         take_end_valid_i,
  input  end_t [Links-1:0]         take_end_i,
  input  logic [Links-1:0]         over_i,
  input  cause_e [Links-1:0]       over_cause_i,
  output logic [Links-1:0]         renewed_o,        // The neighbour has begun a new life: for one cycle.
  input  logic [Links-1:0]         up_i,             // There is a neighbour.
  input  logic                     looks_i,          // A link looks whether who has begun has failed there.
  input  logic [Links-1:0][Slots-1:0] told_i,
  output logic [Slots-1:0]         cancel_o,         // These contexts are no more.
  output logic [Links-1:0]         say_o,            // This one's program has failed: to these, for one cycle.
  output slot_t                    say_slot_o,
  output operation_t               say_operation_o,

  // -- rl_collective_local, and rl_collective_survey
  output logic                     copy_o,
  input  logic                     copy_busy_i,
  input  logic                     copy_end_i,
  input  logic                     copy_failed_i
);
  // -- contexts
  logic [Slots-1:0] active_q, checked_q, go_q, ready_q, faulted_q, leaving_q, copies_q;
  logic [Slots-1:0][Links-1:0] puts_q, takes_q, used_q;
  logic [Slots-1:0][Links-1:0]
      more_q, signals_q;  // There are two puts; what was put last has no bytes.
  logic [Slots-1:0][Links-1:0] anew_q;  // The neighbour has begun a new life since the program relies on it.
  count_t [Slots-1:0] commands_q;
  cause_e [Slots-1:0] cause_q;
  logic [Slots-1:0][7:0] port_q;
  slot_t ctx_q, walk_q, leaver;
  operation_t operation;
  logic [31:0] now_q, until_at;

  for (genvar l = 0; l < Links; l++) begin : gen_renewed
    assign renewed_o[l] = over_i[l] && over_cause_i[l] == Restarted;
  end

  // -- a program begins
  logic any_free, looking_q;
  slot_t looked_q;
  always_comb begin
    any_free = 1'b0;
    start_slot_o = '0;
    for (int unsigned c = 0; c < Slots; c++)
    if (!any_free && !active_q[c]) {any_free, start_slot_o} = {1'b1, slot_t'(c)};
  end
  assign start_ready_o = any_free && !looking_q;
  assign begin_o = start_valid_i && start_ready_o;
  rl_lutram #(
    .Width(32),
    .Depth(Slots)
  ) u_until (
    .clk_i,
    .we_i(begin_o),
    .waddr_i(start_slot_o),
    .wdata_i(now_q + start_i.ticks),
    .raddr_i(walk_q),
    .rdata_o(until_at)
  );
  rl_lutram #(
    .Width($bits(operation_t)),
    .Depth(Slots)
  ) u_operations (
    .clk_i,
    .we_i(begin_o),
    .waddr_i(start_slot_o),
    .wdata_i(start_i.operation),
    .raddr_i(ctx_q),
    .rdata_o(operation)
  );
  rl_lutram #(
    .Width($bits(operation_t)),
    .Depth(Slots)
  ) u_said (
    .clk_i,
    .we_i(begin_o),
    .waddr_i(start_slot_o),
    .wdata_i(start_i.operation),
    .raddr_i(leaver),
    .rdata_o(say_operation_o)
  );
  logic times_out;
  logic [31:0] over_by;
  assign over_by = now_q - until_at;
  assign times_out = active_q[walk_q] && !over_by[31];

  // -- a command: picked, and then looked at for as long as the next one of its context is here
  logic exec_q, any, reads, steps, fails;
  slot_t next_q, chosen;
  logic [Slots-1:0] runnable;
  always_comb begin
    any = 1'b0;
    chosen = next_q;
    for (int unsigned i = 0; i < Slots; i++) begin
      automatic slot_t c = next_q + slot_t'(i);
      if (!any && runnable[c]) {any, chosen} = {1'b1, c};
    end
  end
  for (genvar c = 0; c < Slots; c++) begin : gen_runnable
    assign runnable[c] = checked_q[c] && (go_q[c] || go_i[c]) && ready_q[c] && !faulted_q[c] && !leaving_q[c] &&
        !copies_q[c] && at_o[c] != here_i[c];
  end

  typedef enum logic [1:0] {
    Steps,
    Waits,
    Fails
  } step_e;
  step_e step;
  cause_e why;
  logic [7:0] about;
  logic touches_bad, is_move, is_local, is_busy;
  command_t command;
  assign command = command_i;
  assign touches_bad = command.from_bad || (is_local && command.to_bad);
  assign is_move = command.code == Put || command.code == Take;
  assign is_local = command.code inside {Copy, Reduce, Survey};
  logic [3:0] busy, told, anew;
  logic [Links-1:0] put_busy;  // One message is under way at a time, or two signals.
  assign is_busy = busy[command.link];
  always_comb begin
    {busy, told, anew} = '0;
    put_busy = puts_q[ctx_q] & (more_q[ctx_q] | ~signals_q[ctx_q] | {Links{command.length != '0}});
    for (int unsigned l = 0; l < Links; l++) begin
      busy[l] = command.code == Put ? put_busy[l] || !put_room_i[l] : takes_q[ctx_q][l] || !take_room_i[l];
      told[l] = told_i[l][ctx_q];
      anew[l] = anew_q[ctx_q][l];
    end
  end
  always_comb begin
    step = Steps;
    why = BadCommand;
    about = '0;
    case (command.code)
      Put, Take:
      if (touches_bad || !command.linked) begin
        {step, why} = {Fails, BadAddress};
        about = touches_bad ? '0 : command.port;
      end else if (is_busy) step = Waits;
      else if (told[command.link] || anew[command.link]) begin
        {step, why} = {Fails, anew[command.link] ? Restarted : PeerFailed};
        about = command.port;
      end
      // One for takes alone lets puts go on.
      Wait: if ((puts_q[ctx_q] != '0 && !command.port[0]) || takes_q[ctx_q] != '0) step = Waits;
      Copy, Reduce, Survey:
      if (touches_bad) {step, why} = {Fails, BadAddress};
      // It steps when it has ended.
      else if (command.length != '0) step = Waits;
      Unread: {step, why} = {Fails, MemoryFailed};
      default: step = Fails;
    endcase
  end
  logic goes;  // A command has its effect.
  assign goes = exec_q && !faulted_q[ctx_q];
  assign steps = goes && step == Steps;
  assign fails = goes && step == Fails;
  assign put_o = steps && command.code == Put;
  assign take_o = steps && command.code == Take;
  assign link_o = command.link;
  assign move_o = '{
          slot: ctx_q,
          key: key_t'{group: operation.group, number: operation.number, tag: command.tag},
          addr: command.from,
          length: 32'(command.length)
      };
  assign copy_o = goes && is_local && step == Waits && !copy_busy_i && copies_q == '0;
  logic more;
  assign more = steps && at_o[ctx_q] + 1'b1 != here_i[ctx_q];
  assign reads = exec_q ? more : any;
  assign read_o = reads;
  assign read_slot_o = exec_q ? ctx_q : chosen;
  assign read_at_o = exec_q ? at_o[ctx_q][StoredW-1:0] + 1'b1 : at_o[chosen][StoredW-1:0];

  // -- what becomes of contexts: the first cause stays
  logic [Slots-1:0] hits, wakes;
  cause_e [Slots-1:0] hit_cause;
  logic [Slots-1:0][7:0] hit_port;
  logic [Slots-1:0][Links-1:0] put_done, take_done;
  always_comb begin
    hits = '0;
    wakes = {Slots{leaves_i || copy_end_i}};
    hit_cause = '{default: Timeout};
    hit_port = '0;
    put_done = '0;
    take_done = '0;
    if (times_out) hits[walk_q] = 1'b1;
    if (fails) {hits[ctx_q], hit_cause[ctx_q], hit_port[ctx_q]} = {1'b1, why, about};
    for (int unsigned c = 0; c < Slots; c++) begin
      if (expire_i[c]) hits[c] = 1'b1;
      if (copies_q[c] && copy_end_i && copy_failed_i)
        {hits[c], hit_cause[c], hit_port[c]} = {1'b1, MemoryFailed, 8'd0};
      for (int unsigned l = 0; l < Links; l++) begin
        automatic logic awaits = puts_q[c][l] || takes_q[c][l];
        if (awaits && told_i[l][c])
          {hits[c], hit_cause[c], hit_port[c]} = {1'b1, PeerFailed, ports_i[l]};
        // One that began in the cycle in which the life ended has not seen it.
        if (awaits && anew_q[c][l])
          {hits[c], hit_cause[c], hit_port[c]} = {1'b1, Restarted, ports_i[l]};
        if (awaits && over_i[l])
          {hits[c], hit_cause[c], hit_port[c]} = {1'b1, over_cause_i[l], ports_i[l]};
        if (put_end_valid_i[l] && put_end_i[l].slot == slot_t'(c) && puts_q[c][l]) begin
          wakes[c] = 1'b1;
          put_done[c][l] = put_end_i[l].cause == Done;
          if (put_end_i[l].cause != Done) begin
            {hits[c], hit_cause[c]} = {1'b1, put_end_i[l].cause};
            hit_port[c] = put_end_i[l].cause == MemoryFailed ? '0 : ports_i[l];
          end
        end
        if (take_end_valid_i[l] && take_end_i[l].slot == slot_t'(c) && takes_q[c][l]) begin
          wakes[c] = 1'b1;
          take_done[c][l] = take_end_i[l].cause == Done;
          if (take_end_i[l].cause != Done) begin
            {hits[c], hit_cause[c]} = {1'b1, take_end_i[l].cause};
            hit_port[c] = take_end_i[l].cause == MemoryFailed ? '0 : ports_i[l];
          end
        end
      end
    end
  end

  // -- a program ends: its report, and word to those that it worked with, or would have: all neighbours that are there
  logic [Slots-1:0] ends, frees;
  logic any_ends, reports;
  always_comb begin
    any_ends = 1'b0;
    leaver = '0;
    for (int unsigned c = 0; c < Slots; c++)
    if (!any_ends && ends[c]) {any_ends, leaver} = {1'b1, slot_t'(c)};
  end
  for (genvar c = 0; c < Slots; c++) begin : gen_end
    assign ends[c] = active_q[c] && !leaving_q[c] && !(exec_q && ctx_q == slot_t'(c)) &&
        (faulted_q[c] || (checked_q[c] && go_q[c] && at_o[c] == commands_q[c] && puts_q[c] == '0 && takes_q[c] == '0));
    // Nothing of it is under way here any more, its end neither: whoever takes that knows it by the slot.
    assign frees[c] = leaving_q[c] && !waits_i[c] && !fetches_i[c] && !copies_q[c] &&
        !(looking_q && looked_q == slot_t'(c)) && !(ended_valid_o && ended_o.slot == slot_t'(c));
  end
  assign reports = any_ends && (!ended_valid_o || ended_ready_i);
  assign say_o = reports && faulted_q[leaver] ? used_q[leaver] | up_i : '0;
  assign say_slot_o = leaver;
  assign cancel_o = frees;
  assign runs_o = active_q & ~leaving_q & ~faulted_q;
  function automatic logic [63:0] set_of(logic [Links-1:0] links, logic [Links-1:0][7:0] ports);
    set_of = '0;
    for (int unsigned l = 0; l < Links; l++) if (links[l]) set_of[ports[l][5:0]] = 1'b1;
  endfunction
  always_ff @(posedge clk_i) begin
    if (reports)
      ended_o <= '{
          slot: leaver,
          cause: faulted_q[leaver] ? cause_q[leaver] : Done,
          port: faulted_q[leaver] ? port_q[leaver] : '0,
          command: at_o[leaver],
          takes: set_of(takes_q[leaver], ports_i),
          puts: set_of(puts_q[leaver], ports_i)
      };
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {active_q, checked_q, go_q, faulted_q, leaving_q, copies_q} <= '0;
      {puts_q, more_q, signals_q, takes_q, used_q, anew_q, at_o} <= '0;
      ready_q <= '0;
      {exec_q, looking_q, ended_valid_o} <= '0;
      {ctx_q, next_q, walk_q} <= '0;
      now_q <= '0;
    end else begin
      now_q <= now_q + 32'(tick_i);
      walk_q <= walk_q + 1'b1;
      exec_q <= reads;
      if (!exec_q && any) begin
        ctx_q <= chosen;
        next_q <= chosen + 1'b1;
      end
      ended_valid_o <= reports || (ended_valid_o && !ended_ready_i);
      looking_q <= begin_o || (looking_q && looks_i);
      for (int unsigned c = 0; c < Slots; c++) begin
        automatic logic here = goes && ctx_q == slot_t'(c);
        automatic logic copied = copies_q[c] && copy_end_i;
        if (go_i[c]) go_q[c] <= active_q[c] || go_q[c];
        if (looking_q && !looks_i && looked_q == slot_t'(c)) checked_q[c] <= active_q[c];
        ready_q[c] <= wakes[c] || (ready_q[c] && !(here && step == Waits));
        if ((here && step == Steps) || (copied && !copy_failed_i)) at_o[c] <= at_o[c] + 1'b1;
        copies_q[c] <= (here && copy_o) || (copies_q[c] && !copied);
        puts_q[c] <= puts_q[c] & (~put_done[c] | more_q[c]);
        more_q[c] <= more_q[c] & ~put_done[c];
        takes_q[c] <= takes_q[c] & ~take_done[c];
        for (int unsigned l = 0; l < Links; l++) begin
          if (renewed_o[l]) anew_q[c][l] <= 1'b1;
          if (here && link_o == 2'(l)) begin
            if (put_o) begin
              puts_q[c][l] <= 1'b1;
              // The first may end as the second begins.
              more_q[c][l] <= puts_q[c][l] && !put_done[c][l];
              signals_q[c][l] <= command.length == '0;
            end
            if (take_o) takes_q[c][l] <= 1'b1;
            if (put_o || take_o || (is_move && step == Fails && why inside {PeerFailed, Restarted}))
              used_q[c][l] <= 1'b1;
          end
        end
        if (active_q[c] && hits[c]) faulted_q[c] <= 1'b1;
        if (reports && leaver == slot_t'(c)) leaving_q[c] <= 1'b1;
        if (frees[c]) begin
          active_q[c] <= 1'b0;
          {checked_q[c], go_q[c], leaving_q[c], faulted_q[c]} <= '0;
        end
        if (begin_o && start_slot_o == slot_t'(c)) begin
          {active_q[c], ready_q[c]} <= '1;
          go_q[c] <= !start_i.held;
          at_o[c] <= '0;
          puts_q[c] <= '0;
          more_q[c] <= '0;
          takes_q[c] <= '0;
          used_q[c] <= '0;
          anew_q[c] <= start_i.anew[Links-1:0] | renewed_o;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (begin_o) begin
      commands_q[start_slot_o] <= start_i.commands;
      looked_q <= start_slot_o;
    end
    for (int unsigned c = 0; c < Slots; c++)
    if (!faulted_q[c]) {cause_q[c], port_q[c]} <= {hit_cause[c], hit_port[c]};
  end

  logic unused;
  assign unused = ^{start_i.program_at, start_i.anew, over_by[30:0], command.to};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && goes && is_move)
      KnownLink_A : assert (!command.linked || 32'(command.link) < Links);
  end
`endif
endmodule
