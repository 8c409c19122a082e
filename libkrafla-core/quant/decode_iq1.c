/* Decoders of the IQ1 formats: super-blocks of 256 values; an index i names a vector of eight
 * values -1, 0 or 1, to all of which 1/8 is added or, where bit u is set, taken away.
 *
 *   IQ1_S   0  f16 d    2  32 bytes i (lower 8 bits)    34  8 of u16 { 4 x 3 bits h, 3 bits s, u }
 *   IQ1_M   0  32 bytes i (lower 8 bits)    32  32 halves of bytes { 3 bits h, u }
 *          48  4 of u16 { 4 x 3 bits s, 4 bits of d }
 *
 * h are the upper three bits of the indices. s covers 32 values (IQ1_S) or 16 (IQ1_M); the scale is
 * d (2 s + 1). u covers 32 values or 8. d of IQ1_M is an f16 whose lowest four bits stand in the
 * first u16. */
#include "quant/decoders.h"
#include "quant/iq_tables.h"

static void iq1_vector(unsigned code, float delta, float scale, float *values) {
  for (int j = 0; j < 8; j++) {
    float level = (float)((int)(code >> (2 * j) & 3) - 1);
    values[j] = scale * (level + delta);
  }
}

void kr_dequantize_iq1_s(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 50) {
    float d = kr_block_half(blocks);
    for (int group = 0; group < 8; group++) {
      const uint8_t *index = blocks + 2 + 4 * group;
      unsigned word = kr_block_u16(blocks + 34 + 2 * group);
      float scale = d * (float)(2 * (word >> 12 & 7) + 1);
      float delta = word & 0x8000 ? -0.125f : 0.125f;
      for (int k = 0; k < 4; k++, values += 8) {
        unsigned high = word >> (3 * k) & 7;
        iq1_vector(kr_iq1_codes[index[k] | high << 8], delta, scale, values);
      }
    }
  }
}

void kr_dequantize_iq1_m(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 56) {
    unsigned half = 0;
    for (int k = 0; k < 4; k++) half |= (unsigned)(blocks[49 + 2 * k] >> 4) << (4 * k);
    float d = kr_half_to_float((uint16_t)half);
    for (int group = 0; group < 16; group++) {
      unsigned word = kr_block_u16(blocks + 48 + group / 4 * 2);
      float scale = d * (float)(2 * (word >> (3 * (group & 3)) & 7) + 1);
      for (int k = 2 * group; k < 2 * group + 2; k++, values += 8) {
        unsigned high = blocks[32 + group] >> (4 * (k & 1)) & 15;
        float delta = high & 8 ? -0.125f : 0.125f;
        iq1_vector(kr_iq1_codes[blocks[k] | (high & 7) << 8], delta, scale, values);
      }
    }
  }
}
