/* What cards did, and what they did not, with the reason: printed when the program ends, if RACKLOOM_MPI_REPORT is set. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/* Calls by name and reason. Names and reasons are few; what finds no room is counted together. */
#define ROWS_MAX 64
static struct {
    const char *name;
    char why[160];
    unsigned long times;
} rows[ROWS_MAX];
static unsigned long did, others;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void shim_did(void) {
    pthread_mutex_lock(&lock);
    did++;
    pthread_mutex_unlock(&lock);
}

void shim_fell(const char *name, const char *why) {
    pthread_mutex_lock(&lock);
    int at = 0;
    while (at < ROWS_MAX && rows[at].name &&
           (strcmp(rows[at].name, name) || strncmp(rows[at].why, why, sizeof rows[at].why - 1)))
        at++;
    if (at == ROWS_MAX) {
        others++;
    } else {
        rows[at].name = name;
        snprintf(rows[at].why, sizeof rows[at].why, "%s", why);
        rows[at].times++;
    }
    pthread_mutex_unlock(&lock);
}

void shim_report(int rank) {
    if (!getenv("RACKLOOM_MPI_REPORT")) return;
    fprintf(stderr, "rackloom: rank %d: cards did %lu collectives\n", rank, did);
    for (int at = 0; at < ROWS_MAX && rows[at].name; at++)
        fprintf(stderr, "rackloom: rank %d: not %s, %lu times: %s\n", rank, rows[at].name, rows[at].times, rows[at].why);
    if (others) fprintf(stderr, "rackloom: rank %d: not %lu others\n", rank, others);
}
