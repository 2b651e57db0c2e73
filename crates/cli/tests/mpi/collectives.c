/* Every collective as MPI programs call it; prints what comes of each, which must be the same with cards and without. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int size, rank;
static MPI_Comm comm;

/* What this rank has, as a number: of all ranks' one line is printed, without any call that a shim could see. */
static void says(const char *what, const void *bytes, size_t length, int code) {
    uint64_t hash = 14695981039346656037u + (uint64_t)code;
    for (size_t i = 0; i < length; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    uint64_t all[16];
    PMPI_Gather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, comm);
    if (rank) return;
    printf("%s", what);
    for (int i = 0; i < size; i++) printf(" %016lx", all[i]);
    puts("");
}

#define N 1000
static char from[16 * N * 8], to[16 * N * 8];

/* Elements of a type. Integers of 32 and 64 bits are any; sums of 8 and 16 bits do not overflow, since Open MPI
 * saturates some of those with AVX. Floats are 1 to 3, so that products are the same in any order. */
static void fill(MPI_Datatype type, int wide, int count) {
    memset(to, 0x55, sizeof to);
    for (int i = 0; i < count; i++) {
        int value = (i * 7 + rank * 3) % 3 + 1;
        double number = value;
        float single = (float)value;
        uint64_t whole = (uint64_t)(i * 7 + rank * 3 + 1) * 0x9e3779b97f4a7c15u;
        whole ^= whole >> 29;
        if (wide <= 2) whole %= wide == 1 ? 31 : 8000;
        const void *at = type == MPI_DOUBLE ? (void *)&number : type == MPI_FLOAT ? (void *)&single : (void *)&whole;
        memcpy(from + i * wide, at, (size_t)wide);
    }
}

static void reductions(void) {
    const struct {
        const char *name;
        MPI_Datatype type;
        int wide;
    } types[] = {{"i8", MPI_INT8_T, 1},    {"short", MPI_SHORT, 2},        {"int", MPI_INT, 4},       {"long", MPI_LONG, 8},
                 {"u16", MPI_UINT16_T, 2}, {"unsigned", MPI_UNSIGNED, 4}, {"float", MPI_FLOAT, 4}, {"double", MPI_DOUBLE, 8},
                 {"byte", MPI_BYTE, 1}};
    const struct {
        const char *name;
        MPI_Op op;
        int bits;
    } ops[] = {{"sum", MPI_SUM, 0},   {"min", MPI_MIN, 0}, {"max", MPI_MAX, 0},   {"prod", MPI_PROD, 0},
               {"band", MPI_BAND, 1}, {"bor", MPI_BOR, 1}, {"bxor", MPI_BXOR, 1}, {"land", MPI_LAND, 0}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            MPI_Datatype type = types[t].type;
            MPI_Op op = ops[o].op;
            int wide = types[t].wide, is_float = type == MPI_FLOAT || type == MPI_DOUBLE, counts[16], own;
            if ((ops[o].bits && is_float) || (!ops[o].bits && type == MPI_BYTE) || (op == MPI_LAND && is_float)) continue;
            char what[64];
            snprintf(what, sizeof what, "%s %s", types[t].name, ops[o].name);
            fill(type, wide, N);
            MPI_Allreduce(from, to, N, type, op, comm);
            says(what, to, (size_t)(N * wide), 0);
            MPI_Allreduce(MPI_IN_PLACE, from, N, type, op, comm);
            says(what, from, (size_t)(N * wide), 0);
            fill(type, wide, N);
            MPI_Reduce(from, to, N, type, op, size - 1, comm);
            says(what, to, (size_t)(N * wide), 0);
            MPI_Reduce(rank ? from : MPI_IN_PLACE, rank ? to : from, N, type, op, 0, comm);
            says(what, rank ? to : from, (size_t)(N * wide), 0);
            fill(type, wide, 10 * size);
            MPI_Reduce_scatter_block(from, to, 10, type, op, comm);
            says(what, to, (size_t)(10 * wide), 0);
            own = 0;
            for (int i = 0; i < size; i++) own += counts[i] = i * 5 % 7;
            fill(type, wide, own);
            MPI_Reduce_scatter(from, to, counts, type, op, comm);
            says(what, to, (size_t)(counts[rank] * wide), 0);
            MPI_Reduce_scatter(MPI_IN_PLACE, from, counts, type, op, comm);
            says(what, from, (size_t)(counts[rank] * wide), 0);
            fill(type, wide, N);
            MPI_Scan(from, to, N, type, op, comm);
            says(what, to, (size_t)(N * wide), 0);
            memset(to, 0x55, sizeof to);
            MPI_Exscan(from, to, N, type, op, comm);
            says(what, to, (size_t)(N * wide), 0);
            memcpy(to, from, sizeof to);
            MPI_Scan(MPI_IN_PLACE, from, N, type, op, comm);
            says(what, from, (size_t)(N * wide), 0);
            MPI_Exscan(MPI_IN_PLACE, to, N, type, op, comm);
            says(what, to, (size_t)(N * wide), 0);
        }
}

