/* The body of the three products with quantized weights.
 *
 * pmaddwd multiplies int16 by int16, so weights and activations must be widened; this is done in
 * full only for the activations, once for all groups of rows. A register of weights holds 4 k of
 * each of four rows; it is read as eight 16-bit words, and sums are split over terms whose weight
 * side is cheap:
 *
 *   Q4   a word holds the nibbles n0 n1 n2 n3 (lowest first), for the activations x0 .. x3. With
 *        v_i the word shifted right by 4 i, n_i = v_i - 16 v_(i+1), so
 *          sum n_i x_i = (v_0 & 15) x0 + v_1 x1 + v_2 (x2 - 16 x1) + v_3 (x3 - 16 x2)
 *   Q8   a word holds the bytes b0 b1. With w the word whose low byte had its top bit flipped,
 *        w = 256 b1 + b0 + 128, and
 *          b0 x0 + b1 x1 = w x0 + b1 (x1 - 256 x0) - 128 x0
 *
 * All factors fit int16 and all sums int32, so every integer is exact. */
#ifndef KR_SSE2_PRODUCT_INT8_H
#define KR_SSE2_PRODUCT_INT8_H

#include "halves.h"

typedef enum kr_sse2_format { KR_SSE2_Q4_0, KR_SSE2_Q4_1, KR_SSE2_Q8_0 } kr_sse2_format;

/* A block of 32 activations, ready for use: the factors of the four words of a row's unit in each
 * lane. */
typedef struct kr_sse2_block {
  __m128i factor[16]; /* Q4: [unit 4][4], Q8: [unit 8][2] */
  __m128i start;      /* what each sum begins with: -8 s for Q4_0, -128 sum of x0 for Q8_0 */
  __m128 d, s;        /* scale; (float)sum */
} kr_sse2_block;

enum {
  KR_SSE2_BLOCKS = 64, /* prepared at a time: 19 KiB, most of the smallest first-level caches */
  KR_SSE2_COLUMNS = 8, /* of a tile */
  KR_SSE2_GROUPS = 16, /* that stay in the second-level cache while columns go by */
  /* One line a pair, in the next page of memory: it starts the CPU's own prefetcher there, which
   * stops at the end of each page. Prefetching every line took a quarter of the speed. */
  KR_SSE2_PREFETCH = 4096
};

/* Has this sum now. GCC would else regroup the additions of a whole unrolled block into a tree, and
 * keep its many leaves in memory: less than half the speed. */
#define KR_SSE2_SETTLE(sum) __asm__("" : "+x"(sum))

KR_INLINE int64_t kr_sse2_pair_bytes(kr_sse2_format format) {
  return format == KR_SSE2_Q4_0 ? 576 : format == KR_SSE2_Q4_1 ? 640 : 1088;
}
KR_INLINE int64_t kr_sse2_quants(kr_sse2_format format) {
  return format == KR_SSE2_Q4_1 ? 128 : 64;
}

KR_INLINE void kr_sse2_spread(__m128i words, __m128i *factor, int step) {
  factor[0 * step] = _mm_shuffle_epi32(words, 0x00);
  factor[1 * step] = _mm_shuffle_epi32(words, 0x55);
  factor[2 * step] = _mm_shuffle_epi32(words, 0xaa);
  factor[3 * step] = _mm_shuffle_epi32(words, 0xff);
}

