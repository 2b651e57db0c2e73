/* Groups that work together: MPI's operations, of cards over their links, on data that stays on the cards meanwhile;
 * and of processes, through memory that they share (rl_hosts_join).
 *
 *   cc program.c -I crates/api/comm/include -L target/release -lrackloom_comm
 *
 * One process drives a group: it claims the cards, and gives and gets the data of each rank. So buffers come as arrays
 * of pointers, one for each rank; where a rank gives or gets nothing its pointer is not looked at, and may be NULL, as
 * may the array. Or each rank is a process of its own, which claims one card (rl_seat_open): then arrays have one entry.
 *
 * An operation is a value, made by a function that has MPI's name; rl_comm_run does it, rl_comm_begin begins it, and
 * rl_comm_prepare makes a request that is started again and again:
 *
 *   rl_operation sum = rl_allreduce(1000, RL_F32, RL_SUM);
 *   if (rl_comm_run(comm, &sum, give, get)) fprintf(stderr, "%s\n", rl_comm_error());
 *
 * Functions return RL_OK or why not, of which rl_comm_error has the text. They may be called from any thread. A
 * communicator's operations are done in the order in which they were begun. Handles are numbers in disguise: one that
 * was freed is RL_INVALID, not a crash. The environment names the network (RACKLOOM_NET, as for the command). On an
 * interface, where anybody may be and this library has no keys, RACKLOOM_INSECURE_OPEN=1 has to say that this does not
 * matter. Elements are little-endian.
 */
#ifndef RACKLOOM_COMM_H
#define RACKLOOM_COMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rl_comm_handle *rl_comm;
typedef struct rl_request_handle *rl_request;
typedef struct rl_seat_handle *rl_seat;

enum {
    RL_OK = 0,
    RL_INVALID = 1, /* An argument, or a handle. */
    RL_NETWORK = 2, /* The network is not there, or was lost. */
    RL_CARD = 3,    /* A card is not there, is held by another host, has no links, or was lost. */
    RL_APART = 4,   /* No links between cards of the group lead from one rank to another. */
    RL_SIZE = 5,    /* Too much for a message, or for the cards' memory. */
    RL_TYPE = 6,    /* There is no such operation on such elements. */
    RL_FAILED = 7,  /* A card's program has failed: the text names the card, and whom it waited for. */
    RL_TIMEOUT = 8, /* The operation was not done within its time; a process that is stopped is named. */
    RL_LOST = 9     /* A process of the group is gone, and named; the others can shrink. */
};

/* Elements. */
enum { RL_I8 = 1, RL_I16 = 2, RL_I32 = 3, RL_I64 = 4, RL_F32 = 5, RL_F64 = 6, RL_F16 = 7, RL_BF16 = 8 };

/* How they are reduced, in the order of ranks; bits of integers only. */
enum { RL_SUM = 1, RL_MIN = 2, RL_MAX = 3, RL_PROD = 4, RL_AND = 5, RL_OR = 6, RL_XOR = 7 };

/* What a group does. */
enum {
    RL_BARRIER = 1,
    RL_SEND = 2,
    RL_SENDRECV = 3,
    RL_BROADCAST = 4,
    RL_SCATTER = 5,
    RL_GATHER = 6,
    RL_ALLGATHER = 7,
    RL_ALLTOALL = 8,
    RL_REDUCE = 9,
    RL_ALLREDUCE = 10,
    RL_REDUCE_SCATTER = 11
};

/* An operation; the functions below make them. */
typedef struct {
    uint32_t kind;
    uint32_t type;
    uint32_t op;
    uint32_t root;          /* Where there is one; of a send, the sender. */
    uint32_t peer;          /* The receiver of a send; of sendrecv, ranks from each to its receiver. */
    uint32_t reserved;      /* 0 */
    uint64_t count;         /* Elements of each rank, or of each block. */
    const uint64_t *counts; /* Or elements of each block; NULL: all have count. Read when the operation is begun. */
} rl_operation;

/* A group of these cards, rank by rank, by name, unit number or address: "card0,card2,02:52:4c:00:00:03"; NULL or "":
 * all that answer, by unit number. Claims them. net NULL: that of the environment. An operation that is not done within
 * timeout_ms fails; 0: 60 s. */
