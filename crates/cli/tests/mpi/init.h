/* Persistent collectives by the names that the MPI library has for them: MPI 4's, or those of Open MPI's extension. */
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if MPI_VERSION >= 4
#define INIT(name) MPI_##name##_init
#else
#define INIT(name) MPIX_##name##_init
#endif
