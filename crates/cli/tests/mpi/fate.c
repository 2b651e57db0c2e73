/* The last rank is not there when others call: who waits for it gets an error that names it, and nobody a wrong sum.
 *   fate stops|pauses|resumes|dies|leaves|sleeps waits|begins|keeps|ends [fatal] */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

static int size, rank, last;
static const char *fate, *way;

static int is(const char *text, const char *other) { return strcmp(text, other) == 0; }

static void resume(int signal) {
    (void)signal;
    kill(last, SIGCONT);
}

static void meet_it(void) {
    if (rank == 0 && (is(fate, "pauses") || is(fate, "resumes"))) {
        signal(SIGALRM, resume);
        alarm(is(fate, "pauses") ? 1 : 4);
    }
    if (rank != size - 1) return;
    if (is(fate, "dies")) kill(getpid(), SIGKILL);
    if (is(fate, "leaves")) _exit(0);
    if (is(fate, "sleeps")) sleep(100);
    else raise(SIGSTOP);
}

static void says(const char *what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "no error";
    int length, class;
    if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
    MPI_Error_class(code, &class);
    printf("rank %d: %s: %s: %d\n", rank, what, text, class == MPI_ERR_OTHER);
    fflush(stdout);
}

static int sum(MPI_Comm comm, int *to) {
    static int from = 1;
    MPI_Request request;
    if (is(way, "keeps")) {
        INIT(Allreduce)(&from, to, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (!is(way, "begins")) return MPI_Allreduce(&from, to, 1, MPI_INT, MPI_SUM, comm);
    MPI_Iallreduce(&from, to, 1, MPI_INT, MPI_SUM, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    int all = 0, code;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fate = argv[1], way = argv[2];
    last = getpid();
    MPI_Bcast(&last, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    if (argc < 4) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* The other way round, so that its numbers are not the world's. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    meet_it();
    if (!is(way, "ends")) {
        code = sum(comm, &all);
        if (code == MPI_SUCCESS && all != size) return 9;
        says("first", code);
        if (code != MPI_SUCCESS) says("second", sum(comm, &all));
    }
    if (is(fate, "resumes")) sleep(4);
    code = MPI_Finalize();
    if (code != MPI_SUCCESS) says("end", code);
    return 0;
}
