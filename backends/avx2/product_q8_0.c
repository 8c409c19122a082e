/* Q8_0 products on AVX2. Layout and numerics: backends/scalar/product_q8_0.c.
 *
 * One vector holds 8 rows x 4 consecutive k. vpmaddubsw wants an unsigned side: |w|, at most 128
 * (vpabsb leaves -128 as the byte 128, which is right when read unsigned), times q with w's sign,
 * which vpsignb gives exactly since |q| <= 127 (the other way round, -128 could not be negated).
 * Two products are at most 2 * 128 * 127 = 32512 and fit 16 bits; a third would not, so every unit
 * is widened by vpmaddwd. Sums of integers are exact: any order gives scalar's. The float part is
 * scalar's expression, eight rows wide, blocks ascending. */
#include "columns.h"
#include "kernels.h"
#include "lanes.h"

enum { PAIR_BYTES = 1088, QUANTS = 64, BLOCK_BYTES = 512, UNIT_BYTES = 64, COLUMNS = 4 };

/* Lane i of acc[h] is the accumulator of row 8 h + i, lane i of sums[h] its block's sum. */
KR_INLINE void add_block(__m256 acc[2], const uint8_t *pair, int b, const int8_t *q, float d) {
  const uint8_t *quants = pair + QUANTS + b * BLOCK_BYTES;
  __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
#pragma GCC unroll 8
  for (int u = 0; u < 8; u++) {
    __m256i x = broadcast_unit(q + 4 * u);
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++) {
      __m256i bytes = load_bytes(quants + u * UNIT_BYTES + h * 32);
      __m256i twos = _mm256_maddubs_epi16(_mm256_abs_epi8(bytes), _mm256_sign_epi8(x, bytes));
      sums[h] = in_order(_mm256_add_epi32(sums[h], fold_pairs(twos)));
    }
  }
  for (int h = 0; h < 2; h++)
    acc[h] = add_scaled(acc[h], sums[h], load_halves(pair + b * 32 + h * 16), _mm256_set1_ps(d));
}

/* One column. Bound by memory; no software prefetch, which only disturbs the hardware's. */
static void vector_product(const kr_panel *w, int64_t first, int64_t last, const int8_t *q,
                           const float *d, float *y) {
  for (int64_t g = first; g < last; g++) {
    const uint8_t *pair = w->data + g * w->group_bytes;
    __m256 acc[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int64_t b = 0; b < w->k / KR_BLOCK; b += 2, pair += PAIR_BYTES) {
      add_block(acc, pair, 0, q + b * KR_BLOCK, d[b]);
      add_block(acc, pair, 1, q + (b + 1) * KR_BLOCK, d[b + 1]);
    }
    _mm256_storeu_ps(y + g * KR_GROUP, acc[0]);
    _mm256_storeu_ps(y + g * KR_GROUP + 8, acc[1]);
  }
}

void kr_avx2_vector_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  for (int64_t c = 0; c < x->n; c++)
    vector_product(w, first, last, x->q + c * w->k, x->d + c * (w->k / KR_BLOCK), y + c * ldy);
}

/* Some blocks of a group, prepared for many columns. vpsignb shares its two pipes with the
 * multiplications; the exclusive or does not. So the columns negate as ~q = -q - 1, which puts
 * -128..126 against |w| <= 128, still at most 2 * 128 * 128 = -(-32768) in 16 bits, and what that
 * takes off a row, the sum of |w| where w < 0, is added back once a block. */
typedef struct slab {
  _Alignas(64) uint8_t magnitude[KR_SLAB][BLOCK_BYTES]; /* |w|, in the order of the weights */
  uint8_t negative[KR_SLAB][BLOCK_BYTES];               /* 255 where w < 0 */
  int32_t missing[KR_SLAB][KR_GROUP];
  float d[KR_SLAB][KR_GROUP];
} slab;

static void prepare(const uint8_t *group, int64_t first, int64_t count, slab *ret) {
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *pair = group + (first + i) / 2 * PAIR_BYTES;
    int64_t b = (first + i) % 2;
    const uint8_t *quants = pair + QUANTS + b * BLOCK_BYTES;
    for (int h = 0; h < 2; h++) {
      __m256i missing = _mm256_setzero_si256();
      for (int j = h * 32; j < BLOCK_BYTES; j += UNIT_BYTES) {
        __m256i w = load_bytes(quants + j), magnitude = _mm256_abs_epi8(w);
        __m256i negative = _mm256_cmpgt_epi8(_mm256_setzero_si256(), w);
        _mm256_store_si256((__m256i *)(ret->magnitude[i] + j), magnitude);
        _mm256_store_si256((__m256i *)(ret->negative[i] + j), negative);
        /* 16-bit lanes: 16 magnitudes of at most 128 */
        missing = _mm256_sub_epi16(missing, _mm256_maddubs_epi16(magnitude, negative));
      }
      _mm256_store_si256((__m256i *)(ret->missing[i] + h * 8), fold_pairs(missing));
      _mm256_store_ps(ret->d[i] + h * 8, load_halves(pair + b * 32 + h * 16));
    }
  }
}

