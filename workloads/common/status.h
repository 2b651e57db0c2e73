/* OpenCL's status codes by name, and the check that ends a program at the first call that fails. */
#ifndef WORKLOADS_STATUS_H
#define WORKLOADS_STATUS_H

#include <CL/cl.h>

/* The name of a status without its `CL_`, as in "INVALID_VALUE"; "status -12345" for one that the standard lacks. The
 * text of an unknown status is overwritten by the next unknown one of the same thread. */
const char *status_name(cl_int status);

/* Ends the program with exit code 1, saying which call failed and how, unless `status` is CL_SUCCESS. */
void check(cl_int status, const char *call);

/* Ends the program with exit code 1 and a message, formatted as by printf. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory or the end of the program: there is no way to go on without it. Aligned to a page, so that a runtime may use
 * it as it lies. `bytes` of 0 gives memory, too. Free it with free(). */
void *allocate(size_t bytes);

#endif
