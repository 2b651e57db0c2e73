/* librackloom_mpi.so: collectives of an MPI program, done by cards. LD_PRELOADed, it stands before the MPI library and
 * calls that by its PMPI names.
 *
 * Each rank is a process that claims one card and starts its own program there: no process is in charge. Before cards do
 * an operation all ranks of its communicator agree that they can and that they mean the same, and in which order those
 * come that want the same card; after it, that all have their bytes. If not, the MPI library does it, on buffers that
 * are still as they were. So a program gets the right bytes whatever becomes of the cards.
 */
#ifndef RACKLOOM_MPI_SHIM_H
#define RACKLOOM_MPI_SHIM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "rackloom_comm.h"

/* --- world.c: this process's card, and those of all ranks --- */

/* Whether cards are used at all: the same on all ranks. */
int shim_on(void);
/* Whether they may do what the program does not wait for: the same on all ranks. */
int shim_begins(void);
/* The seats of a communicator's ranks, and their numbers in the world, to be freed; NULL: one is not of this world. */
unsigned char *shim_seats(MPI_Comm comm, int size, int **numbers);
/* The cards of these seats; 0: why is in rl_comm_error. */
rl_comm shim_join(const unsigned char *seats, int size, int rank, uint64_t number);
/* The card is not used again: the text is kept. */
void shim_break(const char *text);
const char *shim_broken(void);

/* --- group.c: the groups of communicators --- */

struct shim_call;
struct shim_group {
    /* Why cards do none of its operations, which all of its ranks know; NULL: they do. */
    const char *why;
    int size, rank;
    /* The same ranks, for the shim alone: what ranks agree on gets into the way of no call of the program. */
    MPI_Comm own;
    struct shim_board *board;
    int *world; /* The ranks' numbers in the world. */
    unsigned char *seats;
    uint64_t number;
    /* Of what is below, the cards are the engine's, and the rest is under its lock. */
    rl_comm cards;
    struct shim_call *first, *last;
    int left; /* The program has freed its communicator. */
    int kept; /* Calls of it that can be started again. */
    /* The error code of all its calls from now on, as a rank is lost; 0: none is. */
    int lost;
    struct shim_group *next;
};
void shim_groups_start(void);
/* The group of a communicator. One that has none gets one, for which all of its ranks have to ask at the same time; if
 * they cannot wait for each other: NULL. */
struct shim_group *shim_group_of(MPI_Comm comm, int may_wait);
/* Ends what a group has, once nothing is under way. */
void shim_group_end(struct shim_group *group);

/* --- board.c: what ranks of a group agree on --- */

#define SHIM_NUMBERS 4
/* In memory that all ranks of comm share, for which all have to ask at the same time; NULL, on all: there is none. */
struct shim_board *shim_board_make(MPI_Comm comm, int size, int rank);
void shim_board_free(struct shim_board *board);
/* Begins the next round: tells numbers, or a row of as many as there are ranks. */
void shim_board_tell(struct shim_board *board, const int64_t *numbers, const uint64_t *row);
/* The least of each number, or the row of this rank (-1: all rows), if all have told; 0: one has not. */
int shim_board_least(const struct shim_board *board, int64_t *least);
int shim_board_rows(const struct shim_board *board, int of, uint64_t *rows);
int shim_board_waits_for(const struct shim_board *board, int rank);
/* Says that the group is lost, and why: what the first rank has said, or 0: it is not. */
uint64_t shim_board_lose(struct shim_board *board, uint64_t why);
uint64_t shim_board_lost(const struct shim_board *board);

/* --- present.c: whether the processes of ranks are there --- */

enum shim_fate { SHIM_RUNS, SHIM_DEAD, SHIM_STOPPED, SHIM_LATE };
/* What a call has seen of those that it waits for. */
struct shim_watch {
    uint64_t looked_ms, stopped_ms, late_ms;
    int stopped, dead_looks;
};
void shim_present_start(int ranks);
void shim_watch_start(struct shim_watch *watch);
/* The rank for which a call waits no longer, and why; -1: it waits. */
int shim_watch(struct shim_call *call, enum shim_fate *fate);
/* In words, of a rank of the world. */
void shim_describe_fate(char *text, size_t room, int rank, enum shim_fate fate);

