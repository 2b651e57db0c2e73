/* A rank of `rackloom comm bench --beside-mpi`: does by MPI what it is asked over a socket. `team.rs` has the lines,
 * `pattern.rs` the bytes and their digest. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD = 4093 };
static int rank, size;
/* As `team.rs` names them. */
enum kind { BARRIER, SEND, SENDRECV, BROADCAST, SCATTER, GATHER, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, REDUCE_SCATTER };
static const char *const kinds[] = {"barrier",   "send",     "sendrecv", "broadcast", "scatter",       "gather",
                                    "allgather", "alltoall", "reduce",   "allreduce", "reduce-scatter"};
static enum kind kind;
static int count;
static MPI_Datatype type;
static MPI_Op op;
static char *give, *get;
static size_t gives, gets;

static const struct {
    const char *name;
    size_t bytes;
} types[] = {{"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8}, {"f32", 4}, {"f64", 8}};

static MPI_Datatype type_of(size_t which) {
    MPI_Datatype of[] = {MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_FLOAT, MPI_DOUBLE};
    return of[which];
}

static int op_of(const char *name) {
    const char *names[] = {"sum", "min", "max", "prod", "and", "or", "xor"};
    MPI_Op of[] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_PROD, MPI_BAND, MPI_BOR, MPI_BXOR};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(name, names[i]) == 0) return op = of[i], 1;
    return 0;
}

static void fill(char *bytes, size_t len, size_t which) {
    size_t one = types[which].bytes, period = PERIOD * one;
    char *table = malloc(period);
    if (!table) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t i = 0; i < PERIOD; i++) {
        int64_t value = i * (31 * i + 7) % 1009 % 2 + (i % size == rank);
        float f32 = (float)value;
        double f64 = (double)value;
        memcpy(table + i * one, which == 4 ? (void *)&f32 : which == 5 ? (void *)&f64 : (void *)&value, one);
    }
    for (size_t at = 0; at < len; at += period) memcpy(bytes + at, table, len - at < period ? len - at : period);
    free(table);
}

static uint64_t digest(const char *bytes, size_t len) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t at = 0; at < len;) {
        uint64_t word = 0;
        size_t step = len - at >= 8 ? 8 : 1;
        memcpy(&word, bytes + at, step);
        hash = (hash ^ word) * 0x100000001b3u;
        hash = hash << 23 | hash >> 41;
        at += step;
    }
    return hash;
}

static void once(void) {
    MPI_Comm all = MPI_COMM_WORLD;
    switch (kind) {
    case BARRIER: MPI_Barrier(all); break;
    case SEND:
        if (rank == 0) MPI_Send(give, count, type, 1, 0, all);
        if (rank == 1) MPI_Recv(get, count, type, 0, 0, all, MPI_STATUS_IGNORE);
        break;
    case SENDRECV:
        MPI_Sendrecv(give, count, type, (rank + 1) % size, 0, get, count, type, (rank + size - 1) % size, 0, all,
                     MPI_STATUS_IGNORE);
        break;
    case BROADCAST: MPI_Bcast(get, count, type, 0, all); break;
    case SCATTER: MPI_Scatter(give, count, type, get, count, type, 0, all); break;
    case GATHER: MPI_Gather(give, count, type, get, count, type, 0, all); break;
    case ALLGATHER: MPI_Allgather(give, count, type, get, count, type, all); break;
    case ALLTOALL: MPI_Alltoall(give, count, type, get, count, type, all); break;
    case REDUCE: MPI_Reduce(give, get, count, type, op, 0, all); break;
    case ALLREDUCE: MPI_Allreduce(give, get, count, type, op, all); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter_block(give, get, count, type, op, all); break;
    }
}

/* Makes buffers; why not, or NULL. */
static const char *prepare(const char *kind_name, uint64_t elements, const char *type_name, const char *op_name) {
    size_t which = 0, known = sizeof types / sizeof *types, named = 0;
    while (named < sizeof kinds / sizeof *kinds && strcmp(kind_name, kinds[named])) named++;
    while (which < known && strcmp(type_name, types[which].name)) which++;
    if (named == sizeof kinds / sizeof *kinds || which == known || !op_of(op_name)) return "MPI has no such operation";
    if (elements > INT32_MAX) return "MPI counts to 2147483647: ask for fewer bytes, or a larger type";
    kind = (enum kind)named;
    count = (int)elements;
    type = type_of(which);
    size_t one = elements * types[which].bytes, all = one * (size_t)size;
    gives = gets = one;
    if (kind == SCATTER || kind == ALLTOALL || kind == REDUCE_SCATTER) gives = all;
    if (kind == GATHER || kind == ALLGATHER || kind == ALLTOALL) gets = all;
    if (rank != 0 && (kind == SEND || kind == BROADCAST || kind == SCATTER)) gives = 0;
    if (rank != 0 && (kind == GATHER || kind == REDUCE)) gets = 0;
    if (rank != 1 && kind == SEND) gets = 0;
    if (kind == BARRIER) gives = gets = 0;
    free(give);
    free(get);
    give = malloc(gives + 1);
    get = malloc(gets + 1);
    if (!give || !get) return "there is no memory for the buffers";
    fill(give, gives, which);
    memset(get, 0xff, gets);
    if (kind == BROADCAST && rank == 0) memcpy(get, give, gives);
    once();
    return NULL;
}

static uint64_t now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

int main(int argc, char **argv) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (argc != 2 || strlen(argv[1]) >= sizeof to.sun_path) return fprintf(stderr, "peer SOCKET\n"), 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    strcpy(to.sun_path, argv[1]);
    int socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0 || connect(socket_, (struct sockaddr *)&to, sizeof to)) {
        perror("cannot come to the bench");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    FILE *in = fdopen(socket_, "r"), *out = fdopen(dup(socket_), "w");
    if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 1);
    fprintf(out, "rank %d %d\n", rank, (int)getpid());
    char line[256], kind_name[32], type_name[16], op_name[16];
    while (fflush(out) == 0 && fgets(line, sizeof line, in)) {
        uint64_t elements;
        int times;
        if (sscanf(line, "prepare %31s %" SCNu64 " %15s %15s", kind_name, &elements, type_name, op_name) == 4) {
            const char *why = prepare(kind_name, elements, type_name, op_name);
            if (why) fprintf(out, "error %s\n", why);
            else fprintf(out, "done %" PRIu64 "\n", digest(get, gets));
        } else if (sscanf(line, "time %d", &times) == 1) {
            MPI_Barrier(MPI_COMM_WORLD);
            uint64_t began = now();
            for (int i = 0; i < times; i++) once();
            fprintf(out, "took %" PRIu64 "\n", now() - began);
        } else {
            fprintf(out, "error this is not what a rank does\n");
        }
    }
    return MPI_Finalize();
}
