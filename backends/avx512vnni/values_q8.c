/* Values of attention from a q8 cache, on AVX-512. Numerics: backends/scalar/values_q8.c.
 *
 * The weight of a position, x * d, is shared by the 32 dimensions of a block. Made first, it turns
 * the rest into the product of a panel [position][16] of int8 with columns of f32: acc + weight *
 * (float)v, positions ascending, one lane a dimension. A piece of the positions is done for all
 * rows before the next, which continues from the sums in y. */
#include "kernels.h"
#include "panel.h"

enum { ROWS = 32 }; /* whose weights of a piece are made at a time: 32 KiB */

/* ret[p] = x[p] * d[p], count <= PANEL_PIECE. */
static void weigh(const float *x, const float *d, int64_t count, float *ret) {
  for (int64_t p = 0; p < count; p += 16) {
    __mmask16 some = first_lanes(count - p < 16 ? count - p : 16);
    _mm512_storeu_ps(ret + p, _mm512_mul_ps(_mm512_maskz_loadu_ps(some, x + p),
                                            _mm512_maskz_loadu_ps(some, d + p)));
  }
}

void kr_avx512vnni_values_q8(const int8_t *v, const float *d, int64_t dim, int64_t first,
                             int64_t last, const float *x, int64_t ldx, int64_t n, float *y,
                             int64_t ldy) {
  float scales[PANEL_PIECE], weights[ROWS][PANEL_PIECE];
  const int64_t blocks = dim / KR_BLOCK, bytes = KR_PAGE * KR_GROUP;
  if (first == last)
    for (int64_t r = 0; r < n; r++) memset(y + r * ldy, 0, (size_t)dim * sizeof *y);
  for (int64_t b = 0; b < blocks; b++)
    for (int64_t start = first; start < last; start += PANEL_PIECE) {
      int64_t count = last - start < PANEL_PIECE ? last - start : PANEL_PIECE;
      const uint8_t *panel = (const uint8_t *)v + b * 2 * bytes + start * KR_GROUP;
      for (int64_t p = 0; p < count; p++) scales[p] = d[(start + p) * blocks + b];
      for (int64_t r = 0; r < n; r += ROWS) {
        int64_t rows = n - r < ROWS ? n - r : ROWS;
        float *out = y + r * ldy + b * KR_BLOCK;
        for (int64_t i = 0; i < rows; i++)
          weigh(x + (r + i) * ldx + start, scales, count, weights[i]);
        if (rows <= PANEL_COLUMNS)
          panel_columns(panel, bytes, 2, PANEL_I8, count, weights[0], PANEL_PIECE, rows,
                        start != first, out, ldy);
        else
          panel_pieces(panel, bytes, 2, PANEL_I8, count, weights[0], PANEL_PIECE, rows,
                       start != first, out, ldy);
      }
    }
}
