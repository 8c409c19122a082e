/* The integer part of Q4 products on AVX2, shared by Q4_0 and Q4_1.
 *
 * One vector holds 8 rows x 4 consecutive k. vpmaddubsw multiplies nibbles (0..15, the unsigned
 * side) by q (-127..127) and adds neighbours: a 16-bit lane collects 8 x 2 products of one block,
 * at most 16 * 15 * 127 = 30480, so a whole block fits before one vpmaddwd folds the two lanes of a
 * row into its 32-bit sum. Sums of integers are exact: any order gives scalar's. */
#ifndef KR_AVX2_NIBBLES_H
#define KR_AVX2_NIBBLES_H

#include "columns.h"

enum { NIBBLE_BLOCK = 256, NIBBLE_UNIT = 64 }; /* bytes of a block and of its unit, packed */

/* A block of one group with a byte a weight: [unit][16 rows][4 k], units 0-3 from the low nibbles,
 * 4-7 from the high ones. */
typedef uint8_t nibble_block[8 * NIBBLE_UNIT];

KR_INLINE __m256i low_nibbles(__m256i bytes) {
  return _mm256_and_si256(bytes, _mm256_set1_epi8(15));
}
KR_INLINE __m256i high_nibbles(__m256i bytes) {
  return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
}

KR_INLINE void unpack_nibbles(const uint8_t *quants, uint8_t *ret) {
#pragma GCC unroll 8
  for (int i = 0; i < NIBBLE_BLOCK; i += 32) {
    __m256i bytes = load_bytes(quants + i);
    _mm256_store_si256((__m256i *)(ret + i), low_nibbles(bytes));
    _mm256_store_si256((__m256i *)(ret + NIBBLE_BLOCK + i), high_nibbles(bytes));
  }
}

/* The sums of a tile, in 16-bit lanes: lanes 2 i and 2 i + 1 of low0 make row i of column 0, those
 * of high0 row 8 + i. Named one by one, since compilers keep an array in memory. */
typedef struct tile_sums {
  __m256i low0, high0, low1, high1, low2, high2, low3, high3;
} tile_sums;

/* sum + w * x; the first product starts the sum. */
KR_INLINE __m256i add_product(int first, __m256i sum, __m256i w, __m256i x) {
  __m256i twos = _mm256_maddubs_epi16(w, x);
  return in_order(first ? twos : _mm256_add_epi16(sum, twos));
}

/* One unit of 16 rows, low 0-7 and high 8-15, against n <= KR_TILE columns of q [n][k]. */
KR_INLINE void add_unit(tile_sums *s, int first, __m256i low, __m256i high, const int8_t *q,
                        int64_t k, int n) {
  __m256i x = broadcast_unit(q);
  s->low0 = add_product(first, s->low0, low, x), s->high0 = add_product(first, s->high0, high, x);
  if (n > 1) {
    x = broadcast_unit(q + k);
    s->low1 = add_product(first, s->low1, low, x), s->high1 = add_product(first, s->high1, high, x);
  }
  if (n > 2) {
    x = broadcast_unit(q + 2 * k);
    s->low2 = add_product(first, s->low2, low, x), s->high2 = add_product(first, s->high2, high, x);
  }
  if (n > 3) {
    x = broadcast_unit(q + 3 * k);
    s->low3 = add_product(first, s->low3, low, x), s->high3 = add_product(first, s->high3, high, x);
  }
}

/* A block as it is packed, for one column or a few. */
KR_INLINE tile_sums packed_sums(const uint8_t *quants, const int8_t *q, int64_t k, int n) {
  tile_sums s = {0};
#pragma GCC unroll 4
  for (int u = 0; u < 4; u++) {
    __m256i low = load_bytes(quants + u * NIBBLE_UNIT);
    __m256i high = load_bytes(quants + u * NIBBLE_UNIT + 32);
    add_unit(&s, u == 0, low_nibbles(low), low_nibbles(high), q + 4 * u, k, n);
    add_unit(&s, 0, high_nibbles(low), high_nibbles(high), q + 16 + 4 * u, k, n);
  }
  return s;
}

/* A nibble_block, for many columns. */
KR_INLINE tile_sums unpacked_sums(const uint8_t *w, const int8_t *q, int64_t k, int n) {
  tile_sums s = {0};
#pragma GCC unroll 8
  for (int u = 0; u < 8; u++)
    add_unit(&s, u == 0, load_bytes(w + u * NIBBLE_UNIT), load_bytes(w + u * NIBBLE_UNIT + 32),
             q + 4 * u, k, n);
  return s;
}

#endif
