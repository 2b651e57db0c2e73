/* One collective as cards do it: from its arguments to an operation and to bytes. Moves go as bytes, since ranks may
 * describe the same elements by different types. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/* Bytes that a rank gives or gets, at most: as the library's MESSAGE_MAX. */
#define BYTES_MAX ((int64_t)256 << 20)

static int reduces(const struct shim_args *args) { return args->kind >= SHIM_REDUCE && args->kind < SHIM_END; }

static int scans(const struct shim_args *args) { return args->kind == SHIM_SCAN || args->kind == SHIM_EXSCAN; }

struct shim_call *shim_called(const struct shim_args *args, int may_wait) {
    if (!shim_on() || args->comm == MPI_COMM_NULL) return NULL;
    struct shim_group *group = shim_group_of(args->comm, may_wait);
    if (!group) {
        shim_fell(args->name, "no call before has shown its communicator");
        return NULL;
    }
    /* Of communicators as such, and of operations, all ranks know it, and nobody asks the others. */
    const char *why = group->why;
    if (!why && reduces(args) && !shim_op(args->op)) why = "cards have no such reduction";
    if (why) {
        shim_fell(args->name, why);
        return NULL;
    }
    struct shim_call *call = calloc(1, sizeof *call);
    if (!call) PMPI_Abort(args->comm, 1); /* The others wait for us. */
    call->args = *args;
    call->group = group;
    call->held[0] = call->held[1] = MPI_DATATYPE_NULL;
    return call;
}

static struct shim_buffer buffer(const void *at, int blocks, int count, MPI_Datatype type) {
    struct shim_buffer made = {(void *)at, type, NULL, blocks, count, NULL, NULL};
    return made;
}

static struct shim_buffer buffer_v(const void *at, int blocks, const int *counts, const int *displs, MPI_Datatype type) {
    struct shim_buffer made = {(void *)at, type, NULL, blocks, 0, counts, displs};
    return made;
}

static struct shim_buffer buffer_w(const void *at, int blocks, const int *counts, const int *displs,
                                   const MPI_Datatype *types) {
    struct shim_buffer made = {(void *)at, MPI_BYTE, types, blocks, 0, counts, displs};
    return made;
}

/* Where a rank's own block lies in a buffer of as many blocks as there are ranks. */
static void *block_at(void *at, int64_t elements, MPI_Datatype type) {
    MPI_Aint lb, extent;
    if (shim_type_bytes(type) < 0) return at;
    PMPI_Type_get_extent(type, &lb, &extent);
    return (char *)at + elements * extent;
}

/* A length that no buffer has. */
#define NO_LENGTH ((uint64_t)1 << 40)

/* Bytes of count elements. */
static uint64_t bytes_of(int count, MPI_Datatype type) {
    int64_t bytes = shim_type_bytes(type);
    return count < 0 || bytes < 0 ? NO_LENGTH : (uint64_t)count * (uint64_t)bytes;
}

static uint64_t *room_for(int blocks) {
    uint64_t *room = calloc((size_t)blocks, sizeof *room);
    if (!room) PMPI_Abort(MPI_COMM_WORLD, 1);
    return room;
}

static void fill(uint64_t *bytes, int blocks, const int *counts, MPI_Datatype type) {
    for (int i = 0; i < blocks; i++) bytes[i] = counts ? bytes_of(counts[i], type) : NO_LENGTH;
}

static int has_types(const struct shim_args *a) { return a->kind == SHIM_ALLTOALLW; }

/* The same where blocks have types of their own. */
static void fill_w(uint64_t *bytes, int blocks, const int *counts, const MPI_Datatype *types) {
    for (int i = 0; i < blocks; i++) bytes[i] = counts && types ? bytes_of(counts[i], types[i]) : NO_LENGTH;
}

