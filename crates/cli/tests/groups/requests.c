/* Groups of a split, operations that go on while the program does, and what is refused. */
#include "check.h"

#define COUNT 4096
static int32_t from[4][COUNT], to[4][COUNT];
static const void *const GIVE[4] = {from[0], from[1], from[2], from[3]};
static void *const GET[4] = {to[0], to[1], to[2], to[3]};

static void fill(int32_t seed) {
    for (int rank = 0; rank < 4; rank++)
        for (int i = 0; i < COUNT; i++) from[rank][i] = seed * 1000 + rank * 7 + i;
    memset(to, 0, sizeof to);
}

static int32_t sum(int32_t seed, int i) { return 4 * (seed * 1000 + i) + 42; }

static void split(rl_comm comm) {
    const int colours[4] = {5, 1, 5, -1}, keys[4] = {2, 0, 1, 0};
    rl_comm parts[4];
    int count;
    must(rl_comm_split(comm, colours, keys, parts, &count));
    check(count == 2 && rl_comm_size(parts[0]) == 1 && rl_comm_size(parts[1]) == 2, "%d", count);
    char name[64];
    must(rl_comm_card(parts[1], 0, name, sizeof name));
    check(!strncmp(name, "card2 ", 6), "%s: by key, card2 is first", name);
    check(rl_comm_card(parts[1], 0, name, 4) == RL_INVALID, "no room");
    int32_t a[2] = {1, 2}, b[2] = {30, 40}, both[2][4];
    const void *const give[2] = {a, b};
    void *const get[2] = {both[0], both[1]};
    rl_operation gather = rl_allgather(2, RL_I32);
    /* Two groups that share cards, at once. */
    fill(1);
    rl_operation all = rl_allreduce(COUNT, RL_I32, RL_SUM);
    rl_request request;
    must(rl_comm_begin(comm, &all, GIVE, GET, &request));
    must(rl_comm_run(parts[1], &gather, give, get));
    must(rl_request_free(request));
    const int32_t want[4] = {1, 2, 30, 40};
    check(!memcmp(both[0], want, 16) && !memcmp(both[1], want, 16), "allgather of a part");
    for (int i = 0; i < COUNT; i++) check(to[3][i] == sum(1, i), "%d", i);
    must(rl_comm_free(parts[0]));
    must(rl_comm_free(parts[1]));
}

static void requests(rl_comm comm) {
    rl_operation all = rl_allreduce(COUNT, RL_I32, RL_SUM);
    rl_request request, others[8];
    /* Again and again, on what is in the buffers then. */
    must(rl_comm_prepare(comm, &all, GIVE, GET, &request));
    must(rl_request_wait(request));
    for (int seed = 2; seed < 5; seed++) {
        fill(seed);
        must(rl_request_start(request));
        int over = 0;
        while (!over) must(rl_request_test(request, &over));
        check(rl_request_ns(request) > 0, "its programs ran");
        for (int i = 0; i < COUNT; i++) check(to[0][i] == sum(seed, i) && to[2][i] == sum(seed, i), "%d", i);
    }
    must(rl_request_free(request));
    /* Many at once, in their order: each is the sum of the sums before. */
    fill(0);
    for (int rank = 0; rank < 4; rank++) from[rank][0] = 1;
    rl_operation one = rl_allreduce(1, RL_I32, RL_SUM);
    void *const in_place[4] = {from[0], from[1], from[2], from[3]};
    for (int i = 0; i < 8; i++) must(rl_comm_begin(comm, &one, GIVE, in_place, &others[i]));
    for (int i = 7; i >= 0; i--) must(rl_request_free(others[i]));
    check(from[0][0] == 65536 && from[3][0] == 65536, "4^8, not %d", from[0][0]);
}

static void refused(rl_comm comm) {
    rl_operation bad = rl_allreduce(1, RL_F32, RL_XOR);
    check(rl_comm_run(comm, &bad, GIVE, GET) == RL_TYPE && strstr(rl_comm_error(), "no xor of f32"), "%s", rl_comm_error());
    bad = rl_broadcast(1, RL_F32, 4);
    check(rl_comm_run(comm, &bad, GIVE, GET) == RL_INVALID && strstr(rl_comm_error(), "rank 4"), "%s", rl_comm_error());
    bad = rl_alltoall(1 << 30, RL_F64);
    check(rl_comm_run(comm, &bad, GIVE, GET) == RL_SIZE, "%s", rl_comm_error());
    bad = rl_allgather(5000000, RL_F64);
    check(rl_comm_run(comm, &bad, GIVE, GET) == RL_SIZE && strstr(rl_comm_error(), "memory"), "%s", rl_comm_error());
    bad = rl_operation_of(77, 1, RL_I8, RL_SUM, 0);
    check(rl_comm_run(comm, &bad, GIVE, GET) == RL_INVALID, "%s", rl_comm_error());
    bad = rl_allgather(1, 9);
    check(rl_comm_run(comm, &bad, GIVE, GET) == RL_INVALID, "%s", rl_comm_error());
    bad = rl_barrier();
    const uint64_t counts[4] = {0};
    bad.counts = counts;
    check(rl_comm_run(comm, &bad, NULL, NULL) == RL_INVALID, "%s", rl_comm_error());
    rl_operation fine = rl_allgather(1, RL_I8);
    check(rl_comm_run(comm, &fine, NULL, GET) == RL_INVALID && strstr(rl_comm_error(), "NULL"), "%s", rl_comm_error());
    must(rl_comm_run(comm, &fine, GIVE, NULL)); /* Nobody wants to have it. */
    check(rl_comm_run(comm, NULL, GIVE, GET) == RL_INVALID, "%s", rl_comm_error());
    check(rl_comm_run(NULL, &fine, GIVE, GET) == RL_INVALID && rl_comm_size(NULL) == 0, "%s", rl_comm_error());
    check(rl_comm_begin(comm, &fine, GIVE, GET, NULL) == RL_INVALID, "%s", rl_comm_error());
    check(rl_request_wait(NULL) == RL_INVALID && rl_request_ns(NULL) == 0, "%s", rl_comm_error());
    rl_comm other;
    check(rl_comm_open(NULL, "card0,card0", 0, &other) == RL_INVALID, "%s", rl_comm_error());
    check(rl_comm_open(NULL, "first", 0, &other) == RL_INVALID, "%s", rl_comm_error());
    check(rl_comm_open("nothing:at all", NULL, 0, &other) == RL_NETWORK, "%s", rl_comm_error());
}

int main(void) {
    rl_comm comm;
    must(rl_comm_open(NULL, "card0,1,card2,3", 0, &comm));
    split(comm);
    requests(comm);
    refused(comm);
    rl_request left;
    rl_operation barrier = rl_barrier();
    must(rl_comm_begin(comm, &barrier, NULL, NULL, &left));
    must(rl_comm_free(comm));
    must(rl_request_wait(left)); /* It was begun before. */
    must(rl_request_free(left));
    check(rl_comm_free(comm) == RL_INVALID && rl_request_free(left) == RL_INVALID, "freed");
    puts("fine");
    return 0;
}
