/* Collectives that are begun and waited for later, in random mixes: on several communicators at once, begun in another
 * order by each rank, among sends and receives, and completed in every way that MPI has. Prints what comes of each, which
 * must be the same with cards and without.
 *   begun SEED ROUNDS [frees: what is under way] */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int size, rank, frees;

static void fail(const char *what) {
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static uint64_t hash_of(const void *bytes, size_t length) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return hash;
}

/* A line of all ranks' numbers, without any call that a shim could see. */
static void says(const char *what, uint64_t number) {
    uint64_t all[16];
    PMPI_Gather(&number, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank) return;
    printf("%s", what);
    for (int i = 0; i < size; i++) printf(" %016lx", all[i]);
    puts("");
}

/* Two sources of chance: one that is the same on all ranks, and one of each. */
static uint64_t common, mine;
static unsigned draw(uint64_t *from, unsigned below) {
    *from += 0x9e3779b97f4a7c15u;
    uint64_t z = *from;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (unsigned)((z ^ (z >> 31)) % below);
}

#define COMMS 4
static MPI_Comm comms[COMMS], apart;

#define ROOM (64 * 1024)
#define CALLS 24
struct one {
    MPI_Request request;
    int kind, comm, n, in_place, root;
    unsigned op;
    int counts[16], displs[16], other_counts[16], other_displs[16];
    MPI_Datatype types[16], other_types[16];
    uint64_t from[ROOM / 8], to[ROOM / 8]; /* Of any elements: so aligned. */
    size_t hashed;
    int from_rank, tag, elements; /* Of a message that comes. */
};
static struct one calls[CALLS];
enum { SENT = 17, RECEIVED, KINDS };

static const struct {
    MPI_Op op;
    MPI_Datatype type;
    int wide;
} reductions[] = {{MPI_SUM, MPI_INT, 4},  {MPI_MAX, MPI_LONG, 8},   {MPI_BXOR, MPI_UNSIGNED, 4}, {MPI_MIN, MPI_FLOAT, 4},
                  {MPI_SUM, MPI_LONG, 8}, {MPI_LAND, MPI_INT, 4}, {MPI_MAX, MPI_UNSIGNED, 4}};

/* The same on all ranks: what is to be done, but not yet with which data. */
static void plan(struct one *c, int turn) {
    int of;
    memset(c, 0, offsetof(struct one, from));
    c->request = MPI_REQUEST_NULL;
    c->kind = (int)draw(&common, SENT);
    c->comm = (int)draw(&common, COMMS);
    c->n = (int)draw(&common, 8) ? (int)draw(&common, 200) : (int)draw(&common, 2) * 1000;
    c->in_place = (int)draw(&common, 3) == 0;
    c->op = draw(&common, sizeof reductions / sizeof *reductions);
    unsigned root = draw(&common, 1000), lengths = draw(&common, 1000);
    if (comms[c->comm] == MPI_COMM_NULL) return;
    MPI_Comm_size(comms[c->comm], &of);
    MPI_Comm_rank(comms[c->comm], &c->from_rank);
    c->root = (int)root % of;
    for (int i = 0; i < of; i++) {
        /* Alltoallv: what i sends to j, of both sides. */
        c->counts[i] = (int)(lengths + (unsigned)(i * 7)) % (c->n / 4 + 1);
        c->other_counts[i] = (int)(lengths + (unsigned)(i * 5 + c->from_rank * 3)) % (c->n / 4 + 1);
        c->displs[i] = (of - 1 - i) * (c->n / 4 + 1);
        c->other_displs[i] = i * (c->n / 4 + 1);
    }
    for (int i = 0; i < ROOM / 8; i++)
        c->from[i] = ((uint64_t)(i * 31 + rank * 17 + turn) * 0x9e3779b97f4a7c15u >> 40 & 0x3fff) * 0x0000000100000001u;
    memcpy(c->to, c->from, sizeof c->to);
}

