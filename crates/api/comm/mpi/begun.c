/* Calls of a program: those that it waits for, and those that it begins. What it waits for later is a generalized request
 * of the MPI library, so that its own functions wait for arrays of both kinds. */
#include <stdlib.h>

#include "shim.h"

int shim_run(const struct shim_args *args) {
    struct shim_call *call = shim_called(args, 1);
    if (!call) return shim_library(args);
    shim_do(call);
    int did = call->did, code = call->code, lost = code != MPI_SUCCESS && code == call->group->lost;
    free(call);
    /* Errors of the library have been to the handler. */
    if (lost) PMPI_Comm_call_errhandler(args->comm, code);
    return did ? code : shim_library(args);
}

static int asked(void *of, MPI_Status *status) {
    const struct shim_call *call = of;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = call->code;
    return call->code;
}

static int released(void *call) {
    free(call);
    return MPI_SUCCESS;
}

/* MPI forbids to cancel collectives. */
static int cancelled(void *call, int complete) {
    (void)call, (void)complete;
    return MPI_ERR_REQUEST;
}

int shim_is_invalid(const struct shim_call *call) {
    const struct shim_args *a = &call->args;
    int is_root = call->group->rank == a->root, own = a->from != MPI_IN_PLACE, from = 0, to = 1;
    if (a->root < 0 || a->root >= call->group->size) return 1;
    switch (a->kind) {
    case SHIM_BARRIER: return 0;
    case SHIM_SCATTER:
    case SHIM_SCATTERV: from = is_root, to = a->to != MPI_IN_PLACE; break;
    case SHIM_GATHER:
    case SHIM_GATHERV: from = own, to = is_root; break;
    case SHIM_ALLGATHER:
    case SHIM_ALLGATHERV:
    case SHIM_ALLTOALL:
    case SHIM_ALLTOALLV:
    case SHIM_ALLTOALLW: from = own; break;
    default: break;
    }
    return (from && (a->from_count < 0 || a->from_type == MPI_DATATYPE_NULL)) ||
           (to && (a->to_count < 0 || a->to_type == MPI_DATATYPE_NULL));
}

/* A type that is the same, and stays when the program frees its own. */
static void hold(MPI_Datatype *type, MPI_Datatype *held) {
    int integers, addresses, types, combiner;
    if (*type == MPI_DATATYPE_NULL) return;
    PMPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED) return;
    PMPI_Type_contiguous(1, *type, held);
    PMPI_Type_commit(held);
    *type = *held;
}

/* The same of all blocks. What is held comes behind what is used: first that which is given, then that which is got. */
static void hold_of_blocks(struct shim_call *call) {
    struct shim_args *a = &call->args;
    size_t size = (size_t)call->group->size;
    MPI_Datatype *used = malloc(4 * size * sizeof *used), *held = used + 2 * size;
    if (!used) PMPI_Abort(a->comm, 1); /* The others wait for us. */
    for (size_t i = 0; i < 2 * size; i++) {
        const MPI_Datatype *types = i < size ? a->from == MPI_IN_PLACE ? NULL : a->from_types : a->to_types;
        used[i] = types ? types[i % size] : MPI_DATATYPE_NULL;
        held[i] = MPI_DATATYPE_NULL;
        hold(&used[i], &held[i]);
    }
    if (a->from_types) a->from_types = used;
    if (a->to_types) a->to_types = used + size;
    call->held_of_blocks = used;
}

void shim_hold_types(struct shim_call *call) {
    struct shim_args *a = &call->args;
    int is_root = call->group->rank == a->root, own = a->from != MPI_IN_PLACE;
    switch (a->kind) {
    case SHIM_BCAST: hold(&a->to_type, &call->held[1]); break;
    case SHIM_SCATTER:
    case SHIM_SCATTERV:
        if (is_root) hold(&a->from_type, &call->held[0]);
        if (a->to != MPI_IN_PLACE) hold(&a->to_type, &call->held[1]);
        break;
    case SHIM_GATHER:
    case SHIM_GATHERV:
        if (own) hold(&a->from_type, &call->held[0]);
        if (is_root) hold(&a->to_type, &call->held[1]);
        break;
    case SHIM_ALLGATHER:
    case SHIM_ALLGATHERV:
    case SHIM_ALLTOALL:
    case SHIM_ALLTOALLV:
        if (own) hold(&a->from_type, &call->held[0]);
        hold(&a->to_type, &call->held[1]);
        break;
    case SHIM_ALLTOALLW: hold_of_blocks(call); break;
    default: break; /* Operations that cards have are on types that nobody can free. */
    }
}

int shim_begin(const struct shim_args *args, MPI_Request *request) {
    if (shim_on() && !shim_begins()) {
        shim_fell(args->name, "it does not wait, and the MPI library is called by one thread alone");
        return shim_library_begins(args, args->comm, request);
    }
    struct shim_call *call = shim_called(args, 0);
    if (!call) return shim_library_begins(args, args->comm, request);
    if (shim_is_invalid(call)) {
        /* The program hears of it now, and the others by our vote. */
        call->refused = 1;
        shim_put(call);
        return shim_library_begins(args, args->comm, request);
    }
    int code = PMPI_Grequest_start(asked, released, cancelled, call, &call->request);
    if (code != MPI_SUCCESS) PMPI_Abort(args->comm, 1); /* The others wait for us. */
    shim_hold_types(call);
    call->begun = 1;
    *request = call->request;
    shim_put(call);
    return MPI_SUCCESS;
}