int shim_shares(struct shim_call *call) {
    const struct shim_args *a = &call->args;
    int size = call->group->size, is_root = call->group->rank == a->root, in_place = a->from == MPI_IN_PLACE;
    if (call->counts) return 0; /* It was started before. */
    switch (a->kind) {
    case SHIM_SCATTERV:
    case SHIM_GATHERV:
        call->counts = room_for(size);
        if (a->root < 0 || a->root >= size) return 0;
        if (is_root && a->kind == SHIM_SCATTERV) fill(call->counts, size, a->from_counts, a->from_type);
        if (is_root && a->kind == SHIM_GATHERV) fill(call->counts, size, a->to_counts, a->to_type);
        shim_board_tell(call->group->board, NULL, call->counts);
        return 1;
    case SHIM_ALLTOALLV:
    case SHIM_ALLTOALLW:
        /* Each rank knows what it gives; together they know it all. */
        call->row = room_for(size);
        call->counts = room_for(size * size);
        if (has_types(a))
            fill_w(call->row, size, in_place ? a->to_counts : a->from_counts, in_place ? a->to_types : a->from_types);
        else
            fill(call->row, size, in_place ? a->to_counts : a->from_counts, in_place ? a->to_type : a->from_type);
        shim_board_tell(call->group->board, NULL, call->row);
        return 1;
    default: return 0;
    }
}

int shim_shared(struct shim_call *call) {
    return shim_board_rows(call->group->board, call->row ? -1 : call->args.root, call->counts);
}

/* What is moved: operation and buffers. */
static void describe_move(struct shim_call *call) {
    const struct shim_args *a = &call->args;
    int size = call->group->size, rank = call->group->rank, is_root = rank == a->root;
    int in_place = a->from == MPI_IN_PLACE;
    uint32_t root = (uint32_t)a->root;
    switch (a->kind) {
    case SHIM_BARRIER: call->operation = rl_barrier(); return;
    case SHIM_BCAST:
        call->operation = rl_broadcast(bytes_of(a->to_count, a->to_type), RL_I8, root);
        *(is_root ? &call->give : &call->get) = buffer(a->to, 1, a->to_count, a->to_type);
        return;
    case SHIM_SCATTER:
        call->operation = rl_scatter(
            is_root ? bytes_of(a->from_count, a->from_type) : bytes_of(a->to_count, a->to_type), RL_I8, root);
        if (is_root) call->give = buffer(a->from, size, a->from_count, a->from_type);
        if (a->to != MPI_IN_PLACE) call->get = buffer(a->to, 1, a->to_count, a->to_type);
        return;
    case SHIM_SCATTERV:
        call->operation = rl_scatterv(call->counts, RL_I8, root);
        if (is_root) call->give = buffer_v(a->from, size, a->from_counts, a->from_displs, a->from_type);
        if (a->to != MPI_IN_PLACE) call->get = buffer(a->to, 1, a->to_count, a->to_type);
        return;
    case SHIM_GATHER:
        call->operation = rl_gather(
            is_root ? bytes_of(a->to_count, a->to_type) : bytes_of(a->from_count, a->from_type), RL_I8, root);
        if (is_root) call->get = buffer(a->to, size, a->to_count, a->to_type);
        break;
    case SHIM_GATHERV:
        call->operation = rl_gatherv(call->counts, RL_I8, root);
        if (is_root) call->get = buffer_v(a->to, size, a->to_counts, a->to_displs, a->to_type);
        break;
    case SHIM_ALLGATHER:
        call->operation = rl_allgather(bytes_of(a->to_count, a->to_type), RL_I8);
        call->get = buffer(a->to, size, a->to_count, a->to_type);
        break;
    case SHIM_ALLGATHERV:
        call->counts = room_for(size);
        fill(call->counts, size, a->to_counts, a->to_type);
        call->operation = rl_allgatherv(call->counts, RL_I8);
        call->get = buffer_v(a->to, size, a->to_counts, a->to_displs, a->to_type);
        break;
    case SHIM_ALLTOALL:
        call->operation = rl_alltoall(bytes_of(a->to_count, a->to_type), RL_I8);
        call->get = buffer(a->to, size, a->to_count, a->to_type);
        call->give = in_place ? call->get : buffer(a->from, size, a->from_count, a->from_type);
        return;
    default: /* SHIM_ALLTOALLV and SHIM_ALLTOALLW */
        call->operation = rl_alltoallv(call->counts, RL_I8);
        call->get = has_types(a) ? buffer_w(a->to, size, a->to_counts, a->to_displs, a->to_types)
                                 : buffer_v(a->to, size, a->to_counts, a->to_displs, a->to_type);
        call->give = in_place       ? call->get
                     : has_types(a) ? buffer_w(a->from, size, a->from_counts, a->from_displs, a->from_types)
                                    : buffer_v(a->from, size, a->from_counts, a->from_displs, a->from_type);
        for (int i = 0; i < size; i++) {
            MPI_Datatype type = !has_types(a) ? a->to_type : a->to_types ? a->to_types[i] : MPI_DATATYPE_NULL;
            if (!a->to_counts || call->counts[i * size + rank] != bytes_of(a->to_counts[i], type))
                call->why = "lengths differ between ranks";
        }
        return;
    }
    /* Gathers give one block, which may lie among those that they get. */
    if (!in_place) {
        call->give = buffer(a->from, 1, a->from_count, a->from_type);
    } else if (a->to_counts && a->to_displs) {
        call->give = buffer(block_at(a->to, a->to_displs[rank], a->to_type), 1, a->to_counts[rank], a->to_type);
    } else {
        call->give = buffer(block_at(a->to, (int64_t)rank * a->to_count, a->to_type), 1, a->to_count, a->to_type);
    }
}

