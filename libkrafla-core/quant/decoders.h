/* The decoders behind kr_type_info, one for each type that holds weights, and what they share.
 *
 * All of them compute in float, multiply then add, each rounded. With f16 scales no result and no
 * step of theirs can be subnormal: every product and difference is a multiple of 2^-28.
 * F32, BF16 and MXFP4 can hold subnormal values and are decoded by integer operations. So the bits
 * do not depend on the thread's flush mode. */
#ifndef KR_QUANT_DECODERS_H
#define KR_QUANT_DECODERS_H

#include "base/half.h"
#include "quant/types.h"

static inline uint16_t kr_block_u16(const uint8_t *p) { /* little-endian, any alignment */
  return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t kr_block_u32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline float kr_block_half(const uint8_t *p) {
  return kr_half_to_float(kr_block_u16(p));
}

kr_dequantize_fn kr_dequantize_f32, kr_dequantize_f16, kr_dequantize_bf16;
kr_dequantize_fn kr_dequantize_q4_0, kr_dequantize_q4_1, kr_dequantize_q5_0, kr_dequantize_q5_1,
    kr_dequantize_q8_0;
kr_dequantize_fn kr_dequantize_q2_k, kr_dequantize_q3_k, kr_dequantize_q4_k, kr_dequantize_q5_k,
    kr_dequantize_q6_k;
kr_dequantize_fn kr_dequantize_iq1_s, kr_dequantize_iq1_m, kr_dequantize_iq2_xxs,
    kr_dequantize_iq2_xs, kr_dequantize_iq2_s, kr_dequantize_iq3_xxs, kr_dequantize_iq3_s,
    kr_dequantize_iq4_nl, kr_dequantize_iq4_xs;
kr_dequantize_fn kr_dequantize_tq1_0, kr_dequantize_tq2_0, kr_dequantize_mxfp4, kr_dequantize_nvfp4;

#endif
