/* Decoders of the IQ2, IQ3 and IQ4 formats: super-blocks of 256 values (IQ4_NL: 32), an f16 scale d
 * and 4-bit scales s of groups.
 *
 *   IQ2_XXS  0  d    2  8 of { 4 bytes i, u32 of 4 x 7 bits sign and 4 bits s }
 *   IQ2_XS   0  d    2  32 of u16 { 9 bits i, 7 bits sign }    66  8 bytes s
 *   IQ2_S    0  d    2  32 bytes i    34  32 bytes sign    66  8 bytes h    74  8 bytes s
 *   IQ3_XXS  0  d    2  64 bytes i    66  8 of u32 { 4 x 7 bits sign and 4 bits s }
 *   IQ3_S    0  d    2  64 bytes i    66  8 bytes h    74  32 bytes sign    106  4 bytes s
 *   IQ4_NL   0  d    2  16 bytes q
 *   IQ4_XS   0  d    2  u16 t     4  4 bytes s              8  128 bytes q
 *
 * An index i names a vector of 8 (IQ2) or 4 (IQ3) magnitudes in the format's codebook; h holds the
 * upper bits of the indices, two (IQ2_S) or one (IQ3_S) each, lowest first. Eight values share a
 * byte of signs, set for minus, lowest first; where seven bits are stored the eighth makes their
 * number even. Scale factors: IQ2 (1/2 + s) / 4, IQ3_XXS (1/2 + s) / 2, IQ3_S 1 + 2 s. s covers 16
 * values (IQ2_XS, IQ2_S; lower half first) or 32.
 * IQ4: the codes are in Q4_0's order and name one of sixteen levels. Scale k of IQ4_XS is s - 32,
 * its lower four bits in half k of s, its upper two in bits 2k and up of t. */
#include "quant/decoders.h"
#include "quant/iq_tables.h"

static unsigned eight_signs(unsigned seven) { /* the eighth bit is the parity */
  unsigned fold = seven ^ seven >> 4;
  return seven | (0x6996u >> (fold & 15) & 1) << 7;
}

/* values[j] = scale * +-level, j < 8 */
static void iq2_vector(unsigned code, unsigned signs, float scale, float *values) {
  for (int j = 0; j < 8; j++) {
    int k = code >> (2 * j) & 3, minus = -(int)(signs >> j & 1);
    int level = 8 + 17 * k + (k >> 1);
    values[j] = scale * (float)((level ^ minus) - minus);
  }
}

void kr_dequantize_iq2_xxs(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 66) {
    float d = kr_block_half(blocks);
    for (int group = 0; group < 8; group++) {
      const uint8_t *index = blocks + 2 + 8 * group;
      uint32_t word = kr_block_u32(index + 4);
      float scale = d * (0.5f + (float)(word >> 28)) * 0.25f;
      for (int k = 0; k < 4; k++, values += 8)
        iq2_vector(kr_iq2_xxs_codes[index[k]], eight_signs(word >> (7 * k) & 127), scale, values);
    }
  }
}

void kr_dequantize_iq2_xs(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 74) {
    float d = kr_block_half(blocks);
    for (int group = 0; group < 16; group++) {
      int s = blocks[66 + group / 2] >> (4 * (group & 1)) & 15;
      float scale = d * (0.5f + (float)s) * 0.25f;
      for (int k = 0; k < 2; k++, values += 8) {
        unsigned word = kr_block_u16(blocks + 2 + 4 * group + 2 * k);
        iq2_vector(kr_iq2_xs_codes[word & 511], eight_signs(word >> 9), scale, values);
      }
    }
  }
}

void kr_dequantize_iq2_s(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 82) {
    float d = kr_block_half(blocks);
    for (int group = 0; group < 16; group++) {
      int s = blocks[74 + group / 2] >> (4 * (group & 1)) & 15;
      float scale = d * (0.5f + (float)s) * 0.25f;
      for (int k = 2 * group; k < 2 * group + 2; k++, values += 8) {
        unsigned high = blocks[66 + k / 4] >> (2 * (k & 3)) & 3;
        iq2_vector(kr_iq2_s_codes[blocks[2 + k] | high << 8], blocks[34 + k], scale, values);
      }
    }
  }
}

void kr_dequantize_iq3_xxs(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 98) {
    float d = kr_block_half(blocks);
    for (int group = 0; group < 8; group++) {
      const uint8_t *index = blocks + 2 + 8 * group;
      uint32_t word = kr_block_u32(blocks + 66 + 4 * group);
      float scale = d * (0.5f + (float)(word >> 28)) * 0.5f;
      for (int k = 0; k < 4; k++, values += 8) {
        unsigned signs = eight_signs(word >> (7 * k) & 127);
        uint32_t code =
            kr_iq3_xxs_codes[index[2 * k]] | (uint32_t)kr_iq3_xxs_codes[index[2 * k + 1]] << 16;
        for (int j = 0; j < 8; j++) {
          int level = code >> (4 * j) & 7, minus = -(int)(signs >> j & 1);
          level = 4 + 8 * level + ((level + 1) >> 3 << 1);
          values[j] = scale * (float)((level ^ minus) - minus);
        }
      }
    }
  }
}

void kr_dequantize_iq3_s(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 110) {
    float d = kr_block_half(blocks);
    for (int group = 0; group < 8; group++) {
      const uint8_t *index = blocks + 2 + 8 * group, *signs = blocks + 74 + 4 * group;
      unsigned high = blocks[66 + group];
      int s = blocks[106 + group / 2] >> (4 * (group & 1)) & 15;
      float scale = d * (float)(1 + 2 * s);
      for (int k = 0; k < 4; k++, values += 8, high >>= 2) {
        uint32_t code = kr_iq3_s_codes[index[2 * k] | (high & 1) << 8] |
                        (uint32_t)kr_iq3_s_codes[index[2 * k + 1] | (high & 2) << 7] << 16;
        for (int j = 0; j < 8; j++) {
          int level = 2 * (int)(code >> (4 * j) & 7) + 1, minus = -(int)(signs[k] >> j & 1);
          values[j] = scale * (float)((level ^ minus) - minus);
        }
      }
    }
  }
}

/* Part of the format; ggml's kvalues_iq4nl. */
static const float iq4_levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};

static void iq4_block(const uint8_t *restrict q, float scale, float *restrict values) {
  for (int j = 0; j < 16; j++) {
    values[j] = scale * iq4_levels[q[j] & 15];
    values[j + 16] = scale * iq4_levels[q[j] >> 4];
  }
}

void kr_dequantize_iq4_nl(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 32, blocks += 18, values += 32)
    iq4_block(blocks + 2, kr_block_half(blocks), values);
}

void kr_dequantize_iq4_xs(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 256, blocks += 136) {
    float d = kr_block_half(blocks);
    unsigned upper = kr_block_u16(blocks + 2);
    for (int group = 0; group < 8; group++, values += 32) {
      unsigned lower = blocks[4 + group / 2] >> (4 * (group & 1)) & 15;
      int s = (int)(lower | (upper >> (2 * group) & 3) << 4) - 32;
      iq4_block(blocks + 8 + 16 * group, d * (float)s, values);
    }
  }
}