/* Moves of count elements of a type whose elements have so many bytes with their gaps; results with gaps are compared. */
static void moves(const char *name, MPI_Datatype type, MPI_Datatype other, int each, int wide) {
    const int n = 20;
    int counts[16], displs[16], row[16], row_at[16], column[16], column_at[16];
    char what[64];
    size_t all = (size_t)(size * n * wide);
#define DO(label, call)                                   \
    do {                                                  \
        fill(MPI_INT8_T, 1, size *n * wide);              \
        call;                                             \
        snprintf(what, sizeof what, "%s %s", name, label); \
        says(what, to, all, 0);                           \
    } while (0)
    /* Some ranks describe the same elements by another type. */
    MPI_Datatype mine = rank % 2 ? other : type;
    int count = rank % 2 ? n * each : n;
    DO("bcast", MPI_Bcast(rank == 1 ? from : to, count, mine, 1, comm));
    DO("scatter", MPI_Scatter(from, n, type, to, count, mine, 0, comm));
    DO("gather", MPI_Gather(from, count, mine, to, n, type, 0, comm));
    DO("allgather", MPI_Allgather(from, count, mine, to, n, type, comm));
    DO("alltoall", MPI_Alltoall(from, count, mine, to, n, type, comm));
    for (int i = 0, at = 0; i < size; i++) {
        counts[i] = (i * 7 + 3) % n;
        displs[i] = size * n - (at += counts[i]); /* The last comes first. */
        row[i] = (rank * 5 + i * 3) % n;
        column[i] = (i * 5 + rank * 3) % n;
        row_at[i] = column_at[i] = i * n;
    }
    DO("scatterv", MPI_Scatterv(from, counts, displs, type, to, counts[rank], type, size - 1, comm));
    DO("gatherv", MPI_Gatherv(from, counts[rank], type, to, counts, displs, type, 1, comm));
    DO("allgatherv", MPI_Allgatherv(from, counts[rank], type, to, counts, displs, type, comm));
    DO("alltoallv", MPI_Alltoallv(from, row, row_at, type, to, column, column_at, type, comm));
    /* What one rank gives as elements of the one type another gets as those of the other. */
    MPI_Datatype row_types[16], column_types[16];
    int row_bytes[16], column_bytes[16], in[16];
    for (int i = 0; i < size; i++) {
        int ours = (i + rank) % 2;
        row_bytes[i] = i * n * wide;
        column_bytes[i] = (size - 1 - i) * n * wide;
        row_types[i] = ours ? type : other;
        column_types[i] = ours ? other : type;
        row[i] = ours ? (rank * 5 + i * 3) % n : (rank * 5 + i * 3) % n * each;
        column[i] = ours ? (i * 5 + rank * 3) % n * each : (i * 5 + rank * 3) % n;
        in[i] = (i + rank) % n;
    }
    DO("alltoallw", MPI_Alltoallw(from, row, row_bytes, row_types, to, column, column_bytes, column_types, comm));
#define IN_PLACE memcpy(to, from, all)
    DO("scatter in place", MPI_Scatter(from, n, type, rank ? to : MPI_IN_PLACE, n, type, 0, comm));
    DO("gather in place", (IN_PLACE, MPI_Gather(rank ? from : MPI_IN_PLACE, n, type, to, n, type, 0, comm)));
    DO("allgather in place", (IN_PLACE, MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, n, type, comm)));
    DO("alltoall in place", (IN_PLACE, MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, n, type, comm)));
    DO("gatherv in place",
       (IN_PLACE, MPI_Gatherv(rank ? from : MPI_IN_PLACE, counts[rank], type, to, counts, displs, type, 0, comm)));
    DO("allgatherv in place",
       (IN_PLACE, MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, counts, displs, type, comm)));
    for (int i = 0; i < size; i++) column[i] = (i + rank) % n;
    DO("alltoallv in place",
       (IN_PLACE, MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, to, column, column_at, type, comm)));
    for (int i = 0; i < size; i++) column_types[i] = type;
    DO("alltoallw in place",
       (IN_PLACE, MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, to, in, column_bytes, column_types, comm)));
}

