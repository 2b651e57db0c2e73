/* What a role's kernels are written with.
 *
 * A role is one or more C files compiled for wasm32; its linear memory is the DDR of the card. A kernel is
 *
 *     RL_KERNEL(name)(u64 a, u64 b, u64 i) { ... return 0; }
 *
 * with one 64-bit word for each of the arguments that role.toml lists: for an array its DDR address, for a dimension its
 * extent in elements. What it returns goes back to the host. A trap ends the launch with an error and nothing else: check
 * what you are given, above all with rl_array.
 *
 * The first RL_PRIVATE bytes of DDR hold the role's constants and stack; the linker sees to that. There is no heap.
 */
#ifndef RACKLOOM_H
#define RACKLOOM_H

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

/* Vectors of 128 bits. Their addresses need only the alignment of their elements. */
typedef u8 u8x16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef i16 i16x8 __attribute__((vector_size(16), aligned(2), may_alias));
typedef f32 f32x4 __attribute__((vector_size(16), aligned(4), may_alias));

/* Bytes at the bottom of DDR that belong to the role. */
#define RL_PRIVATE (1u << 20)

/* Bytes that the card's memory moves in one cycle of the role's clock: one 512-bit beat. */
#define RL_BEAT 64u

#define RL_KERNEL(name) __attribute__((export_name(#name), used)) u64 name

/* States that the work done since the last call takes so many more cycles of the role's clock on the card that is modelled.
 * A kernel that never calls it is charged a cycle for each instruction instead. */
__attribute__((import_module("rackloom"), import_name("charge"))) void rl_charge(u64 cycles);

/* Streams. A role may exchange messages with the world on streams 0 to 15, whether a kernel runs or not: on a card with
 * ports beside its network port, stream s is port s + 1, and messages are whole Ethernet frames (source: the port's own
 * address) of at most 9014 bytes.
 *
 * rl_receive copies the next message to `at` and returns its length with its stream above 32 bits; 0 if there is none; the
 * negative length if it is longer than `capacity`, and it stays. rl_send and rl_event, which reports a word to the card's
 * owner, return 1, or 0 while 64 messages and events wait. rl_wake asks for a call of on_wake after so many microseconds,
 * for a kernel from about when it began and not before its end; a negative number takes that back. All may be called from
 * kernels, too. */
__attribute__((import_module("rackloom"), import_name("receive"))) long long rl_receive(u64 at, u64 capacity);
__attribute__((import_module("rackloom"), import_name("send"))) u64 rl_send(u64 stream, u64 at, u64 length);
__attribute__((import_module("rackloom"), import_name("event"))) u64 rl_event(u64 word);
__attribute__((import_module("rackloom"), import_name("wake"))) void rl_wake(long long microseconds);

/* The memory of other nodes. A card's owner says to which node a stream leads (`Rack::set_route`); by that stream a kernel
 * reads and writes the memory that the node's owner has opened to this card, up to RL_REMOTE_MAX bytes at a time.
 *
 * rl_remote_read(stream, addr, at, length) and rl_remote_write begin an access and return its number, or 0 while 16 are
 * under way. A write takes its bytes at once. rl_remote_wait(number) waits, puts what was read at `at`, and returns 0 or
 * what went wrong; only then the number is free again. Accesses to one node are carried out in the order in which they were
 * begun. A node that is gone is an error after 2 s at most: a kernel never waits for ever. rl_remote_fail ends the kernel
 * with what went wrong: the launch ends with `kernel-remote`. Waiting costs no cycles. Handlers may use none of this. */
#define RL_REMOTE_MAX 1408u

/* The stream has no route. */
#define RL_REMOTE_NO_ROUTE 1
/* The node has no window there for this card, or not with that right: nothing was done. */
#define RL_REMOTE_REFUSED 2
/* The node is gone, or has started anew: it was done once, or not at all. */
#define RL_REMOTE_GONE 3
/* The card has too much under way: nothing was done. */
#define RL_REMOTE_BUSY 4

