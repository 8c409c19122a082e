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

enum { PAIR_BYTES = 1088, QUANTS = 64, BLOCK_BYTES = 512, UNIT_BYTES = 64 };

/* From this many columns on a group is prepared once for all of them. */
enum { MANY_COLUMNS = 8 };

/* The sums of a tile: lane i of low0 is row i of column 0, lane i of high0 row 8 + i. Named one by
 * one, since compilers keep an array in memory. */
typedef struct tile_sums {
  __m256i low0, high0, low1, high1, low2, high2, low3, high3;
} tile_sums;

/* Eight rows of a unit, ready to meet columns: magnitudes and what gives q their signs. */
typedef struct signed_unit {
  __m256i magnitude, sign;
} signed_unit;

/* sum + w * x. As packed, sign is w itself. For many columns it is 255 where w < 0, and they negate
 * as ~q = -q - 1, because vpsignb shares its pipes with the multiplications and vpxor does not:
 * -128..126 against |w| <= 128 stays within -2 * 128 * 128 = -32768, which 16 bits hold. What is
 * missing then, the sum of |w| where w < 0, has been put into the sum. */
KR_INLINE __m256i add_product(int packed, __m256i sum, signed_unit w, __m256i x) {
  __m256i q = packed ? _mm256_sign_epi8(x, w.sign) : _mm256_xor_si256(x, w.sign);
  return in_order(_mm256_add_epi32(sum, fold_pairs(_mm256_maddubs_epi16(w.magnitude, q))));
}

/* One unit of 16 rows, low 0-7 and high 8-15, against n <= KR_TILE columns of q [n][k]. */
KR_INLINE void add_unit(tile_sums *s, int packed, signed_unit low, signed_unit high,
                        const int8_t *q, int64_t k, int n) {
  __m256i x = broadcast_unit(q);
  s->low0 = add_product(packed, s->low0, low, x);
  s->high0 = add_product(packed, s->high0, high, x);
  if (n > 1) {
    x = broadcast_unit(q + k);
    s->low1 = add_product(packed, s->low1, low, x);
    s->high1 = add_product(packed, s->high1, high, x);
  }
  if (n > 2) {
    x = broadcast_unit(q + 2 * k);
    s->low2 = add_product(packed, s->low2, low, x);
    s->high2 = add_product(packed, s->high2, high, x);
  }
  if (n > 3) {
    x = broadcast_unit(q + 3 * k);
    s->low3 = add_product(packed, s->low3, low, x);
    s->high3 = add_product(packed, s->high3, high, x);
  }
}

/* Adds a block to one column's accumulators y [16]; dw0 are the scales of rows 0-7, dw1 of 8-15. */
KR_INLINE void add_column(__m256i low, __m256i high, __m256 dw0, __m256 dw1, float d,
                          float *restrict y) {
  __m256 dx = _mm256_set1_ps(d);
  _mm256_storeu_ps(y, add_scaled(_mm256_loadu_ps(y), low, dw0, dx));
  _mm256_storeu_ps(y + 8, add_scaled(_mm256_loadu_ps(y + 8), high, dw1, dx));
}

KR_INLINE void add_block(tile_sums t, __m256 dw0, __m256 dw1, tile_columns x, int n) {
  add_column(t.low0, t.high0, dw0, dw1, x.d[0], x.y);
  if (n > 1) add_column(t.low1, t.high1, dw0, dw1, x.d[x.blocks], x.y + x.ldy);
  if (n > 2) add_column(t.low2, t.high2, dw0, dw1, x.d[2 * x.blocks], x.y + 2 * x.ldy);
  if (n > 3) add_column(t.low3, t.high3, dw0, dw1, x.d[3 * x.blocks], x.y + 3 * x.ldy);
}

KR_INLINE signed_unit packed_unit(const uint8_t *quants) {
  __m256i w = load_bytes(quants);
  return (signed_unit){_mm256_abs_epi8(w), w};
}