/* --- fell.c: what cards did not do --- */

void shim_did(void);
void shim_fell(const char *name, const char *why);
void shim_report(int rank);

/* --- buffers.c: buffers as cards take them, without gaps --- */

/* One buffer of a call: blocks of count elements, block b of them at displs[b], or counts[b] elements each; of types[b],
 * at that many bytes. */
struct shim_buffer {
    void *at;
    MPI_Datatype type;
    const MPI_Datatype *types;
    int blocks;
    int count;
    const int *counts, *displs;
};
/* Bytes of an element, and of all; -1: the type is none. */
int64_t shim_type_bytes(MPI_Datatype type);
int64_t shim_bytes(const struct shim_buffer *buffer);
/* Its bytes one behind the other; 0: MPI refuses. */
int shim_pack(void *bytes, const struct shim_buffer *buffer, MPI_Comm comm);
/* And back: an MPI error code. */
int shim_unpack(const void *bytes, const struct shim_buffer *buffer, MPI_Comm comm);
/* The card's type and operation; 0: it has none. */
uint32_t shim_type(MPI_Datatype type, MPI_Op op);
uint32_t shim_op(MPI_Op op);

/* --- library.c: what a program has called, and how the MPI library does it --- */

enum shim_kind {
    SHIM_BARRIER,
    SHIM_BCAST,
    SHIM_SCATTER,
    SHIM_SCATTERV,
    SHIM_GATHER,
    SHIM_GATHERV,
    SHIM_ALLGATHER,
    SHIM_ALLGATHERV,
    SHIM_ALLTOALL,
    SHIM_ALLTOALLV,
    SHIM_ALLTOALLW,
    SHIM_REDUCE,
    SHIM_ALLREDUCE,
    SHIM_REDUCE_SCATTER,
    SHIM_REDUCE_SCATTER_BLOCK,
    SHIM_SCAN,
    SHIM_EXSCAN,
    SHIM_END /* Of the program: nothing is done. */
};
/* A call with its arguments. A broadcast's buffer is to; elements of a reduction are to_type. Where blocks have types of
 * their own, displacements are bytes. */
struct shim_args {
    enum shim_kind kind;
    const char *name;
    MPI_Comm comm;
    int root;
    MPI_Op op;
    const void *from;
    int from_count;
    const int *from_counts, *from_displs;
    MPI_Datatype from_type;
    const MPI_Datatype *from_types, *to_types;
    void *to;
    int to_count;
    const int *to_counts, *to_displs;
    MPI_Datatype to_type;
};
int shim_library(const struct shim_args *args);
/* The same without waiting, among the ranks of comm. */
int shim_library_begins(const struct shim_args *args, MPI_Comm comm, MPI_Request *request);
/* And to be started again and again, if the library can: in MPI 4, or by an extension. */
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if MPI_VERSION >= 4
#define SHIM_INIT(name) MPI_##name##_init
#define SHIM_LIBRARY_INIT(name) PMPI_##name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define SHIM_INIT(name) MPIX_##name##_init
#define SHIM_LIBRARY_INIT(name) PMPIX_##name##_init
#endif
#ifdef SHIM_INIT
int shim_library_inits(const struct shim_args *args, MPI_Info info, MPI_Request *request);
#endif

/* --- call.c: one collective, as cards do it --- */

enum shim_state { SHIM_NEW, SHIM_SHARING, SHIM_AGREEING, SHIM_ORDERING, SHIM_TURN, SHIM_RUNNING, SHIM_CONFIRMING,
                  SHIM_FALLING, SHIM_OVER };
