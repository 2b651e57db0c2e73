/* What cards do not do: counted, and passed on to the MPI library. */
#include "shim.h"

#define PASS(name, parameters, arguments, why)         \
    int MPI_##name parameters {                        \
        shim_fell("MPI_" #name, why);                  \
        return PMPI_##name arguments;                  \
    }

static const char PAIR[] = "it is between two ranks", NEAR[] = "it is among neighbours";

PASS(Neighbor_allgather,
     (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c), (a, n, t, b, m, u, c), NEAR)
PASS(Neighbor_allgatherv,
     (const void *a, int n, MPI_Datatype t, void *b, const int *m, const int *e, MPI_Datatype u, MPI_Comm c),
     (a, n, t, b, m, e, u, c), NEAR)
PASS(Neighbor_alltoall,
     (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c), (a, n, t, b, m, u, c), NEAR)
PASS(Neighbor_alltoallv,
     (const void *a, const int *n, const int *d, MPI_Datatype t, void *b, const int *m, const int *e, MPI_Datatype u,
      MPI_Comm c),
     (a, n, d, t, b, m, e, u, c), NEAR)
PASS(Neighbor_alltoallw,
     (const void *a, const int *n, const MPI_Aint *d, const MPI_Datatype *t, void *b, const int *m, const MPI_Aint *e,
      const MPI_Datatype *u, MPI_Comm c),
     (a, n, d, t, b, m, e, u, c), NEAR)
PASS(Send, (const void *a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (a, n, t, to, tag, c), PAIR)
PASS(Recv, (void *a, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s), (a, n, t, from, tag, c, s),
     PAIR)
PASS(Isend, (const void *a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),
     (a, n, t, to, tag, c, r), PAIR)
PASS(Irecv, (void *a, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),
     (a, n, t, from, tag, c, r), PAIR)
PASS(Sendrecv,
     (const void *a, int n, MPI_Datatype t, int to, int tag, void *b, int m, MPI_Datatype u, int from, int with,
      MPI_Comm c, MPI_Status *s),
     (a, n, t, to, tag, b, m, u, from, with, c, s), PAIR)
