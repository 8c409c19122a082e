/* Q4_0 products on AVX2. Layout and numerics: backends/scalar/product_q4_0.c; the integer part:
 * nibbles.h. The float part is scalar's expression, eight rows wide, blocks ascending. */
#include "kernels.h"
#include "nibbles.h"

enum { PAIR_BYTES = 576, QUANTS = 64 };

/* From this many columns on a group is unpacked once for all of them, which costs its stores. */
enum { MANY_COLUMNS = 16 };

/* Adds a block to one column's accumulators y [16]; dw0 are the scales of rows 0-7, dw1 of 8-15. */
KR_INLINE void add_column(__m256i low, __m256i high, __m256 dw0, __m256 dw1, float d, int32_t s,
                          float *restrict y) {
  __m256i eights = _mm256_slli_epi32(_mm256_set1_epi32(s), 3);
  __m256i isum0 = _mm256_sub_epi32(fold_pairs(low), eights);
  __m256i isum1 = _mm256_sub_epi32(fold_pairs(high), eights);
  __m256 dx = _mm256_set1_ps(d);
  _mm256_storeu_ps(y, add_scaled(_mm256_loadu_ps(y), isum0, dw0, dx));
  _mm256_storeu_ps(y + 8, add_scaled(_mm256_loadu_ps(y + 8), isum1, dw1, dx));
}

KR_INLINE void add_block(tile_sums t, __m256 dw0, __m256 dw1, tile_columns x, int n) {
  const float *d = x.d;
  const int32_t *s = x.s;
  int64_t i = x.blocks;
  add_column(t.low0, t.high0, dw0, dw1, d[0], s[0], x.y);
  if (n > 1) add_column(t.low1, t.high1, dw0, dw1, d[i], s[i], x.y + x.ldy);
  if (n > 2) add_column(t.low2, t.high2, dw0, dw1, d[2 * i], s[2 * i], x.y + 2 * x.ldy);
  if (n > 3) add_column(t.low3, t.high3, dw0, dw1, d[3 * i], s[3 * i], x.y + 3 * x.ldy);
}

/* n <= KR_TILE columns against a whole group as it is packed. */
KR_INLINE void packed_tile(const uint8_t *pair, tile_columns x, int n) {
  for (int64_t p = 0; p < x.blocks; p += 2, pair += PAIR_BYTES) {
#pragma GCC unroll 2
    for (int b = 0; b < 2; b++, x = skip_blocks(x, 1)) {
      tile_sums t = packed_sums(pair + QUANTS + b * NIBBLE_BLOCK, x.q, x.k, n);
      add_block(t, load_halves(pair + b * 32), load_halves(pair + b * 32 + 16), x, n);
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
void kr_avx2_vector_q4_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  for (int64_t g = first; g < last; g++)
    packed_columns(w->data + g * w->group_bytes, columns_at(w, x, 0, g, y, ldy), x->n);
}

/* Some blocks of a group, unpacked. */
typedef struct slab {
  _Alignas(64) nibble_block w[KR_SLAB];
  float d[KR_SLAB][KR_GROUP];
} slab;

static void unpack(const uint8_t *group, int64_t first, int64_t count, void *ret_slab) {
  slab *ret = ret_slab;
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *pair = group + (first + i) / 2 * PAIR_BYTES;
    int64_t b = (first + i) % 2;
    unpack_nibbles(pair + QUANTS + b * NIBBLE_BLOCK, ret->w[i]);
    _mm256_store_ps(ret->d[i], load_halves(pair + b * 32));
    _mm256_store_ps(ret->d[i] + 8, load_halves(pair + b * 32 + 16));
  }
}

/* n <= KR_TILE columns against count blocks. */
KR_INLINE void slab_tile(const slab *w, int64_t count, tile_columns x, int n) {
  for (int64_t b = 0; b < count; b++, x = skip_blocks(x, 1)) {
    tile_sums t = unpacked_sums(w->w[b], x.q, x.k, n);
    add_block(t, _mm256_load_ps(w->d[b]), _mm256_load_ps(w->d[b] + 8), x, n);
  }
}

static void slab_columns(const void *weights, int64_t count, tile_columns x, int64_t n) {
  const slab *w = weights;
  for (; n >= KR_TILE; n -= KR_TILE, x = skip_columns(x, KR_TILE)) slab_tile(w, count, x, KR_TILE);
  if (n == 3) slab_tile(w, count, x, 3);
  if (n == 2) slab_tile(w, count, x, 2);
  if (n == 1) slab_tile(w, count, x, 1);
}

void kr_avx2_matrix_q4_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  if (x->n < MANY_COLUMNS) {
    kr_avx2_vector_q4_0(w, first, last, x, y, ldy);
    return;
  }
  slab unpacked;
  slab_product(w, first, last, x, y, ldy, unpack, slab_columns, &unpacked);
}
