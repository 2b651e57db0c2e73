/* What the programs of this folder share: results as anybody would compute them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackloom_comm.h"

#define RANKS_MAX 8

/* Ends the program with the library's text if a call fails. */
#define must(call)                                                                                  \
    do {                                                                                            \
        int code_ = (call);                                                                         \
        if (code_ != RL_OK) {                                                                       \
            fprintf(stderr, "%s:%d: %s: %d: %s\n", __FILE__, __LINE__, #call, code_, rl_comm_error()); \
            exit(1);                                                                                \
        }                                                                                           \
    } while (0)

#define check(condition, ...)                                          \
    do {                                                               \
        if (!(condition)) {                                            \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                              \
            fprintf(stderr, "\n");                                     \
            exit(1);                                                   \
        }                                                              \
    } while (0)

/* Room for count elements of size bytes, at least one. */
static inline void *room(size_t count, size_t size) {
    void *made = calloc(count + 1, size);
    check(made != NULL, "no memory");
    return made;
}