/* Begins one of comm's; at most 16 ranks with so many elements each have room. */
static void begin(struct one *c) {
    MPI_Comm comm = comms[c->comm];
    MPI_Datatype type, other;
    int of, in, is_root, n = c->n;
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_size(comm, &of);
    MPI_Comm_rank(comm, &in);
    is_root = in == c->root;
    /* One to four ints as one element; the type is freed as soon as the call has begun, which MPI allows. */
    MPI_Type_contiguous(1 + n % 4, MPI_INT, &type);
    MPI_Type_commit(&type);
    const void *from = c->in_place ? MPI_IN_PLACE : c->from;
    const void *root_from = c->in_place && is_root ? MPI_IN_PLACE : c->from;
    void *to = c->to;
    MPI_Op op = reductions[c->op].op;
    MPI_Datatype element = reductions[c->op].type;
    MPI_Request *r = &c->request;
    c->hashed = ROOM;
    switch (c->kind) {
    case 0: MPI_Ibarrier(comm, r); break;
    case 1: MPI_Ibcast(to, n, type, c->root, comm, r); break;
    case 2:
        MPI_Iscatter(from == MPI_IN_PLACE ? c->from : from, n / 4, type, c->in_place && is_root ? MPI_IN_PLACE : to, n / 4,
                     type, c->root, comm, r);
        break;
    case 3:
        MPI_Iscatterv(c->from, c->counts, c->displs, type, c->in_place && is_root ? MPI_IN_PLACE : to, c->counts[in], type,
                      c->root, comm, r);
        break;
    case 4: MPI_Igather(root_from, n / 4, type, to, n / 4, type, c->root, comm, r); break;
    case 5: MPI_Igatherv(root_from, c->counts[in], type, to, c->counts, c->displs, type, c->root, comm, r); break;
    case 6: MPI_Iallgather(from, n / 4, type, to, n / 4, type, comm, r); break;
    case 7: MPI_Iallgatherv(from, c->counts[in], type, to, c->counts, c->displs, type, comm, r); break;
    case 8: MPI_Ialltoall(from, n / 4, type, to, n / 4, type, comm, r); break;
    case 9: {
        /* What this rank gives to i is of i's and its own numbers, and so the other way round. */
        for (int i = 0; i < of; i++) c->counts[i] = (i * 5 + in * 3) % (n / 4 + 1);
        for (int i = 0; i < of; i++) c->other_counts[i] = (in * 5 + i * 3) % (n / 4 + 1);
        MPI_Ialltoallv(c->from, c->counts, c->displs, type, to, c->other_counts, c->other_displs, type, comm, r);
        break;
    }
    case 10: MPI_Ireduce(root_from, to, n, element, op, c->root, comm, r); break;
    case 11: MPI_Iallreduce(from, to, n, element, op, comm, r); break;
    case 12: MPI_Ireduce_scatter_block(from, to, n / 4, element, op, comm, r); break;
    case 13: MPI_Ireduce_scatter(from, to, c->counts, element, op, comm, r); break;
    case 14: MPI_Iscan(from, to, n, element, op, comm, r); break;
    case 15: MPI_Iexscan(from, to, n, element, op, comm, r); break;
    case 16:
        /* Ranks of one kind give those elements, and ints to the others. */
        for (int i = 0; i < of; i++) {
            int ints = (i + in) % 2 ? 1 : 1 + n % 4;
            c->types[i] = c->other_types[i] = (i + in) % 2 ? type : MPI_INT;
            c->counts[i] = (i * 5 + in * 3) % (n / 4 + 1) * ints;
            c->other_counts[i] = (in * 5 + i * 3) % (n / 4 + 1) * ints;
            c->displs[i] = c->other_displs[i] = i * (n / 4 + 1) * 16;
        }
        MPI_Ialltoallw(c->from, c->counts, c->displs, c->types, to, c->other_counts, c->other_displs, c->other_types, comm,
                       r);
        break;
    }
    /* Beyond its result a reduction in place leaves what it likes. */
    if (c->kind == 12) c->hashed = (size_t)(n / 4 * reductions[c->op].wide);
    if (c->kind == 13) c->hashed = (size_t)(c->counts[in] * reductions[c->op].wide);
    if (c->kind == 10 && !is_root) c->hashed = 0;
    MPI_Type_free(&type);
    /* What looks at it still finds this in its place. */
    MPI_Type_vector(3, 1, 3, MPI_DOUBLE, &other);
    MPI_Type_free(&other);
}

/* A message for the next rank, and one of the rank before. */
static void message(struct one *to, struct one *from, int tag) {
    int n = (int)draw(&common, 3) * 4000;
    to->elements = from->elements = n;
    to->kind = SENT;
    from->kind = RECEIVED;
    from->from_rank = (rank + size - 1) % size;
    from->tag = tag;
    from->hashed = ROOM;
    to->hashed = 0;
    MPI_Irecv(from->to, n, MPI_INT, tag % 2 ? MPI_ANY_SOURCE : from->from_rank, tag, MPI_COMM_WORLD, &from->request);
    MPI_Isend(to->from, n, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD, &to->request);
}

