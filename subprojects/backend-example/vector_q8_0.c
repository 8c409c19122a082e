/* The Q8_0 product of decode, for any CPU: sixteen rows side by side, as they lie in the panel.
 *
 * Layout    krafla/backend.h, Q8_0. A unit of 64 bytes holds four consecutive k of each of the 16
 *           rows; all rows of a group meet the same four activations, so the loop over rows has no
 *           dependence and a compiler may make vectors of it.
 * Numerics  the sum of a block is an integer, exact in any order; then each row's accumulator
 *           takes it in one product and one sum, blocks ascending, as the specification does. */
#include <krafla/backend.h>
#include <string.h>

enum { PAIR_BYTES = 1088, QUANTS = 64, BLOCK_BYTES = 512, UNIT_BYTES = 64, UNITS = 8 };

kr_product_fn kr_example_vector_q8_0;

/* Exact for every half. A subnormal one is mantissa * 2^-24, which is far from subnormal in f32:
 * it does not matter that the caller's thread flushes those. */
static float half_value(const uint8_t *p) {
  uint32_t h = (uint32_t)(p[0] | p[1] << 8), exponent = h >> 10 & 31, mantissa = h & 1023;
  float magnitude = (float)mantissa * 0x1p-24f;
  if (exponent) {
    uint32_t bits = (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13;
    memcpy(&magnitude, &bits, sizeof magnitude);
  }
  return h & 0x8000 ? -magnitude : magnitude;
}

static void add_block(const uint8_t *scales, const int8_t *quants, const int8_t *q, float dx,
                      float acc[KR_GROUP]) {
  int32_t sum[KR_GROUP] = {0};
  for (int u = 0; u < UNITS; u++, quants += UNIT_BYTES, q += 4)
    for (int r = 0; r < KR_GROUP; r++)
      sum[r] += quants[4 * r] * q[0] + quants[4 * r + 1] * q[1] + quants[4 * r + 2] * q[2] +
                quants[4 * r + 3] * q[3];
  for (int r = 0; r < KR_GROUP; r++)
    acc[r] = acc[r] + (float)sum[r] * (half_value(scales + 2 * r) * dx);
}

/* One column, as every vector_* is called. */
void kr_example_vector_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                            float *y, int64_t ldy) {
  (void)ldy;
  for (int64_t g = first; g < last; g++) {
    const uint8_t *pair = w->data + g * w->group_bytes;
    float acc[KR_GROUP] = {0};
    for (int64_t b = 0; b < w->k / KR_BLOCK; b++) {
      int64_t half = b % 2;
      add_block(pair + half * 2 * KR_GROUP, (const int8_t *)pair + QUANTS + half * BLOCK_BYTES,
                x->q + b * KR_BLOCK, x->d[b], acc);
      if (half) pair += PAIR_BYTES;
    }
    memcpy(y + g * KR_GROUP, acc, sizeof acc);
  }
}
