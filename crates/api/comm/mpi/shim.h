/* librackloom_mpi.so: collectives of an MPI program, done by cards. LD_PRELOADed, it stands before the MPI library and
 * calls that by its PMPI names.
 *
 * Each rank is a process that claims one card and starts its own program there: no process is in charge. Before cards do
 * an operation all ranks of its communicator agree that they can and that they mean the same; after it, that all have
 * their bytes. If not, the MPI library does it, on buffers that are still as they were. So a program gets the right
 * bytes whatever becomes of the cards.
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
/* The group of a communicator's cards; 0: cards do none of its operations, and *why says why. All ranks of it that are
 * of this world ask at the same time. */
struct shim_group {
    rl_comm cards;
    int size, rank;
    const char *why;
};
const struct shim_group *shim_group_of(MPI_Comm comm);
/* One operation at a time has this process's card; whoever finds it taken must not wait, since other ranks may have
 * come in another order. */
int shim_try_card(void);
void shim_leave_card(void);
/* The card is not used again: the text is kept. */
void shim_break(const char *text);
const char *shim_broken(void);

/* --- fell.c: what cards did not do --- */

void shim_did(void);
void shim_fell(const char *name, const char *why);
void shim_report(int rank);

/* --- buffers.c: buffers as cards take them, without gaps --- */

/* One buffer of a call: blocks of count elements, block b of them at displs[b], or counts[b] elements each. */
struct shim_buffer {
    void *at;
    MPI_Datatype type;
    int blocks;
    int count;
    const int *counts, *displs;
};
/* Bytes of an element, and of all; -1: the type is none. */
int64_t shim_type_bytes(MPI_Datatype type);
int64_t shim_bytes(const struct shim_buffer *buffer);
/* The bytes one behind the other, to be freed; NULL: no memory, or MPI refuses. */
void *shim_packed(const struct shim_buffer *buffer, MPI_Comm comm);
/* An MPI error code. */
int shim_unpack(const void *bytes, const struct shim_buffer *buffer, MPI_Comm comm);
/* The card's type and operation; 0: it has none. */
uint32_t shim_type(MPI_Datatype type, MPI_Op op);
uint32_t shim_op(MPI_Op op);

/* --- operate.c: one collective --- */

struct shim_call {
    const char *name;
    MPI_Comm comm;
    const struct shim_group *group;
    rl_operation operation;
    /* What this rank gives and gets; blocks 0: nothing. */
    struct shim_buffer give, get;
    /* Why cards cannot do it; NULL: they can. */
    const char *why;
};
/* Whether cards may do operations of this communicator. If so the caller goes on to shim_operate, whatever it finds. */
int shim_begin(struct shim_call *call, const char *name, MPI_Comm comm);
/* Whether cards have done it; its error code in *code. If not, the MPI library has to. */
int shim_operate(struct shim_call *call, int *code);
/* Bytes of each rank's block, as root has them, for all. */
void shim_share(struct shim_call *call, uint64_t *bytes, int root);

#endif
