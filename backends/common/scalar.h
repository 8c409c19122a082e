/* Exact helpers and the elementary functions of the numerics contract, one value at a time.
 *
 * The scalar backend is made of these; vector backends repeat their steps lane by lane, and use
 * them for tails. Nothing here depends on libm or on the thread's flush mode. */
#ifndef KR_COMMON_SCALAR_H
#define KR_COMMON_SCALAR_H

#include <krafla/backend.h>
#include <string.h>

static inline uint32_t kr_float_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static inline float kr_bits_float(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static inline uint16_t kr_load_u16(const uint8_t *p) { /* little-endian, any alignment */
  return (uint16_t)(p[0] | p[1] << 8);
}

/* Exact for every half, subnormals included: built from integers. */
static inline float kr_f16_to_f32(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 1023;
  if (exponent == 31) return kr_bits_float(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0) return kr_bits_float(sign | (exponent + 112) << 23 | mantissa << 13);
  if (mantissa == 0) return kr_bits_float(sign);
  int shift = 0;
  while (!(mantissa & 1024)) mantissa <<= 1, shift++;
  return kr_bits_float(sign | (uint32_t)(113 - shift) << 23 | (mantissa & 1023) << 13);
}

/* To nearest even. Subnormal halves are kept, overflow gives infinity, NaN stays NaN. */
static inline uint16_t kr_f32_to_f16(float f) {
  uint32_t bits = kr_float_bits(f), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;
  if (a > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (a >> 13 & 0x3ff));
  if (a >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* 65520 and more */
  uint32_t whole, rest, half;
  if (a >= 0x38800000) { /* 2^-14 and more: a normal half */
    whole = (a >> 13) - (112u << 10), rest = a & 0x1fff, half = 0x1000;
  } else if (a >= 0x33000000) { /* 2^-25 and more: a subnormal half, in units of 2^-24 */
    uint32_t shift = 126 - (a >> 23), mantissa = (a & 0x7fffff) | 0x800000;
    whole = mantissa >> shift, rest = mantissa & ((1u << shift) - 1), half = 1u << (shift - 1);
  } else {
    return (uint16_t)sign;
  }
  whole += rest > half || (rest == half && (whole & 1));
  return (uint16_t)(sign | whole);
}

static inline float kr_bf16_to_f32(uint16_t h) {
  return kr_bits_float((uint32_t)h << 16);
}

/* Adding 1.5 * 2^23 leaves the nearest integer (ties to even) of |x| < 2^22 in the low bits. */
#define KR_ROUND_MAGIC 12582912.0f

static inline float kr_round(float x) {
  return (x + KR_ROUND_MAGIC) - KR_ROUND_MAGIC;
}

/* exp(x): 0 for x <= -87 (and for NaN), otherwise of min(x, 88).
 *
 * x = n ln 2 + r with n an integer and |r| <= ln 2 / 2; exp(x) = 2^n (1 + r + r^2 p(r)), p the
 * interpolant of degree 4 at Chebyshev nodes. Within 1.4 * 2^-24 relative; exp(0) is 1.
 * ln 2 is split so that n times its upper part is exact. */
#define KR_EXP_MIN -87.0f
#define KR_EXP_MAX 88.0f
#define KR_LOG2_E  1.44269504f
#define KR_LN2_HI  0.693359375f
#define KR_LN2_LO  -0x1.bd0106p-13f
#define KR_EXP_C0  0.5f
#define KR_EXP_C1  0x1.5554dcp-3f
#define KR_EXP_C2  0x1.55551ap-5f
#define KR_EXP_C3  0x1.120ba2p-7f
#define KR_EXP_C4  0x1.6d113cp-10f

static inline float kr_scalar_exp(float x) {
  if (!(x > KR_EXP_MIN)) return 0;
  if (x > KR_EXP_MAX) x = KR_EXP_MAX;
  float n = kr_round(x * KR_LOG2_E);
  float r = x - n * KR_LN2_HI;
  r = r - n * KR_LN2_LO;
  float p = KR_EXP_C4;
  p = p * r + KR_EXP_C3;
  p = p * r + KR_EXP_C2;
  p = p * r + KR_EXP_C1;
  p = p * r + KR_EXP_C0;
  p = p * (r * r);
  p = p + r;
  p = p + 1;
  return p * kr_bits_float((uint32_t)((int32_t)n + 127) << 23);
}

/* z / (1 + exp(-z)) */
static inline float kr_scalar_silu(float z) {
  return z / (1 + kr_scalar_exp(-z));
}

/* 0.5 z (1 + tanh(u)) = z / (1 + exp(-2u)), u = sqrt(2 / pi) (z + 0.044715 z^3) */
#define KR_GELU_CUBE 0.044715f
#define KR_GELU_TWO  1.5957691216f /* 2 sqrt(2 / pi) */

static inline float kr_scalar_gelu(float z) {
  float cube = (z * z) * z;
  float u = (z + KR_GELU_CUBE * cube) * KR_GELU_TWO;
  return z / (1 + kr_scalar_exp(-u));
}

/* Folds sixteen lanes to one sum: 8, 4, 2, 1. */
static inline float kr_scalar_fold(float lanes[16]) {
  for (int half = 8; half; half /= 2)
    for (int i = 0; i < half; i++) lanes[i] = lanes[i] + lanes[i + half];
  return lanes[0];
}

#endif
