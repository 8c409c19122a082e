/* Decoders of the ternary formats and of the four-bit floats.
 *
 *   TQ1_0   0  48 bytes q    48  4 bytes q    52  f16 d     256 values, d (t - 1)
 *   TQ2_0   0  64 bytes q    64  f16 d                      256 values, d (t - 1)
 *   MXFP4   0  e (E8M0)       1  16 bytes q                  32 values, 2^(e - 128) v(q)
 *   NVFP4   0  4 bytes e (UE4M3)    4  32 bytes q            64 values in 4 groups of 16, e / 2
 * v(q)
 *
 * TQ1_0: a byte is ceil(256 x / 243) of a number x of five ternary digits t, the first value's
 * being the most significant: digit k is (3 (3^k byte mod 256)) >> 8. Bytes 0 to 31 hold values 32
 * k + j, bytes 32 to 47 values 160 + 16 k + j, bytes 48 to 51 (four digits used) values 240 + 4 k +
 * j. TQ2_0: bits 2k and up of byte 32 i + j are value 128 i + 32 k + j. MXFP4: byte j holds values
 * j and j + 16; NVFP4: byte j of a group holds its values j and j + 8. v is twice the E2M1 float
 * (so that it is an integer), and the scales are halved to match. Source: OCP Microscaling Formats
 * (MX) v1.0 for E8M0 and E2M1. */
#include "quant/decoders.h"

static void ternary_digits(const uint8_t *restrict q, int width, int digits, float d,
                           float *restrict values) {
  unsigned power = 1;
  for (int k = 0; k < digits; k++, power *= 3, values += width)
    for (int j = 0; j < width; j++)
      values[j] = d * (float)((int)((q[j] * power & 255) * 3 >> 8) - 1);
}

void kr_dequantize_tq1_0(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 54, values += 256) {
    float d = kr_block_half(blocks + 52);
    ternary_digits(blocks, 32, 5, d, values);
    ternary_digits(blocks + 32, 16, 5, d, values + 160);
    ternary_digits(blocks + 48, 4, 4, d, values + 240);
  }
}

void kr_dequantize_tq2_0(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 66) {
    float d = kr_block_half(blocks + 64);
    for (int group = 0; group < 8; group++, values += 32) {
      const uint8_t *q = blocks + group / 4 * 32;
      int shift = 2 * (group & 3);
      for (int j = 0; j < 32; j++) values[j] = d * (float)((q[j] >> shift & 3) - 1);
    }
  }
}

static const float e2m1_doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* The bits of 2^-128 v and 2^-127 v, for which float arithmetic is not safe: the scale itself is
 * subnormal. Code 8 is +0, as an integer 0 times the scale gives it. */
static const uint32_t e2m1_lowest[2][8] = {
    {0, 0x00200000, 0x00400000, 0x00600000, 0x00800000, 0x00c00000, 0x01000000, 0x01400000},
    {0, 0x00400000, 0x00800000, 0x00c00000, 0x01000000, 0x01400000, 0x01800000, 0x01c00000}};

void kr_dequantize_mxfp4(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 32, blocks += 17, values += 32) {
    uint32_t e = blocks[0];
    const uint8_t *q = blocks + 1;
    float level[16];
    if (e < 2)
      for (int k = 0; k < 16; k++)
        level[k] = kr_bits_float(e2m1_lowest[e][k & 7] | (k > 8 ? 0x80000000u : 0));
    else
      for (int k = 0; k < 16; k++) level[k] = kr_bits_float((e - 1) << 23) * e2m1_doubled[k];
    for (int j = 0; j < 16; j++) {
      memcpy(values + j, level + (q[j] & 15), sizeof(float));
      memcpy(values + j + 16, level + (q[j] >> 4), sizeof(float));
    }
  }
}

/* Half of the unsigned E4M3 float e: four bits of exponent (bias 7), three of mantissa; 0x7f, its
 * NaN, counts as 0. Bit 7 is not looked at, except that 0xff is not 0x7f. */
static float half_ue4m3(uint8_t e) {
  int exponent = e >> 3 & 15, mantissa = e & 7;
  if (e == 0x7f) return 0;
  if (exponent == 0) return (float)mantissa * 0x1p-10f;
  return (float)(8 + mantissa) * kr_bits_float((uint32_t)(exponent + 116) << 23);
}

void kr_dequantize_nvfp4(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 64, blocks += 36)
    for (int group = 0; group < 4; group++, values += 16) {
      float d = half_ue4m3(blocks[group]);
      const uint8_t *q = blocks + 4 + 8 * group;
      for (int j = 0; j < 8; j++) {
        values[j] = d * e2m1_doubled[q[j] & 15];
        values[j + 8] = d * e2m1_doubled[q[j] >> 4];
      }
    }
}
