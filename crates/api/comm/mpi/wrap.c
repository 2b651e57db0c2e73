/* The collectives that cards do, by their MPI names. Moves go as bytes, since ranks may describe the same elements by
 * different types. */
#include <stdlib.h>

#include "shim.h"

/* The ways of a call: cards have done it, or the MPI library does. */
#define done_or(call, other)                       \
    do {                                           \
        int code_;                                 \
        return shim_operate(&(call), &code_) ? code_ : (other); \
    } while (0)

static struct shim_buffer buffer(const void *at, int blocks, int count, MPI_Datatype type) {
    struct shim_buffer made = {(void *)at, type, blocks, count, NULL, NULL};
    return made;
}

static struct shim_buffer buffer_v(const void *at, int blocks, const int *counts, const int *displs, MPI_Datatype type) {
    struct shim_buffer made = {(void *)at, type, blocks, 0, counts, displs};
    return made;
}

/* Where a rank's own block lies in a buffer of as many blocks as there are ranks. */
static void *block_at(void *at, int64_t elements, MPI_Datatype type) {
    MPI_Aint lb, extent;
    PMPI_Type_get_extent(type, &lb, &extent);
    return (char *)at + elements * extent;
}

/* Bytes of count elements; what is none becomes a length that no buffer has. */
static uint64_t bytes_of(int count, MPI_Datatype type) {
    int64_t bytes = shim_type_bytes(type);
    return count < 0 || bytes < 0 ? (uint64_t)1 << 40 : (uint64_t)count * (uint64_t)bytes;
}

/* The bytes of each block of a buffer; to be freed. */
static uint64_t *blocks_of(const struct shim_call *call, int number, const int *counts, MPI_Datatype type) {
    uint64_t *bytes = calloc((size_t)number, sizeof *bytes);
    if (!bytes) PMPI_Abort(call->comm, 1);
    for (int i = 0; counts && i < number; i++) bytes[i] = bytes_of(counts[i], type);
    return bytes;
}

static void reduces(struct shim_call *call, const void *from, void *to, int count, MPI_Datatype type, MPI_Op op) {
    call->operation.type = shim_type(type, op);
    call->operation.op = shim_op(op);
    if (!call->operation.op) call->why = "cards have no such reduction";
    else if (!call->operation.type) call->why = "cards do not reduce such elements";
    call->give = buffer(from == MPI_IN_PLACE ? to : from, 1, count, type);
}

int MPI_Barrier(MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Barrier", comm)) return PMPI_Barrier(comm);
    call.operation = rl_barrier();
    done_or(call, PMPI_Barrier(comm));
}

int MPI_Bcast(void *at, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Bcast", comm)) return PMPI_Bcast(at, count, type, root, comm);
    call.operation = rl_broadcast(bytes_of(count, type), RL_I8, (uint32_t)root);
    *(call.group->rank == root ? &call.give : &call.get) = buffer(at, 1, count, type);
    done_or(call, PMPI_Bcast(at, count, type, root, comm));
}

int MPI_Scatter(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type,
                int root, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Scatter", comm))
        return PMPI_Scatter(from, from_count, from_type, to, to_count, to_type, root, comm);
    int is_root = call.group->rank == root;
    uint64_t block = is_root ? bytes_of(from_count, from_type) : bytes_of(to_count, to_type);
    call.operation = rl_scatter(block, RL_I8, (uint32_t)root);
    if (is_root) call.give = buffer(from, call.group->size, from_count, from_type);
    if (to != MPI_IN_PLACE) call.get = buffer(to, 1, to_count, to_type);
    done_or(call, PMPI_Scatter(from, from_count, from_type, to, to_count, to_type, root, comm));
}

