/* Q4_1 products on AVX2. Layout and numerics: backends/scalar/product_q4_1.c; the integer part:
 * nibbles.h. The float part is scalar's expression, eight rows wide, blocks ascending,
 * the minimum's term right after the block's. */
#include "kernels.h"
#include "nibbles.h"

enum { PAIR_BYTES = 640, MINIMA = 64, QUANTS = 128 };

/* From this many columns on a group is unpacked once for all of them, which costs its stores. */
enum { MANY_COLUMNS = 16 };

/* Scales and minima of a block, 0 of rows 0-7 and 1 of rows 8-15. */
typedef struct block_scales {
  __m256 d0, d1, m0, m1;
} block_scales;

/* acc + (float)s * (m * dx) */
KR_INLINE __m256 add_minimum(__m256 acc, __m256 sx, __m256 mw, __m256 dx) {
  return _mm256_add_ps(acc, _mm256_mul_ps(sx, _mm256_mul_ps(mw, dx)));
}

/* Adds a block to one column's accumulators y [16]. */
KR_INLINE void add_column(__m256i low, __m256i high, block_scales w, float d, int32_t s,
                          float *restrict y) {
  __m256 dx = _mm256_set1_ps(d), sx = _mm256_cvtepi32_ps(_mm256_set1_epi32(s));
  __m256 acc0 = add_scaled(_mm256_loadu_ps(y), fold_pairs(low), w.d0, dx);
  __m256 acc1 = add_scaled(_mm256_loadu_ps(y + 8), fold_pairs(high), w.d1, dx);
  _mm256_storeu_ps(y, add_minimum(acc0, sx, w.m0, dx));
  _mm256_storeu_ps(y + 8, add_minimum(acc1, sx, w.m1, dx));
}

KR_INLINE void add_block(tile_sums t, block_scales w, tile_columns x, int n) {
  const float *d = x.d;
  const int32_t *s = x.s;
  int64_t i = x.blocks;
  add_column(t.low0, t.high0, w, d[0], s[0], x.y);
  if (n > 1) add_column(t.low1, t.high1, w, d[i], s[i], x.y + x.ldy);
  if (n > 2) add_column(t.low2, t.high2, w, d[2 * i], s[2 * i], x.y + 2 * x.ldy);
  if (n > 3) add_column(t.low3, t.high3, w, d[3 * i], s[3 * i], x.y + 3 * x.ldy);
}

/* n <= KR_TILE columns against a whole group as it is packed. */
KR_INLINE void packed_tile(const uint8_t *pair, tile_columns x, int n) {
  for (int64_t p = 0; p < x.blocks; p += 2, pair += PAIR_BYTES) {
#pragma GCC unroll 2
    for (int b = 0; b < 2; b++, x = skip_blocks(x, 1)) {
      tile_sums t = packed_sums(pair + QUANTS + b * NIBBLE_BLOCK, x.q, x.k, n);
      const uint8_t *d = pair + b * 32, *m = d + MINIMA;
      block_scales scales = {load_halves(d), load_halves(d + 16), load_halves(m),
                             load_halves(m + 16)};
      add_block(t, scales, x, n);
    }
  }
}

static void packed_columns(const uint8_t *group, tile_columns x, int64_t n) {
  clear_columns(x, n);
  for (; n >= KR_TILE; n -= KR_TILE, x = skip_columns(x, KR_TILE)) packed_tile(group, x, KR_TILE);
  if (n == 3) packed_tile(group, x, 3);
  if (n == 2) packed_tile(group, x, 2);
  if (n == 1) packed_tile(group, x, 1);
}

/* Bound by memory with one column. No software prefetch: it only disturbs the hardware's. */
void kr_avx2_vector_q4_1(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  for (int64_t g = first; g < last; g++)
    packed_columns(w->data + g * w->group_bytes, columns_at(w, x, 0, g, y, ldy), x->n);
}

/* Some blocks of a group, unpacked. */
typedef struct slab {
  _Alignas(64) nibble_block w[KR_SLAB];
  float d[KR_SLAB][KR_GROUP], m[KR_SLAB][KR_GROUP];
} slab;

static void unpack(const uint8_t *group, int64_t first, int64_t count, void *ret_slab) {
  slab *ret = ret_slab;
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *pair = group + (first + i) / 2 * PAIR_BYTES;
    int64_t b = (first + i) % 2;
    unpack_nibbles(pair + QUANTS + b * NIBBLE_BLOCK, ret->w[i]);
    for (int h = 0; h < 2; h++) {
      const uint8_t *d = pair + b * 32 + h * 16;
      _mm256_store_ps(ret->d[i] + 8 * h, load_halves(d));
      _mm256_store_ps(ret->m[i] + 8 * h, load_halves(d + MINIMA));
    }
  }
}

/* n <= KR_TILE columns against count blocks. */
KR_INLINE void slab_tile(const slab *w, int64_t count, tile_columns x, int n) {
  for (int64_t b = 0; b < count; b++, x = skip_blocks(x, 1)) {
    tile_sums t = unpacked_sums(w->w[b], x.q, x.k, n);
    const float *d = w->d[b], *m = w->m[b];
    block_scales scales = {_mm256_load_ps(d), _mm256_load_ps(d + 8), _mm256_load_ps(m),
                           _mm256_load_ps(m + 8)};
    add_block(t, scales, x, n);
  }
}

static void slab_columns(const void *weights, int64_t count, tile_columns x, int64_t n) {
  const slab *w = weights;
  for (; n >= KR_TILE; n -= KR_TILE, x = skip_columns(x, KR_TILE)) slab_tile(w, count, x, KR_TILE);
  if (n == 3) slab_tile(w, count, x, 3);
  if (n == 2) slab_tile(w, count, x, 2);
  if (n == 1) slab_tile(w, count, x, 1);
}

void kr_avx2_matrix_q4_1(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  if (x->n < MANY_COLUMNS) {
    kr_avx2_vector_q4_1(w, first, last, x, y, ldy);
    return;
  }
  slab unpacked;
  slab_product(w, first, last, x, y, ldy, unpack, slab_columns, &unpacked);
}