static void status_is_right(const struct one *c, MPI_Status *status) {
    int count, cancelled;
    MPI_Test_cancelled(status, &cancelled);
    if (cancelled) fail("a status says that it was cancelled");
    if (c->kind != RECEIVED) return;
    MPI_Get_count(status, MPI_INT, &count);
    if (status->MPI_SOURCE != c->from_rank || status->MPI_TAG != c->tag || count != c->elements)
        fail("a status is of another message");
}

/* Whoever looks again and again leaves the processor to those that it waits for. */
static int pause_if(int nothing) {
    const struct timespec pause = {0, 200000};
    if (nothing) nanosleep(&pause, NULL);
    return nothing;
}

static struct one *call_of(MPI_Request *requests, const int *place, int at) {
    if (requests[at] != MPI_REQUEST_NULL) fail("a request that is over is there still");
    return &calls[place[at]];
}

/* Completes all of them, in a way that chance picks on each rank. */
static void complete(void) {
    MPI_Request requests[CALLS + 1];
    MPI_Status statuses[CALLS + 1];
    int place[CALLS + 1], at[CALLS + 1], number = 0, flag = 0, done = 0, some, index;
    for (int i = 0; i < CALLS; i++) {
        place[number] = i;
        requests[number++] = calls[i].request;
        calls[i].request = MPI_REQUEST_NULL;
    }
    /* In any order, with one that is none. */
    place[number] = 0;
    requests[number++] = MPI_REQUEST_NULL;
    for (int i = number - 1; i > 0; i--) {
        int j = (int)draw(&mine, (unsigned)i + 1), was = place[i];
        MPI_Request of = requests[i];
        requests[i] = requests[j], requests[j] = of;
        place[i] = place[j], place[j] = was;
    }
    int open = 0;
    for (int i = 0; i < number; i++) open += requests[i] != MPI_REQUEST_NULL;
    switch (draw(&mine, 8)) {
    case 0:
        for (int i = 0; i < number; i++) at[i] = requests[i] != MPI_REQUEST_NULL;
        MPI_Waitall(number, requests, statuses);
        for (int i = 0; i < number; i++)
            if (at[i]) status_is_right(call_of(requests, place, i), &statuses[i]);
        return;
    case 1: MPI_Waitall(number, requests, MPI_STATUSES_IGNORE); return;
    case 2:
        for (; done < open; done++) {
            MPI_Waitany(number, requests, &index, statuses);
            status_is_right(call_of(requests, place, index), statuses);
        }
        MPI_Waitany(number, requests, &index, statuses);
        if (index != MPI_UNDEFINED) fail("Waitany has found one more");
        return;
    case 3:
        while (done < open) {
            MPI_Waitsome(number, requests, &some, at, statuses);
            for (int i = 0; i < some; i++) status_is_right(call_of(requests, place, at[i]), &statuses[i]);
            done += some;
        }
        MPI_Waitsome(number, requests, &some, at, statuses);
        if (some != MPI_UNDEFINED) fail("Waitsome has found one more");
        return;
    case 4:
        while (done < open) {
            MPI_Testsome(number, requests, &some, at, statuses);
            if (pause_if(some == 0)) continue;
            for (int i = 0; i < some; i++) status_is_right(call_of(requests, place, at[i]), &statuses[i]);
            done += some;
        }
        return;
    case 5:
        while (!flag) MPI_Testall(number, requests, &flag, MPI_STATUSES_IGNORE), pause_if(!flag);
        return;
    case 6:
        while (done < open) {
            MPI_Testany(number, requests, &index, &flag, statuses);
            if (pause_if(!flag)) continue;
            status_is_right(call_of(requests, place, index), statuses);
            done++;
        }
        return;
    default:
        for (int i = 0; i < number; i++) {
            if (requests[i] == MPI_REQUEST_NULL) continue;
            for (flag = 0; !flag; pause_if(!flag)) MPI_Request_get_status(requests[i], &flag, statuses);
            status_is_right(&calls[place[i]], statuses);
            for (flag = 0; !flag; pause_if(!flag)) MPI_Test(&requests[i], &flag, statuses);
            status_is_right(call_of(requests, place, i), statuses);
        }
    }
}

