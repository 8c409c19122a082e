/* Values of attention from a q8 cache: the specification. Every position has scales of its own, so
 * the sum over positions is one of floats, ascending. */
#include "kernels.h"

void kr_scalar_values_q8(const int8_t *v, const float *d, int64_t dim, int64_t first, int64_t last,
                         const float *x, int64_t ldx, int64_t n, float *y, int64_t ldy) {
  for (int64_t r = 0; r < n; r++)
    for (int64_t e = 0; e < dim; e++) {
      float acc = 0;
      for (int64_t p = first; p < last; p++) {
        float weight = x[r * ldx + p] * d[p * (dim / KR_BLOCK) + e / KR_BLOCK];
        acc = acc + weight * (float)v[(e / 16 * KR_PAGE + p) * 16 + e % 16];
      }
      y[r * ldy + e] = acc;
    }
}
