/* A process that is a rank: every operation in one shape, a split, a request that goes on, and a rank that is lost. */
#include <signal.h>

#include "check.h"

enum { COUNT = 30000 };

int main(void) {
    rl_comm hosts, part, left;
    must(rl_hosts_join(20000, &hosts));
    int size = rl_comm_size(hosts), rank = rl_comm_rank(hosts), over = 0, parts;
    check(size == 4 && rank >= 0 && rank < size, "%d of %d", rank, size);
    char name[64];
    must(rl_comm_card(hosts, 1, name, sizeof name));
    check(strncmp(name, "process ", 8) == 0, "%s", name);
    int64_t *mine = room(COUNT, 8), *all = room((size_t)COUNT * 4, 8);
    const void *give[1] = {mine};
    void *get[1] = {all};
    for (int i = 0; i < COUNT; i++) mine[i] = i * 10 + rank;

    rl_operation sum = rl_allreduce(COUNT, RL_I64, RL_SUM), together = rl_allgather(COUNT, RL_I64), none = rl_barrier();
    must(rl_comm_run(hosts, &sum, give, get));
    for (int i = 0; i < COUNT; i++) check(all[i] == i * 40 + 6, "%d: %ld", i, (long)all[i]);
    must(rl_comm_run(hosts, &together, give, get));
    for (int i = 0; i < COUNT * 4; i++) check(all[i] == i % COUNT * 10 + i / COUNT, "%d: %ld", i, (long)all[i]);
    must(rl_comm_run(hosts, &none, NULL, NULL));

    /* One that is begun is done before one that is done at once afterwards. */
    rl_request request;
    rl_operation to_one = rl_reduce(COUNT, RL_I64, RL_MAX, 3);
    must(rl_comm_begin(hosts, &to_one, give, get, &request));
    must(rl_comm_run(hosts, &none, NULL, NULL));
    must(rl_request_test(request, &over));
    check(over && (rank != 3 || all[7] == 73), "%ld", (long)all[7]);
    for (int i = 0; i < 3; i++) {
        must(rl_request_start(request));
        must(rl_request_wait(request));
    }
    must(rl_request_free(request));

    int colour = rank == 1 ? -1 : rank % 2, key = -rank;
    must(rl_comm_split(hosts, &colour, &key, &part, &parts));
    check(parts == (rank != 1), "%d", parts);
    if (parts) {
        rl_operation one = rl_allreduce(1, RL_I64, RL_SUM);
        must(rl_comm_run(part, &one, give, get));
        check(all[0] == (rank == 3 ? 3 : 2), "%ld", (long)all[0]);
        must(rl_comm_free(part));
    }
    rl_operation nonsense = rl_broadcast(1, RL_I8, 9);
    check(rl_comm_run(hosts, &nonsense, give, get) == RL_INVALID, "%s", rl_comm_error());

    if (rank == 2) raise(SIGKILL);
    int lost = rl_comm_run(hosts, &sum, give, get);
    check(lost == RL_LOST, "%d: %s", lost, rl_comm_error());
    check(strstr(rl_comm_error(), "rank ") != NULL, "%s", rl_comm_error());
    must(rl_comm_shrink(hosts, &left));
    must(rl_comm_free(hosts));
    check(rl_comm_size(left) == 3, "%d", rl_comm_size(left));
    must(rl_comm_run(left, &sum, give, get));
    for (int i = 0; i < COUNT; i++) check(all[i] == i * 30 + 4, "%d: %ld", i, (long)all[i]);
    if (rl_comm_rank(left) == 0) puts("three are left");
    must(rl_comm_free(left));
    free(mine);
    free(all);
    return 0;
}
