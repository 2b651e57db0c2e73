/* This process's card, those of all ranks, and the groups of communicators. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#define TEXT 400
static int on;
static rl_seat seat;
static int ranks, own;
static unsigned char *seats; /* Of all ranks of the world. */
static MPI_Group world;
static int key = MPI_KEYVAL_INVALID;
static char broken[TEXT];
static pthread_mutex_t card = PTHREAD_MUTEX_INITIALIZER;

/* The groups that were made, so that all end before MPI does. */
struct made {
    struct shim_group group;
    struct made *next;
};
static struct made *all;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;

int shim_on(void) { return on; }
int shim_try_card(void) { return pthread_mutex_trylock(&card) == 0; }
void shim_leave_card(void) { pthread_mutex_unlock(&card); }
void shim_break(const char *text) {
    if (!*broken) snprintf(broken, sizeof broken, "cards have failed: %s", text);
}
const char *shim_broken(void) { return *broken ? broken : NULL; }

static int ended(MPI_Comm comm, int keyval, void *attribute, void *extra) {
    (void)comm, (void)keyval, (void)extra;
    struct made *made = attribute;
    pthread_mutex_lock(&list);
    for (struct made **at = &all; *at; at = &(*at)->next)
        if (*at == made) {
            *at = made->next;
            break;
        }
    pthread_mutex_unlock(&list);
    if (made->group.cards) rl_comm_free(made->group.cards);
    free(made);
    return MPI_SUCCESS;
}

/* The cards of a communicator's ranks, one behind the other; NULL: a rank is not of this world. */
static unsigned char *seats_of(MPI_Comm comm, int size) {
    MPI_Group group;
    int *here = malloc((size_t)size * 2 * sizeof *here);
    unsigned char *found = malloc((size_t)size * RL_SEAT_BYTES);
    if (!here || !found) PMPI_Abort(comm, 1); /* The others would wait for us. */
    int *there = here + size;
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
    return found;
}

const struct shim_group *shim_group_of(MPI_Comm comm) {
    struct made *made = NULL;
    int found = 0, inter = 1;
    PMPI_Comm_get_attr(comm, key, &made, &found);
    if (found) return &made->group;
    made = calloc(1, sizeof *made);
    if (!made) return NULL;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_size(comm, &made->group.size);
    PMPI_Comm_rank(comm, &made->group.rank);
    unsigned char *cards = NULL;
    if (inter) {
        made->group.why = "it is between two groups";
    } else if (made->group.size == 1) {
        made->group.why = "it is of one rank";
    } else if (!(cards = seats_of(comm, made->group.size))) {
        made->group.why = "a rank is of another world";
    } else {
        /* A number that no other group has: rank 0 draws it. */
        uint64_t number = 0;
        FILE *random = made->group.rank == 0 ? fopen("/dev/urandom", "rb") : NULL;
        if (random && fread(&number, sizeof number, 1, random) != 1) number = 0;
        if (random) fclose(random);
        PMPI_Bcast(&number, 1, MPI_UINT64_T, 0, comm);
        rl_seat_join(seat, cards, made->group.size, made->group.rank, number, &made->group.cards);
    }
    free(cards);
    pthread_mutex_lock(&list);
    made->next = all;
    all = made;
    pthread_mutex_unlock(&list);
    PMPI_Comm_set_attr(comm, key, made);
    return &made->group;
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

static void start(void) {
    char text[TEXT] = "", name[64];
    unsigned char told[RL_SEAT_BYTES];
    const char *limit = getenv("RACKLOOM_MPI_TIMEOUT_MS");
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
        } else if (rl_seat_open(NULL, name, limit ? (uint32_t)strtoul(limit, NULL, 10) : 30000, &seat) != RL_OK) {
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
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ended, &key, NULL);
    } else {
        if (seat) rl_seat_free(seat);
        seat = NULL;
        if (own == 0) fprintf(stderr, "rackloom: warning: cards are not used: %s\n", text);
    }
}

int MPI_Init(int *argc, char ***argv) {
    int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) start();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) start();
    return code;
}

int MPI_Finalize(void) {
    if (on) {
        /* A rank whose card is let go ends operations of others that are not over. */
        PMPI_Barrier(MPI_COMM_WORLD);
        on = 0;
        for (struct made *made = all; made; made = made->next) {
            if (made->group.cards) rl_comm_free(made->group.cards);
            made->group.cards = NULL;
        }
        rl_seat_free(seat);
        PMPI_Group_free(&world);
    }
    shim_report(own);
    return PMPI_Finalize();
}