__attribute__((import_module("rackloom"), import_name("remote_read"))) u64 rl_remote_read(u64 stream, u64 addr, u64 at,
                                                                                          u64 length);
__attribute__((import_module("rackloom"), import_name("remote_write"))) u64 rl_remote_write(u64 stream, u64 addr, u64 at,
                                                                                            u64 length);
__attribute__((import_module("rackloom"), import_name("remote_wait"))) u64 rl_remote_wait(u64 number);
__attribute__((import_module("rackloom"), import_name("remote_fail"))) void rl_remote_fail(u64 fault);

/* Reads and waits; what goes wrong ends the kernel. */
static inline void rl_fetch(u64 stream, u64 addr, void *at, u64 length) {
  u64 fault = rl_remote_wait(rl_remote_read(stream, addr, (u64)(__UINTPTR_TYPE__)at, length));
  if (fault) rl_remote_fail(fault);
}

/* The same for a write. */
static inline void rl_store(u64 stream, u64 addr, const void *at, u64 length) {
  u64 fault = rl_remote_wait(rl_remote_write(stream, addr, (u64)(__UINTPTR_TYPE__)at, length));
  if (fault) rl_remote_fail(fault);
}

/* On a card with a host behind it whose frames the role sees (`rackloom up --nic CARD=INTERFACE,hook`): what comes in at
 * one side is a message on that side's stream, and what is sent on a stream leaves at that side. A frame that the role does
 * not send on goes no further. To the wire it may send under the host's address only, to the host under any but that; and
 * neither frames of Rackloom's families. */
#define RL_NIC_WIRE 14u
#define RL_NIC_HOST 15u

/* Handlers that a role may define. While no kernel runs, on_message is called for each message, which rl_receive then
 * copies, and on_wake when the time asked for has come; each has 65,536 instructions. */
#define RL_ON_MESSAGE(stream, length) \
  __attribute__((export_name("on_message"), used)) void on_message(u64 stream, u64 length)
#define RL_ON_WAKE __attribute__((export_name("on_wake"), used)) void on_wake(void)

/* The array of n x m elements of `bytes` bytes at DDR address `addr`. It traps if the array is not between RL_PRIVATE and
 * 4 GiB; the end of a smaller DDR traps when it is passed. An extent beyond 2^31 traps even if the other is 0, so that
 * loops over extents may add to 32-bit counters without wrapping round. */
static inline void *rl_array(u64 addr, u64 n, u64 m, u32 bytes) {
  const u64 top = 1ull << 32, most = 1ull << 31;
  if (addr < RL_PRIVATE || addr > top || n > most || m > most || n * m > (top - addr) / bytes) __builtin_trap();
  return (void *)(__UINTPTR_TYPE__)addr;
}

static inline u64 rl_min(u64 a, u64 b) { return a < b ? a : b; }
static inline u64 rl_div_up(u64 a, u64 b) { return a / b + (a % b != 0); }

/* The compiler may call these for assignments of structs. */
__attribute__((weak)) void *memcpy(void *to, const void *from, __SIZE_TYPE__ n) {
  u8 *t = to;
  const u8 *f = from;
  for (; n >= 16; n -= 16, t += 16, f += 16) *(u8x16 *)t = *(const u8x16 *)f;
  for (; n; n--) *t++ = *f++;
  return to;
}

__attribute__((weak)) void *memmove(void *to, const void *from, __SIZE_TYPE__ n) {
  u8 *t = to;
  const u8 *f = from;
  if (t <= f || t >= f + n) return memcpy(to, from, n);
  while (n--) t[n] = f[n];
  return to;
}

__attribute__((weak)) void *memset(void *to, int byte, __SIZE_TYPE__ n) {
  u8 *t = to;
  u8x16 bytes = (u8x16){0} + (u8)byte;
  for (; n >= 16; n -= 16, t += 16) *(u8x16 *)t = bytes;
  for (; n; n--) *t++ = (u8)byte;
  return to;
}

#endif
