/* Every operation on every type, compared with the same as this file writes it down. */
#include <stdint.h>

#include "check.h"

static size_t size_of(uint32_t type) {
    switch (type) {
    case RL_I8: return 1;
    case RL_I16: case RL_F16: case RL_BF16: return 2;
    case RL_I32: case RL_F32: return 4;
    default: return 8;
    }
}

static int is_float(uint32_t type) { return type >= RL_F32; }

/* A half and a bfloat16, as numbers. */
static float half(uint16_t bits) {
    _Float16 value;
    memcpy(&value, &bits, 2);
    return (float)value;
}
static uint16_t to_half(float number) {
    _Float16 value = (_Float16)number;
    uint16_t bits;
    memcpy(&bits, &value, 2);
    return bits;
}
static float brain(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, 4);
    return value;
}
static uint16_t to_brain(float number) {
    uint32_t bits;
    memcpy(&bits, &number, 4);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#define INTEGER(name, type, wide)                             \
    static void name(uint32_t op, void *into, const void *from) { \
        type a, b;                                            \
        memcpy(&a, into, sizeof a);                           \
        memcpy(&b, from, sizeof b);                           \
        switch (op) {                                         \
        case RL_SUM: a = (type)((wide)a + (wide)b); break;    \
        case RL_PROD: a = (type)((wide)a * (wide)b); break;   \
        case RL_MIN: a = b < a ? b : a; break;                \
        case RL_MAX: a = b > a ? b : a; break;                \
        case RL_AND: a = (type)(a & b); break;                \
        case RL_OR: a = (type)(a | b); break;                 \
        default: a = (type)(a ^ b);                           \
        }                                                     \
        memcpy(into, &a, sizeof a);                           \
    }
INTEGER(reduce_i8, int8_t, uint32_t)
INTEGER(reduce_i16, int16_t, uint32_t)
INTEGER(reduce_i32, int32_t, uint32_t)
INTEGER(reduce_i64, int64_t, uint64_t)

#define FLOAT(name, type, number, read, write)                \
    static void name(uint32_t op, void *into, const void *from) { \
        type x, y;                                            \
        memcpy(&x, into, sizeof x);                           \
        memcpy(&y, from, sizeof y);                           \
        number a = read(x), b = read(y);                      \
        switch (op) {                                         \
        case RL_SUM: a = a + b; break;                        \
        case RL_PROD: a = a * b; break;                       \
        case RL_MIN: a = b < a ? b : a; break;                \
        default: a = b > a ? b : a;                           \
        }                                                     \
        x = write(a);                                         \
        memcpy(into, &x, sizeof x);                           \
    }
FLOAT(reduce_f32, float, float, , )
FLOAT(reduce_f64, double, double, , )
FLOAT(reduce_f16, uint16_t, float, half, to_half)
FLOAT(reduce_bf16, uint16_t, float, brain, to_brain)

typedef void reducer(uint32_t op, void *into, const void *from);
static reducer *const REDUCE[] = {NULL,       reduce_i8,  reduce_i16, reduce_i32, reduce_i64,
                                  reduce_f32, reduce_f64, reduce_f16, reduce_bf16};

static uint64_t state = 1;
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Numbers whose sums are rounded; of integers any bits. */
static void fill(uint32_t type, void *at, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double number = (double)(int64_t)(next() % 2001 - 1000) / 7.0;
        float single = (float)number;
        uint16_t bits = type == RL_F16 ? to_half(single) : to_brain(single);
        uint64_t any = next();
        const void *from = type == RL_F64 ? (void *)&number : type == RL_F32 ? (void *)&single : (void *)&any;
        if (type == RL_F16 || type == RL_BF16) from = &bits;
        memcpy((char *)at + i * size_of(type), from, size_of(type));
    }
}

/* The operation's blocks: elements from one rank for another, and where they begin in what the one gives and the other
 * gets. */
static uint64_t block(const rl_operation *o, int size, int from, int to) {
    if (!o->counts) return o->count;
    if (o->kind == RL_ALLTOALL) return o->counts[from * size + to];
    return o->counts[o->kind == RL_GATHER || o->kind == RL_ALLGATHER ? from : to];
}

