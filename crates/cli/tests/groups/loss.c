/* Sums again and again, until an operation fails; says how. */
#include "check.h"

int main(void) {
    rl_comm comm;
    must(rl_comm_open(NULL, NULL, 20000, &comm));
    static int32_t numbers[RANKS_MAX][1000];
    const void *give[RANKS_MAX];
    void *get[RANKS_MAX];
    for (int rank = 0; rank < rl_comm_size(comm); rank++) give[rank] = get[rank] = numbers[rank];
    rl_operation sum = rl_allreduce(1000, RL_I32, RL_SUM);
    puts("ready");
    fflush(stdout);
    int code;
    do {
        for (int rank = 0; rank < rl_comm_size(comm); rank++) numbers[rank][999] = 1;
        code = rl_comm_run(comm, &sum, give, get);
        for (int rank = 0; code == RL_OK && rank < rl_comm_size(comm); rank++)
            check(numbers[rank][999] == rl_comm_size(comm), "a wrong sum");
    } while (code == RL_OK);
    printf("%d: %s\n", code, rl_comm_error());
    /* Those who are left go on. */
    rl_comm left;
    must(rl_comm_shrink(comm, &left));
    must(rl_comm_free(comm));
    check(rl_comm_size(left) == 2, "%d", rl_comm_size(left));
    for (int rank = 0; rank < 2; rank++) numbers[rank][999] = rank + 5;
    must(rl_comm_run(left, &sum, give, get));
    check(numbers[0][999] == 11 && numbers[1][999] == 11, "a wrong sum");
    return rl_comm_free(left);
}
