/* Sobel edge detection: edges[y][x] = min(255, |gx| + |gy|) of the 3 x 3 pixels around it. The image has one more pixel on
 * each side than the i x j edges.
 *
 * Cost model: line buffers keep two rows on the chip, so each pixel is read once and written once; DDR moves 64 bytes a
 * cycle:
 *
 *     cycles = ceil(((i + 2) * (j + 2) + i * j) / 64)
 */
#include "rackloom.h"

typedef u8 u8x8 __attribute__((vector_size(8), aligned(1), may_alias));

static inline i16x8 wide(const u8 *p) { return __builtin_convertvector(*(const u8x8 *)p, i16x8); }
static inline i16x8 magnitude(i16x8 v) {
  i16x8 sign = v >> 15;
  return (v ^ sign) - sign;
}

static inline u8 pixel(const u8 *up, const u8 *mid, const u8 *low) {
  i32 gx = (up[2] + 2 * mid[2] + low[2]) - (up[0] + 2 * mid[0] + low[0]);
  i32 gy = (low[0] + 2 * low[1] + low[2]) - (up[0] + 2 * up[1] + up[2]);
  i32 sum = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
  return sum > 255 ? 255 : (u8)sum;
}

/* Eight pixels at once: the sums are at most 2040, far from the limits of 16 bits. */
static inline void pixels(const u8 *up, const u8 *mid, const u8 *low, u8 *out) {
  i16x8 up0 = wide(up), up2 = wide(up + 2), low0 = wide(low), low2 = wide(low + 2);
  i16x8 diagonal = low2 - up0, other = up2 - low0;
  i16x8 across = wide(mid + 2) - wide(mid), down = wide(low + 1) - wide(up + 1);
  i16x8 sum = magnitude(diagonal + other + across + across) + magnitude(diagonal - other + down + down);
  i16x8 over = sum > 255;
  sum = (sum & ~over) | (over & 255);
  *(u8x8 *)out = __builtin_convertvector(sum, u8x8);
}

RL_KERNEL(sobel)(u64 image_addr, u64 edges_addr, u64 i_extent, u64 j_extent) {
  const u8 *image = rl_array(image_addr, i_extent + 2, j_extent + 2, 1);
  u8 *edges = rl_array(edges_addr, i_extent, j_extent, 1);
  u32 ni = (u32)i_extent, nj = (u32)j_extent, row = nj + 2;
  u64 charged = 0;
  for (u32 i = 0; i < ni; i++) {
    const u8 *up = image + i * row, *mid = up + row, *low = mid + row;
    u8 *out = edges + i * nj;
    u32 j = 0;
    for (; nj - j >= 8; j += 8) pixels(up + j, mid + j, low + j, out + j);
    for (; j < nj; j++) out[j] = pixel(up + j, mid + j, low + j);
    /* The first row of edges needs three rows of the image, each further row one more. */
    u64 cycles = rl_div_up((u64)(i + 3) * row + (u64)(i + 1) * nj, RL_BEAT);
    rl_charge(cycles - charged);
    charged = cycles;
  }
  return 0;
}