int MPI_Scatterv(const void *from, const int *counts, const int *displs, MPI_Datatype from_type, void *to, int to_count,
                 MPI_Datatype to_type, int root, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Scatterv", comm))
        return PMPI_Scatterv(from, counts, displs, from_type, to, to_count, to_type, root, comm);
    int is_root = call.group->rank == root;
    uint64_t *bytes = blocks_of(&call, call.group->size, is_root ? counts : NULL, from_type);
    shim_share(&call, bytes, root);
    call.operation = rl_scatterv(bytes, RL_I8, (uint32_t)root);
    if (is_root) call.give = buffer_v(from, call.group->size, counts, displs, from_type);
    if (to != MPI_IN_PLACE) call.get = buffer(to, 1, to_count, to_type);
    int code, done = shim_operate(&call, &code);
    free(bytes);
    return done ? code : PMPI_Scatterv(from, counts, displs, from_type, to, to_count, to_type, root, comm);
}

int MPI_Gather(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type,
               int root, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Gather", comm))
        return PMPI_Gather(from, from_count, from_type, to, to_count, to_type, root, comm);
    int rank = call.group->rank, is_root = rank == root;
    uint64_t block = is_root ? bytes_of(to_count, to_type) : bytes_of(from_count, from_type);
    call.operation = rl_gather(block, RL_I8, (uint32_t)root);
    if (from == MPI_IN_PLACE) call.give = buffer(block_at(to, (int64_t)rank * to_count, to_type), 1, to_count, to_type);
    else call.give = buffer(from, 1, from_count, from_type);
    if (is_root) call.get = buffer(to, call.group->size, to_count, to_type);
    done_or(call, PMPI_Gather(from, from_count, from_type, to, to_count, to_type, root, comm));
}

int MPI_Gatherv(const void *from, int from_count, MPI_Datatype from_type, void *to, const int *counts, const int *displs,
                MPI_Datatype to_type, int root, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Gatherv", comm))
        return PMPI_Gatherv(from, from_count, from_type, to, counts, displs, to_type, root, comm);
    int rank = call.group->rank, is_root = rank == root;
    uint64_t *bytes = blocks_of(&call, call.group->size, is_root ? counts : NULL, to_type);
    shim_share(&call, bytes, root);
    call.operation = rl_gatherv(bytes, RL_I8, (uint32_t)root);
    if (from == MPI_IN_PLACE) call.give = buffer(block_at(to, displs[rank], to_type), 1, counts[rank], to_type);
    else call.give = buffer(from, 1, from_count, from_type);
    if (is_root) call.get = buffer_v(to, call.group->size, counts, displs, to_type);
    int code, done = shim_operate(&call, &code);
    free(bytes);
    return done ? code : PMPI_Gatherv(from, from_count, from_type, to, counts, displs, to_type, root, comm);
}

int MPI_Allgather(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type,
                  MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Allgather", comm))
        return PMPI_Allgather(from, from_count, from_type, to, to_count, to_type, comm);
    int64_t before = (int64_t)call.group->rank * to_count;
    call.operation = rl_allgather(bytes_of(to_count, to_type), RL_I8);
    if (from == MPI_IN_PLACE) call.give = buffer(block_at(to, before, to_type), 1, to_count, to_type);
    else call.give = buffer(from, 1, from_count, from_type);
    call.get = buffer(to, call.group->size, to_count, to_type);
    done_or(call, PMPI_Allgather(from, from_count, from_type, to, to_count, to_type, comm));
}

int MPI_Allgatherv(const void *from, int from_count, MPI_Datatype from_type, void *to, const int *counts,
                   const int *displs, MPI_Datatype to_type, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Allgatherv", comm))
        return PMPI_Allgatherv(from, from_count, from_type, to, counts, displs, to_type, comm);
    int rank = call.group->rank;
    uint64_t *bytes = blocks_of(&call, call.group->size, counts, to_type);
    call.operation = rl_allgatherv(bytes, RL_I8);
    if (from == MPI_IN_PLACE) call.give = buffer(block_at(to, displs[rank], to_type), 1, counts[rank], to_type);
    else call.give = buffer(from, 1, from_count, from_type);
    call.get = buffer_v(to, call.group->size, counts, displs, to_type);
    int code, done = shim_operate(&call, &code);
    free(bytes);
    return done ? code : PMPI_Allgatherv(from, from_count, from_type, to, counts, displs, to_type, comm);
}

