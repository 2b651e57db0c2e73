/* One collective: agreed before, done by cards, agreed after. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim.h"

/* Bytes that a rank gives or gets, at most: as the library's MESSAGE_MAX. */
#define BYTES_MAX ((int64_t)256 << 20)

int shim_begin(struct shim_call *call, const char *name, MPI_Comm comm) {
    memset(call, 0, sizeof *call);
    call->name = name;
    call->comm = comm;
    if (!shim_on() || comm == MPI_COMM_NULL) return 0;
    call->group = shim_group_of(comm);
    if (!call->group) PMPI_Abort(comm, 1); /* No memory for a few bytes: the others wait for us. */
    if (call->group->why) {
        /* Of communicators as such: all of its ranks know it, and nobody asks the others. */
        shim_fell(name, call->group->why);
        return 0;
    }
    if (!call->group->cards) call->why = "the card's group could not be joined";
    return 1;
}

void shim_share(struct shim_call *call, uint64_t *bytes, int root) {
    PMPI_Bcast(bytes, call->group->size, MPI_UINT64_T, root, call->comm);
}

/* What all ranks have to mean alike. */
static int64_t meant(const struct shim_call *call) {
    const rl_operation *o = &call->operation;
    uint64_t words[] = {o->kind, o->type, o->op, o->root, o->count, o->counts != NULL};
    uint64_t hash = 14695981039346656037u;
    int size = call->group->size, blocks = !o->counts ? 0 : o->kind == RL_ALLTOALL ? size * size : size;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) hash = (hash ^ words[i]) * 1099511628211u;
    for (int i = 0; i < blocks; i++) hash = (hash ^ o->counts[i]) * 1099511628211u;
    return (int64_t)(hash >> 1);
}

/* Why not, of this rank; NULL: it can. */
static const char *cannot(struct shim_call *call) {
    if (call->why) return call->why;
    if (shim_broken()) return shim_broken();
    int64_t give = shim_bytes(&call->give), get = shim_bytes(&call->get);
    if (give < 0 || get < 0) return "a count or a type is invalid";
    if (give > BYTES_MAX || get > BYTES_MAX) return "it is longer than 256 MiB";
    uint64_t gives, gets;
    if (rl_comm_bytes(call->group->cards, &call->operation, call->group->rank, &gives, &gets) != RL_OK)
        return rl_comm_error();
    /* An operation of another length than the buffers would read beyond them. */
    if (gives != (uint64_t)give || (call->get.blocks && gets != (uint64_t)get)) return "lengths differ between ranks";
    return NULL;
}

/* Looks at a request so often before it sleeps between looks: others may need the processor for what we wait for. */
#define LOOKS 200
#define PAUSE_NS 50000

/* Whether all ranks say yes, and mean the same. */
static int agreed(MPI_Comm comm, int yes, int64_t meant, int *same) {
    int64_t mine[3] = {yes, meant, ~meant}, least[3];
    MPI_Request request;
    int over = 0, code = PMPI_Iallreduce(mine, least, 3, MPI_INT64_T, MPI_MIN, comm, &request);
    for (int looks = 0; code == MPI_SUCCESS && !over; looks++) {
        const struct timespec pause = {0, PAUSE_NS};
        if (looks > LOOKS) nanosleep(&pause, NULL);
        code = PMPI_Test(&request, &over, MPI_STATUS_IGNORE);
    }
    if (code != MPI_SUCCESS) return 0;
    *same = least[1] == ~least[2];
    return (int)least[0];
}

int shim_operate(struct shim_call *call, int *code) {
    int mine = shim_try_card(), same = 1, done = 0;
    const char *why = mine ? cannot(call) : "another thread's collective has the card";
    void *give = NULL, *get = NULL;
    if (!why && call->give.blocks && !(give = shim_packed(&call->give, call->comm))) why = "its elements cannot be packed";
    if (!why && call->get.blocks && !(get = malloc((size_t)shim_bytes(&call->get) + 1))) why = "there is no memory";
    if (!agreed(call->comm, !why, meant(call), &same)) {
        shim_fell(call->name, why ? why : "another rank cannot");
    } else if (!same) {
        shim_fell(call->name, "ranks mean different operations");
    } else {
        const void *const from[1] = {give};
        void *const to[1] = {get};
        int failed = rl_comm_run(call->group->cards, &call->operation, from, to);
        if (failed) shim_break(rl_comm_error());
        done = agreed(call->comm, !failed, 0, &same);
        if (done) {
            *code = call->get.blocks ? shim_unpack(get, &call->get, call->comm) : MPI_SUCCESS;
            shim_did();
        } else {
            /* Some have bytes that others have not: from now on the MPI library does what this rank takes part in. */
            shim_break("those of other ranks");
            shim_fell(call->name, shim_broken());
        }
    }
    free(give);
    free(get);
    if (mine) shim_leave_card();
    return done;
}