KR_INLINE void kr_sse2_prepare(kr_sse2_format format, const kr_columns *x, int64_t k, int64_t c,
                               int64_t b, kr_sse2_block *ret) {
  const int8_t *q = x->q + c * k + b * KR_BLOCK;
  int64_t at = c * (k / KR_BLOCK) + b;
  __m128i low = _mm_loadu_si128((const __m128i *)(const void *)q);
  __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(q + 16));
  __m128i low0 = _mm_srai_epi16(_mm_slli_epi16(low, 8), 8), low1 = _mm_srai_epi16(low, 8);
  __m128i high0 = _mm_srai_epi16(_mm_slli_epi16(high, 8), 8), high1 = _mm_srai_epi16(high, 8);
  ret->d = _mm_set1_ps(x->d[at]);
  ret->s = _mm_set1_ps((float)x->s[at]);
  if (format == KR_SSE2_Q8_0) {
    kr_sse2_spread(low0, ret->factor, 2);
    kr_sse2_spread(_mm_sub_epi16(low1, _mm_slli_epi16(low0, 8)), ret->factor + 1, 2);
    kr_sse2_spread(high0, ret->factor + 8, 2);
    kr_sse2_spread(_mm_sub_epi16(high1, _mm_slli_epi16(high0, 8)), ret->factor + 9, 2);
    __m128i even = _mm_madd_epi16(_mm_add_epi16(low0, high0), _mm_set1_epi16(-128));
    even = _mm_add_epi32(even, _mm_shuffle_epi32(even, 0x4e));
    ret->start = _mm_add_epi32(even, _mm_shuffle_epi32(even, 0xb1));
  } else {
    kr_sse2_spread(low0, ret->factor, 4);
    kr_sse2_spread(high0, ret->factor + 1, 4);
    kr_sse2_spread(_mm_sub_epi16(low1, _mm_slli_epi16(high0, 4)), ret->factor + 2, 4);
    kr_sse2_spread(_mm_sub_epi16(high1, _mm_slli_epi16(low1, 4)), ret->factor + 3, 4);
    ret->start = _mm_set1_epi32(format == KR_SSE2_Q4_0 ? -8 * x->s[at] : 0);
  }
}

/* The scales or minima of a pair, f16 [32], as f32. */
KR_INLINE void kr_sse2_scales(const uint8_t *halves, __m128 scale[8]) {
  const __m128i *h = (const __m128i *)(const void *)halves;
  __m128i least = kr_sse2_range(_mm_load_si128(h));
  for (int i = 1; i < 4; i++) least = _mm_min_epi16(least, kr_sse2_range(_mm_load_si128(h + i)));
  if (__builtin_expect(kr_sse2_is_odd(least), 0)) {
    for (int i = 0; i < 4; i++) {
      scale[2 * i] = kr_sse2_any_halves(kr_sse2_low_halves(_mm_load_si128(h + i)));
      scale[2 * i + 1] = kr_sse2_any_halves(kr_sse2_high_halves(_mm_load_si128(h + i)));
    }
    return;
  }
  for (int i = 0; i < 4; i++) {
    scale[2 * i] = kr_sse2_normal_halves(kr_sse2_low_halves(_mm_load_si128(h + i)));
    scale[2 * i + 1] = kr_sse2_normal_halves(kr_sse2_high_halves(_mm_load_si128(h + i)));
  }
}

/* The weight sides of a register's terms. Returns how many there are. */
KR_INLINE int kr_sse2_split(kr_sse2_format format, __m128i w, __m128i term[4]) {
  if (format == KR_SSE2_Q8_0) {
    term[0] = _mm_xor_si128(w, _mm_set1_epi16(0x0080));
    term[1] = _mm_srai_epi16(w, 8);
    return 2;
  }
  term[0] = _mm_and_si128(w, _mm_set1_epi16(15));
  term[1] = _mm_srli_epi16(w, 4);
  term[2] = _mm_srli_epi16(w, 8);
  term[3] = _mm_srli_epi16(w, 12);
  return 4;
}

KR_INLINE __m128 kr_sse2_add_block(kr_sse2_format format, __m128 acc, __m128i sum, __m128 scale,
                                   __m128 minimum, const kr_sse2_block *x) {
  acc = _mm_add_ps(acc, _mm_mul_ps(_mm_cvtepi32_ps(sum), _mm_mul_ps(scale, x->d)));
  if (format == KR_SSE2_Q4_1) acc = _mm_add_ps(acc, _mm_mul_ps(x->s, _mm_mul_ps(minimum, x->d)));
  return acc;
}

/* ---- one column ----------------------------------------------------------------------------- */

