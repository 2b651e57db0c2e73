/* Collectives that are started again and again, with sends and receives of that kind in the same arrays; prints what
 * comes of each, which must be the same with cards and without.
 *   kept ROUNDS */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "init.h"

static int size, rank;

static void fail(const char *what) {
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* A line of all ranks' numbers, without any call that a shim could see. */
static void says(int turn, int what, const void *bytes, size_t length) {
    uint64_t hash = 14695981039346656037u, all[16];
    for (size_t i = 0; i < length; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    PMPI_Gather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank) return;
    printf("%d %d", turn, what);
    for (int i = 0; i < size; i++) printf(" %016lx", all[i]);
    puts("");
}

enum { CALLS = 23, N = 600, ROOM = 16 * N };
static int from[CALLS][ROOM], to[CALLS][ROOM], counts[16], displs[16], same[16], bytes[16];
static MPI_Datatype types[16], own[16];
static MPI_Request requests[CALLS];

/* All are of one communicator or its duplicate, in turn; the last two are a message around. */
static void make(MPI_Comm one, MPI_Comm other) {
    MPI_Datatype pairs;
    MPI_Request *r = requests;
    MPI_Info info = MPI_INFO_NULL;
    int i = 0;
    MPI_Type_contiguous(2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    for (int of = 0; of < size; of++) counts[of] = of * 7 % 11 + 1, displs[of] = of * 12;
    for (int of = 0; of < size; of++) same[of] = counts[rank];
    INIT(Barrier)(one, info, r + i), i++;
    INIT(Bcast)(to[i], N, MPI_INT, size - 1, other, info, r + i), i++;
    INIT(Scatter)(from[i], N, MPI_INT, to[i], N, MPI_INT, 0, one, info, r + i), i++;
    INIT(Scatterv)(from[i], counts, displs, pairs, to[i], counts[rank], pairs, 1, other, info, r + i), i++;
    INIT(Gather)(from[i], N / 2, pairs, to[i], N, MPI_INT, 1, one, info, r + i), i++;
    INIT(Gatherv)(from[i], counts[rank], MPI_INT, to[i], counts, displs, MPI_INT, 0, other, info, r + i), i++;
    INIT(Allgather)(from[i], N, MPI_INT, to[i], N / 2, pairs, one, info, r + i), i++;
    INIT(Allgatherv)(MPI_IN_PLACE, 0, MPI_INT, to[i], counts, displs, MPI_INT, other, info, r + i), i++;
    INIT(Alltoall)(from[i], 5, MPI_INT, to[i], 5, MPI_INT, one, info, r + i), i++;
    INIT(Alltoallv)(from[i], counts, displs, MPI_INT, to[i], same, displs, MPI_INT, other, info, r + i), i++;
    INIT(Reduce)(from[i], to[i], N, MPI_INT, MPI_SUM, 0, one, info, r + i), i++;
    INIT(Allreduce)(from[i], to[i], N, MPI_INT, MPI_MAX, other, info, r + i), i++;
    INIT(Allreduce)(MPI_IN_PLACE, to[i], N, MPI_INT, MPI_BXOR, one, info, r + i), i++;
    INIT(Reduce_scatter)(from[i], to[i], counts, MPI_INT, MPI_SUM, other, info, r + i), i++;
    INIT(Reduce_scatter_block)(from[i], to[i], N, MPI_INT, MPI_MIN, one, info, r + i), i++;
    INIT(Allreduce)(from[i], to[i], N, MPI_INT, MPI_LAND, other, info, r + i), i++;
    INIT(Allreduce)(from[i], to[i], N, MPI_UNSIGNED, MPI_MIN, one, info, r + i), i++;
    INIT(Barrier)(other, info, r + i), i++;
    INIT(Scan)(from[i], to[i], N, MPI_INT, MPI_SUM, one, info, r + i), i++;
    INIT(Exscan)(MPI_IN_PLACE, to[i], N, MPI_INT, MPI_SUM, other, info, r + i), i++;
    for (int of = 0; of < size; of++) types[of] = of % 2 ? MPI_INT : pairs, bytes[of] = of * 96;
    for (int of = 0; of < size; of++) own[of] = rank % 2 ? MPI_INT : pairs;
    INIT(Alltoallw)(from[i], counts, bytes, types, to[i], same, bytes, own, one, info, r + i), i++;
    MPI_Recv_init(to[i], N, MPI_INT, (rank + size - 1) % size, 5, one, r + i), i++;
    MPI_Send_init(from[i], N, MPI_INT, (rank + 1) % size, 5, one, r + i), i++;
    if (i != CALLS) fail("there are other calls than it says");
    MPI_Type_free(&pairs);
}

static void nap(void) {
    const struct timespec pause = {0, 200000};
    nanosleep(&pause, NULL);
}

static void complete(int way) {
    MPI_Status statuses[CALLS];
    int some, at[CALLS], index, flag = 0;
    switch (way % 4) {
    case 0: MPI_Waitall(CALLS, requests, statuses); break;
    case 1:
        for (int done = 0; done < CALLS; done += some) MPI_Waitsome(CALLS, requests, &some, at, statuses);
        break;
    case 2:
        for (int done = 0; done < CALLS; done++) MPI_Waitany(CALLS, requests, &index, statuses);
        break;
    case 3:
        for (; !flag; nap()) MPI_Testall(CALLS, requests, &flag, statuses);
    }
    /* What is over stays, and there is nothing to wait for. */
    MPI_Waitany(CALLS, requests, &index, statuses);
    if (index != MPI_UNDEFINED) fail("a call that is over is under way still");
    for (int i = 0; i < CALLS; i++)
        if (requests[i] == MPI_REQUEST_NULL) fail("a request that can be started again is gone");
}

int main(int argc, char **argv) {
    MPI_Comm other;
    int sum, mine, rounds;
    MPI_Init(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : 8;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    make(MPI_COMM_WORLD, other);
    for (int turn = 0; turn < rounds; turn++) {
        for (int call = 0; call < CALLS; call++)
            for (int i = 0; i < ROOM; i++) to[call][i] = from[call][i] = (turn + 1) * 1000 + call * 31 + rank * 7 + i % 13;
        if (turn % 2) {
            MPI_Startall(CALLS, requests);
        } else {
            /* Each communicator's in their order; one rank begins with the other. */
            for (int half = 0; half < 2; half++)
                for (int i = (half + rank) % 2; i < CALLS; i += 2) MPI_Start(&requests[i]);
        }
        mine = turn + rank;
        complete(turn / 2 + rank);
        for (int call = 0; call < CALLS; call++) says(turn, call, to[call], sizeof to[call]);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, other);
        says(turn, CALLS, &sum, sizeof sum);
    }
    for (int i = 0; i < CALLS; i++) {
        MPI_Request_free(&requests[i]);
        if (requests[i] != MPI_REQUEST_NULL) fail("a freed request is there still");
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
