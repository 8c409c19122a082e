/* Products with F32, F16 and BF16 weights.
 *
 * Sixteen rows stand side by side, so a row keeps its one accumulator and k ascends. Weights of 16
 * bits are widened a piece at a time into a buffer that stays in the first-level cache, for all
 * columns at once. */
#include "halves.h"

enum {
  PIECE = 64,  /* values of k */
  AHEAD = 4096 /* bytes: one line now and then starts the CPU's own prefetcher in the next page */
};

typedef void widen_fn(const uint8_t *w, int64_t k, float *out);

static void widen_bf16(const uint8_t *w, int64_t k, float *out) {
  for (int64_t i = 0; i < 2 * k; i++) {
    __m128i h = _mm_load_si128((const __m128i *)(const void *)w + i);
    _mm_store_ps(out + 8 * i, _mm_castsi128_ps(kr_sse2_low_halves(h)));
    _mm_store_ps(out + 8 * i + 4, _mm_castsi128_ps(kr_sse2_high_halves(h)));
  }
}

static void widen_f16(const uint8_t *w, int64_t k, float *out) {
  const __m128i *p = (const __m128i *)(const void *)w;
  for (int64_t i = 0; i < k; i++, p += 2, out += KR_GROUP) {
    __m128i a = _mm_load_si128(p), b = _mm_load_si128(p + 1);
    if (__builtin_expect(kr_sse2_is_odd(_mm_min_epi16(kr_sse2_range(a), kr_sse2_range(b))), 0)) {
      _mm_store_ps(out, kr_sse2_any_halves(kr_sse2_low_halves(a)));
      _mm_store_ps(out + 4, kr_sse2_any_halves(kr_sse2_high_halves(a)));
      _mm_store_ps(out + 8, kr_sse2_any_halves(kr_sse2_low_halves(b)));
      _mm_store_ps(out + 12, kr_sse2_any_halves(kr_sse2_high_halves(b)));
    } else {
      _mm_store_ps(out, kr_sse2_normal_halves(kr_sse2_low_halves(a)));
      _mm_store_ps(out + 4, kr_sse2_normal_halves(kr_sse2_high_halves(a)));
      _mm_store_ps(out + 8, kr_sse2_normal_halves(kr_sse2_low_halves(b)));
      _mm_store_ps(out + 12, kr_sse2_normal_halves(kr_sse2_high_halves(b)));
    }
  }
}

/* A piece of k of one group, f32 [k][16], by columns x [columns][ldx]. */
KR_INLINE void tile(int columns, const float *w, int64_t k, const float *x, int64_t ldx, bool again,
                    float *y, int64_t ldy) {
  __m128 acc[3][4];
  for (int c = 0; c < columns; c++)
    for (int r = 0; r < 4; r++)
      acc[c][r] = again ? _mm_loadu_ps(y + c * ldy + 4 * r) : _mm_setzero_ps();
  for (int64_t i = 0; i < k; i++)
    for (int c = 0; c < columns; c++) {
      __m128 value = _mm_set1_ps(x[c * ldx + i]);
      for (int r = 0; r < 4; r++)
        acc[c][r] = _mm_add_ps(acc[c][r], _mm_mul_ps(_mm_load_ps(w + i * KR_GROUP + 4 * r), value));
    }
  for (int c = 0; c < columns; c++)
    for (int r = 0; r < 4; r++) _mm_storeu_ps(y + c * ldy + 4 * r, acc[c][r]);
}

static void all_columns(const float *w, int64_t k, const kr_columns *x, int64_t start, float *y,
                        int64_t ldy) {
  int64_t c = 0;
  const float *f = x->f + start;
  for (; x->n - c == 3 || x->n - c > 4; c += 3)
    tile(3, w, k, f + c * x->ldf, x->ldf, start != 0, y + c * ldy, ldy);
  for (; x->n - c >= 2; c += 2) tile(2, w, k, f + c * x->ldf, x->ldf, start != 0, y + c * ldy, ldy);
  if (c < x->n) tile(1, w, k, f + c * x->ldf, x->ldf, start != 0, y + c * ldy, ldy);
}

KR_INLINE void product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                       float *y, int64_t ldy, int bytes, widen_fn *widen) {
  _Alignas(64) float wide[PIECE * KR_GROUP];
  for (int64_t g = first; g < last; g++) {
    int64_t start = 0;
    do { /* once for k = 0: the sums are 0 then */
      int64_t k = w->k - start < PIECE ? w->k - start : PIECE;
      const uint8_t *group = w->data + g * w->group_bytes + start * KR_GROUP * bytes;
      for (int64_t i = 0; i < PIECE * KR_GROUP * bytes; i += 1024)
        _mm_prefetch((const char *)group + AHEAD + i, _MM_HINT_T0);
      if (widen) widen(group, k, wide);
      all_columns(widen ? wide : (const float *)(const void *)group, k, x, start, y + g * KR_GROUP,
                  ldy);
      start += PIECE;
    } while (start < w->k);
  }
}

void kr_sse2_product_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  product(w, first, last, x, y, ldy, 4, NULL);
}
void kr_sse2_product_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  product(w, first, last, x, y, ldy, 2, widen_f16);
}
void kr_sse2_product_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                          float *y, int64_t ldy) {
  product(w, first, last, x, y, ldy, 2, widen_bf16);
}
