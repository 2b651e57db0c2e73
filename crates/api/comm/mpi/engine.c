/* Who makes calls go on: a thread, so that they do whatever the program does meanwhile; or, if the MPI library lets one
 * thread call it alone, whoever waits. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "shim.h"

unsigned shim_limit_ms = 30000;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* There is something to do; and a call is over. */
static pthread_cond_t bell, over;
static struct shim_group *groups;
/* Whether somebody makes calls go on: the thread, or one of the program that waits for its own. Steps are its alone. */
static int driven;
static int threaded, several, ending;
/* Of this process alone, and without messages. */
static MPI_Comm still;
static pthread_t thread;

struct shim_group *shim_next(struct shim_group *group, struct shim_call **first) {
    pthread_mutex_lock(&lock);
    group = group ? group->next : groups;
    if (group) *first = group->first;
    pthread_mutex_unlock(&lock);
    return group;
}

static void let_go_kept(struct shim_call *call) {
    shim_let_go(call);
    pthread_mutex_lock(&lock);
    call->group->kept--;
    pthread_cond_broadcast(&bell);
    pthread_mutex_unlock(&lock);
    free(call);
}

/* What becomes of a call that is over. */
static void finish(struct shim_call *call) {
    struct shim_group *group = call->group;
    int begun = call->begun, kept = call->kept, refused = call->refused;
    MPI_Request request = call->request;
    int code = call->code;
    if (!kept) shim_let_go(call);
    pthread_mutex_lock(&lock);
    group->first = call->next;
    if (!group->first) group->last = NULL;
    call->over = 1;
    int dropped = call->dropped;
    pthread_cond_broadcast(&over);
    pthread_mutex_unlock(&lock);
    /* From here on whoever waits for it may have freed it, or started it again. */
    if (kept) shim_kept_over(kept, code);
    else if (begun) PMPI_Grequest_complete(request);
    if (dropped) let_go_kept(call);
    if (refused) free(call);
}

void shim_drop(struct shim_call *call) {
    pthread_mutex_lock(&lock);
    int over = call->over;
    call->dropped = 1;
    pthread_mutex_unlock(&lock);
    if (over) let_go_kept(call);
}

