// Whatever commands come, in whatever order what they begin ends, and whatever neighbours say: a context has one take
// and one put or two signals under way on a link at most, goes on behind a wait when what that names has ended, begins
// nothing that touches what it may not, and nothing after its report; each program has one report, and its context is
// free only when nothing of it is on its way. One context and one link are watched, any of them.
module rl_collective_sequencer_formal
  import rl_collective_pkg::*;
#(
  localparam int unsigned Links = 2
) (
  input logic                        clk_i,
  input slot_t                       watched,       // One of all, steady.
  input logic                        link,
  input logic                        tick_i,
  input logic                        start_valid_i,
  input program_t                    start_i,
  input logic [Slots-1:0]            go_i,
  input logic [Slots-1:0]            expire_i,
  input logic                        ended_ready_i,
  input logic [Slots-1:0]            fetches_i,
  input count_t [Slots-1:0]          here_i,
  input command_t                    command_i,
  input logic [Links-1:0]            put_room_i,
  input logic [Links-1:0]            take_room_i,
  input logic [Slots-1:0]            waits_i,
  input logic                        leaves_i,
  input logic [Links-1:0]            put_end_valid_i,
  input end_t [Links-1:0]            put_end_i,
  input logic [Links-1:0]            take_end_valid_i,
  input end_t [Links-1:0]            take_end_i,
  input logic [Links-1:0]            over_i,
  input cause_e [Links-1:0]          over_cause_i,
  input logic [Links-1:0]            up_i,
  input logic                        looks_i,
  input logic [Links-1:0][Slots-1:0] told_i,
  input logic                        copy_busy_i,
  input logic                        copy_end_i,
  input logic                        copy_failed_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic unused_ready, begins, ended_valid, unused_read, put, take, copy;
  slot_t slot, unused_read_slot, unused_say_slot;
  report_t ended;
  logic [Slots-1:0] runs, cancel;
  count_t [Slots-1:0] at;
  logic [2:0] unused_read_at;
  logic [1:0] goes_to;
  move_t move;
  logic [Links-1:0] say, renewed;
  operation_t unused_operation;
  rl_collective_sequencer #(
    .Links(Links)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .tick_i,
    .ports_i({8'd2, 8'd1}),
    .start_valid_i,
    .start_ready_o(unused_ready),
    .start_i,
    .start_slot_o(slot),
    .begin_o(begins),
    .go_i,
    .expire_i,
    .ended_valid_o(ended_valid),
    .ended_ready_i,
    .ended_o(ended),
    .runs_o(runs),
    .fetches_i,
    .at_o(at),
    .here_i,
    .read_o(unused_read),
    .read_slot_o(unused_read_slot),
    .read_at_o(unused_read_at),
    .command_i,
    .put_o(put),
    .take_o(take),
    .link_o(goes_to),
    .move_o(move),
    .put_room_i,
    .take_room_i,
    .waits_i,
    .leaves_i,
    .put_end_valid_i,
    .put_end_i,
    .take_end_valid_i,
    .take_end_i,
    .over_i,
    .over_cause_i,
    .renewed_o(renewed),
    .up_i,
    .looks_i,
    .told_i,
    .cancel_o(cancel),
    .say_o(say),
    .say_slot_o(unused_say_slot),
    .say_operation_o(unused_operation),
    .copy_o(copy),
    .copy_busy_i,
    .copy_end_i,
    .copy_failed_i
  );

  // -- what is around it: links that there are, and commands that have come
  slot_t watched_q;
  logic link_q;
  always_ff @(posedge clk_i) {watched_q, link_q} <= {watched, link};
  count_t here_q;
  always_ff @(posedge clk_i) here_q <= begins && slot == watched ? '0 : here_i[watched];
  always_comb begin
    assume (!rst_n || (watched == watched_q && link == link_q));
    assume (!command_i.linked || command_i.link < 2'(Links));
    assume (here_i[watched] <= u_dut.commands_q[watched] && here_i[watched] >= here_q);
  end

  // -- the watched context: it runs, it has its report, it is free
  logic running_q = 1'b0, reported_q = 1'b0, take_open_q = 1'b0, copies_q = 1'b0;
  logic anew_q = 1'b0, signal_q = 1'b0;  // What was put last is a signal.
  logic [1:0] puts_q = '0;
  logic mine, reports, puts, takes, put_ends, take_ends;
  assign mine = move.slot == watched;
  assign reports = u_dut.reports && u_dut.leaver == watched;
  assign puts = put && mine && goes_to == 2'(link);
  assign takes = take && mine && goes_to == 2'(link);
  assign put_ends = put_end_valid_i[link] && put_end_i[link] == end_t'{slot: watched, cause: Done};
  assign take_ends = take_end_valid_i[link] && take_end_i[link] == end_t'{slot: watched, cause: Done};
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      running_q <= (begins && slot == watched) || (running_q && !reports);
      reported_q <= reports || (reported_q && !cancel[watched]);
      puts_q <= begins && slot == watched ? '0 : puts_q + 2'(puts) - 2'(put_ends && puts_q != '0);
      if (puts) signal_q <= move.length == '0;
      take_open_q <= !(begins && slot == watched) && (takes || (take_open_q && !take_ends));
      anew_q <= (begins && slot == watched ? start_i.anew[link] : anew_q) ||
          (over_i[link] && over_cause_i[link] == Restarted);
      copies_q <= (copy && mine) || (copies_q && !copy_end_i);
    end
  end
  always_comb begin
    if (rst_n) begin
      if (put || take || copy) NothingForbidden_A : assert (!command_i.from_bad);
      if (put || take) OnALink_A : assert (command_i.linked);
      if (copy) NorThere_A : assert (!command_i.to_bad);
      if ((put || take || copy) && mine) WhileItRuns_A : assert (running_q);
      if (puts)
        OnePutOrTwoSignals_A :
        assert (puts_q == '0 || (puts_q == 2'd1 && signal_q && move.length == '0));
      if (takes) OneTake_A : assert (!take_open_q);
      if (puts || takes) NothingInALaterLife_A : assert (!anew_q);
      if (reports && u_dut.faulted_q[watched])
        AllWhoAreThereLearnIt_A : assert ((say & up_i) == up_i);
      SaysWhoseLifeIsNew_A :
      assert (renewed[link] == (over_i[link] && over_cause_i[link] == Restarted));
      if (u_dut.steps && u_dut.ctx_q == watched && command_i.code == Wait) begin
        TakesAreHere_A : assert (!take_open_q);
        SoAreSendsIfItSaysSo_A : assert (puts_q == '0 || command_i.port[0]);
      end
      if (copy) OneCopy_A : assert (!copies_q && !copy_busy_i);
      if (reports) OneReport_A : assert (running_q && !reported_q);
      if (reports && !u_dut.faulted_q[watched])
        AllIsDone_A :
        assert (puts_q == '0 && !take_open_q && at[watched] == u_dut.commands_q[watched]);
      if (cancel[watched])
        FreeAtLast_A : assert (reported_q && !waits_i[watched] && !fetches_i[watched] && !copies_q);
      if (begins && slot == watched) begin
        OneProgram_A : assert (!running_q && !reported_q);
        NotBeforeTheEndIsTaken_A : assert (!(ended_valid && ended.slot == watched));
      end
      if (runs[watched]) FetchesForWhoRuns_A : assert (running_q);
      // What the induction has to know.
      assert (u_dut.active_q[watched] == (running_q || reported_q));
      assert (u_dut.leaving_q[watched] == reported_q && !(running_q && reported_q));
      assert (!(ended_valid && ended.slot == watched) || reported_q);
      assert (!u_dut.checked_q[watched] || u_dut.active_q[watched]);
      assert (!(u_dut.exec_q && u_dut.ctx_q == watched) || (running_q && !u_dut.copies_q[watched]));
      assert (u_dut.copies_q[watched] == copies_q && (!copies_q || u_dut.active_q[watched]));
      if (running_q) assert (anew_q == u_dut.anew_q[watched][link]);
      assert (take_open_q == u_dut.takes_q[watched][link]);
      assert ((puts_q != '0) == u_dut.puts_q[watched][link] && puts_q != 2'd3);
      assert ((puts_q == 2'd2) == u_dut.more_q[watched][link]);
      if (puts_q != '0) assert (signal_q == u_dut.signals_q[watched][link]);
      if (running_q) NotBeyondWhatIsHere_A : assert (at[watched] <= here_i[watched]);
      if (running_q && (copies_q || (u_dut.exec_q && u_dut.ctx_q == watched)))
        assert (at[watched] != here_i[watched]);
    end
    EndsWell_C :
    cover (rst_n && ended_valid && ended.slot == watched && ended.cause == Done && ended.command == 13'd2);
    GoesOnWhileItSends_C :
    cover (rst_n && u_dut.steps && u_dut.ctx_q == watched && command_i.code == Wait && puts_q != '0);
    TwoSignals_C : cover (rst_n && puts_q == 2'd2 && running_q);
    Fails_C : cover (rst_n && ended_valid && ended.cause == PeerFailed && say != '0);
  end
endmodule
