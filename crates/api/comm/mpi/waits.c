/* Waits of a program while cards work for it: between looks they sleep, where the MPI library's would spin. Cards, the
 * links' other ends and this process's own threads may need the processor for what is waited for. */
#include "shim.h"

#define WAITS(name, parameters, test, flag, arguments)                \
    int MPI_##name parameters {                                       \
        struct shim_patience patience = {0, 0};                       \
        while (shim_is_busy()) {                                      \
            int over = 0, code = test;                                \
            if (code != MPI_SUCCESS || (flag)) return code;           \
            shim_nap(&patience);                                      \
        }                                                             \
        return PMPI_##name arguments;                                 \
    }

WAITS(Wait, (MPI_Request *request, MPI_Status *status), PMPI_Test(request, &over, status), over, (request, status))
WAITS(Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]), PMPI_Testall(n, requests, &over, statuses), over,
      (n, requests, statuses))
WAITS(Waitany, (int n, MPI_Request requests[], int *index, MPI_Status *status),
      PMPI_Testany(n, requests, index, &over, status), over, (n, requests, index, status))
WAITS(Waitsome, (int n, MPI_Request requests[], int *some, int indices[], MPI_Status statuses[]),
      (over = PMPI_Testsome(n, requests, some, indices, statuses)), *some != 0 || over, (n, requests, some, indices, statuses))
