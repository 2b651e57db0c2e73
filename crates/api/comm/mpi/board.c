/* What ranks of a group agree on, in memory that they share: each tells its numbers, and goes on once all have. Who has
 * not yet is known, which a collective of the MPI library would not say; and it takes a fraction of such a one's time. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "shim.h"

/* What a rank tells, in a line of its own; `told` says to which round it belongs, and is written last. */
struct place {
    _Alignas(64) _Atomic uint64_t told;
    int64_t numbers[SHIM_NUMBERS];
};
/* Two rounds: who begins the next but one has read this one, and so have all that have told the next. */
struct shared {
    _Alignas(64) _Atomic uint64_t lost;
    struct place places[];
};
struct shim_board {
    int size, rank;
    uint64_t told; /* Rounds that this rank has begun. */
    size_t bytes;
    struct shared *shared;
};

static struct place *place_of(const struct shim_board *board, int rank) {
    return &board->shared->places[board->told % 2 * (uint64_t)board->size + (uint64_t)rank];
}

static uint64_t *row_of(const struct shim_board *board, int rank) {
    uint64_t size = (uint64_t)board->size, *rows = (uint64_t *)&board->shared->places[2 * size];
    return rows + (board->told % 2 * size + (uint64_t)rank) * size;
}

#define NAME 48
/* Memory of this name, new if it has none yet. */
static void *shared_memory(char *name, int makes, size_t bytes) {
    uint64_t drawn[2];
    if (makes) {
        if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn) return NULL;
        snprintf(name, NAME, "/rackloom-%016lx%016lx", (unsigned long)drawn[0], (unsigned long)drawn[1]);
    }
    int file = *name ? shm_open(name, makes ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600) : -1;
    if (file < 0) return NULL;
    /* What is not there when it is written to would kill the process. */
    int there = !makes || posix_fallocate(file, 0, (off_t)bytes) == 0;
    void *at = there ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    if (at != MAP_FAILED) return at;
    if (makes) shm_unlink(name);
    return NULL;
}

struct shim_board *shim_board_make(MPI_Comm comm, int size, int rank) {
    char name[NAME] = "";
    struct shim_board *board = calloc(1, sizeof *board);
    if (!board) PMPI_Abort(comm, 1); /* The others wait for us. */
    uint64_t ranks = (uint64_t)size;
    board->size = size;
    board->rank = rank;
    board->bytes = sizeof(struct shared) + 2 * ranks * (sizeof(struct place) + ranks * sizeof(uint64_t));
    if (rank == 0 && !(board->shared = shared_memory(name, 1, board->bytes))) *name = 0;
    PMPI_Bcast(name, NAME, MPI_CHAR, 0, comm);
    if (rank != 0) board->shared = shared_memory(name, 0, board->bytes);
    int mine = board->shared != NULL, all;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    if (rank == 0 && *name) shm_unlink(name);
    if (all) return board;
    shim_board_free(board);
    return NULL;
}

void shim_board_free(struct shim_board *board) {
    if (board && board->shared) munmap(board->shared, board->bytes);
    free(board);
}

void shim_board_tell(struct shim_board *board, const int64_t *numbers, const uint64_t *row) {
    board->told++;
    struct place *own = place_of(board, board->rank);
    if (numbers) memcpy(own->numbers, numbers, sizeof own->numbers);
    if (row) memcpy(row_of(board, board->rank), row, (size_t)board->size * sizeof *row);
    atomic_store_explicit(&own->told, board->told, memory_order_release);
}

int shim_board_waits_for(const struct shim_board *board, int rank) {
    return atomic_load_explicit(&place_of(board, rank)->told, memory_order_acquire) < board->told;
}

int shim_board_least(const struct shim_board *board, int64_t *least) {
    for (int rank = 0; rank < board->size; rank++)
        if (shim_board_waits_for(board, rank)) return 0;
    memcpy(least, place_of(board, 0)->numbers, sizeof place_of(board, 0)->numbers);
    for (int rank = 1; rank < board->size; rank++)
        for (int i = 0; i < SHIM_NUMBERS; i++) {
            int64_t number = place_of(board, rank)->numbers[i];
            if (number < least[i]) least[i] = number;
        }
    return 1;
}

int shim_board_rows(const struct shim_board *board, int of, uint64_t *rows) {
    int first = of < 0 ? 0 : of, end = of < 0 ? board->size : of + 1;
    for (int rank = 0; rank < board->size; rank++)
        if (shim_board_waits_for(board, rank)) return 0;
    for (int rank = first; rank < end; rank++, rows += board->size)
        memcpy(rows, row_of(board, rank), (size_t)board->size * sizeof *rows);
    return 1;
}

uint64_t shim_board_lose(struct shim_board *board, uint64_t what) {
    uint64_t before = 0;
    return atomic_compare_exchange_strong(&board->shared->lost, &before, what) ? what : before;
}

uint64_t shim_board_lost(const struct shim_board *board) { return atomic_load(&board->shared->lost); }
