/* Decoders of the block formats of 32 values with one f16 scale d, and for the _1 kinds one f16
 * minimum m.
 *
 *   Q4_0   0  d    2  16 bytes q                     d (q - 8)
 *   Q4_1   0  d    2  m      4  16 bytes q           d q + m
 *   Q5_0   0  d    2  u32 h  6  16 bytes q           d (q - 16)
 *   Q5_1   0  d    2  m      4  u32 h  8  16 bytes q d q + m
 *   Q8_0   0  d    2  32 bytes q, signed             d q
 *
 * Byte j of the 4-bit codes holds value j in its lower half and value j + 16 in its upper one; bit
 * j of h is the fifth bit of value j. */
#include "quant/decoders.h"

void kr_dequantize_q4_0(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 32, blocks += 18, values += 32) {
    float d = kr_block_half(blocks);
    const uint8_t *q = blocks + 2;
    for (int j = 0; j < 16; j++) {
      values[j] = d * (float)((q[j] & 15) - 8);
      values[j + 16] = d * (float)((q[j] >> 4) - 8);
    }
  }
}

void kr_dequantize_q4_1(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 32, blocks += 20, values += 32) {
    float d = kr_block_half(blocks), m = kr_block_half(blocks + 2);
    const uint8_t *q = blocks + 4;
    for (int j = 0; j < 16; j++) {
      values[j] = d * (float)(q[j] & 15) + m;
      values[j + 16] = d * (float)(q[j] >> 4) + m;
    }
  }
}

void kr_dequantize_q5_0(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 32, blocks += 22, values += 32) {
    float d = kr_block_half(blocks);
    uint32_t high = kr_block_u32(blocks + 2);
    const uint8_t *q = blocks + 6;
    for (int j = 0; j < 16; j++) {
      int upper = (int)(high >> j & 1) << 4, upper16 = (int)(high >> (j + 16) & 1) << 4;
      values[j] = d * (float)((q[j] & 15) + upper - 16);
      values[j + 16] = d * (float)((q[j] >> 4) + upper16 - 16);
    }
  }
}

void kr_dequantize_q5_1(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 32, blocks += 24, values += 32) {
    float d = kr_block_half(blocks), m = kr_block_half(blocks + 2);
    uint32_t high = kr_block_u32(blocks + 4);
    const uint8_t *q = blocks + 8;
    for (int j = 0; j < 16; j++) {
      int upper = (int)(high >> j & 1) << 4, upper16 = (int)(high >> (j + 16) & 1) << 4;
      values[j] = d * (float)((q[j] & 15) + upper) + m;
      values[j + 16] = d * (float)((q[j] >> 4) + upper16) + m;
    }
  }
}

void kr_dequantize_q8_0(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i += 32, blocks += 34, values += 32) {
    float d = kr_block_half(blocks);
    const int8_t *q = (const int8_t *)blocks + 2;
    for (int j = 0; j < 32; j++) values[j] = d * (float)q[j];
  }
}
