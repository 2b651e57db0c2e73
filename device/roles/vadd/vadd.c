/* c = a + b.
 *
 * Cost model: the role streams; DDR moves one 64-byte beat a cycle, and there are two reads and one write an element:
 *
 *     cycles = ceil(i * 12 / 64)
 */
#include "rackloom.h"

/* Elements between two charges, so that a bound ends a long launch early. */
enum { CHUNK = 1 << 16 };

RL_KERNEL(vadd)(u64 a_addr, u64 b_addr, u64 c_addr, u64 extent) {
  const f32 *a = rl_array(a_addr, extent, 1, sizeof(f32));
  const f32 *b = rl_array(b_addr, extent, 1, sizeof(f32));
  f32 *c = rl_array(c_addr, extent, 1, sizeof(f32));
  u32 n = (u32)extent;
  u64 charged = 0;
  for (u32 from = 0; from < n; from += CHUNK) {
    u32 to = (u32)rl_min(n, (u64)from + CHUNK);
    u32 i = from;
    for (; to - i >= 16; i += 16)
      for (u32 v = 0; v < 16; v += 4)
        *(f32x4 *)(c + i + v) = *(const f32x4 *)(a + i + v) + *(const f32x4 *)(b + i + v);
    for (; i < to; i++) c[i] = a[i] + b[i];
    u64 cycles = rl_div_up((u64)to * 3 * sizeof(f32), RL_BEAT);
    rl_charge(cycles - charged);
    charged = cycles;
  }
  return 0;
}