int MPI_Alltoall(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type,
                 MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Alltoall", comm))
        return PMPI_Alltoall(from, from_count, from_type, to, to_count, to_type, comm);
    call.operation = rl_alltoall(bytes_of(to_count, to_type), RL_I8);
    if (from == MPI_IN_PLACE) call.give = buffer(to, call.group->size, to_count, to_type);
    else call.give = buffer(from, call.group->size, from_count, from_type);
    call.get = buffer(to, call.group->size, to_count, to_type);
    done_or(call, PMPI_Alltoall(from, from_count, from_type, to, to_count, to_type, comm));
}

int MPI_Alltoallv(const void *from, const int *from_counts, const int *from_displs, MPI_Datatype from_type, void *to,
                  const int *to_counts, const int *to_displs, MPI_Datatype to_type, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Alltoallv", comm))
        return PMPI_Alltoallv(from, from_counts, from_displs, from_type, to, to_counts, to_displs, to_type, comm);
    int size = call.group->size, rank = call.group->rank, in_place = from == MPI_IN_PLACE;
    const int *counts = in_place ? to_counts : from_counts;
    MPI_Datatype type = in_place ? to_type : from_type;
    /* Each rank knows what it gives; together they know it all. */
    uint64_t *row = blocks_of(&call, size, counts, type), *all = blocks_of(&call, size * size, NULL, type);
    PMPI_Allgather(row, size, MPI_UINT64_T, all, size, MPI_UINT64_T, comm);
    for (int i = 0; i < size; i++)
        if (all[i * size + rank] != bytes_of(to_counts[i], to_type)) call.why = "lengths differ between ranks";
    call.operation = rl_alltoallv(all, RL_I8);
    call.give = buffer_v(in_place ? to : from, size, counts, in_place ? to_displs : from_displs, type);
    call.get = buffer_v(to, size, to_counts, to_displs, to_type);
    int code, done = shim_operate(&call, &code);
    free(row);
    free(all);
    if (done) return code;
    return PMPI_Alltoallv(from, from_counts, from_displs, from_type, to, to_counts, to_displs, to_type, comm);
}

int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Reduce", comm)) return PMPI_Reduce(from, to, count, type, op, root, comm);
    call.operation = rl_reduce((uint64_t)count, 0, 0, (uint32_t)root);
    reduces(&call, from, to, count, type, op);
    if (call.group->rank == root) call.get = buffer(to, 1, count, type);
    done_or(call, PMPI_Reduce(from, to, count, type, op, root, comm));
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Allreduce", comm)) return PMPI_Allreduce(from, to, count, type, op, comm);
    call.operation = rl_allreduce((uint64_t)count, 0, 0);
    reduces(&call, from, to, count, type, op);
    call.get = buffer(to, 1, count, type);
    done_or(call, PMPI_Allreduce(from, to, count, type, op, comm));
}

int MPI_Reduce_scatter_block(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Reduce_scatter_block", comm))
        return PMPI_Reduce_scatter_block(from, to, count, type, op, comm);
    call.operation = rl_reduce_scatter_block((uint64_t)count, 0, 0);
    reduces(&call, from, to, count, type, op);
    call.give.blocks = call.group->size;
    call.get = buffer(to, 1, count, type);
    done_or(call, PMPI_Reduce_scatter_block(from, to, count, type, op, comm));
}

int MPI_Reduce_scatter(const void *from, void *to, const int *counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    struct shim_call call;
    if (!shim_begin(&call, "MPI_Reduce_scatter", comm)) return PMPI_Reduce_scatter(from, to, counts, type, op, comm);
    int size = call.group->size, total = 0;
    uint64_t *elements = blocks_of(&call, size, NULL, type);
    for (int i = 0; i < size; i++) {
        elements[i] = counts[i] < 0 ? (uint64_t)1 << 40 : (uint64_t)counts[i];
        total += counts[i];
    }
    call.operation = rl_reduce_scatter(elements, 0, 0);
    reduces(&call, from, to, total, type, op);
    call.get = buffer(to, 1, counts[call.group->rank], type);
    int code, done = shim_operate(&call, &code);
    free(elements);
    return done ? code : PMPI_Reduce_scatter(from, to, counts, type, op, comm);
}
