/* The groups of communicators: their cards, and a communicator of the shim's own. */
#include <stdio.h>
#include <stdlib.h>

#include "shim.h"

static int key = MPI_KEYVAL_INVALID;

static int freed(MPI_Comm comm, int keyval, void *attribute, void *extra) {
    (void)comm, (void)keyval, (void)extra;
    /* When MPI ends, which frees communicators too, there is no engine. */
    if (shim_on()) shim_leave(attribute);
    return MPI_SUCCESS;
}

void shim_groups_start(void) { PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, freed, &key, NULL); }

struct shim_group *shim_group_of(MPI_Comm comm, int may_wait) {
    struct shim_group *group = NULL;
    int found = 0, inter = 1;
    PMPI_Comm_get_attr(comm, key, &group, &found);
    if (found) return group;
    if (!may_wait) return NULL;
    group = calloc(1, sizeof *group);
    if (!group) PMPI_Abort(comm, 1); /* No memory for a few bytes: the others wait for us. */
    group->own = MPI_COMM_NULL;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_size(comm, &group->size);
    PMPI_Comm_rank(comm, &group->rank);
    if (inter) {
        group->why = "it is between two groups";
    } else if (group->size == 1) {
        group->why = "it is of one rank";
    } else if (!(group->seats = shim_seats(comm, group->size, &group->world))) {
        group->why = "a rank is of another world";
    } else {
        /* A number that no other group has: rank 0 draws it. */
        FILE *random = group->rank == 0 ? fopen("/dev/urandom", "rb") : NULL;
        if (random && fread(&group->number, sizeof group->number, 1, random) != 1) group->number = 0;
        if (random) fclose(random);
        PMPI_Bcast(&group->number, 1, MPI_UINT64_T, 0, comm);
        /* Not a duplicate, whose making the program's own attributes would see. */
        PMPI_Comm_split(comm, 0, group->rank, &group->own);
        PMPI_Comm_set_errhandler(group->own, MPI_ERRORS_RETURN);
        group->board = shim_board_make(group->own, group->size, group->rank);
        if (!group->board) group->why = "its ranks have no memory that they share";
    }
    shim_add(group);
    PMPI_Comm_set_attr(comm, key, group);
    return group;
}

void shim_group_end(struct shim_group *group) {
    if (group->cards) rl_comm_free(group->cards);
    /* What has been given up there may be under way still. */
    if (group->own != MPI_COMM_NULL && !group->lost) PMPI_Comm_free(&group->own);
    shim_board_free(group->board);
    free(group->seats);
    free(group->world);
    group->board = NULL;
    group->cards = NULL;
    group->seats = NULL;
    group->world = NULL;
}
