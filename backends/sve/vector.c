/* Norm and softmax. A reduction's sixteen lanes are those of up to four vectors: lane 0 of the next
 * follows the last lane of the one before, whatever their length; vectors that sixteen lanes do not
 * fill leave the others alone. So element k is in lane k mod 16 for every length, and the fold is
 * scalar's own. */
#include "kernels.h"
#include "pieces.h"
#include <math.h>

/* The lanes, part j of sixteen, of elements i + part, up to end. */
KR_INLINE svbool_t part_lanes(int64_t i, int64_t part, int64_t end) {
  return svwhilelt_b32_s64(i + part, end < i + 16 ? end : i + 16);
}

KR_INLINE void store_part(float *lanes, int64_t part, svfloat32_t sums) {
  if (part < 16) svst1_f32(svwhilelt_b32_s64(part, 16), lanes + part, sums);
}

/* Lanes are >= 0, so that the zeros of those past n change none. */
KR_INLINE svfloat32_t add_squares(svfloat32_t sums, const float *x, int64_t i, int64_t part,
                                  int64_t n) {
  svfloat32_t v = svld1_f32(part_lanes(i, part, n), x + i + part);
  return svadd_f32_x(svptrue_b32(), sums, svmul_f32_x(svptrue_b32(), v, v));
}

void kr_sve_rms_norm(const float *x, const float *w, int64_t n, float eps, float *y) {
  const int64_t step = (int64_t)svcntw();
  svfloat32_t sum0 = svdup_n_f32(0), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (int64_t i = 0; i < n; i += 16) {
    sum0 = add_squares(sum0, x, i, 0, n);
    if (step < 16) sum1 = add_squares(sum1, x, i, step, n);
    if (step < 8) sum2 = add_squares(sum2, x, i, 2 * step, n);
    if (step < 8) sum3 = add_squares(sum3, x, i, 3 * step, n);
  }
  float lanes[16];
  store_part(lanes, 0, sum0), store_part(lanes, step, sum1);
  store_part(lanes, 2 * step, sum2), store_part(lanes, 3 * step, sum3);
  float mean = kr_scalar_fold(lanes) / (float)n;
  float r = 1 / sqrtf(mean + eps); /* one instruction: the flags ask for no errno */
  for (int64_t i = 0; i < n; i += step) {
    svbool_t pg = svwhilelt_b32_s64(i, n);
    svfloat32_t v = svmul_n_f32_x(pg, svld1_f32(pg, x + i), r);
    svst1_f32(pg, y + i, svmul_f32_x(pg, v, svld1_f32(pg, w + i)));
  }
}

/* kr_scalar_exp, step by step, of the lanes of pg; 0 in the others. */
KR_INLINE svfloat32_t exp_lanes(svbool_t pg, svfloat32_t x) {
  const svbool_t all = svptrue_b32();
  svbool_t keep = svcmpgt_n_f32(pg, x, KR_EXP_MIN); /* false for NaN */
  x = svmin_n_f32_x(all, x, KR_EXP_MAX);
  svfloat32_t t = svadd_n_f32_x(all, svmul_n_f32_x(all, x, KR_LOG2_E), KR_ROUND_MAGIC);
  svfloat32_t n = svsub_n_f32_x(all, t, KR_ROUND_MAGIC);
  svfloat32_t r = svsub_f32_x(all, x, svmul_n_f32_x(all, n, KR_LN2_HI));
  r = svsub_f32_x(all, r, svmul_n_f32_x(all, n, KR_LN2_LO));
  svfloat32_t p = svdup_n_f32(KR_EXP_C4);
  p = svadd_n_f32_x(all, svmul_f32_x(all, p, r), KR_EXP_C3);
  p = svadd_n_f32_x(all, svmul_f32_x(all, p, r), KR_EXP_C2);
  p = svadd_n_f32_x(all, svmul_f32_x(all, p, r), KR_EXP_C1);
  p = svadd_n_f32_x(all, svmul_f32_x(all, p, r), KR_EXP_C0);
  p = svmul_f32_x(all, p, svmul_f32_x(all, r, r));
  p = svadd_n_f32_x(all, svadd_f32_x(all, p, r), 1);
  /* the magic number's own bits are shifted out above n's */
  svint32_t power = svlsl_n_s32_x(all, svadd_n_s32_x(all, svreinterpret_s32_f32(t), 127), 23);
  return svmul_f32_z(keep, p, svreinterpret_f32_s32(power));
}

/* Scales x and returns the largest, 0 of either sign; a NaN is passed over, as scalar's comparison
 * does. */
static float scale_and_max(float *x, int64_t n, float scale) {
  svfloat32_t top = svdup_n_f32(x[0] * scale);
  for (int64_t i = 0; i < n; i += (int64_t)svcntw()) {
    svbool_t pg = svwhilelt_b32_s64(i, n);
    svfloat32_t t = svmul_n_f32_x(pg, svld1_f32(pg, x + i), scale);
    svst1_f32(pg, x + i, t);
    top = svsel_f32(svcmpgt_f32(pg, t, top), t, top);
  }
  return svmaxv_f32(svptrue_b32(), top);
}

/* The exponentials of one part: those of first .. last - 1, 0 elsewhere. Returns sums + them. */
KR_INLINE svfloat32_t add_part(svfloat32_t sums, float *x, int64_t i, int64_t part, int64_t first,
                               int64_t last, float max) {
  const svbool_t all = svptrue_b32(), lanes = part_lanes(i, part, i + 16);
  svbool_t inside = svbic_b_z(all, part_lanes(i, part, last), part_lanes(i, part, first));
  svfloat32_t e = exp_lanes(inside, svsub_n_f32_x(all, svld1_f32(inside, x + i + part), max));
  svst1_f32(lanes, x + i + part, e);
  return svadd_f32_x(all, sums, e);
}

void kr_sve_softmax(float *x, int64_t first, int64_t last, int64_t n, float scale, float *ret) {
  const int64_t step = (int64_t)svcntw();
  float max = scale_and_max(x + first, last - first, scale), lanes[16];
  svfloat32_t sum0 = svdup_n_f32(0), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  int64_t begin = first / 16 * 16, end = (last + 15) / 16 * 16;
  memset(x, 0, (size_t)begin * sizeof *x);
  memset(x + end, 0, (size_t)(n - end) * sizeof *x);
  for (int64_t i = begin; i < end; i += 16) {
    sum0 = add_part(sum0, x, i, 0, first, last, max);
    if (step < 16) sum1 = add_part(sum1, x, i, step, first, last, max);
    if (step < 8) sum2 = add_part(sum2, x, i, 2 * step, first, last, max);
    if (step < 8) sum3 = add_part(sum3, x, i, 3 * step, first, last, max);
  }
  store_part(lanes, 0, sum0), store_part(lanes, step, sum1);
  store_part(lanes, 2 * step, sum2), store_part(lanes, 3 * step, sum3);
  ret[0] = max + 0.0f;
  ret[1] = kr_scalar_fold(lanes);
}
