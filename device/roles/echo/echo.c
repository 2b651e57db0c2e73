/* Sends frames back that come in on its streams.
 *
 *     send    a frame of 64 bytes on a stream, with both addresses and turns; returns 1
 *     heard   returns the frames that have come in since the role is there
 *
 * A frame that comes in with more than one turn left goes back on its stream, with its addresses swapped and a turn less.
 * Turns are the 8 bytes behind Ethernet's head. In arguments as in memory, the first byte is the least significant.
 *
 * Cost model: a cycle for each 8 bytes, and two more, as the circuit takes.
 */
#include "rackloom.h"

enum { ADDRESS = 6, TURNS = 14, HEAD = 22, SENT = 64, LONGEST = 9014 };

static u8 frame[LONGEST];
static u64 heard_so_far;

static u64 number(const u8 *at, u32 bytes) {
  u64 value = 0;
  for (u32 i = bytes; i-- > 0;) value = value << 8 | at[i];
  return value;
}

static void put(u8 *at, u64 value, u32 bytes) {
  for (u32 i = 0; i < bytes; i++, value >>= 8) at[i] = (u8)value;
}

static u64 place(const u8 *at) { return (u64)(__UINTPTR_TYPE__)at; }

RL_ON_MESSAGE(stream, length) {
  heard_so_far++;
  rl_receive(place(frame), LONGEST);
  u64 turns = number(frame + TURNS, 8);
  if (length < HEAD || turns < 2) return;
  u64 to = number(frame, ADDRESS);
  put(frame, number(frame + ADDRESS, ADDRESS), ADDRESS);
  put(frame + ADDRESS, to, ADDRESS);
  put(frame + TURNS, turns - 1, 8);
  rl_send(stream, place(frame), length);
}

RL_KERNEL(send)(u64 stream, u64 to, u64 from, u64 turns) {
  static u8 first[SENT];
  put(first, to, ADDRESS);
  put(first + ADDRESS, from, ADDRESS);
  put(first + 2 * ADDRESS, 0xb588, 2);
  put(first + TURNS, turns, 8);
  rl_charge(SENT / 8 + 2);
  return rl_send(stream, place(first), SENT);
}

RL_KERNEL(heard)(void) {
  rl_charge(1);
  return heard_so_far;
}
