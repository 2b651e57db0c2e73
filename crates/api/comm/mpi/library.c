/* What a program has called, and how the MPI library does it. */
#include "shim.h"

int shim_library(const struct shim_args *a) {
    switch (a->kind) {
    case SHIM_BARRIER: return PMPI_Barrier(a->comm);
    case SHIM_BCAST: return PMPI_Bcast(a->to, a->to_count, a->to_type, a->root, a->comm);
    case SHIM_SCATTER:
        return PMPI_Scatter(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type, a->root, a->comm);
    case SHIM_SCATTERV:
        return PMPI_Scatterv(a->from, a->from_counts, a->from_displs, a->from_type, a->to, a->to_count, a->to_type,
                             a->root, a->comm);
    case SHIM_GATHER:
        return PMPI_Gather(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type, a->root, a->comm);
    case SHIM_GATHERV:
        return PMPI_Gatherv(a->from, a->from_count, a->from_type, a->to, a->to_counts, a->to_displs, a->to_type, a->root,
                            a->comm);
    case SHIM_ALLGATHER:
        return PMPI_Allgather(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type, a->comm);
    case SHIM_ALLGATHERV:
        return PMPI_Allgatherv(a->from, a->from_count, a->from_type, a->to, a->to_counts, a->to_displs, a->to_type,
                               a->comm);
    case SHIM_ALLTOALL:
        return PMPI_Alltoall(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type, a->comm);
    case SHIM_ALLTOALLV:
        return PMPI_Alltoallv(a->from, a->from_counts, a->from_displs, a->from_type, a->to, a->to_counts, a->to_displs,
                              a->to_type, a->comm);
    case SHIM_ALLTOALLW:
        return PMPI_Alltoallw(a->from, a->from_counts, a->from_displs, a->from_types, a->to, a->to_counts, a->to_displs,
                              a->to_types, a->comm);
    case SHIM_REDUCE: return PMPI_Reduce(a->from, a->to, a->to_count, a->to_type, a->op, a->root, a->comm);
    case SHIM_ALLREDUCE: return PMPI_Allreduce(a->from, a->to, a->to_count, a->to_type, a->op, a->comm);
    case SHIM_REDUCE_SCATTER: return PMPI_Reduce_scatter(a->from, a->to, a->to_counts, a->to_type, a->op, a->comm);
    case SHIM_REDUCE_SCATTER_BLOCK:
        return PMPI_Reduce_scatter_block(a->from, a->to, a->to_count, a->to_type, a->op, a->comm);
    case SHIM_SCAN: return PMPI_Scan(a->from, a->to, a->to_count, a->to_type, a->op, a->comm);
    case SHIM_EXSCAN: return PMPI_Exscan(a->from, a->to, a->to_count, a->to_type, a->op, a->comm);
    case SHIM_END: break;
    }
    return MPI_ERR_INTERN;
}

int shim_library_begins(const struct shim_args *a, MPI_Comm comm, MPI_Request *r) {
    switch (a->kind) {
    case SHIM_BARRIER: return PMPI_Ibarrier(comm, r);
    case SHIM_BCAST: return PMPI_Ibcast(a->to, a->to_count, a->to_type, a->root, comm, r);
    case SHIM_SCATTER:
        return PMPI_Iscatter(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type, a->root, comm, r);
    case SHIM_SCATTERV:
        return PMPI_Iscatterv(a->from, a->from_counts, a->from_displs, a->from_type, a->to, a->to_count, a->to_type,
                              a->root, comm, r);
    case SHIM_GATHER:
        return PMPI_Igather(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type, a->root, comm, r);
    case SHIM_GATHERV:
        return PMPI_Igatherv(a->from, a->from_count, a->from_type, a->to, a->to_counts, a->to_displs, a->to_type, a->root,
                             comm, r);
    case SHIM_ALLGATHER:
        return PMPI_Iallgather(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type, comm, r);
    case SHIM_ALLGATHERV:
        return PMPI_Iallgatherv(a->from, a->from_count, a->from_type, a->to, a->to_counts, a->to_displs, a->to_type, comm,
                                r);
    case SHIM_ALLTOALL:
        return PMPI_Ialltoall(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type, comm, r);
    case SHIM_ALLTOALLV:
        return PMPI_Ialltoallv(a->from, a->from_counts, a->from_displs, a->from_type, a->to, a->to_counts, a->to_displs,
                               a->to_type, comm, r);
    case SHIM_ALLTOALLW:
        return PMPI_Ialltoallw(a->from, a->from_counts, a->from_displs, a->from_types, a->to, a->to_counts, a->to_displs,
                               a->to_types, comm, r);
    case SHIM_REDUCE: return PMPI_Ireduce(a->from, a->to, a->to_count, a->to_type, a->op, a->root, comm, r);
    case SHIM_ALLREDUCE: return PMPI_Iallreduce(a->from, a->to, a->to_count, a->to_type, a->op, comm, r);
    case SHIM_REDUCE_SCATTER: return PMPI_Ireduce_scatter(a->from, a->to, a->to_counts, a->to_type, a->op, comm, r);
    case SHIM_REDUCE_SCATTER_BLOCK:
        return PMPI_Ireduce_scatter_block(a->from, a->to, a->to_count, a->to_type, a->op, comm, r);
    case SHIM_SCAN: return PMPI_Iscan(a->from, a->to, a->to_count, a->to_type, a->op, comm, r);
    case SHIM_EXSCAN: return PMPI_Iexscan(a->from, a->to, a->to_count, a->to_type, a->op, comm, r);
    case SHIM_END: break;
    }
    return MPI_ERR_INTERN;
}

