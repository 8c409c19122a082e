/* The reference quantizers of Q8_0, Q4_0 and Q4_1 (block layouts in decode_legacy.c).
 *
 * ggml's rules, which divide by the scale as it is before it is rounded to f16. A block whose
 * largest magnitude is below 2^-98 (its f16 scale is 0 whatever one does) is not divided at all, so
 * that the bytes depend neither on the thread's flush mode nor on 1 / d overflowing; ggml writes
 * the same bytes for zeros and subnormals, and other codes under the zero scale in between. */
#include "base/half.h"
#include "quant/types.h"

#define TINY  0x0e800000u /* the bits of 2^-98 */
#define LARGE 0x7b800000u /* the bits of 2^120 */

/* The bits of the largest magnitude of 32 values; for a NaN those of the NaN, which are larger. */
static uint32_t largest_bits(const float *values) {
  uint32_t largest = 0;
  for (int j = 0; j < 32; j++) {
    uint32_t bits = kr_float_bits(values[j]) & 0x7fffffff;
    largest = bits > largest ? bits : largest;
  }
  return largest;
}

static void put_half(uint8_t *p, uint16_t half) {
  p[0] = (uint8_t)half, p[1] = (uint8_t)(half >> 8);
}

/* A block with a value that is not finite, or 2^120 or more, cannot be expressed: a NaN scale keeps
 * it from passing for a weight. */
static void put_invalid(uint8_t *block, int bytes) {
  memset(block, 0, (size_t)bytes);
  put_half(block, 0x7e00);
}

void kr_quantize_q8_0(const float *values, int64_t n, uint8_t *blocks) {
  for (int64_t i = 0; i < n; i += 32, values += 32, blocks += 34) {
    uint32_t largest = largest_bits(values);
    if (largest >= LARGE) {
      put_invalid(blocks, 34);
      continue;
    }
    memset(blocks, 0, 34);
    if (largest < TINY) continue;
    float d = kr_bits_float(largest) / 127, inverse = 1 / d;
    put_half(blocks, kr_float_to_half(d));
    for (int j = 0; j < 32; j++) {
      /* halves away from zero: what is left after truncation is exact */
      float v = values[j] * inverse;
      int whole = (int)v;
      float rest = v - (float)whole;
      whole += (rest >= 0.5f) - (rest <= -0.5f);
      blocks[2 + j] = (uint8_t)whole;
    }
  }
}

/* Packs 32 codes of 4 bits in the order of the legacy blocks. */
static void put_nibbles(const uint8_t codes[32], uint8_t *bytes) {
  for (int j = 0; j < 16; j++) bytes[j] = (uint8_t)(codes[j] | codes[j + 16] << 4);
}

static uint8_t to_nibble(float v) { /* v is in [0, 17) */
  int whole = (int)v;
  return (uint8_t)(whole < 15 ? whole : 15);
}

void kr_quantize_q4_0(const float *values, int64_t n, uint8_t *blocks) {
  for (int64_t i = 0; i < n; i += 32, values += 32, blocks += 18) {
    uint32_t largest = largest_bits(values);
    if (largest >= LARGE) {
      put_invalid(blocks, 18);
      continue;
    }
    int at = 0; /* the first value of the largest magnitude is -8 d */
    while ((kr_float_bits(values[at]) & 0x7fffffff) != largest) at++;
    if (largest < TINY) {
      put_half(blocks, kr_float_bits(values[at]) >> 31 ? 0 : 0x8000);
      memset(blocks + 2, largest ? 0 : 0x88, 16);
      continue;
    }
    float d = values[at] / -8, inverse = 1 / d;
    put_half(blocks, kr_float_to_half(d));
    uint8_t codes[32];
    for (int j = 0; j < 32; j++) codes[j] = to_nibble(values[j] * inverse + 8.5f);
    put_nibbles(codes, blocks + 2);
  }
}

/* A key that orders finite floats, -0 before +0, by integer comparison. */
static int32_t order_key(float f) {
  uint32_t bits = kr_float_bits(f);
  return (int32_t)(bits >> 31 ? bits ^ 0x7fffffff : bits);
}

void kr_quantize_q4_1(const float *values, int64_t n, uint8_t *blocks) {
  for (int64_t i = 0; i < n; i += 32, values += 32, blocks += 20) {
    uint32_t largest = largest_bits(values);
    if (largest >= LARGE) {
      put_invalid(blocks, 20);
      continue;
    }
    int low = 0, high = 0;
    for (int j = 1; j < 32; j++) {
      if (order_key(values[j]) < order_key(values[low])) low = j;
      if (order_key(values[j]) > order_key(values[high])) high = j;
    }
    float min = values[low], d = 0, inverse = 0;
    if (largest >= TINY) d = (values[high] - min) / 15;
    if (d > 0) inverse = 1 / d;
    put_half(blocks, kr_float_to_half(d));
    put_half(blocks + 2, kr_float_to_half(min));
    uint8_t codes[32];
    for (int j = 0; j < 32; j++) codes[j] = to_nibble((values[j] - min) * inverse + 0.5f);
    put_nibbles(codes, blocks + 4);
  }
}