static void describe_reduction(struct shim_call *call) {
    const struct shim_args *a = &call->args;
    int size = call->group->size, rank = call->group->rank;
    uint64_t count = a->to_count < 0 ? NO_LENGTH : (uint64_t)a->to_count;
    uint32_t type = shim_type(a->to_type, a->op), op = shim_op(a->op);
    if (!type) call->why = "cards do not reduce such elements";
    call->give = buffer(a->from == MPI_IN_PLACE ? a->to : a->from, 1, a->to_count, a->to_type);
    call->get = buffer(a->to, 1, a->to_count, a->to_type);
    switch (a->kind) {
    case SHIM_REDUCE:
        call->operation = rl_reduce(count, type, op, (uint32_t)a->root);
        if (rank != a->root) call->get.blocks = 0;
        break;
    case SHIM_ALLREDUCE: call->operation = rl_allreduce(count, type, op); break;
    case SHIM_REDUCE_SCATTER_BLOCK:
        call->operation = rl_reduce_scatter_block(count, type, op);
        call->give.blocks = size;
        break;
    case SHIM_SCAN:
    case SHIM_EXSCAN:
        /* Cards bring all ranks' elements, and each reduces those up to its own. */
        call->operation = rl_allgather(bytes_of(a->to_count, a->to_type), RL_I8);
        call->get.blocks = size;
        break;
    default: /* SHIM_REDUCE_SCATTER */
        call->counts = room_for(size);
        uint64_t all = 0;
        for (int i = 0; i < size; i++) {
            call->counts[i] = !a->to_counts || a->to_counts[i] < 0 ? NO_LENGTH : (uint64_t)a->to_counts[i];
            all += call->counts[i];
        }
        call->operation = rl_reduce_scatter(call->counts, type, op);
        call->give.count = all > INT_MAX ? -1 : (int)all;
        call->get.count = a->to_counts ? a->to_counts[rank] : -1;
    }
}

