/* Conversions between binary32 and the two 16-bit float formats, exact on every machine.
 *
 * They are built of integer operations and of float operations whose operands and results are
 * normal numbers, so that a thread which flushes subnormals computes the same bits. The thread
 * rounds to nearest, as everywhere. */
#ifndef KR_BASE_HALF_H
#define KR_BASE_HALF_H

#include <stdint.h>
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

/* f16 to f32: exact for all 65536 patterns; a NaN keeps its payload and is not made quiet. The two
 * choices are masks made by arithmetic: compilers turn conditions here into branches (a float
 * operation may not be done in vain, it could trap), and then do not vectorize loops over it. */
static inline float kr_half_to_float(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, a = (uint32_t)(h & 0x7fff) << 13;
  uint32_t is_normal = 0 - ((a + 0x7f800000u) >> 31);  /* a >= 1 << 23 */
  uint32_t is_extreme = 0 - ((a + 0x70800000u) >> 31); /* a >= 31 << 23 */
  uint32_t normal = a + (112u << 23) + (is_extreme & 112u << 23);
  /* a subnormal m is 2^-14 (1 + m / 1024) - 2^-14, exactly */
  uint32_t subnormal = kr_float_bits(kr_bits_float(a + (113u << 23)) - 0x1p-14f);
  return kr_bits_float(sign | (normal & is_normal) | (subnormal & ~is_normal));
}

/* f32 to f16, to nearest even: subnormal halves are kept, 65520 and more become infinity, NaN
 * becomes a quiet NaN with the upper bits of its payload. */
static inline uint16_t kr_float_to_half(float f) {
  uint32_t bits = kr_float_bits(f), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;
  if (a > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (a >> 13 & 0x3ff));
  if (a >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
  /* below 2^-14 a half counts units of 2^-24, which is the last place of a float in [0.5, 1) */
  if (a < 0x38800000)
    return (uint16_t)(sign | (kr_float_bits(kr_bits_float(a) + 0.5f) - 0x3f000000));
  a += 0xfff + (a >> 13 & 1);
  return (uint16_t)(sign | (a - (112u << 23)) >> 13);
}

/* bf16 to f32: the upper half of the word. */
static inline float kr_bfloat_to_float(uint16_t h) {
  return kr_bits_float((uint32_t)h << 16);
}

/* f32 to bf16, to nearest even; NaN becomes a quiet NaN with the upper bits of its payload. */
static inline uint16_t kr_float_to_bfloat(float f) {
  uint32_t bits = kr_float_bits(f);
  if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
