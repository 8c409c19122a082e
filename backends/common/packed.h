/* Sizes of the packed forms of quantized weights, for bodies that serve them all (the layout is in
 * krafla/backend.h), and how products of many columns walk their operands. */
#ifndef KR_COMMON_PACKED_H
#define KR_COMMON_PACKED_H

#include <krafla/backend.h>

typedef enum kr_packed { KR_PACKED_Q4_0, KR_PACKED_Q4_1, KR_PACKED_Q8_0 } kr_packed;

enum { KR_PACKED_UNIT = 64, KR_PACKED_SCALES = 32, KR_PACKED_MINIMA = 64 }; /* bytes */

static inline int kr_packed_pair(kr_packed format) {
  return format == KR_PACKED_Q4_0 ? 576 : format == KR_PACKED_Q4_1 ? 640 : 1088;
}
/* Where the quants of a pair's block stand. */
static inline int kr_packed_quants(kr_packed format, int block) {
  return (format == KR_PACKED_Q4_1 ? 128 : 64) + block * (format == KR_PACKED_Q8_0 ? 512 : 256);
}

/* How many of n columns to take at a time so that their int8 activations stay in the second-level
 * cache while all groups of rows pass by; not under 32, for which the weights are then read again.
 * A multiple of tile, but for the last. */
enum { KR_PACKED_CACHE = 128 << 10 };

static inline int64_t kr_packed_columns(int64_t n, int64_t k, int64_t tile) {
  int64_t fits = k > 0 ? KR_PACKED_CACHE / k : n;
  if (fits < 32) fits = 32;
  fits -= fits % tile;
  return n < fits ? n : fits;
}

#endif