/* One block of a group's sixteen rows by one column: quants is its first unit. */
KR_INLINE void kr_sse2_vector_block(kr_sse2_format format, const uint8_t *quants,
                                    const __m128 scale[4], const __m128 minimum[4],
                                    const kr_sse2_block *x, __m128 acc[4]) {
  int units = format == KR_SSE2_Q8_0 ? 8 : 4, terms = format == KR_SSE2_Q8_0 ? 2 : 4;
  __m128i sum[4], term[4];
  for (int r = 0; r < 4; r++) sum[r] = x->start;
  for (int u = 0; u < units; u++) {
    const __m128i *w = (const __m128i *)(const void *)(quants + 64 * u);
    for (int r = 0; r < 4; r++) {
      kr_sse2_split(format, _mm_load_si128(w + r), term);
      for (int i = 0; i < terms; i++)
        sum[r] = _mm_add_epi32(sum[r], _mm_madd_epi16(term[i], x->factor[u * terms + i]));
      KR_SSE2_SETTLE(sum[r]);
    }
  }
  for (int r = 0; r < 4; r++)
    acc[r] = kr_sse2_add_block(format, acc[r], sum[r], scale[r],
                               format == KR_SSE2_Q4_1 ? minimum[r] : scale[r], x);
}

KR_INLINE void kr_sse2_vector_group(kr_sse2_format format, const uint8_t *pair, int64_t blocks,
                                    const kr_sse2_block *x, bool again, float *y) {
  __m128 acc[4], scale[8], minimum[8];
  for (int r = 0; r < 4; r++) acc[r] = again ? _mm_loadu_ps(y + 4 * r) : _mm_setzero_ps();
  for (int64_t b = 0; b < blocks; b += 2, pair += kr_sse2_pair_bytes(format)) {
    const uint8_t *quants = pair + kr_sse2_quants(format);
    _mm_prefetch((const char *)pair + KR_SSE2_PREFETCH, _MM_HINT_T0);
    kr_sse2_scales(pair, scale);
    if (format == KR_SSE2_Q4_1) kr_sse2_scales(pair + 64, minimum);
    kr_sse2_vector_block(format, quants, scale, minimum, x + b, acc);
    kr_sse2_vector_block(format, quants + (format == KR_SSE2_Q8_0 ? 512 : 256), scale + 4,
                         minimum + 4, x + b + 1, acc);
  }
  for (int r = 0; r < 4; r++) _mm_storeu_ps(y + 4 * r, acc[r]);
}

KR_INLINE void kr_sse2_vector(kr_sse2_format format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, int64_t c, float *y) {
  kr_sse2_block block[KR_SSE2_BLOCKS];
  int64_t blocks = w->k / KR_BLOCK;
  int64_t start = 0;
  do { /* once for no blocks at all: the sums are 0 then */
    int64_t n = blocks - start < KR_SSE2_BLOCKS ? blocks - start : KR_SSE2_BLOCKS;
    for (int64_t b = 0; b < n; b++) kr_sse2_prepare(format, x, w->k, c, start + b, &block[b]);
    for (int64_t g = first; g < last; g++)
      kr_sse2_vector_group(format,
                           w->data + g * w->group_bytes + start / 2 * kr_sse2_pair_bytes(format), n,
                           block, start != 0, y + g * KR_GROUP);
    start += KR_SSE2_BLOCKS;
  } while (start < blocks);
}

/* ---- several columns ------------------------------------------------------------------------ */

/* One block of four rows by columns; x [columns], acc [columns]. */
KR_INLINE void kr_sse2_tile_block(kr_sse2_format format, int columns, const uint8_t *quants,
                                  __m128 scale, __m128 minimum, const kr_sse2_block *x,
                                  __m128 *acc) {
  int units = format == KR_SSE2_Q8_0 ? 8 : 4, terms = format == KR_SSE2_Q8_0 ? 2 : 4;
  __m128i sum[KR_SSE2_COLUMNS], term[4];
  for (int c = 0; c < columns; c++) sum[c] = x[c].start;
  for (int u = 0; u < units; u++) {
    kr_sse2_split(format, _mm_load_si128((const __m128i *)(const void *)(quants + 64 * u)), term);
    for (int c = 0; c < columns; c++)
      for (int i = 0; i < terms; i++)
        sum[c] = _mm_add_epi32(sum[c], _mm_madd_epi16(term[i], x[c].factor[u * terms + i]));
    for (int c = 0; c < columns; c++) KR_SSE2_SETTLE(sum[c]);
  }
  for (int c = 0; c < columns; c++)
    acc[c] = kr_sse2_add_block(format, acc[c], sum[c], scale, minimum, &x[c]);
}

