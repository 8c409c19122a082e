/* Decoders of the K formats: super-blocks of 256 values in groups of 16 or 32, an f16 scale (and an
 * f16 scale of the minima) for the super-block and a small integer scale (and minimum) for each
 * group.
 *
 *   Q2_K    0  16 bytes: scale s (lower half) and minimum t (upper half) of the 16 groups of 16
 *          16  64 bytes q    80  d    82  dmin          (d s) q - (dmin t)
 *   Q3_K    0  32 bytes h    32  64 bytes q    96  12 bytes s    108  d      (d (s - 32)) (q - 4)
 *   Q4_K    0  d    2  dmin    4  12 bytes s, t    16  128 bytes q           (d s) q - (dmin t)
 *   Q5_K    0  d    2  dmin    4  12 bytes s, t    16  32 bytes h    48  128 bytes q       same
 *   Q6_K    0  128 bytes q    128  64 bytes h    192  16 bytes s, signed    208  d
 *                                                                           (d s) (q - 32)
 *
 * Order of the codes. 2-bit: bits 2k and up of byte 32 i + j are value 128 i + 32 k + j. 4-bit
 * (Q4_K, Q5_K): byte 32 i + j holds values 64 i + j and 64 i + 32 + j. Q6_K: byte 64 i + j holds
 * the lower four bits of values 128 i + j and 128 i + 64 + j, and the other two bits stand in h in
 * the 2-bit order. h of Q3_K and Q5_K: bit k of byte j is the top bit of value 32 k + j. */
#include "quant/decoders.h"

void kr_dequantize_q2_k(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 84) {
    float d = kr_block_half(blocks + 80), dmin = kr_block_half(blocks + 82);
    for (int group = 0; group < 16; group++, values += 16) {
      const uint8_t *q = blocks + 16 + 32 * (group / 8) + 16 * (group & 1);
      int shift = group & 6;
      float scale = d * (float)(blocks[group] & 15), min = dmin * (float)(blocks[group] >> 4);
      for (int j = 0; j < 16; j++) values[j] = scale * (float)(q[j] >> shift & 3) - min;
    }
  }
}

/* Q3_K's 16 six-bit scales: the lower four bits of scale k are a half of byte k mod 8, the upper
 * two are bits 2 (k / 4) and up of byte 8 + k mod 4. */
static int q3_k_scale(const uint8_t *s, int k) {
  int lower = s[k & 7] >> (k / 8 * 4) & 15, upper = s[8 + (k & 3)] >> (k / 4 * 2) & 3;
  return (lower | upper << 4) - 32;
}

void kr_dequantize_q3_k(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 110) {
    float d = kr_block_half(blocks + 108);
    for (int group = 0; group < 16; group++, values += 16) {
      const uint8_t *high = blocks + 16 * (group & 1);
      const uint8_t *q = blocks + 32 + 32 * (group / 8) + 16 * (group & 1);
      int shift = group & 6, bit = group / 2;
      float scale = d * (float)q3_k_scale(blocks + 96, group);
      for (int j = 0; j < 16; j++)
        values[j] = scale * (float)((q[j] >> shift & 3) + ((high[j] >> bit & 1) << 2) - 4);
    }
  }
}

/* Q4_K's and Q5_K's eight six-bit scales and minima. The first four are the lower six bits of bytes
 * 0 to 3 (scales) and 4 to 7 (minima), whose upper two bits belong to the last four; those have
 * their lower four bits in bytes 8 to 11, the scale's in the lower half. */
static void k_scales(const uint8_t *s, int scale[8], int min[8]) {
  for (int k = 0; k < 4; k++) {
    scale[k] = s[k] & 63, min[k] = s[k + 4] & 63;
    scale[k + 4] = (s[k + 8] & 15) | s[k] >> 6 << 4;
    min[k + 4] = s[k + 8] >> 4 | s[k + 4] >> 6 << 4;
  }
}

void kr_dequantize_q4_k(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 144) {
    float d = kr_block_half(blocks), dmin = kr_block_half(blocks + 2);
    int scale[8], min[8];
    k_scales(blocks + 4, scale, min);
    const uint8_t *q = blocks + 16;
    for (int group = 0; group < 8; group += 2, q += 32, values += 64) {
      float d0 = d * (float)scale[group], m0 = dmin * (float)min[group];
      float d1 = d * (float)scale[group + 1], m1 = dmin * (float)min[group + 1];
      for (int j = 0; j < 32; j++) values[j] = d0 * (float)(q[j] & 15) - m0;
      for (int j = 0; j < 32; j++) values[j + 32] = d1 * (float)(q[j] >> 4) - m1;
    }
  }
}

void kr_dequantize_q5_k(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 176) {
    float d = kr_block_half(blocks), dmin = kr_block_half(blocks + 2);
    int scale[8], min[8];
    k_scales(blocks + 4, scale, min);
    const uint8_t *high = blocks + 16, *q = blocks + 48;
    for (int group = 0; group < 8; group += 2, q += 32, values += 64) {
      float d0 = d * (float)scale[group], m0 = dmin * (float)min[group];
      float d1 = d * (float)scale[group + 1], m1 = dmin * (float)min[group + 1];
      for (int j = 0; j < 32; j++)
        values[j] = d0 * (float)((q[j] & 15) + ((high[j] >> group & 1) << 4)) - m0;
      for (int j = 0; j < 32; j++)
        values[j + 32] = d1 * (float)((q[j] >> 4) + ((high[j] >> (group + 1) & 1) << 4)) - m1;
    }
  }
}

void kr_dequantize_q6_k(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 210) {
    float d = kr_block_half(blocks + 208);
    for (int half = 0; half < 2; half++, values += 96) {
      const uint8_t *high = blocks + 128 + 32 * half;
      const int8_t *scales = (const int8_t *)blocks + 192 + 8 * half;
      for (int part = 0; part < 2; part++, values += 16, high += 16, scales++) {
        const uint8_t *q = blocks + 64 * half + 16 * part;
        float d0 = d * (float)scales[0], d1 = d * (float)scales[2];
        float d2 = d * (float)scales[4], d3 = d * (float)scales[6];
        for (int j = 0; j < 16; j++) {
          values[j] = d0 * (float)((q[j] & 15) + ((high[j] & 3) << 4) - 32);
          values[j + 32] = d1 * (float)((q[j + 32] & 15) + ((high[j] & 12) << 2) - 32);
          values[j + 64] = d2 * (float)((q[j] >> 4) + (high[j] & 48) - 32);
          values[j + 96] = d3 * (float)((q[j + 32] >> 4) + ((high[j] & 192) >> 2) - 32);
        }
      }
    }
  }
}
