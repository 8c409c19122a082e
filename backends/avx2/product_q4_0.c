/* Q4_0 products on AVX2. Layout and numerics: backends/scalar/product_q4_0.c; the integer part:
 * nibbles.h. The float part is scalar's expression, eight rows wide, blocks ascending. */
#include "kernels.h"
#include "nibbles.h"

enum { PAIR_BYTES = 576, QUANTS = 64, COLUMNS = 4 };

/* Lane i of acc[h] is the accumulator of row 8 h + i. */
KR_INLINE void add_block(__m256 acc[2], const uint8_t *pair, int b, const int8_t *q, float d,
                         int32_t s) {
  __m256i sums[2], eights = _mm256_set1_epi32(8 * s);
  __m256 dx = _mm256_set1_ps(d);
  nibble_sums(pair + QUANTS + b * NIBBLE_BLOCK, q, sums);
  for (int h = 0; h < 2; h++)
    acc[h] = add_scaled(acc[h], _mm256_sub_epi32(fold_pairs(sums[h]), eights),
                        load_halves(pair + b * 32 + h * 16), dx);
}

/* One column. Bound by memory; no software prefetch, which only disturbs the hardware's. */
static void vector_product(const kr_panel *w, int64_t first, int64_t last, const int8_t *q,
                           const float *d, const int32_t *s, float *y) {
  for (int64_t g = first; g < last; g++) {
    const uint8_t *pair = w->data + g * w->group_bytes;
    __m256 acc[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int64_t b = 0; b < w->k / KR_BLOCK; b += 2, pair += PAIR_BYTES) {
      add_block(acc, pair, 0, q + b * KR_BLOCK, d[b], s[b]);
      add_block(acc, pair, 1, q + (b + 1) * KR_BLOCK, d[b + 1], s[b + 1]);
    }
    _mm256_storeu_ps(y + g * KR_GROUP, acc[0]);
    _mm256_storeu_ps(y + g * KR_GROUP + 8, acc[1]);
  }
}

void kr_avx2_vector_q4_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK;
  for (int64_t c = 0; c < x->n; c++)
    vector_product(w, first, last, x->q + c * w->k, x->d + c * blocks, x->s + c * blocks,
                   y + c * ldy);
}

/* Some blocks of a group, unpacked. */
typedef struct slab {
  _Alignas(64) nibble_block w[KR_SLAB];
  float d[KR_SLAB][KR_GROUP];
} slab;

static void unpack(const uint8_t *group, int64_t first, int64_t count, slab *ret) {
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *pair = group + (first + i) / 2 * PAIR_BYTES;
    int64_t b = (first + i) % 2;
    unpack_nibbles(pair + QUANTS + b * NIBBLE_BLOCK, ret->w[i]);
    for (int h = 0; h < 2; h++)
      _mm256_storeu_ps(ret->d[i] + h * 8, load_halves(pair + b * 32 + h * 16));
  }
}

/* Adds a block to one column's accumulators, y [16]; lane i of a sum is row i or 8 + i. */
KR_INLINE void add_column(__m256i low, __m256i high, const float *dw, float d, int32_t s,
                          float *restrict y) {
  __m256i eights = _mm256_slli_epi32(_mm256_set1_epi32(s), 3);
  __m256 dx = _mm256_set1_ps(d);
  __m256i isum0 = _mm256_sub_epi32(fold_pairs(low), eights);
  __m256i isum1 = _mm256_sub_epi32(fold_pairs(high), eights);
  _mm256_storeu_ps(y, add_scaled(_mm256_loadu_ps(y), isum0, _mm256_load_ps(dw), dx));
  _mm256_storeu_ps(y + 8, add_scaled(_mm256_loadu_ps(y + 8), isum1, _mm256_load_ps(dw + 8), dx));
}

/* Adds count blocks to the accumulators y [n][ldy] of 16 rows x n columns, n <= COLUMNS. They stay
 * in memory: the registers hold the 16-bit sums of a block. */
KR_INLINE void tile(const slab *w, int64_t count, const int8_t *q, const float *d, const int32_t *s,
                    int64_t k, int n, float *restrict y, int64_t ldy) {
  int64_t blocks = k / KR_BLOCK;
  for (int64_t b = 0; b < count; b++, q += KR_BLOCK, d++, s++) {
    tile_sums t = nibble_tile(w->w[b], q, k, n);
    const float *dw = w->d[b];
    add_column(t.low0, t.high0, dw, d[0], s[0], y);
    if (n > 1) add_column(t.low1, t.high1, dw, d[blocks], s[blocks], y + ldy);
    if (n > 2) add_column(t.low2, t.high2, dw, d[2 * blocks], s[2 * blocks], y + 2 * ldy);
    if (n > 3) add_column(t.low3, t.high3, dw, d[3 * blocks], s[3 * blocks], y + 3 * ldy);
  }
}

static void slab_columns(const slab *w, int64_t count, const int8_t *q, const float *d,
                         const int32_t *s, int64_t k, int64_t n, float *y, int64_t ldy) {
  int64_t blocks = k / KR_BLOCK;
  for (; n >= COLUMNS; n -= COLUMNS) {
    tile(w, count, q, d, s, k, COLUMNS, y, ldy);
    q += COLUMNS * k, d += COLUMNS * blocks, s += COLUMNS * blocks, y += COLUMNS * ldy;
  }
  if (n == 3) tile(w, count, q, d, s, k, 3, y, ldy);
  if (n == 2) tile(w, count, q, d, s, k, 2, y, ldy);
  if (n == 1) tile(w, count, q, d, s, k, 1, y, ldy);
}

void kr_avx2_matrix_q4_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  slab unpacked;
  int64_t blocks = w->k / KR_BLOCK, step = column_block(x->n, w->k, COLUMNS, 32);
  for (int64_t c = 0; c < x->n; c += step) {
    int64_t n = x->n - c < step ? x->n - c : step;
    for (int64_t g = first; g < last; g++) {
      float *rows = y + c * ldy + g * KR_GROUP;
      for (int64_t i = 0; i < n; i++) memset(rows + i * ldy, 0, KR_GROUP * sizeof *rows);
      for (int64_t b = 0; b < blocks; b += KR_SLAB) {
        int64_t count = blocks - b < KR_SLAB ? blocks - b : KR_SLAB;
        unpack(w->data + g * w->group_bytes, b, count, &unpacked);
        slab_columns(&unpacked, count, x->q + c * w->k + b * KR_BLOCK, x->d + c * blocks + b,
                     x->s + c * blocks + b, w->k, n, rows, ldy);
      }
    }
  }
}
