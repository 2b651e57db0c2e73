/* This process's card, and those of all ranks of the world. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#define TEXT 400
static int on, begins;
static rl_seat seat;
static int ranks, own;
static unsigned char *seats; /* Of all ranks of the world. */
static MPI_Group world;
static MPI_Comm ends; /* For the end of the program alone. */
static char broken[TEXT];

int shim_on(void) { return on; }
int shim_begins(void) { return begins; }
void shim_break(const char *text) {
    if (!*broken) snprintf(broken, sizeof broken, "cards have failed: %s", text);
}
const char *shim_broken(void) { return *broken ? broken : NULL; }

unsigned char *shim_seats(MPI_Comm comm, int size, int **numbers) {
    MPI_Group group;
    int *here = malloc((size_t)size * sizeof *here), *there = malloc((size_t)size * sizeof *there);
    unsigned char *found = malloc((size_t)size * RL_SEAT_BYTES);
    if (!here || !there || !found) PMPI_Abort(comm, 1); /* The others would wait for us. */
    PMPI_Comm_group(comm, &group);
    for (int rank = 0; rank < size; rank++) here[rank] = rank;
    PMPI_Group_translate_ranks(group, size, here, world, there);
    for (int rank = 0; found && rank < size; rank++) {
        if (there[rank] == MPI_UNDEFINED) {
            free(found);
            found = NULL;
        } else {
            memcpy(found + (size_t)rank * RL_SEAT_BYTES, seats + (size_t)there[rank] * RL_SEAT_BYTES, RL_SEAT_BYTES);
        }
    }
    PMPI_Group_free(&group);
    free(here);
    *numbers = there;
    return found;
}

rl_comm shim_join(const unsigned char *of, int size, int rank, uint64_t number) {
    rl_comm cards = NULL;
    return rl_seat_join(seat, of, size, rank, number, &cards) == RL_OK ? cards : NULL;
}

/* Whether all ranks could; if not, *text is that of the first that could not. */
static int all_could(int could, char *text) {
    int mine = could ? ranks : own, first;
    PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks) return 1;
    char told[TEXT];
    snprintf(told, sizeof told, "rank %d: %.300s", first, text);
    PMPI_Bcast(told, TEXT, MPI_CHAR, first, MPI_COMM_WORLD);
    memcpy(text, told, TEXT);
    return 0;
}

/* The name of this rank's card: of the list, or its number. */
static int card_name(char *name, size_t room) {
    const char *listed = getenv("RACKLOOM_MPI_CARDS");
    if (!listed) return snprintf(name, room, "%d", own) > 0;
    for (int rank = 0; rank < own && listed; rank++) {
        listed = strchr(listed, ',');
        if (listed) listed++;
    }
    return listed && snprintf(name, room, "%.*s", (int)strcspn(listed, ","), listed) > 0;
}

/* The thread support that the MPI library is asked for: a thread of our own calls it too. */
static int threads_of(int wanted) {
    const char *allowed = getenv("RACKLOOM_MPI_THREAD");
    return allowed && !strcmp(allowed, "0") ? wanted : MPI_THREAD_MULTIPLE;
}

static void start(int threads, int wanted) {
    char text[TEXT] = "", name[64];
    unsigned char told[RL_SEAT_BYTES];
    const char *limit = getenv("RACKLOOM_MPI_TIMEOUT_MS");
    if (limit && atoi(limit) > 0) shim_limit_ms = (unsigned)atoi(limit);
    MPI_Comm near;
    int near_size;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &own);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, own, MPI_INFO_NULL, &near);
    PMPI_Comm_size(near, &near_size);
    PMPI_Comm_free(&near);
    int could = near_size == ranks;
    if (!could) snprintf(text, sizeof text, "ranks are on several machines");
    if (all_could(could, text)) {
        could = card_name(name, sizeof name);
        if (!could) {
            snprintf(text, sizeof text, "RACKLOOM_MPI_CARDS names no card for it");
        } else if (rl_seat_open(NULL, name, shim_limit_ms, &seat) != RL_OK) {
            could = 0;
            snprintf(text, sizeof text, "%s", rl_comm_error());
        }
        /* All cards are claimed before one asks who its neighbours are. */
        if (all_could(could, text)) {
            could = rl_seat_tell(seat, told) == RL_OK;
            if (!could) snprintf(text, sizeof text, "%s", rl_comm_error());
            on = all_could(could, text);
        }
    }
    if (on) {
        seats = malloc((size_t)ranks * RL_SEAT_BYTES);
        if (!seats) PMPI_Abort(MPI_COMM_WORLD, 1);
        PMPI_Allgather(told, RL_SEAT_BYTES, MPI_BYTE, seats, RL_SEAT_BYTES, MPI_BYTE, MPI_COMM_WORLD);
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
        int threaded = threads == MPI_THREAD_MULTIPLE;
        PMPI_Allreduce(&threaded, &begins, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        shim_present_start(ranks);
        shim_engine_start(threaded, wanted == MPI_THREAD_MULTIPLE);
        shim_groups_start();
        shim_kept_start();
        shim_group_of(MPI_COMM_WORLD, 1);
        PMPI_Comm_split(MPI_COMM_WORLD, 0, own, &ends);
        shim_group_of(ends, 1);
    } else {
        if (seat) rl_seat_free(seat);
        seat = NULL;
        if (own == 0) fprintf(stderr, "rackloom: warning: cards are not used: %s\n", text);
    }
}

int MPI_Init(int *argc, char ***argv) {
    int provided, code = PMPI_Init_thread(argc, argv, threads_of(MPI_THREAD_SINGLE), &provided);
    if (code == MPI_SUCCESS) start(provided, MPI_THREAD_SINGLE);
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int code = PMPI_Init_thread(argc, argv, threads_of(required), provided);
    if (code == MPI_SUCCESS) start(*provided, required);
    return code;
}

/* Waits until all ranks are at their end; the error code if one will not be. */
static int meet_at_end(void) {
    const struct shim_args args = {.kind = SHIM_END, .name = "MPI_Finalize", .comm = ends};
    PMPI_Comm_set_errhandler(ends, MPI_ERRORS_RETURN);
    int code = shim_group_of(ends, 1)->board ? shim_run(&args) : PMPI_Barrier(ends);
    if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
    return code;
}

int MPI_Finalize(void) {
    if (on) {
        /* No rank begins more; then those are over of all. A rank whose card is let go ends operations of others. */
        int code = meet_at_end();
        if (code != MPI_SUCCESS) return code; /* The library would wait for who is lost. */
        shim_engine_end();
        PMPI_Barrier(MPI_COMM_WORLD);
        on = 0;
        rl_seat_free(seat);
        PMPI_Group_free(&world);
    }
    shim_report(own);
    return PMPI_Finalize();
}
