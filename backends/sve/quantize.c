/* Quantization of activations. A vector holds consecutive values, as many as it has lanes, of a
 * block; magnitudes are compared as integers, so that a NaN counts as the largest; the int32 sum of
 * the block may be taken in any order. Lanes past k load zero. */
#include "kernels.h"
#include "pieces.h"

#define SMALLEST_AMAX 0x1p-100f /* below it 127 / amax would leave the range of f32 */

/* The first count values are x's, the others 0. */
static void quantize_block(const float *x, int64_t count, int8_t *q, float *d, int32_t *s) {
  const int64_t lanes = (int64_t)svcntw();
  svuint32_t top = svdup_n_u32(0);
  for (int64_t i = 0; i < count; i += lanes) {
    svbool_t pg = svwhilelt_b32_s64(i, count);
    svuint32_t bits = svreinterpret_u32_f32(svld1_f32(pg, x + i));
    top = svmax_u32_m(pg, top, svand_n_u32_x(pg, bits, 0x7fffffff));
  }
  float amax = kr_bits_float(svmaxv_u32(svptrue_b32(), top)), r = 0;
  *d = 0;
  if (!(amax < SMALLEST_AMAX)) *d = amax / 127, r = 127 / amax;
  svint32_t sum = svdup_n_s32(0);
  for (int64_t i = 0; i < KR_BLOCK; i += lanes) {
    svbool_t block = svwhilelt_b32_s64(i, KR_BLOCK);
    svfloat32_t v = svld1_f32(svwhilelt_b32_s64(i, count), x + i);
    v = svadd_n_f32_x(block, svmul_n_f32_x(block, v, r), KR_ROUND_MAGIC);
    svint32_t bits = svreinterpret_s32_f32(v); /* the low byte is q */
    svst1b_s32(block, q + i, bits);
    sum = svadd_s32_m(block, sum, svextb_s32_x(block, bits));
  }
  *s = (int32_t)svaddv_s32(svptrue_b32(), sum);
}

void kr_sve_quantize(const float *x, int64_t ldx, int64_t n, int64_t k, int64_t kp, int8_t *q,
                     float *d, int32_t *s) {
  int64_t blocks = kp / KR_BLOCK;
  for (int64_t c = 0; c < n; c++)
    for (int64_t b = 0; b < blocks; b++, q += KR_BLOCK, d++, s++) {
      int64_t left = k - b * KR_BLOCK, count = left < 0 ? 0 : left < KR_BLOCK ? left : KR_BLOCK;
      quantize_block(count ? x + c * ldx + b * KR_BLOCK : x, count, q, d, s);
    }
}
