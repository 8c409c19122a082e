/* How the AVX2 products of many columns walk their operands. */
#ifndef KR_AVX2_COLUMNS_H
#define KR_AVX2_COLUMNS_H

#include <stdint.h>

/* Blocks of a group that are unpacked at a time: 16 of Q4 are 8 KiB and leave L1 its room for the
 * columns. */
enum { KR_SLAB = 16, KR_L2_SHARE = 256 << 10 };

/* How many columns to take at a time so that their activations stay in L2 while all groups pass by;
 * at least `least`, for which the weights are then read again. */
static inline int64_t column_block(int64_t n, int64_t column_bytes, int64_t tile, int64_t least) {
  int64_t fits = KR_L2_SHARE / (column_bytes > 0 ? column_bytes : 1);
  if (fits < least) fits = least;
  fits -= fits % tile;
  return n < fits ? n : fits;
}

#endif
