/* Communicators that a program makes, where all ranks may wait for each other: their groups are made at once, so that the
 * first call may be one that does not wait. */
#include "shim.h"

static int made(int code, const MPI_Comm *comm) {
    if (code == MPI_SUCCESS && *comm != MPI_COMM_NULL && shim_on()) shim_group_of(*comm, 1);
    return code;
}

#define MADE(name, parameters, arguments) \
    int MPI_##name parameters { return made(PMPI_##name arguments, out); }

MADE(Comm_dup, (MPI_Comm c, MPI_Comm *out), (c, out))
MADE(Comm_dup_with_info, (MPI_Comm c, MPI_Info i, MPI_Comm *out), (c, i, out))
MADE(Comm_split, (MPI_Comm c, int colour, int key, MPI_Comm *out), (c, colour, key, out))
MADE(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm *out), (c, type, key, i, out))
MADE(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *out), (c, g, out))
MADE(Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *out), (c, g, tag, out))
MADE(Intercomm_merge, (MPI_Comm c, int high, MPI_Comm *out), (c, high, out))
MADE(Cart_create, (MPI_Comm c, int n, const int *dims, const int *periods, int reorder, MPI_Comm *out),
     (c, n, dims, periods, reorder, out))
MADE(Cart_sub, (MPI_Comm c, const int *remain, MPI_Comm *out), (c, remain, out))
MADE(Graph_create, (MPI_Comm c, int n, const int *index, const int *edges, int reorder, MPI_Comm *out),
     (c, n, index, edges, reorder, out))
MADE(Dist_graph_create,
     (MPI_Comm c, int n, const int *sources, const int *degrees, const int *to, const int *weights, MPI_Info i,
      int reorder, MPI_Comm *out),
     (c, n, sources, degrees, to, weights, i, reorder, out))
MADE(Dist_graph_create_adjacent,
     (MPI_Comm c, int in, const int *sources, const int *in_weights, int n, const int *to, const int *out_weights,
      MPI_Info i, int reorder, MPI_Comm *out),
     (c, in, sources, in_weights, n, to, out_weights, i, reorder, out))