int rl_comm_open(const char *net, const char *cards, uint32_t timeout_ms, rl_comm *comm);

/* Ranks; 0 if there is no such communicator. */
int rl_comm_size(rl_comm comm);

/* The rank that this process has; -1: it has several, or there is no such communicator. */
int rl_comm_rank(rl_comm comm);

/* The name of a rank's card, such as "card0 (02:52:4c:00:00:01)", or its process, at most room bytes with the zero. */
int rl_comm_card(rl_comm comm, int rank, char *name, size_t room);

/* Groups of the ranks of one colour each, in parts[0] to parts[*count - 1] by colour; parts has room for as many as
 * this process has ranks. colours and keys have a number for each of those; a rank whose colour is negative is in none.
 * In a group ranks are in the order of their keys, then of their old ranks. keys NULL: all alike. */
int rl_comm_split(rl_comm comm, const int *colours, const int *keys, rl_comm *parts, int *count);

/* The group of those who are left, once an operation has failed because a member was lost: cards that still answer, or
 * processes that run and have not freed the group, in their order; not one that an operation has failed for as it was
 * stopped, and is still. Of processes all who are left call it, each when an operation has told it. The old group is still to be freed. Not for groups of seats. */
int rl_comm_shrink(rl_comm comm, rl_comm *left);

/* Bytes that a rank gives, and gets. Either may be NULL. */
int rl_comm_bytes(rl_comm comm, const rl_operation *operation, int rank, uint64_t *gives, uint64_t *gets);

/* Does an operation. A rank's two buffers may be the same. */
int rl_comm_run(rl_comm comm, const rl_operation *operation, const void *const *give, void *const *get);

/* Begins an operation. Its buffers must stay, and stay as they are, until rl_request_wait or rl_request_test says that
 * it is over; the two arrays are read at once. */
int rl_comm_begin(rl_comm comm, const rl_operation *operation, const void *const *give, void *const *get,
                  rl_request *request);

/* Makes an operation ready that rl_request_start starts, again and again, on what is in its buffers then. Its programs
 * stay on the cards while nothing else uses them. */
int rl_comm_prepare(rl_comm comm, const rl_operation *operation, const void *const *give, void *const *get,
                    rl_request *request);
int rl_request_start(rl_request request);

/* Waits until a request is over, and says how its operation went. The request stays. */
int rl_request_wait(rl_request request);

/* Whether it is over, in *over, without waiting; if so, how it went is the result. */
int rl_request_test(rl_request request, int *over);

/* Nanoseconds that the programs of its last operation ran, by the clock of the card that took longest; 0: none ran. */
uint64_t rl_request_ns(rl_request request);

/* Waits until it is over, and frees it. */
int rl_request_free(rl_request request);

/* Waits until all that was begun is over, and frees it. With the last communicator the cards are released. */
int rl_comm_free(rl_comm comm);

/* The text of this thread's last error; valid until its next call. Never NULL. */
const char *rl_comm_error(void);

/* --- Where each rank is a process of its own --- */

/* Claims one card; NULL as for rl_comm_open: the card of this unit number, as "2". */
int rl_seat_open(const char *net, const char *card, uint32_t timeout_ms, rl_seat *seat);

#define RL_SEAT_BYTES 536

/* What the others have to know of the card: RL_SEAT_BYTES bytes. All ranks open their seats before one asks. */
int rl_seat_tell(rl_seat seat, void *bytes);

/* The group of these seats, size by RL_SEAT_BYTES bytes, of which this process has that of rank. All give the same
 * seats and the same number, which no other group has, and do the same operations in the same order. */
int rl_seat_join(rl_seat seat, const void *seats, int size, int rank, uint64_t number, rl_comm *comm);

/* Frees the seat. With its last communicator its card is released. */
int rl_seat_free(rl_seat seat);

/* --- Where ranks are processes of one machine, and need no card --- */

/* The group of all processes of a start, of which this one is what the environment says (rackloom comm run --hosts, or
 * RACKLOOM_MEET and RACKLOOM_MEET_SECRET under another launcher). Waits until all have come. A process is one rank, so
 * arrays have one entry. Once per process. An operation that is not done within timeout_ms fails; 0: 60 s. */
int rl_hosts_join(uint32_t timeout_ms, rl_comm *comm);