/* sum + |w| * (q, or ~q where w < 0) in 32-bit lanes. */
KR_INLINE __m256i add_unit(__m256i sum, __m256i magnitude, __m256i negative, __m256i x) {
  __m256i twos = _mm256_maddubs_epi16(magnitude, _mm256_xor_si256(x, negative));
  return in_order(_mm256_add_epi32(sum, fold_pairs(twos)));
}

/* Adds a block to one column's accumulators, y [16]; lane i of a sum is row i or 8 + i. */
KR_INLINE void add_column(__m256i low, __m256i high, const float *dw, float d, float *restrict y) {
  __m256 dx = _mm256_set1_ps(d);
  _mm256_storeu_ps(y, add_scaled(_mm256_loadu_ps(y), low, _mm256_load_ps(dw), dx));
  _mm256_storeu_ps(y + 8, add_scaled(_mm256_loadu_ps(y + 8), high, _mm256_load_ps(dw + 8), dx));
}

/* Adds count blocks to the accumulators y [n][ldy] of 16 rows x n columns, n <= COLUMNS. They stay
 * in memory: the registers hold the 32-bit sums of a block, low of rows 0-7, high of rows 8-15,
 * named one by one since compilers keep an array in memory. */
KR_INLINE void tile(const slab *w, int64_t count, const int8_t *q, const float *d, int64_t k, int n,
                    float *restrict y, int64_t ldy) {
  int64_t blocks = k / KR_BLOCK;
  for (int64_t b = 0; b < count; b++, q += KR_BLOCK, d++) {
    __m256i low0 = load_bytes(w->missing[b]), high0 = load_bytes(w->missing[b] + 8);
    __m256i low1 = low0, low2 = low0, low3 = low0, high1 = high0, high2 = high0, high3 = high0;
#pragma GCC unroll 8
    for (int u = 0; u < 8; u++) {
      const uint8_t *magnitudes = w->magnitude[b] + u * UNIT_BYTES;
      const uint8_t *negatives = w->negative[b] + u * UNIT_BYTES;
      __m256i m0 = load_bytes(magnitudes), m1 = load_bytes(magnitudes + 32);
      __m256i n0 = load_bytes(negatives), n1 = load_bytes(negatives + 32);
      __m256i x = broadcast_unit(q + 4 * u);
      low0 = add_unit(low0, m0, n0, x), high0 = add_unit(high0, m1, n1, x);
      if (n > 1) {
        x = broadcast_unit(q + k + 4 * u);
        low1 = add_unit(low1, m0, n0, x), high1 = add_unit(high1, m1, n1, x);
      }
      if (n > 2) {
        x = broadcast_unit(q + 2 * k + 4 * u);
        low2 = add_unit(low2, m0, n0, x), high2 = add_unit(high2, m1, n1, x);
      }
      if (n > 3) {
        x = broadcast_unit(q + 3 * k + 4 * u);
        low3 = add_unit(low3, m0, n0, x), high3 = add_unit(high3, m1, n1, x);
      }
    }
    const float *dw = w->d[b];
    add_column(low0, high0, dw, d[0], y);
    if (n > 1) add_column(low1, high1, dw, d[blocks], y + ldy);
    if (n > 2) add_column(low2, high2, dw, d[2 * blocks], y + 2 * ldy);
    if (n > 3) add_column(low3, high3, dw, d[3 * blocks], y + 3 * ldy);
  }
}

static void slab_columns(const slab *w, int64_t count, const int8_t *q, const float *d, int64_t k,
                         int64_t n, float *y, int64_t ldy) {
  int64_t blocks = k / KR_BLOCK;
  for (; n >= COLUMNS; n -= COLUMNS) {
    tile(w, count, q, d, k, COLUMNS, y, ldy);
    q += COLUMNS * k, d += COLUMNS * blocks, y += COLUMNS * ldy;
  }
  if (n == 3) tile(w, count, q, d, k, 3, y, ldy);
  if (n == 2) tile(w, count, q, d, k, 2, y, ldy);
  if (n == 1) tile(w, count, q, d, k, 1, y, ldy);
}

void kr_avx2_matrix_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  slab prepared;
  int64_t blocks = w->k / KR_BLOCK, step = column_block(x->n, w->k, COLUMNS, 32);
  for (int64_t c = 0; c < x->n; c += step) {
    int64_t n = x->n - c < step ? x->n - c : step;
    for (int64_t g = first; g < last; g++) {
      float *rows = y + c * ldy + g * KR_GROUP;
      for (int64_t i = 0; i < n; i++) memset(rows + i * ldy, 0, KR_GROUP * sizeof *rows);
      for (int64_t b = 0; b < blocks; b += KR_SLAB) {
        int64_t count = blocks - b < KR_SLAB ? blocks - b : KR_SLAB;
        prepare(w->data + g * w->group_bytes, b, count, &prepared);
        slab_columns(&prepared, count, x->q + c * w->k + b * KR_BLOCK, x->d + c * blocks + b, w->k,
                     n, rows, ldy);
      }
    }
  }
}
