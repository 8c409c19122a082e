/* Values of attention from a q8 cache, on SSE4.1. Numerics: backends/scalar/values_q8.c.
 *
 * The weight of a position, x * d, is shared by the 32 dimensions of a block. A piece of positions
 * is taken at a time: its weights are made, its values widened by pmovsxbd, both once for all rows
 * or dimensions, and the sums in y continued. Lane i of a sum belongs to one dimension and one row;
 * positions ascend one by one. */
#include "kernels.h"
#include "lanes.h"

enum { PIECE = 64, ROWS = 32, TILE = 3 };

/* n <= TILE rows by the 16 dimensions of v f32 [count][16]; weights [n][PIECE]. */
KR_INLINE void tile(const float *v, int64_t count, float (*weights)[PIECE], int n, float *y,
                    int64_t ldy) {
  __m128 acc[TILE][4];
#pragma GCC unroll 3
  for (int i = 0; i < n; i++)
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) acc[i][j] = _mm_loadu_ps(y + i * ldy + 4 * j);
  for (int64_t p = 0; p < count; p++) {
#pragma GCC unroll 3
    for (int i = 0; i < n; i++) {
      __m128 weight = _mm_set1_ps(weights[i][p]);
#pragma GCC unroll 4
      for (int j = 0; j < 4; j++)
        acc[i][j] = _mm_add_ps(acc[i][j], _mm_mul_ps(weight, _mm_load_ps(v + p * 16 + 4 * j)));
    }
  }
#pragma GCC unroll 3
  for (int i = 0; i < n; i++)
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) _mm_storeu_ps(y + i * ldy + 4 * j, acc[i][j]);
}

static void widen(const int8_t *v, int64_t count, float *ret) {
  for (int64_t i = 0; i < count * 16; i += 4) {
    int32_t four;
    memcpy(&four, v + i, sizeof four);
    _mm_store_ps(ret + i, _mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(four))));
  }
}

/* Positions first .. first + count - 1, count <= PIECE, of the 32 dimensions of block b. */
static void piece(const int8_t *v, const float *d, int64_t blocks, int64_t b, int64_t first,
                  int64_t count, const float *x, int64_t ldx, int64_t n, float *y, int64_t ldy) {
  _Alignas(16) float wide[2][PIECE * 16], weights[ROWS][PIECE];
  for (int h = 0; h < 2; h++) widen(v + ((2 * b + h) * KR_PAGE + first) * 16, count, wide[h]);
  for (int64_t r = 0; r < n; r += ROWS) {
    int64_t rows = n - r < ROWS ? n - r : ROWS;
    for (int64_t i = 0; i < rows; i++)
      for (int64_t p = 0; p < count; p++)
        weights[i][p] = x[(r + i) * ldx + first + p] * d[(first + p) * blocks + b];
    for (int h = 0; h < 2; h++) {
      float *out = y + r * ldy + (2 * b + h) * 16;
      int64_t i = 0;
      for (; rows - i >= 3; i += 3) tile(wide[h], count, weights + i, 3, out + i * ldy, ldy);
      if (rows - i == 2) tile(wide[h], count, weights + i, 2, out + i * ldy, ldy);
      if (rows - i == 1) tile(wide[h], count, weights + i, 1, out + i * ldy, ldy);
    }
  }
}

void kr_sse41_values_q8(const int8_t *v, const float *d, int64_t dim, int64_t first, int64_t last,
                        const float *x, int64_t ldx, int64_t n, float *y, int64_t ldy) {
  int64_t blocks = dim / KR_BLOCK;
  for (int64_t r = 0; r < n; r++) memset(y + r * ldy, 0, (size_t)dim * sizeof *y);
  for (int64_t b = 0; b < blocks; b++)
    for (int64_t p = first; p < last; p += PIECE)
      piece(v, d, blocks, b, p, last - p < PIECE ? last - p : PIECE, x, ldx, n, y, ldy);
}
