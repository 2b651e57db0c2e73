/* What cards do not do: counted, and passed on to the MPI library. */
#include "shim.h"

#define PASS(name, parameters, arguments, why)         \
    int MPI_##name parameters {                        \
        shim_fell("MPI_" #name, why);                  \
        return PMPI_##name arguments;                  \
    }

static const char NONE[] = "cards have no such operation", PAIR[] = "it is between two ranks";

PASS(Scan, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c), NONE)
PASS(Exscan, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c), NONE)
PASS(Alltoallw,
     (const void *a, const int *n, const int *d, const MPI_Datatype *t, void *b, const int *m, const int *e,
      const MPI_Datatype *u, MPI_Comm c),
     (a, n, d, t, b, m, e, u, c), NONE)
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
