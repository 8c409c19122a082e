/* The walk around the tiles of tile.S: Q8_0 products with several columns. Layout and numerics:
 * backends/scalar/product_q8_0.c. */
#include "kernels.h"
#include "tile.h"
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

enum {
  PAIR_BYTES = 1088,
  QUANTS = 64,
  BLOCK_BYTES = 512,
  UNIT_BYTES = 64,
  SLAB = 16,            /* blocks prepared at a time: 18 KiB */
  L2_SHARE = 512 << 10, /* of activations that stay while the groups go by */
  LEAST_COLUMNS = 32,   /* for which weights are read again */
  MANY_COLUMNS = 8      /* from which on weights are prepared */
};

/* Sums of |w| where w < 0 are 16 magnitudes of at most 128 in each of the two 16-bit lanes of a
 * row, before vpmaddwd adds these. */
static void prepare(const uint8_t *group, int64_t first, int64_t count, kr_asm_block *ret) {
  const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi16(1);
  for (int64_t i = 0; i < count; i++, ret++) {
    const uint8_t *pair = group + (first + i) / 2 * PAIR_BYTES;
    int64_t b = (first + i) % 2;
    const uint8_t *quants = pair + QUANTS + b * BLOCK_BYTES;
    for (int h = 0; h < 2; h++) {
      __m256i missing = zero;
      for (int j = h * 32; j < BLOCK_BYTES; j += UNIT_BYTES) {
        __m256i w = _mm256_load_si256((const __m256i *)(quants + j));
        __m256i magnitude = _mm256_abs_epi8(w), negative = _mm256_cmpgt_epi8(zero, w);
        _mm256_store_si256((__m256i *)(ret->magnitude + j), magnitude);
        _mm256_store_si256((__m256i *)(ret->negative + j), negative);
        missing = _mm256_sub_epi16(missing, _mm256_maddubs_epi16(magnitude, negative));
      }
      _mm256_store_si256((__m256i *)(ret->missing + 8 * h), _mm256_madd_epi16(missing, ones));
      __m128i halves = _mm_load_si128((const __m128i *)(pair + b * 32 + h * 16));
      _mm256_store_ps(ret->d + 8 * h, _mm256_cvtph_ps(halves));
    }
  }
}

/* Tiles of four columns, and one of what is left. */
static void all_columns(kr_asm_tile t, int64_t n, bool packed) {
  static kr_asm_tile_fn *const tiles[2][4] = {
      {kr_avx2_asm_slab_1, kr_avx2_asm_slab_2, kr_avx2_asm_slab_3, kr_avx2_asm_slab_4},
      {kr_avx2_asm_packed_1, kr_avx2_asm_packed_2, kr_avx2_asm_packed_3, kr_avx2_asm_packed_4}};
  while (n > 0) {
    int64_t columns = n < 4 ? n : 4;
    tiles[packed][columns - 1](&t);
    t.q += columns * t.k, t.d += columns * (t.k / KR_BLOCK), t.y += columns * t.ldy, n -= columns;
  }
}

void kr_avx2_asm_matrix_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                             float *y, int64_t ldy) {
  _Alignas(64) kr_asm_block slab[SLAB];
  int64_t blocks = w->k / KR_BLOCK, step = L2_SHARE / (w->k > 0 ? w->k : 1);
  if (step < LEAST_COLUMNS) step = LEAST_COLUMNS;
  step -= step % 4;
  for (int64_t c = 0; c < x->n; c += step) {
    int64_t n = x->n - c < step ? x->n - c : step;
    for (int64_t g = first; g < last; g++) {
      const uint8_t *group = w->data + g * w->group_bytes;
      kr_asm_tile t = {.w = group,
                       .q = x->q + c * w->k,
                       .d = x->d + c * blocks,
                       .y = y + c * ldy + g * KR_GROUP,
                       .count = blocks / 2,
                       .k = w->k,
                       .ldy = ldy};
      for (int64_t i = 0; i < n; i++) memset(t.y + i * ldy, 0, KR_GROUP * sizeof *t.y);
      if (n < MANY_COLUMNS) {
        all_columns(t, n, true);
        continue;
      }
      for (int64_t b = 0; b < blocks; b += SLAB, t.q += SLAB * KR_BLOCK, t.d += SLAB) {
        t.w = slab, t.count = blocks - b < SLAB ? blocks - b : SLAB;
        prepare(group, b, t.count, slab);
        all_columns(t, n, false);
      }
    }
  }
}
