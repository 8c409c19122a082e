/* The integer part of Q4 products on AVX2, shared by Q4_0 and Q4_1.
 *
 * One vector holds 8 rows x 4 consecutive k. vpmaddubsw multiplies nibbles (0..15, the unsigned
 * side) by q (-127..127) and adds neighbours: a 16-bit lane collects 8 x 2 products of one block,
 * at most 16 * 15 * 127 = 30480, so a whole block fits before one vpmaddwd folds the two lanes of a
 * row into its 32-bit sum. Sums of integers are exact: any order gives scalar's. */
#ifndef KR_AVX2_NIBBLES_H
#define KR_AVX2_NIBBLES_H

#include "columns.h"
#include "lanes.h"

enum { NIBBLE_BLOCK = 256, NIBBLE_UNIT = 64 }; /* bytes of a block and of its unit, packed */

/* Lane i of ret_sums[h], in 16-bit halves: the block's sum of nibble * q for row 8 h + i. */
KR_INLINE void nibble_sums(const uint8_t *quants, const int8_t *q, __m256i ret_sums[2]) {
  const __m256i low = _mm256_set1_epi8(15);
  __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
#pragma GCC unroll 4
  for (int u = 0; u < 4; u++) {
    __m256i x_low = broadcast_unit(q + 4 * u), x_high = broadcast_unit(q + 16 + 4 * u);
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++) {
      __m256i bytes = load_bytes(quants + u * NIBBLE_UNIT + h * 32);
      __m256i w_low = _mm256_and_si256(bytes, low);
      __m256i w_high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low);
      sums[h] = in_order(_mm256_add_epi16(sums[h], _mm256_maddubs_epi16(w_low, x_low)));
      sums[h] = in_order(_mm256_add_epi16(sums[h], _mm256_maddubs_epi16(w_high, x_high)));
    }
  }
  ret_sums[0] = sums[0], ret_sums[1] = sums[1];
}

/* Blocks of one group with a byte a weight, to be met by many columns: [unit][16 rows][4 k], units
 * 0-3 from the low nibbles, 4-7 from the high ones. */
typedef uint8_t nibble_block[8][64];

KR_INLINE void unpack_nibbles(const uint8_t *quants, nibble_block ret) {
  const __m256i low = _mm256_set1_epi8(15);
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
    __m256i bytes = load_bytes(quants + i * 32);
    _mm256_store_si256((__m256i *)(ret[i / 2] + i % 2 * 32), _mm256_and_si256(bytes, low));
    _mm256_store_si256((__m256i *)(ret[4 + i / 2] + i % 2 * 32),
                       _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low));
  }
}

/* The sums of a tile of 16 rows x 4 columns: rows 0-7 in low, 8-15 in high. Named one by one, since
 * compilers keep an array in memory. */
typedef struct tile_sums {
  __m256i low0, high0, low1, high1, low2, high2, low3, high3;
} tile_sums;

/* sum + w * x in 16-bit lanes; the first product starts the sum. */
KR_INLINE __m256i add_unit(int u, __m256i sum, __m256i w, __m256i x) {
  __m256i twos = _mm256_maddubs_epi16(w, x);
  return in_order(u == 0 ? twos : _mm256_add_epi16(sum, twos));
}

/* As nibble_sums, for n <= 4 columns of q [n][k]: two vectors of weights meet a broadcast unit of
 * each column. */
KR_INLINE tile_sums nibble_tile(const nibble_block w, const int8_t *q, int64_t k, int n) {
  tile_sums s = {0};
#pragma GCC unroll 8
  for (int u = 0; u < 8; u++) {
    __m256i low = load_bytes(w[u]), high = load_bytes(w[u] + 32);
    __m256i x = broadcast_unit(q + 4 * u);
    s.low0 = add_unit(u, s.low0, low, x), s.high0 = add_unit(u, s.high0, high, x);
    if (n > 1) {
      x = broadcast_unit(q + k + 4 * u);
      s.low1 = add_unit(u, s.low1, low, x), s.high1 = add_unit(u, s.high1, high, x);
    }
    if (n > 2) {
      x = broadcast_unit(q + 2 * k + 4 * u);
      s.low2 = add_unit(u, s.low2, low, x), s.high2 = add_unit(u, s.high2, high, x);
    }
    if (n > 3) {
      x = broadcast_unit(q + 3 * k + 4 * u);
      s.low3 = add_unit(u, s.low3, low, x), s.high3 = add_unit(u, s.high3, high, x);
    }
  }
  return s;
}

#endif
