/* Whether the processes of other ranks are there: one that is dead or stopped does not come to a call, and the MPI
 * library would wait for it for ever. All ranks are on one machine, whose kernel says of each process what it does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

/* A process, and when it began: its number may get to another. Where processes do not see each other, as in containers of
 * their own, that is 0: nobody watches them. */
struct process {
    int64_t number;
    uint64_t began;
};
static struct process *processes;

/* How long a call waits for a rank that is stopped; and for one that has not come, whatever it does. 0: for ever. */
static uint64_t stopped_ms_max = 60000, late_ms_max;

/* What the kernel says a process does, by a letter; 0: there is none. */
static char state_of(const struct process *process, uint64_t *began, long *threads) {
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)process->number);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[length] = 0;
    /* Its name may have spaces and brackets. */
    const char *after = strrchr(text, ')');
    char state;
    unsigned long long since;
    static const char form[] = " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu";
    if (!after || sscanf(after + 1, form, &state, threads, &since) != 3) return 0;
    *began = since;
    return state;
}

static enum shim_fate fate_of(int rank) {
    const struct process *process = &processes[rank];
    uint64_t began;
    long threads;
    if (!process->began) return SHIM_RUNS;
    char state = state_of(process, &began, &threads);
    if (!state || began != process->began) return SHIM_DEAD;
    /* Where the first thread alone has ended, others may work on. */
    if ((state == 'Z' || state == 'X') && threads <= 1) return SHIM_DEAD;
    return state == 'T' ? SHIM_STOPPED : SHIM_RUNS;
}

static void set_from(const char *name, uint64_t *ms) {
    const char *value = getenv(name);
    char *end;
    if (!value || !*value) return;
    unsigned long long number = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end)
        fprintf(stderr, "rackloom: warning: %s: invalid number `%s`: write milliseconds, or 0 for no limit\n", name, value);
    else *ms = number;
}

void shim_present_start(int ranks) {
    char name[64] = "", first[64];
    struct process own = {getpid(), 0};
    long threads;
    set_from("RACKLOOM_MPI_STOPPED_MS", &stopped_ms_max);
    set_from("RACKLOOM_MPI_LATE_MS", &late_ms_max);
    processes = malloc((size_t)ranks * sizeof *processes);
    if (!processes) PMPI_Abort(MPI_COMM_WORLD, 1);
    /* Numbers mean the same where the names of their spaces are the same. */
    if (readlink("/proc/self/ns/pid", name, sizeof name - 1) < 0) *name = 0;
    memcpy(first, name, sizeof first);
    PMPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (*name && !strcmp(name, first)) state_of(&own, &own.began, &threads);
    PMPI_Allgather(&own, sizeof own, MPI_BYTE, processes, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    for (int rank = 0; rank < ranks; rank++) {
        uint64_t began = 0;
        state_of(&processes[rank], &began, &threads);
        if (!own.began || began != processes[rank].began) processes[rank].began = 0;
    }
}

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Looks at processes so often. What passed beyond twice of it does not count: this process was stopped itself. */
#define LOOK_MS 100u

void shim_watch_start(struct shim_watch *watch) {
    memset(watch, 0, sizeof *watch);
    watch->looked_ms = now_ms();
}

/* A rank that keeps the call from going on; as the library does it, any may. */
static int is_awaited(const struct shim_call *call, int rank) {
    return rank != call->group->rank && (call->state == SHIM_FALLING || shim_board_waits_for(call->group->board, rank));
}

int shim_watch(struct shim_call *call, enum shim_fate *fate) {
    struct shim_watch *watch = &call->watch;
    const struct shim_group *group = call->group;
    uint64_t passed = now_ms() - watch->looked_ms;
    if (passed < LOOK_MS) return -1;
    watch->looked_ms += passed;
    if (passed > 2 * LOOK_MS) passed = 2 * LOOK_MS;
    int dead = -1, stopped = -1, late = -1;
    for (int rank = group->size - 1; rank >= 0; rank--) {
        if (!is_awaited(call, rank)) continue;
        late = rank;
        enum shim_fate is = fate_of(group->world[rank]);
        if (is == SHIM_DEAD) dead = rank;
        if (is == SHIM_STOPPED) stopped = rank;
    }
    watch->stopped_ms = stopped >= 0 && stopped == watch->stopped ? watch->stopped_ms + passed : 0;
    watch->stopped = stopped;
    watch->dead_looks = dead >= 0 ? watch->dead_looks + 1 : 0;
    watch->late_ms = call->state == SHIM_FALLING ? 0 : watch->late_ms + passed;
    /* What a rank has told or sent before its death counts, and is seen by the next look at the latest. */
    if (watch->dead_looks > (call->state == SHIM_FALLING ? 10 : 1)) {
        *fate = SHIM_DEAD;
        return dead;
    }
    if (stopped_ms_max && watch->stopped_ms >= stopped_ms_max) {
        *fate = SHIM_STOPPED;
        return stopped;
    }
    /* Its card may take its time until it confirms. */
    if (late_ms_max && watch->late_ms >= late_ms_max + (call->state == SHIM_CONFIRMING ? shim_limit_ms : 0)) {
        *fate = SHIM_LATE;
        return late;
    }
    return -1;
}

void shim_describe_fate(char *text, size_t room, int rank, enum shim_fate fate) {
    static const char *const what[] = {"", "is dead", "is stopped", "has not come in time"};
    long long process = processes[rank].number;
    snprintf(text, room, "rackloom: rank %d of MPI_COMM_WORLD (process %lld) %s", rank, process, what[fate]);
}
