/* The collectives that cards do, by their MPI names: one that waits, one that does not, and one that is started again. */
#include "shim.h"

#define OF(...) __VA_ARGS__
#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)
#ifdef SHIM_INIT
#define KEPT(waits, which, parameters, ...)                                                                            \
    int SHIM_INIT(waits)(OF parameters MPI_Comm comm, MPI_Info info, MPI_Request *request) {                           \
        const struct shim_args args = {                                                                                \
            .kind = SHIM_##which, .name = NAME_OF(SHIM_INIT(waits)), .comm = comm, __VA_ARGS__};                       \
        return shim_keep(&args, request) ? MPI_SUCCESS : shim_library_inits(&args, info, request);                     \
    }
#else
#define KEPT(waits, which, parameters, ...)
#endif
#define COLLECTIVE(waits, begins, which, parameters, ...)                                                              \
    int MPI_##waits(OF parameters MPI_Comm comm) {                                                                     \
        const struct shim_args args = {.kind = SHIM_##which, .name = "MPI_" #waits, .comm = comm, __VA_ARGS__};        \
        return shim_run(&args);                                                                                        \
    }                                                                                                                  \
    int MPI_##begins(OF parameters MPI_Comm comm, MPI_Request *request) {                                              \
        const struct shim_args args = {.kind = SHIM_##which, .name = "MPI_" #begins, .comm = comm, __VA_ARGS__};       \
        return shim_begin(&args, request);                                                                             \
    }                                                                                                                  \
    KEPT(waits, which, parameters, __VA_ARGS__)

#define FROM .from = from, .from_count = from_count, .from_type = from_type
#define FROM_V .from = from, .from_counts = from_counts, .from_displs = from_displs, .from_type = from_type
#define TO .to = to, .to_count = to_count, .to_type = to_type
#define TO_V .to = to, .to_counts = to_counts, .to_displs = to_displs, .to_type = to_type
#define FROM_W                                                                                                         \
    .from = from, .from_counts = from_counts, .from_displs = from_displs, .from_types = from_types, .from_type = MPI_BYTE
#define TO_W .to = to, .to_counts = to_counts, .to_displs = to_displs, .to_types = to_types, .to_type = MPI_BYTE
#define REDUCED .from = from, .to = to, .to_count = to_count, .to_type = to_type, .op = op

COLLECTIVE(Barrier, Ibarrier, BARRIER, (), .root = 0)
COLLECTIVE(Bcast, Ibcast, BCAST, (void *to, int to_count, MPI_Datatype to_type, int root, ), TO, .root = root)
COLLECTIVE(Scatter, Iscatter, SCATTER,
           (const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type,
            int root, ),
           FROM, TO, .root = root)
COLLECTIVE(Scatterv, Iscatterv, SCATTERV,
           (const void *from, const int *from_counts, const int *from_displs, MPI_Datatype from_type, void *to,
            int to_count, MPI_Datatype to_type, int root, ),
           FROM_V, TO, .root = root)
COLLECTIVE(Gather, Igather, GATHER,
           (const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type,
            int root, ),
           FROM, TO, .root = root)
COLLECTIVE(Gatherv, Igatherv, GATHERV,
           (const void *from, int from_count, MPI_Datatype from_type, void *to, const int *to_counts,
            const int *to_displs, MPI_Datatype to_type, int root, ),
           FROM, TO_V, .root = root)
COLLECTIVE(Allgather, Iallgather, ALLGATHER,
           (const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type, ),
           FROM, TO)
COLLECTIVE(Allgatherv, Iallgatherv, ALLGATHERV,
           (const void *from, int from_count, MPI_Datatype from_type, void *to, const int *to_counts,
            const int *to_displs, MPI_Datatype to_type, ),
           FROM, TO_V)
COLLECTIVE(Alltoall, Ialltoall, ALLTOALL,
           (const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type, ),
           FROM, TO)
COLLECTIVE(Alltoallv, Ialltoallv, ALLTOALLV,
           (const void *from, const int *from_counts, const int *from_displs, MPI_Datatype from_type, void *to,
            const int *to_counts, const int *to_displs, MPI_Datatype to_type, ),
           FROM_V, TO_V)
COLLECTIVE(Alltoallw, Ialltoallw, ALLTOALLW,
           (const void *from, const int *from_counts, const int *from_displs, const MPI_Datatype *from_types, void *to,
            const int *to_counts, const int *to_displs, const MPI_Datatype *to_types, ),
           FROM_W, TO_W)
COLLECTIVE(Reduce, Ireduce, REDUCE,
           (const void *from, void *to, int to_count, MPI_Datatype to_type, MPI_Op op, int root, ), REDUCED,
           .root = root)
COLLECTIVE(Allreduce, Iallreduce, ALLREDUCE,
           (const void *from, void *to, int to_count, MPI_Datatype to_type, MPI_Op op, ), REDUCED)
COLLECTIVE(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER,
           (const void *from, void *to, const int *to_counts, MPI_Datatype to_type, MPI_Op op, ), .from = from, .to = to,
           .to_counts = to_counts, .to_type = to_type, .op = op)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, REDUCE_SCATTER_BLOCK,
           (const void *from, void *to, int to_count, MPI_Datatype to_type, MPI_Op op, ), REDUCED)
COLLECTIVE(Scan, Iscan, SCAN, (const void *from, void *to, int to_count, MPI_Datatype to_type, MPI_Op op, ), REDUCED)
COLLECTIVE(Exscan, Iexscan, EXSCAN, (const void *from, void *to, int to_count, MPI_Datatype to_type, MPI_Op op, ),
           REDUCED)
