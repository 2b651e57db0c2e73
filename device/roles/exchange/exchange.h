/* What the kernels have in common: how matrices are cut over cards, and how a part is fetched from one of them.
 *
 * A matrix of n rows is cut into one strip of rows for each of `cards` cards: that of card r goes from row n r / cards to
 * n (r + 1) / cards. Each kind of array lies at the same address on all cards. A card meets the others in the order
 * self + 1, self + 2, ... so that no card is asked by all at once. A launch takes those at the distances `first` to
 * first + count - 1, at most 16; stream d leads to the card at distance first + d.
 *
 * A kernel returns 0, or what went wrong and where: (card + 1) << 8 | fault, with a fault of rackloom.h. Its result is
 * then not there.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "rackloom.h"

enum { UNDER_WAY = 16, STREAMS = 16 };

struct group {
  u64 cards, self, first, count;
};

static inline struct group group_of(u64 cards, u64 self, u64 first, u64 count) {
  if (cards == 0 || cards > 1u << 16 || self >= cards || first == 0 || count > STREAMS || first + count > cards) {
    __builtin_trap();
  }
  return (struct group){cards, self, first, count};
}

static inline u64 peer_at(struct group g, u64 distance) { return (g.self + distance) % g.cards; }

/* First row of card r's strip of `n` rows. */
static inline u64 edge(u64 n, u64 r, u64 cards) { return n * r / cards; }

/* Accesses under way: numbered from 0 in the order in which they began, and ended in that order. */
struct fetches {
  u64 begun, ended;
  u64 number[UNDER_WAY];
  u64 peer[UNDER_WAY];
};

/* Waits for all before number `until`; what this kernel has to return, or 0. */
static inline u64 settle(struct fetches *f, u64 until) {
  for (; f->ended < until; f->ended++) {
    u64 fault = rl_remote_wait(f->number[f->ended % UNDER_WAY]);
    if (fault) return (f->peer[f->ended % UNDER_WAY] + 1) << 8 | fault;
  }
  return 0;
}

/* Begins to fetch `rows` pieces of `bytes` bytes, `stride` bytes apart at `from` in the peer's memory, to `to`, where they
 * lie without gaps; what this kernel has to return, or 0. Pieces that touch are fetched as one. */
static inline u64 fetch(struct fetches *f, u64 peer, u64 stream, u64 from, u64 stride, u64 rows, u64 bytes, u64 to) {
  if (stride == bytes) {
    bytes *= rows;
    rows = 1;
  }
  /* As equal as beats allow, so that no row ends with a few bytes. */
  u64 pieces = rl_div_up(bytes, RL_REMOTE_MAX);
  u64 most = rl_div_up(rl_div_up(bytes, pieces ? pieces : 1), RL_BEAT) * RL_BEAT;
  for (u64 row = 0; row < rows; row++, from += stride, to += bytes) {
    for (u64 at = 0; at < bytes; at += most) {
      u64 fault = f->begun >= UNDER_WAY ? settle(f, f->begun - UNDER_WAY + 1) : 0;
      if (fault) return fault;
      u64 place = f->begun % UNDER_WAY;
      f->peer[place] = peer;
      f->number[place] = rl_remote_read(stream, from + at, to + at, rl_min(most, bytes - at));
      f->begun++;
    }
  }
  return 0;
}

#endif
