/* Operations over a full mesh, as plain MPI with messages that all begin at once: what SimGrid's SMPI simulates to check
 * the models of `rackloom study optweb-collectives`.
 *
 *   operations NAME BYTES PIECES
 *
 * prints the seconds until the last rank has what it gets. Data means nothing, and lies in memory that all ranks share.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <smpi/smpi.h>

enum { RANKS_MAX = 64 };

static int me, size;
static char *memory;
static MPI_Request begun[2 * RANKS_MAX];
static int begun_count;

static void put(int to, long bytes) { MPI_Isend(memory, (int)bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &begun[begun_count++]); }

static void take(int from, long bytes) {
  MPI_Irecv(memory, (int)bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &begun[begun_count++]);
}

/* A round: all that was begun is done. */
static void wait_for_all(void) {
  MPI_Waitall(begun_count, begun, MPI_STATUSES_IGNORE);
  begun_count = 0;
}

static int is(const char *name, const char *other) { return strcmp(name, other) == 0; }

static void all_to_all(long bytes) {
  for (int step = 1; step < size; step++) {
    take((me + step) % size, bytes);
    put((me + step) % size, bytes);
  }
  wait_for_all();
}

/* From rank 0 to all, or from all to rank 0. */
static void rooted(int is_gather, long bytes) {
  if (me == 0)
    for (int rank = 1; rank < size; rank++) is_gather ? take(rank, bytes) : put(rank, bytes);
  else
    is_gather ? put(0, bytes) : take(0, bytes);
  wait_for_all();
}

/* From rank 0 to rank 1, a part by each other rank and one directly, in pieces that follow each other. */
static void send_over_all(long bytes, int pieces) {
  long piece = bytes / (size - 1) / pieces;
  int is_between = me > 1;
  for (int round = 0; round <= pieces; round++) {
    int is_first = round < pieces, is_second = round > 0 && size > 2;
    if (me == 0 && is_first)
      for (int rank = 1; rank < size; rank++) put(rank, piece);
    if (me == 1 && is_first) take(0, piece);
    if (me == 1 && is_second)
      for (int rank = 2; rank < size; rank++) take(rank, piece);
    if (is_between && is_first) take(0, piece);
    if (is_between && is_second) put(1, piece);
    wait_for_all();
  }
}

/* From rank 0 to all: a part to each, in pieces, and from there to all others while the next piece comes. */
static void broadcast_over_all(long bytes, int pieces) {
  long piece = bytes / (size - 1) / pieces;
  for (int round = 0; round <= pieces; round++) {
    int is_first = round < pieces, is_second = round > 0 && size > 2;
    for (int rank = 1; rank < size; rank++) {
      if (me == 0 && is_first) put(rank, piece);
      if (me != 0 && rank != me && is_second) {
        take(rank, piece);
        put(rank, piece);
      }
    }
    if (me != 0 && is_first) take(0, piece);
    wait_for_all();
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4 || size < 2 || size > RANKS_MAX) {
    fprintf(stderr, "usage: operations NAME BYTES PIECES, on 2 to 64 ranks\n");
    return 2;
  }
  const char *name = argv[1];
  long bytes = atol(argv[2]);
  int pieces = atoi(argv[3]);
  memory = SMPI_SHARED_MALLOC(bytes > 0 ? bytes : 1);

  double start = MPI_Wtime();
  if (is(name, "sendrecv")) {
    take((me + size - 1) % size, bytes);
    put((me + 1) % size, bytes);
    wait_for_all();
  } else if (is(name, "scatter") || is(name, "gather"))
    rooted(is(name, "gather"), bytes);
  else if (is(name, "allgather") || is(name, "alltoall") || is(name, "reduce-scatter"))
    all_to_all(bytes);
  else if (is(name, "send"))
    send_over_all(bytes, pieces);
  else if (is(name, "broadcast"))
    broadcast_over_all(bytes, pieces);
  else if (is(name, "allreduce")) {
    all_to_all(bytes / size);
    all_to_all(bytes / size);
  } else {
    fprintf(stderr, "unknown operation %s\n", name);
    return 2;
  }
  double took = MPI_Wtime() - start, longest;
  SMPI_SHARED_FREE(memory);
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (me == 0) printf("%.12f\n", longest);
  MPI_Finalize();
  return 0;
}