/* Lets a group go whose communicator is gone, once its calls are over. */
static int reaped(struct shim_group *group) {
    pthread_mutex_lock(&lock);
    int ends = group->left && !group->first && !group->kept;
    for (struct shim_group **at = &groups; ends && *at; at = &(*at)->next)
        if (*at == group) {
            *at = group->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (!ends) return 0;
    shim_group_end(group);
    free(group);
    return 1;
}

/* One step of the first call of each group; whether one went on, and whether there is one at all. */
static int steps(int *any) {
    int went = 0;
    *any = 0;
    struct shim_call *call;
    for (struct shim_group *group = shim_next(NULL, &call), *next; group; group = next) {
        if (call) {
            *any = 1;
            went |= shim_step(call);
            if (call->state == SHIM_OVER) finish(call);
        }
        struct shim_call *after;
        next = shim_next(group, &after);
        if (!call) reaped(group);
        call = after;
    }
    return went;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Looks so often before it sleeps between looks: others may need the processor for what we wait for. Then it sleeps a
 * 32nd of what it has waited, within these bounds. */
#define LOOKS 20
#define PAUSE_NS 20000u
#define PAUSE_NS_MAX 1000000u

/* How long to sleep before the next look; 0: not at all. */
static uint64_t pause_ns(int went, int *looks, uint64_t *since) {
    if (went) *looks = 0;
    if (++*looks < LOOKS) return 0;
    if (*looks == LOOKS) *since = now_ns();
    uint64_t pause = (now_ns() - *since) / 32;
    return pause < PAUSE_NS ? PAUSE_NS : pause > PAUSE_NS_MAX ? PAUSE_NS_MAX : pause;
}

/* Sleeps with the lock, until the bell rings or the time is over. */
static void doze(pthread_cond_t *bell, uint64_t ns) {
    uint64_t end = now_ns() + ns;
    const struct timespec at = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
    pthread_cond_timedwait(bell, &lock, &at);
}

static int is_idle(void) {
    for (struct shim_group *group = groups; group; group = group->next)
        if (group->first || (group->left && !group->kept)) return 0;
    return 1;
}

/* Beyond an operation's own time, for ranks that are busy with others. */
#define GRACE_MS 5000u

int shim_is_busy(void) {
    if (!threaded) return 0;
    pthread_mutex_lock(&lock);
    int busy = 0;
    for (struct shim_group *group = groups; group && !busy; group = group->next) busy = group->first != NULL;
    pthread_mutex_unlock(&lock);
    return busy;
}

void shim_nap(struct shim_patience *patience) {
    uint64_t pause = pause_ns(0, &patience->looks, &patience->since);
    if (!pause) return;
    pthread_mutex_lock(&lock);
    doze(&over, pause);
    pthread_mutex_unlock(&lock);
}

/* The library's own messages go on while ranks wait: one that has yet to come may wait for them. */
static void progress(void) {
    int found;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, still, &found, MPI_STATUS_IGNORE);
    sched_yield();
}

/* Makes calls go on until this one is over, NULL: all are; with the lock, which others get in between. */
static void drive(const struct shim_call *until) {
    int looks = 0;
    uint64_t since = 0, went_at = now_ns();
    driven = 1;
    while (until ? !until->over : !is_idle()) {
        pthread_mutex_unlock(&lock);
        int any, went = steps(&any);
        uint64_t pause = pause_ns(went, &looks, &since);
        if (went || !any) went_at = now_ns();
        else progress();
        pthread_mutex_lock(&lock);
        if (pause && !(until && until->over)) doze(&bell, pause);
        /* All ranks are at their end: what goes on no more needs calls that they never made. */
        if (ending && now_ns() - went_at > (shim_limit_ms + GRACE_MS) * (uint64_t)1000000) break;
    }
    driven = 0;
    if (threaded && !is_idle()) pthread_cond_broadcast(&bell);
}

static void *serve(void *nothing) {
    pthread_mutex_lock(&lock);
    for (;;) {
        if (!driven && !is_idle()) drive(NULL);
        if (!driven && ending) break; /* All calls are over, or given up. */
        pthread_cond_wait(&bell, &lock);
    }
    pthread_mutex_unlock(&lock);
    return nothing;
}

void shim_engine_start(int with_thread, int with_several) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&bell, &attributes);
    pthread_cond_init(&over, &attributes);
    threaded = with_thread;
    several = with_several;
    PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &still);
    if (threaded && pthread_create(&thread, NULL, serve, NULL)) {
        fprintf(stderr, "rackloom: the system refuses a thread\n");
        PMPI_Abort(MPI_COMM_WORLD, 1); /* The others have theirs, and would wait for us. */
    }
}

void shim_engine_end(void) {
    if (threaded) {
        pthread_mutex_lock(&lock);
        ending = 1;
        pthread_cond_broadcast(&bell);
        pthread_mutex_unlock(&lock);
        pthread_join(thread, NULL);
    }
    for (struct shim_group *group = groups; group; group = group->next) {
        if (group->first)
            fprintf(stderr, "rackloom: warning: %s was begun, and other ranks never did: it is given up\n",
                    group->first->args.name);
        else shim_group_end(group);
    }
}

/* With the lock. */
static void put(struct shim_call *call) {
    struct shim_group *group = call->group;
    call->state = SHIM_NEW;
    call->over = call->did = call->code = 0;
    call->next = NULL;
    if (group->last) group->last->next = call;
    else group->first = call;
    group->last = call;
}

void shim_put(struct shim_call *call) {
    pthread_mutex_lock(&lock);
    put(call);
    pthread_cond_broadcast(&bell);
    pthread_mutex_unlock(&lock);
}

void shim_do(struct shim_call *call) {
    pthread_mutex_lock(&lock);
    put(call);
    if (driven) pthread_cond_broadcast(&bell);
    else drive(call);
    while (!call->over) pthread_cond_wait(&over, &lock);
    pthread_mutex_unlock(&lock);
}

int shim_is_alone(const struct shim_call *call) {
    int others = several || call->begun || call->refused || call->next;
    pthread_mutex_lock(&lock);
    for (struct shim_group *group = groups; group; group = group->next) others |= group->first && group->first != call;
    pthread_mutex_unlock(&lock);
    return !others;
}

void shim_add(struct shim_group *group) {
    pthread_mutex_lock(&lock);
    group->next = groups;
    groups = group;
    pthread_mutex_unlock(&lock);
}

void shim_retain(struct shim_group *group) {
    pthread_mutex_lock(&lock);
    group->kept++;
    pthread_mutex_unlock(&lock);
}

void shim_leave(struct shim_group *group) {
    pthread_mutex_lock(&lock);
    group->left = 1;
    pthread_cond_broadcast(&bell);
    pthread_mutex_unlock(&lock);
}