static void twice(void *a, void *b, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)b)[i] += 2 * ((int *)a)[i] - ((int *)a)[i];
}

static void others(void) {
    MPI_Op op;
    MPI_Request request;
    MPI_Op_create(twice, 1, &op);
    fill(MPI_INT, 4, N);
    MPI_Allreduce(from, to, N, MPI_INT, op, comm);
    says("own operation", to, 4 * N, 0);
    MPI_Op_free(&op);
    MPI_Scan(from, to, N, MPI_INT, MPI_SUM, comm);
    says("scan", to, 4 * N, 0);
    MPI_Exscan(from, to, N, MPI_UNSIGNED, MPI_MAX, comm);
    says("exscan", to, 4 * N, 0);
    /* Both add in the order of ranks: what is rounded otherwise in another order is the same. */
    double parts_of[N];
    for (int i = 0; i < N; i++) parts_of[i] = 1.0 / (i * 7 + rank * 3 + 1);
    MPI_Scan(parts_of, to, N, MPI_DOUBLE, MPI_SUM, comm);
    says("scan in order", to, sizeof parts_of, 0);
    MPI_Iallreduce(from, to, N, MPI_INT, MPI_MAX, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    says("iallreduce", to, 4 * N, 0);
    struct {
        double value;
        int at;
    } pair = {(rank * 5 + 2) % 7, rank}, least;
    memset(&least, 0, sizeof least);
    MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    says("minloc", &least.at, sizeof least.at, 0);
    MPI_Bcast(NULL, 0, MPI_INT, 0, comm);
    MPI_Barrier(comm);
    /* Errors stay what they are. */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int class, code = MPI_Bcast(from, 1, MPI_INT, size, comm);
    MPI_Error_class(code, &class);
    says("no such root", NULL, 0, class);
    code = MPI_Allreduce(from, to, -1, MPI_INT, MPI_SUM, comm);
    MPI_Error_class(code, &class);
    says("no such count", NULL, 0, class);
    code = MPI_Allreduce(from, to, 1, MPI_FLOAT, MPI_BXOR, comm);
    MPI_Error_class(code, &class);
    says("no such operation", NULL, 0, class);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

/* A long message goes on while its sender waits for a rank that has to get it first. */
static void message(void) {
    enum { LONG = 1 << 20 };
    static char long_one[LONG];
    MPI_Request request;
    memset(long_one, rank ? 0 : 7, LONG);
    if (rank == 0) MPI_Isend(long_one, LONG, MPI_CHAR, 1, 3, comm, &request);
    if (rank == 1) MPI_Recv(long_one, LONG, MPI_CHAR, 0, 3, comm, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    says("message", long_one, LONG, 0);
}

static void parts(void) {
    MPI_Comm part, again;
    int in, sum = 0;
    MPI_Comm_split(comm, rank == size - 1 ? MPI_UNDEFINED : 0, -rank, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_rank(part, &in);
        MPI_Comm_dup(part, &again);
        in = in * 10 + rank;
        MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, again);
        int all[16] = {0};
        MPI_Gather(&in, 1, MPI_INT, all, 1, MPI_INT, 0, part);
        for (int i = 0; i < size; i++) sum = sum * 31 + all[i];
        MPI_Comm_free(&again);
        MPI_Comm_free(&part);
    }
    says("part", &sum, sizeof sum, 0);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    reductions();
    moves("bytes", MPI_BYTE, MPI_CHAR, 1, 1);
    MPI_Datatype gaps, pairs;
    MPI_Type_vector(3, 1, 2, MPI_INT, &gaps); /* Three of five ints. */
    MPI_Type_commit(&gaps);
    moves("gaps", gaps, MPI_INT, 3, 20);
    MPI_Type_contiguous(2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    moves("pairs", pairs, MPI_INT, 2, 8);
    others();
    message();
    parts();
    comm = MPI_COMM_WORLD;
    MPI_Type_free(&gaps);
    MPI_Type_free(&pairs);
    MPI_Finalize();
    return 0;
}