struct shim_call {
    struct shim_args args;
    struct shim_group *group;
    /* What this rank gives and gets; blocks 0: nothing. */
    struct shim_buffer give, get;
    rl_operation operation;
    /* Why cards cannot do it; NULL: they can. */
    const char *why;
    char text[160];
    /* Elements or bytes of blocks, as cards take them; and this rank's, as it tells them the others. */
    uint64_t *counts, *row;
    /* Types that the program may free before the call is over. */
    MPI_Datatype held[2], *held_of_blocks;
    /* How far it is: the engine's. */
    enum shim_state state;
    MPI_Request step; /* As the library does it. */
    int64_t mine[SHIM_NUMBERS], least[SHIM_NUMBERS];
    struct shim_watch watch;
    /* When it comes, of all that want this process's card: proposed by this rank, then agreed. */
    uint64_t turn, last_turn;
    void *given, *got;
    rl_request running;
    /* Of a call that the program does not wait for: what it waits for later. */
    int begun;
    MPI_Request request;
    /* Of one that is started again and again: its number, which tells the program of its end. */
    int kept;
    /* The program has got an error for it: it only tells the other ranks. */
    int refused;
    /* Under the engine's lock: whether it is over, and then whether cards did it (otherwise a call that the program waits
     * for is the library's), and its error code. */
    int over, did, code;
    int dropped; /* The program has freed the request. */
    struct shim_call *next;
};
/* Whether cards may do it: a call that has to be put to the engine. NULL: the MPI library does it. */
struct shim_call *shim_called(const struct shim_args *args, int may_wait);
/* What has to be known of other ranks before it can be described: begins to ask; 0: nothing. Then whether it is known. */
int shim_shares(struct shim_call *call);
int shim_shared(struct shim_call *call);
/* Describes the operation, with all that is known, unless it was before; and packs what this rank gives. */
void shim_describe(struct shim_call *call);
/* Whether all ranks mean the same, as a number. */
int64_t shim_meant(const struct shim_call *call);
/* The result, to the program's buffer: an error code. */
int shim_result(struct shim_call *call);
/* Lets go of what only a call under way needs. */
void shim_let_go(struct shim_call *call);

/* --- begun.c: calls of a program --- */

/* Whether the library refuses it at once; and types that stay when the program frees its own. */
int shim_is_invalid(const struct shim_call *call);
void shim_hold_types(struct shim_call *call);
int shim_run(const struct shim_args *args);
int shim_begin(const struct shim_args *args, MPI_Request *request);

/* --- kept.c: calls that are started again and again --- */

void shim_kept_start(void);
/* A request for it; 0: the MPI library has to make it. */
int shim_keep(const struct shim_args *args, MPI_Request *request);
/* The call of this number is over, with this error code. */
void shim_kept_over(int number, int code);

/* --- steps.c: how a call goes on --- */

/* Goes on as far as it can without waiting; whether it went at all. If the state is SHIM_OVER, it is to be finished. */
int shim_step(struct shim_call *call);

/* --- engine.c: who makes calls go on --- */

/* With a thread of its own if the MPI library lets several call it; `several` if the program's own may. */
void shim_engine_start(int threaded, int several);
/* Ends when all calls are over, or no other rank will ever do its part. */
void shim_engine_end(void);
void shim_put(struct shim_call *call);
/* Puts it, and waits for it: in this thread if no other makes calls go on. */
void shim_do(struct shim_call *call);
/* Whether this rank does nothing else until this call is over. */
int shim_is_alone(const struct shim_call *call);
/* Lets go of a call that could be started again, once it is over. */
void shim_drop(struct shim_call *call);
/* For a program that waits: whether any call is under way, and a sleep until one is over, or a little longer each time. */
struct shim_patience {
    int looks;
    uint64_t since;
};
int shim_is_busy(void);
void shim_nap(struct shim_patience *patience);
/* A group that the engine is to serve; and one whose communicator the program has freed. */
void shim_add(struct shim_group *group);
void shim_leave(struct shim_group *group);
/* A group that has one more call that can be started again. */
void shim_retain(struct shim_group *group);
/* The group after this one, NULL: the first, and its first call, if it has any; NULL: there is none. Steps may ask. */
struct shim_group *shim_next(struct shim_group *group, struct shim_call **first);
/* An operation that is not over within this time has failed. */
extern unsigned shim_limit_ms;

#endif
