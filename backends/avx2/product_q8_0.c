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

enum {
  PAIR_BYTES = 1088,
  QUANTS = 64,
  BLOCK_BYTES = 512,
  UNIT_BYTES = 64,
  AHEAD = 2 * PAIR_BYTES,
  COLUMNS = 4
};

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
      sums[h] = _mm256_add_epi32(sums[h], fold_pairs(twos));
    }
  }
  for (int h = 0; h < 2; h++)
    acc[h] = add_scaled(acc[h], sums[h], load_halves(pair + b * 32 + h * 16), _mm256_set1_ps(d));
}

static void vector_product(const kr_panel *w, int64_t first, int64_t last, const int8_t *q,
                           const float *d, float *y) {
  for (int64_t g = first; g < last; g++) {
    const uint8_t *pair = w->data + g * w->group_bytes;
    __m256 acc[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int64_t b = 0; b < w->k / KR_BLOCK; b += 2, pair += PAIR_BYTES) {
      prefetch(pair + AHEAD, PAIR_BYTES);
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

/* Some blocks of a group: the weights where they lie, with what every column needs of them. */
typedef struct slab {
  _Alignas(64) uint8_t magnitude[KR_SLAB][BLOCK_BYTES]; /* |w|, in the order of the weights */
  float d[KR_SLAB][KR_GROUP];
  const uint8_t *w[KR_SLAB];
} slab;

static void prepare(const uint8_t *group, int64_t first, int count, slab *ret) {
  for (int i = 0; i < count; i++) {
    const uint8_t *pair = group + (first + i) / 2 * PAIR_BYTES;
    int64_t b = (first + i) % 2;
    ret->w[i] = pair + QUANTS + b * BLOCK_BYTES;
    for (int j = 0; j < BLOCK_BYTES; j += 32)
      _mm256_store_si256((__m256i *)(ret->magnitude[i] + j),
                         _mm256_abs_epi8(load_bytes(ret->w[i] + j)));
    for (int h = 0; h < 2; h++)
      _mm256_store_ps(ret->d[i] + h * 8, load_halves(pair + b * 32 + h * 16));
  }
}

/* Adds count blocks to the accumulators y [n][ldy] of 16 rows x n columns, n <= COLUMNS. They stay
 * in memory: the registers hold the 32-bit sums of a block. */
KR_INLINE void tile(const slab *w, int count, const int8_t *q, const float *d, int64_t k, int n,
                    float *restrict y, int64_t ldy) {
  int64_t blocks = k / KR_BLOCK;
  for (int b = 0; b < count; b++) {
    const uint8_t *signs = w->w[b], *magnitudes = w->magnitude[b];
    __m256i sums[COLUMNS][2];
#pragma GCC unroll 8
    for (int u = 0; u < 8; u++) {
#pragma GCC unroll 4
      for (int c = 0; c < n; c++) {
        __m256i x = broadcast_unit(q + c * k + b * KR_BLOCK + 4 * u);
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
          __m256i sign = load_bytes(signs + u * UNIT_BYTES + h * 32);
          __m256i magnitude = load_bytes(magnitudes + u * UNIT_BYTES + h * 32);
          __m256i four = fold_pairs(_mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(x, sign)));
          sums[c][h] = u == 0 ? four : _mm256_add_epi32(sums[c][h], four);
        }
      }
    }
#pragma GCC unroll 4
    for (int c = 0; c < n; c++) {
      __m256 dx = _mm256_set1_ps(d[c * blocks + b]);
#pragma GCC unroll 2
      for (int h = 0; h < 2; h++) {
        float *acc = y + c * ldy + h * 8;
        _mm256_storeu_ps(
            acc, add_scaled(_mm256_loadu_ps(acc), sums[c][h], _mm256_load_ps(w->d[b] + h * 8), dx));
      }
    }
  }
}

static void slab_columns(const slab *w, int count, const int8_t *q, const float *d, int64_t k,
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
        int count = blocks - b < KR_SLAB ? (int)(blocks - b) : KR_SLAB;
        prepare(w->data + g * w->group_bytes, b, count, &prepared);
        slab_columns(&prepared, count, x->q + c * w->k + b * KR_BLOCK, x->d + c * blocks + b, w->k,
                     n, rows, ldy);
      }
    }
  }
}
