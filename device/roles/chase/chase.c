/* A list that lies in another card's memory: each node is the address of the next one, 0 at the end, and a value. The
 * stream's route says whose memory it is. `gateware/rtl/roles/rl_role_chase.sv` is the same as a circuit.
 *
 * Cost model: four cycles a node. Waiting for the other card costs none.
 */
#include "rackloom.h"

struct node {
  u64 next;
  u64 value;
};

enum { CYCLES = 4 };

/* The sum of the values of the first `most` nodes. */
RL_KERNEL(chase)(u64 stream, u64 head, u64 most) {
  struct node node;
  u64 sum = 0;
  for (u64 at = head; at && most; at = node.next, most--) {
    rl_fetch(stream, at, &node, sizeof node);
    sum += node.value;
    rl_charge(CYCLES);
  }
  return sum;
}

/* Adds to the value of each of them; how many there are. The next node is fetched while the last one's value is on its
 * way. */
RL_KERNEL(raise)(u64 stream, u64 head, u64 most, u64 by) {
  struct node node;
  u64 count = 0, writing = 0, fault;
  for (u64 at = head; at && count < most; at = node.next, count++) {
    u64 reading = rl_remote_read(stream, at, (u64)(__UINTPTR_TYPE__)&node, sizeof node);
    if (writing && (fault = rl_remote_wait(writing))) rl_remote_fail(fault);
    if ((fault = rl_remote_wait(reading))) rl_remote_fail(fault);
    u64 value = node.value + by;
    writing = rl_remote_write(stream, at + sizeof(u64), (u64)(__UINTPTR_TYPE__)&value, sizeof value);
    rl_charge(CYCLES);
  }
  if (writing && (fault = rl_remote_wait(writing))) rl_remote_fail(fault);
  return count;
}

/* What reading eight bytes there leads to, as a number: a role may go on. */
RL_KERNEL(fault)(u64 stream, u64 addr) {
  u64 word;
  rl_charge(CYCLES);
  return rl_remote_wait(rl_remote_read(stream, addr, (u64)(__UINTPTR_TYPE__)&word, sizeof word));
}

/* As `chase`, in the card's own memory. */
RL_KERNEL(walk)(u64 head, u64 most) {
  u64 sum = 0;
  for (u64 at = head; at && most; most--) {
    const struct node *node = rl_array(at, 1, 1, sizeof(struct node));
    sum += node->value;
    at = node->next;
    rl_charge(CYCLES);
  }
  return sum;
}
