/* Memory of a card, or of any node of a rack's network, as memory of this process.
 *
 *   cc program.c -I crates/api/c/include -L target/release -lrackloom_rma
 *
 * A page is fetched when it is first touched, and then stays as it was. What is stored stays here until rl_sync.
 * If a page cannot be fetched, because the card or its window is gone, whoever touches it gets SIGBUS, 2 s later at
 * most. Child processes do not have the memory. What was not synced when the process ends is lost.
 *
 * The environment names the network (RACKLOOM_NET, as for the command) and this process's address as a node, where a
 * window is for one alone (RACKLOOM_NODE). On an interface, where anybody may pose as a node, RACKLOOM_INSECURE_OPEN=1 has
 * to say that this does not matter. Functions may be called from any thread.
 */
#ifndef RACKLOOM_RMA_H
#define RACKLOOM_RMA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loads alone; a store raises SIGSEGV. */
#define RL_READ 1
/* Loads and stores. */
#define RL_READ_WRITE 3

/* Maps length bytes from base on of a node's memory; node is its address, such as "02:52:4c:00:00:01".
 * Returns where they are, at the beginning of a page, or NULL: see rl_error. */
void *rl_map(const char *node, uint64_t base, uint64_t length, int access);

/* Maps the window that `rackloom rma map CARD -- PROGRAM` has opened for this process, and puts its bytes in *length
 * unless that is NULL. */
void *rl_map_given(uint64_t *length);

/* Writes back the aligned words of 8 bytes that have changed, and waits until the node has them: 0, or -1. What may
 * not have been written is written by the next call. */
int rl_sync(void *map);

/* Forgets the pages that hold no changes, so that they are fetched anew: 0, or -1. */
int rl_invalidate(void *map);

/* The same as rl_sync, and the end of the mapping, whatever comes of it: 0, or -1 if changes are lost. */
int rl_unmap(void *map);

/* Why the last call of this thread that failed did; valid until its next call. Never NULL. */
const char *rl_error(void);

#ifdef __cplusplus
}
#endif
#endif
