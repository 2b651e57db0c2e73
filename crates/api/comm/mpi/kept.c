/* Calls that are started again and again (MPI 4's persistent collectives; of older libraries those that they have as
 * extensions). What the program waits for is a persistent request of the MPI library, which receives a message without
 * bytes that this process sends itself when the call is over: so its functions wait for arrays of all kinds here too. */
#include <pthread.h>
#include <stdlib.h>

#include "shim.h"

/* Of this process alone: the messages. */
static MPI_Comm own = MPI_COMM_NULL;
static int made;

/* All that there are, by request. */
static struct kept {
    struct shim_call *call;
    struct kept *next;
} *all;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;

/* Tags are for so many at a time. */
#define TAGS 0x3fffffff

void shim_kept_start(void) { PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &own); }

int shim_keep(const struct shim_args *args, MPI_Request *request) {
    if (!shim_on()) return 0;
    if (!shim_begins()) {
        shim_fell(args->name, "it does not wait, and the MPI library is called by one thread alone");
        return 0;
    }
    struct shim_call *call = shim_called(args, 0);
    if (!call) return 0;
    /* What the library refuses it is to refuse now. */
    int refused = shim_is_invalid(call);
    if (args->kind >= SHIM_REDUCE && !shim_type(args->to_type, args->op)) {
        shim_fell(args->name, "cards do not reduce such elements");
        refused = 1;
    }
    if (refused) {
        free(call);
        return 0;
    }
    struct kept *entry = malloc(sizeof *entry);
    if (!entry) PMPI_Abort(MPI_COMM_WORLD, 1); /* The others have theirs, and would wait for us. */
    shim_hold_types(call);
    call->begun = call->over = 1;
    pthread_mutex_lock(&list);
    made = made % TAGS + 1;
    call->kept = made;
    if (PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, call->kept, own, &call->request)) PMPI_Abort(MPI_COMM_WORLD, 1);
    entry->call = call;
    entry->next = all;
    all = entry;
    pthread_mutex_unlock(&list);
    shim_retain(call->group);
    *request = call->request;
    return 1;
}

/* A byte too many says that it has failed. */
void shim_kept_over(int number, int code) {
    const char none = 0;
    PMPI_Send(&none, code != MPI_SUCCESS, MPI_BYTE, 0, number, own);
}

/* The call of a request, taken from the list if it goes; NULL: it is the library's. */
static struct shim_call *call_of(MPI_Request request, int goes) {
    struct shim_call *found = NULL;
    if (request == MPI_REQUEST_NULL) return NULL;
    pthread_mutex_lock(&list);
    for (struct kept **at = &all; *at && !found; at = &(*at)->next) {
        if ((*at)->call->request != request) continue;
        struct kept *entry = *at;
        found = entry->call;
        if (!goes) break;
        *at = entry->next;
        free(entry);
        break;
    }
    pthread_mutex_unlock(&list);
    return found;
}

int MPI_Start(MPI_Request *request) {
    struct shim_call *call = request ? call_of(*request, 0) : NULL;
    int code = PMPI_Start(request);
    if (call && code == MPI_SUCCESS) shim_put(call);
    return code;
}

int MPI_Startall(int count, MPI_Request requests[]) {
    int ours = 0, code = MPI_SUCCESS;
    for (int i = 0; requests && i < count; i++) ours |= call_of(requests[i], 0) != NULL;
    if (!ours) return PMPI_Startall(count, requests);
    for (int i = 0; i < count && code == MPI_SUCCESS; i++) code = MPI_Start(&requests[i]);
    return code;
}

int MPI_Request_free(MPI_Request *request) {
    struct shim_call *call = request ? call_of(*request, 1) : NULL;
    int code = PMPI_Request_free(request);
    if (call) shim_drop(call);
    return code;
}

/* MPI forbids to cancel collectives, and the message of ours must come. */
int MPI_Cancel(MPI_Request *request) {
    if (request && call_of(*request, 0)) return MPI_ERR_REQUEST;
    return PMPI_Cancel(request);
}
