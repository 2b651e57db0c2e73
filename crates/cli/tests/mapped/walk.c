/* A list in a card's memory, linked by offsets in a scattered order: built by one process and walked by another.
 * Nothing here knows of a network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackloom_rma.h"

struct node {
  uint64_t next; /* Offset of the next one; 0: none. */
  uint64_t value;
};

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, rl_error());
  return 2;
}

/* The offset of the node of this number: each in some other page, none at 0. */
static uint64_t place(uint64_t i, uint64_t length) { return 64 + (i * 2654435761u % (length / 64 - 1)) * 64; }

int main(int argc, char **argv) {
  uint64_t length;
  char *map = rl_map_given(&length);
  if (!map) return fail("cannot map the card");
  const char *what = argc > 1 ? argv[1] : "";
  uint64_t *head = (uint64_t *)map;
  if (!strcmp(what, "build")) {
    uint64_t count = strtoull(argv[2], NULL, 10), next = 0;
    for (uint64_t i = 0; i < count; i++) {
      uint64_t at = place(i, length);
      *(struct node *)(map + at) = (struct node){next, i};
      next = at;
    }
    *head = next;
    if (rl_sync(map)) return fail("cannot write back");
    printf("built %llu\n", (unsigned long long)count);
  } else if (!strcmp(what, "walk")) {
    uint64_t count = 0, sum = 0;
    for (uint64_t at = *head; at; at = ((struct node *)(map + at))->next) {
      count++;
      sum += ((struct node *)(map + at))->value;
    }
    printf("walked %llu, sum %llu\n", (unsigned long long)count, (unsigned long long)sum);
  } else if (!strcmp(what, "wait")) {
    volatile char *bytes = map;
    char line[8];
    (void)bytes[0];
    puts("ready");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return 4;
    (void)bytes[length - 1];
    puts("the page has come");
  } else {
    return 3;
  }
  return rl_unmap(map) ? fail("cannot unmap") : 0;
}