/* What rank gets, in elements, at want; their number is the result. */
static uint64_t expected(const rl_operation *o, int size, int rank, char *const *give, char *want) {
    size_t wide = size_of(o->type), root = o->root;
    uint64_t at = 0, offset = 0;
    switch (o->kind) {
    case RL_BARRIER: return 0;
    case RL_SEND:
        if ((uint32_t)rank != o->peer) return 0;
        memcpy(want, give[root], o->count * wide);
        return o->count;
    case RL_SENDRECV:
        memcpy(want, give[(rank + size * 9 - (int)o->peer) % size], o->count * wide);
        return o->count;
    case RL_BROADCAST: memcpy(want, give[root], o->count * wide); return o->count;
    case RL_SCATTER:
        for (int to = 0; to < rank; to++) offset += block(o, size, 0, to);
        at = block(o, size, 0, rank);
        memcpy(want, give[root] + offset * wide, at * wide);
        return at;
    case RL_GATHER:
        if (rank != (int)root) return 0; /* Falls through: the root gets what all get of an allgather. */
        __attribute__((fallthrough));
    case RL_ALLGATHER:
        for (int from = 0; from < size; at += block(o, size, from++, rank))
            memcpy(want + at * wide, give[from], block(o, size, from, rank) * wide);
        return at;
    case RL_ALLTOALL:
        for (int from = 0; from < size; at += block(o, size, from++, rank)) {
            offset = 0;
            for (int to = 0; to < rank; to++) offset += block(o, size, from, to);
            memcpy(want + at * wide, give[from] + offset * wide, block(o, size, from, rank) * wide);
        }
        return at;
    default: break;
    }
    if (o->kind == RL_REDUCE && rank != (int)root) return 0;
    at = o->kind == RL_REDUCE_SCATTER ? block(o, size, 0, rank) : o->count;
    if (o->kind == RL_REDUCE_SCATTER)
        for (int to = 0; to < rank; to++) offset += block(o, size, 0, to);
    for (uint64_t i = 0; i < at; i++) {
        memcpy(want + i * wide, give[0] + (offset + i) * wide, wide);
        for (int from = 1; from < size; from++)
            REDUCE[o->type](o->op, want + i * wide, give[from] + (offset + i) * wide);
    }
    return at;
}

static int done;

static void same(rl_comm comm, rl_operation operation) {
    int size = rl_comm_size(comm);
    char *give[RANKS_MAX], *get[RANKS_MAX];
    for (int rank = 0; rank < size; rank++) {
        uint64_t gives, gets;
        must(rl_comm_bytes(comm, &operation, rank, &gives, &gets));
        give[rank] = room(gives, 1);
        get[rank] = room(gets, 1);
        fill(operation.type, give[rank], gives / size_of(operation.type));
    }
    must(rl_comm_run(comm, &operation, (const void *const *)give, (void *const *)get));
    for (int rank = 0; rank < size; rank++) {
        uint64_t gets;
        must(rl_comm_bytes(comm, &operation, rank, NULL, &gets));
        char *want = room(gets, 1);
        uint64_t bytes = expected(&operation, size, rank, give, want) * size_of(operation.type);
        check(bytes == gets, "kind %u: rank %d gets %lu, not %lu", operation.kind, rank, gets, bytes);
        check(!memcmp(want, get[rank], bytes), "kind %u, type %u, op %u, count %lu: rank %d", operation.kind,
              operation.type, operation.op, operation.count, rank);
        free(want);
    }
    for (int rank = 0; rank < size; rank++) {
        free(give[rank]);
        free(get[rank]);
    }
    done++;
}

int main(void) {
    rl_comm comm;
    must(rl_comm_open(NULL, NULL, 60000, &comm));
    uint32_t size = (uint32_t)rl_comm_size(comm), last = size - 1;
    uint64_t counts[RANKS_MAX], table[RANKS_MAX * RANKS_MAX];
    for (uint32_t i = 0; i < size; i++) counts[i] = i * 37 % 100;
    for (uint32_t i = 0; i < size * size; i++) table[i] = i * 29 % 50;
    same(comm, rl_barrier());
    for (uint32_t type = RL_I8; type <= RL_BF16; type++) {
        uint64_t count = type == RL_I32 ? 5000 : 65;
        same(comm, rl_send(count, type, 0, last));
        same(comm, rl_sendrecv(count, type, 1));
        same(comm, rl_broadcast(count, type, last));
        same(comm, rl_scatter(count, type, 1));
        same(comm, rl_scatterv(counts, type, 0));
        same(comm, rl_gather(count, type, last));
        same(comm, rl_gatherv(counts, type, 1));
        same(comm, rl_allgather(count, type));
        same(comm, rl_allgatherv(counts, type));
        same(comm, rl_alltoall(count, type));
        same(comm, rl_alltoallv(table, type));
        for (uint32_t op = RL_SUM; op <= (is_float(type) ? RL_PROD : RL_XOR); op++) {
            same(comm, rl_reduce(count, type, op, last));
            same(comm, rl_allreduce(count, type, op));
            same(comm, rl_reduce_scatter_block(count, type, op));
            same(comm, rl_reduce_scatter(counts, type, op));
        }
        same(comm, rl_allreduce(0, type, RL_SUM));
    }
    must(rl_comm_free(comm));
    printf("%d operations on %u ranks\n", done, size);
    return 0;
}
