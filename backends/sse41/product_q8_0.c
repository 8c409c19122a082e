/* Q8_0 products with one column. Layout and numerics: backends/scalar/product_q8_0.c. Products with
 * many columns are the SSE2 backend's: either way takes two multiplications for 16 weights.
 *
 * One vector holds 4 rows x 4 consecutive k. pmaddubsw wants an unsigned side: |w|, at most 128
 * (pabsb leaves -128 as the byte 128, which is right when read unsigned), times q with w's sign,
 * which psignb gives exactly since |q| <= 127. Two products are at most 2 * 128 * 127 = 32512 and
 * fit 16 bits; pmaddwd then folds the two lanes of a row. Sums of integers are exact: any order
 * gives scalar's. Lane i of accumulator r belongs to row 4 r + i alone, blocks ascending. */
#include "kernels.h"
#include "lanes.h"

enum { PAIR_BYTES = 1088, QUANTS = 64, BLOCK_BYTES = 512, UNIT_BYTES = 64 };

KR_INLINE void vector_block(const uint8_t *pair, int b, const int8_t *q, float d, __m128 acc[4]) {
  const uint8_t *quants = pair + QUANTS + b * BLOCK_BYTES;
  __m128i half[2] = {load_bytes(q), load_bytes(q + 16)}, sums[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) sums[r] = _mm_setzero_si128();
#pragma GCC unroll 8
  for (int u = 0; u < 8; u++) {
    __m128i x = spread_unit(half[u / 4], u % 4);
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) {
      __m128i w = load_bytes(quants + u * UNIT_BYTES + 16 * r);
      __m128i twos = _mm_maddubs_epi16(_mm_abs_epi8(w), _mm_sign_epi8(x, w));
      sums[r] = in_order(_mm_add_epi32(sums[r], fold_pairs(twos)));
    }
  }
  __m128 dw[4], dx = _mm_set1_ps(d);
  load_halves(pair + b * 32, dw);
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) acc[r] = add_scaled(acc[r], sums[r], dw[r], dx);
}

/* No software prefetch: it only disturbs the hardware's. */
void kr_sse41_vector_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                          float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK;
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t g = first; g < last; g++) {
      const uint8_t *pair = w->data + g * w->group_bytes;
      const int8_t *q = x->q + c * w->k;
      const float *d = x->d + c * blocks;
      __m128 acc[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
      for (int64_t b = 0; b < blocks; b += 2, pair += PAIR_BYTES) {
        vector_block(pair, 0, q + b * KR_BLOCK, d[b], acc);
        vector_block(pair, 1, q + (b + 1) * KR_BLOCK, d[b + 1], acc);
      }
      for (int r = 0; r < 4; r++) _mm_storeu_ps(y + c * ldy + g * KR_GROUP + 4 * r, acc[r]);
    }
}