/* Why not, of this rank; NULL: it can. */
static const char *cannot(struct shim_call *call) {
    if (call->why) return call->why;
    if (shim_broken()) return shim_broken();
    struct shim_group *group = call->group;
    if (!group->cards) group->cards = shim_join(group->seats, group->size, group->rank, group->number);
    if (!group->cards) return "the card's group could not be joined";
    int64_t give = shim_bytes(&call->give), get = shim_bytes(&call->get);
    if (give < 0 || get < 0) return "a count or a type is invalid";
    if (give > BYTES_MAX || get > BYTES_MAX) return "it is longer than 256 MiB";
    uint64_t gives, gets;
    if (rl_comm_bytes(group->cards, &call->operation, group->rank, &gives, &gets) != RL_OK) {
        /* The library's own text may be another by the time that the others have answered. */
        snprintf(call->text, sizeof call->text, "%s", rl_comm_error());
        return call->text;
    }
    /* An operation of another length than the buffers would read beyond them. */
    if (gives != (uint64_t)give || (call->get.blocks && gets != (uint64_t)get)) return "lengths differ between ranks";
    if (call->give.blocks && !call->given) call->given = malloc((size_t)give + 1);
    if (call->get.blocks && !call->got) call->got = malloc((size_t)get + 1);
    if ((call->give.blocks && !call->given) || (call->get.blocks && !call->got)) return "there is no memory";
    if (call->give.blocks && !shim_pack(call->given, &call->give, group->own)) return "its elements cannot be packed";
    return NULL;
}

void shim_describe(struct shim_call *call) {
    int size = call->group->size;
    if (call->args.kind == SHIM_END) return;
    if (call->refused || call->args.root < 0 || call->args.root >= size) {
        call->why = "an argument is invalid";
        return;
    }
    if (!call->operation.kind) {
        if (reduces(&call->args)) describe_reduction(call);
        else describe_move(call);
    }
    call->why = cannot(call);
}

int64_t shim_meant(const struct shim_call *call) {
    const rl_operation *o = &call->operation;
    const struct shim_args *a = &call->args;
    /* What this rank does with what cards have brought. */
    uint64_t then = !scans(a) ? 0 : (uint64_t)a->kind << 32 | shim_type(a->to_type, a->op) << 16 | shim_op(a->op);
    uint64_t words[] = {o->kind, o->type, o->op, o->root, o->count, o->counts != NULL, then};
    uint64_t hash = 14695981039346656037u;
    int size = call->group->size, blocks = !o->counts ? 0 : o->kind == RL_ALLTOALL ? size * size : size;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) hash = (hash ^ words[i]) * 1099511628211u;
    for (int i = 0; i < blocks; i++) hash = (hash ^ o->counts[i]) * 1099511628211u;
    return (int64_t)(hash >> 1);
}

/* What the ranks up to this one have, in their order: by the MPI library's own function, so that it is as of its own. */
static int scan(struct shim_call *call) {
    const struct shim_args *a = &call->args;
    size_t bytes = (size_t)shim_bytes(&call->give);
    char *so_far = call->got;
    int until = call->group->rank + (a->kind == SHIM_SCAN);
    for (int rank = 1; rank < until; rank++, so_far += bytes) {
        int code = PMPI_Reduce_local(so_far, so_far + bytes, a->to_count, a->to_type, a->op);
        if (code != MPI_SUCCESS) return code;
    }
    if (until > 0) memcpy(a->to, so_far, bytes);
    return MPI_SUCCESS;
}

int shim_result(struct shim_call *call) {
    if (scans(&call->args)) return scan(call);
    return call->get.blocks ? shim_unpack(call->got, &call->get, call->group->own) : MPI_SUCCESS;
}

void shim_let_go(struct shim_call *call) {
    if (call->running) rl_request_free(call->running);
    for (int i = 0; i < 2; i++)
        if (call->held[i] != MPI_DATATYPE_NULL) PMPI_Type_free(&call->held[i]);
    for (int i = 0; call->held_of_blocks && i < 2 * call->group->size; i++) {
        /* Those that belong to the library stay. */
        MPI_Datatype *held = &call->held_of_blocks[2 * call->group->size + i];
        if (*held != MPI_DATATYPE_NULL) PMPI_Type_free(held);
    }
    free(call->held_of_blocks);
    call->held_of_blocks = NULL;
    free(call->given);
    free(call->got);
    free(call->counts);
    free(call->row);
    call->running = NULL;
    call->given = call->got = NULL;
    call->counts = call->row = NULL;
}
