/* The tensor types of GGUF files: names, blocks, and their values as f32. */
#ifndef KR_QUANT_TYPES_H
#define KR_QUANT_TYPES_H

#include "base/error.h"
#include <stdint.h>

/* GGUF's numbers (ggml_type). Those not listed are removed or not used for weights. */
typedef enum kr_type {
  KR_TYPE_F32 = 0,
  KR_TYPE_F16 = 1,
  KR_TYPE_Q4_0 = 2,
  KR_TYPE_Q4_1 = 3,
  KR_TYPE_Q5_0 = 6,
  KR_TYPE_Q5_1 = 7,
  KR_TYPE_Q8_0 = 8,
  KR_TYPE_Q8_1 = 9,
  KR_TYPE_Q2_K = 10,
  KR_TYPE_Q3_K = 11,
  KR_TYPE_Q4_K = 12,
  KR_TYPE_Q5_K = 13,
  KR_TYPE_Q6_K = 14,
  KR_TYPE_Q8_K = 15,
  KR_TYPE_IQ2_XXS = 16,
  KR_TYPE_IQ2_XS = 17,
  KR_TYPE_IQ3_XXS = 18,
  KR_TYPE_IQ1_S = 19,
  KR_TYPE_IQ4_NL = 20,
  KR_TYPE_IQ3_S = 21,
  KR_TYPE_IQ2_S = 22,
  KR_TYPE_IQ4_XS = 23,
  KR_TYPE_I8 = 24,
  KR_TYPE_I16 = 25,
  KR_TYPE_I32 = 26,
  KR_TYPE_I64 = 27,
  KR_TYPE_F64 = 28,
  KR_TYPE_IQ1_M = 29,
  KR_TYPE_BF16 = 30,
  KR_TYPE_TQ1_0 = 34,
  KR_TYPE_TQ2_0 = 35,
  KR_TYPE_MXFP4 = 39,
  KR_TYPE_NVFP4 = 40
} kr_type;

/* Writes the n values of whole blocks, n a multiple of the type's block, as f32. */
typedef void kr_dequantize_fn(const uint8_t *blocks, int64_t n, float *values);

typedef struct kr_type_info {
  const char *name;
  int32_t block; /* values in a block */
  int32_t bytes; /* of a block */
  kr_dequantize_fn
      *dequantize; /* NULL for types that hold no weights (integers, Q8_1, Q8_K, F64) */
} kr_type_info;

/* NULL for a number that is no type. */
const kr_type_info *kr_type_get(uint32_t type);

/* The reference quantizers, by ggml's rules. n a multiple of 32; one block for 32 values.
 *
 *   q8_0  34 bytes: d = amax / 127 stored as f16, values divided by the unrounded d, halves away
 *         from zero
 *   q4_0  18 bytes: d = -max / 8, max the first value of the largest magnitude;
 *         code = min(15, trunc(v / d + 8.5))
 *   q4_1  20 bytes: m = min, d = (max - min) / 15; code = min(15, trunc((v - m) / d + 0.5))
 *
 * The bytes do not depend on the thread's flush mode. Blocks with a value that is not finite, or
 * 2^120 or more, get a NaN scale; d above 65504 becomes infinite in f16. */
void kr_quantize_q8_0(const float *values, int64_t n, uint8_t *blocks);
void kr_quantize_q4_0(const float *values, int64_t n, uint8_t *blocks);
void kr_quantize_q4_1(const float *values, int64_t n, uint8_t *blocks);

#endif