static void round_of(int turn) {
    int sum = 0, own = rank + turn, next[COMMS], left = CALLS - 4;
    for (int i = 0; i < CALLS; i++) plan(&calls[i], turn * CALLS + i);
    message(&calls[CALLS - 1], &calls[CALLS - 2], 2 * turn);
    message(&calls[CALLS - 3], &calls[CALLS - 4], 2 * turn + 1);
    /* A communicator's own come in order; among those each rank takes the next of any. */
    for (int i = 0; i < COMMS; i++) next[i] = 0;
    while (left > 0) {
        int comm = (int)draw(&mine, COMMS);
        while (next[comm] < CALLS - 4 && calls[next[comm]].comm != comm) next[comm]++;
        if (next[comm] == CALLS - 4) continue;
        begin(&calls[next[comm]++]);
        left--;
        /* One that all wait for comes in between, after other calls on each rank. */
        if (left == 8) MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, apart);
    }
    complete();
    says("sum", (uint64_t)sum);
    for (int i = 0; i < CALLS; i++) {
        char what[64];
        snprintf(what, sizeof what, "%d: kind %d of %d", turn, calls[i].kind, calls[i].comm);
        int in = calls[i].kind >= SENT || comms[calls[i].comm] != MPI_COMM_NULL;
        says(what, in ? hash_of(calls[i].to, calls[i].hashed) : 0);
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What MPI promises of requests, beside that they end. */
static void promises(void) {
    MPI_Request requests[2];
    MPI_Comm again;
    int value = rank + 1, sums[2] = {0, 0}, token = rank, flag;
    /* A call goes on while its rank waits for something else. */
    MPI_Ibarrier(MPI_COMM_WORLD, requests);
    if (rank == 0) {
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        for (int to = 1; to < size; to++) MPI_Send(&token, 1, MPI_INT, to, 77, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
    /* Nobody waits for a call of another communicator that a rank has yet to make. */
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    if (rank == 0) MPI_Iallreduce(&value, &sums[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&value, &sums[1], 1, MPI_INT, MPI_PROD, again, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Iallreduce(&value, &sums[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    says("crossed", hash_of(sums, sizeof sums));
    /* A communicator that is freed is there until its calls are over; not so in Open MPI 4.1 alone, which crashes. */
    MPI_Iallgather(&value, 1, MPI_INT, calls[0].to, 1, MPI_INT, again, &requests[0]);
    MPI_Ibarrier(again, &requests[1]);
    if (frees) MPI_Comm_free(&again);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (!frees) MPI_Comm_free(&again);
    says("freed communicator", hash_of(calls[0].to, (size_t)size * sizeof value));
    /* A request that is freed goes on, though MPI promises nothing and Open MPI refuses it. */
    volatile int *late = calloc(1, sizeof *late);
    MPI_Iallreduce(&value, (void *)late, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    if (frees) MPI_Request_free(&requests[0]);
    else MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    if (requests[0] != MPI_REQUEST_NULL) fail("a freed request is there still");
    for (double end = seconds() + 20; *late == 0;) {
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (seconds() > end) fail("a freed request does not go on");
    }
    says("freed request", (uint64_t)*late);
    /* Errors of arguments come at once. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int classes[3];
    MPI_Error_class(MPI_Ibcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD, requests), &classes[0]);
    MPI_Error_class(MPI_Iallreduce(&value, sums, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests), &classes[1]);
    MPI_Error_class(MPI_Igather(&value, 1, MPI_DATATYPE_NULL, calls[0].to, 1, MPI_INT, 0, MPI_COMM_WORLD, requests),
                    &classes[2]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < 3; i++)
        if (classes[i] == MPI_SUCCESS) fail("nonsense is no error");
    says("errors", hash_of(classes, sizeof classes));
    MPI_Allreduce(&value, sums, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    says("after errors", (uint64_t)sums[0]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    common = strtoull(argv[1], NULL, 10);
    mine = common * 1000 + (uint64_t)rank;
    frees = argc > 3;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &comms[3]);
    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    for (int turn = 0; turn < atoi(argv[2]); turn++) round_of(turn);
    promises();
    /* Nobody waits for the last. */
    MPI_Request last;
    MPI_Ibarrier(comms[1], &last);
    MPI_Finalize();
    return 0;
}