#ifdef SHIM_INIT
int shim_library_inits(const struct shim_args *a, MPI_Info info, MPI_Request *r) {
    switch (a->kind) {
    case SHIM_BARRIER: return SHIM_LIBRARY_INIT(Barrier)(a->comm, info, r);
    case SHIM_BCAST: return SHIM_LIBRARY_INIT(Bcast)(a->to, a->to_count, a->to_type, a->root, a->comm, info, r);
    case SHIM_SCATTER:
        return SHIM_LIBRARY_INIT(Scatter)(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type,
                                          a->root, a->comm, info, r);
    case SHIM_SCATTERV:
        return SHIM_LIBRARY_INIT(Scatterv)(a->from, a->from_counts, a->from_displs, a->from_type, a->to, a->to_count,
                                           a->to_type, a->root, a->comm, info, r);
    case SHIM_GATHER:
        return SHIM_LIBRARY_INIT(Gather)(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type, a->root,
                                         a->comm, info, r);
    case SHIM_GATHERV:
        return SHIM_LIBRARY_INIT(Gatherv)(a->from, a->from_count, a->from_type, a->to, a->to_counts, a->to_displs,
                                          a->to_type, a->root, a->comm, info, r);
    case SHIM_ALLGATHER:
        return SHIM_LIBRARY_INIT(Allgather)(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type,
                                            a->comm, info, r);
    case SHIM_ALLGATHERV:
        return SHIM_LIBRARY_INIT(Allgatherv)(a->from, a->from_count, a->from_type, a->to, a->to_counts, a->to_displs,
                                             a->to_type, a->comm, info, r);
    case SHIM_ALLTOALL:
        return SHIM_LIBRARY_INIT(Alltoall)(a->from, a->from_count, a->from_type, a->to, a->to_count, a->to_type,
                                           a->comm, info, r);
    case SHIM_ALLTOALLV:
        return SHIM_LIBRARY_INIT(Alltoallv)(a->from, a->from_counts, a->from_displs, a->from_type, a->to, a->to_counts,
                                            a->to_displs, a->to_type, a->comm, info, r);
    case SHIM_ALLTOALLW:
        return SHIM_LIBRARY_INIT(Alltoallw)(a->from, a->from_counts, a->from_displs, a->from_types, a->to, a->to_counts,
                                            a->to_displs, a->to_types, a->comm, info, r);
    case SHIM_REDUCE:
        return SHIM_LIBRARY_INIT(Reduce)(a->from, a->to, a->to_count, a->to_type, a->op, a->root, a->comm, info, r);
    case SHIM_ALLREDUCE:
        return SHIM_LIBRARY_INIT(Allreduce)(a->from, a->to, a->to_count, a->to_type, a->op, a->comm, info, r);
    case SHIM_REDUCE_SCATTER:
        return SHIM_LIBRARY_INIT(Reduce_scatter)(a->from, a->to, a->to_counts, a->to_type, a->op, a->comm, info, r);
    case SHIM_REDUCE_SCATTER_BLOCK:
        return SHIM_LIBRARY_INIT(Reduce_scatter_block)(a->from, a->to, a->to_count, a->to_type, a->op, a->comm, info,
                                                       r);
    case SHIM_SCAN:
        return SHIM_LIBRARY_INIT(Scan)(a->from, a->to, a->to_count, a->to_type, a->op, a->comm, info, r);
    case SHIM_EXSCAN:
        return SHIM_LIBRARY_INIT(Exscan)(a->from, a->to, a->to_count, a->to_type, a->op, a->comm, info, r);
    case SHIM_END: break;
    }
    return MPI_ERR_INTERN;
}
#endif