/* A group's sixteen rows by columns; x [blocks][columns]. The lines that stand ahead bytes further
 * on are fetched, none if that is 0: here each takes little of the time. */
KR_INLINE void kr_sse2_tile_group(kr_sse2_format format, int columns, const uint8_t *pair,
                                  int64_t blocks, int64_t ahead, const kr_sse2_block *x, bool again,
                                  float *y, int64_t ldy) {
  __m128 acc[4][KR_SSE2_COLUMNS], scale[8], minimum[8];
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < columns; c++)
      acc[r][c] = again ? _mm_loadu_ps(y + c * ldy + 4 * r) : _mm_setzero_ps();
  for (int64_t b = 0; b < blocks; b++) {
    int64_t half = b % 2;
    if (half == 0) {
      if (ahead)
        for (int64_t i = 0; i < kr_sse2_pair_bytes(format); i += 64)
          _mm_prefetch((const char *)pair + ahead + i, _MM_HINT_T0);
      kr_sse2_scales(pair, scale);
      if (format == KR_SSE2_Q4_1) kr_sse2_scales(pair + 64, minimum);
    }
    const uint8_t *quants =
        pair + kr_sse2_quants(format) + half * (format == KR_SSE2_Q8_0 ? 512 : 256);
    for (int r = 0; r < 4; r++)
      kr_sse2_tile_block(format, columns, quants + 16 * r, scale[4 * half + r],
                         format == KR_SSE2_Q4_1 ? minimum[4 * half + r] : scale[r], x + b * columns,
                         acc[r]);
    if (half == 1) pair += kr_sse2_pair_bytes(format);
  }
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < columns; c++) _mm_storeu_ps(y + c * ldy + 4 * r, acc[r][c]);
}

/* Columns c .. c + columns of some groups, whose weights are in a cache after the first columns. */
KR_INLINE void kr_sse2_tile(kr_sse2_format format, int columns, const kr_panel *w, int64_t first,
                            int64_t last, const kr_columns *x, int64_t c, float *y, int64_t ldy) {
  kr_sse2_block block[KR_SSE2_BLOCKS];
  int64_t blocks = w->k / KR_BLOCK, step = KR_SSE2_BLOCKS / columns, start = 0;
  do {
    int64_t n = blocks - start < step ? blocks - start : step;
    for (int64_t b = 0; b < n; b++)
      for (int i = 0; i < columns; i++)
        kr_sse2_prepare(format, x, w->k, c + i, start + b, &block[b * columns + i]);
    for (int64_t g = first; g < last; g++)
      kr_sse2_tile_group(
          format, columns, w->data + g * w->group_bytes + start / 2 * kr_sse2_pair_bytes(format), n,
          c == 0 ? w->group_bytes : 0, block, start != 0, y + c * ldy + g * KR_GROUP, ldy);
    start += step;
  } while (start < blocks);
}

KR_INLINE void kr_sse2_matrix(kr_sse2_format format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  for (int64_t g = first; g < last; g += KR_SSE2_GROUPS) {
    int64_t end = last - g < KR_SSE2_GROUPS ? last : g + KR_SSE2_GROUPS, c = 0;
    for (; c + 8 <= x->n; c += 8) kr_sse2_tile(format, 8, w, g, end, x, c, y, ldy);
    for (; c + 4 <= x->n; c += 4) kr_sse2_tile(format, 4, w, g, end, x, c, y, ldy);
    for (; c + 2 <= x->n; c += 2) kr_sse2_tile(format, 2, w, g, end, x, c, y, ldy);
    for (; c < x->n; c++) kr_sse2_vector(format, w, g, end, x, c, y + c * ldy);
  }
}

#endif
