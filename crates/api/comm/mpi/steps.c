/* How a call goes on: from step to step, none of which waits.
 *
 * Calls of a communicator come one after the other, in the order that MPI demands of all ranks; those of several
 * communicators beside each other, in any order on each rank. As a card does one operation at a time, all ranks have to
 * take those that they share in one order: otherwise each of two ranks has its card wait for the other's. So ranks that
 * have agreed that they can agree on a turn too: the greatest that one proposes, each a later one than all that it knows.
 * A rank takes the least turn first, and waits while a call that has none yet could get a lesser one. That is soon over,
 * as ranks propose only once all of them have come to the call: nobody waits for a call that a rank has yet to make.
 * Where all ranks do nothing but this one call until it is over, there is no other order, and they need no turn.
 */
#include <stdio.h>
#include <stdlib.h>

#include "shim.h"

/* The greatest turn that this rank has heard of, and the call that has its card. */
static uint64_t turns;
static struct shim_call *on_card;

/* What waits for other ranks from now on. */
static void wait_in(struct shim_call *call, enum shim_state state) {
    call->state = state;
    shim_watch_start(&call->watch);
}

/* Begins to agree on the least of these numbers. */
static void agree(struct shim_call *call, enum shim_state state) {
    shim_board_tell(call->group->board, call->mine, NULL);
    wait_in(call, state);
}

/* A group without all its ranks does nothing more: its calls fail, on every rank for the rank that the first has named.
 * What that does if it goes on after all, it does alone. */
static int lose(struct shim_call *call, uint64_t why) {
    struct shim_group *group = call->group;
    if (!group->lost) {
        char text[MPI_MAX_ERROR_STRING];
        shim_describe_fate(text, sizeof text, group->world[why >> 8], (enum shim_fate)(why & 255));
        fprintf(stderr, "%s: %s fails\n", text, call->args.name);
        if (PMPI_Add_error_code(MPI_ERR_OTHER, &group->lost) || PMPI_Add_error_string(group->lost, text))
            group->lost = MPI_ERR_OTHER;
    }
    if (on_card == call) on_card = NULL;
    call->code = group->lost;
    call->did = 1;
    call->state = SHIM_OVER;
    return 1;
}

/* Whether the other ranks still have to do something, and if so, whether they will: a call that is lost is over. */
static int waits(struct shim_call *call, int over) {
    enum shim_fate fate;
    if (over) return 0;
    uint64_t why = shim_board_lost(call->group->board);
    int rank = why ? 0 : shim_watch(call, &fate);
    if (!why && rank >= 0) why = shim_board_lose(call->group->board, (uint64_t)rank << 8 | fate);
    return why ? lose(call, why) : 1;
}

static int is_agreed(struct shim_call *call) { return shim_board_least(call->group->board, call->least); }

/* The MPI library does it: at once if the program does not wait for it, else the program's own thread. */
static void fall(struct shim_call *call, const char *why) {
    shim_fell(call->args.name, why);
    call->state = SHIM_OVER;
    if (!call->begun) return;
    call->code = shim_library_begins(&call->args, call->group->own, &call->step);
    if (call->code == MPI_SUCCESS) wait_in(call, SHIM_FALLING);
}

static void propose(struct shim_call *call) {
    call->turn = ++turns;
    call->mine[0] = -(int64_t)call->turn; /* The least of these is the greatest turn. */
    agree(call, SHIM_ORDERING);
}

/* Whether a call comes before another: of the same turn, that of the lesser group. */
static int before(const struct shim_call *one, const struct shim_call *other) {
    if (one->turn != other->turn) return one->turn < other->turn;
    return one->group->number < other->group->number;
}

static int is_its_turn(const struct shim_call *call) {
    if (on_card) return 0;
    struct shim_call *other;
    for (struct shim_group *group = NULL; (group = shim_next(group, &other));) {
        if (!other || other == call) continue;
        if ((other->state == SHIM_ORDERING || other->state == SHIM_TURN) && before(other, call)) return 0;
    }
    return 1;
}

/* The cards do it, as far as this rank can tell. */
static void run(struct shim_call *call) {
    const void *const from[1] = {call->given};
    void *const to[1] = {call->got};
    on_card = call;
    call->state = SHIM_RUNNING;
    if ((call->running || rl_comm_prepare(call->group->cards, &call->operation, from, to, &call->running) == RL_OK) &&
        rl_request_start(call->running) == RL_OK)
        return;
    shim_break(rl_comm_error());
    call->mine[0] = 0;
    agree(call, SHIM_CONFIRMING);
}

int shim_step(struct shim_call *call) {
    int over = 0, code;
    switch (call->state) {
    case SHIM_NEW:
        if (shim_board_lost(call->group->board)) return lose(call, shim_board_lost(call->group->board));
        if (shim_shares(call)) {
            wait_in(call, SHIM_SHARING);
            return 1;
        }
        goto describe;
    case SHIM_SHARING:
        if (waits(call, shim_shared(call))) return 0;
    describe:
        shim_describe(call);
        call->mine[0] = !call->why;
        call->mine[1] = shim_meant(call);
        call->mine[2] = ~call->mine[1];
        call->mine[3] = shim_is_alone(call);
        agree(call, SHIM_AGREEING);
        return 1;
    case SHIM_AGREEING:
        if (waits(call, is_agreed(call))) return 0;
        call->turn = 0;
        if (call->args.kind == SHIM_END) call->did = 1, call->state = SHIM_OVER;
        else if (!call->least[0]) fall(call, call->why ? call->why : "another rank cannot");
        else if (call->least[1] != ~call->least[2]) fall(call, "ranks mean different operations");
        else if (call->least[3]) call->state = SHIM_TURN;
        else propose(call);
        return 1;
    case SHIM_ORDERING:
        if (waits(call, is_agreed(call))) return 0;
        call->turn = (uint64_t)-call->least[0];
        if (call->turn > turns) turns = call->turn;
        call->state = SHIM_TURN;
        return 1;
    case SHIM_TURN:
        if (!is_its_turn(call)) return 0;
        run(call);
        return 1;
    case SHIM_RUNNING:
        code = rl_request_test(call->running, &over);
        if (code == RL_OK && !over) return 0;
        if (code != RL_OK) shim_break(rl_comm_error());
        call->mine[0] = code == RL_OK;
        agree(call, SHIM_CONFIRMING);
        return 1;
    case SHIM_CONFIRMING:
        if (waits(call, is_agreed(call))) return 0;
        on_card = NULL;
        if (call->least[0]) {
            call->did = 1;
            call->code = shim_result(call);
            call->state = SHIM_OVER;
            shim_did();
        } else {
            /* Some have bytes that others have not: from now on the MPI library does what this rank takes part in. */
            shim_break("those of other ranks");
            fall(call, shim_broken());
        }
        return 1;
    case SHIM_FALLING:
        call->code = PMPI_Test(&call->step, &over, MPI_STATUS_IGNORE);
        if (waits(call, over || call->code != MPI_SUCCESS)) return 0;
        call->state = SHIM_OVER;
        return 1;
    case SHIM_OVER: break;
    }
    return 1;
}
