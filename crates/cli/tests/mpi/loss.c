/* Sums again and again while a card is pulled out, and twenty times after; each must be right. Most are of some ranks
 * alone, so that the others hear of the loss from these. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "init.h"

int main(int argc, char **argv) {
    int size, rank, left = 20, sums = 0;
    static int from[5000], to[5000], again[1000];
    MPI_Request kept;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size - 1, rank, &part);
    INIT(Allreduce)(MPI_IN_PLACE, again, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &kept);
    while (left > 0) {
        int stop = rank == 0 && access("stop", F_OK) == 0;
        PMPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
        left -= stop;
        for (int turn = 0; turn < 4; turn++) {
            int mine = rank + turn, all = 0, others = rank < size - 1 ? size - 1 : 1;
            MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, part);
            if (all != others * turn + (rank < size - 1 ? (size - 1) * (size - 2) / 2 : rank)) MPI_Abort(MPI_COMM_WORLD, 5);
        }
        for (int i = 0; i < 5000; i++) from[i] = i + rank + sums;
        /* In place, so that the operands would be lost with a result of some ranks alone. */
        if (sums % 2) {
            MPI_Request request;
            MPI_Iallreduce(MPI_IN_PLACE, from, 5000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Allreduce(MPI_IN_PLACE, from, 5000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        for (int i = 0; i < 5000; i++)
            if (from[i] != size * (i + sums) + size * (size - 1) / 2) {
                fprintf(stderr, "rank %d: sum %d is wrong\n", rank, sums);
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
        for (int i = 0; i < 1000; i++) again[i] = i - sums;
        MPI_Start(&kept);
        MPI_Wait(&kept, MPI_STATUS_IGNORE);
        for (int i = 0; i < 1000; i++)
            if (again[i] != size * (i - sums)) MPI_Abort(MPI_COMM_WORLD, 6);
        MPI_Gather(from, 100, MPI_INT, to, 100, MPI_INT, size - 1, MPI_COMM_WORLD);
        if (rank == size - 1 && to[100] != from[0]) MPI_Abort(MPI_COMM_WORLD, 4);
        if (++sums == 5 && rank == 0) {
            puts("ready");
            fflush(stdout);
        }
    }
    if (rank == 0) puts("all sums are right");
    MPI_Request_free(&kept);
    MPI_Comm_free(&part);
    MPI_Finalize();
    return 0;
}
