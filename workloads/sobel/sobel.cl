/* Sobel's edge detector, divided as Spector's best design for one FPGA: a work-group has 32 x 8 work-items, and each
 * of them a window that moves over 4 pixels of a row, so a group makes a tile of 128 x 8. The tile and the pixels
 * around it are brought into local memory once.
 *
 * A pixel is 32 bits: blue, green and red from the lowest byte up, and one byte unused. Pixels outside of the image are
 * 0 (and so have a luma of 16). The result is min(255, |gx| + |gy|) of the luma, the same in all three colours.
 */
#define GROUP_X 32
#define GROUP_Y 8
#define WINDOW 4
#define TILE_X (GROUP_X * WINDOW)

/* Luma by BT.601, in integers: 16 to 235. */
int luma(uint pixel) {
  return (int)((((pixel >> 16) & 0xff) * 66 + ((pixel >> 8) & 0xff) * 129 + (pixel & 0xff) * 25 + 128) >> 8) + 16;
}

__kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1)))
void sobel(__global const uint *restrict image, __global uint *restrict edges, int width, int height) {
  __local int tile[GROUP_Y + 2][TILE_X + 2];
  const int x0 = (int)get_group_id(0) * TILE_X - 1;
  const int y0 = (int)get_group_id(1) * GROUP_Y - 1;

  for (int y = (int)get_local_id(1); y < GROUP_Y + 2; y += GROUP_Y) {
    for (int x = (int)get_local_id(0); x < TILE_X + 2; x += GROUP_X) {
      const bool inside = x0 + x >= 0 && x0 + x < width && y0 + y >= 0 && y0 + y < height;
      tile[y][x] = luma(inside ? image[(size_t)(y0 + y) * width + x0 + x] : 0);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const int ty = (int)get_local_id(1) + 1;
  const int y = y0 + ty;
  for (int w = 0; w < WINDOW; w++) {
    const int tx = (int)get_local_id(0) * WINDOW + w + 1;
    const int x = x0 + tx;
    if (x >= width || y >= height) continue;
    const int gx = tile[ty - 1][tx + 1] + 2 * tile[ty][tx + 1] + tile[ty + 1][tx + 1]
                 - tile[ty - 1][tx - 1] - 2 * tile[ty][tx - 1] - tile[ty + 1][tx - 1];
    const int gy = tile[ty + 1][tx - 1] + 2 * tile[ty + 1][tx] + tile[ty + 1][tx + 1]
                 - tile[ty - 1][tx - 1] - 2 * tile[ty - 1][tx] - tile[ty - 1][tx + 1];
    const uint edge = min(255u, abs(gx) + abs(gy));
    edges[(size_t)y * width + x] = edge * 0x010101u;
  }
}
