// Tiles of matrices in DDR, of elements of 4 bytes, row by row.
package rl_tile_pkg;
  localparam int unsigned Lanes = 16;  // Elements of a beat.
  localparam int unsigned LogElems = 12;  // Elements of the largest tile.
  typedef logic [31:0] byte_addr_t;  // Roles use the lower 4 GiB.
  typedef logic [LogElems:0] extent_t;  // 1 to 2^LogElems.
  typedef logic [Lanes-1:0] lanes_t;
  typedef logic [3:0] lane_t;
  typedef logic [7:0] bank_addr_t;  // Of a tile in a bank, one of 16: see rl_tile_banks.

  // A tile of C, and of A and B, from which it is made.
  typedef struct packed {
    byte_addr_t a;     // First elements.
    byte_addr_t b;
    byte_addr_t c;
    extent_t    rows;
    extent_t    cols;
  } tile_t;

  // A beat of a row of a tile.
  typedef struct packed {
    extent_t    row;
    logic [8:0] beat;   // Its number in the row.
    lane_t      first;  // Lane of the row's first element, in the row's first beat.
    lanes_t     used;   // Lanes with elements of the row.
    lanes_t     below;  // Lanes below `first`: there, the columns are of the block of 16 before.
  } place_t;
endpackage : rl_tile_pkg
