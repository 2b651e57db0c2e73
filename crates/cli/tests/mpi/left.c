/* A call that one rank begins and the others never do: the program ends all the same. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    if (rank == 0) MPI_Ibarrier(comm, &request);
    MPI_Finalize();
    return 0;
}
