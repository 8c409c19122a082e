/* Decoders of the float types: little-endian words, one value each. */
#include "quant/decoders.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE_U16(x) __builtin_bswap16(x)
#define LITTLE_U32(x) __builtin_bswap32(x)
#else
#define LITTLE_U16(x) (x)
#define LITTLE_U32(x) (x)
#endif

void kr_dequantize_f32(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i++) {
    uint32_t word;
    memcpy(&word, blocks + 4 * i, sizeof word);
    word = LITTLE_U32(word);
    memcpy(values + i, &word, sizeof word);
  }
}

void kr_dequantize_f16(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i++) {
    uint16_t word;
    memcpy(&word, blocks + 2 * i, sizeof word);
    values[i] = kr_half_to_float(LITTLE_U16(word));
  }
}

void kr_dequantize_bf16(const uint8_t *restrict blocks, int64_t n, float *restrict values) {
  for (int64_t i = 0; i < n; i++) {
    uint16_t word;
    memcpy(&word, blocks + 2 * i, sizeof word);
    values[i] = kr_bfloat_to_float(LITTLE_U16(word));
  }
}