/* --- Operations --- */

static inline rl_operation rl_operation_of(uint32_t kind, uint64_t count, uint32_t type, uint32_t op, uint32_t root) {
    rl_operation made = {kind, type, op, root, 0, 0, count, NULL};
    return made;
}

static inline rl_operation rl_blocks_of(uint32_t kind, const uint64_t *counts, uint32_t type, uint32_t op,
                                        uint32_t root) {
    rl_operation made = {kind, type, op, root, 0, 0, 0, counts};
    return made;
}

/* Nobody goes on before all have come. */
static inline rl_operation rl_barrier(void) { return rl_operation_of(RL_BARRIER, 0, RL_I8, RL_SUM, 0); }

/* The elements of rank from, to rank to. */
static inline rl_operation rl_send(uint64_t count, uint32_t type, uint32_t from, uint32_t to) {
    rl_operation made = rl_operation_of(RL_SEND, count, type, RL_SUM, from);
    made.peer = to;
    return made;
}

/* The elements of each, to the rank so many after it; behind the last comes the first. */
static inline rl_operation rl_sendrecv(uint64_t count, uint32_t type, uint32_t by) {
    rl_operation made = rl_operation_of(RL_SENDRECV, count, type, RL_SUM, 0);
    made.peer = by;
    return made;
}

/* The root's elements, to all. */
static inline rl_operation rl_broadcast(uint64_t count, uint32_t type, uint32_t root) {
    return rl_operation_of(RL_BROADCAST, count, type, RL_SUM, root);
}

/* The root's blocks, one to each rank. Those of scatterv have counts[rank] elements, one behind the other. */
static inline rl_operation rl_scatter(uint64_t count, uint32_t type, uint32_t root) {
    return rl_operation_of(RL_SCATTER, count, type, RL_SUM, root);
}
static inline rl_operation rl_scatterv(const uint64_t *counts, uint32_t type, uint32_t root) {
    return rl_blocks_of(RL_SCATTER, counts, type, RL_SUM, root);
}

/* A block of each rank, to the root. */
static inline rl_operation rl_gather(uint64_t count, uint32_t type, uint32_t root) {
    return rl_operation_of(RL_GATHER, count, type, RL_SUM, root);
}
static inline rl_operation rl_gatherv(const uint64_t *counts, uint32_t type, uint32_t root) {
    return rl_blocks_of(RL_GATHER, counts, type, RL_SUM, root);
}

/* A block of each rank, to all. */
static inline rl_operation rl_allgather(uint64_t count, uint32_t type) {
    return rl_operation_of(RL_ALLGATHER, count, type, RL_SUM, 0);
}
static inline rl_operation rl_allgatherv(const uint64_t *counts, uint32_t type) {
    return rl_blocks_of(RL_ALLGATHER, counts, type, RL_SUM, 0);
}

/* A block of each rank for each rank. Of alltoallv, counts[from * size + to]. */
static inline rl_operation rl_alltoall(uint64_t count, uint32_t type) {
    return rl_operation_of(RL_ALLTOALL, count, type, RL_SUM, 0);
}
static inline rl_operation rl_alltoallv(const uint64_t *counts, uint32_t type) {
    return rl_blocks_of(RL_ALLTOALL, counts, type, RL_SUM, 0);
}

/* The elements of all, reduced, to the root. */
static inline rl_operation rl_reduce(uint64_t count, uint32_t type, uint32_t op, uint32_t root) {
    return rl_operation_of(RL_REDUCE, count, type, op, root);
}

/* The elements of all, reduced, to all. */
static inline rl_operation rl_allreduce(uint64_t count, uint32_t type, uint32_t op) {
    return rl_operation_of(RL_ALLREDUCE, count, type, op, 0);
}

/* The blocks of all, reduced; of the result, its own block to each. */
static inline rl_operation rl_reduce_scatter(const uint64_t *counts, uint32_t type, uint32_t op) {
    return rl_blocks_of(RL_REDUCE_SCATTER, counts, type, op, 0);
}
static inline rl_operation rl_reduce_scatter_block(uint64_t count, uint32_t type, uint32_t op) {
    return rl_operation_of(RL_REDUCE_SCATTER, count, type, op, 0);
}

#ifdef __cplusplus
}
#endif
#endif