/* n <= KR_TILE columns against a whole group as it is packed. */
KR_INLINE void packed_tile(const uint8_t *pair, tile_columns x, int n) {
  for (int64_t p = 0; p < x.blocks; p += 2, pair += PAIR_BYTES) {
    for (int b = 0; b < 2; b++, x = skip_blocks(x, 1)) {
      const uint8_t *quants = pair + QUANTS + b * BLOCK_BYTES;
      tile_sums t = {0};
#pragma GCC unroll 8
      for (int u = 0; u < 8; u++)
        add_unit(&t, 1, packed_unit(quants + u * UNIT_BYTES),
                 packed_unit(quants + u * UNIT_BYTES + 32), x.q + 4 * u, x.k, n);
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
void kr_avx2_vector_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  for (int64_t g = first; g < last; g++)
    packed_columns(w->data + g * w->group_bytes, columns_at(w, x, 0, g, y, ldy), x->n);
}

/* Some blocks of a group, prepared. */
typedef struct slab {
  _Alignas(64) uint8_t magnitude[KR_SLAB][BLOCK_BYTES]; /* |w|, in the order of the weights */
  uint8_t negative[KR_SLAB][BLOCK_BYTES];               /* 255 where w < 0 */
  int32_t missing[KR_SLAB][KR_GROUP];                   /* sums of |w| where w < 0 */
  float d[KR_SLAB][KR_GROUP];
} slab;

static void prepare(const uint8_t *group, int64_t first, int64_t count, void *ret_slab) {
  slab *ret = ret_slab;
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *pair = group + (first + i) / 2 * PAIR_BYTES;
    int64_t b = (first + i) % 2;
    const uint8_t *quants = pair + QUANTS + b * BLOCK_BYTES;
    for (int h = 0; h < 2; h++) {
      __m256i missing = _mm256_setzero_si256(); /* 16-bit lanes: 16 magnitudes of at most 128 */
      for (int j = h * 32; j < BLOCK_BYTES; j += UNIT_BYTES) {
        __m256i w = load_bytes(quants + j), magnitude = _mm256_abs_epi8(w);
        __m256i negative = _mm256_cmpgt_epi8(_mm256_setzero_si256(), w);
        _mm256_store_si256((__m256i *)(ret->magnitude[i] + j), magnitude);
        _mm256_store_si256((__m256i *)(ret->negative[i] + j), negative);
        missing = _mm256_sub_epi16(missing, _mm256_maddubs_epi16(magnitude, negative));
      }
      _mm256_store_si256((__m256i *)(ret->missing[i] + h * 8), fold_pairs(missing));
      _mm256_store_ps(ret->d[i] + h * 8, load_halves(pair + b * 32 + h * 16));
    }
  }
}

/* Eight rows of a prepared unit; i is where they stand in the block. */
KR_INLINE signed_unit slab_unit(const slab *w, int64_t b, int i) {
  return (signed_unit){load_bytes(w->magnitude[b] + i), load_bytes(w->negative[b] + i)};
}

/* n <= KR_TILE columns against count blocks. */
KR_INLINE void slab_tile(const slab *w, int64_t count, tile_columns x, int n) {
  for (int64_t b = 0; b < count; b++, x = skip_blocks(x, 1)) {
    __m256i low = load_bytes(w->missing[b]), high = load_bytes(w->missing[b] + 8);
    tile_sums t = {low, high, low, high, low, high, low, high};
#pragma GCC unroll 8
    for (int u = 0; u < 8; u++)
      add_unit(&t, 0, slab_unit(w, b, u * UNIT_BYTES), slab_unit(w, b, u * UNIT_BYTES + 32),
               x.q + 4 * u, x.k, n);
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

void kr_avx2_matrix_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  if (x->n < MANY_COLUMNS) {
    kr_avx2_vector_q8_0(w, first, last, x, y, ldy);
    return;
  }
  slab prepared;
  slab_product(w, first, last, x, y, ldy, prepare, slab_columns, &prepared);
}
